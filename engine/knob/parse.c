/* parse.c - what a person typed, to a value. */
#include "engine/knob/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Other spellings of words, as frameworks and published runs have them. */
static const struct synonym {
	const char *key, *from, *to;
} synonyms[] = {
	{ "cp_kind", "p2p", "ring" },
	{ "cp_kind", "allgather", "all-gather" },
	{ "cp_kind", "a2a", "ulysses" },
	{ "recompute", "off", "none" },
	{ "recompute_modules", "perop", "per-op" },
	{ "recompute_modules", "off", "none" },
	{ "schedule", "afab", "gpipe" },
	{ "schedule", "interleaved1f1b", "interleaved" },
	{ "schedule", "interleaved-1f1b", "interleaved" },
	{ "split", "layout", "custom" },
	{ "optimizer", "adam", "adamw" },
	{ "optimizer", "adam8bit", "adamw-8bit" },
	{ "precision", "bfloat16", "bf16" },
	{ "precision", "float16", "fp16" },
	{ "precision", "float32", "fp32" },
	{ "precision", "fp4", "nvfp4" },
	{ "precision", "int4-awq", "int4" },
	{ "precision", "w4a16", "int4" },
	{ "precision", "w8a8", "int8" },
	{ "mode", "train", "training" },
	{ "mode", "serve", "inference" },
	{ "mode", "serving", "inference" },
	{ "kv_precision", "fp16", "bf16" },
	{ "kv_precision", "fp8_e4m3", "fp8" },
	{ "kv_precision", "nvfp4", "fp4" },
	{ "speculative", "none", "off" },
	{ "batching", "inflight", "continuous" },
	{ "grad_dtype", "float32", "fp32" },
	{ "grad_dtype", "bfloat16", "bf16" },
	{ "fp8_recipe", "tensorwise", "current-scaling" },
	{ "fp8_recipe", "current", "current-scaling" },
	{ "fp8_recipe", "subchannel", "blockwise" },
	{ "attention_kernel", "flash", "flash2" },
	{ "attention_kernel", "fused", "flash3" },
	{ "attention_kernel", "cudnn", "flash3" },
	{ "attention_kernel", "local", "fused-softmax" },
	{ "attention_kernel", "math", "unfused" },
	{ "cuda_graphs", "off", "none" },
	{ "cuda_graphs", "full-iteration", "full" },
	{ "cuda_graphs", "layer", "partial" },
	{ "cross_entropy", "off", "plain" },
	{ "cross_entropy", "on", "fused" },
	{ "moe_dispatcher", "all-to-all", "alltoall" },
	{ "moe_dispatcher", "a2a", "alltoall" },
	{ "moe_dispatcher", "all-gather", "allgather" },
	{ "moe_dispatcher", "flex", "deepep" },
};

static int own_word(const struct knob *knob, const char *text, size_t length)
{
	for (int i = 0; knob->words && knob->words[i]; i++)
		if (knob_spelled(text, knob->words[i], length))
			return i;
	return -1;
}

/* Index of a word or of a synonym of it, -1 if it is none. */
static int find_word(const struct knob *knob, const char *text, size_t length)
{
	int index = own_word(knob, text, length);

	for (size_t i = 0; index < 0 && i < sizeof synonyms / sizeof synonyms[0]; i++)
		if (strcmp(synonyms[i].key, knob->key) == 0 &&
		    knob_spelled(text, synonyms[i].from, length))
			index = own_word(knob, synonyms[i].to, strlen(synonyms[i].to));
	return index;
}

double knob_scan(const char *text, const char **end)
{
	char copy[64];
	size_t length = strspn(text, "0123456789.+-eE");
	char *stop;
	double value;

	*end = text;
	if (length == 0 || length >= sizeof copy)
		return 0;
	memcpy(copy, text, length);
	copy[length] = '\0';
	value = strtod(copy, &stop);
	if (*stop == '.') { /* a locale with a decimal comma */
		*stop = ',';
		value = strtod(copy, &stop);
	}
	*end = text + (stop - copy);
	return value;
}

/* The factor of a suffix: k, M, G or B (as tokens are counted), T; binary for whole
 * numbers, which know no B. 0 = unknown. */
static double read_suffix(const char *text, size_t length, bool binary)
{
	static const char letters[] = "kmgt";
	double base = binary ? 1024 : 1000, factor = 1;
	char low = (char)(text[0] >= 'A' && text[0] <= 'Z' ? text[0] - 'A' + 'a'
							   : text[0]);
	const char *found = low ? strchr(letters, low) : NULL;

	if (length == 0)
		return 1;
	if (length == 1 && low == 'b' && !binary)
		return 1e9;
	if (!found || length > 2 || (length == 2 && text[1] != 'i'))
		return 0;
	if (length == 2)
		base = 1024;
	for (const char *l = letters; l <= found; l++)
		factor *= base;
	return factor;
}

static bool parse_number(struct scenario *scenario, const struct knob *knob,
			 const char *text, size_t length, char *why, size_t size)
{
	const char *end, *number;
	double value = knob_scan(text, &number), factor;

	for (end = number; *end == ' ' && end > text && end < text + length;)
		end++;
	factor =
		read_suffix(end, (size_t)(text + length - end), knob->type == KNOB_INT);
	if (*text == '+' || number == text || factor == 0 || !isfinite(value)) {
		snprintf(why, size, "%s takes a number, for example 8 or 8k%s%s",
			 knob->key, knob->zero ? ", or " : "",
			 knob->zero ? knob->zero : "");
		return false;
	}
	if (!knob_inside(knob, value * factor, why, size))
		return false;
	return knob_set(scenario, knob, value * factor);
}

static bool parse_bool(struct scenario *scenario, const struct knob *knob,
		       const char *text, size_t length, char *why, size_t size)
{
	static const char *const words[] = { "off", "on", "false", "true", "no",
					     "yes", "0",  "1",     NULL };

	for (int i = 0; words[i]; i++)
		if (knob_spelled(text, words[i], length))
			return knob_set(scenario, knob, i % 2);
	snprintf(why, size, "%s takes on or off", knob->key);
	return false;
}

/* "a, b or c"; a list that does not fit ends early. */
static void list_words(const struct knob *knob, const char *before, char *why,
		       size_t size)
{
	size_t used;

	snprintf(why, size, "%s takes %s", knob->key, before);
	for (int i = 0; knob->words[i] && (used = strlen(why)) + 1 < size; i++)
		snprintf(why + used, size - used, "%s%s",
			 i == 0               ? ""
			 : knob->words[i + 1] ? ", "
					      : " or ",
			 knob->words[i]);
}

static bool parse_word(struct scenario *scenario, const struct knob *knob,
		       const char *text, size_t length, char *why, size_t size)
{
	int index = find_word(knob, text, length);

	/* of a model that is published in the other format of four bits */
	if (index == PRECISION_NVFP4 && strcmp(knob->key, "precision") == 0 &&
	    knob_spelled(text, "fp4", length) &&
	    scenario->model.precision == PRECISION_MXFP4)
		index = PRECISION_MXFP4;
	if (index >= 0)
		return knob_set(scenario, knob, index);
	if (size > 0)
		list_words(knob, "", why, size);
	return false;
}

/* "a+b", "a, b", "[a, b]", "['a', 'b']", "a b", "none". */
static bool parse_set(struct scenario *scenario, const struct knob *knob,
		      const char *text, size_t length, char *why, size_t size)
{
	static const char between[] = "+, []'\"";
	uint64_t bits = 0;
	int words = 0;

	for (size_t at = 0; at < length;) {
		size_t word = strcspn(text + at, between);

		if (word > length - at)
			word = length - at;
		if (word > 0 && !knob_spelled(text + at, knob->zero, word)) {
			int index = find_word(knob, text + at, word);

			if (index < 0) {
				if (size > 0)
					list_words(knob, "none, or some of ", why,
						   size);
				return false;
			}
			bits |= (uint64_t)1 << index;
		}
		words += word > 0;
		at += word > 0 ? word : 1;
	}
	if (words == 0 && text[0] != '[') {
		snprintf(why, size, "%s is empty: name modules or none", knob->key);
		return false;
	}
	return knob_set(scenario, knob, (double)bits);
}

static bool parse_text(struct scenario *scenario, const struct knob *knob,
		       const char *text, size_t length, char *why, size_t size)
{
	char *at = (char *)scenario + knob->offset;
	size_t good = strspn(text, "Etm|L()*0123456789, ");

	if (knob->zero && knob_spelled(text, knob->zero, length))
		length = 0;
	if (length >= knob->size) {
		snprintf(why, size, "%s is longer than %zu characters", knob->key,
			 knob->size - 1);
		return false;
	}
	if (good < length) {
		snprintf(why, size, "%s has only E t m L | ( ) * and numbers",
			 knob->key);
		return false;
	}
	memcpy(at, text, length);
	at[length] = '\0';
	return true;
}

bool knob_parse(struct scenario *scenario, const struct knob *knob, const char *text,
		char *why, size_t size)
{
	size_t length;

	if (size > 0)
		why[0] = '\0';
	text += strspn(text, " \t");
	length = strlen(text);
	while (length > 0 && strchr(" \t", text[length - 1]))
		length--;
	if (length == 0 && knob->type != KNOB_TEXT) {
		snprintf(why, size, "%s is empty", knob->key);
		return false;
	}
	switch (knob->type) {
	case KNOB_BOOL: return parse_bool(scenario, knob, text, length, why, size);
	case KNOB_WORD: return parse_word(scenario, knob, text, length, why, size);
	case KNOB_SET: return parse_set(scenario, knob, text, length, why, size);
	case KNOB_TEXT: return parse_text(scenario, knob, text, length, why, size);
	case KNOB_INT:
	case KNOB_REAL: break;
	}
	if (knob->zero && knob_spelled(text, knob->zero, length))
		return knob_set(scenario, knob, 0);
	return parse_number(scenario, knob, text, length, why, size);
}
