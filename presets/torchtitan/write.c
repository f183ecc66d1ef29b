/* write.c - a scenario as the keys of torchtitan's TOML, and that TOML; see
 * torchtitan.h. */
#include <stdlib.h>
#include <string.h>

#include "engine/schedule/schedule.h"
#include "presets/torchtitan/rows.h"
#include "presets/torchtitan/torchtitan.h"

#define PARALLEL "parallelism."

static void add_model(struct entries *e, const struct scenario *s,
		      struct export_out *out)
{
	for (const struct flavor *row = torchtitan_flavors; row->model; row++)
		if (strcmp(row->model, s->model.name) == 0) {
			entries_add(e, "model.name", row->name, true);
			entries_add(e, "model.flavor", row->flavor, true);
			return;
		}
	export_unsaid(out, "model", "%s: torchtitan has no such flavor", s->model.name);
}

static void add_precision(struct entries *e, const struct plan *plan,
			  struct export_out *out)
{
	/* fp8 with the MX recipe is what "mxfp8" means */
	switch (plan->precision == PRECISION_FP8 && plan->fp8_recipe == FP8_MXFP8
			? PRECISION_MXFP8
			: plan->precision) {
	case PRECISION_BF16:
	case PRECISION_FP32: break; /* mixed_precision_param is a row */
	case PRECISION_FP8:
		entries_add(e, "model.converters", "[\"quantize.linear.float8\"]",
			    false);
		entries_add(e, "quantize.linear.float8.recipe_name",
			    plan->fp8_recipe == FP8_ROWWISE ? "rowwise" : "tensorwise",
			    true);
		if (plan->fp8_recipe != FP8_ROWWISE &&
		    plan->fp8_recipe != FP8_CURRENT_SCALING)
			export_unsaid(out, "fp8_recipe", "written as tensorwise");
		break;
	case PRECISION_MXFP8:
		entries_add(e, "model.converters", "[\"quantize.linear.mx\"]", false);
		break;
	default: export_unsaid(out, "precision", "written as bf16"); break;
	}
}

static void add_sharding(struct entries *e, const struct scenario *s,
			 struct export_out *out)
{
	const struct plan *plan = &s->plan;
	int64_t dp = scenario_dp(s), ranks = dp * plan->cp, shard = dp;
	bool grouped = plan->zero_group > 0 && plan->zero_group < ranks;

	if (plan->zero == 1 || plan->zero == 2)
		export_unsaid(out, "zero", "%lld; written as FSDP (3)",
			      (long long)plan->zero);
	if (plan->zero == 0 && plan->cp > 1)
		export_unsaid(out, "zero", "0; CP ranks always shard");
	if (plan->zero == 0)
		shard = 1;
	else if (grouped && plan->zero_group % plan->cp == 0)
		shard = plan->zero_group / plan->cp;
	else if (grouped)
		export_unsaid(out, "zero_group", "%lld", (long long)plan->zero_group);
	if (plan->zero > 0 && shard == 1 && plan->cp == 1)
		export_unsaid(out, "zero", "%lld; one rank has nothing to share out",
			      (long long)plan->zero);
	if (s->model.moe.experts > 0 && shard * plan->cp * plan->tp % plan->ep != 0)
		export_unsaid(out, "ep",
			      "%lld does not divide the %lld ranks that shard; "
			      "torchtitan refuses it",
			      (long long)plan->ep,
			      (long long)(shard * plan->cp * plan->tp));
	entries_add_count(e, PARALLEL "data_parallel_shard_degree", shard);
	entries_add_count(e, PARALLEL "data_parallel_replicate_degree",
			  shard > 0 ? dp / shard : 1);
	entries_add(e, PARALLEL "fsdp_reshard_after_forward",
		    plan->fsdp_reshard ? "always" : "never", true);
}

static void add_stages(struct entries *e, const struct scenario *s,
		       struct export_out *out)
{
	const struct plan *plan = &s->plan;
	int64_t chunks = scenario_chunks(s), stages = plan->pp * chunks;
	int64_t layers = s->model.layers + plan->split_embedding + plan->split_loss;
	int64_t each = stages > 0 ? (layers + stages - 1) / stages : 0;

	if (plan->pp < 2)
		return;
	if (plan->split != SPLIT_AUTO && plan->split != SPLIT_EVEN)
		export_unsaid(out, "split", "written as an even one");
	if (chunks == 1 && schedule_takes_chunks(plan->schedule))
		export_unsaid(out, "vpp",
			      "1; a schedule of several stages per rank with one: "
			      "torchtitan refuses it");
	if (each < 1 || (layers + each - 1) / each != stages) {
		export_unsaid(out, "vpp", "%lld stages of %lld layers",
			      (long long)stages, (long long)layers);
		return;
	}
	entries_add_count(e, PARALLEL "pipeline_parallel_layers_per_stage", each);
	entries_add_count(e, PARALLEL "pipeline_parallel_first_stage_less_layers",
			  plan->split_embedding);
	entries_add_count(e, PARALLEL "pipeline_parallel_last_stage_less_layers",
			  plan->split_loss);
}

static void add_batch(struct entries *e, const struct scenario *s)
{
	const struct plan *plan = &s->plan;
	int64_t dp = scenario_dp(s);

	if (plan->pp > 1)
		entries_add_count(e, PARALLEL "pipeline_parallel_microbatch_size",
				  plan->micro_batch);
	entries_add_count(e, "training.local_batch_size",
			  plan->pp > 1 && dp > 0 ? plan->global_batch / dp
						 : plan->micro_batch);
	entries_add_count(e, "training.global_batch_size", plan->global_batch);
}

static void add_recompute(struct entries *e, const struct plan *plan,
			  struct export_out *out)
{
	static const char *const mode[RECOMPUTE_COUNT] = { "none", "selective",
							   "full" };

	entries_add(e, "activation_checkpoint.mode", mode[plan->recompute], true);
	if (plan->recompute == RECOMPUTE_SELECTIVE) {
		entries_add(e, "activation_checkpoint.selective_ac_option", "op", true);
		if (plan->recompute_modules != 1u << MODULE_PER_OP)
			export_unsaid(out, "recompute_modules", "written as per-op");
	}
	if (plan->recompute == RECOMPUTE_FULL && plan->recompute_layers > 0)
		export_unsaid(out, "recompute_layers", "%lld; written as all",
			      (long long)plan->recompute_layers);
}

/* The rows, but for an interleaved schedule of one chunk, which is 1F1B. */
static void add_rows(struct entries *e, const struct scenario *s, bool all,
		     struct export_out *out)
{
	struct scenario plain = *s;

	if (plain.plan.schedule == SCHEDULE_INTERLEAVED && plain.plan.vpp == 1)
		plain.plan.schedule = SCHEDULE_1F1B;
	/* a gradient has the format of the gathered weight */
	plain.plan.grad_dtype =
		plain.plan.precision == PRECISION_FP32 ? GRAD_FP32 : GRAD_BF16;
	if (plain.plan.grad_dtype != s->plan.grad_dtype)
		export_unsaid(out, "grad_dtype",
			      "gradients have the format of the weights until they are "
			      "reduced");
	/* moments have the format of the weights that are stepped */
	if (plain.plan.master_weights == MASTER_NONE &&
	    plain.plan.optimizer == OPTIMIZER_ADAMW_BF16)
		plain.plan.optimizer = OPTIMIZER_ADAMW;
	else if (plain.plan.master_weights == MASTER_NONE &&
		 plain.plan.optimizer == OPTIMIZER_ADAMW)
		export_unsaid(out, "optimizer", "moments have the format of weights");
	entries_add_rows(e, &plain, torchtitan_rows, all, out);
}

/* Sequences are cut by TP, and twice by CP. */
static void say_shards(const struct scenario *s, struct export_out *out)
{
	const struct plan *plan = &s->plan;
	int64_t shards = plan->tp * (plan->cp > 1 ? 2 * plan->cp : 1);

	if (plan->seq_len % shards != 0)
		export_unsaid(out, "seq",
			      "%lld is no multiple of %lld; torchtitan refuses it",
			      (long long)plan->seq_len, (long long)shards);
}

void torchtitan_add(struct entries *e, const struct scenario *scenario, bool all,
		    struct export_out *out)
{
	const struct plan *plan = &scenario->plan;

	add_model(e, scenario, out);
	add_sharding(e, scenario, out);
	add_rows(e, scenario, all, out);
	add_stages(e, scenario, out);
	add_batch(e, scenario);
	add_precision(e, plan, out);
	say_shards(scenario, out);
	add_recompute(e, plan, out);
	if (plan->optimizer_offload >= 1)
		entries_add(e, "training.enable_cpu_offload", "true", false);
	else if (plan->optimizer_offload > 0)
		export_unsaid(out, "optimizer_offload", "%.3g: all or nothing",
			      plan->optimizer_offload);
	export_unsaid_knobs(out, scenario, "torchtitan", torchtitan_has);
}

static void add_plain(struct entries *e, const struct scenario *scenario,
		      struct export_out *out)
{
	torchtitan_add(e, scenario, false, out);
}

static void write_toml(const struct entries *e, FILE *stream)
{
	fputs("# for torchtitan up to v0.2.2; later ones are configured in Python\n",
	      stream);
	entries_write_toml(e, stream);
}

char *torchtitan_write(const struct scenario *scenario)
{
	return entries_export(scenario, add_plain, write_toml);
}
