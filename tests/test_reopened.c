/* test_reopened.c - every shipped plan, written in every form that takes it and opened
 * again by what stands in the file alone: as the kind it is, with the same degrees,
 * batch, sequence, precision, recomputation and offload, but for what the file says it
 * can't hold or its reader says it assumed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "presets/formats.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"

static char path[] = "/tmp/shardscope-reopened-XXXXXX";

static const char *const training[] = { "gpus",
					"tp",
					"pp",
					"vpp",
					"cp",
					"ep",
					"etp",
					"mbs",
					"gbs",
					"seq",
					"zero",
					"precision",
					"recompute",
					"recompute_layers",
					"recompute_modules",
					"activation_offload",
					"optimizer_offload",
					NULL };
static const char *const serving[] = {
	"gpus",         "tp",         "pp",           "cp",           "ep",
	"dp_attention", "precision",  "kv_precision", "speculative",  "disaggregated",
	"prefill_gpus", "prefill_tp", "memory_share", "max_requests", NULL
};

static bool is_assumed(const struct import_report *report, const char *key)
{
	for (int i = 0; i < report->count; i++)
		if (report->note[i].kind == IMPORT_ASSUMED &&
		    strcmp(report->note[i].key, key) == 0)
			return true;
	return false;
}

static void check_knob(const struct scenario *a, const struct scenario *b,
		       const char *text, const struct import_report *report,
		       const char *key)
{
	const struct knob *knob = knob_find(key);
	char was[256], is[256];

	knob_print(a, knob, was, sizeof was);
	knob_print(b, knob, is, sizeof is);
	/* what does nothing in the plan, and what DeepSpeed counts without stages */
	if (strcmp(was, is) == 0 || !knob_applies(a, knob) || strstr(text, key) ||
	    is_assumed(report, key) ||
	    (strcmp(report->format, "deepspeed") == 0 && strcmp(key, "gpus") == 0))
		return;
	fail_msg("%s of %s is %s in %s, not %s:\n%s", key, a->model.name, is,
		 report->format, was, text);
}

static void check(const struct format *format, const struct scenario *s)
{
	static struct import_report report;
	static struct scenario back;
	struct error error = { "" };
	struct format_request request = { .scenario = s, .error = &error };
	char *text = format->out.write(&request);
	bool good = false;

	/* llm-d starts no TensorRT-LLM */
	if (!text && error.text[0] != '\0')
		return;
	assert_non_null(text);
	FILE *stream = fopen(path, "w");

	assert_non_null(stream);
	fputs(text, stream);
	assert_int_equal(fclose(stream), 0);
	/* where the form has no word for the model, the caller has */
	for (int i = 0; i < 2 && !good && (i == 0 || report.nameless); i++) {
		memset(&report, 0, sizeof report);
		snprintf(report.model, sizeof report.model, "%s",
			 i > 0 ? s->model.name : "");
		good = format_open(path, &back, &report, &error);
	}
	if (!good)
		fail_msg("%s of %s: %s, in\n%s", format->name, s->model.name,
			 error.text, text);
	assert_int_equal(back.plan.mode, s->plan.mode);
	for (const char *const *key = s->plan.mode == MODE_TRAINING ? training
								    : serving;
	     *key; key++)
		check_knob(s, &back, text, &report, *key);
	free(text);
}

/* In each form that takes it and reads it again, but for one; returns how many. */
static int check_forms(const struct scenario *s, const char *but)
{
	struct error error;
	int done = 0;

	for (int k = 0; k < format_count(); k++) {
		const struct format *format = &format_table[k];

		if (!format->out.write || format->out.of == FORMAT_OF_ANY ||
		    !format_suits(format, s, &error) ||
		    (but && strcmp(format->name, but) == 0))
			continue;
		if (!format->in.read &&
		    strstr("markdown json csv trace chakra", format->name))
			continue;
		check(format, s);
		done++;
	}
	return done;
}

static void test_every_plan_in_every_form(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list), done = 0;
	struct scenario s;
	struct error error;

	(void)state;
	for (int i = 0; i < count; i++) {
		assert_true(scenario_read(&s, list[i].name, NULL, &error));
		done += check_forms(&s, NULL);
	}
	assert_true(done > 300);
}

/* What most files of a tool have is left out where there is nothing of it to say: no
 * pipeline, and a batch that no number of micro-batches makes up. */
static void test_a_kind_is_known_without_its_usual_keys(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list), done = 0;
	struct scenario s;
	struct error error;

	(void)state;
	for (int i = 0; i < count; i++) {
		assert_true(scenario_read(&s, list[i].name, NULL, &error));
		if (s.plan.mode != MODE_TRAINING)
			continue;
		assert_true(knob_set(&s, knob_find("pp"), 1));
		assert_true(knob_set(&s, knob_find("vpp"), 1));
		assert_true(knob_set(&s, knob_find("tp"), 1));
		assert_true(knob_set(&s, knob_find("gbs"), 7));
		/* DeepSpeed's refuses such a batch by its own rule */
		done += check_forms(&s, "deepspeed");
	}
	assert_true(done > 150);
}

static int open_file(void **state)
{
	int handle = mkstemp(path);

	(void)state;
	return handle < 0 ? -1 : close(handle);
}

static int remove_file(void **state)
{
	(void)state;
	return remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_plan_in_every_form),
		cmocka_unit_test(test_a_kind_is_known_without_its_usual_keys),
	};

	return cmocka_run_group_tests(tests, open_file, remove_file);
}
