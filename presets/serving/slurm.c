/* slurm.c - recipes of srt-slurm: servers that Slurm starts, and the load they are
 * measured under.
 *
 * Keys: NVIDIA/srt-slurm, docs/config-reference.md and src/srtctl/core/schema.py. The
 * flags of each kind of worker stand in backend.<tool>_config.prefill, .decode or
 * .aggregated, without their dashes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/library.h"
#include "presets/model_name.h"
#include "presets/serving/tool.h"

/* What a kind of worker is called in its flags and in its resources. */
static const struct {
	const char *config, *workers;
} kinds[ROLE_COUNT] = {
	[ROLE_BOTH] = { "aggregated", "resources.agg_workers" },
	[ROLE_PREFILL] = { "prefill", "resources.prefill_workers" },
	[ROLE_DECODE] = { "decode", "resources.decode_workers" },
};

static bool holds(const char *text, size_t length, const char *word)
{
	return memmem(text, length, word, strlen(word)) != NULL;
}

bool slurm_looks_like(const char *text, size_t length)
{
	return holds(text, length, "gpu_type:") && holds(text, length, "resources:") &&
	       (holds(text, length, " sglang_config:") ||
		holds(text, length, " trtllm_config:") ||
		holds(text, length, " vllm_config:"));
}

static const char *value_of(const struct pairs *recipe, const char *key)
{
	const struct pair *pair = pairs_find(recipe, key);

	return pair ? pair->value : "";
}

/* "4x8x16", or a list of words: the largest. Their count is told. */
static int64_t largest(const char *text, int *count)
{
	int64_t most = 0;
	char *end;

	*count = 0;
	for (const char *at = text; *at != '\0'; at = end + strspn(end, "x, []'\"")) {
		long long value = strtoll(at, &end, 10);

		if (end == at)
			break;
		most = value > most ? value : most;
		(*count)++;
	}
	return most;
}

bool slurm_load(const struct pairs *recipe, struct server_load *out,
		struct import_report *report, struct error *error)
{
	const struct pair *machine = pairs_find(recipe, "resources.gpu_type");
	const char *asked = value_of(recipe, "benchmark.concurrencies");
	int count;

	if (!machine || !library_machine(machine->value))
		return error_set(error, recipe->file, machine ? machine->line : 1,
				 "resources.gpu_type is '%.40s'; expected h100, h200, "
				 "b200, b300, gb200 or gb300",
				 machine ? machine->value : "absent");
	out->cluster = library_machine(machine->value);
	out->prompt = strtoll(value_of(recipe, "benchmark.isl"), NULL, 10);
	out->output = strtoll(value_of(recipe, "benchmark.osl"), NULL, 10);
	out->concurrency = largest(asked, &count);
	import_note(report, IMPORT_TAKEN, "gpu_type", "%s", machine->value);
	if (out->prompt > 0 && out->output > 0)
		import_note(report, IMPORT_TAKEN, "benchmark", "isl %lld, osl %lld",
			    (long long)out->prompt, (long long)out->output);
	if (count > 1)
		import_note(report, IMPORT_ASSUMED, "concurrency",
			    "%lld, the largest of %s", (long long)out->concurrency,
			    asked);
	return true;
}

/* The bits of a format's name: "fp8-block" and "fp8" are as wide. */
static const char *width_of(const char *format)
{
	return strstr(format, "fp4")    ? "FP4"
	       : strstr(format, "fp8")  ? "FP8"
	       : strstr(format, "int4") ? "INT4"
					: "";
}

/* The model's name, and behind it the recipe's word for how its weights are stored,
 * where that is not how they are published. */
static void name_checkpoint(const struct pairs *recipe, const char *served,
			    char out[MAX_CHECKPOINT])
{
	const char *path = value_of(recipe, "model.path");
	const char *repository = value_of(recipe, "identity.model.repo");
	const char *asked = width_of(value_of(recipe, "model.precision"));
	const char *name = strncmp(path, "hf:", 3) == 0 ? path + 3
			   : served[0] != '\0'          ? served
							: path;
	const struct preset *found = model_name_find(name);
	struct model model;
	const char *native;

	/* a path may be a name of the cluster's own */
	if (!found && repository[0] != '\0') {
		name = repository;
		found = model_name_find(name);
	}
	snprintf(out, MAX_CHECKPOINT, "%s", name);
	if (!found || !library_model(&model, found->name, NULL))
		return;
	native = width_of(checkpoint_native(&model, name));
	if (asked[0] != '\0' && strcmp(asked, native) != 0)
		snprintf(out, MAX_CHECKPOINT, "%.200s-%s%s", name,
			 strcmp(asked, "FP4") == 0 ? "NV" : "", asked);
}

/* The path inside the worker's container: the name stands elsewhere. */
static bool is_path_flag(const struct tool *tool, const char *key)
{
	char name[64];

	snprintf(name, sizeof name, "%s", key);
	for (char *at = name; *at != '\0'; at++)
		*at = *at == '-' || *at == '_' ? tool->joint : *at;
	return word_among(name, tool->model_flags);
}

bool slurm_server(const struct tool *tool, const struct pairs *recipe, enum role role,
		  struct pairs *flags, struct server_command *out)
{
	const char *served = "";
	char prefix[64];
	size_t length;

	length = (size_t)snprintf(prefix, sizeof prefix, "backend.%s_config.%s.",
				  tool->name, kinds[role].config);
	for (int i = 0; i < recipe->count; i++) {
		const struct pair *pair = &recipe->item[i];
		const char *key = pair->key + length;

		if (strncmp(pair->key, prefix, length) != 0)
			continue;
		out->line = flags->count == 0 ? pair->line : out->line;
		if (strcmp(key, "served-model-name") == 0 ||
		    strcmp(key, "served_model_name") == 0)
			served = pair->value;
		else if (!is_path_flag(tool, key) &&
			 !pairs_add(flags, key, pair->value, pair->line, NULL))
			return false;
	}
	if (flags->count == 0)
		return false;
	if (role != ROLE_BOTH &&
	    !pairs_add(flags, tool->role_flag, tool->roles[role], out->line, NULL))
		return false;
	name_checkpoint(recipe, served, out->checkpoint);
	out->replicas = strtoll(value_of(recipe, kinds[role].workers), NULL, 10);
	if (out->replicas < 1)
		out->replicas = 1;
	return true;
}
