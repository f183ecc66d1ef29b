/* maxtext.c - see maxtext.h. Meaning and defaults of the keys: MaxText's
 * src/maxtext/configs/base.yml (AI-Hypercomputer/maxtext@e591f30cb). */
#include "presets/maxtext/maxtext.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "presets/library.h"
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

/* Each axis is what ici_ (inside a slice) times dcn_ (between slices) say. */
static const struct axis {
	const char *keys[6];
} axes[] = {
	{ { "data", "diloco" } },
	{ { "fsdp", "fsdp_transpose" } },
	{ { "tensor", "tensor_sequence", "tensor_transpose", "autoregressive" } },
	{ { "context", "sequence", "context_autoregressive", "context_usp_ulysses" } },
	{ { "pipeline" } },
	{ { "expert" } },
};

enum {
	AXIS_DATA,
	AXIS_FSDP,
	AXIS_TENSOR,
	AXIS_CONTEXT,
	AXIS_PIPELINE,
	AXIS_EXPERT,
	AXIS_COUNT
};

static const char *const others[] = {
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

/* Chips as xpk calls them, and folders of MaxText. The number behind the name counts
 * cores, or chips by their torus (docs.cloud.google.com/tpu/docs: v4, v5p, v6e, tpu7x);
 * two devices of JAX share a chip of tpu7x. */
static const struct device {
	const char *name, *folder, *cluster;
	int cores, devices; /* counted for a chip */
} devices[] = {
	{ "tpu7x-", "/tpu7x/", "tpu-v7x", 1, 2 },
	{ "v6e-", "/v6e/", "tpu-v6e", 1, 1 },
	{ "v5p-", "/v5p/", "tpu-v5p", 2, 1 },
	{ "v4-", "/v4/", "tpu-v4", 2, 1 },
};

/* What xpk is told of; NULL: nothing, or of no TPU. */
static const struct device *device_of(const struct mapped *m)
{
	const struct pair *device = pairs_find(m->pairs, "device");

	for (size_t i = 0; device && i < sizeof devices / sizeof devices[0]; i++)
		if (strncmp(device->value, devices[i].name, strlen(devices[i].name)) ==
		    0)
			return &devices[i];
	return NULL;
}

/* "tpu7x-4x4x8": the chips of all slices, 0 where the name does not tell. */
static int64_t chips_of(const struct mapped *m)
{
	const struct device *device = device_of(m);
	int64_t chips = 1, slices = 1;
	const char *at;
	char *end;

	if (!device || !mapped_count(m, "slices", &slices))
		return 0;
	at = pairs_find(m->pairs, "device")->value + strlen(device->name);
	for (; *at != '\0'; at = *end == 'x' ? end + 1 : end) {
		long long side = strtoll(at, &end, 10);

		if (end == at || side < 1 || (*end != '\0' && *end != 'x') ||
		    __builtin_mul_overflow(chips, side, &chips))
			return 0;
	}
	chips /= device->cores;
	return slices < 1 || __builtin_mul_overflow(chips, slices, &chips) ? 0 : chips;
}

/* Where axes count the devices of a chip, its batch is theirs. */
static int64_t devices_of(const struct mapped *m)
{
	const struct device *device = device_of(m);

	return device && m->out->cluster.gpus == chips_of(m) ? device->devices : 1;
}

/* hardware: base.yml's is tpu, of which no kind is named; xpk is told one. */
static bool read_machine(const struct mapped *m)
{
	const struct pair *kind = mapped_find(m, "hardware"),
			  *device = mapped_find(m, "device"),
			  *config = mapped_find(m, "config");

	for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
		if (device ? strncmp(device->value, devices[i].name,
				     strlen(devices[i].name)) == 0
			   : strstr(m->pairs->file, devices[i].folder) != NULL) {
			import_settle(m->report, "cluster");
			return library_cluster(&m->out->cluster, devices[i].cluster,
					       m->error);
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

static bool read_model(const struct mapped *m)
{
	return !is_refused(m) && read_machine(m) && maxtext_read_model(m);
}

/* What the ici_ axes leave of a slice, which is a node where there are GPUs; 0: not
 * known. */
static int64_t slice_left(const struct mapped *m)
{
	int64_t left = m->out->cluster.gpus_per_node;

	if (strncmp(m->out->cluster.name, "tpu", 3) == 0)
		return 0;
	for (size_t i = 0; i < sizeof others / sizeof others[0] && others[i]; i++) {
		int64_t value = 1;

		if (strncmp(others[i], "ici_", 4) != 0 ||
		    !mapped_count(m, others[i], &value) || value < 2)
			continue;
		left = left % value == 0 ? left / value : 0;
	}
	return left;
}

/* One key of an axis whose -1 has to be a number: what is left of a node. */
static bool fill_key(const struct mapped *m, const char *key, int64_t *value)
{
	int64_t left = strncmp(key, "ici_", 4) == 0 ? slice_left(m) : 0;

	if (left < 1)
		return error_set(m->error, m->pairs->file, mapped_find(m, key)->line,
				 "%s is -1, what is left of the machines, which the "
				 "file does not say; expected a number",
				 key);
	import_note(m->report, IMPORT_ASSUMED, key, "%lld, what is left of a node",
		    (long long)left);
	*value = left;
	return true;
}

/* Product of an axis; -1 in any of its keys leaves it to the machines: *open. */
static bool read_axis(const struct mapped *m, const struct axis *axis, int64_t *out,
		      bool *open)
{
	static const char *const levels[] = { "ici_", "dcn_" };
	char key[64];

	*out = 1;
	*open = false;
	for (int i = 0; i < 12; i++) {
		const char *name = axis->keys[i / 2];
		int64_t value = 1;

		if (!name)
			break;
		snprintf(key, sizeof key, "%s%s_parallelism", levels[i % 2], name);
		if (!mapped_count(m, key, &value))
			return false;
		if (value < 0 && axis > &axes[AXIS_FSDP] && !fill_key(m, key, &value))
			return false;
		*open = *open || value < 0;
		if (value > 1 && __builtin_mul_overflow(*out, value, out))
			return error_set(m->error, m->pairs->file, 1,
					 "%s and what stands beside it are too many",
					 key);
	}
	return true;
}

/* The chips that xpk is told of, where the model fits between them: axes may be open,
 * or count devices of which several share a chip. */
static int64_t world_of(const struct mapped *m, const int64_t *axis, int64_t world)
{
	const struct device *device = device_of(m);
	int64_t chips = chips_of(m);
	int64_t model = m->out->plan.tp * m->out->plan.cp * m->out->plan.pp;
	bool shared = device && device->devices > 1 && world == device->devices * chips;

	if (chips < 1 || (world > 0 && !shared) || chips % model != 0 ||
	    chips % axis[AXIS_EXPERT] != 0)
		return world;
	if (device->devices > 1 && model * axis[AXIS_EXPERT] > 1)
		import_note(m->report, IMPORT_APPROXIMATE, "device",
			    "axes count %d devices a chip; of tensor, context, "
			    "pipeline and expert each is counted as a chip",
			    device->devices);
	return chips;
}

/* fsdp shards weights, and so do context and expert (the rule of `embed` in base.yml);
 * data only the batch. Without a word of either fsdp takes what is left of a slice,
 * data the slices. */
static bool set_degrees(const struct mapped *m, const int64_t *axis, const bool *open)
{
	bool said = mapped_find(m, "ici_fsdp_parallelism") != NULL;
	bool sharded = axis[AXIS_FSDP] * axis[AXIS_CONTEXT] * axis[AXIS_EXPERT] > 1 ||
		       open[AXIS_FSDP] || !said;
	int64_t world = axis[AXIS_DATA], least;

	for (int i = AXIS_FSDP; i < AXIS_COUNT; i++)
		if (__builtin_mul_overflow(world, axis[i], &world))
			world = INT64_MAX;
	if (!mapped_set_count(m, "tp", axis[AXIS_TENSOR], NULL) ||
	    !mapped_set_count(m, "cp", axis[AXIS_CONTEXT], NULL) ||
	    !mapped_set_count(m, "pp", axis[AXIS_PIPELINE], NULL) ||
	    !mapped_set_count(m, "ep", axis[AXIS_EXPERT], NULL) ||
	    !mapped_set(m, "zero", sharded ? "3" : "0", NULL))
		return false;
	least = world / devices_of(m);
	if (open[AXIS_DATA] || open[AXIS_FSDP] || !said)
		world = 0;
	world = world_of(m, axis, world);
	/* -1 beside axes that take more than a node: it gets one at least */
	if (world < 1 && least > m->out->cluster.gpus_per_node) {
		world = least;
		import_note(m->report, IMPORT_ASSUMED, "gpus", "%lld",
			    (long long)world);
	}
	if (!mapped_set_world(m, world, mapped_find(m, "ici_fsdp_parallelism")))
		return false;
	return axis[AXIS_DATA] < 2 || axis[AXIS_FSDP] < 2 || world == 0 ||
	       mapped_set_count(m, "zero_group",
				axis[AXIS_FSDP] * axis[AXIS_CONTEXT] *
					axis[AXIS_EXPERT] / devices_of(m),
				NULL);
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
	batch = each * (double)m->out->cluster.gpus * (double)devices_of(m) *
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
	int64_t axis[AXIS_COUNT];
	bool open[AXIS_COUNT];

	for (int i = 0; i < AXIS_COUNT; i++)
		if (!read_axis(m, &axes[i], &axis[i], &open[i]))
			return false;
	return read_weights(m) && set_degrees(m, axis, open) && read_batch(m) &&
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
