/* share.c - see share.h. */
#include "presets/share.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/library.h"
#include "presets/model_file.h"
#include "presets/scenario_file.h"
#include "presets/share_note.h"
#include "presets/share_signs.h"
#include "presets/stream.h"

enum { HALF = 5, CHECK = 2 * HALF };

static const char prefix[] = "s1:";

/* --- checks ------------------------------------------------------------------ */

/* Fowler, Noll, Vo: FNV-1a, 64 bits. */
static uint64_t hash(uint64_t h, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		h = (h ^ (unsigned char)text[i]) * 1099511628211u;
	return h;
}

static const uint64_t empty_hash = 14695981039346656037u;

/* Five signs of 5 bits each, without those that are read as others. */
static void spell(uint64_t h, char out[HALF])
{
	static const char signs[] = "0123456789abcdefghjkmnpqrstvwxyz";

	h ^= h >> 32;
	for (int i = 0; i < HALF; i++)
		out[i] = signs[h >> 5 * i & 31];
}

static void check_of_text(const char *text, size_t length, char out[HALF])
{
	spell(hash(empty_hash, text, length), out);
}

/* Of model and knobs as they are, of machine and stack by name: their constants follow
 * measurements. */
static bool check_of_scenario(const struct scenario *s, char out[HALF])
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	char value[MAX_LAYOUT + 8];
	bool good;

	if (!stream)
		return false;
	good = model_write(&s->model, stream);
	fprintf(stream, "\n%s\n%s\n", s->cluster.name, s->stack.name);
	for (int i = 0; i < knob_count(); i++) {
		knob_print(s, &knob_table[i], value, sizeof value);
		fprintf(stream, "%s=%s\n", knob_table[i].key, value);
	}
	if (!stream_end(stream, &text))
		return false;
	spell(hash(empty_hash, text, strlen(text)), out);
	free(text);
	return good;
}

/* --- reading ----------------------------------------------------------------- */

/* A name of what ships. One of a user's own presets would be another thing to everybody
 * else, and a path would be a file. */
static bool is_shipped(enum preset_kind kind, const char *name, struct error *error)
{
	const struct preset *list;
	int count = preset_list(kind, &list);

	for (int i = 0; i < count; i++) {
		if (strcmp(list[i].name, name) != 0)
			continue;
		return !list[i].own ||
		       error_set(error, NULL, 0,
				 "the line means the %s %.60s that ships, and a preset "
				 "of your own has this name; rename yours to open it",
				 preset_kind_label(kind), name);
	}
	return error_set(
		error, NULL, 0,
		"no '%.60s' among the %s of this shardscope; was the line made "
		"by a newer one?",
		name, preset_kind_label(kind));
}

static bool set_base(struct scenario *s, const char *key, const char *name, bool *known,
		     struct error *error)
{

	*known = true;
	if (strcmp(key, "model") == 0)
		return is_shipped(PRESET_MODEL, name, error) &&
		       library_model(&s->model, name, error);
	if (strcmp(key, "cluster") == 0)
		return is_shipped(PRESET_CLUSTER, name, error) &&
		       library_cluster(&s->cluster, name, error);
	if (strcmp(key, "stack") == 0)
		return is_shipped(PRESET_STACK, name, error) &&
		       library_stack(s, name, error);
	*known = false;
	return true;
}

static bool names_what_ships(const struct node *map, struct error *error)
{
	static const struct {
		const char *key;
		enum preset_kind kind;
	} bases[] = { { "model", PRESET_MODEL },
		      { "cluster", PRESET_CLUSTER },
		      { "stack", PRESET_STACK } };

	for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
		const struct node *node = node_get(map, bases[i].key);

		if (node && node->kind == NODE_SCALAR &&
		    !is_shipped(bases[i].kind, node->text, error))
			return false;
	}
	return true;
}

static bool read_yaml(struct scenario *out, const char *text, struct error *error)
{
	struct document document;
	bool good;

	if (!document_parse(&document, "the line", text, strlen(text), error))
		return false;
	good = names_what_ships(document.root, error) &&
	       scenario_from(out, &document, document.root, NULL, error);
	document_free(&document);
	return good;
}

static bool set_knob(struct scenario *s, const char *key, const char *value,
		     bool seen[MAX_KNOBS], struct error *error)
{
	const struct knob *knob = knob_find(key);
	char why[256];

	if (!knob || strcmp(knob->key, key) != 0)
		return error_set(error, NULL, 0,
				 "the line sets '%.40s', which this shardscope has "
				 "not; was it made by a newer one?",
				 key);
	if (seen[knob - knob_table])
		return error_set(error, NULL, 0, "the line sets %s twice", key);
	seen[knob - knob_table] = true;
	return knob_parse(s, knob, value, why, sizeof why) ||
	       error_set(error, NULL, 0, "the line: %s", why);
}

/* "tp=4" */
static bool read_field(struct scenario *s, char *field, bool seen[MAX_KNOBS],
		       struct import_report *report, struct error *error)
{
	char *equals = strchr(field, '=');
	bool known;

	if (!equals || equals == field)
		return error_set(error, NULL, 0,
				 "'%.40s' of the line sets nothing; expected as tp=4",
				 field);
	*equals++ = '\0';
	if (!share_unescape(equals))
		return error_set(error, NULL, 0, "%s: a %% of the line stands alone",
				 field);
	if (share_note_is(field, strlen(field)))
		return share_note_read(field, equals, report, error);
	if (!set_base(s, field, equals, &known, error))
		return false;
	return known || set_knob(s, field, equals, seen, error);
}

/* All but the prefix and the checks; the text is cut up. */
static bool read_body(struct scenario *out, char *text, struct import_report *report,
		      struct error *error)
{
	bool seen[MAX_KNOBS] = { false }, whole;
	char *rest = text, *field = strsep(&rest, ",");
	struct scenario made;

	whole = strncmp(field, "yaml=", 5) == 0;
	if (whole) {
		if (!share_unescape(field + 5))
			return error_set(error, NULL, 0, "the line's yaml is damaged");
		if (!read_yaml(&made, field + 5, error))
			return false;
	} else if (strcmp(field, "-") == 0)
		scenario_defaults(&made);
	else if (!is_shipped(PRESET_PLAN, field, error) ||
		 !scenario_read(&made, field, NULL, error))
		return false;
	while ((field = strsep(&rest, ",")))
		if (whole && !share_note_is(field, strcspn(field, "=")))
			return error_set(error, NULL, 0, "the line's yaml is damaged");
		else if (!read_field(&made, field, seen, report, error))
			return false;
	*out = made;
	return true;
}

bool share_is(const char *text)
{
	text += strspn(text, " \t\r\n");
	if (*text++ != 's' || !isdigit((unsigned char)*text))
		return false;
	return text[strspn(text, "0123456789")] == ':';
}

static bool check_form(const char *line, size_t length, struct error *error)
{
	if (!share_is(line))
		return error_set(error, NULL, 0,
				 "no shared scenario: expected a line that begins with "
				 "%s, as shardscope share prints it",
				 prefix);
	if (strncmp(line, prefix, strlen(prefix)) != 0)
		return error_set(
			error, NULL, 0, "a line of form %.*s; this shardscope reads %s",
			(int)strcspn(line, ":") > 12 ? 12 : (int)strcspn(line, ":"),
			line, "s1");
	if (length > SHARE_MAX)
		return error_set(error, NULL, 0, "the line is longer than %d signs",
				 SHARE_MAX);
	for (size_t i = 0; i < length; i++)
		if (!share_is_plain(line[i]) && !strchr(",=%", line[i]))
			return error_set(error, NULL, 0,
					 "sign %zu of the line is none that share "
					 "prints; copy it once more, all of it",
					 i + 1);
	return true;
}

static bool check_end(const char *line, size_t length, struct error *error)
{
	char check[HALF];
	size_t body = length - CHECK - 1;

	if (length < strlen(prefix) + 2 + CHECK || line[body] != ',')
		return error_set(error, NULL, 0,
				 "the line is cut short: its end is no check of %d "
				 "signs; copy it once more, all of it",
				 CHECK);
	check_of_text(line, body, check);
	return memcmp(check, line + body + 1, HALF) == 0 ||
	       error_set(error, NULL, 0,
			 "the line is damaged: its check is not that of its text; copy "
			 "it once more, all of it");
}

bool share_read(struct scenario *out, const char *line, struct import_report *report,
		struct error *error)
{
	struct scenario made = { .plan = { 0 } };
	char *text, check[HALF];
	size_t length;
	bool good;

	line += strspn(line, " \t\r\n");
	length = strlen(line);
	while (length > 0 && isspace((unsigned char)line[length - 1]))
		length--;
	if (!check_form(line, length, error) || !check_end(line, length, error))
		return false;
	text = strndup(line, length - CHECK - 1);
	if (!text)
		return error_set(error, NULL, 0, "out of memory");
	good = read_body(&made, text + strlen(prefix), report, error);
	free(text);
	if (!good)
		return false;
	if (!check_of_scenario(&made, check))
		return error_set(error, NULL, 0, "out of memory");
	if (memcmp(check, line + length - HALF, HALF) != 0)
		return error_set(error, NULL, 0,
				 "the line makes another scenario here than where it "
				 "was made: its plan, model or defaults differ between "
				 "the two versions; ask for the file");
	if (report)
		share_note_fill(report, &made);
	*out = made;
	return true;
}

/* --- writing ----------------------------------------------------------------- */

/* The fields of what is not as in the base; the base ends as what they make of it. */
static void put_bases(FILE *stream, struct scenario *base, const struct scenario *s,
		      struct error *error)
{

	if (memcmp(&base->model, &s->model, sizeof s->model) != 0 &&
	    library_model(&base->model, s->model.name, error)) {
		fputs(",model=", stream);
		share_put(stream, s->model.name);
	}
	if (strcmp(base->cluster.name, s->cluster.name) != 0 &&
	    library_cluster(&base->cluster, s->cluster.name, error)) {
		fputs(",cluster=", stream);
		share_put(stream, s->cluster.name);
	}
	if (strcmp(base->stack.name, s->stack.name) != 0 &&
	    library_stack(base, s->stack.name, error)) {
		fputs(",stack=", stream);
		share_put(stream, s->stack.name);
	}
}

/* NULL: out of memory, which the error says too where a preset was not read for it. */
static char *write_from(const char *plan, struct scenario *base,
			const struct scenario *s, struct error *error)
{
	char value[MAX_LAYOUT + 8], *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	fputs(prefix, stream);
	fputs(plan, stream);
	put_bases(stream, base, s, error);
	for (int i = 0; i < knob_count(); i++) {
		if (knob_same(base, s, &knob_table[i]))
			continue;
		knob_print(s, &knob_table[i], value, sizeof value);
		fprintf(stream, ",%s=", knob_table[i].key);
		share_put(stream, value);
	}
	return stream_end(stream, &text);
}

static char *write_yaml(const struct scenario *s)
{
	char *yaml = scenario_write_for_others(s), *text = NULL;
	size_t size = 0;
	FILE *stream = yaml ? open_memstream(&text, &size) : NULL;

	if (stream) {
		fprintf(stream, "%syaml=", prefix);
		share_put(stream, yaml);
	}
	free(yaml);
	return stream ? stream_end(stream, &text) : NULL;
}

/* Puts notes and checks behind a line and sees whether it is read back as the same;
 * NULL, and the line is freed, if it isn't. */
static char *finish(char *line, const struct scenario *s, const char *notes,
		    struct scenario *back, struct error *error)
{
	size_t own = line ? strlen(line) : 0, length = own + strlen(notes);
	char *whole = line ? realloc(line, length + CHECK + 2) : NULL;

	if (!whole) {
		free(line);
		error_set(error, NULL, 0, "out of memory");
		return NULL;
	}
	strcpy(whole + own, notes);
	whole[length] = ',';
	check_of_text(whole, length, whole + length + 1);
	whole[length + 1 + CHECK] = '\0';
	if (!check_of_scenario(s, whole + length + 1 + HALF))
		error_set(error, NULL, 0, "out of memory");
	else if (share_read(back, whole, NULL, error) &&
		 memcmp(back, s, sizeof *s) == 0)
		return whole;
	free(whole);
	return NULL;
}

static void keep_shorter(char **best, char *line)
{
	if (!line || (*best && strlen(*best) <= strlen(line))) {
		free(line);
		return;
	}
	free(*best);
	*best = line;
}

/* From the plan of this model that needs fewest signs, or from none. NULL with an error
 * that says so: memory ran out, and another line would not be the shortest. */
static char *write_nearest(const struct scenario *s, const char *notes,
			   struct scenario *base, struct error *error)
{
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list);
	char *best = NULL;

	for (int i = 0; i < count && !error_is_memory(error); i++)
		if (!list[i].own && strstr(list[i].text, s->model.name) &&
		    scenario_read(base, list[i].name, NULL, error) &&
		    strcmp(base->model.name, s->model.name) == 0)
			keep_shorter(&best,
				     finish(write_from(list[i].name, base, s, error), s,
					    notes, base, error));
	if (!error_is_memory(error)) {
		scenario_defaults(base);
		keep_shorter(&best, finish(write_from("-", base, s, error), s, notes,
					   base, error));
	}
	if (!error_is_memory(error))
		return best;
	free(best);
	return NULL;
}

char *share_write(const struct scenario *scenario, const struct import_report *report,
		  struct error *error)
{
	struct scenario *room = calloc(1, sizeof *room);
	char *notes = share_note_write(report);
	struct error why = { "" };
	char *line = room && notes ? write_nearest(scenario, notes, room, &why) : NULL;

	if (room && notes && !line && !error_is_memory(&why))
		line = finish(write_yaml(scenario), scenario, notes, room, &why);
	if (!room || !notes || (!line && error_is_memory(&why)))
		error_set(error, NULL, 0, "out of memory");
	else if (!line)
		error_set(error, NULL, 0,
			  "this scenario can't be told in one line; share its file "
			  "(export yaml)");
	free(notes);
	free(room);
	return line;
}
