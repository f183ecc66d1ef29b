/* plugins.c - see plugins.h. */
#include "presets/accelerate/plugins.h"

#include <string.h>

#define ZERO     "deepspeed_config."
#define MEGATRON "megatron_lm_config.megatron_lm_"
#define WORDS    "no=fp32 bf16=bf16 fp16=fp16 fp8=fp8"

static bool is_given(const struct mapped *m, const char *key)
{
	const struct pair *pair = mapped_find(m, key);

	return pair && strcmp(pair->value, "none") != 0 &&
	       strcmp(pair->value, "null") != 0;
}

/* The micro-batch is the training code's; the batch is as many of it as there are steps
 * and data ranks. */
static bool set_batch(const struct mapped *m, const char *steps_key)
{
	int64_t steps = 1, dp = scenario_dp(m->out);

	if (!mapped_count(m, steps_key, &steps))
		return false;
	import_note(m->report, IMPORT_ASSUMED, "mbs", "1; the training code decides");
	return mapped_set(m, "mbs", "1", NULL) &&
	       mapped_set_count(m, "gbs", (steps > 0 ? steps : 1) * (dp > 0 ? dp : 1),
				NULL);
}

/* --- DeepSpeed --- */

static const struct mapping zero_rows[] = {
	{ "num_processes", "gpus", NULL, "1", false },
	{ "mixed_precision", "precision", WORDS, "fp32", true },
	{ ZERO "zero_stage", "zero", NULL, "2", false },
	{ ACCELERATE_PARALLEL "sp_size", "cp", NULL, "1", false },
	{ NULL, NULL, NULL, NULL, false },
};

static const char *const zero_others[] = {
	"compute_environment",
	"distributed_type",
	"num_machines",
	ZERO "gradient_accumulation_steps",
	ZERO "offload_optimizer_device",
	ZERO "offload_param_device",
	ZERO "deepspeed_config_file",
	ACCELERATE_PARALLEL "sp_backend",
	ACCELERATE_PARALLEL "dp_shard_size",
	ACCELERATE_PARALLEL "dp_replicate_size",
	NULL,
};

static bool read_zero(const struct mapped *m)
{
	const struct pair *file = mapped_find(m, ZERO "deepspeed_config_file");
	bool offload = is_given(m, ZERO "offload_optimizer_device"), shared;

	if (file)
		return error_set(m->error, m->pairs->file, file->line,
				 "deepspeed_config_file is %.60s, which is not opened, "
				 "with the ZeRO stage and the batch; give that file",
				 file->value);
	if (m->out->plan.zero == 3 && is_given(m, ZERO "offload_param_device"))
		mapped_approximate(m, "offload_param_device", PARAMETERS_STAY);
	import_note(m->report, IMPORT_ASSUMED, "recompute",
		    "none: the training code decides");
	shared = m->out->plan.zero == 3;
	return accelerate_machines(m) &&
	       (m->out->plan.cp == 1 || mapped_set(m, "cp_kind", "ulysses", NULL)) &&
	       mapped_set(m, "recompute", "none", NULL) &&
	       mapped_set(m, "optimizer_offload", offload ? "1" : "0", NULL) &&
	       mapped_set(m, "overlap_grad_reduce", shared ? "on" : "off", NULL) &&
	       mapped_set(m, "overlap_param_gather", shared ? "on" : "off", NULL) &&
	       set_batch(m, ZERO "gradient_accumulation_steps");
}

/* --- Megatron-LM --- */

static const struct mapping megatron_rows[] = {
	{ "num_processes", "gpus", NULL, "1", false },
	{ "mixed_precision", "precision", WORDS, "fp32", true },
	{ MEGATRON "tp_degree", "tp", NULL, "1", false },
	{ MEGATRON "pp_degree", "pp", NULL, "1", false },
	{ MEGATRON "sequence_parallelism", "sp", "true=on True=on false=off False=off",
	  "off", false },
	{ MEGATRON "recompute_activations", "recompute",
	  "true=selective True=selective false=none False=none", "none", false },
	{ MEGATRON "use_distributed_optimizer", "zero", "true=1 True=1 false=0 False=0",
	  "0", false },
	{ NULL, NULL, NULL, NULL, false },
};

static const char *const megatron_others[] = {
	"compute_environment",
	"distributed_type",
	"num_machines",
	(MEGATRON "num_micro_batches"),
	NULL,
};

static bool read_megatron(const struct mapped *m)
{
	return accelerate_machines(m) && set_batch(m, MEGATRON "num_micro_batches");
}

const struct mapped_format *accelerate_plugin(const struct pairs *pairs)
{
	static const struct mapped_format zero = { "deepspeed",     zero_rows,
						   zero_others,     NULL,
						   mapped_no_model, read_zero };
	static const struct mapped_format megatron = { "megatron-core", megatron_rows,
						       megatron_others, NULL,
						       mapped_no_model, read_megatron };
	const struct pair *type = pairs_find(pairs, "distributed_type");

	return !type                                     ? NULL
	       : strcmp(type->value, "DEEPSPEED") == 0   ? &zero
	       : strcmp(type->value, "MEGATRON_LM") == 0 ? &megatron
							 : NULL;
}
