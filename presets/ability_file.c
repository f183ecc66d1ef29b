/* ability_file.c - see ability_file.h. */
#include "presets/ability_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/cluster_file.h"

static const char unknown[] = "not checked";

struct reader {
	const struct document *document;
	struct scenario *scenario;
	struct error *error;
};

static bool fail(const struct reader *r, const struct node *node, const char *what)
{
	return error_set(r->error, r->document->file, node->line, "%s", what);
}

static bool read_knob(const struct reader *r, const struct node *node, int *out)
{
	const struct knob *knob =
		node->kind == NODE_SCALAR ? knob_find(node->text) : NULL;
	const char *near = node->kind == NODE_SCALAR && !knob
				   ? knob_nearest_key(node->text)
				   : NULL;

	if (!knob || knob->type == KNOB_TEXT)
		return error_set(r->error, r->document->file, node->line,
				 "%s: expected a knob%s%s", node->key,
				 near ? "; did you mean " : "", near ? near : "");
	*out = 1 + (int)(knob - knob_table);
	return true;
}

/* A value as a person types it; the scenario is left as it was. */
static bool read_value(const struct reader *r, const struct node *node,
		       const struct knob *knob, double *out)
{
	double before = knob_get(r->scenario, knob);
	char why[256] = "expected a value";
	bool good = node->kind == NODE_SCALAR &&
		    knob_parse(r->scenario, knob, node->text, why, sizeof why);

	*out = knob_get(r->scenario, knob);
	knob_set(r->scenario, knob, before);
	return good || error_set(r->error, r->document->file, node->line, "%s: %s",
				 knob->key, why);
}

/* A list of values, or one; of a set the members, as "core_attn+mlp". */
static bool read_values(const struct reader *r, const struct node *list,
			struct ability_span *out)
{
	const struct knob *knob = &knob_table[out->knob - 1];
	const struct node *node = list->kind == NODE_LIST ? list->child : list;

	for (; node; node = list->kind == NODE_LIST ? node->next : NULL) {
		double value;

		if (!read_value(r, node, knob, &value))
			return false;
		if (knob->type == KNOB_SET)
			out->bits |= (uint64_t)value;
		else if (value >= 0 && value < 64 && floor(value) == value)
			out->bits |= UINT64_C(1) << (int)value;
		else
			return fail(r, node, "expected whole values from 0 to 63");
	}
	return true;
}

static bool read_bound(const struct reader *r, const struct node *node, bool most,
		       struct ability_span *out)
{
	const struct knob *knob = &knob_table[out->knob - 1];

	out->is_range = true;
	out->least = knob->min;
	out->most = knob->max;
	return read_value(r, node, knob, most ? &out->most : &out->least);
}

static bool known_keys(const struct reader *r, const struct node *map)
{
	static const char *const keys[] = { "knob", "has",  "most",  "with",
					    "in",   "from", "source" };

	for (const struct node *node = map->child; node; node = node->next) {
		size_t i = 0;

		while (i < sizeof keys / sizeof keys[0] &&
		       strcmp(keys[i], node->key) != 0)
			i++;
		if (i == sizeof keys / sizeof keys[0])
			return error_set(r->error, r->document->file, node->line,
					 "no key '%.40s'; expected knob, has, most, "
					 "with, in, from or source",
					 node->key);
	}
	return true;
}

static bool read_with(const struct reader *r, const struct node *map,
		      struct ability_span *out)
{
	const struct node *with = node_get(map, "with"), *in = node_get(map, "in"),
			  *from = node_get(map, "from");

	if (!with)
		return (!in && !from) || fail(r, map, "in and from go with `with`");
	if ((in != NULL) == (from != NULL))
		return fail(r, with, "with: expected `in` or `from` beside it");
	return read_knob(r, with, &out->knob) &&
	       (in ? read_values(r, in, out) : read_bound(r, from, false, out));
}

static bool read_row(const struct reader *r, const struct node *map,
		     struct ability *out)
{
	const struct node *knob = node_get(map, "knob"), *has = node_get(map, "has"),
			  *most = node_get(map, "most"),
			  *source = node_get(map, "source");

	if (map->kind != NODE_MAP || !knob || !source)
		return fail(r, map, "a row of abilities needs knob and source");
	if (!known_keys(r, map) || !read_knob(r, knob, &out->has.knob) ||
	    !node_text(r->document, source, out->source, sizeof out->source, r->error))
		return false;
	out->unknown = strcmp(out->source, unknown) == 0;
	if (out->unknown ? has || most : (has != NULL) == (most != NULL))
		return fail(r, map,
			    "expected `has` or `most`, or "
			    "neither of what was not checked");
	if ((has && !read_values(r, has, &out->has)) ||
	    (most && !read_bound(r, most, true, &out->has)))
		return false;
	return read_with(r, map, &out->with);
}

/* machines: {makers: [nvidia, amd], source: ...} */
static bool read_machines(const struct reader *r, const struct node *map,
			  struct ability_sheet *out)
{
	const char *const *words = cluster_maker_words();
	const struct node *makers = node_get(map, "makers"),
			  *source = node_get(map, "source");

	if (map->kind != NODE_MAP || map->count != 2 || !makers || !source ||
	    makers->kind != NODE_LIST)
		return fail(r, map, "machines needs a list of makers and source");
	for (const struct node *node = makers->child; node; node = node->next) {
		int m = 1 + MAKER_UNKNOWN;

		while (node->kind == NODE_SCALAR && m < MAKER_COUNT &&
		       strcmp(words[m], node->text) != 0)
			m++;
		if (node->kind != NODE_SCALAR || m == MAKER_COUNT)
			return fail(r, node, "expected nvidia, amd, google or huawei");
		out->makers |= UINT64_C(1) << m;
	}
	return node_text(r->document, source, out->machines.source,
			 sizeof out->machines.source, r->error);
}

bool abilities_read(const struct document *document, const struct node *map,
		    struct scenario *scenario, struct ability_sheet *out,
		    struct error *error)
{
	struct reader r = { document, scenario, error };
	const struct node *read = node_get(map, "read"), *rows = node_get(map, "rows"),
			  *machines = node_get(map, "machines");

	memset(out, 0, sizeof *out);
	if (map->kind != NODE_MAP || !read || !rows ||
	    map->count != 2 + (machines != NULL) || rows->kind != NODE_LIST)
		return fail(&r, map, "abilities needs read and a list of rows");
	if (!node_text(document, read, out->read, sizeof out->read, error))
		return false;
	if (machines && !read_machines(&r, machines, out))
		return false;
	for (const struct node *row = rows->child; row; row = row->next) {
		if (out->count == MAX_ABILITIES)
			return error_set(error, document->file, row->line,
					 "more than %d rows of abilities",
					 MAX_ABILITIES);
		if (!read_row(&r, row, &out->row[out->count++]))
			return false;
	}
	return true;
}

static void write_value(const struct knob *knob, double value, FILE *stream)
{
	char text[128];

	knob_print_value(knob, value, text, sizeof text);
	fputs(text, stream);
}

static void write_span(const struct ability_span *span, const char *values,
		       const char *bound, FILE *stream)
{
	const struct knob *knob = &knob_table[span->knob - 1];
	bool first = true;

	fprintf(stream, ", %s: ", span->is_range ? bound : values);
	if (span->is_range) {
		write_value(knob, bound[0] == 'm' ? span->most : span->least, stream);
		return;
	}
	fputc('[', stream);
	if (knob->type == KNOB_SET)
		write_value(knob, (double)span->bits, stream);
	for (int v = 0; v < 64 && knob->type != KNOB_SET; v++) {
		if ((span->bits >> v & 1) == 0)
			continue;
		fputs(first ? "" : ", ", stream);
		write_value(knob, v, stream);
		first = false;
	}
	fputc(']', stream);
}

/* A double-quoted scalar; the texts hold no control characters. */
static void write_text(const char *text, FILE *stream)
{
	fputc('"', stream);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', stream);
		fputc(*text, stream);
	}
	fputc('"', stream);
}

static void write_machines(const struct ability_sheet *sheet, FILE *stream)
{
	bool first = true;

	fputs(", machines: {makers: [", stream);
	for (int m = 0; m < MAKER_COUNT; m++) {
		if ((sheet->makers >> m & 1) == 0)
			continue;
		fprintf(stream, "%s%s", first ? "" : ", ", cluster_maker_words()[m]);
		first = false;
	}
	fputs("], source: ", stream);
	write_text(sheet->machines.source, stream);
	fputc('}', stream);
}

void abilities_write(const struct ability_sheet *sheet, FILE *stream)
{
	fputs("read: ", stream);
	write_text(sheet->read, stream);
	if (sheet->makers != 0)
		write_machines(sheet, stream);
	fputs(", rows: [", stream);
	for (int i = 0; i < sheet->count; i++) {
		const struct ability *row = &sheet->row[i];

		fprintf(stream, "%s{knob: %s", i == 0 ? "" : ", ",
			knob_table[row->has.knob - 1].key);
		if (!row->unknown)
			write_span(&row->has, "has", "most", stream);
		if (row->with.knob != 0) {
			fprintf(stream, ", with: %s",
				knob_table[row->with.knob - 1].key);
			write_span(&row->with, "in", "from", stream);
		}
		fputs(", source: ", stream);
		write_text(row->source, stream);
		fputc('}', stream);
	}
	fputc(']', stream);
}
