/* deepspeed.c - see deepspeed.h. */
#include "presets/deepspeed/deepspeed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/knob/knob.h"
#include "presets/pairs/mapping.h"

static const char stack[] = "deepspeed";

static const struct mapping rows[] = {
	{ "train_batch_size", "gbs", NULL, NULL, false },
	{ "train_micro_batch_size_per_gpu", "mbs", NULL, NULL, false },
	{ "zero_optimization.stage", "zero", NULL, "0", false },
	{ "zero_optimization.mics_shard_size", "zero_group", "-1=all", "all", false },
	{ "optimizer.type", "optimizer",
	  "AdamW=adamw Adam=adamw FusedAdam=adamw DeepSpeedCPUAdam=adamw CPUAdam=adamw "
	  "OneBitAdam=adamw ZeroOneAdam=adamw Lamb=adamw Lion=adamw "
	  "Adam8bit=adamw-8bit Adafactor=adafactor Muon=muon SGD=sgd",
	  "adamw", true },
	{ "data_types.grad_accum_dtype", "grad_dtype", "fp32=fp32 bf16=bf16 fp16=bf16",
	  NULL, true },
	{ "tensor_parallel.autotp_size", "tp", NULL, "1", false },
	{ "tensor_parallel.tp.tp_size", "tp", NULL, NULL, false },
	{ NULL, NULL, NULL, NULL, false },
};

static const char *const others[] = {
	"gradient_accumulation_steps",
	"zero_optimization.overlap_comm",
	"zero_optimization.offload_optimizer.device",
	"zero_optimization.offload_optimizer.ratio",
	"zero_optimization.offload_param.device",
	"zero_optimization.stage3_prefetch_bucket_size",
	"zero_optimization.zero_quantized_weights",
	"zero_optimization.zero_quantized_gradients",
	"zero_optimization.zero_hpz_partition_size",
	"bf16.enabled",
	"fp16.enabled",
	"bf16.bf16_master_weights_and_grads",
	"bf16.bf16_optimizer_states",
	"fp16.fp16_master_weights_and_grads",
	"activation_checkpointing.partition_activations",
	"activation_checkpointing.cpu_checkpointing",
	"activation_checkpointing.number_checkpoints",
	NULL,
};

static bool has(const char *knob)
{
	static const char *const more[] = {
		"gpus",
		"precision",
		"master_weights",
		"recompute",
		"activation_offload",
		"optimizer_offload",
		"overlap_grad_reduce",
		"overlap_param_gather",
		NULL,
	};

	return word_among(knob, more) || mapping_has(rows, knob);
}

/* "auto" is what the trainer in front is told: that format then, the wider range of
 * the two, and it is said. */
static const char *precision_of(const struct mapped *m)
{
	const char *precision = "fp32";

	if (mapped_true(m, "bf16.enabled"))
		return "bf16";
	if (mapped_true(m, "fp16.enabled"))
		return "fp16";
	for (int i = 0; i < m->pairs->count; i++) {
		const struct pair *pair = &m->pairs->item[i];

		if (strcmp(pair->value, "auto") != 0)
			continue;
		if (strcmp(pair->key, "bf16.enabled") == 0)
			precision = "bf16";
		if (strcmp(pair->key, "fp16.enabled") == 0 &&
		    strcmp(precision, "fp32") == 0)
			precision = "fp16";
	}
	if (strcmp(precision, "fp32") != 0)
		import_note(m->report, IMPORT_ASSUMED, "precision",
			    "%s; \"auto\" is what the trainer is told", precision);
	return precision;
}

/* A master weight of 16 bits is a copy all the same (deepspeed/runtime/zero/
 * stage_1_and_2.py, master_weights_and_grads_dtype); the moments follow it in bf16
 * where that is said, too. */
static bool read_master(const struct mapped *m)
{
	static const char *const keys[] = { "bf16.bf16_master_weights_and_grads",
					    "fp16.fp16_master_weights_and_grads" };
	bool half = m->out->plan.precision == PRECISION_FP16;
	const struct pair *from = pairs_find(m->pairs, keys[half]);
	bool narrow = mapped_true(m, keys[half]);
	bool states = narrow && !half && mapped_true(m, "bf16.bf16_optimizer_states") &&
		      m->out->plan.optimizer == OPTIMIZER_ADAMW;

	return mapped_set(m, "master_weights", narrow ? "16-bit" : "auto", from) &&
	       (!states || mapped_set(m, "optimizer", "adamw-bf16", NULL));
}

static bool read_precision(const struct mapped *m)
{
	const char *precision = precision_of(m);

	if (!pairs_find(m->pairs, "data_types.grad_accum_dtype") &&
	    !mapped_set(m, "grad_dtype", "bf16", NULL))
		return false;
	return mapped_set(m, "precision", precision, NULL) && read_master(m);
}

/* At the other stages DeepSpeed leaves them where they are. */
static void note_parameters(const struct mapped *m)
{
	static const char key[] = "zero_optimization.offload_param.device";

	if (m->out->plan.zero == 3 && mapped_find(m, key) && !mapped_is(m, key, "none"))
		mapped_approximate(m, key, PARAMETERS_STAY);
}

static bool read_memory(const struct mapped *m)
{
	static const char device[] = "zero_optimization.offload_optimizer.device";
	const struct pair *ratio =
		mapped_find(m, "zero_optimization.offload_optimizer.ratio");
	bool offload = mapped_find(m, device) && !mapped_is(m, device, "none");
	bool recompute = false, cpu;

	for (int i = 0; i < m->pairs->count; i++)
		recompute = recompute || strncmp(m->pairs->item[i].key,
						 "activation_checkpointing.", 25) == 0;
	cpu = mapped_true(m, "activation_checkpointing.cpu_checkpointing");
	note_parameters(m);
	if (!recompute)
		import_note(m->report, IMPORT_ASSUMED, "recompute",
			    "none: the training code decides");
	return mapped_set(m, "recompute", recompute ? "full" : "none", NULL) &&
	       mapped_set(m, "activation_offload", cpu ? "1" : "0", NULL) &&
	       mapped_set(m, "optimizer_offload",
			  !offload ? "0"
			  : ratio  ? ratio->value
				   : "1",
			  ratio);
}

/* overlap_comm is on where it is not given and the stage is 3. */
static bool read_overlap(const struct mapped *m)
{
	static const char key[] = "zero_optimization.overlap_comm";
	bool on = mapped_find(m, key) ? mapped_true(m, key) : m->out->plan.zero == 3;

	return mapped_set(m, "overlap_grad_reduce", on ? "on" : "off", NULL) &&
	       mapped_set(m, "overlap_param_gather", on ? "on" : "off", NULL);
}

/* A batch beside a micro-batch or an accumulation alone is that of any number of GPUs:
 * as many of a node as share it evenly. */
static bool assume_world(const struct mapped *m, int64_t steps,
			 const struct pair *batch)
{
	struct plan *plan = &m->out->plan;
	bool told = mapped_find(m, "train_micro_batch_size_per_gpu") != NULL;
	int64_t each = told ? plan->micro_batch : steps > 0 ? steps : 1;
	int64_t share = plan->global_batch / each;
	int64_t ranks = m->out->cluster.gpus_per_node / plan->tp;

	if (plan->global_batch % each != 0)
		return error_set(m->error, m->pairs->file, batch->line,
				 "train_batch_size %lld is no multiple of %lld, the %s",
				 (long long)plan->global_batch, (long long)each,
				 told ? "micro-batch" : "accumulation");
	while (ranks > 1 && share % ranks != 0)
		ranks--;
	ranks = ranks < 1 ? 1 : ranks;
	import_note(m->report, IMPORT_ASSUMED, "gpus", "%lld",
		    (long long)(ranks * plan->tp));
	if (told || share < ranks)
		return mapped_set_world(m, ranks * plan->tp, batch);
	import_note(m->report, IMPORT_ASSUMED, "mbs", "%lld, of as many GPUs",
		    (long long)(share / ranks));
	return mapped_set_world(m, ranks * plan->tp, batch) &&
	       mapped_set_count(m, "mbs", share / ranks, batch);
}

/* batch = micro-batch x accumulation x DP: any three give the fourth. */
static bool read_world(const struct mapped *m)
{
	struct plan *plan = &m->out->plan;
	int64_t steps = 0, world = 0;
	const struct pair *batch = mapped_find(m, "train_batch_size");

	if (!mapped_count(m, "gradient_accumulation_steps", &steps))
		return false;
	if (batch && (steps < 1 || !mapped_find(m, "train_micro_batch_size_per_gpu")))
		return assume_world(m, steps, batch);
	if (batch && steps > 0) {
		int64_t each = plan->micro_batch * steps;

		if (plan->global_batch % each != 0)
			return error_set(m->error, m->pairs->file, batch->line,
					 "train_batch_size %lld is no multiple of "
					 "micro-batch %lld x accumulation %lld",
					 (long long)plan->global_batch,
					 (long long)plan->micro_batch,
					 (long long)steps);
		world = plan->global_batch / each * plan->tp;
	}
	if (!mapped_set_world(m, world, batch))
		return false;
	int64_t dp = scenario_dp(m->out);

	if (batch)
		return true;
	steps = steps > 0 ? steps : 1;
	return mapped_set_count(m, "gbs", plan->micro_batch * steps * (dp > 0 ? dp : 1),
				NULL);
}

/* ZeRO++ (arXiv 2306.10209): what is gathered and scattered goes round narrow, and a
 * second shard of the weights stays inside a node for the backward. */
static void doubt_plus(const struct mapped *m)
{
	int64_t ranks = 1;

	if (m->out->plan.zero < 3)
		return;
	if (mapped_true(m, "zero_optimization.zero_quantized_weights"))
		import_note(m->report, IMPORT_APPROXIMATE,
			    "zero_optimization.zero_quantized_weights",
			    "gathered weights are counted in 16 bits, not 8");
	if (mapped_true(m, "zero_optimization.zero_quantized_gradients"))
		import_note(m->report, IMPORT_APPROXIMATE,
			    "zero_optimization.zero_quantized_gradients",
			    "scattered gradients are counted in 16 bits, not 4");
	if (mapped_count(m, "zero_optimization.zero_hpz_partition_size", &ranks) &&
	    ranks > 1)
		import_note(m->report, IMPORT_APPROXIMATE,
			    "zero_optimization.zero_hpz_partition_size",
			    "%lld ranks' second shard of weights and gathers inside "
			    "it are not counted",
			    (long long)ranks);
}

static bool read_rest(const struct mapped *m)
{
	doubt_plus(m);
	return read_precision(m) && read_memory(m) && read_overlap(m) && read_world(m);
}

/* DeepSpeed takes its optimizers in any case (runtime/config.py), and any of
 * torch.optim's by name. */
static void spell_optimizer(struct pairs *pairs, struct import_report *report)
{
	static const char *const known[] = {
		"AdamW",   "Adam",       "FusedAdam",   "DeepSpeedCPUAdam",
		"CPUAdam", "OneBitAdam", "ZeroOneAdam", "Lamb",
		"Lion",    "Adam8bit",   "Adafactor",   "Muon",
		"SGD",
	};

	for (int i = 0; i < pairs->count; i++) {
		struct pair *pair = &pairs->item[i];
		const char *spelled = NULL;

		if (strcmp(pair->key, "optimizer.type") != 0 ||
		    strcmp(pair->value, "auto") == 0)
			continue;
		for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
			if (strcasecmp(known[k], pair->value) == 0)
				spelled = known[k];
		if (!spelled)
			import_note(report, IMPORT_APPROXIMATE, "optimizer.type",
				    "%.40s: costs of AdamW", pair->value);
		pair->value = spelled ? spelled : "AdamW";
	}
}

bool deepspeed_read(struct scenario *out, const char *file, const char *text,
		    size_t length, struct import_report *report, struct error *error)
{
	static const struct mapped_format format = { stack,           rows,
						     others,          NULL,
						     mapped_no_model, read_rest };
	struct pairs pairs;

	if (!pairs_from_json(&pairs, file, text, length, error))
		return false;
	spell_optimizer(&pairs, report);
	return mapped_read(out, &format, &pairs, report, error);
}

static void add_memory(struct entries *e, const struct plan *plan,
		       struct export_out *out)
{
	char ratio[32];

	if (plan->optimizer_offload > 0) {
		snprintf(ratio, sizeof ratio, "%.17g", plan->optimizer_offload);
		entries_add(e, "zero_optimization.offload_optimizer.device", "cpu",
			    true);
		entries_add(e, "zero_optimization.offload_optimizer.ratio", ratio,
			    false);
	}
	if (plan->recompute == RECOMPUTE_FULL)
		entries_add(e, "activation_checkpointing.partition_activations",
			    "false", false);
	if (plan->recompute == RECOMPUTE_FULL && plan->activation_offload >= 1)
		entries_add(e, "activation_checkpointing.cpu_checkpointing", "true",
			    false);
	else if (plan->activation_offload > 0)
		export_unsaid(out, "activation_offload", "%.3g",
			      plan->activation_offload);
	if (plan->recompute == RECOMPUTE_SELECTIVE)
		export_unsaid(out, "recompute", "selective");
}

/* Of 16 bits with ZeRO alone (deepspeed/runtime/config.py). */
static void add_master(struct entries *e, const struct plan *plan,
		       struct export_out *out)
{
	bool half = plan->precision == PRECISION_FP16;

	if (plan->master_weights == MASTER_AUTO || plan->precision == PRECISION_FP32)
		return;
	if (plan->master_weights != MASTER_HALF || plan->zero < 1) {
		export_unsaid(out, "master_weights",
			      "fp32, but with ZeRO in 16 bits where told to");
		return;
	}
	entries_add(e,
		    half ? "fp16.fp16_master_weights_and_grads"
			 : "bf16.bf16_master_weights_and_grads",
		    "true", false);
	if (!half && plan->optimizer == OPTIMIZER_ADAMW_BF16)
		entries_add(e, "bf16.bf16_optimizer_states", "true", false);
}

/* The rows; bf16 moments beside a master weight of 16 bits are a switch. */
static void add_rows(struct entries *e, const struct scenario *s,
		     struct export_out *out)
{
	struct scenario plain = *s;

	if (s->plan.master_weights == MASTER_HALF && s->plan.zero > 0 &&
	    s->plan.precision != PRECISION_FP16 &&
	    s->plan.optimizer == OPTIMIZER_ADAMW_BF16)
		plain.plan.optimizer = OPTIMIZER_ADAMW;
	entries_add_rows(e, &plain, rows, false, out);
}

static void add_plan(struct entries *e, const struct scenario *s,
		     struct export_out *out)
{
	const struct plan *plan = &s->plan;
	int64_t micro = scenario_micro_batches(s);

	add_rows(e, s, out);
	if (micro > 0)
		entries_add_count(e, "gradient_accumulation_steps", micro);
	if (plan->overlap_param_gather != plan->overlap_grad_reduce && plan->zero > 0)
		export_unsaid(out, "overlap_param_gather", "%s; one switch is for both",
			      plan->overlap_param_gather ? "on" : "off");
	entries_add(e, "zero_optimization.overlap_comm",
		    plan->overlap_grad_reduce ? "true" : "false", false);
	if (plan->precision == PRECISION_FP16)
		entries_add(e, "fp16.enabled", "true", false);
	else if (plan->precision != PRECISION_FP32)
		entries_add(e, "bf16.enabled", "true", false);
	if (!precision_table[plan->precision].wide)
		export_unsaid(out, "precision", "written as bf16");
	add_master(e, plan, out);
	add_memory(e, plan, out);
}

/* As many items as an entry holds; the last one says how many are left out. */
static void add_unsaid(struct entries *e, const struct export_out *out)
{
	const struct import_report *unsaid = &out->unsaid;
	char list[512] = "[", item[128];
	size_t used = 1;
	int i = 0;

	for (; i < unsaid->count; i++) {
		snprintf(item, sizeof item, "%s\"%.40s: %.60s\"", i ? ", " : "",
			 unsaid->note[i].key, unsaid->note[i].text);
		if (used + strlen(item) + 24 > sizeof list)
			break;
		memcpy(list + used, item, strlen(item) + 1);
		used += strlen(item);
	}
	if (i < unsaid->count)
		used += (size_t)snprintf(list + used, sizeof list - used,
					 ", \"and %d more\"", unsaid->count - i);
	list[used++] = ']';
	list[used] = '\0';
	if (unsaid->count > 0)
		entries_add(e, "_not_representable", list, false);
}

char *deepspeed_write(const struct scenario *scenario)
{
	struct export_out *out = export_begin();
	struct entries *e = calloc(1, sizeof *e);
	char title[2 * MAX_NOTE];

	if (out && e) {
		export_subject(scenario, title, sizeof title);
		entries_add(e, "_comment", title, true);
		export_unsaid_knobs(out, scenario, stack, has);
		add_plan(e, scenario, out);
		add_unsaid(e, out);
		entries_write_json(e, out->body);
	}
	if (out)
		out->failed = out->failed || !e;
	free(e);
	return out ? export_end_bare(out) : NULL;
}
