/* older.c - see older.h. Keys of torchtitan's first months (to v0.1.0, February 2025),
 * torchtitan/config_manager.py. */
#include "presets/torchtitan/older.h"

#include <string.h>

/* A key and its later name; of switches that became words of a list, the word. */
static const struct {
	const char *key, *as, *word;
} keys[] = {
	{ "training.tensor_parallel_degree", "parallelism.tensor_parallel_degree",
	  NULL },
	{ "training.data_parallel_degree", "parallelism.data_parallel_shard_degree",
	  NULL },
	{ "training.data_parallel_shard_degree",
	  "parallelism.data_parallel_shard_degree", NULL },
	{ "training.data_parallel_replicate_degree",
	  "parallelism.data_parallel_replicate_degree", NULL },
	{ "training.pipeline_parallel_degree", "parallelism.pipeline_parallel_degree",
	  NULL },
	{ "experimental.tensor_parallel_degree", "parallelism.tensor_parallel_degree",
	  NULL },
	{ "experimental.data_parallel_shard_degree",
	  "parallelism.data_parallel_shard_degree", NULL },
	{ "experimental.data_parallel_replicate_degree",
	  "parallelism.data_parallel_replicate_degree", NULL },
	{ "experimental.pipeline_parallel_degree",
	  "parallelism.pipeline_parallel_degree", NULL },
	{ "experimental.pipeline_parallel_schedule",
	  "parallelism.pipeline_parallel_schedule", NULL },
	{ "experimental.context_parallel_degree", "parallelism.context_parallel_degree",
	  NULL },
	{ "experimental.context_parallel_rotate_method",
	  "parallelism.context_parallel_rotate_method", NULL },
	{ "experimental.enable_async_tensor_parallel",
	  "parallelism.enable_async_tensor_parallel", NULL },
	{ "training.enable_float8_linear", "model.converters", "float8" },
	{ "training.enable_fp8_linear", "model.converters", "float8" },
	{ "float8.enable_float8_linear", "model.converters", "float8" },
	{ "training.fp8_linear", "model.converters", "float8" },
};

/* The later word for this key's value; NULL: the key says nothing. */
static const char *value_of(const struct pair *pair, const char *word)
{
	bool off = strcmp(pair->value, "false") == 0 || pair->value[0] == '\0';

	if (word)
		return off ? NULL : word;
	if (strcmp(pair->value, "interleaved_1f1b") == 0)
		return "Interleaved1F1B";
	if (strcmp(pair->value, "1f1b") == 0)
		return "1F1B";
	return strcmp(pair->value, "gpipe") == 0 ? "GPipe" : pair->value;
}

void older_spell(struct pairs *pairs)
{
	for (int i = 0; i < pairs->count; i++) {
		struct pair *pair = &pairs->item[i];

		for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
			const char *value;

			if (strcmp(keys[k].key, pair->key) != 0)
				continue;
			value = value_of(pair, keys[k].word);
			if (!value || pairs_find(pairs, keys[k].as))
				break;
			pair->key = keys[k].as;
			pair->value = value;
			break;
		}
	}
}
