/* golden.c - see golden.h. */
#include "tests/numbers/golden.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/close.h"

/* A line of the file: its key ends at the first blank. */
struct line {
	const char *text;
	bool seen;
};

struct block {
	const char *title;
	int lines;
	struct line line[MAX_FIGURES + 100];
};

static char *read_all(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text;
	long size = -1;

	if (!file)
		fail_msg("%s can't be read", path);
	if (fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	assert_true(size >= 0);
	rewind(file);
	text = calloc((size_t)size + 1, 1);
	assert_non_null(text);
	assert_true(fread(text, 1, (size_t)size, file) == (size_t)size);
	fclose(file);
	return text;
}

/* The value of a key, or NULL; they stand in order, so that one looks on from `at`. */
static const char *find(struct block *block, const char *key, int *at)
{
	size_t length = strlen(key);

	for (int i = 0; i < block->lines; i++) {
		struct line *line = &block->line[(*at + i) % block->lines];

		if (strncmp(line->text, key, length) == 0 &&
		    line->text[length] == ' ') {
			line->seen = true;
			*at = (*at + i + 1) % block->lines;
			return line->text + length + 1;
		}
	}
	return NULL;
}

/* Ten digits are written; what compilers differ in is far below that. */
static bool is_same(const struct figure *figure, const char *old)
{
	double value;
	char *end;

	if (figure->words[0] != '\0')
		return strcmp(figure->words, old) == 0;
	value = strtod(old, &end);
	if (*end != '\0' || !isfinite(value) || !isfinite(figure->value))
		return *end == '\0' && value == figure->value;
	return fabs(value - figure->value) <=
	       2e-9 * fmax(fabs(value), fabs(figure->value)) + 2e-12 * figure->scale;
}

static void print_figure(const struct figure *figure, char *out, size_t size)
{
	if (figure->words[0] != '\0')
		snprintf(out, size, "%s", figure->words);
	else
		snprintf(out, size, "%.10g", figure->value);
}

static void tell(struct golden *golden, const char *key, const char *title,
		 const char *old, const char *now)
{
	if (golden->moved++ < GOLDEN_TOLD)
		print_error("%-28s %s -> %s  of %s\n", key, old, now, title);
}

/* What is not there is 0. */
static void compare(struct golden *golden, struct block *block,
		    const struct figures *figures, FILE *out)
{
	int at = 0;

	if (out)
		fprintf(out, "= %s\n", block->title);
	for (int i = 0; i < figures->count; i++) {
		const struct figure *figure = &figures->item[i];
		const char *old = find(block, figure->key, &at);
		char now[MAX_FIGURE_WORDS];

		print_figure(figure, now, sizeof now);
		golden->figures++;
		if (!is_same(figure, old ? old : "0"))
			tell(golden, figure->key, block->title, old ? old : "0", now);
		else if (old)
			snprintf(now, sizeof now, "%s", old);
		if (out)
			fprintf(out, "%s %s\n", figure->key, now);
	}
	for (int i = 0; i < block->lines; i++) {
		const char *text = block->line[i].text, *value = strchr(text, ' ');
		char key[MAX_FIGURE_KEY];

		if (block->line[i].seen || !value)
			continue;
		snprintf(key, sizeof key, "%.*s", (int)(value - text), text);
		tell(golden, key, block->title, value + 1, "0");
	}
}

static void close_block(struct golden *golden, struct block *block, figures_of *figures,
			FILE *out)
{
	static struct figures now;

	if (!block->title)
		return;
	figures(block->title, &now);
	compare(golden, block, &now, out);
	block->title = NULL;
	block->lines = 0;
}

static FILE *open_new(const char *path, char *name, size_t size)
{
	FILE *file;

	if (!getenv("SHARDSCOPE_WRITE_NUMBERS"))
		return NULL;
	snprintf(name, size, "%s.new", path);
	file = fopen(name, "w");
	assert_non_null(file);
	return file;
}

void golden_check(struct golden *golden, const char *path, figures_of *figures)
{
	static struct block block;
	char *text = read_all(path), *rest = text, *line, name[200];
	FILE *out = open_new(path, name, sizeof name);

	memset(&block, 0, sizeof block);
	while ((line = strsep(&rest, "\n"))) {
		if (strncmp(line, "= ", 2) == 0) {
			close_block(golden, &block, figures, out);
			block.title = line + 2;
		} else if (line[0] == '#') {
			close_block(golden, &block, figures, out);
			if (out)
				fprintf(out, "%s\n", line);
		} else if (line[0] != '\0') {
			assert_non_null(block.title);
			assert_true(block.lines <
				    (int)(sizeof block.line / sizeof block.line[0]));
			block.line[block.lines++] = (struct line){ line, false };
		}
	}
	close_block(golden, &block, figures, out);
	if (out) {
		assert_int_equal(fclose(out), 0);
		assert_int_equal(rename(name, path), 0);
	}
	free(text);
}

bool golden_has(const char *path, const char *title)
{
	char *text = read_all(path), *rest = text, *line;
	bool found = false;

	while ((line = strsep(&rest, "\n")))
		found |= strncmp(line, "= ", 2) == 0 && strcmp(line + 2, title) == 0;
	free(text);
	return found;
}

void golden_begin(const char *path, const char *title)
{
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	fprintf(file, "= %s\n", title);
	assert_int_equal(fclose(file), 0);
}
