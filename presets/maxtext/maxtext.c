/* maxtext.c - see maxtext.h. Meaning and defaults of the keys: MaxText's
 * src/maxtext/configs/base.yml (AI-Hypercomputer/maxtext@e591f30cb). */
#include "presets/maxtext/maxtext.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "presets/library.h"
#include "presets/maxtext/axes.h"
#include "presets/maxtext/launch.h"
#include "presets/maxtext/remat.h"
#include "presets/maxtext/shape.h"
#include "presets/primus/primus.h"

static const struct mapping rows[] = {
	{ "max_target_length", "seq", NULL, "2048", false },
	{ "dtype", "precision", "bfloat16=bf16 float16=fp16 float32=fp32", "bf16",
	  true },
	{ "grad_dtype", "grad_dtype", "float32=fp32 bfloat16=bf16", "fp32", true },
	{ "opt_type", "optimizer", "adamw=adamw adam_pax=adamw muon=muon sgd=sgd",
	  "adamw", true },
	{ "optimizer_memory_host_offload", "optimizer_offload",
	  "true=1 True=1 false=0 False=0", "0", false },
	{ "attention", "attention_kernel",
	  "autoselected=flash2 flash=flash2 cudnn_flash_te=flash2 "
	  "cudnn_flash_jax=flash2 paged=flash2 dot_product=unfused",
	  "flash2", true },
	{ NULL, NULL, NULL, NULL, false },
};

static const char *const others[] = {
	"override_model_config",
	"ici_data_parallelism",
	"dcn_data_parallelism",
	"ici_diloco_parallelism",
	"dcn_diloco_parallelism",
	"ici_fsdp_parallelism",
	"dcn_fsdp_parallelism",
	"ici_fsdp_transpose_parallelism",
	"dcn_fsdp_transpose_parallelism",
	"ici_tensor_parallelism",
	"dcn_tensor_parallelism",
	"ici_tensor_sequence_parallelism",
	"dcn_tensor_sequence_parallelism",
	"ici_tensor_transpose_parallelism",
	"dcn_tensor_transpose_parallelism",
	"ici_autoregressive_parallelism",
	"dcn_autoregressive_parallelism",
	"ici_context_parallelism",
	"dcn_context_parallelism",
	"ici_sequence_parallelism",
	"dcn_sequence_parallelism",
	"ici_context_autoregressive_parallelism",
	"dcn_context_autoregressive_parallelism",
	"ici_context_usp_ulysses_parallelism",
	"dcn_context_usp_ulysses_parallelism",
	"ici_pipeline_parallelism",
	"dcn_pipeline_parallelism",
	"ici_expert_parallelism",
	"dcn_expert_parallelism",
	"per_device_batch_size",
	"gradient_accumulation_steps",
	"num_pipeline_microbatches",
	"num_pipeline_repeats",
	"remat_policy",
	"quantization",
	"hardware",
	"base_config",
	"config",
	"device",
	"slices",
	"use_sft",
	"weight_dtype",
	"primus.model",
	"context",
	"attention_out",
	"qkv_proj",
	"query_proj",
	"key_proj",
	"value_proj",
	"kv_proj",
	"out_proj",
	"mlpwi",
	"mlpwi_0",
	"mlpwi_1",
	"mlpwo",
	"moe_mlpwi_0",
	"moe_mlpwi_1",
	"moe_mlpwo",
	NULL,
};

/* What is not a step of training on the next token. */
static bool is_refused(const struct mapped *m)
{
	static const char *const switches[] = { "use_dpo", "use_grpo", "use_rl" };
	const struct pair *base = mapped_find(m, "base_config");

	base = base ? base : mapped_find(m, "config");
	bool serves = base && strstr(base->value, "inference");

	for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++)
		if (mapped_true(m, switches[i])) {
			error_set(m->error, m->pairs->file,
				  mapped_find(m, switches[i])->line,
				  "%s needs more than one model or loss, which is not "
				  "modelled; pre-training and SFT are",
				  switches[i]);
			return true;
		}
	/* base.yml itself has every key */
	if (!mapped_find(m, "base_emb_dim") &&
	    (mapped_find(m, "distill_alpha") ||
	     (base &&
	      (strstr(base->value, "rl.yml") || strstr(base->value, "distill"))))) {
		error_set(m->error, m->pairs->file, 1,
			  "distillation and reinforcement learning need more than one "
			  "model, which is not modelled; pre-training and SFT are");
		return true;
	}
	if (serves ||
	    (!mapped_find(m, "base_emb_dim") && mapped_find(m, "inference_server"))) {
		error_set(m->error, m->pairs->file, base ? base->line : 1,
			  "a server of MaxText, which is not modelled; its training "
			  "is");
		return true;
	}
	return false;
}

bool maxtext_knows(const char *key)
{
	for (const struct mapping *row = rows; row->key; row++)
		if (strcmp(row->key, key) == 0)
			return true;
	return word_among(key, others) || word_among(key, maxtext_shape_keys);
}

/* hardware: base.yml's is tpu, of which no kind is named; xpk is told one. */
static bool read_machine(const struct mapped *m)
{
	const struct pair *kind = mapped_find(m, "hardware"),
			  *config = mapped_find(m, "config");
	const char *chip = maxtext_chip(m);

	if (chip) {
		import_settle(m->report, "cluster");
		return library_cluster(&m->out->cluster, chip, m->error);
	}
	if (mapped_find(m, "primus.model"))
		return primus_machine(m->out, m->pairs->file, m->report, m->error);
	if ((kind && strncmp(kind->value, "gpu", 3) == 0) ||
	    (!kind && config && strstr(config->value, "/gpu/")))
		return true;
	import_settle(m->report, "cluster");
	import_note(m->report, IMPORT_ASSUMED, "cluster", "tpu-v5p");
	return library_cluster(&m->out->cluster, "tpu-v5p", m->error);
}

/* A named model's file is merged over these sizes (pyconfig.py, update_model_vars):
 * they only count where override_model_config says so.
 */
static bool note_overridden(const struct mapped *m)
{
	static const char *const sizes[] = {
		"base_emb_dim",
		"base_num_query_heads",
		"base_num_kv_heads",
		"base_mlp_dim",
		"base_num_decoder_layers",
		"base_moe_mlp_dim",
		"head_dim",
		"num_experts",
	};
	const struct pair *name = mapped_find(m, "model_name");

	if (!name || strcmp(name->value, "default") == 0 || m->report->model[0] != '\0')
		return true;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		const struct pair *size = mapped_find(m, sizes[i]);

		if (!size)
			continue;
		if (mapped_true(m, "override_model_config"))
			return error_set(m->error, m->pairs->file, size->line,
					 "%s changes %.60s; --model FILE with the "
					 "sizes that are meant",
					 size->key, name->value);
		import_note(m->report, IMPORT_ASSUMED, size->key,
			    "that of %.60s, whose file MaxText merges over this %.20s",
			    name->value, size->value);
	}
	return true;
}

static bool read_model(const struct mapped *m)
{
	return !is_refused(m) && read_machine(m) && note_overridden(m) &&
	       maxtext_read_model(m);
}

static bool read_number(const struct mapped *m, const char *key, double absent,
			double *out)
{
	const struct pair *pair = mapped_find(m, key);
	char *end;

	*out = absent;
	if (!pair)
		return true;
	*out = strtod(pair->value, &end);
	if (end != pair->value && *end == '\0' && *out > 0 && *out < 1e9)
		return true;
	return error_set(m->error, m->pairs->file, pair->line,
			 "%s is '%.40s'; expected a number above 0", key, pair->value);
}

/* per_device_batch_size counts sequences of a device, whatever shares them: the global
 * batch is that of all chips, a micro-batch what a rank of data has of it at a time. */
static bool read_batch(const struct mapped *m)
{
	struct plan *plan = &m->out->plan;
	const struct pair *from = mapped_find(m, "per_device_batch_size");
	int64_t steps = 1, parts = plan->pp, repeats = 1, dp = scenario_dp(m->out);
	double each, batch, micro;

	if (!read_number(m, "per_device_batch_size", 12, &each) ||
	    !mapped_count(m, "gradient_accumulation_steps", &steps) ||
	    !mapped_count(m, "num_pipeline_microbatches", &parts) ||
	    !mapped_count(m, "num_pipeline_repeats", &repeats))
		return false;
	if (!from)
		import_note(m->report, IMPORT_ASSUMED, "per_device_batch_size",
			    "12, as in base.yml");
	parts = parts < 1 ? plan->pp : parts;
	steps = steps < 1 ? 1 : steps;
	batch = each * (double)m->out->cluster.gpus * (double)maxtext_devices(m) *
		(double)steps;
	micro = batch / (double)(dp > 0 ? dp : 1) / (double)steps / (double)parts;
	if (plan->pp > 1 && repeats > 1 &&
	    (!mapped_set(m, "schedule", "interleaved", NULL) ||
	     !mapped_set_count(m, "vpp", repeats, NULL)))
		return false;
	if (plan->pp > 1 && repeats < 2 && !mapped_set(m, "schedule", "gpipe", NULL))
		return false;
	return mapped_set_count(m, "mbs", (int64_t)fmax(1, round(micro)), from) &&
	       mapped_set_count(m, "gbs", (int64_t)fmax(1, round(batch)), from);
}

static bool read_quantisation(const struct mapped *m)
{
	static const char *const kinds[] = { "nvfp4", "mxfp8", "fp8" };
	const struct pair *pair = mapped_find(m, "quantization");

	if (!pair || pair->value[0] == '\0')
		return true;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strstr(pair->value, kinds[i]))
			return mapped_set(m, "precision", kinds[i], pair);
	return error_set(
		m->error, m->pairs->file, pair->line,
		"quantization is '%.40s'; expected \"\" or a kind of fp8, mxfp8 "
		"or nvfp4",
		pair->value);
}

/* Weights that rest in 16 bits have moments in 16 bits. */
static bool read_weights(const struct mapped *m)
{
	return !mapped_is(m, "weight_dtype", "bfloat16") ||
	       mapped_set_pure(m, mapped_find(m, "weight_dtype"));
}

static bool read_rest(const struct mapped *m)
{
	return read_weights(m) && maxtext_degrees(m) && read_batch(m) &&
	       maxtext_read_remat(m) && read_quantisation(m);
}

/* The file of a model in primus/configs/models/maxtext names MaxText's, unless it is a
 * shape. */
static bool maxtext_from_primus(struct pairs *out, const char *file, const char *text,
				size_t length, struct import_report *report,
				struct error *error)
{
	const struct pair *model;
	const struct preset *found;
	const char *name;

	if (!primus_pairs(out, file, text, length, report, error))
		return false;
	model = pairs_find(out, "primus.model");
	if (!model || pairs_find(out, "model_name") || pairs_find(out, "base_emb_dim"))
		return true;
	name = strcmp(model->value, "deepseek_v2_16B") == 0 ? "deepseek2-16b"
							    : model->value;
	found = primus_preset(name);
	if (pairs_add(out, "model_name", found ? found->name : name, model->line,
		      error))
		return true;
	pairs_free(out);
	return false;
}

bool maxtext_read(struct scenario *out, const char *file, const char *text,
		  size_t length, struct import_report *report, struct error *error)
{
	static const struct mapped_format format = {
		"jax-xla", rows, others, maxtext_shape_keys, read_model, read_rest,
	};
	struct pairs pairs;

	if (strstr(text, "benchmarks.benchmark_runner"))
		return error_set(error, file, 1,
				 "benchmark_runner takes the plan that --model_name "
				 "names from a table of MaxText's benchmarks, which is "
				 "not in this file; a command of its train.py is read");
	return (primus_runs(text, "maxtext")
			? maxtext_from_primus(&pairs, file, text, length, report, error)
		: maxtext_is_script(text)
			? maxtext_pairs(&pairs, file, text, length, report, error)
			: pairs_from_yaml(&pairs, file, text, length, error)) &&
	       mapped_read(out, &format, &pairs, report, error);
}
