/* machine.c - what GPUs of a node share, in training and serving. */
#include <stddef.h>

#include "engine/explain/row.h"

static double host_link(const struct asked *a)
{
	return cluster_host_rate(&a->scenario->cluster);
}

static void host_link_terms(const struct asked *a, struct explanation *out)
{
	explain_from(a, out, "shared", "where all of a node copy at once",
		     "cluster.host_bytes_per_second");
	explain_from(a, out, "alone", "where one does",
		     "cluster.host_alone_bytes_per_second");
	explain_from(a, out, "gpus", "that the job takes", "gpus");
	explain_from(a, out, "N", "GPUs of a node", "cluster.gpus_per_node");
}

static double host_shares(const struct asked *a)
{
	return cluster_host_shares(&a->scenario->cluster);
}

static void host_shares_terms(const struct asked *a, struct explanation *out)
{
	explain_from(a, out, "N", "GPUs of a node", "cluster.gpus_per_node");
	explain_from(a, out, "gpus", "that the job takes", "gpus");
}

#undef NODE
#define NODE(...) NODE_FROM("engine/machine/cluster.c", __VA_ARGS__)

const struct explain_node explain_machine[] = {
	NODE("cluster.host_shares", "Shares of a host for a GPU", FORM_REAL,
	     host_shares, host_shares_terms, "max(1, N / gpus)",
	     "A job that takes part of a node has all of its host."),
	NODE("cluster.host_rate", "Host link of a GPU in the job", FORM_TRAFFIC,
	     host_link, host_link_terms, "max(shared, alone / min(gpus, N))",
	     "The first GPUs of a node share a switch's way to the host."),
	{ .row.key = NULL },
};
