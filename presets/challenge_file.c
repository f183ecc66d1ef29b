/* challenge_file.c - reads challenges; see challenge_file.h. */
#include "presets/challenge_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/knob/knob.h"
#include "presets/data.h"
#include "presets/document.h"
#include "presets/folder.h"
#include "presets/formats.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "presets/stream.h"

enum { FORMAT = 1 };

static const char kind[] = "challenges";

/* What is read, and from where. */
struct reading {
	const struct document *document;
	struct challenge *out;
	struct error *error;
};

static bool complain(const struct reading *r, const struct node *node, const char *what)
{
	return error_set(r->error, r->document->file, node->line, "%s", what);
}

static bool is_known(const char *key)
{
	static const char *const keys[] = { "format", "title",    "goal",   "hint",
					    "source", "aim",      "script", "text",
					    "reader", "scenario", "turn" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

static bool set_knob(const struct reading *r, struct scenario *s,
		     const struct node *node)
{
	const struct knob *knob = knob_find(node->key);
	char why[256];

	if (!knob || node->kind != NODE_SCALAR)
		return complain(r, node, knob ? "expected a value" : "this is no knob");
	return knob_parse(s, knob, node->text, why, sizeof why) ||
	       complain(r, node, why);
}

/* model, cluster and stack of a scenario that begins as a plan or as a script. */
static bool set_base(const struct reading *r, struct scenario *s,
		     const struct node *node, bool *known)
{

	*known = true;
	if (strcmp(node->key, "plan") == 0)
		return true;
	if (strcmp(node->key, "model") == 0)
		return library_model_node(&s->model, r->document, node, r->error);
	if (strcmp(node->key, "cluster") == 0)
		return library_cluster_node(&s->cluster, r->document, node, r->error);
	if (strcmp(node->key, "stack") == 0)
		return library_stack_node(s, r->document, node, r->error);
	*known = false;
	return true;
}

/* {plan: NAME, gbs: 64}; of a script what it leaves open. */
static bool read_scenario(const struct reading *r, const struct node *map,
			  struct scenario *s)
{
	const struct node *plan = node_get(map, "plan");
	bool known;

	if (map->kind != NODE_MAP)
		return complain(r, map, "expected a scenario: {plan: NAME, gbs: 64}");
	if (plan && !scenario_read(s, plan->text ? plan->text : "", NULL, r->error))
		return false;
	for (const struct node *node = map->child; node; node = node->next)
		if (!set_base(r, s, node, &known) || (!known && !set_knob(r, s, node)))
			return false;
	return true;
}

static bool read_script(const struct reading *r, const struct node *map,
			struct scenario *s)
{
	const struct node *reader = node_get(map, "reader"),
			  *text = node_get(map, "text");
	const struct format *format =
		reader && reader->text ? format_find(reader->text) : NULL;
	struct import_report *report;
	bool good;

	if (!format || !text || text->kind != NODE_SCALAR)
		return complain(r, map,
				"expected a script: {reader: megatron, text: ...}");
	if (strlen(text->text) >= sizeof r->out->script)
		return complain(r, text, "the script is too long");
	strcpy(r->out->script, text->text);
	snprintf(r->out->format, sizeof r->out->format, "%s", format->name);
	report = calloc(1, sizeof *report);
	if (!report)
		return complain(r, map, "out of memory");
	/* what the script does not name is the caller's, as with import --model */
	if (node_get(map, "model") && node_get(map, "model")->text)
		snprintf(report->model, sizeof report->model, "%s",
			 node_get(map, "model")->text);
	good = format->in.read(s, r->out->name, text->text, strlen(text->text), report,
			       r->error);
	free(report);
	return good;
}

static bool read_turn(const struct reading *r, const struct node *map)
{
	struct planner_problem *p = &r->out->problem;

	if (!map || map->kind != NODE_MAP || !map->child)
		return complain(
			r, map ? map : r->document->root,
			"expected the knobs that turn: {tp: \"1,2,4\", pp: 1..8}");
	for (const struct node *node = map->child; node; node = node->next) {
		const struct knob *knob = knob_find(node->key);
		struct planner_problem one = { .base = p->base };
		char why[256];

		if (!knob || node->kind != NODE_SCALAR)
			return complain(r, node, "expected a knob and its values");
		/* one axis of a problem of its own, as a person types a pin */
		if (!planner_pin(&one, knob, (double[]){ 0 }, 1) ||
		    !planner_pin_text(&one, knob, node->text, why, sizeof why))
			return complain(r, node, why);
		if (!planner_pin(p, knob, one.axis[0].value, one.axis[0].count))
			return complain(r, node, "too many knobs turn");
	}
	return true;
}

static bool read_text(const struct reading *r, const char *key, char *out, size_t size)
{
	const struct node *node = node_get(r->document->root, key);

	return node ? node_text(r->document, node, out, size, r->error)
		    : error_set(r->error, r->document->file, 1,
				"%s is missing; presets/challenges/README.md has the "
				"keys",
				key);
}

static bool read_aim(const struct reading *r, const struct node *node)
{
	r->out->problem.objective =
		node && node->text ? objective_find(node->text) : OBJECTIVE_COUNT;
	return r->out->problem.objective < OBJECTIVE_GPUS ||
	       complain(r, node ? node : r->document->root,
			"aim: expected step, throughput, cost or memory");
}

static bool read_start(const struct reading *r)
{
	const struct node *root = r->document->root, *script = node_get(root, "script"),
			  *scenario = node_get(root, "scenario");
	struct scenario *base = &r->out->problem.base;

	if (script && !read_script(r, script, base))
		return false;
	if (!script &&
	    (!scenario || scenario->kind != NODE_MAP || !node_get(scenario, "plan")))
		return complain(r, scenario ? scenario : root,
				"expected scenario: {plan: NAME, ...} or a script");
	return !scenario || read_scenario(r, scenario, base);
}

static bool read_all(const struct reading *r)
{
	const struct node *root = r->document->root, *format = node_get(root, "format");
	struct challenge *c = r->out;

	if (root->kind != NODE_MAP)
		return complain(r, root, "a challenge is a mapping of keys and values");
	for (const struct node *node = root->child; node; node = node->next)
		if (!is_known(node->key))
			return complain(r, node, "unknown key");
	if (!format || format->kind != NODE_SCALAR || strcmp(format->text, "1") != 0)
		return complain(r, format ? format : root, "expected format: 1");
	scenario_defaults(&c->problem.base);
	c->problem.top = 1;
	return read_text(r, "title", c->title, sizeof c->title) &&
	       read_text(r, "goal", c->goal, sizeof c->goal) &&
	       read_text(r, "hint", c->hint, sizeof c->hint) &&
	       read_text(r, "source", c->source, sizeof c->source) &&
	       read_aim(r, node_get(root, "aim")) && read_start(r) &&
	       read_turn(r, node_get(root, "turn"));
}

bool challenge_parse(struct challenge *out, const char *name, const char *file,
		     const char *text, size_t length, struct error *error)
{
	struct document document;
	struct reading r = { &document, out, error };
	bool good;

	memset(out, 0, sizeof *out);
	snprintf(out->name, sizeof out->name, "%.*s", MAX_NAME - 1, name);
	error_clean(out->name);
	if (!document_parse(&document, file, text, length, error))
		return false;
	good = read_all(&r);
	document_free(&document);
	return good;
}

/* --- which there are ---------------------------------------------------------- */

static const struct preset_file *find_shipped(const char *name)
{
	for (const struct preset_file *f = presets_data; f->kind; f++)
		if (strcmp(f->kind, kind) == 0 && strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

/* In the user's folder; false if there is none of that name. */
static bool own_path(const char *name, char *out, size_t size)
{
	char folder[400];
	int length;

	if (strchr(name, '/') || !folder_config(folder, sizeof folder, kind))
		return false;
	length = snprintf(out, size, "%s/%s.yaml", folder, name);
	return length > 0 && (size_t)length < size;
}

enum { MOST = 1 << 20 }; /* bytes of a challenge */

static bool read_path(struct challenge *out, const char *path, struct error *error)
{
	const char *base = strrchr(path, '/');
	char name[MAX_NAME];
	size_t length;
	char *text = stream_read_file(path, MOST, &length, error);
	bool good;

	if (!text)
		return false;
	snprintf(name, sizeof name, "%.*s", MAX_NAME - 1, base ? base + 1 : path);
	name[strcspn(name, ".")] = '\0';
	good = challenge_parse(out, name, path, text, length, error);
	free(text);
	return good;
}

static bool has_ending(const char *path)
{
	const char *dot = strrchr(path, '.');

	return strchr(path, '/') ||
	       (dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0));
}

char *challenge_text(const char *name, struct error *error)
{
	const struct preset_file *file = find_shipped(name);
	char path[512], *text;
	size_t length;

	if (own_path(name, path, sizeof path) && access(path, F_OK) == 0)
		return stream_read_file(path, MOST, &length, error);
	if (!file)
		return NULL;
	text = strndup((const char *)file->text, file->length);
	if (!text)
		error_set(error, NULL, 0, "out of memory");
	return text;
}

bool challenge_read(struct challenge *out, const char *name, struct error *error)
{
	const struct preset_file *file = find_shipped(name);
	char path[512];
	FILE *own;

	if (has_ending(name))
		return read_path(out, name, error);
	if (own_path(name, path, sizeof path) && (own = fopen(path, "re"))) {
		fclose(own);
		return read_path(out, path, error);
	}
	if (file)
		return challenge_parse(out, name, name, (const char *)file->text,
				       file->length, error);
	return error_set(error, NULL, 0,
			 "no challenge '%.60s'; shardscope challenge list shows those "
			 "there are",
			 name);
}

struct names {
	char (*name)[MAX_NAME];
	int count;
};

static void add_name(void *context, const char *name)
{
	struct names *names = context;

	for (int i = 0; i < names->count; i++)
		if (strcmp(names->name[i], name) == 0)
			return;
	if (names->count < CHALLENGE_MOST && strlen(name) < MAX_NAME)
		strcpy(names->name[names->count++], name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

int challenge_names(char names[CHALLENGE_MOST][MAX_NAME])
{
	struct names all = { names, 0 };
	char folder[400];

	for (const struct preset_file *f = presets_data; f->kind; f++)
		if (strcmp(f->kind, kind) == 0)
			add_name(&all, f->name);
	if (folder_config(folder, sizeof folder, kind))
		folder_each(folder, add_name, &all);
	qsort(names, (size_t)all.count, MAX_NAME, by_name);
	return all.count;
}
