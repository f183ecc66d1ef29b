/* log.c - see log.h. */
#include "presets/mlperf/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "engine/score/score.h"
#include "presets/stream.h"

static const char mark[] = ":::MLLOG";
enum { MAX_BLOCKS = 4096, MAX_LOG = 256 << 20 };

struct reading {
	const char *file;
	int line;
	struct mlperf_log *out;
	/* of the block that is open */
	bool open;
	double began, samples;
	double each[MAX_BLOCKS]; /* seconds a sample */
	struct error *error;
};

static double number_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsNumber(item) ? item->valuedouble : -1;
}

static double samples_of(const cJSON *event)
{
	return number_of(cJSON_GetObjectItemCaseSensitive(event, "metadata"),
			 "samples_count");
}

static bool take_count(struct reading *r, const cJSON *event, int64_t *out, int *line)
{
	double value = number_of(event, "value");

	if (!(value >= 1) || value > 1e12)
		return error_set(r->error, r->file, r->line,
				 "its value is no count; expected a number above 0");
	*out = (int64_t)value;
	*line = r->line;
	return true;
}

static void begin(struct reading *r, const cJSON *event)
{
	r->began = number_of(event, "time_ms");
	r->samples = samples_of(event);
	r->open = r->began >= 0 && r->samples >= 0;
}

static void end(struct reading *r, const cJSON *event)
{
	double seconds = (number_of(event, "time_ms") - r->began) / 1e3;
	double samples = samples_of(event) - r->samples;

	if (r->open && seconds > 0 && samples > 0 && r->out->blocks < MAX_BLOCKS)
		r->each[r->out->blocks++] = seconds / samples;
	r->open = false;
}

static bool take(struct reading *r, const cJSON *event)
{
	const cJSON *key = cJSON_GetObjectItemCaseSensitive(event, "key");
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(event, "value");
	const char *word = cJSON_IsString(key) ? key->valuestring : "";

	if (strcmp(word, "global_batch_size") == 0)
		return take_count(r, event, &r->out->global_batch,
				  &r->out->global_batch_line);
	if (strcmp(word, "max_sequence_length") == 0)
		return take_count(r, event, &r->out->sequence, &r->out->sequence_line);
	if (strcmp(word, "submission_benchmark") == 0 && cJSON_IsString(value)) {
		snprintf(r->out->benchmark, sizeof r->out->benchmark, "%s",
			 value->valuestring);
		error_clean(r->out->benchmark);
	}
	if (strcmp(word, "block_start") == 0)
		begin(r, event);
	/* evaluations are inside a block where its end is logged late */
	if (strcmp(word, "block_stop") == 0 || strcmp(word, "eval_start") == 0)
		end(r, event);
	return true;
}

static bool read_line(struct reading *r, const char *from, size_t length)
{
	cJSON *event = cJSON_ParseWithLength(from, length);
	bool good =
		event ? take(r, event)
		      : error_set(r->error, r->file, r->line,
				  "behind %s stands no JSON; expected {\"key\": ...}",
				  mark);

	cJSON_Delete(event);
	return good;
}

/* GPT-3's logs count tokens, not sequences: of a block at least a batch of them. */
static double batch_of(const struct mlperf_log *log)
{
	double batch = (double)log->global_batch;

	return strcmp(log->benchmark, "gpt3") == 0 && log->sequence > 0
		       ? batch * (double)log->sequence
		       : batch;
}

static bool sum_up(struct reading *r)
{
	struct mlperf_log *out = r->out;

	if (out->blocks == 0)
		return error_set(r->error, r->file, 0,
				 "no block_start and block_stop with samples_count "
				 "behind %s; expected the log of an MLPerf run",
				 mark);
	if (out->global_batch == 0)
		return error_set(r->error, r->file, 0,
				 "no global_batch_size behind %s; how long a step is "
				 "can't be told without it",
				 mark);
	out->step_seconds = batch_of(out) * score_quantile(r->each, out->blocks, 0.5);
	return true;
}

bool mlperf_log_parse(const char *file, const char *text, size_t length,
		      struct mlperf_log *out, struct error *error)
{
	struct reading *r = calloc(1, sizeof *r);
	const char *end = text + length;
	bool good = r != NULL;

	memset(out, 0, sizeof *out);
	if (!r)
		return error_set(error, file, 0, "out of memory");
	r->file = file;
	r->out = out;
	r->error = error;
	for (const char *line = text; good && line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		size_t size = (size_t)((stop ? stop : end) - line);
		/* "0: :::MLLOG {...}": srun tells the rank first */
		const char *at = memmem(line, size, mark, sizeof mark - 1);

		r->line++;
		if (at)
			good = read_line(r, at + sizeof mark - 1,
					 size - (size_t)(at - line) - sizeof mark + 1);
		line += size + 1;
	}
	good = good && sum_up(r);
	free(r);
	return good;
}

bool mlperf_log_read(const char *path, struct mlperf_log *out, struct error *error)
{
	size_t length;
	char *text = stream_read_file(path, MAX_LOG, &length, error);
	bool good = text && mlperf_log_parse(path, text, length, out, error);

	free(text);
	return good;
}
