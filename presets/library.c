/* library.c - see library.h. */
#include "presets/library.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/knob/knob.h"
#include "presets/cluster_file.h"
#include "presets/hf/hf_model.h"
#include "presets/hf/quantisation.h"
#include "presets/library_parts.h"
#include "presets/model_file.h"
#include "presets/model_name.h"
#include "presets/stack_file.h"

void library_take_name(char *out, const char *name)
{
	const char *base = strrchr(name, '/');
	size_t length;

	if (out[0] != '\0')
		return;
	base = base ? base + 1 : name;
	length = strcspn(base, ".");
	if (length == 0 ||
	    (base[length] != '\0' &&
	     (preset_find(PRESET_MODEL, base) || preset_find(PRESET_CLUSTER, base) ||
	      preset_find(PRESET_STACK, base))))
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

static bool open_model(struct model *out, const char *name, const struct preset *preset,
		       struct error *error)
{
	struct document document;
	bool good;

	if (!preset_open(PRESET_MODEL, name, &document, error))
		return false;
	good = read_model(out, &document, document.root, error);
	document_free(&document);
	if (good && preset)
		shelf_keep_made(preset, out, sizeof *out);
	return good;
}

bool library_model(struct model *out, const char *name, struct error *error)
{
	const struct preset *preset = preset_find(PRESET_MODEL, name);
	bool good = true;

	if (preset && preset->made)
		memcpy(out, preset->made, sizeof *out);
	else
		good = open_model(out, name, preset, error);
	if (good && preset && model_name_is_alike(name, preset))
		model_name_doubt(name, out);
	if (good && preset && model_name_sees(name, preset))
		model_name_text_part(name, out);
	if (good && preset) {
		model_name_ranks(name, out);
		model_name_diffuses(name, out);
	}
	if (good && preset && model_name_is_other(name, preset))
		model_name_forget_reach(out);
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

	if (preset && preset->made) {
		memcpy(out, preset->made, sizeof *out);
		return true;
	}
	if (!preset_open(PRESET_CLUSTER, name, &document, error))
		return false;
	good = cluster_read(&document, document.root, out, NULL, error);
	document_free(&document);
	if (good)
		library_take_name(out->name, preset ? preset->name : name);
	if (good && preset)
		shelf_keep_made(preset, out, sizeof *out);
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

struct machine {
	const char *word, *cluster;
};

const char *library_machine(const char *word)
{
	static const struct machine machines[] = {
		{ "h100", "dgx-h100" },     { "h200", "dgx-h200" },
		{ "b200", "dgx-b200" },     { "b300", "dgx-b300" },
		{ "gb200", "gb200-nvl72" }, { "gb300", "gb300-nvl72" },
		{ "gh200", "gh200" },       { "h20", "hgx-h20" },
		{ "h800", "hgx-h800" },     { "l40s", "l40s" },
		{ "mi250x", "mi250x" },     { "mi300x", "mi300x" },
		{ "mi325x", "mi325x" },     { "mi350x", "mi350x" },
		{ "mi355x", "mi355x" },     { "ascend", "ascend-910b" },
		{ "910b", "ascend-910b" },  { "910c", "ascend-910c" },
	};

	for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
		if (strcasecmp(machines[i].word, word) == 0)
			return machines[i].cluster;
	return NULL;
}

/* What Google Cloud calls its machines, as folders of AI-Hypercomputer/gpu-recipes. */
static const char *cloud_machine(const char *folder, size_t length)
{
	static const struct machine machines[] = {
		{ "a3high", "dgx-h100" },  { "a3mega", "dgx-h100" },
		{ "a3ultra", "dgx-h200" }, { "a4", "dgx-b200" },
		{ "a4x", "gb200-nvl72" },  { "a4x-max", "gb300-nvl72" },
		{ "g4", "rtx-pro-6000" },
	};

	for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
		if (strlen(machines[i].word) == length &&
		    strncasecmp(machines[i].word, folder, length) == 0)
			return machines[i].cluster;
	return NULL;
}

const char *library_machine_in(const char *path)
{
	const char *found = NULL, *cloud = NULL, *folder = path;

	for (const char *at = path; *at != '\0'; at++) {
		size_t length = 0;
		char word[16];

		while (isalnum((unsigned char)at[length]))
			length++;
		if (length > 0 && length < sizeof word) {
			snprintf(word, sizeof word, "%.*s", (int)length, at);
			found = library_machine(word) ? library_machine(word) : found;
		}
		at += length;
		if (*at == '/') {
			const char *name = cloud_machine(folder, (size_t)(at - folder));

			cloud = name ? name : cloud;
			folder = at + 1;
		}
		if (*at == '\0')
			break;
	}
	return found ? found : cloud;
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
