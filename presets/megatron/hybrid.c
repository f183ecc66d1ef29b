/* hybrid.c - layers of several kinds as one pattern of letters, which also says where
 * stages end ("M-M*|M-M-": |) and what MTP layers are made of ("/").
 *
 * Source: Megatron-LM, megatron/training/arguments.py (validate_args: with such a
 * pattern no other flag may part layers) and megatron/core/models/hybrid/
 * hybrid_layer_allocation.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/plan/split.h"
#include "engine/train/train.h"
#include "presets/megatron/parts.h"
#include "presets/pairs/mapping.h"

static const struct argument *pattern_of(const struct arguments *arguments)
{
	const struct argument *a = arguments_find(arguments, "hybrid-layer-pattern");

	return a ? a : arguments_find(arguments, "hybrid-override-pattern");
}

/* "M-M*|M-" as "Et*4|t*2L": every letter is a layer. */
static bool make_layout(const char *pattern, int64_t mtp, char layout[MAX_LAYOUT])
{
	size_t used = 1;

	layout[0] = 'E';
	while (used < MAX_LAYOUT) {
		size_t layers = strcspn(pattern, "|/");

		if (layers > 0)
			used += (size_t)snprintf(layout + used, MAX_LAYOUT - used,
						 "t*%zu", layers);
		pattern += layers;
		if (*pattern != '|')
			break;
		pattern++;
		if (used < MAX_LAYOUT)
			used += (size_t)snprintf(layout + used, MAX_LAYOUT - used, "|");
	}
	for (int64_t i = 0; i < mtp && used < MAX_LAYOUT; i++)
		layout[used++] = 'm';
	if (used + 2 > MAX_LAYOUT)
		return false;
	memcpy(layout + used, "L", 2);
	return true;
}

bool megatron_read_pattern(struct arguments *arguments, struct error *error)
{
	static const char layout_flag[] = "pipeline-model-parallel-layout";
	const struct argument *a = pattern_of(arguments), *told;
	char layout[MAX_LAYOUT], count[24];
	const char *tail = a ? strchr(a->value, '/') : NULL;
	int64_t mtp = 0;
	int line = a ? a->line : 1;

	for (const char *c = tail; c && *c != '\0'; c++)
		mtp += *c == '/';
	told = arguments_find(arguments, "mtp-num-layers");
	if (told)
		mtp = strtoll(told->value, NULL, 10);
	snprintf(count, sizeof count, "%lld", (long long)mtp);
	if (!told && mtp > 0 &&
	    !arguments_add(arguments, "mtp-num-layers", count, line))
		return error_set(error, arguments->file, line, "more than %d flags",
				 ARGUMENTS_MAX);
	a = pattern_of(arguments); /* the list may have moved */
	if (!a || !memchr(a->value, '|', strcspn(a->value, "/")) ||
	    arguments_find(arguments, layout_flag))
		return true;
	if (!make_layout(a->value, mtp, layout))
		return error_set(error, arguments->file, line,
				 "--%s parts its layers into more stages than are read",
				 a->name);
	return arguments_add(arguments, layout_flag, layout, line) ||
	       error_set(error, arguments->file, line, "more than %d flags",
			 ARGUMENTS_MAX);
}

bool megatron_is_split_flag(const char *name)
{
	static const char *const names[] = {
		"pipeline-model-parallel-layout",
		"account-for-embedding-in-pipeline-split",
		"account-for-loss-in-pipeline-split",
		"decoder-first-pipeline-num-layers",
		"decoder-last-pipeline-num-layers",
		"num-virtual-stages-per-pipeline-rank",
		NULL,
	};

	return word_among(name, names);
}

bool megatron_stage_ends(const struct flag_writer *w, bool ends[MAX_LAYERS])
{
	const struct scenario *s = w->scenario;
	int16_t counts[MAX_VIRTUAL];
	char layout[MAX_LAYOUT], why[128];
	struct estimate *scratch = malloc(sizeof *scratch);
	struct split split;
	int stages = -1, at = 0;

	error_note_memory(!scratch);
	memset(ends, 0, MAX_LAYERS * sizeof *ends);
	if (s->plan.pp < 2) {
		free(scratch);
		return true;
	}
	/* a plan that breaks a rule has no costs to balance by */
	if ((scratch && train_layout(s, scratch, layout, sizeof layout)) ||
	    (split_layers(s, NULL, &split) &&
	     split_layout(s, &split, layout, sizeof layout)))
		stages = split_parse_layout(layout, counts, why, sizeof why);
	free(scratch);
	for (int k = 0; k < stages - 1; k++) {
		at += counts[k];
		/* a stage without a layer has no place between letters */
		if (at < 1 || at >= MAX_LAYERS || ends[at - 1])
			return false;
		ends[at - 1] = true;
	}
	return stages > 0;
}
