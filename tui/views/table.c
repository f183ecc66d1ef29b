/* table.c - the table of views, in the order of their tabs. */
#include <string.h>

#include "tui/view.h"

const struct view view_table[VIEW_COUNT] = {
	[VIEW_OVERVIEW] = { "overview", "Overview", true, "step_seconds", overview_draw,
			    NULL,
			    "Memory, time, throughput and traffic of a step, or "
			    "of a server with its throughput-latency curve. "
			    "Below: what neighbouring values of the selected knob "
			    "would give, and advice. Enter explains a number; on "
			    "a problem or a piece of advice it applies the "
			    "remedy, and u undoes it." },
	[VIEW_MEMORY] = { "memory", "Memory", true, "total_bytes", memory_draw,
			  memory_act,
			  "What each pipeline stage holds at its peak, against "
			  "the memory that a framework can use. Up and down "
			  "select a stage, Enter explains its total." },
	[VIEW_TIMELINE] = { "timeline", "Timeline", true, "bubble_ratio", timeline_draw,
			    timeline_act,
			    "When each stage runs which micro-batch, and where it "
			    "is idle. Left and right move between items, up and "
			    "down between stages; + and - zoom, S highlights the "
			    "critical path. Where items would be too narrow, part "
			    "of the middle is left out (//); - shows all of it. a "
			    "plays the step, ( slower and ) faster; . and , move "
			    "one event forward and back, and Esc shows the whole "
			    "step again. The row under a lane is the memory that "
			    "the stage's activations take, with a mark at its "
			    "maximum. A pinned plan is drawn above on the same "
			    "time axis. For a server: what a decode pass, a mixed "
			    "pass and a prefill pass spend their time on; up and "
			    "down highlight an operator." },
	[VIEW_TRAFFIC] = { "traffic", "Traffic", true, "exposed_seconds", traffic_draw,
			   traffic_act,
			   "Every collective of a step, or of a server's decode "
			   "pass: its group, the slowest link it crosses, its "
			   "calls, bytes and time, and how much of that time is "
			   "exposed (not hidden by computation). S sorts by the "
			   "next column." },
	[VIEW_GRAPH] = { "graph", "Graph", true, "compute_seconds", graph_draw,
			 graph_act,
			 "The operators of one layer on one GPU for one "
			 "micro-batch, with their shapes after splitting, and the "
			 "collectives between them: a table and, where there is "
			 "room, a picture. S gives the picture all the room. Each "
			 "box shows forward and backward time, and what is stored "
			 "or recomputed. Left and right select the kind of layer. "
			 "For a server: a roofline plot of the operators of a "
			 "pass, the longest first; left and right switch between "
			 "decode and prefill." },
	[VIEW_TOPOLOGY] = { "topology", "Topology", true, "exposed_seconds",
			    topology_draw, topology_act,
			    "GPU ranks in boxes, one box per node or fast domain. "
			    "A machine too large to draw shows the boxes around "
			    "the selected rank and counts the rest. The groups of "
			    "that rank are highlighted; S selects one of them. "
			    "Below, each group is drawn as a ring, with a double "
			    "line where it crosses the network, and bars show the "
			    "bytes per step on a common scale. PgUp and PgDn move "
			    "by box. For a server: the ranks of one engine, and "
			    "the other engines." },
	[VIEW_SEARCH] = { "search", "Search", true, "step_seconds", search_draw,
			  search_act,
			  "The best plans for this model on this machine, and "
			  "what became of all the others. Enter applies a plan "
			  "and marks the knobs it changed. Left and right choose "
			  "what is optimized, S sorts by the next column, / "
			  "filters: tp=4,8 pp=1..4 restricts knobs; other words "
			  "must occur in a plan's name, or with ! must not. "
			  "Activation offload, which few measured runs cover, is "
			  "tried only with activation_offload=0,0.5,1. A * marks "
			  "a plan that stays best even if network, GEMMs or "
			  "memory are 10 % worse. Below: the changes to your plan "
			  "that save most, and what else would fit. The line is "
			  "the Pareto front; + gives it the room of the table, . "
			  "switches its axis from memory to GPUs. With the aim "
			  "gpus the smallest machine that fits is found; with the "
			  "filter deadline=30d the smallest that finishes in "
			  "time. In a plan's name mbs is the micro-batch, Z the "
			  "ZeRO stage and ZG its group, uly and all kinds of CP, "
			  "bal a balanced split, sel and ful selective and full "
			  "recomputation, oo and ao offloaded shares of optimizer "
			  "states and activations, mg the VPP group; PD means "
			  "disaggregated prefill, on pg GPUs in engines of ptp." },
	[VIEW_EXPLAIN] = { "explain", "Explain", true, NULL, explain_draw, explain_act,
			   "Where a number comes from: its formula, this "
			   "scenario's values in it, assumptions, source. Left "
			   "and right go through all numbers, up and down scroll. "
			   "i on a knob opens its page: what it means, what "
			   "neighbouring values would change, and which formulas "
			   "use it." },
	[VIEW_GLOSSARY] = { "glossary", "Glossary", false, NULL, glossary_draw,
			    glossary_act, "What the terms mean, and why they matter." },
	[VIEW_HELP] = { "help", "Help", false, NULL, help_draw, help_act, "The keys." },
};

int view_find(const char *name)
{
	for (int i = 0; i < VIEW_COUNT; i++)
		if (strcmp(view_table[i].name, name) == 0)
			return i;
	return -1;
}
