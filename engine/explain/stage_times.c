/* stage_times.c - what the seconds of a stage are put together from. */
#include <stddef.h>
#include <stdio.h>

#include "engine/explain/terms.h"
#include "engine/schedule/schedule.h"

static const struct stage_sum *sum_of(const struct asked *a)
{
	return &explain_whole(a)->load[a->stage].sum;
}

static const struct stage_work *work_of(const struct asked *a)
{
	return &explain_whole(a)->load[a->stage].work;
}

static const struct pipeline_result *ran(const struct asked *a)
{
	return &explain_whole(a)->result;
}

VALUE(waiting, explain_scaled(a, ran(a)->idle[a->stage]))
VALUE(transfer, explain_scaled(a, ran(a)->transfer[a->stage]))
VALUE(working, explain_scaled(a, ran(a)->busy[a->stage]))
VALUE(inside, explain_scaled(a, work_of(a)->exposed_seconds))

static double paired(const struct asked *a)
{
	double m = (double)explain_step(a)->micro_batches;
	double each = work_of(a)->forward_seconds + work_of(a)->backward_seconds;

	return explain_scaled(a, m * each - ran(a)->busy[a->stage]);
}

VALUE(sync, explain_scaled(a, work_of(a)->sync_seconds))

/* What a stage has to do behind the pipeline. */
static double end_of(const struct stage_work *work)
{
	return work->sync_seconds + work->optimizer_seconds;
}

VALUE(late, explain_scaled(a, step_ends(explain_step(a), explain_whole(a)->load) -
				      end_of(work_of(a))))

VALUE(again_flops, work_of(a)->recompute_flops)

static void working_terms(const struct asked *a, struct explanation *out)
{
	explain_say(out, "m * (f + b)");
	explain_from(a, out, "m", "micro-batches", "micro_batches");
	own(a, out, "f", "a forward, with exposed communication", "forward_seconds");
	own(a, out, "b", "a backward, with exposed communication", "backward_seconds");
	if (!step_hides_in_pairs(a->scenario))
		return;
	explain_say(out, " - h");
	own(a, out, "h", "hidden where a forward and a backward run as a pair",
	    "paired_seconds");
}

static void late_terms(const struct asked *a, struct explanation *out)
{
	const struct whole_step *whole = explain_whole(a);
	const struct stage_load *load = whole->load;
	int last = 0;

	for (int i = 1; i < whole->step.stages; i++)
		if (end_of(&load[i].work) > end_of(&load[last].work))
			last = i;
	if (last == a->stage) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "S + O - s - o");
	explain_from(a, out, "S", "gradients of the stage that ends last",
		     "stages.%d.sync_seconds", last);
	explain_from(a, out, "O", "its optimizer", "stages.%d.optimizer_seconds", last);
	own(a, out, "s", "gradients of this stage", "sync_seconds");
	own(a, out, "o", "its optimizer", "optimizer_seconds");
}

static double all_trained(const struct asked *a)
{
	struct holding h;

	explain_holding(a, &h);
	return h.local;
}

static void all_trained_terms(const struct asked *a, struct explanation *out)
{
	own(a, out, "D", "dense weights", "trained_dense");
	own(a, out, "E", "of experts", "trained_experts");
}

/* Of the trained weights' update, what a rank does of it. */
static double shared_trained(const struct asked *a)
{
	struct holding h;

	explain_holding(a, &h);
	return h.shared;
}

static double moved(const struct asked *a)
{
	struct holding h;

	explain_holding(a, &h);
	return states_update_value(h.plan->optimizer_offload, h.shared, h.local,
				   states_moved_bytes(a->scenario));
}

static void shared_trained_terms(const struct asked *a, struct explanation *out)
{
	all_trained_terms(a, out);
	explain_say(out, a->scenario->plan.zero < 1 ? "D + E" : "D / d + E / ed");
	if (a->scenario->plan.zero < 1)
		return;
	explain_from(a, out, "d", "ranks that share each", "shards.dense");
	explain_from(a, out, "ed", "ranks that share an expert's", "shards.expert");
}

VALUE(update_fixed, states_fixed_seconds(a->scenario, sum_of(a)->trained_layers))

static void update_fixed_terms(const struct asked *a, struct explanation *out)
{
	bool frozen = a->scenario->plan.lora_rank > 0 || scenario_freezes(a->scenario);

	bool slower = explain_calibrated(a, "host_scale");

	explain_say(out, slower ? "u * (" : "");
	explain_say(out, frozen ? "t * L * PP / layers + L * cpu" : "t + L * cpu");
	explain_say(out, slower ? ")" : "");
	if (slower)
		explain_from(a, out, "u", "slower than predicted (calibrate)",
			     "host_scale");
	if (frozen) {
		explain_from(a, out, "PP", "stages", "pp");
		explain_from(a, out, "layers", "of the model", "model.layers");
	}
	explain_from(a, out, "t", "of a step", "cluster.step_seconds");
	own(a, out, "L", "layers that train", "trained_layers");
	explain_from(a, out, "cpu", "launches of a layer", "stack.layer_step_seconds");
}

/* Chunks that are on the stage, one micro-batch each; those that are alike as so many
 * times the first. */
static void add_chunks(const struct asked *a, struct explanation *out,
		       const char *member, const char *meaning)
{
	const struct step *step = explain_step(a);
	int all = step->stages * step->chunks, first[MAX_CHUNKS * 2],
	    times[MAX_CHUNKS * 2];
	double value[MAX_CHUNKS * 2];
	int found = 0;

	for (int k = 0; k < all; k++) {
		double one;
		int i = 0;

		if (!explain_runs_on(step, k, a->stage))
			continue;
		one = explain_value(a, "chunks.%d.%s", k, member);
		while (i < found && value[i] != one)
			i++;
		if (i < found) {
			times[i]++;
			continue;
		}
		value[found] = one;
		first[found] = k;
		times[found++] = 1;
	}
	for (int i = 0; i < found; i++) {
		char symbol[16];

		snprintf(symbol, sizeof symbol, "c%d", first[i]);
		explain_say(out, "%s", i ? " + " : "");
		if (times[i] > 1)
			explain_say(out, "%d * ", times[i]);
		explain_say(out, "%s", symbol);
		explain_from(a, out, symbol, meaning, "chunks.%d.%s", first[i], member);
	}
}

/* The scaled sum of a member of its chunks, over the copies. */
void explain_chunk_times(const struct asked *a, struct explanation *out,
			 const char *member, const char *meaning)
{
	explain_say(out, "scale * (");
	explain_scale(a, out);
	add_chunks(a, out, member, meaning);
	explain_say(out, ") / copies");
	explain_from(a, out, "copies", "of the weights, which take turns", "copies");
}

static void inside_terms(const struct asked *a, struct explanation *out)
{
	double hidden = paired(a);

	explain_say(out, "m * ");
	explain_from(a, out, "m", "micro-batches", "micro_batches");
	explain_chunk_times(a, out, "exposed_seconds", "exposed in a micro-batch");
	if (!step_hides_in_pairs(a->scenario) || hidden <= 0)
		return;
	if (work_of(a)->exposed_seconds == 0) {
		out->formula[0] = '\0';
		out->terms = 0;
		explain_say(out, "max(0, -h)");
	} else {
		explain_say(out, " - h");
	}
	own(a, out, "h", "hidden where a forward and a backward run as a pair",
	    "paired_seconds");
}

static void again_flops_terms(const struct asked *a, struct explanation *out)
{
	explain_say(out, "m * (");
	explain_from(a, out, "m", "micro-batches", "micro_batches");
	add_chunks(a, out, "again_flops", "of a micro-batch");
	explain_say(out, ") / copies");
	explain_from(a, out, "copies", "of the weights, which take turns", "copies");
}

static const char simulated[] =
	"What the pipeline's run returned: the orders of the schedule on the stages' "
	"times, by a closed form, a shortcut or a simulator.";
static const char sums[] = "Every part that the stage holds, as often as it holds it.";

const struct explain_node explain_stage_times[] = {
	NODE("waiting_seconds", "Idle while micro-batches run", FORM_SECONDS, waiting,
	     NULL, EXPLAIN_SIMULATED, simulated),
	NODE("transfer_seconds", "Held by sends", FORM_SECONDS, transfer, NULL,
	     EXPLAIN_SIMULATED, simulated),
	NODE("paired_seconds", "Hidden in pairs", FORM_SECONDS, paired, NULL,
	     EXPLAIN_SIMULATED, simulated),
	NODE("working_seconds", "At work", FORM_SECONDS, working, working_terms, NULL,
	     "Computing and what communication shows, in all micro-batches."),
	NODE("inside_seconds", "Exposed in micro-batches", FORM_SECONDS, inside,
	     inside_terms, NULL, "What no computation hides; see Traffic."),
	NODE("sync_seconds", "Exposed at the step's end", FORM_SECONDS, sync,
	     explain_sync, NULL,
	     "Gradients, parameters and what goes to the host, behind the last "
	     "micro-batch or before the first."),
	NODE("late_seconds", "Waiting for the stage that ends last", FORM_SECONDS, late,
	     late_terms, NULL, "A step is over when its last stage is."),
	NODE("all_trained", "Weights that train", FORM_COUNT, all_trained,
	     all_trained_terms, "D + E", sums),
	NODE("shared_trained", "Weights whose update a rank makes", FORM_COUNT,
	     shared_trained, shared_trained_terms, NULL,
	     "With ZeRO its share; experts divide by their own ranks."),
	NODE_OF("update_bytes", "Bytes that an update moves", FORM_TRAFFIC, moved,
		states_update_text, "By the optimizer's kind.",
		{ "o", "share kept on the host", "optimizer_offload" },
		{ "S", "trained parameters of its share with ZeRO", ".shared_trained" },
		{ "T", "trained parameters on one rank", ".all_trained" },
		{ "u", "of each, by the optimizer", "states.moved_bytes" }),
	NODE("update_fixed_seconds", "Of an update, whatever its size", FORM_SECONDS,
	     update_fixed, update_fixed_terms, NULL,
	     "A fused optimizer launches for chunks of what trains."),
	NODE("recompute_flops", "FLOPs computed again", FORM_FLOPS, again_flops,
	     again_flops_terms, NULL, "In a step, of one GPU."),
	{ .row.key = NULL },
};
