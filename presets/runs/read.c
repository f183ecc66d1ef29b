/* read.c - files of measured runs; see runs.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/library.h"
#include "presets/release.h"
#include "presets/runs/keys.h"
#include "presets/runs/places.h"

enum { MAX_FAULTS = 1000 };

void run_add_fault(struct run_set *set, const struct error *error)
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
		    (!mine && run_set_knob(&out->scenario, r->document, node, &error)))
			continue;
		good = false;
		run_add_fault(r->set, &error);
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
	run_add_fault(r->set, &error);
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

	if (!node || run_text_is(node, "null"))
		return 0;
	if (!node_number(r->document, node, &value, &error))
		run_add_fault(r->set, &error);
	else if (value <= 0) {
		error_set(&error, r->document->file, node->line,
			  "%s is %s; expected more than zero", key, node->text);
		run_add_fault(r->set, &error);
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
	out->fits = !run_text_is(node_get(map, "fits"), "false");
	out->memory_kind = run_text_is(kind, "allocated")  ? MEMORY_ALLOCATED
			   : run_text_is(kind, "reserved") ? MEMORY_RESERVED
							   : MEMORY_OTHER;
}

static void read_use(struct measured_run *out, const struct node *run)
{
	const struct node *use = node_get(run, "use");

	for (const struct node *n = use ? use->child : NULL; n; n = n->next) {
		out->scores_time |= run_text_is(n, "time") && out->step_seconds > 0;
		out->scores_memory |= run_text_is(n, "memory") && out->peak_bytes > 0;
		out->scores_fit |= run_text_is(n, "fit");
		for (int f = 0; f < SCORE_FIGURES; f++)
			out->scores_serving[f] |= run_text_is(n, score_words[f].use);
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
	/* one with a slash in it is a path */
	if (!release_of(release) || !release_is_known(release_of(release)) ||
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
	    (!check_degrees(r, run, &error) || !run_read_model(r, run, &error))) {
		run_add_fault(r->set, &error);
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
		run_add_fault(r->set, &error);
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
	r->base_good = run_read_cluster(r, group) && run_read_stack(r, group);
	if (!runs || runs->kind != NODE_LIST) {
		error_set(&error, r->document->file, group->line,
			  "the group has no list of runs");
		run_add_fault(r->set, &error);
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
	r->mode = run_text_is(node_get(document->root, "mode"), "inference")
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
