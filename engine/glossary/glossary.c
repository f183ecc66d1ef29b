/* glossary.c - finds rows by name, and reads the links in their texts. */
#include "engine/glossary/glossary.h"

#include <ctype.h>
#include <string.h>

static const struct glossary_word *const files[] = {
	glossary_basics,       glossary_parallel, glossary_speed,
	glossary_models,       glossary_serving,  glossary_collectives,
	glossary_schedules,    glossary_knobs,    glossary_machine_knobs,
	glossary_server_knobs, glossary_numbers,  glossary_server_numbers,
};
enum { FILES = sizeof files / sizeof files[0] };

const struct glossary_word *glossary_at(int index)
{
	for (int i = 0; i < FILES; i++)
		for (const struct glossary_word *w = files[i]; w->key; w++)
			if (index-- == 0)
				return w;
	return NULL;
}

int glossary_count(void)
{
	int count = 0;

	for (int i = 0; i < FILES; i++)
		for (const struct glossary_word *w = files[i]; w->key; w++)
			count++;
	return count;
}

static char plain(char c)
{
	return c == '_' || c == '-' ? ' ' : (char)tolower((unsigned char)c);
}

/* Whether the first `length` bytes of a name are this one; cases and dashes are equal.
 */
static bool same(const char *key, size_t length, const char *name, size_t of_name)
{
	if (length != of_name)
		return false;
	for (size_t i = 0; i < length; i++)
		if (plain(key[i]) != plain(name[i]))
			return false;
	return true;
}

static bool is_called(const struct glossary_word *w, const char *name, size_t length)
{
	if (same(w->key, strlen(w->key), name, length))
		return true;
	for (const char *at = w->also; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (same(at, strcspn(at, ","), name, length))
			return true;
	}
	return false;
}

bool glossary_is_term(const struct glossary_word *w)
{
	return w->kind != WORD_KNOB && w->kind != WORD_NUMBER;
}

static const struct glossary_word *called(const char *name, size_t length)
{
	for (int i = 0; i < FILES; i++)
		for (const struct glossary_word *w = files[i];
		     w->key && glossary_is_term(w); w++)
			if (is_called(w, name, length))
				return w;
	return NULL;
}

/* The name as it stands, or without the ending of several. */
static const struct glossary_word *find_term(const char *name, size_t length)
{
	const struct glossary_word *found = called(name, length);

	if (!found && length > 1 && plain(name[length - 1]) == 's')
		found = called(name, length - 1);
	if (!found && length > 2 && plain(name[length - 1]) == 's' &&
	    plain(name[length - 2]) == 'e')
		found = called(name, length - 2);
	return found;
}

const struct glossary_word *glossary_term(const char *name)
{
	return find_term(name, strlen(name));
}

static const struct glossary_word *of_kind(enum word_kind kind, const char *key)
{
	for (int i = 0; i < FILES; i++)
		for (const struct glossary_word *w = files[i];
		     w->key && w->kind == kind; w++)
			if (strcmp(w->key, key) == 0)
				return w;
	return NULL;
}

/* "tp.bytes" has a row as a member of any dimension, ".bytes"; what stands deeper, as
 * "stages.3.total_bytes", is the number of that name. */
static const struct glossary_word *of_number(const char *key)
{
	const char *dot = strrchr(key, '.');
	const struct glossary_word *found = of_kind(WORD_NUMBER, key);

	if (!found && dot && dot == strchr(key, '.'))
		found = of_kind(WORD_NUMBER, dot);
	if (!found && dot && strncmp(key, "stages.", 7) == 0)
		found = of_kind(WORD_NUMBER, dot + 1);
	return found;
}

const struct glossary_word *glossary_find(const char *key)
{
	const struct glossary_word *found = of_number(key);

	if (!found)
		found = of_kind(WORD_KNOB, key);
	return found ? found : glossary_term(key);
}

int glossary_marks(const char *text, char *out, size_t size,
		   struct glossary_mark marks[GLOSSARY_MAX_LINKS])
{
	size_t used = 0, from = 0;
	bool inside = false;
	int count = 0;

	for (; *text != '\0' && used + 1 < size; text++) {
		if (*text == '[') {
			inside = true;
			from = used;
			continue;
		}
		if (*text == '|')
			text += strcspn(text, "]");
		if (*text == '\0')
			break;
		if (*text != ']') {
			out[used++] = *text;
			continue;
		}
		if (inside && marks && count < GLOSSARY_MAX_LINKS)
			marks[count++] = (struct glossary_mark){ from, used };
		inside = false;
	}
	if (size > 0)
		out[used] = '\0';
	return count;
}

size_t glossary_plain(const char *text, char *out, size_t size)
{
	if (size == 0)
		return 0;
	glossary_marks(text, out, size, NULL);
	return strlen(out);
}

const char *glossary_broken(const char *text, size_t *length)
{
	while ((text = strchr(text, '['))) {
		*length = strcspn(++text, "|]");
		if (text[*length] == '|') {
			text += *length + 1;
			*length = strcspn(text, "]");
		}
		if (text[*length] == '\0' || !find_term(text, *length))
			return text;
	}
	return NULL;
}

int glossary_links(const char *text,
		   const struct glossary_word *links[GLOSSARY_MAX_LINKS], int count)
{
	while ((text = strchr(text, '['))) {
		size_t length = strcspn(++text, "|]");
		const struct glossary_word *found;
		int i = 0;

		if (text[length] == '|') {
			text += length + 1;
			length = strcspn(text, "]");
		}
		found = find_term(text, length);
		while (i < count && links[i] != found)
			i++;
		if (found && i == count && count < GLOSSARY_MAX_LINKS)
			links[count++] = found;
	}
	return count;
}

int word_links(const struct glossary_word *word,
	       const struct glossary_word *links[GLOSSARY_MAX_LINKS])
{
	return glossary_links(word->why, links, glossary_links(word->means, links, 0));
}

const char *word_kind_label(enum word_kind kind)
{
	static const char *const labels[WORD_KIND_COUNT] = {
		[WORD_TERM] = "term",         [WORD_COLLECTIVE] = "collective",
		[WORD_SCHEDULE] = "schedule", [WORD_KNOB] = "knob",
		[WORD_NUMBER] = "number",
	};

	return (unsigned)kind < WORD_KIND_COUNT ? labels[kind] : "";
}
