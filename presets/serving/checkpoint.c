/* checkpoint.c - what the name of a checkpoint says; see tool.h. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "presets/library.h"
#include "presets/serving/tool.h"

/* Parts of a name that say nothing of the shape. */
static const char *const noise[] = {
	"meta",      "instruct", "chat",      "hf",      "it",     "pt",
	"base",      "thinking", "preview",   "fp8",     "fp4",    "fp16",
	"bf16",      "nvfp4",    "mxfp4",     "mxfp8",   "int4",   "int8",
	"awq",       "gptq",     "w4a16",     "w8a8",    "w8a16",  "w4a8",
	"quantized", "dynamic",  "static",    "block",   "kv",     "4bit",
	"8bit",      "gguf",     "marlin",    "autofp8", "float8", "channelwise",
	"nvidia",    "v0.1",     "v0.2",      "v0.3",    "turbo",  "reasoning",
	"quantised", "original", "autoround", "quark",   NULL
};

/* Names that share a shape with one of the library. */
static const struct {
	const char *name, *model;
} kin[] = {
	{ "deepseekr1", "deepseek-v3" },
	{ "deepseekr1zero", "deepseek-v3" },
	{ "deepseekv3.1", "deepseek-v3" },
	{ "deepseekv3.1terminus", "deepseek-v3" },
	{ "deepseekv2chat", "deepseek-v2" },
	{ "deepseekr1distillllama70b", "llama3.1-70b" },
	{ "deepseekr1distillllama8b", "llama3.1-8b" },
	{ "deepseekr1distillqwen32b", "qwen2.5-32b" },
	{ "llama3.370b", "llama3.1-70b" },
	{ "llama3.1nemotron70b", "llama3.1-70b" },
	{ "hermes3llama3.170b", "llama3.1-70b" },
	{ "kimik2.5", "kimi-k2" },
	{ "qwq32b", "qwen2.5-32b" },
	{ "qwen332b", "qwen3-32b" },
	{ "minimaxm2", "minimax-m2.5" },
	{ "minimaxm2.1", "minimax-m2.5" },
	{ "glm4.6", "glm-4.5" },
};

/* The part that names the model: of "…/models--org--name/snapshots/…", of a path, of
 * an id. */
static void take_base(const char *checkpoint, char out[MAX_CHECKPOINT])
{
	const char *cache = strstr(checkpoint, "models--");
	size_t length;

	if (cache) {
		const char *name = strstr(cache + 8, "--");

		checkpoint = name ? name + 2 : cache + 8;
		length = strcspn(checkpoint, "/");
	} else {
		length = strlen(checkpoint);
		while (length > 0 && checkpoint[length - 1] == '/')
			length--;
		for (size_t i = length; i > 0; i--)
			if (checkpoint[i - 1] == '/') {
				checkpoint += i;
				length -= i;
				break;
			}
	}
	if (length >= MAX_CHECKPOINT)
		length = MAX_CHECKPOINT - 1;
	memcpy(out, checkpoint, length);
	out[length] = '\0';
}

/* The next part of a name, in small letters; NULL at the end. */
static const char *next_part(const char *at, char part[64])
{
	size_t length;

	at += strspn(at, "-_");
	length = strcspn(at, "-_");
	if (length == 0)
		return NULL;
	for (size_t i = 0; i < length && i < 63; i++)
		part[i] = (char)tolower((unsigned char)at[i]);
	part[length < 63 ? length : 63] = '\0';
	return at + length;
}

static bool is_date(const char *part)
{
	return (strlen(part) == 4 || strlen(part) == 6) &&
	       strspn(part, "0123456789") == strlen(part);
}

/* "Meta-Llama-3.1-70B-Instruct-FP8" and "llama3.1-70b" are both "llama3.170b". */
static void reduce(const char *checkpoint, char out[MAX_CHECKPOINT])
{
	char base[MAX_CHECKPOINT], part[64];
	size_t used = 0;

	take_base(checkpoint, base);
	out[0] = '\0';
	for (const char *at = next_part(base, part); at; at = next_part(at, part)) {
		char whole[64];

		snprintf(whole, sizeof whole, "%s", part);
		if (strncmp(whole, "quantized.", 10) == 0 || is_date(whole) ||
		    word_among(whole, noise))
			continue;
		int wrote = snprintf(out + used, MAX_CHECKPOINT - used, "%s", whole);

		used += (size_t)wrote;
		if (used >= MAX_CHECKPOINT)
			return;
	}
}

static const struct preset *find_reduced(const char *wanted)
{
	const struct preset *list;
	int count = preset_list(PRESET_MODEL, &list);

	for (int i = 0; i < count; i++) {
		char name[MAX_CHECKPOINT], id[MAX_CHECKPOINT];

		reduce(list[i].name, name);
		reduce(list[i].alias, id);
		if (strcmp(name, wanted) == 0 || strcmp(id, wanted) == 0)
			return &list[i];
	}
	return NULL;
}

static const struct preset *find_model(const char *checkpoint)
{
	const struct preset *found = preset_find(PRESET_MODEL, checkpoint);
	char wanted[MAX_CHECKPOINT];

	reduce(checkpoint, wanted);
	if (!found && wanted[0] != '\0')
		found = find_reduced(wanted);
	for (size_t i = 0; i < sizeof kin / sizeof kin[0] && !found; i++)
		if (strcmp(kin[i].name, wanted) == 0)
			found = preset_find(PRESET_MODEL, kin[i].model);
	return found;
}

bool checkpoint_model(const char *checkpoint, struct model *out,
		      struct import_report *report, struct error *error)
{
	const struct preset *found =
		checkpoint[0] != '\0' ? find_model(checkpoint) : NULL;

	if (checkpoint[0] == '\0')
		return import_unstated_model(out, 1, report, error);
	if (found) {
		import_note(report, IMPORT_TAKEN, "model", "%s as %s", checkpoint,
			    found->name);
		return library_model(out, found->name, error);
	}
	import_note(report, IMPORT_NOT_MODELLED, "model", "%s", checkpoint);
	if (!library_model(out, "llama3.1-8b", error))
		return false;
	import_note(report, IMPORT_ASSUMED, "model",
		    "llama3.1-8b: the library has no such model; --model "
		    "config.json does");
	return true;
}

const char *checkpoint_format(const char *checkpoint)
{
	static const struct {
		const char *part, *precision;
	} formats[] = {
		{ "nvfp4", "nvfp4" },
		{ "fp4", "nvfp4" },
		{ "mxfp4", "nvfp4" },
		{ "mxfp8", "mxfp8" },
		{ "awq", "int4" },
		{ "gptq", "int4" },
		{ "int4", "int4" },
		{ "w4a16", "int4" },
		{ "4bit", "int4" },
		{ "autoround", "int4" },
		{ "int8", "int8" },
		{ "w8a8", "int8" },
		{ "quantized.w4a16", "int4" },
		{ "quantized.w8a8", "int8" },
		{ "bf16", "bf16" },
	};
	char base[MAX_CHECKPOINT], part[64];
	bool fp8 = false, block = strncmp(checkpoint, "Qwen/", 5) == 0;

	take_base(checkpoint, base);
	for (const char *at = next_part(base, part); at; at = next_part(at, part)) {
		for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
			if (strcmp(formats[i].part, part) == 0)
				return formats[i].precision;
		fp8 = fp8 || strcmp(part, "fp8") == 0;
		block = block || strcmp(part, "block") == 0;
	}
	return !fp8 ? NULL : block ? "fp8-block" : "fp8";
}

/* config.json of the published weights: quantization_config.quant_method fp8 with
 * weight_block_size 128 x 128, or mxfp4. */
const char *checkpoint_native(const struct model *model, const char *checkpoint)
{
	static const char *const blocks[] = { "deepseek-v3", "kimi-k2", "minimax-m2.5",
					      NULL };

	const char *named = checkpoint ? checkpoint_format(checkpoint) : NULL;

	if (named)
		return named;
	if (word_among(model->name, blocks))
		return "fp8-block";
	return strncmp(model->name, "gpt-oss-", 8) == 0 ? "nvfp4" : "bf16";
}

const char *checkpoint_id(const struct model *model)
{
	const struct preset *preset = preset_find(PRESET_MODEL, model->name);

	return preset && preset->alias[0] != '\0' ? preset->alias : model->name;
}
