/* kept.c - see kept.h. */
#include "presets/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/document.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "presets/stream.h"

static void put_note(FILE *stream, const char *indent, const struct import_note *note)
{
	fputs(indent, stream);
	stream_put_quoted(stream, note->key);
	fputs(": ", stream);
	stream_put_quoted(stream, note->text);
	fputc('\n', stream);
}

static bool stands_before(const struct import_report *kept, int index)
{
	for (int i = 0; i < index; i++)
		if (kept->note[i].kind == kept->note[index].kind &&
		    strcmp(kept->note[i].key, kept->note[index].key) == 0)
			return true;
	return false;
}

static void put_notes(FILE *stream, const struct import_report *kept,
		      enum import_kind kind, const char *indent)
{
	for (int i = 0; i < kept->count; i++)
		if (kept->note[i].kind == kind && !stands_before(kept, i))
			put_note(stream, indent, &kept->note[i]);
}

char *kept_write(const struct scenario *scenario, const struct import_report *kept)
{
	char *plain = scenario_write(scenario), *text = NULL;
	bool flags = kept && kept->kept[0] != '\0' &&
		     import_count(kept, IMPORT_NOT_MODELLED) > 0;
	size_t size = 0;
	FILE *stream;

	if (!plain || !kept || (!flags && import_count(kept, IMPORT_ASSUMED) == 0))
		return plain;
	stream = open_memstream(&text, &size);
	if (!stream) {
		free(plain);
		return NULL;
	}
	fputs(plain, stream);
	if (import_count(kept, IMPORT_ASSUMED) > 0) {
		fputs("assumed:\n", stream);
		put_notes(stream, kept, IMPORT_ASSUMED, "  ");
	}
	if (flags) {
		fprintf(stream, "kept:\n  %s:\n", kept->kept);
		put_notes(stream, kept, IMPORT_NOT_MODELLED, "    ");
	}
	free(plain);
	return stream_end(stream, &text);
}

static void take_notes(struct import_report *out, enum import_kind kind,
		       const struct node *map)
{
	const struct node *node = map && map->kind == NODE_MAP ? map->child : NULL;

	for (; node; node = node->next)
		if (node->kind == NODE_SCALAR)
			import_note(out, kind, node->key, "%s", node->text);
}

/* What a scenario of few lines leaves to this program, beyond the plan's own knobs. */
static void take_silence(struct import_report *out, const struct document *document,
			 const struct node *map)
{
	const struct node *named = node_get(map, "cluster");
	struct cluster cluster = { .name = "" };
	struct error ignored = { "" };

	if (named && !library_cluster_node(&cluster, document, named, &ignored))
		cluster.training_stack[0] = '\0';
	if (!named)
		import_note(out, IMPORT_ASSUMED, "cluster", "%s", SCENARIO_CLUSTER);
	if (!node_get(map, "stack"))
		import_note(out, IMPORT_ASSUMED, "stack", "%s",
			    scenario_usual_stack(map, &cluster));
	if (!node_get(map, "gpus"))
		import_note(out, IMPORT_ASSUMED, "gpus", "1");
}

static void take(struct import_report *out, const struct document *document)
{
	const struct node *map = scenario_within(document->root);
	const struct node *kept = node_get(map, "kept");
	const struct node *tool = kept && kept->kind == NODE_MAP ? kept->child : NULL;

	take_notes(out, IMPORT_ASSUMED, node_get(map, "assumed"));
	take_silence(out, document, map);
	if (!tool || tool->kind != NODE_MAP)
		return;
	snprintf(out->kept, sizeof out->kept, "%.15s", tool->key);
	take_notes(out, IMPORT_NOT_MODELLED, tool);
}

void kept_parse(const char *file, const char *text, size_t length,
		struct import_report *out)
{
	struct document document;

	if (!document_parse(&document, file, text, length, NULL))
		return;
	take(out, &document);
	document_free(&document);
}

void kept_read(const char *path, struct import_report *out)
{
	struct document document;

	if (strcmp(path, "-") == 0 || !document_read(&document, path, NULL))
		return;
	take(out, &document);
	document_free(&document);
}

int kept_knobs(const char *path, const struct knob *out[], int most)
{
	struct document document;
	int count = 0;

	if (strcmp(path, "-") == 0 || !document_read(&document, path, NULL))
		return 0;
	for (const struct node *node =
		     document.root->kind == NODE_MAP ? document.root->child : NULL;
	     node && count < most; node = node->next)
		if (knob_find(node->key))
			out[count++] = knob_find(node->key);
	document_free(&document);
	return count;
}
