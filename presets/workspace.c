/* workspace.c - see workspace.h. */
#include "presets/workspace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "presets/document.h"
#include "presets/folder.h"
#include "presets/scenario_file.h"

enum { FORMAT = 1 };

static bool read_text(const struct document *document, const char *key, char *out,
		      size_t size, struct error *error)
{
	const struct node *node = node_get(document->root, key);

	return !node || node_text(document, node, out, size, error);
}

static bool read_scenarios(const struct document *document, struct workspace *out,
			   struct error *error)
{
	const struct node *scenario = node_get(document->root, "scenario"),
			  *baseline = node_get(document->root, "baseline");

	if (!scenario)
		return error_set(error, document->file, 0, "holds no scenario");
	out->pinned = baseline != NULL;
	return scenario_from(&out->scenario, document, scenario, NULL, error) &&
	       (!baseline ||
		scenario_from(&out->baseline, document, baseline, NULL, error));
}

static bool read_workspace(const struct document *document, struct workspace *out,
			   struct error *error)
{
	const struct node *node = node_get(document->root, "format"),
			  *folded = node_get(document->root, "folded");
	int64_t format = 0, bits = 0;

	if (!node || !node_count(document, node, &format, error))
		return error_set(error, document->file, 1, "says no format");
	if (format != FORMAT)
		return error_set(error, document->file, node->line,
				 "format %lld; this shardscope reads format %d",
				 (long long)format, FORMAT);
	if (!read_scenarios(document, out, error) ||
	    !read_text(document, "file", out->file, sizeof out->file, error) ||
	    !read_text(document, "knob", out->knob, sizeof out->knob, error) ||
	    !read_text(document, "view", out->view, sizeof out->view, error) ||
	    (folded && !node_count(document, folded, &bits, error)))
		return false;
	out->folded = (unsigned)bits;
	return true;
}

/* Out of the way, but kept: workspace.yaml.damaged, .damaged.1 ... */
static void move_aside(const char *path, struct error *error)
{
	char aside[600], why[sizeof error->text];

	for (int i = 0; i < 100; i++) {
		if (i == 0)
			snprintf(aside, sizeof aside, "%s.damaged", path);
		else
			snprintf(aside, sizeof aside, "%s.damaged.%d", path, i);
		if (access(aside, F_OK) != 0)
			break;
	}
	memcpy(why, error->text, sizeof why);
	if (rename(path, aside) == 0)
		error_set(error, NULL, 0, "damaged workspace moved to %.80s (%.300s)",
			  strrchr(aside, '/') + 1, why);
}

bool workspace_load(struct workspace *out, struct error *error)
{
	char path[512];
	struct document document;
	struct workspace *made;
	bool good;

	error->text[0] = '\0';
	if (!folder_state(path, sizeof path, "workspace.yaml") ||
	    access(path, F_OK) != 0)
		return false;
	if (!document_read(&document, path, error)) {
		move_aside(path, error);
		return false;
	}
	made = calloc(1, sizeof *made);
	good = made && read_workspace(&document, made, error);
	document_free(&document);
	if (good)
		*out = *made;
	else
		move_aside(path, error);
	free(made);
	return good;
}

/* A scenario as a mapping one level deeper. */
static bool write_scenario(FILE *stream, const char *key,
			   const struct scenario *scenario)
{
	char *text = scenario_write(scenario);
	char *rest = text, *line;

	if (!text)
		return false;
	fprintf(stream, "%s:\n", key);
	while ((line = strsep(&rest, "\n")))
		if (line[0] != '\0')
			fprintf(stream, "  %s\n", line);
	free(text);
	return true;
}

static void write_text(FILE *stream, const char *key, const char *text)
{
	fprintf(stream, "%s: \"", key);
	for (; *text != '\0'; text++)
		fprintf(stream, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	fputs("\"\n", stream);
}

/* A file whose name is no UTF-8 text, or holds controls, can't be said in YAML: it
 * is forgotten rather than the whole workspace lost. */
static void write_file_name(FILE *stream, const char *name)
{
	char clean[512];

	snprintf(clean, sizeof clean, "%s", name);
	error_clean(clean);
	write_text(stream, "file", strcmp(clean, name) == 0 ? name : "");
}

bool workspace_save(const struct workspace *workspace, struct error *error)
{
	char path[512];
	char *text = NULL;
	size_t size = 0;
	FILE *stream;
	bool good;

	if (!folder_state(path, sizeof path, "workspace.yaml"))
		return error_set(error, NULL, 0,
				 "there is no home folder to keep the workspace in");
	if (!folder_make(path, error))
		return false;
	stream = open_memstream(&text, &size);
	if (!stream)
		return error_set(error, NULL, 0, "out of memory");
	fprintf(stream, "format: %d\n", FORMAT);
	write_file_name(stream, workspace->file);
	write_text(stream, "knob", workspace->knob);
	write_text(stream, "view", workspace->view);
	fprintf(stream, "folded: %u\n", workspace->folded);
	good = write_scenario(stream, "scenario", &workspace->scenario) &&
	       (!workspace->pinned ||
		write_scenario(stream, "baseline", &workspace->baseline));
	good = fclose(stream) == 0 && good;
	if (good)
		good = file_save(path, text, size, error);
	else
		error_set(error, NULL, 0, "out of memory");
	free(text);
	return good;
}
