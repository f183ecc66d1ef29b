/* table.c - the table of views, in the order of their tabs. */
#include <string.h>

#include "tui/view.h"

const struct view view_table[VIEW_COUNT] = {
	[VIEW_OVERVIEW] = { "overview", "Overview", true, "step_seconds", overview_draw,
			    NULL,
			    "Memory, time, throughput and traffic of a step, or "
			    "of a server with its curve of throughput over latency; "
			    "below them what the values around the present one of "
			    "the knob under the cursor would give, and advice. "
			    "Enter on a number explains it, on a problem or advice "
			    "does what it offers; u goes back." },
	[VIEW_MEMORY] = { "memory", "Memory", true, "total_bytes", memory_draw,
			  memory_act,
			  "What each pipeline stage holds at its peak, "
			  "against the memory that a framework can use. Up "
			  "and down choose a stage, Enter explains its total." },
	[VIEW_TIMELINE] = { "timeline", "Timeline", true, "bubble_ratio", timeline_draw,
			    timeline_act,
			    "Which stage runs which micro-batch when, and where "
			    "it idles. Left and right go from item to item, up "
			    "and down from stage to stage, + and - zoom, S lights "
			    "the critical path. Where items would be too narrow, "
			    "time is left out of the middle (//); - shows all of "
			    "it. a plays the step, ( slower and ) faster; . and , "
			    "go one event on and back: what has not started is "
			    "not there until Esc shows all of it. The row "
			    "under a lane is what the stage holds, with a mark "
			    "where that is most. A pinned plan is drawn above, "
			    "on the same axis. Of a server: what fills a pass of "
			    "decoding requests, one that carries prompts too, "
			    "and one over a prompt; up and down light an operator." },
	[VIEW_TRAFFIC] = { "traffic", "Traffic", true, "exposed_seconds", traffic_draw,
			   traffic_act,
			   "Every collective of a step, or of a server's decode pass: "
			   "its group, the slowest link it "
			   "crosses, how often, how many bytes, how long, and what no "
			   "computation hides. S sorts by the next column." },
	[VIEW_GRAPH] = { "graph", "Graph", true, "compute_seconds", graph_draw,
			 graph_act,
			 "The operators of one layer on one rank for one micro-batch, "
			 "with shapes after the split, and the collectives between "
			 "them: a table, and where there is room a picture; S gives "
			 "it all. In a box are the times of forward and backward, "
			 "and what is saved or computed again. "
			 "Left and right choose the kind of layer. Of a server: "
			 "the operators of a pass under the roof of the accelerator, "
			 "the longest first; left and right choose decoding or prefill." },
	[VIEW_TOPOLOGY] = { "topology", "Topology", true, "exposed_seconds",
			    topology_draw, topology_act,
			    "Ranks in boxes, a box for what the fast links join; a "
			    "machine with no room for all shows those around the "
			    "rank under the cursor and counts the rest. Its groups "
			    "are lit, S chooses one; below they stand as rings, with "
			    "a double line over the network and bars of the bytes of a "
			    "step at one scale. PgUp and PgDn go by box. Of a server: the "
			    "ranks of its engine, and the other engines." },
	[VIEW_SEARCH] = { "search", "Search", true, "step_seconds", search_draw,
			  search_act,
			  "The best plans for this model on this machine, with "
			  "a count of what became of every other. Enter takes a "
			  "plan and marks the knobs that it changed; left and "
			  "right choose what is best, S sorts by the next column, "
			  "/ filters: tp=4,8 pp=1..4 pin knobs, other words must "
			  "be in a plan's name, or with ! must not. Activation "
			  "offload, which few measured runs cover, is tried with "
			  "activation_offload=0,0.5,1 only. A * stands at a plan "
			  "that stays the best of all where network, GEMMs or "
			  "memory are 10 % worse. Below: the changes of your "
			  "plan that save most, and what else fits. The line is "
			  "the front that no plan beats; + gives it the room of "
			  "the table, . changes from memory to GPUs. By gpus the "
			  "smallest machine that holds it is found, with the "
			  "filter deadline=30d the smallest that ends the run "
			  "in time. In a plan's name mbs is the micro-batch, Z "
			  "the ZeRO stage and ZG its group, uly and all kinds "
			  "of CP, bal a balanced split, sel and ful what is "
			  "recomputed, oo and ao the shares of optimizer and "
			  "activations that go to the hosts, mg the VPP group; "
			  "PD stands for prefill apart, on pg GPUs in engines of ptp." },
	[VIEW_EXPLAIN] = { "explain", "Explain", true, NULL, explain_draw, explain_act,
			   "Where a number comes from: formula, this scenario's values "
			   "in it, assumption, source. Left and right go through all "
			   "numbers, up and down scroll. i at a knob opens its page: "
			   "what it means, what its neighbours move, where it stands." },
	[VIEW_GLOSSARY] = { "glossary", "Glossary", false, NULL, glossary_draw,
			    glossary_act,
			    "What the words of the field mean, and why they matter." },
	[VIEW_HELP] = { "help", "Help", false, NULL, help_draw, help_act, "The keys." },
};

int view_find(const char *name)
{
	for (int i = 0; i < VIEW_COUNT; i++)
		if (strcmp(view_table[i].name, name) == 0)
			return i;
	return -1;
}
