/* places.c - see places.h. */
#include "presets/runs/places.h"

#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/library.h"
#include "presets/model_file.h"
#include "presets/model_name.h"
#include "presets/release.h"

bool run_text_is(const struct node *node, const char *text)
{
	return node && node->kind == NODE_SCALAR && strcmp(node->text, text) == 0;
}

bool run_set_knob(struct scenario *s, const struct document *document,
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
bool run_read_cluster(struct reading *r, const struct node *group)
{
	const struct node *map = node_get(group, "cluster"), *name;
	struct error error, inner;

	name = map ? node_get(map, "accelerator") : NULL;
	if (!name || name->kind != NODE_SCALAR) {
		error_set(&error, r->document->file, map ? map->line : group->line,
			  "cluster has no accelerator; "
			  "expected a name such as h100-sxm-80g");
		run_add_fault(r->set, &error);
		return false;
	}
	if (!library_accelerator(&r->base.cluster, name->text, &inner)) {
		error_set(&error, r->document->file, name->line, "%s", inner.text);
		run_add_fault(r->set, &error);
		return false;
	}
	for (const struct node *node = map->child; node; node = node->next)
		if (node != name && !run_text_is(node, "null") &&
		    !run_set_knob(&r->base, r->document, node, &error))
			run_add_fault(r->set, &error);
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

bool run_read_stack(struct reading *r, const struct node *group)
{
	const struct node *stack = node_get(group, "stack");
	const char *name = stack && stack->kind == NODE_SCALAR ? stack->text : "";
	struct error error;

	if (stack && preset_find(PRESET_STACK, name)) {
		if (read_measured_stack(r, group, name, &error))
			return true;
		run_add_fault(r->set, &error);
		return false;
	}
	error_set(&error, r->document->file, stack ? stack->line : group->line,
		  "%s%.40s%s; expected one of `shardscope list stacks` (generic where "
		  "none is like it), so the group is not predicted",
		  stack ? "unknown stack '" : "no stack", stack ? name : "",
		  stack ? "'" : "");
	run_add_fault(r->set, &error);
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
	run_add_fault(r->set, &error);
}

/* A shape of this file, or a shipped model. */
bool run_read_model(struct reading *r, const struct node *run, struct error *error)
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
