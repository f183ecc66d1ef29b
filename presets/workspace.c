/* workspace.c - see workspace.h. */
#include "presets/workspace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "presets/document.h"
#include "presets/folder.h"
#include "presets/scenario_file.h"
#include "presets/stream.h"

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

/* Above all a newer format: what it means is not known here. */
static bool read_format(const struct document *document, int64_t *format,
			struct error *error)
{
	const struct node *node = node_get(document->root, "format");

	if (!node || !node_count(document, node, format, error))
		return error_set(error, document->file, 1, "says no format");
	return *format == FORMAT ||
	       error_set(error, document->file, node->line,
			 "format %lld; this shardscope reads format %d",
			 (long long)*format, FORMAT);
}

/* A path may hold characters that no screen should be sent: it is only opened. */
static void read_path(const struct document *document, struct workspace *out)
{
	const struct node *node = node_get(document->root, "file");

	if (node && node->kind == NODE_SCALAR && strlen(node->text) < sizeof out->file)
		strcpy(out->file, node->text);
}

static bool read_workspace(const struct document *document, struct workspace *out,
			   struct error *error)
{
	const struct node *folded = node_get(document->root, "folded");
	int64_t bits = 0;

	read_path(document, out);
	if (!read_scenarios(document, out, error) ||
	    !read_text(document, "knob", out->knob, sizeof out->knob, error) ||
	    !read_text(document, "view", out->view, sizeof out->view, error) ||
	    !read_text(document, "beside", out->beside, sizeof out->beside, error) ||
	    (folded && !node_count(document, folded, &bits, error)))
		return false;
	out->folded = (unsigned)bits;
	return true;
}

/* Out of the way, but kept: workspace.yaml.damaged, .damaged.1 ... A link stays, what
 * it points to is moved. */
static void move_aside(const char *path, struct error *error)
{
	char target[600], aside[640], why[sizeof error->text];

	if (!file_target(path, target, sizeof target))
		return;
	for (int i = 0; i < 100; i++) {
		if (i == 0)
			snprintf(aside, sizeof aside, "%s.damaged", target);
		else
			snprintf(aside, sizeof aside, "%s.damaged.%d", target, i);
		if (access(aside, F_OK) != 0)
			break;
	}
	memcpy(why, error->text, sizeof why);
	if (rename(target, aside) == 0)
		error_set(error, NULL, 0, "damaged workspace moved to %.80s (%.300s)",
			  strrchr(aside, '/') + 1, why);
}

/* Someone else's: a folder, a file without permission, a pipe. */
static bool can_be_read(const char *path, struct error *error)
{
	struct stat about;

	if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
		return error_set(error, path, 0, "is not a file");
	if (access(path, R_OK) != 0)
		return error_set(error, path, 0, "can't be read: %s", strerror(errno));
	return true;
}

static enum workspace_state judge(const struct document *document,
				  struct workspace *out, struct error *error)
{
	struct workspace *made = calloc(1, sizeof *made);
	int64_t format = 0;
	bool good = made && read_format(document, &format, error) &&
		    read_workspace(document, made, error);

	if (good)
		*out = *made;
	free(made);
	return good              ? WORKSPACE_READ
	       : format > FORMAT ? WORKSPACE_FOREIGN
				 : WORKSPACE_DAMAGED;
}

enum workspace_state workspace_load(const char *path, struct workspace *out,
				    struct error *error)
{
	enum workspace_state state = WORKSPACE_DAMAGED;
	struct document document;
	size_t length;
	char *text;

	error->text[0] = '\0';
	/* a link to nothing is no damage: the first save makes its file */
	if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
		return WORKSPACE_NONE;
	if (!can_be_read(path, error))
		return WORKSPACE_FOREIGN;
	text = stream_read_file(path, DOCUMENT_MAX_BYTES, &length, error);
	if (!text)
		return WORKSPACE_FOREIGN;
	if (document_parse(&document, path, text, length, error)) {
		state = judge(&document, out, error);
		document_free(&document);
	}
	free(text);
	if (state == WORKSPACE_DAMAGED)
		move_aside(path, error);
	return state;
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
	fprintf(stream, "%s: ", key);
	stream_put_quoted(stream, text);
	fputc('\n', stream);
}

/* A file whose name is no UTF-8 text can't be said in YAML: it is forgotten rather than
 * the whole workspace lost. */
static void write_file_name(FILE *stream, const char *name)
{
	write_text(stream, "file", error_is_text(name) ? name : "");
}

bool workspace_save(const char *path, const struct workspace *workspace,
		    struct error *error)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream;
	bool good;

	if (path[0] == '\0')
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
	if (workspace->beside[0] != '\0')
		write_text(stream, "beside", workspace->beside);
	fprintf(stream, "folded: %u\n", workspace->folded);
	good = write_scenario(stream, "scenario", &workspace->scenario) &&
	       (!workspace->pinned ||
		write_scenario(stream, "baseline", &workspace->baseline));
	good = stream_end(stream, &text) != NULL && good;
	if (good)
		good = file_save(path, text, size, error);
	else
		error_set(error, NULL, 0, "out of memory");
	free(text);
	return good;
}
