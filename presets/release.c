/* release.c - see release.h. */
#include "presets/release.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "presets/stack_file.h"

const char *release_of(const char *name)
{
	const char *at = strchr(name, '@');

	return at && !strchr(name, '/') ? at + 1 : NULL;
}

/* 2026-03-01 */
static bool is_date(const char *text)
{
	static const char form[] = "dddd-dd-dd";

	for (size_t i = 0; i < sizeof form - 1; i++)
		if (form[i] == 'd' ? !isdigit((unsigned char)text[i])
				   : text[i] != form[i])
			return false;
	return text[sizeof form - 1] == '\0';
}

bool release_same_stack(const char *a, const char *b)
{
	size_t length = strcspn(a, "@");

	return length == strcspn(b, "@") && strncmp(a, b, length) == 0;
}

static const char *number_of(const char *release)
{
	return *release == 'v' ? release + 1 : release;
}

bool release_is_known(const char *release)
{
	const char *number = number_of(release);

	while (isalnum((unsigned char)*number) || *number == '.')
		number++;
	return is_date(release) ||
	       (*number == '\0' && isdigit((unsigned char)*number_of(release)));
}

/* Part by part; what follows a part, as rc3 or post1, does not count. */
static bool is_earlier(const char *a, const char *b)
{
	a = number_of(a);
	b = number_of(b);
	for (;;) {
		char *end_a, *end_b;
		long x = strtol(a, &end_a, 10), y = strtol(b, &end_b, 10);

		if (x != y)
			return x < y;
		if (*end_b != '.' || !isdigit((unsigned char)end_b[1]))
			return false;
		if (*end_a != '.' || !isdigit((unsigned char)end_a[1]))
			return strtol(end_b + 1, NULL, 10) > 0;
		a = end_a + 1;
		b = end_b + 1;
	}
}

bool release_is_before(const char *name, const char *number, const char *date)
{
	const char *release = release_of(name);

	if (!release)
		return false;
	return is_date(release) ? strcmp(release, date) < 0
				: is_earlier(release, number);
}

static const char *text_of(const struct node *row, const char *key)
{
	const struct node *node = node_get(row, key);

	return node && node->kind == NODE_SCALAR ? node->text : NULL;
}

/* A change without a date is taken to be older than any date. */
static bool came_later(const struct node *row, const char *release)
{
	const char *before = text_of(row, "before"), *date = text_of(row, "date");

	if (is_date(release))
		return date && strcmp(release, date) < 0;
	return before && is_earlier(release, before);
}

/* "host_overlap off" and "serving.logit_bytes 40", one change after the other. */
static void tell(const struct node *row, const char *group, char *out, size_t size)
{
	for (const struct node *n = row->child; n; n = n->next) {
		size_t used = strlen(out);

		if (n->kind == NODE_MAP)
			tell(n, n->key, out, size);
		else if (n->kind == NODE_SCALAR && strcmp(n->key, "before") != 0 &&
			 strcmp(n->key, "date") != 0)
			snprintf(out + used, size - used, "%s%s%s%s %s",
				 used > 0 ? ", " : "", group, *group ? "." : "", n->key,
				 n->text);
	}
}

void release_tell(const struct node *stack, const char *release, char *out, size_t size)
{
	const struct node *list = node_get(stack, "releases");

	out[0] = '\0';
	for (const struct node *row = list ? list->child : NULL; row; row = row->next)
		if (row->kind == NODE_MAP && came_later(row, release))
			tell(row, "", out, size);
}

bool release_take_back(const struct document *document, const struct node *stack,
		       const char *release, struct scenario *s, struct error *error)
{
	const struct node *list = node_get(stack, "releases");

	if (!release_is_known(release))
		return error_set(error, NULL, 0,
				 "release '%.40s' is none; expected a number such as "
				 "0.19.1 or a date such as 2026-03-01",
				 release);
	if (!list || list->kind != NODE_LIST)
		return error_set(error, NULL, 0,
				 "%.60s knows no releases; leave @%.40s out",
				 document->file, release);
	for (const struct node *row = list->child; row; row = row->next) {
		if (row->kind != NODE_MAP || !text_of(row, "before"))
			return error_set(
				error, document->file, row->line,
				"a release is a mapping such as {before: "
				"0.20.0, date: 2026-04-21, memory_share: 0.9}");
		if (came_later(row, release) &&
		    !stack_read_changes(document, row, s, error))
			return false;
	}
	return true;
}
