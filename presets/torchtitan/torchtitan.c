/* torchtitan.c - reading; see torchtitan.h. */
#include "presets/torchtitan/torchtitan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/library.h"
#include "presets/model_name.h"
#include "presets/primus/primus.h"
#include "presets/torchtitan/launched.h"
#include "presets/torchtitan/older.h"
#include "presets/torchtitan/python.h"
#include "presets/torchtitan/rows.h"

/* What another file of torchtitan sets of a step is not known here. */
static bool refuse_elsewhere(const struct mapped *m, const struct pair *elsewhere)
{
	return error_set(
		m->error, m->pairs->file, elsewhere->line,
		"it starts from %.60s(), which stands in another file with its "
		"batch and length; --function %.60s of that file reads them",
		elsewhere->value, elsewhere->value);
}

/* A network that transformers has: all of it, or one cut down to try code with. */
static bool read_transformers(const struct mapped *m, const struct pair *name)
{
	const struct pair *flavor = mapped_find(m, "model_spec.argument");

	if (flavor && strstr(flavor->value, "debug") && m->report->model[0] == '\0')
		return error_set(m->error, m->pairs->file, flavor->line,
				 "'%.40s' cuts %.60s down in another file; --model "
				 "config.json says to what",
				 flavor->value, name->value);
	return mapped_model(m, name->value, name);
}

/* Llama's small flavors came with local_batch_size and later: an older file that names
 * one is of a fork, which has its own numbers for it. */
static void doubt_flavor(const struct mapped *m, const struct flavor *row)
{
	if (!row || (strcmp(row->model, "llama3.2-1b") != 0 &&
		     strcmp(row->model, "llama3.2-3b") != 0))
		return;
	if (pairs_find(m->pairs, "training.batch_size")) {
		import_note(m->report, IMPORT_ASSUMED, "model",
			    "%s for flavor %s, which stands in the fork's own code",
			    row->model, row->flavor);
		model_name_doubt(row->flavor, &m->out->model);
	}
}

static bool read_model(const struct mapped *m)
{
	const struct pair *elsewhere = pairs_find(m->pairs, "elsewhere");
	const struct pair *def = pairs_find(m->pairs, "def");
	const struct pair *name = mapped_find(m, "model.name"),
			  *flavor = mapped_find(m, "model.flavor"),
			  *trainer = mapped_find(m, "trainer");
	const struct flavor *row = NULL;
	struct import_name named = { m->pairs->file, 1, "", NULL };
	char both[160];

	if (elsewhere && !mapped_find(m, "training.seq_len") &&
	    !mapped_find(m, "training.local_batch_size"))
		return refuse_elsewhere(m, elsewhere);
	if (elsewhere)
		import_note(m->report, IMPORT_ASSUMED, "base",
			    "torchtitan's defaults for what %.60s sets in its own file",
			    elsewhere->value);
	if (trainer && strstr(trainer->value, "Flux"))
		return error_set(m->error, m->pairs->file, trainer->line,
				 "%.40s trains a diffusion model, which is not "
				 "modelled; decoders are",
				 trainer->value);
	if (mapped_find(m, "hf_model"))
		return read_transformers(m, mapped_find(m, "hf_model"));
	if (name && flavor)
		row = torchtitan_flavor(name->value, flavor->value, false);
	if (!row && def) {
		/* families without flavors of ours: qwen35_27b() */
		named.found = model_name_recipe(def->value);
		named.name = named.found ? def->value : "";
		named.line = def->line;
	}
	if (named.found || !flavor)
		return import_model(&m->out->model, &named, m->report, m->error);
	snprintf(both, sizeof both, "%.70s%s%.70s", name ? name->value : "",
		 name ? "-" : "", flavor->value);
	named.name = both;
	named.line = flavor->line;
	named.found = row ? preset_find(PRESET_MODEL, row->model) : NULL;
	if (!import_model(&m->out->model, &named, m->report, m->error))
		return false;
	if (m->report->model[0] == '\0')
		doubt_flavor(m, row);
	return true;
}

/* Virtual stages follow from layers per stage; without it a looped schedule has two
 * a rank. The first and last stage are one layer short unless said otherwise. */
static bool read_stages(const struct mapped *m)
{
	static const char key[] = "parallelism.pipeline_parallel_layers_per_stage";
	struct plan *plan = &m->out->plan;
	bool looped =
		plan->schedule != SCHEDULE_1F1B && plan->schedule != SCHEDULE_GPIPE;
	int64_t each = 0, first = 1, last = 1, v = looped ? 2 : 1;
	int64_t layers = m->out->model.layers;

	if (!mapped_count(m, key, &each) ||
	    !mapped_count(m, "parallelism.pipeline_parallel_first_stage_less_layers",
			  &first) ||
	    !mapped_count(m, "parallelism.pipeline_parallel_last_stage_less_layers",
			  &last))
		return false;
	first = first < 0 ? 0 : first;
	last = last < 0 ? 0 : last;
	if (first > 1 || last > 1)
		import_note(m->report, IMPORT_APPROXIMATE, "less layers",
			    "more than one is read as one");
	if (plan->pp < 2)
		return mapped_set(m, "schedule", "1f1b", NULL) &&
		       mapped_set(m, "vpp", "1", NULL);
	if (each > 0) {
		int64_t stages = (layers + first + last + each - 1) / each;

		if (stages % plan->pp != 0)
			return error_set(m->error, m->pairs->file,
					 mapped_find(m, key)->line,
					 "%s %lld makes %lld stages of %lld layers, no "
					 "multiple of PP %lld",
					 key, (long long)each, (long long)stages,
					 (long long)layers, (long long)plan->pp);
		v = stages / plan->pp;
	}
	return mapped_set_count(m, "vpp", v, mapped_find(m, key)) &&
	       mapped_set(m, "split_embedding", first > 0 ? "on" : "off", NULL) &&
	       mapped_set(m, "split_loss", last > 0 ? "on" : "off", NULL);
}

static bool read_sharding(const struct mapped *m)
{
	static const char shard_key[] = "parallelism.data_parallel_shard_degree",
			  reshard[] = "parallelism.fsdp_reshard_after_forward";
	const struct plan *plan = &m->out->plan;
	const struct pair *from = mapped_find(m, shard_key);
	int64_t shard = -1, replicas = 1, world = 0, each = 0, nodes = 1;
	bool always;

	if (!mapped_count(m, shard_key, &shard) ||
	    !mapped_count(m, "parallelism.data_parallel_replicate_degree", &replicas))
		return false;
	replicas = replicas < 1 ? 1 : replicas;
	if (__builtin_mul_overflow(plan->tp * plan->pp, plan->cp, &world) ||
	    __builtin_mul_overflow(world, replicas, &world) ||
	    (shard > 0 && __builtin_mul_overflow(world, shard, &world)))
		world = INT64_MAX;
	if (!mapped_count(m, "nproc_per_node", &each) ||
	    !mapped_count(m, "nnodes", &nodes))
		return false;
	if (shard < 1 &&
	    (each < 1 || nodes < 1 || __builtin_mul_overflow(each, nodes, &world)))
		world = 0;
	if (!mapped_set_world(m, world, from))
		return false;
	/* "default" keeps weights gathered between micro-batches of a pipeline */
	always = mapped_find(m, reshard) && !mapped_is(m, reshard, "default")
			 ? mapped_is(m, reshard, "always")
			 : plan->pp == 1;
	if (!mapped_set(m, "fsdp_reshard", always ? "on" : "off", NULL) ||
	    !mapped_set(m, "zero", shard == 1 && plan->cp == 1 ? "0" : "3", NULL))
		return false;
	return shard < 1 || replicas < 2 ||
	       mapped_set_count(m, "zero_group", shard * plan->cp, from);
}

static bool read_batch(const struct mapped *m)
{
	int64_t local = 8, global = -1, micro = 1, dp = scenario_dp(m->out);
	const struct pair *from = mapped_find(m, "training.global_batch_size");

	if (!mapped_count(m, "training.batch_size", &local) ||
	    !mapped_count(m, "training.local_batch_size", &local) ||
	    !mapped_count(m, "training.global_batch_size", &global) ||
	    !mapped_count(m, "parallelism.pipeline_parallel_microbatch_size", &micro))
		return false;
	if (!mapped_find(m, "training.batch_size") &&
	    !mapped_find(m, "training.local_batch_size"))
		import_note(m->report, IMPORT_ASSUMED, "local_batch_size",
			    "8, torchtitan's default");
	if (m->out->plan.pp == 1)
		micro = local;
	if (global < 1 && __builtin_mul_overflow(local, dp > 0 ? dp : 1, &global))
		global = INT64_MAX;
	return mapped_set_count(m, "mbs", micro,
				mapped_find(m, "training.local_batch_size")) &&
	       mapped_set_count(m, "gbs", global, from);
}

static bool read_precision(const struct mapped *m)
{
	const struct pair *converters = mapped_find(m, "model.converters"),
			  *recipe =
				  mapped_find(m, "quantize.linear.float8.recipe_name");
	const char *all = converters ? converters->value : "";
	const char *precision =
		mapped_is(m, "training.mixed_precision_param", "float32") ? "fp32"
									  : "bf16";
	bool rowwise = recipe && strncmp(recipe->value, "rowwise", 7) == 0;

	if (mapped_is(m, "training.mixed_precision_reduce", "bfloat16"))
		import_note(m->report, IMPORT_APPROXIMATE,
			    "training.mixed_precision_reduce",
			    "gradients are counted as reduced in fp32");
	if (strstr(all, "float8"))
		precision = "fp8";
	if (strstr(all, "mx"))
		precision = "mxfp8";
	if (strstr(all, "nvfp4")) {
		precision = "nvfp4";
		if (pairs_find(m->pairs, "fqns"))
			import_note(m->report, IMPORT_APPROXIMATE, "model.converters",
				    "NVFP4 is counted in all layers");
	}
	return mapped_set(m, "precision", precision, NULL) &&
	       mapped_set(m, "fp8_recipe", rowwise ? "rowwise" : "current-scaling",
			  recipe);
}

static bool read_recompute(const struct mapped *m)
{
	static const char mode[] = "activation_checkpoint.mode",
			  option[] = "activation_checkpoint.selective_ac_option";
	const struct pair *from = mapped_find(m, mode), *every = mapped_find(m, option);
	int64_t step = every ? strtoll(every->value, NULL, 10) : 2;
	int64_t layers = m->out->model.layers / m->out->plan.pp;
	bool selective = !from || strcmp(from->value, "selective") == 0;

	if (from && strcmp(from->value, "memory_budget") == 0) {
		import_note(m->report, IMPORT_APPROXIMATE, mode,
			    "memory_budget is read as selective");
		selective = true;
		step = 0;
	}
	if (!selective)
		return mapped_set(m, "recompute", from->value, from);
	if (step < 1)
		return mapped_set(m, "recompute", "selective", from) &&
		       mapped_set(m, "recompute_modules", "per-op", every);
	/* each step-th layer is recomputed as a whole */
	layers = layers / step > 0 ? layers / step : 1;
	return mapped_set(m, "recompute", "full", from) &&
	       mapped_set_count(m, "recompute_layers", step > 1 ? layers : 0, every);
}

/* Of a configuration in Python: what it changes of its network. */
static bool read_transforms(const struct mapped *m)
{
	const struct pair *rank = mapped_find(m, "model_spec.converters.rank");
	int64_t mtp = m->out->model.mtp_layers;

	if (!mapped_count(m, "model_spec.num_mtp_layers", &mtp))
		return false;
	m->out->model.mtp_layers = mtp > 0 && mtp < MAX_LAYERS ? mtp : 0;
	return !rank || mapped_set(m, "lora_rank", rank->value, rank);
}

static bool read_rest(const struct mapped *m)
{
	bool offload = mapped_true(m, "training.enable_cpu_offload");
	int64_t steps = 0;
	double tokens;

	if (mapped_true(m, "training.compile") && !mapped_set(m, "compile", "on", NULL))
		return false;
	if (!mapped_count(m, "training.steps", &steps))
		return false;
	tokens = (double)steps * (double)m->out->plan.global_batch *
		 (double)m->out->plan.seq_len;
	if (tokens >= 1 && tokens <= 1e18)
		m->out->plan.tokens = tokens;
	if (m->out->plan.master_weights == MASTER_NONE && !mapped_set_pure(m, NULL))
		return false;
	return mapped_set(m, "optimizer_offload", offload ? "1" : "0", NULL);
}

static bool read_plan(const struct mapped *m)
{
	return launched_begin(m) && read_transforms(m) && read_stages(m) &&
	       read_sharding(m) && read_batch(m) && read_precision(m) &&
	       read_recompute(m) && read_rest(m) && launched_settle(m);
}

bool torchtitan_read(struct scenario *out, const char *file, const char *text,
		     size_t length, struct import_report *report, struct error *error)
{
	static const struct mapped_format format = {
		"torchtitan", torchtitan_rows, torchtitan_others,
		NULL,         read_model,      read_plan,
	};
	struct pairs pairs;

	if (primus_runs(text, "torchtitan"))
		return launched_by_primus(&pairs, file, text, length, report, error) &&
		       mapped_read(out, &format, &pairs, report, error);

	if (strstr(text, "Controller.Config("))
		return error_set(error, file, 1,
				 "reinforcement learning needs more than one model or "
				 "loss, which is not modelled; a Trainer.Config is");
	if (!(torchtitan_is_python(text)
		      ? pairs_from_python(
				&pairs, file, text, length,
				report->given ? report->given->function : NULL, error)
		      : pairs_from_toml(&pairs, file, text, length, error)))
		return false;
	older_spell(&pairs);
	if (pairs.count > 0)
		return mapped_read(out, &format, &pairs, report, error);
	error_set(error, pairs.file, 1, "no keys; expected [parallelism] ...");
	pairs_free(&pairs);
	return false;
}
