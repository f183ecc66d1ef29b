/* read.c - see requests.h: a log line by line. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "presets/requests/requests_parts.h"
#include "presets/stream.h"

enum { MOST_COLUMNS = 64, MOST_TOKENS = 1 << 26 };

struct reader {
	struct request_log *log;
	struct error *error;
	FILE *stream;
	char *text; /* of the line */
	size_t size;
	long line;
	int room, most;
	/* a table: what stands in each column, or NULL */
	const struct request_column *column[MOST_COLUMNS];
	int columns;
	char separator;
	struct prefix_set seen;
	double first, last; /* arrivals */
	double prompt, output, cached;
};

/* What one line says; a field that it does not have is not a number. */
struct row {
	double field[FIELD_COUNT];
};

/* A log may have more lines than a place has bits. */
static bool refuse(const struct reader *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool refuse(const struct reader *r, const char *format, ...)
{
	char what[320];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	return error_set(r->error, NULL, 0, "%s:%ld: %s", r->log->file, r->line, what);
}

/* The next line that is not blank, without its end. */
static bool next_line(struct reader *r)
{
	ssize_t length;

	while ((length = getline(&r->text, &r->size, r->stream)) >= 0) {
		r->line++;
		while (length > 0 && strchr("\r\n \t", r->text[length - 1]))
			r->text[--length] = '\0';
		if (length > 0)
			return true;
	}
	return false;
}

/* --- what a line says becomes a request --- */

static bool take_tokens(const struct reader *r, double value, const char *what,
			int32_t least, int32_t *out)
{
	if (isnan(value) || value != floor(value) || value < least ||
	    value > MOST_TOKENS)
		return refuse(r,
			      "%s is %g; it is a whole number of tokens from %d to "
			      "%d",
			      what, value, least, (int)MOST_TOKENS);
	*out = (int32_t)value;
	return true;
}

static bool take_arrival(struct reader *r, double arrival, double *out)
{
	struct request_log *log = r->log;

	*out = 0;
	if (!log->arrives)
		return true;
	if (isnan(arrival))
		return refuse(r, "no arrival; every line of the file has one");
	if (log->count == 0)
		r->first = r->last = arrival;
	if (arrival < r->last)
		return refuse(r,
			      "arrives at %.9g s, before the line above; sort the file "
			      "by arrival",
			      arrival - r->first);
	r->last = arrival;
	*out = arrival - r->first;
	return true;
}

static bool add(struct reader *r, const struct queue_item *item)
{
	struct request_log *log = r->log;
	int64_t tokens = (int64_t)item->prompt + item->output;

	if (log->count == r->room) {
		int room = r->room > 0 ? 2 * r->room : 4096;
		struct queue_item *wider =
			r->room < 1 << 29
				? realloc(log->item, (size_t)room * sizeof *wider)
				: NULL;

		if (!wider)
			return refuse(r, "out of memory; --requests takes the first N");
		log->item = wider;
		r->room = room;
	}
	log->item[log->count++] = *item;
	r->prompt += item->prompt;
	r->output += item->output;
	r->cached += item->cached;
	if (tokens > log->longest) {
		log->longest = tokens;
		log->longest_line = r->line;
	}
	return true;
}

static bool take_row(struct reader *r, const struct row *row)
{
	struct queue_item item = { 0 };
	double prefix = row->field[FIELD_PREFIX];

	if (!take_tokens(r, row->field[FIELD_PROMPT], "the prompt", 0, &item.prompt) ||
	    !take_tokens(r, row->field[FIELD_OUTPUT], "the output", 0, &item.output) ||
	    !take_tokens(r, isnan(prefix) ? 0 : prefix, "the prefix", 0, &item.cached))
		return false;
	if (item.output == 0 || item.prompt == 0) {
		r->log->left_out++;
		return true;
	}
	/* at least the last token of a prompt is computed */
	if (item.cached >= item.prompt)
		item.cached = item.prompt - 1;
	return take_arrival(r, row->field[FIELD_ARRIVAL], &item.arrival) &&
	       add(r, &item);
}

static void empty_row(struct row *row)
{
	for (int f = 0; f < FIELD_COUNT; f++)
		row->field[f] = NAN;
}

/* --- a table --- */

/* Around a cell. */
static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Cuts a cell in quotes off, within which a separator is none and a quote is written
 * twice (RFC 4180, section 2); returns what is behind it. */
static char *end_quoted(char *cell)
{
	char *to = cell, *from = cell;

	for (; *from != '\0' && (*from != '"' || from[1] == '"'); from++) {
		from += *from == '"';
		*to++ = *from;
	}
	from += *from == '"';
	*to = '\0';
	return from;
}

/* Cuts the next cell off, without quotes and blanks around it; NULL behind the last. */
static char *next_cell(char **rest, char separator)
{
	char *cell = *rest, *end;
	bool quoted;

	if (!cell)
		return NULL;
	while (is_blank(*cell) && *cell != separator)
		cell++;
	quoted = *cell == '"';
	cell += quoted;
	end = quoted ? end_quoted(cell) : cell;
	end += strcspn(end, (char[]){ separator, '\0' });
	*rest = *end ? end + 1 : NULL;
	if (!quoted)
		*end = '\0';
	end = cell + strlen(cell);
	while (end > cell && is_blank(end[-1]))
		*--end = '\0';
	while (is_blank(*cell))
		cell++;
	return cell;
}

static bool has_field(const struct reader *r, enum request_field field)
{
	for (int i = 0; i < r->columns; i++)
		if (r->column[i] && r->column[i]->field == field)
			return true;
	return false;
}

static bool read_header(struct reader *r)
{
	char *rest = r->text, *cell;
	bool mooncake;

	r->separator = strchr(r->text, ',')    ? ','
		       : strchr(r->text, ';')  ? ';'
		       : strchr(r->text, '\t') ? '\t'
					       : ',';
	mooncake = strcasestr(r->text, "input_length") != NULL;
	while ((cell = next_cell(&rest, r->separator)) && r->columns < MOST_COLUMNS)
		r->column[r->columns++] = column_find(cell, mooncake);
	r->log->arrives = has_field(r, FIELD_ARRIVAL);
	if (has_field(r, FIELD_PROMPT) && has_field(r, FIELD_OUTPUT))
		return true;
	return refuse(r,
		      "no column of %s; the first line names them, as in "
		      "arrival_seconds,prompt_tokens,output_tokens",
		      has_field(r, FIELD_PROMPT) ? "output tokens" : "prompt tokens");
}

static bool read_cells(struct reader *r)
{
	char *rest = r->text, *cell;
	struct row row;
	int i = 0;

	empty_row(&row);
	for (; i < r->columns && (cell = next_cell(&rest, r->separator)); i++) {
		const struct request_column *c = r->column[i];
		double value;

		if (!c)
			continue;
		if (!column_number(cell, &value))
			return refuse(r, "column %d is '%.40s'; it should be a %s",
				      i + 1, cell,
				      c->field == FIELD_ARRIVAL ? "time" : "number");
		row.field[c->field] = value * c->unit;
	}
	if (i < r->columns)
		return refuse(r, "%d columns; the first line has %d", i, r->columns);
	return take_row(r, &row);
}

/* --- an object of JSON a line --- */

static bool read_hashes(struct reader *r, const cJSON *hashes, struct row *row)
{
	const cJSON *hash;
	bool leads = true, failed = false;
	double blocks = 0;

	cJSON_ArrayForEach(hash, hashes)
	{
		bool seen;

		if (!cJSON_IsNumber(hash))
			return refuse(r, "a hash that is no number");
		seen = prefix_seen(&r->seen, (uint64_t)(int64_t)hash->valuedouble,
				   &failed);
		leads = leads && seen;
		blocks += leads;
	}
	if (failed)
		return refuse(r, "out of memory; --requests takes the first N");
	row->field[FIELD_PREFIX] = blocks * PREFIX_BLOCK;
	return true;
}

static bool read_member(const struct reader *r, const cJSON *member, bool mooncake,
			struct row *row)
{
	const struct request_column *c = column_find(member->string, mooncake);
	double value;

	if (!c)
		return true;
	if (cJSON_IsNumber(member))
		value = member->valuedouble;
	else if (!cJSON_IsString(member) || !column_number(member->valuestring, &value))
		return refuse(r, "\"%.40s\" is no %s", member->string,
			      c->field == FIELD_ARRIVAL ? "time" : "number");
	row->field[c->field] = value * c->unit;
	return true;
}

static bool take_object(struct reader *r, const cJSON *object)
{
	const cJSON *hashes = cJSON_GetObjectItem(object, "hash_ids"), *member;
	bool mooncake = cJSON_GetObjectItem(object, "input_length") != NULL;
	struct row row;

	empty_row(&row);
	if (hashes && !read_hashes(r, hashes, &row))
		return false;
	cJSON_ArrayForEach(member, object) if (member->string &&
					       !read_member(r, member, mooncake,
							    &row)) return false;
	if (isnan(row.field[FIELD_PROMPT]) || isnan(row.field[FIELD_OUTPUT]))
		return refuse(r,
			      "no %s tokens; Mooncake has \"timestamp\", "
			      "\"input_length\" and \"output_length\"",
			      isnan(row.field[FIELD_PROMPT]) ? "prompt" : "output");
	if (r->log->count == 0 && r->log->left_out == 0)
		r->log->arrives = !isnan(row.field[FIELD_ARRIVAL]);
	return take_row(r, &row);
}

static bool read_object(struct reader *r)
{
	cJSON *object = cJSON_ParseWithOpts(r->text, NULL, true);
	bool good;

	if (!cJSON_IsObject(object)) {
		cJSON_Delete(object);
		return refuse(r, "no object of JSON; each line is one");
	}
	good = take_object(r, object);
	cJSON_Delete(object);
	return good;
}

/* --- the file --- */

static bool read_lines(struct reader *r)
{
	struct request_log *log = r->log;
	bool good = next_line(r), objects;

	if (!good)
		return refuse(r, "no line; the first one names the columns, as in "
				 "arrival_seconds,prompt_tokens,output_tokens");
	if (strncmp(r->text, "\xef\xbb\xbf", 3) == 0)
		memmove(r->text, r->text + 3, strlen(r->text + 3) + 1);
	objects = *r->text == '{';
	good = objects ? read_object(r) : read_header(r);
	while (good && (r->most == 0 || log->count < r->most) && next_line(r))
		good = objects ? read_object(r) : read_cells(r);
	if (good && log->count == 0)
		return refuse(r, "no request with a prompt and an output");
	return good;
}

static void sum_up(const struct reader *r)
{
	struct request_log *log = r->log;

	log->prompt = r->prompt / log->count;
	log->output = r->output / log->count;
	log->cached = r->cached / r->prompt;
	log->seconds = log->item[log->count - 1].arrival;
}

bool requests_read(struct request_log *log, const char *path, int most,
		   struct error *error)
{
	struct reader r = { .log = log, .error = error, .most = most };
	bool given = strcmp(path, "-") == 0, good;

	*log = (struct request_log){ 0 };
	snprintf(log->file, sizeof log->file, "%s", stream_name(path));
	error_clean(log->file);
	r.stream = given ? stdin : fopen(path, "re");
	if (!r.stream)
		return error_set(error, path, 0, "can't be opened: %m");
	good = read_lines(&r);
	if (good && ferror(r.stream))
		good = refuse(&r, "can't be read: %m");
	if (!given)
		fclose(r.stream);
	free(r.text);
	prefix_free(&r.seen);
	if (good)
		sum_up(&r);
	else
		requests_free(log);
	return good;
}

int requests_beyond(const struct request_log *log, int64_t tokens)
{
	int beyond = 0;

	if (tokens <= 0 || log->longest <= tokens)
		return 0;
	for (int i = 0; i < log->count; i++)
		beyond += (int64_t)log->item[i].prompt + log->item[i].output > tokens;
	return beyond;
}

void requests_free(struct request_log *log)
{
	free(log->item);
	log->item = NULL;
	log->count = 0;
}
