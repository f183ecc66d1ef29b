/* fields.c - see fields.h. */
#include "presets/fields.h"

#include <stdint.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/stream.h"

static bool read_word(const struct document *document, const struct node *node,
		      const struct field *field, int *out, struct error *error)
{
	char list[256] = "";
	size_t used = 0;

	for (int i = 0; node->kind == NODE_SCALAR && field->words[i]; i++) {
		if (strcmp(node->text, field->words[i]) == 0) {
			*out = i;
			return true;
		}
	}
	for (int i = 0; field->words[i] && used < sizeof list; i++)
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
					 i ? ", " : "", field->words[i]);
	return error_set(error, document->file, node->line,
			 "%s is '%.40s'; expected one of %s", field->key,
			 node->kind == NODE_SCALAR ? node->text : "a mapping", list);
}

/* Read node's text into the member. */
static bool field_read(const struct document *document, const struct node *node,
		       const struct field *field, void *base, struct error *error)
{
	void *at = (char *)base + field->offset;
	double number;

	switch (field->type) {
	case FIELD_COUNT:
		if (!node_count(document, node, at, error))
			return false;
		return *(int64_t *)at >= 0 ||
		       error_set(error, document->file, node->line,
				 "%s is %s; expected a count that is not negative",
				 field->key, node->text);
	case FIELD_NUMBER:
		if (!node_number(document, node, &number, error))
			return false;
		*(double *)at = number * (field->scale > 0 ? field->scale : 1);
		return number >= 0 ||
		       error_set(error, document->file, node->line,
				 "%s is %s; expected a number that is not negative",
				 field->key, node->text);
	case FIELD_BOOL: return node_bool(document, node, at, error);
	case FIELD_WORD: return read_word(document, node, field, at, error);
	default: return node_text(document, node, at, field->size, error);
	}
}

/* NULL if no field has this dotted key. */
static const struct field *field_find(const struct field *fields, int count,
				      const char *key)
{
	for (int i = 0; i < count; i++)
		if (fields[i].key[0] == key[0] && strcmp(fields[i].key, key) == 0)
			return &fields[i];
	return NULL;
}

void field_print(const struct field *field, const void *base, FILE *stream)
{
	const void *at = (const char *)base + field->offset;
	double scale = field->scale > 0 ? field->scale : 1;

	switch (field->type) {
	case FIELD_COUNT:
		fprintf(stream, "%lld", (long long)*(const int64_t *)at);
		break;
	case FIELD_NUMBER: fprintf(stream, "%.17g", *(const double *)at / scale); break;
	case FIELD_BOOL: fputs(*(const bool *)at ? "true" : "false", stream); break;
	case FIELD_WORD: fputs(field->words[*(const int *)at], stream); break;
	default: stream_put_quoted(stream, at);
	}
}

bool field_zero(const struct field *field, const void *base)
{
	const void *at = (const char *)base + field->offset;

	switch (field->type) {
	case FIELD_COUNT: return *(const int64_t *)at == 0;
	case FIELD_NUMBER: return *(const double *)at == 0;
	case FIELD_BOOL: return !*(const bool *)at;
	case FIELD_WORD: return *(const int *)at == 0;
	default: return *(const char *)at == '\0';
	}
}

/* Unknown key at node: fills error with the nearest of the known ones. */
static bool field_unknown(const struct document *document, const struct node *node,
			  const char *key, const struct field *fields, int count,
			  struct error *error)
{
	const char *near = NULL;
	int best = 4;

	for (int i = 0; i < count; i++) {
		int distance = knob_distance_within(key, fields[i].key, best);

		if (distance < best) {
			best = distance;
			near = fields[i].key;
		}
	}
	if (near)
		return error_set(error, document->file, node->line,
				 "unknown key '%.60s'; did you mean %s?", key, near);
	return error_set(error, document->file, node->line, "unknown key '%.60s'", key);
}

struct reading {
	const struct document *document;
	const struct field *fields;
	int count;
	void *base;
	bool (*other)(const struct document *, const struct node *, const char *,
		      void *, bool *, struct error *);
	struct error *error;
};

static bool is_remark(const char *key)
{
	return strcmp(key, "source") == 0 || strcmp(key, "note") == 0;
}

static bool read_map(const struct reading *r, const struct node *map,
		     const char *prefix, int depth);

static bool read_member(const struct reading *r, const struct node *node,
			const char *prefix, int depth)
{
	char key[160];
	bool failed = false;

	snprintf(key, sizeof key, "%s%s%.80s", prefix, prefix[0] ? "." : "", node->key);
	const struct field *field = field_find(r->fields, r->count, key);

	if (field)
		return field_read(r->document, node, field, r->base, r->error);
	if (r->other && r->other(r->document, node, key, r->base, &failed, r->error))
		return true;
	if (failed)
		return false;
	if (is_remark(node->key) && node->kind == NODE_SCALAR)
		return true;
	if (node->kind == NODE_MAP && depth < 4)
		return read_map(r, node, key, depth + 1);
	return field_unknown(r->document, node, key, r->fields, r->count, r->error);
}

static bool read_map(const struct reading *r, const struct node *map,
		     const char *prefix, int depth)
{
	for (const struct node *node = map->child; node; node = node->next)
		if (!read_member(r, node, prefix, depth))
			return false;
	return true;
}

bool fields_read(const struct document *document, const struct node *map,
		 const struct field *fields, int count, void *base,
		 bool (*other)(const struct document *, const struct node *,
			       const char *, void *, bool *, struct error *),
		 struct error *error)
{
	struct reading r = { document, fields, count, base, other, error };

	if (map->kind != NODE_MAP)
		return error_set(error, document->file, map->line,
				 "expected a mapping of keys and values");
	return read_map(&r, map, "", 0);
}

/* Depth of a dotted key's mappings: how many parts two keys share from the start. */
static int shared_parts(const char *a, const char *b)
{
	int parts = 0;

	for (; *a != '\0' && *a == *b; a++, b++)
		parts += *a == '.';
	return parts;
}

static int count_parts(const char *key)
{
	int parts = 0;

	for (; *key != '\0'; key++)
		parts += *key == '.';
	return parts;
}

bool fields_write(const struct field *fields, int count, const void *base, FILE *stream)
{
	const char *before = "";
	bool first = true;

	for (int i = 0; i < count; i++) {
		const char *key = fields[i].key, *part = key;

		if (field_zero(&fields[i], base))
			continue;
		int shared = shared_parts(before, key);

		for (int n = count_parts(before); n > shared; n--)
			fputc('}', stream);
		fputs(first ? "" : ", ", stream);
		for (int n = 0; n < shared; n++)
			part = strchr(part, '.') + 1;
		for (const char *dot; (dot = strchr(part, '.')); part = dot + 1)
			fprintf(stream, "%.*s: {", (int)(dot - part), part);
		fprintf(stream, "%s: ", part);
		field_print(&fields[i], base, stream);
		before = key;
		first = false;
	}
	for (int n = count_parts(before); n > 0; n--)
		fputc('}', stream);
	return !first;
}
