/* nanotron.c - see nanotron.h. */
#include "presets/nanotron/nanotron.h"

#include <stdlib.h>
#include <string.h>

#include "presets/nanotron/shape.h"

static const char stack[] = "nanotron";

static const struct mapping rows[] = {
	{ "parallelism.pp", "pp", NULL, "1", false },
	{ "parallelism.tp", "tp", NULL, "1", false },
	{ "parallelism.context_parallel_size", "cp", NULL, "1", false },
	{ "parallelism.expert_parallel_size", "ep", NULL, "1", false },
	{ "parallelism.pp_engine", "schedule", "1f1b=1f1b afab=gpipe", "1f1b", true },
	{ "parallelism.tp_mode", "sp", "REDUCE_SCATTER=on ALL_REDUCE=off", "off",
	  true },
	{ "parallelism.tp_linear_async_communication", "tp_overlap",
	  "true=on false=off True=on False=off", "off", false },
	{ "parallelism.recompute_layer", "recompute",
	  "true=full false=none True=full False=none", "none", false },
	{ "tokens.micro_batch_size", "mbs", NULL, "1", false },
	{ "tokens.sequence_length", "seq", NULL, "2048", false },
	{ "optimizer.zero_stage", "zero", NULL, "0", false },
	{ "optimizer.accumulate_grad_in_fp32", "grad_dtype",
	  "true=fp32 false=bf16 True=fp32 False=bf16", "fp32", false },
	{ "optimizer.optimizer_factory.name", "optimizer", "adamW=adamw sgd=sgd",
	  "adamw", true },
	{ "model.dtype", "precision", "bfloat16=bf16 float16=fp16 float32=fp32", "bf16",
	  true },
	{ NULL, NULL, NULL, NULL, false },
};

static const char *const others[] = {
	"parallelism.dp",
	"tokens.batch_accumulation_per_replica",
	"tokens.train_steps",
	"model.make_vocab_size_divisible_by",
	NULL,
};

static bool has(const char *knob)
{
	return strcmp(knob, "gpus") == 0 || strcmp(knob, "master_weights") == 0 ||
	       strcmp(knob, "gbs") == 0 || mapping_has(rows, knob);
}

static bool read_world(const struct mapped *m)
{
	struct plan *plan = &m->out->plan;
	int64_t dp = 0, steps = 1, world, batch, multiple = 1, run = 0;
	const struct pair *from = mapped_find(m, "parallelism.dp");

	if (!mapped_count(m, "parallelism.dp", &dp) ||
	    !mapped_count(m, "tokens.batch_accumulation_per_replica", &steps) ||
	    !mapped_count(m, "tokens.train_steps", &run) ||
	    !mapped_count(m, "model.make_vocab_size_divisible_by", &multiple))
		return false;
	if (__builtin_mul_overflow(plan->tp * plan->pp * plan->cp, dp, &world))
		world = INT64_MAX;
	/* without the accumulator in fp32 there is no copy of the weights in it either
	 * (src/nanotron/helpers.py, init_optimizer_and_grad_accumulator) */
	if (plan->grad_dtype == GRAD_BF16 && plan->precision != PRECISION_FP32 &&
	    !mapped_set_pure(m, NULL))
		return false;
	if (!mapped_set_world(m, from ? world : 0, from))
		return false;
	dp = scenario_dp(m->out);
	if (__builtin_mul_overflow(plan->micro_batch * (dp > 0 ? dp : 1),
				   steps > 0 ? steps : 1, &batch))
		batch = INT64_MAX;
	if (multiple > 0 && multiple < 1 << 20)
		m->out->stack.vocab_multiple = multiple;
	if (!mapped_set_count(m, "gbs", batch,
			      mapped_find(m, "tokens.batch_accumulation_per_replica")))
		return false;
	if (run > 0)
		plan->tokens = (double)run * (double)plan->global_batch *
			       (double)plan->seq_len;
	return true;
}

bool nanotron_read(struct scenario *out, const char *file, const char *text,
		   size_t length, struct import_report *report, struct error *error)
{
	static const struct mapped_format format = {
		stack,      rows, others, nanotron_shape_keys, nanotron_read_model,
		read_world,
	};
	struct pairs pairs;

	return pairs_from_yaml_repeats(&pairs, file, text, length, error) &&
	       mapped_read(out, &format, &pairs, report, error);
}

/* One switch is for sums and master weights in fp32, and moments follow the latter. */
static void say_master(const struct plan *plan, struct export_out *out)
{
	bool none = plan->master_weights == MASTER_NONE;
	bool told = plan->master_weights != MASTER_AUTO && !none;

	if (plan->precision == PRECISION_FP32)
		return;
	if (told || none != (plan->grad_dtype == GRAD_BF16))
		export_unsaid(out, "master_weights",
			      "one switch is for them and for sums in fp32");
	if ((none || plan->grad_dtype == GRAD_BF16) &&
	    plan->optimizer == OPTIMIZER_ADAMW)
		export_unsaid(out, "optimizer", "moments have the format of weights");
}

static void add_plan(struct entries *e, const struct scenario *s,
		     struct export_out *out)
{
	struct scenario plain = *s;
	struct plan *plan = &plain.plan;
	int64_t micro = scenario_micro_batches(s);

	if (plan->schedule == SCHEDULE_INTERLEAVED && plan->vpp == 1)
		plan->schedule = SCHEDULE_1F1B;
	entries_add_count(e, "parallelism.dp", scenario_dp(s));
	if (plan->zero > 1) {
		export_unsaid(out, "zero", "%lld; written as 1", (long long)plan->zero);
		plan->zero = 1;
	}
	say_master(plan, out);
	if (plan->grad_dtype == GRAD_BF16 && plan->optimizer == OPTIMIZER_ADAMW_BF16)
		plan->optimizer = OPTIMIZER_ADAMW;
	entries_add_rows(e, &plain, rows, true, out);
	if (micro > 0)
		entries_add_count(e, "tokens.batch_accumulation_per_replica", micro);
	else
		export_unsaid(out, "gbs", "%lld is no multiple of mbs x dp",
			      (long long)plan->global_batch);
	if (plain.stack.vocab_multiple > 1)
		entries_add_count(e, "model.make_vocab_size_divisible_by",
				  plain.stack.vocab_multiple);
}

static void add_all(struct entries *e, const struct scenario *s, struct export_out *out)
{
	add_plan(e, s, out);
	nanotron_write_model(e, &s->model, out);
	export_unsaid_knobs(out, s, stack, has);
}

static void write_fragment(const struct entries *e, FILE *stream)
{
	fputs("# a fragment of a nanotron configuration: lay it over a file that has "
	      "general,\n"
	      "# checkpoints, data_stages, logging and tokenizer, and of these sections "
	      "what is\n"
	      "# not here: model.init_method, tokens.train_steps, optimizer.weight_decay, "
	      "clip_grad,\n"
	      "# learning_rate_scheduler and the rest of optimizer_factory\n",
	      stream);
	entries_write_yaml(e, stream);
}

char *nanotron_write(const struct scenario *scenario)
{
	return entries_export(scenario, add_all, write_fragment);
}
