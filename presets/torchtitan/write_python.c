/* write_python.c - a scenario as settings of torchtitan's configuration in Python.
 *
 * Keys of August 2026: torchtitan/config/configs.py; functions of
 * torchtitan/models/llama3/config_registry.py and its neighbours. What quantises, and
 * what replaces parts of a model (asynchronous TP, context parallelism's way), moves
 * from version to version there and is said as missing.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "presets/stream.h"
#include "presets/torchtitan/rows.h"
#include "presets/torchtitan/torchtitan.h"

/* Keys of the TOML that are none of the settings. What is not plain can't be said, if
 * there is a knob of it. */
static const struct {
	const char *key, *knob, *plain;
} gone[] = {
	{ "parallelism.enable_async_tensor_parallel", "async_tp", "false" },
	{ "parallelism.disable_loss_parallel", "vocab_parallel", "false" },
	{ "parallelism.context_parallel_rotate_method", "cp_kind", "allgather" },
	{ "parallelism.expert_tensor_parallel_degree", "etp", "auto" },
	{ "model.converters", "precision", "" },
	{ "quantize.linear.float8.recipe_name", "fp8_recipe", "" },
	{ "parallelism.pipeline_parallel_microbatch_size", NULL, NULL },
	{ "training.local_batch_size", NULL, NULL },
	{ "training.global_batch_size", NULL, NULL },
	{ "training.seq_len", NULL, NULL },
	{ "activation_checkpoint.selective_ac_option", NULL, NULL },
	{ "optimizer.name", NULL, NULL },
};

static bool is_gone(const struct entry *entry, struct export_out *out)
{
	for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
		if (strcmp(gone[i].key, entry->key) != 0)
			continue;
		if (gone[i].knob && strcmp(gone[i].plain, entry->value) != 0)
			export_unsaid(out, gone[i].knob, "%.60s", entry->value);
		return true;
	}
	return false;
}

/* Batches are counted in tokens. */
static void add_tokens(struct entries *e, const struct scenario *s,
		       struct export_out *out)
{
	const struct plan *plan = &s->plan;
	int64_t each, all, micro = scenario_micro_batches(s);

	if (__builtin_mul_overflow(plan->micro_batch, plan->seq_len, &each) ||
	    __builtin_mul_overflow(plan->global_batch, plan->seq_len, &all)) {
		export_unsaid(out, "gbs", "%lld", (long long)plan->global_batch);
		return;
	}
	entries_add_count(e, "training.max_context_length", plan->seq_len);
	entries_add_count(e, "training.num_tokens_per_microbatch_per_dp_rank", each);
	entries_add_count(e, "training.num_tokens_per_train_step", all);
	if (plan->pp > 1 && micro > 0)
		entries_add_count(e, "parallelism.num_pp_microbatches", micro);
	/* asserted of pipelines, and of experts that wait for the host */
	if (plan->pp > 1 || plan->ep > 1)
		entries_add(e, "training.disable_cuda_graphs", "true", false);
}

/* What has no function to begin with takes the configuration as an argument. */
static void drop_unregistered(struct entries *e, const struct scenario *s,
			      struct export_out *out)
{
	const struct flavor *row = torchtitan_flavors;
	int kept = 0;

	while (row->model && strcmp(row->model, s->model.name) != 0)
		row++;
	if (!row->model || row->registered)
		return;
	export_unsaid(out, "model", "%s: torchtitan registers no configuration of it",
		      s->model.name);
	for (int i = 0; i < e->count; i++)
		if (strcmp(e->item[i].key, "model.name") != 0 &&
		    strcmp(e->item[i].key, "model.flavor") != 0)
			e->item[kept++] = e->item[i];
	e->count = kept;
}

static void add_settings(struct entries *e, const struct scenario *s,
			 struct export_out *out)
{
	struct entries *old = calloc(1, sizeof *old);

	out->failed = out->failed || !old;
	if (!old)
		return;
	/* the function that it begins with may have other values */
	torchtitan_add(old, s, true, out);
	drop_unregistered(old, s, out);
	for (int i = 0; i < old->count; i++) {
		const struct entry *entry = &old->item[i];

		if (!is_gone(entry, out))
			entries_add(e, entry->key, entry->value, entry->text);
	}
	add_tokens(e, s, out);
	free(old);
}

static const char *value_of(const struct entries *e, const char *key)
{
	for (int i = 0; i < e->count; i++)
		if (strcmp(e->item[i].key, key) == 0)
			return e->item[i].value;
	return NULL;
}

/* The class of a mode of activation_checkpoint; "None" where it is off. */
static const char *recompute_class(const struct entries *e)
{
	const char *mode = value_of(e, "activation_checkpoint.mode");

	if (!mode || strcmp(mode, "none") == 0)
		return "None";
	return strcmp(mode, "full") == 0 ? "FullAC" : "SelectiveAC";
}

/* The function of a flavor: "30B-A3B" of qwen3 is qwen3_30b_a3b. */
static void put_function(const struct entries *e, FILE *stream)
{
	fprintf(stream, "%s_", value_of(e, "model.name"));
	for (const char *c = value_of(e, "model.flavor"); *c != '\0'; c++)
		fputc(*c == '-' ? '_' : tolower((unsigned char)*c), stream);
}

static void put_setting(const struct entry *entry, FILE *stream)
{
	const char *value = strcmp(entry->value, "true") == 0    ? "True"
			    : strcmp(entry->value, "false") == 0 ? "False"
								 : entry->value;

	fprintf(stream, "    config.%s = ", entry->key);
	if (entry->text)
		stream_put_quoted(stream, entry->value);
	else
		fputs(value, stream);
	fputc('\n', stream);
}

static void put_head(const struct entries *e, FILE *stream)
{
	const char *recompute = recompute_class(e), *name = value_of(e, "model.name");

	fputs("# for torchtitan as of August 2026; no release has this form yet, and "
	      "what\n"
	      "# the function called first sets beside these stays\n\n",
	      stream);
	if (value_of(e, "compile.enable"))
		fputs("from torchtitan.config import CompileConfig\n", stream);
	if (strcmp(recompute, "None") != 0)
		fprintf(stream,
			"from torchtitan.distributed.activation_checkpoint import %s\n",
			recompute);
	if (!name) {
		fputs("\n\ndef configure(config):\n", stream);
		return;
	}
	fprintf(stream, "from torchtitan.models.%s.config_registry import ", name);
	put_function(e, stream);
	fputs("\n\n\ndef configure():\n    config = ", stream);
	put_function(e, stream);
	fputs("()\n", stream);
}

static void write_python(const struct entries *e, FILE *stream)
{
	const char *recompute = recompute_class(e);

	put_head(e, stream);
	for (int i = 0; i < e->count; i++) {
		const struct entry *entry = &e->item[i];

		if (strncmp(entry->key, "model.", 6) == 0)
			continue;
		if (strcmp(entry->key, "activation_checkpoint.mode") == 0)
			fprintf(stream, "    config.activation_checkpoint = %s%s\n",
				recompute,
				strcmp(recompute, "None") == 0 ? "" : ".Config()");
		else if (strcmp(entry->key, "compile.enable") == 0)
			fprintf(stream,
				"    config.compile = CompileConfig(enable=%s)\n",
				strcmp(entry->value, "true") == 0 ? "True" : "False");
		else
			put_setting(entry, stream);
	}
	fputs("    return config\n", stream);
}

char *torchtitan_write_python(const struct scenario *scenario)
{
	return entries_export(scenario, add_settings, write_python);
}
