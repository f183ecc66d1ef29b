/* library.c - see library.h. */
#include "presets/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/knob/knob.h"
#include "presets/cluster_file.h"
#include "presets/data.h"
#include "presets/folder.h"
#include "presets/hf/hf_model.h"
#include "presets/hf/quantisation.h"
#include "presets/library_parts.h"
#include "presets/model_file.h"
#include "presets/model_name.h"
#include "presets/near.h"
#include "presets/stack_file.h"
#include "presets/stream.h"

struct shelf {
	bool filled, lacks; /* lacks: memory ran out for some */
	int count, capacity;
	struct preset *preset;
};

static struct shelf shelves[PRESET_KIND_COUNT];

const char *preset_kind_label(enum preset_kind kind)
{
	static const char *const labels[] = { "models", "clusters", "stacks", "plans",
					      "lessons" };

	return (unsigned)kind < PRESET_KIND_COUNT ? labels[kind] : "";
}

/* A new row, or the one of that name. NULL: out of memory, or the name is long. */
static struct preset *add(struct shelf *shelf, const char *name)
{
	struct preset *new;

	if (strlen(name) >= MAX_NAME)
		return NULL;
	for (int i = 0; i < shelf->count; i++)
		if (strcmp(shelf->preset[i].name, name) == 0)
			return &shelf->preset[i];
	if (shelf->count == shelf->capacity) {
		int capacity = shelf->capacity ? 2 * shelf->capacity : 64;

		new = realloc(shelf->preset, (size_t)capacity * sizeof *new);
		if (!new) {
			shelf->lacks = true;
			return NULL;
		}
		shelf->preset = new;
		shelf->capacity = capacity;
	}
	new = &shelf->preset[shelf->count++];
	memset(new, 0, sizeof *new);
	strcpy(new->name, name);
	error_clean(new->name);
	return new;
}

struct finding_own {
	struct shelf *shelf;
	const char *folder;
};

static void found_own(void *context, const char *name)
{
	const struct finding_own *f = context;
	struct preset *preset = add(f->shelf, name);
	int length;

	if (!preset)
		return;
	preset->own = true;
	preset->text = NULL;
	length = snprintf(preset->path, sizeof preset->path, "%s/%s.yaml", f->folder,
			  name);
	if (length < 0 || (size_t)length >= sizeof preset->path)
		preset->path[0] = '\0';
}

static bool open_preset(const struct preset *preset, struct document *document,
			struct error *error)
{
	if (preset->own)
		return document_read(document, preset->path, error);
	return document_parse(document, preset->name, preset->text, preset->length,
			      error);
}

/* What lists show; a broken own file shows what is wrong with it. */
static void describe(enum preset_kind kind, struct preset *preset)
{
	struct document document;
	struct error error = { "" };
	const struct node *title, *id, *also, *alike;

	if (!open_preset(preset, &document, &error)) {
		snprintf(preset->title, sizeof preset->title, "%.*s", MAX_NOTE - 1,
			 error.text);
		return;
	}
	title = node_get(document.root, "title");
	id = node_get(document.root, kind == PRESET_STACK ? "alias" : "hf_id");
	also = kind == PRESET_MODEL ? node_get(document.root, "also") : NULL;
	alike = kind == PRESET_MODEL ? node_get(document.root, "alike") : NULL;
	if (alike)
		node_text(&document, alike, preset->alike, sizeof preset->alike, NULL);
	if (also)
		node_text(&document, also, preset->also, sizeof preset->also, NULL);
	if (title)
		node_text(&document, title, preset->title, sizeof preset->title, NULL);
	if (id)
		node_text(&document, id, preset->alias, sizeof preset->alias, NULL);
	document_free(&document);
}

/* "gpt3-7b" before "gpt3-13b": digits compare as numbers. */
static int by_name(const void *a, const void *b)
{
	const struct preset *left = a, *right = b;

	return strverscmp(left->name, right->name);
}

static void fill(enum preset_kind kind)
{
	struct shelf *shelf = &shelves[kind];
	char folder[512];
	struct finding_own own = { shelf, folder };

	shelf->filled = true;
	for (const struct preset_file *file = presets_data; file->kind; file++) {
		struct preset *preset;

		if (strcmp(file->kind, preset_kind_label(kind)) != 0)
			continue;
		preset = add(shelf, file->name);
		if (!preset)
			continue;
		preset->text = (const char *)file->text;
		preset->length = file->length;
	}
	if (folder_config(folder, sizeof folder, preset_kind_label(kind)))
		folder_each(folder, found_own, &own);
	for (int i = 0; i < shelf->count; i++)
		describe(kind, &shelf->preset[i]);
	if (shelf->count > 1)
		qsort(shelf->preset, (size_t)shelf->count, sizeof *shelf->preset,
		      by_name);
}

int preset_list(enum preset_kind kind, const struct preset **list)
{
	if (!shelves[kind].filled)
		fill(kind);
	*list = shelves[kind].preset;
	return shelves[kind].count;
}

bool preset_list_is_whole(enum preset_kind kind)
{
	return shelves[kind].filled && !shelves[kind].lacks;
}

/* Two names with one slash between them. */
static bool is_id(const char *name)
{
	const char *slash = strchr(name, '/');

	return slash && slash > name && name[0] != '.' && name[0] != '~' &&
	       slash[1] != '\0' && !strchr(slash + 1, '/');
}

/* A stack goes by several names, with blanks between; a Hugging Face id has none. */
static bool is_alias(const char *aliases, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = aliases; *at != '\0'; at += strspn(at, " ")) {
		size_t word = strcspn(at, " ");

		if (word == length && strncasecmp(at, name, word) == 0)
			return true;
		at += word;
	}
	return false;
}

const struct preset *preset_find(enum preset_kind kind, const char *name)
{
	const struct preset *list;
	int count = preset_list(kind, &list);

	for (int i = 0; i < count; i++)
		if (strcasecmp(list[i].name, name) == 0)
			return &list[i];
	for (int i = 0; i < count; i++)
		if (is_alias(list[i].alias, name))
			return &list[i];
	/* org/Model-Instruct-FP8 means org/Model, unless it is a file */
	return kind == PRESET_MODEL && is_id(name) && access(name, F_OK) != 0
		       ? model_name_find(name)
		       : NULL;
}

static bool unknown(enum preset_kind kind, const char *name, struct error *error)
{
	static const char *const one[] = { "model", "cluster", "stack", "plan",
					   "lesson" };
	char near[256];

	preset_near(kind, name, near, sizeof near);
	if (near[0] != '\0')
		return error_set(error, NULL, 0, "no %s '%.80s'; near: %s", one[kind],
				 name, near);
	return error_set(error, NULL, 0,
			 "no %s '%.80s'; shardscope list %s shows those there are",
			 one[kind], name, preset_kind_label(kind));
}

static bool looks_like_file(const char *name)
{
	const char *dot = strrchr(name, '.');
	struct stat unused;

	return strchr(name, '/') || strcmp(name, "-") == 0 ||
	       (dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 ||
			strcmp(dot, ".json") == 0)) ||
	       stat(name, &unused) == 0;
}

/* "google/gemma-4-77B-it" is no path of a file that is missing. */
static bool is_absent_id(const char *name)
{
	const char *dot = strrchr(name, '.');

	return is_id(name) && access(name, F_OK) != 0 &&
	       !(dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 ||
			 strcmp(dot, ".json") == 0));
}

bool preset_open(enum preset_kind kind, const char *name, struct document *document,
		 struct error *error)
{
	const struct preset *preset = preset_find(kind, name);
	struct stat about;
	char path[4096];

	if (preset)
		return open_preset(preset, document, error);
	/* the folder of a checkpoint */
	if (kind == PRESET_MODEL && stat(name, &about) == 0 && S_ISDIR(about.st_mode) &&
	    snprintf(path, sizeof path, "%s/config.json", name) < (int)sizeof path)
		return document_read(document, path, error);
	if (looks_like_file(name) && !(kind == PRESET_MODEL && is_absent_id(name)))
		return document_read(document, name, error);
	return unknown(kind, name, error);
}

char *preset_text(enum preset_kind kind, const char *name, struct error *error)
{
	const struct preset *preset = preset_find(kind, name);
	size_t length;
	char *text;

	if (!preset) {
		unknown(kind, name, error);
		return NULL;
	}
	if (preset->own)
		return stream_read_file(preset->path, DOCUMENT_MAX_BYTES, &length,
					error);
	text = malloc(preset->length + 1);
	if (text)
		memcpy(text, preset->text, preset->length + 1);
	else
		error_set(error, NULL, 0, "out of memory");
	return text;
}

void library_take_name(char *out, const char *name)
{
	const char *base = strrchr(name, '/');
	size_t length;

	if (out[0] != '\0')
		return;
	base = base ? base + 1 : name;
	length = strcspn(base, ".");
	if (preset_find(PRESET_MODEL, base) || preset_find(PRESET_CLUSTER, base) ||
	    preset_find(PRESET_STACK, base) || length == 0)
		length = strlen(base);
	if (length >= MAX_NAME)
		length = MAX_NAME - 1;
	memcpy(out, base, length);
	out[length] = '\0';
	error_clean(out);
}

static bool read_model(struct model *out, const struct document *document,
		       const struct node *map, struct error *error)
{
	struct import_report report = { 0 };

	if (hf_model_recognised(map))
		return hf_model_read(document, out, &report, error);
	return model_read(document, map, out, NULL, error);
}

bool library_model(struct model *out, const char *name, struct error *error)
{
	const struct preset *preset = preset_find(PRESET_MODEL, name);
	struct document document;
	bool good;

	if (!preset_open(PRESET_MODEL, name, &document, error))
		return false;
	good = read_model(out, &document, document.root, error);
	document_free(&document);
	if (good && preset && model_name_is_alike(name, preset))
		model_name_doubt(name, out);
	if (good && !preset)
		hf_quantised_beside(name, out);
	if (good)
		library_take_name(out->name, preset ? preset->name : name);
	return good;
}

bool library_cluster(struct cluster *out, const char *name, struct error *error)
{
	const struct preset *preset = preset_find(PRESET_CLUSTER, name);
	struct document document;
	bool good;

	if (!preset_open(PRESET_CLUSTER, name, &document, error))
		return false;
	good = cluster_read(&document, document.root, out, NULL, error);
	document_free(&document);
	if (good)
		library_take_name(out->name, preset ? preset->name : name);
	return good;
}

bool library_accelerator(struct cluster *out, const char *name, struct error *error)
{
	const struct preset *list;
	int count = preset_list(PRESET_CLUSTER, &list);

	for (int i = 0; i < count; i++) {
		struct cluster cluster;

		if (library_cluster(&cluster, list[i].name, NULL) &&
		    strcasecmp(cluster.accelerator.name, name) == 0) {
			*out = cluster;
			return true;
		}
	}
	return error_set(error, NULL, 0,
			 "no accelerator '%.80s' in any cluster; shardscope list "
			 "clusters shows those there are",
			 name);
}

const char *library_machine(const char *word)
{
	static const char *const machines[][2] = {
		{ "h100", "dgx-h100" },     { "h200", "dgx-h200" },
		{ "b200", "dgx-b200" },     { "b300", "dgx-b300" },
		{ "gb200", "gb200-nvl72" }, { "gb300", "gb300-nvl72" },
	};

	for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
		if (strcasecmp(machines[i][0], word) == 0)
			return machines[i][1];
	return NULL;
}

static bool expected_name(const struct document *document, const struct node *node,
			  struct error *error)
{
	if (node->kind == NODE_SCALAR && node->text[0] != '\0')
		return true;
	return error_set(error, document->file, node->line,
			 "%s: expected a name, a file or a mapping", node->key);
}

/* Name the place where a name was not found. */
static bool located(bool good, const struct document *document, const struct node *node,
		    struct error *error)
{
	struct error inner;

	if (!good && error && !strchr(node->text, '/') &&
	    !strstr(error->text, ".yaml:")) {
		inner = *error;
		error_set(error, document->file, node->line, "%s", inner.text);
	}
	return good;
}

bool library_model_node(struct model *out, const struct document *document,
			const struct node *node, struct error *error)
{
	if (node->kind == NODE_MAP) {
		bool good = read_model(out, document, node, error);

		if (good && out->name[0] == '\0')
			strcpy(out->name, "model");
		return good;
	}
	return expected_name(document, node, error) &&
	       located(library_model(out, node->text, error), document, node, error);
}

bool library_cluster_node(struct cluster *out, const struct document *document,
			  const struct node *node, struct error *error)
{
	if (node->kind == NODE_MAP) {
		bool good = cluster_read(document, node, out, NULL, error);

		if (good && out->name[0] == '\0')
			strcpy(out->name, "cluster");
		return good;
	}
	return expected_name(document, node, error) &&
	       located(library_cluster(out, node->text, error), document, node, error);
}

bool library_stack_node(struct scenario *scenario, const struct document *document,
			const struct node *node, struct error *error)
{
	if (node->kind == NODE_MAP) {
		bool good = library_start_serving(scenario, error) &&
			    stack_read(document, node, scenario, NULL, error);

		if (good && scenario->stack.name[0] == '\0')
			strcpy(scenario->stack.name, "stack");
		return good;
	}
	return expected_name(document, node, error) &&
	       located(library_stack(scenario, node->text, error), document, node,
		       error);
}
