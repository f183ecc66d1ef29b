/* scenario_file.c - see scenario_file.h. */
#include "presets/scenario_file.h"

#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/cluster_file.h"
#include "presets/library.h"
#include "presets/model_file.h"
#include "presets/stack_file.h"
#include "presets/stream.h"

enum { FORMAT = 1 };

static const char *usual_stack(const struct cluster *cluster)
{
	return cluster->training_stack[0] != '\0' ? cluster->training_stack
						  : SCENARIO_STACK;
}

bool scenario_blank(struct scenario *out, const char *model, const char *cluster,
		    const char *stack, struct error *error)
{
	struct scenario made;

	scenario_defaults(&made);
	if (!library_model(&made.model, model, error) ||
	    !library_cluster(&made.cluster, cluster, error) ||
	    !library_stack(&made, stack ? stack : usual_stack(&made.cluster), error))
		return false;
	*out = made;
	return true;
}

/* Keys that are no knobs. */
static bool is_known(const char *key)
{
	static const char *const keys[] = { "format",
					    "model",
					    "cluster",
					    "stack",
					    "release",
					    "title",
					    "source",
					    "note",
					    "dp",
					    "data_parallel",
					    "measured",
					    "measured_step_seconds",
					    "measured_output_tokens_per_second",
					    "measured_ttft_seconds",
					    "measured_tpot_seconds",
					    "kept",
					    "assumed",
					    "name",
					    "updated" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

static bool check_format(const struct document *document, const struct node *map,
			 struct error *error)
{
	const struct node *node = node_get(map, "format");
	int64_t format = FORMAT;

	if (node && !node_count(document, node, &format, error))
		return false;
	if (format < 1 || format > FORMAT)
		return error_set(error, document->file, node->line,
				 "format %lld; this shardscope reads format %d",
				 (long long)format, FORMAT);
	return true;
}

/* "stack: vllm" with "release: 0.19.1" is "stack: vllm@0.19.1". */
static bool read_release(struct scenario *out, const struct document *document,
			 const struct node *stack, const struct node *release,
			 struct error *error)
{
	struct error inner = { "" };
	char name[2 * MAX_NAME];

	if (!stack || stack->kind != NODE_SCALAR || release->kind != NODE_SCALAR)
		return error_set(error, document->file, release->line,
				 "release: expected one such as 0.19.1, beside the "
				 "name of a stack");
	snprintf(name, sizeof name, "%.60s@%.40s", stack->text, release->text);
	return library_stack(out, name, &inner) ||
	       error_set(error, document->file, release->line, "%s", inner.text);
}

const char *scenario_usual_stack(const struct node *map, const struct cluster *cluster)
{
	const struct node *mode = node_get(map, "mode");

	return mode && mode->kind == NODE_SCALAR && strcmp(mode->text, "inference") == 0
		       ? SCENARIO_SERVER
		       : usual_stack(cluster);
}

/* Model, cluster, stack: each needed, before any knob is set. */
static bool read_bases(struct scenario *out, const struct document *document,
		       const struct node *map, struct error *error)
{
	const struct node *model = node_get(map, "model"),
			  *cluster = node_get(map, "cluster"),
			  *stack = node_get(map, "stack"),
			  *release = node_get(map, "release");

	if (!model)
		return error_set(error, document->file, map->line,
				 "no model; expected model: NAME, a file or a mapping");
	if (!library_model_node(&out->model, document, model, error))
		return false;
	if (cluster) {
		if (!library_cluster_node(&out->cluster, document, cluster, error))
			return false;
	} else if (!library_cluster(&out->cluster, SCENARIO_CLUSTER, error)) {
		return false;
	}
	if (release)
		return read_release(out, document, stack, release, error);
	if (stack)
		return library_stack_node(out, document, stack, error);
	return library_stack(out, scenario_usual_stack(map, &out->cluster), error);
}

static bool read_knob(struct scenario *out, const struct document *document,
		      const struct node *node, struct error *error)
{
	const struct knob *knob = knob_find(node->key);
	const char *near = knob ? NULL : knob_nearest_key(node->key);
	char why[256];

	if (!knob)
		return error_set(error, document->file, node->line,
				 "unknown key '%.60s'%s%s%s", node->key,
				 near ? "; did you mean " : "", near ? near : "",
				 near ? "?" : "");
	if (node->kind != NODE_SCALAR)
		return error_set(error, document->file, node->line,
				 "%s: expected a value", node->key);
	return knob_parse(out, knob, node->text, why, sizeof why) ||
	       error_set(error, document->file, node->line, "%s", why);
}

/* Nobody asked for sequence parallelism where nothing is split by TP: the default is
 * off there, so that no rule is broken by it. */
static bool usual_sp(const struct scenario *s, bool usual)
{
	return usual && s->plan.tp > 1;
}

/* dp follows from the other degrees; a file may state it, and is held to it. */
static bool check_dp(const struct scenario *s, const struct document *document,
		     const struct node *map, struct error *error)
{
	const struct node *node = node_get(map, "dp");
	int64_t stated, dp = scenario_dp(s);

	if (!node)
		node = node_get(map, "data_parallel");
	/* null is what our own JSON says where pools are unequal */
	if (!node || (node->kind == NODE_SCALAR && !node->quoted &&
		      strcmp(node->text, "null") == 0))
		return true;
	if (!node_count(document, node, &stated, error))
		return false;
	return stated == dp ||
	       error_set(error, document->file, node->line,
			 "dp is %lld, but gpus / (tp * cp * pp) = %lld / (%lld * %lld "
			 "* %lld) makes it %lld",
			 (long long)stated, (long long)s->cluster.gpus,
			 (long long)s->plan.tp, (long long)s->plan.cp,
			 (long long)s->plan.pp, (long long)dp);
}

static bool read_measured(const struct document *document, const struct node *map,
			  struct scenario_note *note, struct error *error)
{
	const struct {
		const char *key;
		double *value;
	} all[] = {
		{ "measured_step_seconds", &note->measured_step_seconds },
		{ "measured_output_tokens_per_second",
		  &note->measured_output_tokens_per_second },
		{ "measured_ttft_seconds", &note->measured_ttft_seconds },
		{ "measured_tpot_seconds", &note->measured_tpot_seconds },
	};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		const struct node *node = node_get(map, all[i].key);

		if (node && !node_number(document, node, all[i].value, error))
			return false;
	}
	return true;
}

static bool read_note(const struct document *document, const struct node *map,
		      struct scenario_note *note, struct error *error)
{
	const struct node *title = node_get(map, "title"),
			  *source = node_get(map, "source"),
			  *text = node_get(map, "note");
	struct scenario_note made = { .title = "" };

	if ((title &&
	     !node_text(document, title, made.title, sizeof made.title, error)) ||
	    (source &&
	     !node_text(document, source, made.source, sizeof made.source, error)) ||
	    (text && !node_text(document, text, made.note, sizeof made.note, error)) ||
	    !read_measured(document, map, &made, error))
		return false;
	if (note)
		*note = made;
	return true;
}

const struct node *scenario_within(const struct node *map)
{
	const struct node *best = node_get(map, "best"), *inside;

	if (node_get(map, "model") && node_get(map, "model")->kind == NODE_SCALAR)
		return map;
	inside = node_get(best && best->kind == NODE_MAP ? best : map, "scenario");
	return inside && inside->kind == NODE_MAP ? inside : map;
}

bool scenario_from(struct scenario *out, const struct document *document,
		   const struct node *map, struct scenario_note *note,
		   struct error *error)
{
	struct scenario made;

	if (map->kind != NODE_MAP)
		return error_set(error, document->file, map->line,
				 "a scenario is a mapping of keys and values");
	map = scenario_within(map);
	scenario_defaults(&made);
	if (!check_format(document, map, error) ||
	    !read_bases(&made, document, map, error) ||
	    !read_note(document, map, note, error))
		return false;
	for (const struct node *node = map->child; node; node = node->next)
		if (!is_known(node->key) && !read_knob(&made, document, node, error))
			return false;
	if (!node_get(map, "sp") && !node_get(map, "sequence_parallel"))
		made.plan.sp = usual_sp(&made, made.plan.sp);
	if (!check_dp(&made, document, map, error))
		return false;
	*out = made;
	return true;
}

bool scenario_parse(struct scenario *out, const char *file, const char *text,
		    size_t length, struct scenario_note *note, struct error *error)
{
	struct document document;
	bool good;

	if (!document_parse(&document, file, text, length, error))
		return false;
	good = scenario_from(out, &document, document.root, note, error);
	document_free(&document);
	return good;
}

static void copy_knobs(struct scenario *to, const struct scenario *from)
{
	for (int i = 0; i < knob_count(); i++) {
		const struct knob *knob = &knob_table[i];
		char why[8];

		if (knob->type == KNOB_TEXT)
			knob_parse(to, knob, knob_get_text(from, knob), why,
				   sizeof why);
		else
			knob_set(to, knob, knob_get(from, knob));
	}
}

static void write_name(FILE *stream, const char *key, const char *name)
{
	fprintf(stream, "%s: ", key);
	stream_put_text(stream, name);
	fputc('\n', stream);
}

/* Whether everybody has what goes by this name. */
static bool is_shipped(enum preset_kind kind, const char *name)
{
	const struct preset *preset = preset_find(kind, name);

	return preset && !preset->own;
}

/* By name where the preset of that name, with these knobs, is this very cluster;
 * else, and where it is a user's own and the text is for others, the whole of it. The
 * same for model and stack. False: out of memory, for a preset that could not be read
 * for that is no other one. */
static bool write_model(const struct scenario *s, struct scenario *base,
			bool for_others, FILE *stream)
{
	bool by_name = !for_others || is_shipped(PRESET_MODEL, s->model.name);
	struct error why = { "" };
	bool good = true;

	if (by_name && library_model(&base->model, s->model.name, &why) &&
	    memcmp(&base->model, &s->model, sizeof s->model) == 0) {
		write_name(stream, "model", s->model.name);
		return true;
	}
	fputs("model: ", stream);
	good = model_write(&s->model, stream);
	fputc('\n', stream);
	base->model = s->model;
	return good && !error_is_memory(&why);
}

static bool write_cluster(const struct scenario *s, struct scenario *base,
			  bool for_others, FILE *stream)
{
	bool by_name = !for_others || is_shipped(PRESET_CLUSTER, s->cluster.name);
	struct scenario other = *base;
	struct error why = { "" };

	if (library_cluster(&other.cluster, s->cluster.name, &why))
		base->cluster = other.cluster;
	copy_knobs(&other, s);
	if (by_name && memcmp(&other.cluster, &s->cluster, sizeof s->cluster) == 0) {
		write_name(stream, "cluster", s->cluster.name);
		return true;
	}
	fputs("cluster: ", stream);
	cluster_write(&s->cluster, stream);
	fputc('\n', stream);
	base->cluster = s->cluster;
	return !error_is_memory(&why);
}

static bool write_stack(const struct scenario *s, struct scenario *base,
			bool for_others, FILE *stream)
{
	bool by_name = !for_others || is_shipped(PRESET_STACK, s->stack.name);
	struct scenario other = *base;
	struct error why = { "" };
	bool good;

	if (by_name && library_stack(&other, s->stack.name, &why) &&
	    memcmp(&other.stack, &s->stack, sizeof s->stack) == 0) {
		*base = other;
		write_name(stream, "stack", s->stack.name);
		return true;
	}
	fputs("stack: ", stream);
	good = stack_write(&s->stack, stream);
	fputc('\n', stream);
	base->stack = s->stack;
	return good && !error_is_memory(&why);
}

static void write_knob(const struct scenario *s, const struct knob *knob, FILE *stream)
{
	char text[MAX_LAYOUT + 8];

	knob_print(s, knob, text, sizeof text);
	fprintf(stream, "%s: ", knob->key);
	if (knob->type == KNOB_TEXT)
		stream_put_quoted(stream, text);
	else
		fputs(text, stream);
	fputc('\n', stream);
}

static char *write_scenario(const struct scenario *scenario, bool for_others)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	struct scenario *base = calloc(1, sizeof *base);

	if (stream && base) {
		scenario_defaults(base);
		fprintf(stream, "format: %d\n", FORMAT);
	}
	if (!stream || !base || !write_model(scenario, base, for_others, stream) ||
	    !write_cluster(scenario, base, for_others, stream) ||
	    !write_stack(scenario, base, for_others, stream)) {
		free(base);
		free(stream_end(stream, &text));
		return NULL;
	}
	base->plan.sp = usual_sp(scenario, base->plan.sp);
	/* a file that names no GPUs is told to have assumed them */
	for (int i = 0; i < knob_count(); i++)
		if (!knob_same(scenario, base, &knob_table[i]) ||
		    strcmp(knob_table[i].key, "gpus") == 0)
			write_knob(scenario, &knob_table[i], stream);
	free(base);
	return stream_end(stream, &text);
}

char *scenario_write(const struct scenario *scenario)
{
	return write_scenario(scenario, false);
}

char *scenario_write_for_others(const struct scenario *scenario)
{
	return write_scenario(scenario, true);
}
