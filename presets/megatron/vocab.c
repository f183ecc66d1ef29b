/* vocab.c - how many rows the embedding has where no flag says so: the tokenizer's.
 *
 * Sizes of what Pai-Megatron-Patch and Megatron call by a name of their own:
 * megatron_patch/tokenizer/__init__.py, megatron/training/tokenizer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/library.h"
#include "presets/megatron/parts.h"
#include "presets/model_name.h"

/* The longer names first; `more` is added by --extra-vocab-size. */
static const struct {
	const char *name;
	int64_t size;
	bool more;
} tokenizers[] = {
	{ "bigscience/tokenizer", 250680, false },
	{ "byte-level-bpe-tokenizer-no-norm-250k", 250680, false },
	{ "GPT2BPETokenizer", 50257, false },
	{ "gpt2-vocab.json", 50257, false },
	{ "gpt2-merges.txt", 50257, false },
	{ "t5-small", 32100, false },
	{ "Llama2Tokenizer", 32000, false },
	{ "LLamaTokenizer", 32000, false },
	{ "MistralTokenizer", 32000, false },
	{ "MixtralTokenizer", 32000, false },
	{ "FalconTokenizer", 65024, false },
	{ "BloomTokenizerFromHF", 250680, false },
	{ "LLama3Tokenizer", 128000, true },
	{ "LLama2Tokenizer", 32000, true },
	{ "Qwen2Tokenizer", 151643, true },
	{ "Qwen3Tokenizer", 151643, true },
	{ "DeepSeekV2Tokenizer", 100000, true },
};

/* "org/Llama-2-7b/tokenizer.model" is of the folder it lies in. */
static const struct preset *model_of(const char *value)
{
	const char *slash = strrchr(value, '/');
	char folder[256];

	if (!slash || strncmp(slash + 1, "tokenizer", 9) != 0)
		return model_name_find(value);
	snprintf(folder, sizeof folder, "%.*s", (int)(slash - value), value);
	return model_name_find(folder);
}

static int64_t size_of(const struct arguments *arguments, const char *value)
{
	const struct argument *more = arguments_find(arguments, "extra-vocab-size");
	const struct preset *found;
	struct model model;

	for (size_t i = 0; i < sizeof tokenizers / sizeof tokenizers[0]; i++)
		if (strstr(value, tokenizers[i].name))
			return tokenizers[i].size +
			       (tokenizers[i].more && more
					? strtoll(more->value, NULL, 10)
					: 0);
	found = model_of(value);
	return found && library_model(&model, found->name, NULL) ? model.vocab : 0;
}

/* "llm-jp-tokenizer-100k.model": thousands, by the file's own name; 0: it has none. */
static int64_t thousands_of(const char *value)
{
	const char *slash = strrchr(value, '/');

	for (const char *at = slash ? slash + 1 : value; *at != '\0'; at++) {
		char *end;
		long count;

		if (*at < '0' || *at > '9' ||
		    (at > value && at[-1] >= '0' && at[-1] <= '9'))
			continue;
		count = strtol(at, &end, 10);
		if (*end == 'k' && count >= 10 && count <= 1000 &&
		    (end[1] == '\0' || strchr("-_./", end[1])))
			return count * 1000;
	}
	return 0;
}

bool vocab_add_nemo(struct arguments *arguments, const struct node *model)
{
	static const char *const keys[][2] = { { "type", "tokenizer-type" },
					       { "model", "tokenizer-model" },
					       { "vocab_file", "vocab-file" },
					       { "merge_file", "merge-file" } };
	const struct node *tokenizer = node_get(model, "tokenizer");

	for (size_t i = 0; tokenizer && i < sizeof keys / sizeof keys[0]; i++) {
		const struct node *node = node_get(tokenizer, keys[i][0]);

		/* what looks up another place is not followed */
		if (node && node->kind == NODE_SCALAR && !strchr(node->text, '$') &&
		    !arguments_add(arguments, keys[i][1], node->text, node->line))
			return false;
	}
	return true;
}

int64_t megatron_vocab(const struct arguments *arguments, struct import_report *report)
{
	/* what names a file says more than its kind */
	static const char *const flags[] = {
		"tokenizer-model", "tokenizer-name-or-path",
		"tokenizer-path",  "patch-tokenizer-type",
		"tokenizer-type",  "vocab-file",
		"merge-file"
	};

	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		const struct argument *a = arguments_find(arguments, flags[i]);
		int64_t size = a ? size_of(arguments, a->value) : 0;

		if (a && size < 1 && strcmp(flags[i], "tokenizer-type") != 0)
			size = thousands_of(a->value);
		if (size < 1 || size > INT64_C(1) << 30)
			continue;
		import_note(report, IMPORT_ASSUMED, "vocab-size", "%lld of %.60s",
			    (long long)size, a->value);
		return size;
	}
	return 0;
}
