/* lesson_file.c - see lesson_file.h. */
#include "presets/lesson_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/lesson_question.h"
#include "presets/library.h"
#include "presets/scenario_file.h"

enum { FORMAT = 1 };

/* --- small pieces ------------------------------------------------------------ */

bool lesson_prose_read(struct lesson_reading *r, const struct node *node,
		       struct lesson_prose *out)
{
	char *text;
	bool good;

	if (node->kind != NODE_SCALAR)
		return node_text(r->document, node, out->text, sizeof out->text,
				 r->error);
	text = strdup(node->text);
	if (!text)
		return error_set(r->error, NULL, 0, "out of memory");
	/* a block that keeps its last line's end, and blank lines between others */
	for (size_t i = strlen(text); i > 0 && strchr(" \n", text[i - 1]);)
		text[--i] = '\0';
	for (char *c = text; *c != '\0'; c++)
		*c = *c == '\n' ? ' ' : *c;
	struct node plain = *node;
	plain.text = text;
	out->place = node->line;
	good = node_text(r->document, &plain, out->text, sizeof out->text, r->error);
	free(text);
	return good;
}

bool lesson_formula_read(struct lesson_reading *r, const struct node *node,
			 struct lesson_formula *out)
{
	/* behind the quote */
	out->place = node->quoted ? lesson_place_move(node->line, 1) : node->line;
	return node_text(r->document, node, out->text, sizeof out->text, r->error);
}

int lesson_place_move(int place, int by)
{
	int column = place > 0 ? place >> 20 : 0;

	return column > 0 ? place_at(place_line(place), column + by) : place;
}

bool lesson_knob_read(struct lesson_reading *r, const struct node *node,
		      const char *name, const struct knob **out)
{
	const char *near;

	*out = knob_find(name);
	if (*out)
		return true;
	near = knob_nearest_key(name);
	return error_set(r->error, r->document->file, node->line,
			 "no knob '%.60s'%s%s%s", name, near ? "; did you mean " : "",
			 near ? near : "", near ? "?" : "");
}

bool lesson_complain(struct lesson_reading *r, const struct node *node,
		     const char *what)
{
	return error_set(r->error, r->document->file, node->line, "%s", what);
}

bool lesson_is(struct lesson_reading *r, const struct node *node, enum node_kind kind,
	       const char *what)
{
	return node->kind == kind || lesson_complain(r, node, what);
}

bool lesson_map(struct lesson_reading *r, const struct node *map,
		const struct lesson_key *keys, const char *what)
{
	char all[320] = "";
	size_t used = 0;

	if (!lesson_is(r, map, NODE_MAP, what))
		return false;
	for (const struct node *node = map->child; node; node = node->next) {
		const struct lesson_key *key = keys;

		while (key->key && strcmp(key->key, node->key) != 0)
			key++;
		if (key->key) {
			if (!key->read(r, node))
				return false;
			continue;
		}
		for (key = keys; key->key && used < sizeof all; key++)
			used += (size_t)snprintf(all + used, sizeof all - used, "%s%s",
						 used ? ", " : "", key->key);
		return error_set(r->error, r->document->file, node->line,
				 "unknown key '%.40s'; there are %s", node->key, all);
	}
	return true;
}

/* --- the lesson -------------------------------------------------------------- */

static bool read_format(struct lesson_reading *r, const struct node *node)
{
	int64_t format;

	return node_count(r->document, node, &format, r->error) &&
	       (format == FORMAT ||
		lesson_complain(r, node, "this shardscope reads lessons of format 1"));
}

static bool read_title(struct lesson_reading *r, const struct node *node)
{
	return node_text(r->document, node, r->lesson->title, sizeof r->lesson->title,
			 r->error);
}

static bool read_number(struct lesson_reading *r, const struct node *node)
{
	int64_t number;

	if (!node_count(r->document, node, &number, r->error))
		return false;
	if (number < 1 || number > 999)
		return lesson_complain(r, node, "a number from 1 to 999");
	r->lesson->number = (int)number;
	return true;
}

static bool read_idea(struct lesson_reading *r, const struct node *node)
{
	return lesson_prose_read(r, node, &r->lesson->idea);
}

static bool read_sources(struct lesson_reading *r, const struct node *list)
{
	if (!lesson_is(r, list, NODE_LIST, "expected a list of papers"))
		return false;
	for (const struct node *node = list->child; node; node = node->next) {
		if (r->lesson->sources == LESSON_SOURCES)
			return lesson_complain(r, node, "at most 4 sources");
		if (!node_text(r->document, node,
			       r->lesson->source[r->lesson->sources++], LESSON_LINE,
			       r->error))
			return false;
	}
	return true;
}

static bool is_base(const char *key)
{
	return strcmp(key, "plan") == 0 || strcmp(key, "model") == 0 ||
	       strcmp(key, "cluster") == 0 || strcmp(key, "stack") == 0;
}

/* A plan by name, or a model on a cluster with a stack. */
static bool read_base(struct lesson_reading *r, const struct node *map)
{
	const struct node *plan = node_get(map, "plan"),
			  *model = node_get(map, "model"),
			  *cluster = node_get(map, "cluster"),
			  *stack = node_get(map, "stack");
	struct scenario *s = &r->lesson->scenario;
	struct error why = { "" };
	bool good;

	if (!plan == !model)
		return lesson_complain(r, map,
				       "expected plan: NAME, or model: NAME with "
				       "cluster and stack");
	if (plan)
		good = lesson_is(r, plan, NODE_SCALAR, "expected a name") &&
		       scenario_read(s, plan->text, NULL, &why);
	else
		good = scenario_blank(s, model->text ? model->text : "",
				      cluster && cluster->text ? cluster->text
							       : "dgx-h100",
				      stack && stack->text ? stack->text : NULL, &why);
	if (!good && why.text[0] != '\0')
		return lesson_complain(r, plan ? plan : model, why.text);
	return good;
}

static bool read_scenario(struct lesson_reading *r, const struct node *map)
{
	char why[256];

	if (!lesson_is(r, map, NODE_MAP,
		       "expected a scenario: {plan: NAME, gbs: 16}") ||
	    !read_base(r, map))
		return false;
	for (const struct node *node = map->child; node; node = node->next) {
		const struct knob *knob;

		if (is_base(node->key))
			continue;
		if (!lesson_knob_read(r, node, node->key, &knob) ||
		    !lesson_is(r, node, NODE_SCALAR, "expected a value"))
			return false;
		if (!knob_parse(&r->lesson->scenario, knob, node->text, why,
				sizeof why))
			return lesson_complain(r, node, why);
	}
	return true;
}

static bool read_values(struct lesson_reading *r, const struct node *list,
			struct lesson_vary *vary)
{
	struct scenario *trial = malloc(sizeof *trial);
	char why[256];
	bool good = true;

	if (!trial)
		return error_set(r->error, NULL, 0, "out of memory");

	for (const struct node *node = list->child; node && good; node = node->next) {
		if (vary->count == LESSON_VALUES) {
			good = lesson_complain(r, node, "at most 12 values");
			break;
		}
		*trial = r->lesson->scenario;
		good = node_text(r->document, node, vary->value[vary->count],
				 sizeof vary->value[0], r->error) &&
		       (knob_parse(trial, vary->knob, vary->value[vary->count], why,
				   sizeof why) ||
			lesson_complain(r, node, why));
		vary->count++;
	}
	free(trial);
	return good;
}

static bool read_vary(struct lesson_reading *r, const struct node *map)
{
	if (!lesson_is(r, map, NODE_MAP, "expected knobs and values: {gbs: [16, 32]}"))
		return false;
	for (const struct node *node = map->child; node; node = node->next) {
		struct lesson_vary *vary = &r->lesson->vary[r->lesson->varies];

		if (r->lesson->varies == LESSON_VARIES)
			return lesson_complain(r, node, "at most 6 knobs vary");
		if (!lesson_knob_read(r, node, node->key, &vary->knob) ||
		    !lesson_is(r, node, NODE_LIST, "expected a list of values") ||
		    !read_values(r, node, vary))
			return false;
		if (vary->count == 0)
			return lesson_complain(r, node, "expected at least one value");
		r->lesson->varies++;
	}
	return true;
}

static bool read_where(struct lesson_reading *r, const struct node *node)
{
	return lesson_formula_read(r, node, &r->lesson->where);
}

/* `scenario` is read before all others: values are held against it. */
static bool skip(struct lesson_reading *r, const struct node *node)
{
	(void)r;
	(void)node;
	return true;
}

static const struct lesson_key lesson_keys[] = {
	{ "format", read_format },      { "title", read_title },
	{ "number", read_number },      { "idea", read_idea },
	{ "sources", read_sources },    { "scenario", skip },
	{ "vary", read_vary },          { "where", read_where },
	{ "steps", lesson_steps_read }, { NULL, NULL },
};

bool lesson_from(struct lesson *out, const struct document *document, const char *name,
		 struct error *error)
{
	struct lesson_reading r = { document, error, out, NULL };
	const struct node *scenario;

	memset(out, 0, sizeof *out);
	snprintf(out->name, sizeof out->name, "%.*s", MAX_NAME - 1, name);
	if (document->root->kind != NODE_MAP)
		return lesson_complain(&r, document->root,
				       "a lesson is a mapping of keys and values");
	scenario = node_get(document->root, "scenario");
	if (!node_get(document->root, "format") || !node_get(document->root, "title") ||
	    !scenario || !node_get(document->root, "steps"))
		return error_set(error, document->file, 1,
				 "a lesson has format, title, scenario and steps");
	return read_scenario(&r, scenario) &&
	       lesson_map(&r, document->root, lesson_keys, "a lesson is a mapping");
}

/* "9" is the ninth; else the name itself. */
static void resolve(const char *name, char out[MAX_NAME])
{
	char names[128][MAX_NAME];
	int count;

	snprintf(out, MAX_NAME, "%.*s", MAX_NAME - 1, name);
	if (name[0] == '\0' || strspn(name, "0123456789") != strlen(name))
		return;
	count = lesson_names(names, 128);
	if (atoi(name) >= 1 && atoi(name) <= count)
		memcpy(out, names[atoi(name) - 1], MAX_NAME);
}

/* The lesson's name: that of its file without folder and ending. */
static void name_of(const char *path, char out[MAX_NAME])
{
	const char *base = strrchr(path, '/');
	size_t length;

	base = base ? base + 1 : path;
	length = strcspn(base, ".");
	if (length >= MAX_NAME)
		length = MAX_NAME - 1;
	memcpy(out, base, length);
	out[length] = '\0';
	error_clean(out);
}

bool lesson_read(struct lesson *out, const char *name, struct error *error)
{
	struct document document;
	char found[MAX_NAME], own[MAX_NAME];
	bool good;

	resolve(name, found);
	if (!preset_open(PRESET_LESSON, strlen(name) < MAX_NAME ? found : name,
			 &document, error))
		return false;
	name_of(strlen(name) < MAX_NAME ? found : name, own);
	good = lesson_from(out, &document, own, error);
	document_free(&document);
	return good;
}

void lesson_fault_say(const struct lesson_fault *fault, const char *file,
		      struct error *error)
{
	error_set(error, file, lesson_place_move(fault->place, fault->at), "%s",
		  fault->text);
}
