/* collective.c - see collective.h. */
#include "engine/price/collective.h"
#include "engine/base/plain.h"

#include <math.h>
#include <string.h>

/* Effective bytes per second of one member on a level. */
static double level_rate(const struct cluster *cluster, enum link_level level)
{
	const struct link *link = &cluster->link[level];
	double rate =
		link->bytes_per_second * (link->efficiency > 0 ? link->efficiency : 1);

	return rate > 0 ? rate : 1;
}

/* Network rate of one accelerator towards the level that the group crosses. */
static double network_rate(const struct cluster *cluster, enum link_level level,
			   double stack_share)
{
	double rate = level_rate(cluster, LINK_NETWORK) * stack_share;
	double over = cluster->link[LINK_UPPER].oversubscription;

	if (level == LINK_UPPER && over > 1)
		rate /= over;
	return rate;
}

static double log2_ceil(double n)
{
	double steps = 0;

	for (double reach = 1; reach < n; reach *= 2)
		steps++;
	return steps;
}

/* Whether switches of the network add up for this group and send copies (SHARP). */
static bool switches_join(const struct cluster *cluster, const struct group *group)
{
	return group->link != LINK_DOMAIN &&
	       cluster->link[LINK_NETWORK].in_network_reduction;
}

/* Launching a collective's kernel and meeting its peers takes as long as so many steps
 * inside a domain: nccl-tests on A100 to B300 meet 9 to 10 us on two ranks. */
static const double start_steps = 6;

/* Steps that wait for each other, as NCCL's tuner counts them (src/graph/tuning.cc): a
 * ring makes ranks - 1 steps, of which domains - 1 cross a border; all-reduce goes
 * round twice or takes a tree across domains. */
static double latency(const struct cluster *cluster, const struct group *group,
		      enum collective_kind kind)
{
	double inside = (double)group->per_domain;
	double domains =
		(double)((group->ranks + group->per_domain - 1) / group->per_domain);
	double near = cluster->link[LINK_DOMAIN].latency_seconds;
	double far = cluster->link[LINK_NETWORK].latency_seconds;
	double ring = ((double)group->ranks - domains) * near + (domains - 1) * far;
	double tree = (inside - 1) * near + log2_ceil(domains) * far;
	/* up to the switch that joins all of them, and down again */
	double joined = (inside - 1) * near + 2 * far;
	bool joins = switches_join(cluster, group);

	double start = start_steps * near;

	if (kind == COLLECTIVE_SEND)
		return start + (group->link == LINK_DOMAIN ? near : far);
	if (kind == COLLECTIVE_ALL_REDUCE) {
		double both = 2 * lesser(ring, tree);

		return start +
		       (joins ? lesser(both, joined + (inside - 1) * near) : both);
	}
	if (joins && kind != COLLECTIVE_BROADCAST)
		ring = lesser(ring, joined);
	return start + (kind == COLLECTIVE_BROADCAST ? lesser(ring, tree) : ring);
}

/* Sizes between, as nccl-tests measures them inside a domain: (a^p + t^p)^(1/p) with p
 * near 0.6. Hops between domains are paid once: the pieces of a message follow on each
 * other's heels. */
static double combine(const struct cluster *cluster, const struct group *group,
		      double latency_seconds, double transfer_seconds)
{
	double near = (start_steps + (double)group->per_domain - 1) *
		      cluster->link[LINK_DOMAIN].latency_seconds;

	near = near < latency_seconds ? near : latency_seconds;
	return latency_seconds + transfer_seconds + 1.1 * sqrt(near * transfer_seconds);
}

static double bus_factor(enum collective_kind kind, double ranks)
{
	switch (kind) {
	case COLLECTIVE_ALL_REDUCE: return 2 * (ranks - 1) / ranks;
	case COLLECTIVE_ALL_GATHER:
	case COLLECTIVE_REDUCE_SCATTER:
	case COLLECTIVE_ALL_TO_ALL: return (ranks - 1) / ranks;
	default: return 1;
	}
}

double collective_remote_copies(const struct group *group, double chosen, bool once,
				double limit)
{
	double domains = ceil((double)group->ranks / (double)group->per_domain);
	double copies = chosen;

	if (domains <= 1)
		return 0;
	if (once) {
		double missed = 1;

		for (int i = 0; i < (int)chosen; i++)
			missed *= 1 - 1 / domains;
		copies = domains * (1 - missed);
		if (limit > 0)
			copies = lesser(copies, limit);
	}
	return copies * (domains - 1) / domains;
}

void collective_dispatch(const struct cluster *cluster, const struct group *group,
			 double payload_bytes, double remote_bytes, double stack_share,
			 struct collective *out)
{
	double ranks = (double)group->ranks;
	double near = payload_bytes * ((double)group->per_domain - 1) / ranks;
	double inside = (near + remote_bytes) / level_rate(cluster, LINK_DOMAIN);
	double outside = remote_bytes / network_rate(cluster, group->link, stack_share);

	memset(out, 0, sizeof *out);
	if (group->ranks < 2 || payload_bytes <= 0)
		return;
	if (group->link == LINK_DOMAIN) {
		remote_bytes = outside = 0;
		inside = near / level_rate(cluster, LINK_DOMAIN);
	}
	out->sent_bytes = near + remote_bytes;
	out->network_bytes = remote_bytes;
	/* both levels work at once; the slower one shows */
	out->seconds =
		combine(cluster, group, latency(cluster, group, COLLECTIVE_ALL_TO_ALL),
			larger(inside, outside));
}

/* Seconds at the rate that the level gives an accelerator. Of a torus that is the sum
 * of its links: an all-gather goes along each axis at once, in both directions (jax-ml
 * scaling book, "Sharding"), so that nothing here asks for the shape. `crossing` of the
 * bytes leave the domain. */
static double transfer(const struct cluster *cluster, const struct group *group,
		       enum collective_kind kind, double bytes, double crossing,
		       double stack_share)
{
	double near = level_rate(cluster, LINK_DOMAIN);
	double reduced = bytes;

	if (kind == COLLECTIVE_ALL_REDUCE &&
	    cluster->link[LINK_DOMAIN].in_network_reduction && group->per_domain > 2)
		reduced = bytes /
			  2; /* the switch adds: each member sends its vector once */
	if (group->link == LINK_DOMAIN)
		return reduced / near;
	/* a ring leaves a domain once per member in it: their network ports add up */
	double far = network_rate(cluster, group->link, stack_share) *
		     (double)group->per_domain;

	if (kind == COLLECTIVE_SEND)
		return bytes / network_rate(cluster, group->link, stack_share);
	if (kind == COLLECTIVE_ALL_REDUCE && switches_join(cluster, group))
		return larger(crossing /
				      network_rate(cluster, group->link, stack_share),
			      (bytes - crossing) / near);
	return bytes / lesser(far, near);
}

void collective_cost(const struct cluster *cluster, const struct group *group,
		     enum collective_kind kind, double payload_bytes,
		     double stack_share, struct collective *out)
{
	double ranks = (double)group->ranks, inside = (double)group->per_domain;

	memset(out, 0, sizeof *out);
	if (group->ranks < 2 || payload_bytes <= 0)
		return;
	if (kind == COLLECTIVE_ALL_TO_ALL) {
		collective_dispatch(cluster, group, payload_bytes,
				    payload_bytes * (ranks - inside) / ranks,
				    stack_share, out);
		return;
	}
	out->sent_bytes = payload_bytes * bus_factor(kind, ranks);
	/* of a ring's members in a domain one sends across its border */
	if (group->link != LINK_DOMAIN)
		out->network_bytes = out->sent_bytes / inside;
	if (kind == COLLECTIVE_SEND && group->link != LINK_DOMAIN)
		out->network_bytes = out->sent_bytes;
	/* halves of an all-reduce inside, and of each part the sum goes up once */
	if (kind == COLLECTIVE_ALL_REDUCE && switches_join(cluster, group)) {
		out->network_bytes = payload_bytes / inside;
		out->sent_bytes =
			payload_bytes * bus_factor(kind, inside) + out->network_bytes;
	}
	out->seconds = combine(cluster, group, latency(cluster, group, kind),
			       transfer(cluster, group, kind, out->sent_bytes,
					out->network_bytes, stack_share));
}

const char *collective_label(enum collective_kind kind)
{
	static const char *const labels[COLLECTIVE_COUNT] = {
		[COLLECTIVE_ALL_REDUCE] = "all-reduce",
		[COLLECTIVE_ALL_GATHER] = "all-gather",
		[COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
		[COLLECTIVE_ALL_TO_ALL] = "all-to-all",
		[COLLECTIVE_SEND] = "send",
		[COLLECTIVE_BROADCAST] = "broadcast",
		[COLLECTIVE_COPY] = "copy",
	};

	return (unsigned)kind < COLLECTIVE_COUNT ? labels[kind] : "";
}
