/* fuzz_format.c - any bytes as a file of one kind (FORMAT): read or refused with a
 * message; what was read can be checked, estimated and written in every form. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/estimate/estimate.h"
#include "engine/predict/predict.h"
#include "presets/accelerate/accelerate.h"
#include "presets/answers.h"
#include "presets/challenge_file.h"
#include "presets/cluster_file.h"
#include "presets/deepspeed/deepspeed.h"
#include "presets/formats.h"
#include "presets/lesson_file.h"
#include "presets/lint.h"
#include "presets/megatron/megatron.h"
#include "presets/model_file.h"
#include "presets/nanotron/nanotron.h"
#include "presets/runs/runs.h"
#include "presets/scenario_file.h"
#include "presets/serving/serving.h"
#include "presets/stack_file.h"
#include "presets/torchtitan/torchtitan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct import_report report; /* of the last file read */
static size_t drawn;                /* a number of the bytes at work */

/* One form of all, by the bytes that were read: written in each of them, an input would
 * take as long as ten. */
static void write_one(const struct scenario *s)
{
	static char *(*const writers[])(const struct scenario *) = {
		scenario_write,   megatron_write, bridge_write,    deepspeed_write,
		torchtitan_write, nanotron_write, accelerate_write
	};
	/* with the flags that were not understood */
	static char *(*const servers[])(const struct scenario *,
					const struct import_report *) = {
		vllm_write, sglang_write, trtllm_write
	};
	enum {
		WRITERS = sizeof writers / sizeof writers[0],
		SERVERS = sizeof servers / sizeof servers[0]
	};
	size_t which = drawn % (WRITERS + SERVERS);

	if (which < WRITERS)
		free(writers[which](s));
	else
		free(servers[which - WRITERS](s, &report));
}

static void use(const struct scenario *s)
{
	static struct estimate estimate;

	write_one(s);
	scenario_estimate(s, &estimate);
}

static bool read_scenario(const char *text, size_t size, struct error *error)
{
	struct scenario s;

	if (!scenario_parse(&s, "file", text, size, NULL, error))
		return false;
	use(&s);
	return true;
}

static bool read_rules(const char *text, size_t size, struct error *error)
{
	static struct lint_rules rules;

	return lint_rules_parse(&rules, "file", text, size, error);
}

static bool read_runs(const char *text, size_t size, struct error *error)
{
	struct run_set set = { 0 };
	bool good = runs_parse(&set, "file", text, size, error);

	runs_free(&set);
	return good;
}

static void ignore(void *context, const struct lesson_fault *fault)
{
	(void)context;
	(void)fault;
}

static bool read_lesson(const char *text, size_t size, struct error *error)
{
	static struct lesson lesson;
	static struct lesson_scene scene;
	struct document document;
	bool good;

	if (!document_parse(&document, "file", text, size, error))
		return false;
	good = lesson_from(&lesson, &document, "lesson", error);
	document_free(&document);
	if (good)
		lesson_check(&lesson, 2, &scene, ignore, NULL);
	return good;
}

/* What was read is written, read again and graded. */
static bool read_answers(const char *text, size_t size, struct error *error)
{
	static struct lesson lesson;
	static struct lesson_scene scene;
	struct lesson_fault fault;
	struct document document;
	struct answers answers;
	struct grade grade;
	bool good;
	char *again;

	if (!document_parse(&document, "file", text, size, error))
		return false;
	good = answers_from(&answers, &document, error);
	document_free(&document);
	if (!good)
		return false;
	if (lesson.steps == 0 && !lesson_read(&lesson, "bubble", error))
		abort();
	answers_grade(&lesson, answers.seed, &answers, &scene, &grade, &fault);
	again = answers_write(&answers);
	if (again && document_parse(&document, "file", again, strlen(again), error)) {
		if (!answers_from(&answers, &document, error))
			abort();
		document_free(&document);
	}
	free(again);
	return true;
}

/* A mapping of a document, put into a scenario that is whole otherwise. */
static bool read_part(const char *text, size_t size, struct error *error)
{
	struct document document;
	struct scenario s;
	bool good;

	if (!document_parse(&document, "file", text, size, error))
		return false;
	if (!scenario_start(&s, error))
		abort();
	if (strcmp(FORMAT, "model") == 0)
		good = model_read(&document, document.root, &s.model, NULL, error);
	else if (strcmp(FORMAT, "cluster") == 0)
		good = cluster_read(&document, document.root, &s.cluster, NULL, error);
	else
		good = stack_read(&document, document.root, &s, NULL, error);
	document_free(&document);
	if (good)
		use(&s);
	return good;
}

static bool read_format(const char *text, size_t size, struct error *error)
{
	struct scenario s;

	memset(&report, 0, sizeof report);
	/* these name no model, and would end there */
	if (strcmp(FORMAT, "deepspeed") == 0 || strcmp(FORMAT, "accelerate") == 0)
		snprintf(report.model, sizeof report.model, "llama3.1-8b");
	if (!format_find(FORMAT)->in.read(&s, "file", text, size, &report, error))
		return false;
	snprintf(report.kept, sizeof report.kept, "%s", FORMAT);
	use(&s);
	return true;
}

static bool read_challenge(const char *text, size_t size, struct error *error)
{
	struct challenge *c = malloc(sizeof *c);
	bool good = c && challenge_parse(c, "file", "file", text, size, error);

	if (good)
		use(&c->problem.base);
	free(c);
	return good;
}

static bool read_as(const char *text, size_t size, struct error *error)
{
	if (strcmp(FORMAT, "scenario") == 0)
		return read_scenario(text, size, error);
	if (strcmp(FORMAT, "rules") == 0)
		return read_rules(text, size, error);
	if (strcmp(FORMAT, "lesson") == 0)
		return read_lesson(text, size, error);
	if (strcmp(FORMAT, "answers") == 0)
		return read_answers(text, size, error);
	if (strcmp(FORMAT, "challenge") == 0)
		return read_challenge(text, size, error);
	if (strcmp(FORMAT, "runs") == 0)
		return read_runs(text, size, error);
	return format_find(FORMAT) ? read_format(text, size, error)
				   : read_part(text, size, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = { "" };
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	drawn = 0;
	for (size_t i = 0; i < size; i++)
		drawn = drawn * 31 + data[i];
	if (!read_as(text, size, &error) && error.text[0] == '\0')
		abort(); /* refused without a word */
	free(text);
	return 0;
}
