/* times.c - where the seconds of a stage and of a dimension come from. */
#include <stddef.h>
#include <stdio.h>

#include "engine/explain/terms.h"

FILL(forward, explain_chunk_times(a, out, "forward_seconds", "of a virtual stage"))
FILL(backward, explain_chunk_times(a, out, "backward_seconds", "of a virtual stage"))

static void again(const struct asked *a, struct explanation *out)
{
	explain_say(out, "m * ");
	explain_from(a, out, "m", "micro-batches", "micro_batches");
	explain_chunk_times(a, out, "recompute_seconds", "of a virtual stage");
}

static void update(const struct asked *a, struct explanation *out)
{
	explain_scale(a, out);
	explain_say(out, "scale * (");
	explain_term_sum(a, out, update_terms);
	explain_say(out, ")");
}

static const char roofline[] =
	"Each operator takes t0 + ((FLOPs/(ec*peak))^2 + (bytes/(em*bw))^2)^(1/2): the "
	"larger of computing and memory, more where they are equal; a GEMM a part of a "
	"wave of tiles on top. Launching from the CPU is a floor.";
static const char roofline_source[] =
	"Williams et al. 2009 (roofline); the soft corner and shares: "
	"presets/clusters, calibration";

const struct explain_row explain_times[] = {
	{ "forward_seconds", "A forward of one micro-batch", NULL, roofline,
	  roofline_source, .fill = forward },
	{ "backward_seconds", "A backward of one micro-batch", NULL, roofline,
	  roofline_source, .fill = backward },
	{ "busy_seconds", "Busy", "work - x",
	  "Computing, recomputation and launch cost of all micro-batches.",
	  EXPLAIN_DEFINITION,
	  .terms = TERMS({ "work", "at work in all micro-batches", ".working_seconds" },
			 { "x", "of it, exposed communication and offload",
			   ".inside_seconds" }) },
	{ "exposed_seconds", "Exposed communication and offload", "x + held + sync",
	  "Per dimension, means over the stages; see Traffic for every collective.",
	  EXPLAIN_DEFINITION,
	  .terms = TERMS({ "x", "inside the micro-batches", ".inside_seconds" },
			 { "held", "by sends", ".transfer_seconds" },
			 { "sync", "at the step's end", ".sync_seconds" }) },
	{ "idle_seconds", "Idle", "wait + late",
	  "Waiting for other stages, in the pipeline and at the end of the step.",
	  EXPLAIN_DEFINITION,
	  .terms = TERMS({ "wait", "for other stages while micro-batches run",
			   ".waiting_seconds" },
			 { "late", "for the stage that ends last", ".late_seconds" }) },
	{ "optimizer_seconds", "Optimizer", NULL,
	  "Bound by memory: gradient, moments and master weight are read, moments, "
	  "master and 16-bit weight written. Experts divide by their own ranks; Muon's "
	  "five Newton-Schulz steps of three products come on top.",
	  "a byte count of what an update reads and writes", .fill = update },
	{ "recompute_seconds", "Recomputation", NULL,
	  "Part of busy. Full recomputation repeats the layer's forward, with its "
	  "collectives; selective only the chosen modules.",
	  "Korthikanti et al., arXiv 2205.05198, section 5", .fill = again },
	{ 0 },
};

/* Of every collective of the dimension; see Traffic for each. */
static void add_collectives(const struct asked *a, struct explanation *out,
			    const char *member)
{
	const struct estimate *e = a->estimate;

	for (int i = 0; i < e->traffic_count && e->legal; i++) {
		char symbol[EXPLAIN_MAX_SYMBOL];

		if (e->traffic[i].dimension != a->dimension)
			continue;
		explain_symbol(out, e->traffic[i].what, symbol);
		explain_say(out, "%s%s", out->terms ? " + " : "", symbol);
		explain_from(a, out, symbol, collective_label(e->traffic[i].kind),
			     "traffic.%d.%s", i, member);
	}
	if (out->terms == 0)
		explain_say(out, "0");
}

void explain_sent(const struct asked *a, struct explanation *out)
{
	add_collectives(a, out, "total_bytes");
}

void explain_network(const struct asked *a, struct explanation *out)
{
	add_collectives(a, out, "network_bytes");
}

void explain_payload(const struct asked *a, struct explanation *out)
{
	add_collectives(a, out, "all_payload_bytes");
}

void explain_seconds(const struct asked *a, struct explanation *out)
{
	add_collectives(a, out, "total_seconds");
}

void explain_unhidden(const struct asked *a, struct explanation *out)
{
	add_collectives(a, out, "exposed_seconds");
}

const struct explain_row explain_dimensions[] = {
	{ "bytes", "Bytes sent per GPU and step", NULL,
	  "Counted as sent by the chosen algorithm, in the format that travels; means "
	  "over the stages.",
	  EXPLAIN_SENT_SOURCE, .fill = explain_sent },
	EXPLAIN_NETWORK_ROW,
	EXPLAIN_PAYLOAD_ROW,
	{ "seconds", "Time of these collectives", NULL,
	  "Calls one after the other: steps that wait for each other, then bytes at "
	  "their rates. Of bytes on both levels the slower shows.",
	  "fits of NCCL measurements (aiconfigurator, nccl-tests); presets/clusters",
	  .fill = explain_seconds },
	{ "exposed_seconds", "Exposed time, not hidden by computation", NULL,
	  "TP, EP and gathers of CP wait unless overlap is on, a ring of CP hides "
	  "behind attention; DP hides behind the last backward, but for a layer or the embedding's table; "
	  "PP sends hide where the stack overlaps them.",
	  "presets/stacks: dp_overlap, tp_overlap, ep_overlap",
	  .fill = explain_unhidden },
	{ 0 },
};
