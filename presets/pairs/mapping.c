/* mapping.c - reading by a table; see mapping.h. */
#include "presets/pairs/mapping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/library.h"

const struct pair *mapped_find(const struct mapped *m, const char *key)
{
	const struct pair *pair = pairs_find(m->pairs, key);

	return pair && strcmp(pair->value, "auto") != 0 ? pair : NULL;
}

bool mapped_is(const struct mapped *m, const char *key, const char *value)
{
	const struct pair *pair = mapped_find(m, key);

	return pair && strcmp(pair->value, value) == 0;
}

bool mapped_true(const struct mapped *m, const char *key)
{
	return mapped_is(m, key, "true") || mapped_is(m, key, "True");
}

bool mapped_on(const struct mapped *m, const char *key)
{
	return mapped_is(m, key, "") || mapped_true(m, key);
}

bool mapped_count(const struct mapped *m, const char *key, int64_t *out)
{
	const struct pair *pair = mapped_find(m, key);
	char *end;

	if (!pair)
		return true;
	long long value = strtoll(pair->value, &end, 10);

	if (end == pair->value || *end != '\0' || value < -1 ||
	    value > INT64_C(1) << 40)
		return error_set(m->error, m->pairs->file, pair->line,
				 "%s is '%.40s'; expected a whole number", key,
				 pair->value);
	*out = value;
	return true;
}

bool mapped_set(const struct mapped *m, const char *knob, const char *value,
		const struct pair *from)
{
	char why[256];

	return knob_parse(m->out, knob_find(knob), value, why, sizeof why) ||
	       error_set(m->error, m->pairs->file, from ? from->line : 1, "%s: %s",
			 from ? from->key : knob, why);
}

bool mapped_set_count(const struct mapped *m, const char *knob, int64_t value,
		      const struct pair *from)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)value);
	return mapped_set(m, knob, text, from);
}

void mapped_approximate(const struct mapped *m, const char *key, const char *why)
{
	struct model *model = &m->out->model;
	size_t used = strlen(model->approximate);

	import_note(m->report, IMPORT_APPROXIMATE, key, "%s", why);
	snprintf(model->approximate + used, sizeof model->approximate - used, "%s%s",
		 used ? "; " : "", why);
}

bool mapped_set_world(const struct mapped *m, int64_t world, const struct pair *from)
{
	struct scenario *out = m->out;
	int64_t node = out->cluster.gpus_per_node;

	if (world < 1) {
		world = scenario_smallest_world(out);
		world = world > 0 && node % world == 0 ? node : world;
		import_note(m->report, IMPORT_ASSUMED, "gpus", "%lld",
			    (long long)world);
	}
	return mapped_set_count(m, "gpus", world, from);
}

bool mapped_begin(struct scenario *out, const char *stack, struct error *error)
{

	scenario_defaults(out);
	return library_cluster(&out->cluster, "dgx-h100", error) &&
	       library_stack(out, stack, error);
}

bool mapping_ours(const char *words, const char *theirs, size_t length, char out[32])
{
	for (const char *at = words; *at != '\0'; at += strspn(at, " ")) {
		size_t left = strcspn(at, "="), all = strcspn(at, " ");

		if (left == length && strncmp(at, theirs, length) == 0) {
			snprintf(out, 32, "%.*s", (int)(all - left - 1), at + left + 1);
			return true;
		}
		at += all;
	}
	return false;
}

bool mapping_theirs(const char *words, const char *ours, char out[32])
{
	for (const char *at = words; *at != '\0'; at += strspn(at, " ")) {
		size_t left = strcspn(at, "="), all = strcspn(at, " ");

		if (all - left - 1 == strlen(ours) &&
		    strncmp(at + left + 1, ours, strlen(ours)) == 0) {
			snprintf(out, 32, "%.*s", (int)left, at);
			return true;
		}
		at += all;
	}
	return false;
}

static bool read_row(const struct mapped *m, const struct mapping *row)
{
	const struct pair *pair = mapped_find(m, row->key);
	char word[32];

	if (!pair) {
		if (pairs_find(m->pairs, row->key))
			import_note(m->report, IMPORT_ASSUMED, row->knob,
				    "%s auto: left to the program", row->key);
		return !row->absent || mapped_set(m, row->knob, row->absent, NULL);
	}
	if (row->words &&
	    mapping_ours(row->words, pair->value, strlen(pair->value), word))
		return mapped_set(m, row->knob, word, pair);
	if (!row->words || knob_find(row->knob)->type == KNOB_INT)
		return mapped_set(m, row->knob, pair->value, pair);
	return error_set(m->error, m->pairs->file, pair->line,
			 "%s is '%.40s'; expected one of %s (theirs=ours)", row->key,
			 pair->value, row->words);
}

bool mapped_set_pure(const struct mapped *m, const struct pair *from)
{
	bool adam = m->out->plan.optimizer == OPTIMIZER_ADAMW;

	return mapped_set(m, "master_weights", "none", from) &&
	       (!adam || mapped_set(m, "optimizer", "adamw-bf16", NULL));
}

bool mapping_read(const struct mapped *m, const struct mapping *rows)
{
	for (const struct mapping *row = rows; row->key; row++)
		if (!read_row(m, row))
			return false;
	return true;
}

/* Every key: taken, or not modelled. */
static void note_keys(const struct mapped *m, const struct mapped_format *format)
{
	for (int i = 0; i < m->pairs->count; i++) {
		const struct pair *pair = &m->pairs->item[i];
		bool known = word_among(pair->key, format->others) ||
			     word_among(pair->key, format->shape_keys);

		for (const struct mapping *row = format->rows; row->key; row++)
			known = known || strcmp(row->key, pair->key) == 0;
		import_note(m->report, known ? IMPORT_TAKEN : IMPORT_NOT_MODELLED,
			    pair->key, "%s", pair->value);
	}
}

bool mapped_model(const struct mapped *m, const char *name, const struct pair *from)
{
	const struct import_name named = { m->pairs->file, from ? from->line : 1, name,
					   NULL };

	return import_model(&m->out->model, &named, m->report, m->error);
}

bool mapped_no_model(const struct mapped *m)
{
	return mapped_model(m, "", NULL);
}

bool mapped_read(struct scenario *out, const struct mapped_format *format,
		 struct pairs *pairs, struct import_report *report, struct error *error)
{
	struct scenario made;
	struct mapped m = { pairs, &made, report, error };
	const char *machine = library_machine_in(pairs->file);
	bool good;

	note_keys(&m, format);
	import_note(report, IMPORT_ASSUMED, "cluster", "%s",
		    machine ? machine : "dgx-h100");
	good = mapped_begin(&made, format->stack, error) &&
	       (!machine || library_cluster(&made.cluster, machine, error)) &&
	       format->read_model(&m) && mapping_read(&m, format->rows) &&
	       format->read_rest(&m);
	pairs_free(pairs);
	if (good)
		*out = made;
	return good;
}

bool word_among(const char *word, const char *const *words)
{
	while (words && *words && strcmp(*words, word) != 0)
		words++;
	return words && *words;
}

bool mapping_has(const struct mapping *rows, const char *knob)
{
	for (const struct mapping *row = rows; row->key; row++)
		if (strcmp(row->knob, knob) == 0)
			return true;
	return false;
}
