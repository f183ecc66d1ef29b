/* name.c - a plan as short as people write it. */
#include <stdio.h>
#include <string.h>

#include "engine/planner/planner.h"

/* What is not the key in capitals. */
static const struct {
	const char *key, *text;
} names[] = {
	{ "mbs", "mbs" },
	{ "zero", "Z" },
	{ "zero_group", "ZG" },
	{ "recompute_layers", "rl" },
	{ "recompute_modules", "" },
	{ "micro_batch_group", "mg" },
	{ "optimizer_offload", "oo" },
	{ "activation_offload", "ao" },
	{ "dp_attention", "DPA" },
	{ "kv_shards", "KVS" },
	{ "disaggregated", "PD" },
	{ "prefill_gpus", "pg" },
	{ "prefill_tp", "ptp" },
	{ "gpus", "GPUs" },
	{ "gbs", "gbs" },
	{ "seq", "seq" },
};

static char upper(char c)
{
	return c == '_' ? '-' : c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static void name_of(const struct knob *knob, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (strcmp(names[i].key, knob->key) != 0)
			continue;
		snprintf(out, size, "%s", names[i].text);
		return;
	}
	for (; knob->key[n] != '\0' && n + 1 < size; n++)
		out[n] = upper(knob->key[n]);
	out[n] = '\0';
}

static bool is_key(const struct knob *knob, const char *key)
{
	return strcmp(knob->key, key) == 0;
}

/* Values from which on a knob is told: all of some, degrees above 1, and of others
 * what is not none (or all, or auto), which is 0. */
static double told_from(const struct scenario *s, const struct knob *knob)
{
	/* 0 is the stack's own, which is TP or 1 */
	if (is_key(knob, "etp"))
		return s->plan.tp > 1 ? 1 : 2;
	if (is_key(knob, "mbs") || is_key(knob, "zero"))
		return 0;
	if (knob->group == GROUP_PARALLELISM || is_key(knob, "dp_attention") ||
	    is_key(knob, "kv_shards"))
		return 2;
	return knob->type == KNOB_INT ? 1 : 1e-9;
}

/* "TP4", "Z1", "sel", "zb-v"; empty for what is usual. */
static void knob_text(const struct scenario *s, const struct knob *knob, char *out,
		      size_t size)
{
	double value = knob_get(s, knob);
	char name[24], word[48];

	out[0] = '\0';
	knob_print_value(knob, value, word, sizeof word);
	name_of(knob, name, sizeof name);
	if (is_key(knob, "schedule")) {
		bool usual = value == SCHEDULE_1F1B || value == SCHEDULE_INTERLEAVED;

		snprintf(out, size, "%s", usual || s->plan.pp == 1 ? "" : word);
	} else if (is_key(knob, "sp")) {
		/* goes with TP */
		snprintf(out, size, "%s", value > 0 || s->plan.tp == 1 ? "" : "noSP");
	} else if (knob->type == KNOB_WORD) {
		snprintf(out, size, "%.*s", value > 0 ? 3 : 0, word);
	} else if (knob->type == KNOB_BOOL) {
		snprintf(out, size, "%s", value > 0 ? name : "");
	} else if (value >= told_from(s, knob)) {
		snprintf(out, size, "%s%s", name, word);
	}
}

/* What makes a plan also where it was given. */
static bool is_degree(const struct knob *knob)
{
	return knob->group == GROUP_PARALLELISM || strcmp(knob->key, "mbs") == 0;
}

/* "TP tensor 4" of what knob_text() tells; labels stand in columns elsewhere. */
static void plain_text(const struct scenario *s, const struct knob *knob, char *out,
		       size_t size)
{
	char word[64];
	size_t used = 0;

	if (out[0] == '\0')
		return;
	knob_print(s, knob, word, sizeof word);
	for (const char *c = knob->label; *c != '\0' && used + 1 < size; c++)
		if (*c != ' ' || (used > 0 && out[used - 1] != ' '))
			out[used++] = *c;
	snprintf(out + used, size - used, " %s", word);
}

/* Whether a plan's name may tell of this axis: one that has a single value is the same
 * in all plans of the space, but not in one from outside of it. */
static bool is_told(const struct planner_problem *problem, const struct scenario *s,
		    const struct planner_axis *axis)
{
	if (!knob_applies(s, axis->knob) ||
	    (axis->count == 1 && !is_degree(axis->knob) &&
	     axis->value[0] == knob_get(s, axis->knob)))
		return false;
	/* long words, the same in nearly every plan */
	return axis->knob->type != KNOB_SET ||
	       !knob_same(s, &problem->base, axis->knob);
}

/* The texts of the axes that are told, parted so. */
static void join_texts(const struct planner_problem *problem, const struct scenario *s,
		       bool plain, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; i < problem->axes && used < size; i++) {
		const struct knob *knob = problem->axis[i].knob;
		char text[96];

		if (!is_told(problem, s, &problem->axis[i]))
			continue;
		knob_text(s, knob, text, sizeof text);
		if (plain)
			plain_text(s, knob, text, sizeof text);
		if (text[0] != '\0')
			used += (size_t)snprintf(out + used, size - used, "%s%s",
						 used == 0 ? ""
						 : plain   ? ", "
							   : " ",
						 text);
	}
	/* nothing is split, and nothing unusual */
	if (used == 0)
		snprintf(out, size, plain ? "nothing is split" : "TP1");
}

void planner_name(const struct planner_problem *problem, const struct scenario *s,
		  char *out, size_t size)
{
	join_texts(problem, s, false, out, size);
}

void planner_plain_name(const struct planner_problem *problem, const struct scenario *s,
			char *out, size_t size)
{
	join_texts(problem, s, true, out, size);
}

/* The short word of a name and what it is short for: "Z ZeRO", "sel recompute
 * selective"; empty where it is written out, or is how the knob's label begins. */
static void word_of(const struct scenario *s, const struct knob *knob, const char *text,
		    char *out, size_t size)
{
	char name[24], plain[96];
	size_t length;

	snprintf(plain, sizeof plain, "%s", text);
	plain_text(s, knob, plain, sizeof plain);
	name_of(knob, name, sizeof name);
	length = strlen(name);
	out[0] = '\0';
	if (knob->type == KNOB_SET || strcmp(text, strrchr(plain, ' ') + 1) == 0)
		return;
	if (strncmp(text, name, length) != 0 || length == 0) {
		snprintf(out, size, "%s %s", text, plain);
		return;
	}
	*strrchr(plain, ' ') = '\0'; /* the value */
	if (strncmp(plain, name, length) != 0 || plain[length] != ' ')
		snprintf(out, size, "%s %s", name, plain);
}

void planner_name_words(const struct planner_problem *problem, const struct scenario *s,
			char *out, size_t size)
{
	size_t used = strlen(out);

	for (int i = 0; i < problem->axes && used < size; i++) {
		const struct knob *knob = problem->axis[i].knob;
		char text[96], word[224];

		if (!is_told(problem, s, &problem->axis[i]))
			continue;
		knob_text(s, knob, text, sizeof text);
		if (text[0] == '\0')
			continue;
		word_of(s, knob, text, word, sizeof word);
		if (word[0] != '\0' && !strstr(out, word))
			used += (size_t)snprintf(out + used, size - used, "%s%s",
						 used > 0 ? "  " : "", word);
	}
}
