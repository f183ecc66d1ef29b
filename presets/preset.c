/* preset.c - see preset.h. */
#include "presets/preset.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "presets/model_name.h"
#include "presets/near.h"
#include "presets/stream.h"

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
	const struct preset *list, *named = shelf_find(kind, name);
	int count;

	if (named)
		return named;
	count = preset_list(kind, &list);
	for (int i = 0; i < count; i++)
		if (is_alias(list[i].alias, name))
			return &list[i];
	/* org/Model-Instruct-FP8 means org/Model, unless it is a file */
	return kind == PRESET_MODEL && is_id(name) && access(name, F_OK) != 0
		       ? model_name_find(name)
		       : NULL;
}

static const char *const one[] = { "model", "cluster", "stack", "plan", "lesson" };

/* What has this name is of another kind; false where nothing has it. */
static bool elsewhere(enum preset_kind kind, const char *name, struct error *error)
{
	for (int k = 0; k < PRESET_OPENED_COUNT; k++) {
		bool plan = k == PRESET_PLAN;

		if (k == (int)kind || !preset_find((enum preset_kind)k, name))
			continue;
		error_set(error, NULL, 0, "no %s '%.80s', but a %s: give it %s%s",
			  one[kind], name, one[k],
			  plan ? "without an option" : "with --", plan ? "" : one[k]);
		return true;
	}
	return false;
}

static bool unknown(enum preset_kind kind, const char *name, struct error *error)
{
	char near[256];

	if (kind == PRESET_MODEL && model_name_is_closed(name))
		return error_set(
			error, NULL, 0,
			"'%.80s' is known without its shape: its config.json was "
			"not to be had for the library; --model config.json reads "
			"a copy of yours",
			name);
	if (!preset_list_is_whole(kind))
		return error_set(error, NULL, 0, "out of memory");
	if (elsewhere(kind, name, error))
		return false;
	preset_near(kind, name, near, sizeof near);
	if (near[0] != '\0')
		return error_set(error, NULL, 0, "no %s '%.80s'; near: %s", one[kind],
				 name, near);
	return error_set(error, NULL, 0,
			 "no %s '%.80s'; shardscope list %s shows those there are",
			 one[kind], name, preset_kind_label(kind));
}

/* What is called as files of the kinds that are read are, though it may be absent. */
static bool ends_as_file(const char *name)
{
	static const char *const endings[] = { ".yaml", ".yml",   ".json", ".sh", ".py",
					       ".toml", ".slurm", ".md",   ".txt" };
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < sizeof endings / sizeof endings[0]; i++)
		if (strcmp(dot, endings[i]) == 0)
			return true;
	return false;
}

static bool looks_like_file(const char *name)
{
	struct stat unused;

	return strchr(name, '/') || strcmp(name, "-") == 0 || ends_as_file(name) ||
	       stat(name, &unused) == 0;
}

/* "google/gemma-4-77B-it" is no path of a file that is missing. */
static bool is_absent_id(const char *name)
{
	return is_id(name) && access(name, F_OK) != 0 && !ends_as_file(name);
}

bool preset_open(enum preset_kind kind, const char *name, struct document *document,
		 struct error *error)
{
	const struct preset *preset = preset_find(kind, name);
	struct stat about;
	char path[4096];

	if (preset)
		return shelf_open(preset, document, error);
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
	if (preset->own && preset->path)
		return stream_read_file(preset->path, DOCUMENT_MAX_BYTES, &length,
					error);
	text = preset->own ? NULL : malloc(preset->length + 1);
	if (text)
		memcpy(text, preset->text, preset->length + 1);
	else
		error_set(error, NULL, 0, "out of memory");
	return text;
}
