/* traffic.c - where the bytes and seconds of one row of Traffic come from. */
#include <stddef.h>
#include <stdio.h>

#include "engine/explain/row.h"

const struct traffic *explain_traffic_row(const struct asked *a)
{
	return a->pass > 0 ? &explain_pass_of(a)->cost.traffic[a->traffic]
			   : &a->estimate->traffic[a->traffic];
}

const char *explain_traffic_name(const struct asked *a, char out[EXPLAIN_MAX_KEY])
{
	if (a->pass > 0)
		snprintf(out, EXPLAIN_MAX_KEY, "passes.%s.traffic.%d",
			 explain_pass_name(a), a->traffic);
	else
		snprintf(out, EXPLAIN_MAX_KEY, "traffic.%d", a->traffic);
	return out;
}

#define OF(name, field)                               \
	static double name(const struct asked *a)     \
	{                                             \
		return explain_traffic_row(a)->field; \
	}

OF(count, count)
OF(payload, payload_bytes)
OF(sent, sent_bytes)
OF(seconds, seconds)
OF(all_sent, total_bytes)
OF(network, network_bytes)
OF(all_seconds, total_seconds)
OF(exposed, exposed_seconds)
OF(pieces, pieces)
OF(call_bytes, call_bytes)
OF(remote, remote_bytes)

static double all_payload(const struct asked *a)
{
	return explain_traffic_row(a)->payload_bytes * explain_traffic_row(a)->count;
}

static double network_of_one(const struct asked *a)
{
	return explain_traffic_row(a)->count > 0
		       ? explain_traffic_row(a)->network_bytes /
				 explain_traffic_row(a)->count
		       : 0;
}

static void calls(const struct asked *a, struct explanation *out, const char *each)
{
	own(a, out, "n", "calls, mean of the stages", "count");
	own(a, out, "x", "of one, mean", each);
}

FILL(sent_terms, calls(a, out, "sent_bytes"))
FILL(network_terms, calls(a, out, "call_network_bytes"))
FILL(payload_terms, calls(a, out, "payload_bytes"))
FILL(second_terms, calls(a, out, "seconds"))

#undef NODE_SOURCE
#define NODE_SOURCE "a count over the collectives of a step"

static const char mean[] = "Mean of the calls of the name, over layers and stages.";

const struct explain_node explain_traffic[] = {
	NODE("count", "Calls per GPU", FORM_REAL, count, NULL, EXPLAIN_COUNTED,
	     "Counted over layers, micro-batches and stages; mean of the stages."),
	NODE("payload_bytes", "Payload of a call", FORM_TRAFFIC, payload, NULL,
	     EXPLAIN_COUNTED, mean),
	NODE("sent_bytes", "Sent by a GPU in a call", FORM_TRAFFIC, sent,
	     explain_call_sent, NULL,
	     "By the chosen algorithm, in the format that travels. Mean of the calls."),
	NODE("call_network_bytes", "Of it across the network", FORM_TRAFFIC,
	     network_of_one, explain_call_network, NULL, mean),
	NODE("seconds", "Of a call", FORM_SECONDS, seconds, explain_call_seconds, NULL,
	     "By the quickest algorithm that the software has, unless the knob "
	     "collective pins one. Mean of the calls."),
	NODE("pieces", "Calls of the library that it is made of", FORM_REAL, pieces,
	     NULL, EXPLAIN_COUNTED, mean),
	NODE("call_bytes", "Payload of each of them", FORM_TRAFFIC, call_bytes, NULL,
	     EXPLAIN_COUNTED, "Of the rank that has most. Mean of the calls."),
	NODE("remote_bytes", "Of it, what leaves the domain", FORM_TRAFFIC, remote,
	     NULL, EXPLAIN_COUNTED,
	     "Copies of tokens, each to the domains that need it."),
	NODE("total_bytes", "Sent per GPU", FORM_TRAFFIC, all_sent, sent_terms, "n * x",
	     mean),
	NODE("network_bytes", "Of them across the network", FORM_TRAFFIC, network,
	     network_terms, "n * x", mean),
	NODE("all_payload_bytes", "Payload of all calls", FORM_TRAFFIC, all_payload,
	     payload_terms, "n * x", mean),
	NODE("total_seconds", "Time of these collectives", FORM_SECONDS, all_seconds,
	     second_terms, "n * x", mean),
	NODE("exposed_seconds", "Exposed of these collectives", FORM_SECONDS, exposed,
	     explain_shown, NULL, "What runs beside these calls hides the rest."),
	{ .row.key = NULL },
};
