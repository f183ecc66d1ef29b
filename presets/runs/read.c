/* read.c - files of measured runs; see runs.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/library.h"
#include "presets/model_file.h"
#include "presets/model_name.h"
#include "presets/release.h"
#include "presets/runs/keys.h"

enum { MAX_FAULTS = 1000 };

/* One file being read. */
struct reading {
	struct run_set *set;
	const struct document *document;
	const struct node *models;
	int mode;             /* enum plan_mode */
	struct scenario base; /* of the group: cluster, stack and its defaults */
	bool base_good;
	struct model model; /* the last one read, most runs in a row share it */
	const struct node *shape;
	const char *model_name;
};

static void add_fault(struct run_set *set, const struct error *error)
{
	struct error *more;

	if (set->faults >= MAX_FAULTS)
		return;
	more = realloc(set->fault, (size_t)(set->faults + 1) * sizeof *more);
	if (!more)
		return;
	set->fault = more;
	set->fault[set->faults++] = *error;
}

static struct measured_run *add_run(struct run_set *set)
{
	if (set->count == set->room) {
		int room = set->room ? 2 * set->room : 256;
		struct measured_run *more =
			realloc(set->run, (size_t)room * sizeof *more);

		if (!more)
			return NULL;
		set->run = more;
		set->room = room;
	}
	memset(&set->run[set->count], 0, sizeof *set->run);
	return &set->run[set->count++];
}

static bool text_is(const struct node *node, const char *text)
{
	return node && node->kind == NODE_SCALAR && strcmp(node->text, text) == 0;
}

static bool set_knob(struct scenario *s, const struct document *document,
		     const struct node *node, struct error *error)
{
	const struct knob *knob = knob_find(node->key);
	const char *near = knob_nearest_key(node->key);
	char why[256] = "expected a value";

	if (!knob)
		return error_set(error, document->file, node->line,
				 "unknown key '%.60s'%s%s%s; expected a "
				 "knob or a word of tests/validation/README.md, "
				 "so the run is not predicted",
				 node->key, near ? "; did you mean " : "",
				 near ? near : "", near ? "?" : "");
	if (node->kind == NODE_SCALAR &&
	    knob_parse(s, knob, node->text, why, sizeof why))
		return true;
	return error_set(error, document->file, node->line, "%s: %s", node->key, why);
}

/* The shipped cluster with that accelerator, and what the file says of it. */
static bool read_cluster(struct reading *r, const struct node *group)
{
	const struct node *map = node_get(group, "cluster"), *name;
	struct error error, inner;

	name = map ? node_get(map, "accelerator") : NULL;
	if (!name || name->kind != NODE_SCALAR) {
		error_set(&error, r->document->file, map ? map->line : group->line,
			  "cluster has no accelerator; "
			  "expected a name such as h100-sxm-80g");
		add_fault(r->set, &error);
		return false;
	}
	if (!library_accelerator(&r->base.cluster, name->text, &inner)) {
		error_set(&error, r->document->file, name->line, "%s", inner.text);
		add_fault(r->set, &error);
		return false;
	}
	for (const struct node *node = map->child; node; node = node->next)
		if (node != name && !text_is(node, "null") &&
		    !set_knob(&r->base, r->document, node, &error))
			add_fault(r->set, &error);
	return true;
}

/* The release that was measured: the one of the first day, or by its version. The day
 * first: a version may be that of the image around the server (Dynamo's). Stacks that
 * know of no releases are as they are. */
static bool read_measured_stack(struct reading *r, const struct node *group,
				const char *name, struct error *error)
{
	static const char *const keys[] = { "dates", "version" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const struct node *node = node_get(group, keys[i]);
		struct scenario made = r->base;
		struct error ignored;
		char release[2 * MAX_NAME];

		if (!node || node->kind != NODE_SCALAR)
			continue;
		/* of "2025-10-29..2025-11-02" the first */
		snprintf(release, sizeof release, "%.60s@%.*s", name,
			 (int)strcspn(node->text, ".") == 10 ? 10 : 40, node->text);
		if (!release_is_known(release_of(release)) ||
		    !library_stack(&made, release, &ignored))
			continue;
		r->base = made;
		return true;
	}
	return library_stack(&r->base, name, error);
}

static bool read_stack(struct reading *r, const struct node *group)
{
	const struct node *stack = node_get(group, "stack");
	const char *name = stack && stack->kind == NODE_SCALAR ? stack->text : "";
	struct error error;

	if (stack && preset_find(PRESET_STACK, name)) {
		if (read_measured_stack(r, group, name, &error))
			return true;
		add_fault(r->set, &error);
		return false;
	}
	error_set(&error, r->document->file, stack ? stack->line : group->line,
		  "%s%.40s%s; expected one of `shardscope list stacks` (generic where "
		  "none is like it), so the group is not predicted",
		  stack ? "unknown stack '" : "no stack", stack ? name : "",
		  stack ? "'" : "");
	add_fault(r->set, &error);
	return false;
}

/* Whether a model of the library is what a shape states of it. */
static bool agrees(const struct node *shape, const struct model *stated,
		   const struct model *known)
{
	const struct attention *a = &stated->kind[0].attention,
			       *b = &known->kind[0].attention;

	return stated->hidden == known->hidden && stated->layers == known->layers &&
	       stated->moe.experts == known->moe.experts &&
	       (!node_get(shape, "heads") ||
		(a->heads == b->heads && a->kv_heads == b->kv_heads)) &&
	       (!node_get(shape, "ffn") || stated->kind[0].ffn == known->kind[0].ffn);
}

/* A shape without its vocabulary under the name of a model of the library, which agrees
 * in all that is stated, is that model; the rest is taken from there, and said. */
static void complete(struct reading *r, const struct node *shape, const char *name)
{
	const struct preset *found = preset_find(PRESET_MODEL, name);
	struct model known;
	struct error error;

	if (!found)
		found = model_name_find(name);
	if (!found || node_get(shape, "vocab") || node_get(shape, "like") ||
	    !library_model(&known, found->name, &error) ||
	    !agrees(shape, &r->model, &known) ||
	    !model_read_like(r->document, shape, found->name, &known, &error))
		return;
	r->model = known;
	error_set(&error, r->document->file, shape->line,
		  "%.60s states no vocabulary; that and what else it leaves out is "
		  "taken from the library's %s",
		  name, found->name);
	for (int i = 0; i < r->set->faults; i++)
		if (strcmp(r->set->fault[i].text, error.text) == 0)
			return;
	add_fault(r->set, &error);
}

/* A shape of this file, or a shipped model. */
static bool read_model(struct reading *r, const struct node *run, struct error *error)
{
	const struct node *name = node_get(run, "model"), *shape;
	struct error inner;

	if (!name || name->kind != NODE_SCALAR)
		return error_set(error, r->document->file, run->line,
				 "the run names no model");
	if (r->model_name && strcmp(r->model_name, name->text) == 0)
		return true;
	shape = r->models ? node_get(r->models, name->text) : NULL;
	memset(&r->model, 0, sizeof r->model);
	r->model_name = NULL;
	r->shape = shape;
	if (shape && !model_read(r->document, shape, &r->model, NULL, error))
		return false;
	if (shape)
		complete(r, shape, name->text);
	if (!shape && !library_model(&r->model, name->text, &inner))
		return error_set(error, r->document->file, name->line, "%s",
				 inner.text);
	if (shape)
		snprintf(r->model.name, sizeof r->model.name, "%.*s", MAX_NAME - 1,
			 name->text);
	r->model_name = name->text;
	return true;
}

static bool is_label(const char *key)
{
	return strcmp(key, "id") == 0 || strcmp(key, "model") == 0 ||
	       strcmp(key, "dp") == 0 || strcmp(key, "measured") == 0 ||
	       strcmp(key, "use") == 0;
}

/* Every key of the run; false if one can't be used. */
static bool read_keys(struct reading *r, struct measured_run *out,
		      const struct node *run)
{
	bool good = true;

	for (const struct node *node = run->child; node; node = node->next) {
		struct error error;
		bool mine = false;

		if (is_label(node->key) ||
		    run_key_read(out, r->document, node, &mine, &error) ||
		    (!mine && set_knob(&out->scenario, r->document, node, &error)))
			continue;
		good = false;
		add_fault(r->set, &error);
	}
	return good;
}

/* The run's own keys, and Megatron's arguments where it has them. */
static bool read_plan(struct reading *r, struct measured_run *out,
		      const struct node *run)
{
	struct error error;

	if (!read_keys(r, out, run))
		return false;
	if (!node_get(run, "megatron_args"))
		return true;
	if (run_amend(out, r->document, run, r->shape, &error))
		return read_keys(r, out, run);
	add_fault(r->set, &error);
	return false;
}

/* Without these a run can't be told from another. */
static bool check_degrees(const struct reading *r, const struct node *run,
			  struct error *error)
{
	static const char *const training[] = { "gpus", "tp", "pp", "gbs", "seq" };
	static const char *const inference[] = { "gpus", "tp", "pp", "prompt",
						 "output" };
	const char *const *needed =
		r->base.plan.mode == MODE_INFERENCE ? inference : training;

	for (size_t i = 0; i < sizeof training / sizeof training[0]; i++)
		if (!node_get(run, needed[i]))
			return error_set(error, r->document->file, run->line,
					 "the run states no %s; it is not predicted",
					 needed[i]);
	return true;
}

static bool check_dp(const struct reading *r, const struct measured_run *out,
		     const struct node *run, struct error *error)
{
	const struct node *node = node_get(run, "dp");
	int64_t stated = 0, dp = scenario_dp(&out->scenario);

	if (!node)
		return true;
	if (!node_count(r->document, node, &stated, error))
		return false;
	return stated == dp ||
	       error_set(error, r->document->file, node->line,
			 "dp is %lld, but gpus / (tp * cp * pp) makes it %lld",
			 (long long)stated, (long long)dp);
}

static double number(const struct reading *r, const struct node *map, const char *key)
{
	const struct node *node = node_get(map, key);
	struct error error;
	double value = 0;

	if (!node || text_is(node, "null"))
		return 0;
	if (!node_number(r->document, node, &value, &error))
		add_fault(r->set, &error);
	else if (value <= 0) {
		error_set(&error, r->document->file, node->line,
			  "%s is %s; expected more than zero", key, node->text);
		add_fault(r->set, &error);
	}
	return value > 0 ? value : 0;
}

/* A step follows from a rate where only that was printed. */
static void read_measured(struct reading *r, struct measured_run *out,
			  const struct node *run)
{
	const struct node *map = node_get(run, "measured"), *kind;
	const struct plan *plan = &out->scenario.plan;
	double rate;

	out->fits = true;
	if (!map || map->kind != NODE_MAP)
		return;
	kind = node_get(map, "memory_kind");
	out->step_seconds = number(r, map, "step_seconds");
	out->peak_bytes = number(r, map, "peak_memory_gib") * 1073741824.0;
	for (int f = 0; f < SCORE_FIGURES; f++)
		out->serving[f] = number(r, map, score_words[f].measured);
	out->requests = (int)fmin(number(r, map, "requests"), 1e6);
	rate = number(r, map, "tokens_per_second_per_gpu") *
	       (double)out->scenario.cluster.gpus;
	if (out->step_seconds <= 0 && rate > 0)
		out->step_seconds =
			(double)plan->global_batch * (double)plan->seq_len / rate;
	out->fits = !text_is(node_get(map, "fits"), "false");
	out->memory_kind = text_is(kind, "allocated")  ? MEMORY_ALLOCATED
			   : text_is(kind, "reserved") ? MEMORY_RESERVED
						       : MEMORY_OTHER;
}

static void read_use(struct measured_run *out, const struct node *run)
{
	const struct node *use = node_get(run, "use");

	for (const struct node *n = use ? use->child : NULL; n; n = n->next) {
		out->scores_time |= text_is(n, "time") && out->step_seconds > 0;
		out->scores_memory |= text_is(n, "memory") && out->peak_bytes > 0;
		out->scores_fit |= text_is(n, "fit");
		for (int f = 0; f < SCORE_FIGURES; f++)
			out->scores_serving[f] |= text_is(n, score_words[f].use);
	}
}

/* Lengths of a group that were drawn evenly between two shares of what its runs state:
 * prompt and output are those of the mean request. */
static void draw_lengths(struct reading *r, const struct node *group,
			 struct scenario *s)
{
	const struct node *map = node_get(group, "lengths");
	struct serving_plan *v = &s->plan.serving;
	double from, to, mean;

	if (!map || map->kind != NODE_MAP)
		return;
	from = number(r, map, "from");
	to = number(r, map, "to");
	mean = (from + to) / 2;
	if (from <= 0 || to < from)
		return;
	v->prompt_len = (int64_t)((double)v->prompt_len * mean + 0.5);
	v->output_len = (int64_t)((double)v->output_len * mean + 0.5);
	v->length_spread = (to - from) / (to + from);
}

/* "25.11", "26.02.01": NVIDIA names its containers by year and month. The day is
 * unknown: the first, so that nothing is assumed that came later. */
static bool date_of_container(const char *version, char out[24])
{
	int year, month;
	char end;

	if (sscanf(version, "%2d.%2d%c", &year, &month, &end) < 2 || year < 20 ||
	    month < 1 || month > 12 || strlen(version) < 5)
		return false;
	snprintf(out, 24, "20%02d-%02d-01", year, month);
	return true;
}

/* The stack as it was in the software that the run states, under its plain name. Stacks
 * that know of no releases are as they are. */
static void take_release(const struct reading *r, struct measured_run *out,
			 const struct node *run)
{
	const struct node *version = node_get(run, "software_version");
	struct scenario made = r->base;
	char name[MAX_NAME], release[2 * MAX_NAME], date[24];
	struct error ignored;

	if (!version || version->kind != NODE_SCALAR || release_of(made.stack.name))
		return;
	snprintf(name, sizeof name, "%s", made.stack.name);
	snprintf(release, sizeof release, "%s@%.40s", name,
		 date_of_container(version->text, date) ? date : version->text);
	if (!release_is_known(release_of(release)) ||
	    !library_stack(&made, release, &ignored))
		return;
	snprintf(made.stack.name, sizeof made.stack.name, "%s", name);
	out->scenario = made;
}

static bool read_run(struct reading *r, const struct node *group,
		     const struct node *run)
{
	struct measured_run *out = add_run(r->set);
	const struct node *id = node_get(run, "id");
	struct error error;

	if (!out)
		return false;
	snprintf(out->id, sizeof out->id, "%s",
		 id && id->kind == NODE_SCALAR ? id->text : "unnamed");
	error_clean(out->id);
	out->source = r->set->sources - 1;
	out->group = r->set->groups - 1;
	out->scenario = r->base;
	out->readable = r->base_good;
	if (out->readable)
		take_release(r, out, run);
	if (out->readable &&
	    (!check_degrees(r, run, &error) || !read_model(r, run, &error))) {
		add_fault(r->set, &error);
		out->readable = false;
	}
	if (out->readable) {
		out->scenario.model = r->model;
		out->readable = read_plan(r, out, run);
		if (out->scenario.plan.mode == MODE_TRAINING)
			run_settle(out, run, r->shape);
		else
			draw_lengths(r, group, &out->scenario);
	}
	if (out->readable && !check_dp(r, out, run, &error)) {
		add_fault(r->set, &error);
		out->readable = false;
	}
	out->states_share = node_get(run, "memory_share") != NULL;
	read_measured(r, out, run);
	read_use(out, run);
	return true;
}

static bool read_group(struct reading *r, const struct node *group)
{
	const struct node *runs = node_get(group, "runs");
	struct error error;

	r->set->groups++;
	scenario_defaults(&r->base);
	r->base.plan.mode = r->mode;
	r->base_good = read_cluster(r, group) && read_stack(r, group);
	if (!runs || runs->kind != NODE_LIST) {
		error_set(&error, r->document->file, group->line,
			  "the group has no list of runs");
		add_fault(r->set, &error);
		return true;
	}
	for (const struct node *run = runs->child; run; run = run->next)
		if (run->kind == NODE_MAP && !read_run(r, group, run))
			return false;
	return true;
}

/* "tests/validation/papers.yaml" -> "papers" */
static bool name_source(struct run_set *set, const char *path)
{
	const char *base = strrchr(path, '/');
	char(*more)[MAX_NAME] =
		realloc(set->source, (size_t)(set->sources + 1) * sizeof *more);
	size_t length;

	if (!more)
		return false;
	base = base ? base + 1 : path;
	length = strcspn(base, ".");
	if (length == 0)
		length = strlen(base);
	set->source = more;
	snprintf(more[set->sources++], MAX_NAME, "%.*s", (int)length, base);
	return true;
}

static bool read_document(struct run_set *set, const struct document *document,
			  struct error *error)
{
	const struct node *groups = node_get(document->root, "groups");
	struct reading *r;
	bool good = true;

	if (!groups || groups->kind != NODE_LIST)
		return error_set(
			error, document->file, document->root->line,
			"no list of groups; expected measured runs in the form "
			"of tests/validation");
	r = calloc(1, sizeof *r);
	if (!r || !name_source(set, document->file)) {
		free(r);
		return error_set(error, document->file, 0, "out of memory");
	}
	r->set = set;
	r->document = document;
	r->models = node_get(document->root, "models");
	r->mode = text_is(node_get(document->root, "mode"), "inference")
			  ? MODE_INFERENCE
			  : MODE_TRAINING;
	for (const struct node *group = groups->child; group && good;
	     group = group->next)
		if (group->kind == NODE_MAP)
			good = read_group(r, group);
	free(r);
	return good || error_set(error, document->file, 0, "out of memory");
}

bool runs_parse(struct run_set *set, const char *name, const char *text, size_t length,
		struct error *error)
{
	struct document document;
	bool good;

	if (!document_parse(&document, name, text, length, error))
		return false;
	good = read_document(set, &document, error);
	document_free(&document);
	return good;
}

bool runs_read(struct run_set *set, const char *path, struct error *error)
{
	struct document document;
	bool good;

	if (!document_read(&document, path, error))
		return false;
	good = read_document(set, &document, error);
	document_free(&document);
	return good;
}

void runs_free(struct run_set *set)
{
	free(set->run);
	free(set->source);
	free(set->fault);
	memset(set, 0, sizeof *set);
}
