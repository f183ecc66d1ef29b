/* model_name.c - see model_name.h. */
#include "presets/model_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MAX_ID = MODEL_NAME_ID };

/* Parts of a name that say nothing of the shape. */
static const char *const noise[] = {
	"meta",        "instruct",  "chat",     "hf",         "it",          "pt",
	"base",        "thinking",  "think",    "preview",    "fp8",         "fp4",
	"fp16",        "bf16",      "nvfp4",    "mxfp4",      "mxfp8",       "int4",
	"int8",        "awq",       "gptq",     "w4a16",      "w8a8",        "w8a16",
	"w4a8",        "quantized", "dynamic",  "static",     "block",       "kv",
	"4bit",        "8bit",      "gguf",     "marlin",     "autofp8",     "float8",
	"channelwise", "nvidia",    "v0.1",     "v0.2",       "v0.3",        "turbo",
	"reasoning",   "quantised", "original", "autoround",  "quark",       "qat",
	"ct",          "bnb",       "nf4",      "linearized", "dequantized", "w4a4",
	"mtp",         "quarot",    "mcore",    "w8a8c8",     "w4a8c8",      "floatmtp",
	"pretrained",  NULL
};

/* The part that names the model: of "…/models--org--name/snapshots/…", of a path, of
 * an id. */
static void take_base(const char *checkpoint, char out[MAX_ID])
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
	if (length >= MAX_ID)
		length = MAX_ID - 1;
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

static bool is_noise(const char *part)
{
	for (const char *const *word = noise; *word; word++)
		if (part[0] == (*word)[0] && strcmp(part, *word) == 0)
			return true;
	return false;
}

#define WEIGHTS_ALONE "only the weights have 8 bits, and products are counted in 8 too"

/* Words for how weights are stored, which of ours they are and what is not so; of a
 * method another word may say another width. */
static const struct stored {
	const char *part, *precision, *doubt;
	bool method;
} formats[] = {
	{ "nvfp4", "nvfp4", NULL, false },
	{ "fp4", "nvfp4", NULL, false },
	{ "mxfp4", "mxfp4", NULL, false },
	{ "mxfp8", "mxfp8", NULL, false },
	{ "awq", "int4", NULL, true },
	{ "gptq", "int4", NULL, true },
	{ "int4", "int4", NULL, false },
	{ "w4a16", "int4", NULL, false },
	{ "w4a8", "int4", "products have 8 bits, and are counted in 16", false },
	{ "w4a4", "int4", "products have 4 bits, and are counted in 16", false },
	{ "4bit", "int4", NULL, false },
	{ "nf4", "int4", NULL, false },
	{ "autoround", "int4", NULL, true },
	{ "int8", "int8", NULL, false },
	{ "w8a8", "int8", NULL, false },
	{ "w8a16", "int8", WEIGHTS_ALONE, false },
	{ "8bit", "int8", WEIGHTS_ALONE, false },
	{ "w8a8c8", "int8", "its cache has 8 bits too, and is counted in 16", false },
	{ "w4a8c8", "int4", "products and cache have 8 bits, and are counted in 16",
	  false },
	{ "quantized.w4a16", "int4", NULL, false },
	{ "quantized.w8a8", "int8", NULL, false },
	{ "quantized.w8a16", "int8", WEIGHTS_ALONE, false },
	{ "bf16", "bf16", NULL, false },
	{ "gguf", NULL, "GGUF does not say in its name how many bits a weight has",
	  true },
};

static const struct stored *format_of(const char *part)
{
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
		if (strcmp(formats[i].part, part) == 0)
			return &formats[i];
	return NULL;
}

/* "NVFP4-v2": another try at quantising the same weights. */
static bool is_edition(const char *part, const char *before)
{
	return part[0] == 'v' && isdigit((unsigned char)part[1]) && part[2] == '\0' &&
	       format_of(before);
}

static bool is_date(const char *part)
{
	return (strlen(part) == 4 || strlen(part) == 6) &&
	       strspn(part, "0123456789") == strlen(part);
}

void model_name_reduce(const char *checkpoint, char out[MAX_ID])
{
	char base[MAX_ID], part[64], whole[64] = "";
	size_t used = 0;

	take_base(checkpoint, base);
	out[0] = '\0';
	for (const char *at = next_part(base, part); at; at = next_part(at, part)) {
		bool again = is_edition(part, whole);
		size_t length = strlen(part);

		memcpy(whole, part, length + 1);
		if (strncmp(whole, "quantized.", 10) == 0 || is_date(whole) ||
		    is_noise(whole) || again)
			continue;
		if (used + length >= MAX_ID)
			length = MAX_ID - 1 - used;
		memcpy(out + used, whole, length);
		used += length;
		out[used] = '\0';
	}
}

/* Whether one of the names, with blanks between, is the wanted one. */
static bool holds_name(const char *at, const char *wanted)
{
	while (*(at += strspn(at, " ")) != '\0') {
		char word[MAX_ID], name[MAX_ID];
		size_t length = strcspn(at, " ");

		snprintf(word, sizeof word, "%.*s", (int)length, at);
		model_name_reduce(word, name);
		if (strcmp(name, wanted) == 0)
			return true;
		at += length;
	}
	return false;
}

static const struct preset *find_reduced(const char *wanted)
{
	const struct preset *list;
	int count = preset_list(PRESET_MODEL, &list);

	for (int i = 0; i < count; i++) {
		char name[MAX_ID], id[MAX_ID];

		model_name_reduce(list[i].name, name);
		model_name_reduce(list[i].alias, id);
		if (strcmp(name, wanted) == 0 || strcmp(id, wanted) == 0)
			return &list[i];
	}
	for (int i = 0; i < count; i++)
		if (holds_name(list[i].also, wanted) ||
		    holds_name(list[i].alike, wanted))
			return &list[i];
	return NULL;
}

/* "qwen3_5_35B" of files that keep points out of names is qwen3.5_35B. */
static bool set_point(const char *name, char out[MAX_ID])
{
	snprintf(out, MAX_ID, "%s", name);
	for (char *at = out; at[0] != '\0' && at[1] != '\0'; at++)
		if ((isalpha((unsigned char)at[0]) || at[0] == '_') &&
		    isdigit((unsigned char)at[1]) && at[2] == '_' &&
		    isdigit((unsigned char)at[3]) && (at[4] == '_' || at[4] == '\0')) {
			at[2] = '.';
			return true;
		}
	return false;
}

/* A checkpoint that is in the library under its very name: one that is quantised in its
 * own way is another than its model. "Meta-" comes and goes. */
static const struct preset *find_checkpoint(const char *name)
{
	const struct preset *list;
	int count = preset_list(PRESET_MODEL, &list);
	char wanted[MAX_ID], id[MAX_ID];
	const char *plain = wanted;

	take_base(name, wanted);
	if (strncasecmp(wanted, "meta-", 5) == 0)
		plain = wanted + 5;
	for (int i = 0; i < count; i++) {
		take_base(list[i].alias, id);
		if (id[0] != '\0' && strcasecmp(id, plain) == 0)
			return &list[i];
	}
	return NULL;
}

const struct preset *model_name_find(const char *name)
{
	char wanted[MAX_ID], pointed[MAX_ID];
	const struct preset *found = find_checkpoint(name);

	if (found)
		return found;
	model_name_reduce(name, wanted);
	found = wanted[0] != '\0' ? find_reduced(wanted) : NULL;
	if (found || !set_point(name, pointed))
		return found;
	model_name_reduce(pointed, wanted);
	return find_reduced(wanted);
}

/* "1p7b" is 1.7b, "600m" is 0.6b: recipes have no points in names, and count small
 * models in millions. */
static void spell_size(char *name)
{
	for (char *at = name; *at != '\0'; at++) {
		size_t digits = strspn(at, "0123456789");

		if (digits == 0 || (at > name && at[-1] != '_'))
			continue;
		if (at[digits] == 'p' && isdigit((unsigned char)at[digits + 1]))
			at[digits] = '.';
		if (digits == 3 && strncmp(at + 1, "00m", 3) == 0 &&
		    (at[4] == '_' || at[4] == '\0')) {
			const char small[] = { '0', '.', at[0], 'b' };

			memcpy(at, small, sizeof small);
		}
	}
}

/* By its name, or with the point that "qwen25" has lost. */
static const struct preset *find_pointed(const char *recipe)
{
	const struct preset *found = model_name_find(recipe);
	size_t digits = strcspn(recipe, "0123456789");
	char name[MAX_ID];

	if (found || !isdigit((unsigned char)recipe[digits]) ||
	    !isdigit((unsigned char)recipe[digits + 1]))
		return found;
	snprintf(name, sizeof name, "%.*s.%s", (int)digits + 1, recipe,
		 recipe + digits + 1);
	return model_name_find(name);
}

const struct preset *model_name_recipe(const char *recipe)
{
	static const char *const tasks[] = { "_pretrain", "_sft",  "_finetune", "_peft",
					     "_lora",     "_fsdp", "_config" };
	static const char *const parts[] = { "_vl", "_text" };
	const struct preset *found;
	size_t length = strlen(recipe);
	char name[MAX_NAME];

	for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
		const char *task = strstr(recipe, tasks[i]);

		if (task && (size_t)(task - recipe) < length)
			length = (size_t)(task - recipe);
	}
	if (length == 0 || length + 4 > sizeof name)
		return NULL;
	snprintf(name, sizeof name, "%.*s", (int)length, recipe);
	spell_size(name);
	found = find_pointed(name);
	for (size_t i = 0; !found && i < sizeof parts / sizeof parts[0]; i++) {
		char *at = strstr(name, parts[i]);
		const char *rest = at ? at + strlen(parts[i]) : NULL;

		/* the text part of a model, which its family names so */
		if (at && (*rest == '_' || *rest == '\0')) {
			memmove(at, rest, strlen(rest) + 1);
			found = find_pointed(name);
		}
	}
	return found;
}

bool model_name_is_closed(const char *name)
{
	/* https://huggingface.co/pfnet: the PLaMo community licence stands before most;
	 * of the others no copy was found */
	static const char *const closed[] = { "plamo28b", "plamo2translate",
					      "plamo3nict", "mistralmedium",
					      "inkling" };
	char wanted[MAX_ID];

	model_name_reduce(name, wanted);
	for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++)
		if (strncmp(wanted, closed[i], strlen(closed[i])) == 0)
			return true;
	return false;
}

bool model_name_is_alike(const char *name, const struct preset *preset)
{
	char wanted[MAX_ID];

	if (preset->alike[0] == '\0')
		return false;
	model_name_reduce(name, wanted);
	return holds_name(preset->alike, wanted);
}

bool model_name_is_other(const char *name, const struct preset *preset)
{
	char wanted[MAX_ID], own[MAX_ID], id[MAX_ID], base[MAX_ID], part[64];

	model_name_reduce(name, wanted);
	model_name_reduce(preset->name, own);
	model_name_reduce(preset->alias, id);
	if (strcmp(wanted, own) != 0 && strcmp(wanted, id) != 0)
		return true;
	/* a later edition, where the library's is not of a day itself */
	take_base(name, base);
	for (const char *at = next_part(base, part); at; at = next_part(at, part))
		if (is_date(part) && !strstr(preset->name, part) &&
		    !strstr(preset->alias, part))
			return true;
	return false;
}

void model_name_forget_reach(struct model *model)
{
	if (model->position != POSITION_LEARNED)
		model->max_positions = 0;
}

static bool says_it_sees(const char *name, const struct preset *preset)
{
	static const char *const words[] = { "vl",    "omni",       "vision",  "vlm",
					     "4.1v",  "4.5v",       "4.6v",    "5v",
					     "llava", "multimodal", "pixtral", NULL };
	char base[MAX_ID], part[64];

	take_base(name, base);
	for (const char *at = next_part(base, part); at; at = next_part(at, part)) {
		if (strncmp(part, "internvl", 8) == 0)
			return !strstr(preset->name, "internvl");
		for (const char *const *word = words; *word; word++)
			if (strcmp(part, *word) == 0 && !strstr(preset->name, *word))
				return true;
	}
	return false;
}

/* What a shipped model says of where its shape is from. */
static bool source_says(const struct preset *preset, const char *words)
{
	const char *line = preset->text ? strstr(preset->text, "\nsource:") : NULL;
	const char *end = line ? strchr(line + 1, '\n') : NULL;

	return end && memmem(line, (size_t)(end - line), words, strlen(words));
}

bool model_name_sees(const char *name, const struct preset *preset)
{
	/* an id of a hub is of the whole checkpoint, the library's own name of what its
	 * source says */
	return says_it_sees(name, preset) ||
	       (strchr(name, '/') && source_says(preset, "text part"));
}

void model_name_text_part(const char *name, struct model *model)
{
	size_t used = strlen(model->approximate);

	snprintf(model->approximate + used, sizeof model->approximate - used,
		 "%sthe text part of %.60s alone", used ? "; " : "", name);
	error_clean(model->approximate);
}

void model_name_doubt(const char *name, struct model *model)
{
	size_t used = strlen(model->approximate);

	snprintf(model->approximate + used, sizeof model->approximate - used,
		 "%s%.60s by its name alone: its shape was not compared",
		 used ? "; " : "", name);
	error_clean(model->approximate);
}

bool model_name_ranks(const char *name, struct model *model)
{
	char base[MAX_ID], part[64];
	size_t used = strlen(model->approximate);

	take_base(name, base);
	for (const char *at = next_part(base, part); at; at = next_part(at, part))
		if (strncmp(part, "embed", 5) == 0 || strncmp(part, "rerank", 6) == 0) {
			snprintf(model->approximate + used,
				 sizeof model->approximate - used,
				 "%sit embeds or ranks, and what is generated here it "
				 "does not",
				 used ? "; " : "");
			return true;
		}
	return false;
}

bool model_name_diffuses(const char *name, struct model *model)
{
	char base[MAX_ID], part[64];
	size_t used = strlen(model->approximate);

	take_base(name, base);
	next_part(base, part);
	if (strncmp(part, "llada", 5) != 0)
		return false;
	snprintf(model->approximate + used, sizeof model->approximate - used,
		 "%sa diffusion model, counted as one that writes token by token",
		 used ? "; " : "");
	return true;
}

const char *model_name_format(const char *name, const char **doubt)
{
	char base[MAX_ID], part[64];
	bool fp8 = false, block = strncmp(name, "Qwen/", 5) == 0;
	const struct stored *method = NULL, *row = NULL;

	take_base(name, base);
	for (const char *at = next_part(base, part); at && !row;
	     at = next_part(at, part)) {
		row = format_of(part);
		method = row && row->method ? row : method;
		row = row && row->method ? NULL : row;
		fp8 = fp8 || strcmp(part, "fp8") == 0;
		block = block || strcmp(part, "block") == 0;
	}
	*doubt = row ? row->doubt : method ? method->doubt : NULL;
	/* of these methods weights alone are narrow, whatever their width */
	if (row && method && strcmp(row->precision, "int8") == 0)
		*doubt = WEIGHTS_ALONE;
	if (row || method)
		return row ? row->precision : method->precision;
	return !fp8 ? NULL : block ? "fp8-block" : "fp8";
}
