/* stages.c - rules about the pipeline: layers, chunks, micro-batches. */
#include <stdlib.h>
#include <string.h>

#include "engine/plan/split.h"
#include "engine/rules/rules.h"
#include "engine/schedule/schedule.h"

/* Layers as an even split counts them. */
static int64_t slots(const struct facts *f)
{
	return f->model->layers + (f->plan->split_embedding ? 1 : 0) +
	       (f->plan->split_loss ? 1 : 0);
}

static bool splits_unevenly(const struct facts *f, struct broken *out)
{
	if (f->pp < 2 || slots(f) % f->pp == 0)
		return false;
	*out = (struct broken){
		.value = { (double)f->model->layers, (double)f->pp,
			   (double)(slots(f) - f->model->layers), (double)slots(f) },
		.mend = { { "split", MEND_VALUE, SPLIT_BALANCED },
			  { "pp", MEND_DIVISOR, slots(f) } },
	};
	return true;
}

/* Whether such a split counts more than layers. */
static bool counts_ends(const struct facts *f)
{
	return slots(f) > f->model->layers;
}

bool breaks_e8(const struct facts *f, struct broken *out)
{
	return f->plan->split == SPLIT_AUTO && !counts_ends(f) &&
	       splits_unevenly(f, out);
}

bool breaks_e8_counted(const struct facts *f, struct broken *out)
{
	return f->plan->split == SPLIT_AUTO && counts_ends(f) &&
	       splits_unevenly(f, out);
}

bool breaks_e8_even(const struct facts *f, struct broken *out)
{
	return f->plan->split == SPLIT_EVEN && !counts_ends(f) &&
	       splits_unevenly(f, out);
}

bool breaks_e8_even_counted(const struct facts *f, struct broken *out)
{
	return f->plan->split == SPLIT_EVEN && counts_ends(f) &&
	       splits_unevenly(f, out);
}

static bool uneven_chunks(const struct facts *f, struct broken *out)
{
	int64_t stage;

	if (!f->chunked || slots(f) % f->pp != 0)
		return false;
	stage = slots(f) / f->pp;
	if (stage % f->chunks == 0)
		return false;
	*out = (struct broken){
		.value = { (double)stage, (double)f->chunks },
		.mend = { { "vpp", MEND_DIVISOR, stage },
			  { "split", MEND_VALUE, SPLIT_BALANCED } },
	};
	return true;
}

bool breaks_e9(const struct facts *f, struct broken *out)
{
	return f->plan->split == SPLIT_AUTO && uneven_chunks(f, out);
}

bool breaks_e9_even(const struct facts *f, struct broken *out)
{
	return f->plan->split == SPLIT_EVEN && uneven_chunks(f, out);
}

bool breaks_e10(const struct facts *f, struct broken *out)
{
	if (f->plan->split != SPLIT_CUSTOM || f->plan->vpp < 2 || f->chunks < 1 ||
	    f->plan->vpp == f->chunks)
		return false;
	*out = (struct broken){
		.value = { (double)f->plan->vpp, (double)f->chunks },
		.mend = { { "vpp", MEND_VALUE, f->chunks }, { "vpp", MEND_VALUE, 1 } },
	};
	return true;
}

bool breaks_e12_single(const struct facts *f, struct broken *out)
{
	if (f->pp > 1 || f->plan->vpp < 2 || f->plan->schedule != SCHEDULE_INTERLEAVED)
		return false;
	*out = (struct broken){ .value = { (double)f->plan->vpp },
				.mend = { { "vpp", MEND_VALUE, 1 } } };
	return true;
}

bool breaks_e12_pair(const struct facts *f, struct broken *out)
{
	if (!f->interleaved || f->pp != 2 || f->plan->overlap_p2p)
		return false;
	*out = (struct broken){
		.value = { (double)f->chunks },
		.mend = { { "overlap_p2p", MEND_VALUE, 1 }, { "vpp", MEND_VALUE, 1 } },
	};
	return true;
}

static int64_t group_of(const struct facts *f)
{
	return schedule_group(f->plan->schedule, f->pp, f->micro_batches,
			      f->plan->micro_batch_group);
}

bool breaks_e13(const struct facts *f, struct broken *out)
{
	if (!f->interleaved || f->micro_batches < 1 || f->micro_batches >= f->pp)
		return false;
	*out = (struct broken){
		.value = { (double)f->micro_batches, (double)f->pp, (double)f->chunks },
		.mend = { { "mbs", MEND_AROUND, 0 },
			  { "gbs", MEND_MULTIPLE,
			    f->pp * f->plan->micro_batch * f->dp },
			  { "vpp", MEND_VALUE, 1 } },
	};
	return true;
}

bool breaks_e13_group(const struct facts *f, struct broken *out)
{
	int64_t group = f->plan->micro_batch_group;

	if (!f->interleaved || f->plan->schedule == SCHEDULE_BREADTH_FIRST ||
	    f->micro_batches < f->pp || group < 1 ||
	    (group >= f->pp && group <= f->micro_batches))
		return false;
	*out = (struct broken){
		.value = { (double)group, (double)f->pp, (double)f->micro_batches },
		.mend = { { "micro_batch_group", MEND_VALUE, f->pp },
			  { "micro_batch_group", MEND_VALUE, 0 } },
	};
	return true;
}

bool breaks_e14(const struct facts *f, struct broken *out)
{
	int64_t group = group_of(f), rest;

	if (!f->interleaved || group < 1 || f->micro_batches < group)
		return false;
	rest = f->micro_batches % group;
	if (rest == 0 || rest >= f->pp)
		return false;
	*out = (struct broken){
		.value = { (double)f->micro_batches, (double)group, (double)rest,
			   (double)f->pp },
		.mend = { { "gbs", MEND_MULTIPLE,
			    group * f->plan->micro_batch * f->dp },
			  { "mbs", MEND_AROUND, 0 },
			  { "vpp", MEND_VALUE, 1 } },
	};
	return true;
}

/* What the schedule itself refuses, and in what: "pp" or "global_batch". */
static bool schedule_refuses(const struct facts *f, const char *knob,
			     struct schedule_problem *problem)
{
	struct schedule_request request = { .kind = f->plan->schedule,
					    .stages = (int)f->pp,
					    .chunks = (int)f->chunks };

	/* Megatron's own are rules E13 and E14 */
	if (schedule_by_rounds(f->plan->schedule) || f->chunks < 1 ||
	    f->micro_batches < 1 || f->micro_batches > INT32_MAX)
		return false;
	request.micro_batches = (int)f->micro_batches;
	return !schedule_allows(&request, problem) && strcmp(problem->knob, knob) == 0;
}

bool breaks_even_stages(const struct facts *f, struct broken *out)
{
	struct schedule_problem problem;

	if (!schedule_refuses(f, "pp", &problem))
		return false;
	*out = (struct broken){
		.value = { (double)f->pp },
		.mend = { { "pp", MEND_AROUND, 0 },
			  { "schedule", MEND_VALUE, SCHEDULE_1F1B } },
	};
	return true;
}

bool breaks_even_batches(const struct facts *f, struct broken *out)
{
	struct schedule_problem problem;

	if (!schedule_refuses(f, "global_batch", &problem) || f->micro_batches % 2 == 0)
		return false;
	*out = (struct broken){
		.value = { (double)f->micro_batches },
		.mend = { { "gbs", MEND_MULTIPLE, 2 * f->plan->micro_batch * f->dp } },
	};
	return true;
}

bool breaks_few_batches(const struct facts *f, struct broken *out)
{
	struct schedule_problem problem;

	if (!schedule_refuses(f, "global_batch", &problem) ||
	    problem.nearest_count != 1)
		return false;
	*out = (struct broken){
		.value = { (double)f->micro_batches, (double)problem.nearest[0],
			   (double)f->pp },
		.mend = { { "gbs", MEND_MULTIPLE,
			    problem.nearest[0] * f->plan->micro_batch * f->dp },
			  { "mbs", MEND_AROUND, 0 } },
	};
	return true;
}

/* A layout that deals out other chunks than the schedule has. */
bool breaks_own_chunks(const struct facts *f, struct broken *out)
{
	int64_t own = schedule_chunks(f->plan->schedule, f->pp, f->chunks);

	if (schedule_by_rounds(f->plan->schedule) || f->plan->split != SPLIT_CUSTOM ||
	    f->chunks < 1 || own == f->chunks)
		return false;
	*out = (struct broken){
		.value = { (double)own, (double)f->chunks },
		.mend = { { "split", MEND_VALUE, SPLIT_BALANCED },
			  { "split", MEND_VALUE, SPLIT_AUTO } },
	};
	return true;
}

bool breaks_layout_text(const struct facts *f, struct broken *out)
{
	if (f->plan->split != SPLIT_CUSTOM || f->layout.stages >= 0)
		return false;
	*out = (struct broken){
		.value = { (double)f->layout.fault },
		.mend = { { "split", MEND_VALUE, SPLIT_AUTO },
			  { "split", MEND_VALUE, SPLIT_BALANCED } },
	};
	return true;
}

bool breaks_e15(const struct facts *f, struct broken *out)
{
	int stages = f->layout.stages;

	if (f->plan->split != SPLIT_CUSTOM || f->chunks > 0)
		return false;
	if (stages < 1 || stages % f->pp == 0)
		return false;
	*out = (struct broken){
		.value = { (double)stages, (double)f->pp },
		.mend = { { "pp", MEND_DIVISOR, stages },
			  { "split", MEND_VALUE, SPLIT_AUTO },
			  { "split", MEND_VALUE, SPLIT_BALANCED } },
	};
	return true;
}

bool breaks_layout_layers(const struct facts *f, struct broken *out)
{
	if (f->plan->split != SPLIT_CUSTOM || f->layout.stages < 0 ||
	    f->layout.layers == f->model->layers)
		return false;
	*out = (struct broken){
		.value = { (double)f->layout.layers, (double)f->model->layers },
		.mend = { { "split", MEND_VALUE, SPLIT_AUTO },
			  { "split", MEND_VALUE, SPLIT_BALANCED } },
	};
	return true;
}

/* What else split_layers() refuses: first and last counts that leave a rest, or
 * a layout whose MTP layers are not the model's. */
bool breaks_split(const struct facts *f, struct broken *out)
{
	struct split split;

	if (!split_is_told(f->plan->split) || f->chunks < 1 ||
	    f->pp * f->chunks > MAX_VIRTUAL)
		return false;
	if (f->plan->split == SPLIT_CUSTOM &&
	    (f->layout.stages < 0 || f->layout.layers != f->model->layers))
		return false;
	if (split_layers(f->scenario, NULL, &split))
		return false;
	*out = (struct broken){
		.value = { (double)f->model->layers, (double)f->pp, (double)f->chunks,
			   (double)f->plan->first_stage_layers,
			   (double)f->plan->last_stage_layers,
			   (double)f->model->mtp_layers },
		.mend = { { "split", MEND_VALUE, SPLIT_AUTO },
			  { "split", MEND_VALUE, SPLIT_BALANCED } },
	};
	return true;
}

/* A balanced split can leave a stage empty, but not more than the embedding and the
 * head could fill. */
bool breaks_balance(const struct facts *f, struct broken *out)
{
	int64_t stages = f->pp * (f->chunks > 0 ? f->chunks : 1);
	bool balanced = f->plan->split == SPLIT_AUTO ||
			f->plan->split == SPLIT_BALANCED ||
			f->plan->split == SPLIT_BALANCED_MEMORY;
	int64_t most = f->model->layers + 2;

	if (stages <= 1 || !balanced || stages <= most)
		return false;
	*out = (struct broken){
		.value = { (double)f->pp, (double)f->chunks, (double)stages,
			   (double)f->model->layers },
		.mend = { { "vpp", MEND_VALUE, most / f->pp },
			  { "pp", MEND_AROUND, 0 } },
	};
	return true;
}

bool breaks_stages(const struct facts *f, struct broken *out)
{
	int64_t stages = f->pp * (f->chunks > 0 ? f->chunks : 1);
	int64_t most = slots(f);
	struct broken told;

	/* where X24 refuses them it says so already */
	if (stages <= 1 || f->plan->split == SPLIT_CUSTOM || stages <= most ||
	    breaks_balance(f, &told))
		return false;
	*out = (struct broken){
		.value = { (double)f->pp, (double)f->chunks, (double)stages,
			   (double)most },
		.mend = { { "vpp", MEND_VALUE, most / f->pp },
			  { "pp", MEND_AROUND, 0 } },
	};
	return true;
}

bool breaks_capacity(const struct facts *f, struct broken *out)
{
	int64_t stages = f->pp * (f->chunks > 0 ? f->chunks : 1);

	if (stages <= MAX_VIRTUAL && f->pp <= MAX_STAGES)
		return false;
	*out = (struct broken){
		.value = { (double)f->pp, (double)f->chunks, (double)MAX_STAGES,
			   (double)MAX_VIRTUAL },
		.mend = { { "vpp", MEND_VALUE, MAX_VIRTUAL / f->pp },
			  { "pp", MEND_AROUND, 0 } },
	};
	return true;
}

bool breaks_chunks(const struct facts *f, struct broken *out)
{
	if (f->pp < 2 || f->plan->vpp < 2 || f->chunks != 1)
		return false;
	*out = (struct broken){
		.value = { (double)f->plan->vpp, (double)f->plan->schedule },
		.mend = { { "schedule", MEND_VALUE, SCHEDULE_INTERLEAVED } },
	};
	return true;
}

bool breaks_zero3_pipeline(const struct facts *f, struct broken *out)
{
	if (f->pp < 2 || f->plan->zero != 3 || f->dp * f->cp < 2)
		return false;
	*out = (struct broken){
		.value = { (double)f->pp, (double)f->micro_batches },
		.mend = { { "zero", MEND_VALUE, 1 } },
	};
	return true;
}
