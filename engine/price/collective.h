/* collective.h - how long does one collective take on one group, and how many
 * bytes move on which link?
 *
 * alpha-beta with the best of the known algorithms per level (Thakur, Rabenseifner,
 * Gropp 2005; Patarasuk, Yuan 2009; NCCL): a ring over all members for bandwidth,
 * a hierarchy of domain and network for latency. A real library approaches its
 * plateau slowly; latency and bandwidth terms combine as a + b + 1.1 sqrt(a b),
 * which is (a^0.6 + b^0.6)^(1/0.6) to 3 % without pow().
 *
 * Where the network's switches add up (SHARP; Graham et al. 2020, 10.1007/978-3-030-
 * 50743-5_3) each member of an all-reduce sends its part of the domain's sum once and
 * gets the result once, at the same time: n/g bytes each way for g members in a domain,
 * where a ring sends 2(p-1)/p n/g. All-gather and reduce-scatter have as many bytes as
 * before, but one climb and one descent in place of a ring's steps (NCCL's CollNet
 * direct, src/graph/tuning.cc). Inside a domain nothing changes.
 */
#ifndef ENGINE_PRICE_COLLECTIVE_H
#define ENGINE_PRICE_COLLECTIVE_H

#include "engine/machine/cluster.h"
#include "engine/plan/mesh.h"

enum collective_kind {
	COLLECTIVE_ALL_REDUCE,
	COLLECTIVE_ALL_GATHER,
	COLLECTIVE_REDUCE_SCATTER,
	COLLECTIVE_ALL_TO_ALL,
	COLLECTIVE_SEND, /* point to point */
	COLLECTIVE_BROADCAST,
	COLLECTIVE_COPY, /* over the host link */
	COLLECTIVE_COUNT
};
const char *collective_label(enum collective_kind kind);

struct collective {
	double seconds;
	double sent_bytes;    /* per member, by the chosen algorithm */
	double network_bytes; /* of them, those that leave the domain */
};

/* payload_bytes: the whole vector of an all-reduce, the gathered vector of an
 * all-gather or reduce-scatter, what one rank holds before an all-to-all, the
 * message of a send. A group of one costs nothing. stack_share scales the
 * network's bandwidth (what the software makes of it); 1 = all. */
void collective_cost(const struct cluster *cluster, const struct group *group,
		     enum collective_kind kind, double payload_bytes,
		     double stack_share, struct collective *out);
/* Copies of a token that leave its domain. Where it goes to `chosen` random ranks of
 * the group: chosen (D - 1) / D for D domains. Where a dispatcher sends it once to each
 * domain that any of them is in (DeepEP): D (1 - (1 - 1/D)^chosen), at most the
 * router's limit (0 = none). */
double collective_remote_copies(const struct group *group, double chosen, bool once,
				double limit);
/* All-to-all in which a token goes to a remote domain once, whatever number of its
 * experts are there, and fans out inside: remote_bytes leave the domain (of
 * payload_bytes held), the rest moves inside. */
void collective_dispatch(const struct cluster *cluster, const struct group *group,
			 double payload_bytes, double remote_bytes, double stack_share,
			 struct collective *out);

#endif
