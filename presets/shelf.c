/* shelf.c - see shelf.h. */
#include "presets/shelf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "presets/data.h"
#include "presets/folder.h"

struct shelf {
	bool named, filled, lacks; /* lacks: memory ran out for some */
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
			error_note_memory(!new);
			return NULL;
		}
		shelf->preset = new;
		shelf->capacity = capacity;
	}
	new = &shelf->preset[shelf->count++];
	*new = (struct preset){ .title = "", .alias = "", .also = "", .alike = "" };
	strcpy(new->name, name);
	error_clean(new->name);
	return new;
}

struct finding_own {
	struct shelf *shelf;
	const char *folder;
};

static char *name_path(const char *folder, const char *name)
{
	size_t size = strlen(folder) + strlen(name) + sizeof "/.yaml";
	char *path = malloc(size);

	if (path)
		snprintf(path, size, "%s/%s.yaml", folder, name);
	return path;
}

static void found_own(void *context, const char *name)
{
	const struct finding_own *f = context;
	struct preset *preset = add(f->shelf, name);

	if (!preset)
		return;
	free(preset->path);
	preset->own = true;
	preset->text = NULL;
	preset->path = name_path(f->folder, name);
	if (!preset->path) {
		f->shelf->lacks = true;
		error_note_memory(true);
	}
}

static bool read_document(const struct preset *preset, struct document *document,
			  struct error *error)
{
	if (preset->own && !preset->path)
		return error_set(error, NULL, 0, "out of memory");
	if (preset->own)
		return document_read(document, preset->path, error);
	return document_parse(document, preset->name, preset->text, preset->length,
			      error);
}

/* Room to keep something of a shipped preset; NULL: it is made again the next time, as
 * an own one is, whose file may be another then. */
static void *room_to_keep(const struct preset *preset, size_t size)
{
	enum { MOST = 128 }; /* who lists everything would hold everything */
	static int kept;

	return !preset->own && kept++ < MOST ? malloc(size) : NULL;
}

void shelf_keep_made(const struct preset *preset, const void *made, size_t size)
{
	void *room = preset->made ? NULL : room_to_keep(preset, size);

	if (!room)
		return;
	memcpy(room, made, size);
	((struct preset *)preset)->made = room;
}

/* The document from now on, without the storage that its holder would free. */
static void keep(struct preset *preset, struct document *document)
{
	preset->kept = room_to_keep(preset, sizeof *preset->kept);
	if (!preset->kept)
		return;
	*preset->kept = *document;
	document->storage = NULL;
}

bool shelf_open(const struct preset *preset, struct document *document,
		struct error *error)
{
	if (!preset->kept) {
		if (!read_document(preset, document, error))
			return false;
		keep((struct preset *)preset, document);
		return true;
	}
	*document = *preset->kept;
	document->storage = NULL;
	return true;
}

/* Of a list for as long as it is valid. */
static const char *keep_text(struct shelf *shelf, const char *text)
{
	const char *kept = text[0] != '\0' ? strdup(text) : "";

	shelf->lacks = shelf->lacks || !kept;
	error_note_memory(!kept);
	return kept ? kept : "";
}

static const char *keep_node(struct shelf *shelf, const struct document *document,
			     const char *key, size_t size)
{
	const struct node *node = node_get(document->root, key);
	char text[MAX_NOTE] = "";

	if (node)
		node_text(document, node, text, size, NULL);
	return keep_text(shelf, text);
}

/* What lists show; a broken own file shows what is wrong with it. */
static void describe(enum preset_kind kind, struct preset *preset)
{
	struct shelf *shelf = &shelves[kind];
	struct document document;
	struct error error = { "" };
	char wrong[MAX_NOTE];

	if (preset->described)
		return;
	preset->described = true;
	if (!read_document(preset, &document, &error)) {
		shelf->lacks = shelf->lacks || error_is_memory(&error);
		snprintf(wrong, sizeof wrong, "%.*s", MAX_NOTE - 1, error.text);
		preset->title = keep_text(shelf, wrong);
		return;
	}
	preset->title = keep_node(shelf, &document, "title", MAX_NOTE);
	preset->alias = keep_node(shelf, &document,
				  kind == PRESET_STACK ? "alias" : "hf_id", MAX_NAME);
	if (kind == PRESET_MODEL) {
		preset->also = keep_node(shelf, &document, "also", MAX_NOTE);
		preset->alike = keep_node(shelf, &document, "alike", MAX_NOTE);
	}
	document_free(&document);
}

/* "gpt3-7b" before "gpt3-13b": digits compare as numbers. */
static int by_name(const void *a, const void *b)
{
	const struct preset *left = a, *right = b;

	return strverscmp(left->name, right->name);
}

/* Names alone: who asks for one of them waits for no other file to be read. */
static void name_all(enum preset_kind kind)
{
	struct shelf *shelf = &shelves[kind];
	char folder[512];
	struct finding_own own = { shelf, folder };

	shelf->named = true;
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
	if (shelf->count > 1)
		qsort(shelf->preset, (size_t)shelf->count, sizeof *shelf->preset,
		      by_name);
}

static struct shelf *shelf_of(enum preset_kind kind)
{
	if (!shelves[kind].named)
		name_all(kind);
	return &shelves[kind];
}

int preset_list(enum preset_kind kind, const struct preset **list)
{
	struct shelf *shelf = shelf_of(kind);

	for (int i = 0; i < shelf->count && !shelf->filled; i++)
		describe(kind, &shelf->preset[i]);
	shelf->filled = true;
	*list = shelf->preset;
	return shelf->count;
}

const struct preset *shelf_find(enum preset_kind kind, const char *name)
{
	struct shelf *shelf = shelf_of(kind);

	for (int i = 0; i < shelf->count; i++)
		if (strcasecmp(shelf->preset[i].name, name) == 0) {
			describe(kind, &shelf->preset[i]);
			return &shelf->preset[i];
		}
	return NULL;
}

bool preset_list_is_whole(enum preset_kind kind)
{
	return shelves[kind].filled && !shelves[kind].lacks;
}
