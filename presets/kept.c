/* kept.c - see kept.h. */
#include "presets/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/document.h"
#include "presets/scenario_file.h"
#include "presets/stream.h"

static bool stands_before(const struct import_report *kept, int index)
{
	for (int i = 0; i < index; i++)
		if (kept->note[i].kind == IMPORT_NOT_MODELLED &&
		    strcmp(kept->note[i].key, kept->note[index].key) == 0)
			return true;
	return false;
}

static void put_notes(FILE *stream, const struct import_report *kept)
{
	fprintf(stream, "kept:\n  %s:\n", kept->kept);
	for (int i = 0; i < kept->count; i++) {
		if (kept->note[i].kind != IMPORT_NOT_MODELLED || stands_before(kept, i))
			continue;
		fputs("    ", stream);
		stream_put_quoted(stream, kept->note[i].key);
		fputs(": ", stream);
		stream_put_quoted(stream, kept->note[i].text);
		fputc('\n', stream);
	}
}

char *kept_write(const struct scenario *scenario, const struct import_report *kept)
{
	char *plain = scenario_write(scenario), *text = NULL;
	size_t size = 0;
	FILE *stream;

	if (!plain || !kept || kept->kept[0] == '\0' ||
	    import_count(kept, IMPORT_NOT_MODELLED) == 0)
		return plain;
	stream = open_memstream(&text, &size);
	if (!stream) {
		free(plain);
		return NULL;
	}
	fputs(plain, stream);
	put_notes(stream, kept);
	free(plain);
	return stream_end(stream, &text);
}

void kept_read(const char *path, struct import_report *out)
{
	struct document document;
	const struct node *kept, *tool;

	if (strcmp(path, "-") == 0 || !document_read(&document, path, NULL))
		return;
	kept = node_get(document.root, "kept");
	tool = kept && kept->kind == NODE_MAP ? kept->child : NULL;
	if (tool && tool->kind == NODE_MAP) {
		snprintf(out->kept, sizeof out->kept, "%.15s", tool->key);
		for (const struct node *node = tool->child; node; node = node->next)
			if (node->kind == NODE_SCALAR)
				import_note(out, IMPORT_NOT_MODELLED, node->key, "%s",
					    node->text);
	}
	document_free(&document);
}
