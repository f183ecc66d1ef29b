/* collective.h - how long does one collective take on one group, and how many
 * bytes move on which link?
 *
 * Each algorithm is a unit (units.h): what it sends and in how many steps. All of them
 * are timed by one rule (seconds.h) in each protocol that the accelerator has measured
 * constants of (engine/machine/transport.h). The quickest of the units that the
 * software has is taken, as NCCL does (src/graph/tuning.cc), and named.
 */
#ifndef ENGINE_COLLECTIVE_COLLECTIVE_H
#define ENGINE_COLLECTIVE_COLLECTIVE_H

#include "engine/collective/units.h"
#include "engine/machine/cluster.h"
#include "engine/machine/serving.h"
#include "engine/machine/transport.h"
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

enum algorithm {
	ALGORITHM_AUTO,
#define ALGORITHM(NAME, id, word, has) ALGORITHM_##NAME,
	COLLECTIVE_UNITS(ALGORITHM)
#undef ALGORITHM
		ALGORITHM_COUNT, /* also: not one, where calls of a row differ */
};
/* "ring", "tree" ...; "auto" for none, "several" for ALGORITHM_COUNT. */
const char *algorithm_name(enum algorithm algorithm);
/* Where it is described. */
const char *algorithm_source(enum algorithm algorithm);

/* How tokens find the ranks of their experts. */
enum exchange {
	EXCHANGE_PLAIN,    /* an all-to-all of the library */
	EXCHANGE_ONCE,     /* once to each domain, and fanned out there */
	EXCHANGE_STRAIGHT, /* to each expert's rank at once */
};

struct collective_choices;

/* What carries a collective. */
struct fabric {
	const struct cluster *cluster;
	double network_share; /* of the network's rate: what the software makes of it */
	double domain_share;  /* of the domain's */
	double slowdown;    /* seconds of a byte measured over predicted (calibrate) */
	double start_steps; /* of a kernel where nobody measured (habits.h) */
	enum algorithm pin; /* taken wherever it applies; ALGORITHM_AUTO = none */
	enum reduction_kernels kernels; /* of a server, beside its library's */
	double dispatch_start_seconds;  /* of its own dispatcher; 0 = as an exchange */
	/* For bounds: algorithms run beyond the sizes that the software takes them for,
	 * so that no byte costs less in a smaller call. */
	bool any_size;
	/* Room for what was worked out of a group and kind, for further calls; NULL =
	 * each call works it out. */
	struct collective_choices *choices;
};

/* Of a scenario: of a training step, or of a server. choices may be NULL; what it held
 * before is forgotten. */
void collective_fabric(const struct scenario *scenario,
		       struct collective_choices *choices, struct fabric *out);
/* Sets any_size, and forgets what was worked out without it. */
void collective_of_any_size(struct fabric *fabric);

struct collective {
	double seconds;
	double sent_bytes;    /* per member, by the chosen algorithm */
	double network_bytes; /* of them, those that leave the domain */
	enum algorithm algorithm;
	double pieces;       /* calls of the library that it is made of */
	double call_bytes;   /* payload of each of these */
	double remote_bytes; /* of it, what leaves the domain in an all-to-all */
};

/* payload_bytes: the whole vector of an all-reduce, the gathered vector of an
 * all-gather or reduce-scatter, what one rank holds before an all-to-all, the
 * message of a send. A group of one costs nothing. */
void collective_cost(const struct fabric *fabric, const struct group *group,
		     enum collective_kind kind, double payload_bytes,
		     struct collective *out);
/* All-to-all of which remote_bytes leave the domain (of payload_bytes held); the rest
 * moves inside. */
void collective_dispatch(const struct fabric *fabric, const struct group *group,
			 enum exchange exchange, double payload_bytes,
			 double remote_bytes, struct collective *out);
/* What is moved: payload, and in an all-to-all what of it leaves the domain. */
struct message {
	enum collective_kind kind;
	double bytes, remote_bytes;
};
/* The same by that algorithm. False where it does not apply. */
bool collective_by(const struct fabric *fabric, const struct group *group,
		   const struct message *message, enum algorithm algorithm,
		   struct collective *out);
/* Bytes of a plain all-to-all that leave the domain. */
double collective_remote_bytes(const struct group *group, double payload_bytes);
/* Whether auto may take it there for so many bytes: some library has it. */
bool collective_offers(const struct fabric *fabric, const struct group *group,
		       double payload_bytes, enum algorithm algorithm);

/* Copies of a token that leave its domain. Where it goes to `chosen` random ranks of
 * the group: chosen (D - 1) / D for D domains. Where a dispatcher sends it once to each
 * domain that any of them is in (DeepEP): D times the odds that a domain has one of
 * them, at most the router's limit (0 = none). A router takes no expert twice, so that
 * it has none of E experts with the odds of (E - E/D - i) / (E - i), i < chosen, in a
 * row. */
double collective_remote_copies(const struct group *group, double chosen,
				double experts, bool once, double limit);
/* Bytes of an element of a dispatched row, in fp8 with a scale per 128 elements
 * (DeepSeek-V3, 3.2), or as wide as it is. */
static inline double collective_row_bytes(bool fp8, double wide)
{
	return fp8 ? 1.03 : wide;
}
/* Copies of a token where a dispatcher sends it once to each rank that any of its
 * `chosen` experts is on (DeepEP and HybridEP, get_dispatch_layout: is_token_in_rank),
 * the same of R ranks. */
double collective_rank_copies(const struct group *group, double chosen, double experts);

/* What is worked out once for a group and kind, whatever the size: of an algorithm in a
 * protocol the waiting and the seconds of a byte. Steps do not depend on bytes, and
 * bytes sent grow with the payload, so that these are the whole formula. */
enum { CHOICE_LINES = 20, MAX_CHOICES = 12 };
struct collective_choice {
	/* For which group (ranks and stride), in which links (ranks in a domain,
	 * slowest link) with which kind and exchange, and what share of the bytes is
	 * remote. */
	uint64_t who, what;
	double remote_share;
	struct collective answer; /* to the last call; of 0 bytes = none yet */
	bool pinned;
	int count;
	struct choice_line {
		double waiting, moving; /* seconds; seconds a byte */
		double sent, network;   /* bytes a byte */
		enum algorithm algorithm;
		bool ruled; /* the library takes it by sizes, see struct unit */
	} line[CHOICE_LINES];
};

/* Times and rates of one protocol on one fabric, of one member and each way. */
struct pace {
	double start, hop, far_hop, peer; /* seconds */
	double near_rate, peer_rate, far_rate;
	double copy_rate; /* 0 = copies cost nothing */
	/* Where they come from: a row of the accelerator's table, or none. */
	bool measured;
	enum transport transport;
	enum protocol_name protocol;
	double far_share; /* of what goes over the network so much is payload */
};
/* In all protocols of a transport. */
struct paces {
	int count;
	struct pace of[PROTOCOL_COUNT];
};

struct collective_choices {
	int count;      /* 0 at first */
	unsigned paced; /* 0 at first: bits of the paces that are known */
	struct paces paces[TRANSPORT_COUNT];
	struct collective_choice of[MAX_CHOICES];
};

#endif
