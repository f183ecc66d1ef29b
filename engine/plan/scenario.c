/* scenario.c - derived degrees and defaults; see scenario.h. The rules are in
 * engine/rules/. */
#include "engine/plan/scenario.h"

#include <string.h>

#include "engine/plan/split.h"

static const struct plan usual = {
	.tp = 1,
	.pp = 1,
	.vpp = 1,
	.cp = 1,
	.ep = 1,
	.zero = 1,
	.fsdp_reshard = true,
	.fsdp_prefetch = 1,
	.micro_batch = 1,
	.global_batch = 256,
	.seq_len = 4096,
	.schedule = SCHEDULE_INTERLEAVED, /* with VPP 1 it is 1F1B */
	.optimizer_sync = SYNC_BARRIER,
	.recompute = RECOMPUTE_NONE,
	.recompute_modules = 1u << MODULE_CORE_ATTN,
	.mlp_tiles = 1,
	.loss_tiles = 8,
	.offload_share = 1,
	.attention_kernel = ATTENTION_FLASH2,
	.vocab_parallel = true,
	.capacity_factor = 1,
	.imbalance = 1,
	.grouped_gemm = true,
	.host_binding = true,
	.scale_fusion = SCALES_FUSED,
	/* Transformer Engine's NVFP4BlockScaling */
	.fp4_rotation = true,
	.fp4_rounding = true,
	.fp4_squares = true,
	.graph_scopes = (1u << SCOPE_COUNT) - 1,
	.tokens = 1e12,
	.serving = {
		.prompt_len = 2048,
		.output_len = 512,
		.concurrency = 64,
		.arrival_scv = 1,
		.dp_attention = 1,
		.kv_shards = 1,
		.chunked_prefill = true,
		.host_overlap = true,
		.receive_interval = 1,
		.kv_block = 16,
		.memory_share = 0.9,
		.prefix_cache = true,
		.adapter_rank = 16,
		.draft_tokens = 3,
		.draft_cost = 0.1,
	},
};

void scenario_defaults(struct scenario *scenario)
{
	memset(scenario, 0, sizeof *scenario);
	scenario->cluster.gpus = 1;
	scenario->cluster.scale = 1;
	scenario->cluster.accelerator.calibration.compute_scale = 1;
	scenario->cluster.accelerator.calibration.network_scale = 1;
	scenario->cluster.accelerator.calibration.host_scale = 1;
	scenario->plan = usual;
}

int64_t scenario_etp(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;

	if (plan->etp > 0)
		return plan->etp;
	/* a dense model has no experts to split */
	if (scenario->model.moe.experts == 0)
		return plan->tp;
	return scenario->stack.etp_rule == ETP_IS_TP ? plan->tp : 1;
}

int64_t scenario_quotient(int64_t world, int64_t a, int64_t b, int64_t c)
{
	int64_t product;

	if (a < 1 || b < 1 || c < 1 || __builtin_mul_overflow(a, b, &product) ||
	    __builtin_mul_overflow(product, c, &product) || product > world)
		return 0;
	return world % product == 0 ? world / product : 0;
}

int64_t scenario_prefill_gpus(const struct scenario *scenario)
{
	const struct serving_plan *v = &scenario->plan.serving;

	if (!v->disaggregated)
		return 0;
	return v->prefill_gpus > 0 ? v->prefill_gpus : scenario->cluster.gpus / 2;
}

static int64_t or_same(int64_t own, int64_t other)
{
	return own > 0 ? own : other;
}

struct engine_degrees scenario_prefill_engine(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;
	const struct serving_plan *v = &plan->serving;

	return (struct engine_degrees){
		.tp = or_same(v->prefill_tp, plan->tp),
		.pp = or_same(v->prefill_pp, plan->pp),
		.ep = or_same(v->prefill_ep, plan->ep),
		.dp_attention = or_same(v->prefill_dp_attention, v->dp_attention),
	};
}

int64_t scenario_dp(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;

	return scenario_quotient(scenario->cluster.gpus, plan->tp, plan->cp, plan->pp);
}

int64_t scenario_edp(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;

	return scenario_quotient(scenario->cluster.gpus, scenario_etp(scenario),
				 plan->ep, plan->pp);
}

int64_t scenario_micro_batches(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;
	int64_t dp = scenario_dp(scenario);
	int64_t samples;

	if (dp == 0 || __builtin_mul_overflow(dp, plan->micro_batch, &samples) ||
	    samples < 1 || plan->global_batch % samples != 0)
		return 0;
	return plan->global_batch / samples;
}

int64_t scenario_batch_of(const struct scenario *scenario, int64_t micro_batches)
{
	int64_t batch = scenario_dp(scenario);

	if (micro_batches < 1 ||
	    __builtin_mul_overflow(batch, scenario->plan.micro_batch, &batch) ||
	    __builtin_mul_overflow(batch, micro_batches, &batch))
		return 0;
	return batch;
}

int64_t scenario_padded_vocab(const struct scenario *scenario)
{
	int64_t multiple = scenario->stack.vocab_multiple;

	if (multiple < 1)
		multiple = 1;
	multiple *= scenario->plan.tp;
	return (scenario->model.vocab + multiple - 1) / multiple * multiple;
}

int64_t scenario_chunks(const struct scenario *scenario)
{
	return split_chunks(scenario);
}

static int64_t common_divisor(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

int64_t scenario_smallest_world(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;
	int64_t dense = plan->tp * plan->cp;
	int64_t expert = scenario_etp(scenario) * plan->ep;

	if (dense < 1 || expert < 1)
		return 0;
	if (scenario->model.moe.experts == 0)
		return plan->pp * dense;
	return plan->pp * (dense / common_divisor(dense, expert) * expert);
}

bool scenario_unmeasured(const struct scenario *s)
{
	const struct calibration *c = &s->cluster.accelerator.calibration;

	if (s->plan.mode == MODE_INFERENCE)
		return c->serving.unfitted || c->serving.assumed;
	return c->unmeasured;
}

enum run_kind scenario_run_kind(const struct scenario *s)
{
	bool unmeasured = s->cluster.accelerator.calibration.unmeasured;

	if (unmeasured && s->cluster.torus)
		return RUN_TORUS;
	if (unmeasured)
		return RUN_UNMEASURED;
	if (s->plan.lora_rank > 0)
		return RUN_ADAPTERS;
	return s->model.moe.experts > 0 ? RUN_EXPERTS : RUN_DENSE;
}

int64_t scenario_attended_len(const struct scenario *s)
{
	int64_t document = s->plan.document_len;

	return document > 0 && document < s->plan.seq_len ? document : s->plan.seq_len;
}

bool scenario_sums_behind(const struct scenario *s)
{
	return s->plan.zero == 1 && s->stack.reduces_behind &&
	       (s->plan.precision == PRECISION_FP32 || s->plan.grad_dtype == GRAD_FP32);
}

bool scenario_trains_narrow(const struct scenario *s)
{
	return s->plan.mode == MODE_TRAINING &&
	       precision_table[s->plan.precision].trains &&
	       !precision_table[s->plan.precision].wide;
}

bool scenario_attends_narrow(const struct scenario *s)
{
	return s->plan.fp8_attention && scenario_trains_narrow(s) &&
	       attention_table[s->plan.attention_kernel].flash;
}

bool plan_sends_activations(const struct plan *p)
{
	bool policy =
		p->recompute == RECOMPUTE_SELECTIVE && p->remat_policy != REMAT_MODULES;

	return p->activation_offload > 0 ||
	       (policy && (p->remat_policy == REMAT_QKV_PROJ_OFFLOADED ||
			   p->remat_policy == REMAT_MINIMAL_OFFLOADED ||
			   (p->remat_policy == REMAT_CUSTOM && p->remat_sent != 0))) ||
	       (!policy && p->recompute != RECOMPUTE_FULL && p->offload_modules != 0 &&
		p->offload_share > 0);
}

static bool widens(const struct scenario *s)
{
	return scenario_trains_narrow(s) &&
	       (s->plan.wide_first > 0 || s->plan.wide_last > 0);
}

bool scenario_freezes(const struct scenario *s)
{
	return s->plan.mode == MODE_TRAINING && s->plan.lora_rank == 0 &&
	       s->plan.frozen_layers > 0;
}

bool scenario_freezes_head(const struct scenario *s)
{
	return scenario_freezes(s) && s->plan.frozen_head;
}

void scenario_mark(struct scenario *s)
{
	struct layer_marks marks = { 0 };
	bool marked = false;

	if (widens(s)) {
		marks.wide_first = s->plan.wide_first;
		marks.wide_last = s->plan.wide_last;
	}
	if (scenario_freezes(s))
		marks.frozen = s->plan.frozen_layers;
	for (int k = 0; k < s->model.kinds && k < MAX_LAYER_KINDS; k++)
		marked |= s->model.kind[k].wide || s->model.kind[k].frozen;
	/* a model of too many kinds is refused (X27) */
	if (marked || widens(s) || scenario_freezes(s))
		model_mark(&s->model, &marks);
}

const struct scenario *scenario_marked(const struct scenario *s, struct scenario *room)
{
	if (!widens(s) && !scenario_freezes(s))
		return s;
	*room = *s;
	scenario_mark(room);
	return room;
}
