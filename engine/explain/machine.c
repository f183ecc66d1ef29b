/* machine.c - what GPUs of a node share, in training and serving. */
#include <stddef.h>

#include "engine/explain/row.h"

VALUE(host_link, cluster_host_rate(&a->scenario->cluster))
VALUE(host_shares, cluster_host_shares(&a->scenario->cluster))

#undef NODE_SOURCE
#define NODE_SOURCE "measured copies to the host: presets/clusters"

const struct explain_node explain_machine[] = {
	NODE_OF("cluster.host_shares", "Shares of a host for a GPU", FORM_REAL,
		host_shares, "max(1, N / gpus)",
		"A job on part of a node has the whole host to itself.",
		{ "N", "GPUs of a node", "cluster.gpus_per_node" },
		{ "gpus", "that the job takes", "gpus" }),
	NODE_OF("cluster.host_rate", "Host link of a GPU in the job", FORM_TRAFFIC,
		host_link, "max(shared, alone / min(gpus, N))",
		"The first GPUs of a node share a switch's link to the host.",
		{ "shared", "where all GPUs of a node copy at once",
		  "cluster.host_bytes_per_second" },
		{ "alone", "where one does", "cluster.host_alone_bytes_per_second" },
		{ "gpus", "that the job takes", "gpus" },
		{ "N", "GPUs of a node", "cluster.gpus_per_node" }),
	{ .row.key = NULL },
};
