/* test_requests.c - logs of requests: each form as its source writes it, what is
 * refused and where, and `eval --simulate` on them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "presets/requests/requests.h"
#include "tests/support/close.h"
#include "tests/support/run.h"

static char path[] = "/tmp/shardscope-requests-XXXXXX";

static int make_file(void **state)
{
	int file = mkstemp(path);

	(void)state;
	return file < 0 || close(file) != 0;
}

static int drop_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void reads(const char *text, struct request_log *log)
{
	struct error error = { "" };

	write_file(text);
	if (!requests_read(log, path, 0, &error))
		fail_msg("%s", error.text);
}

static void is(const struct request_log *log, int i, double arrival, int prompt,
	       int output, int cached)
{
	const struct queue_item *item = &log->item[i];

	assert_true(i < log->count);
	assert_close(item->arrival + 1, arrival + 1, 1e-6); /* a date is no finer */
	assert_int_equal(item->prompt, prompt);
	assert_int_equal(item->output, output);
	assert_int_equal(item->cached, cached);
}

static void plain_tables(void **state)
{
	struct request_log log;

	(void)state;
	reads("arrival_seconds,prompt_tokens,output_tokens\n"
	      "2,100,10\n\n2.5,7,1\r\n10,50,4\n",
	      &log);
	assert_int_equal(log.count, 3);
	is(&log, 0, 0, 100, 10, 0);
	is(&log, 1, 0.5, 7, 1, 0);
	is(&log, 2, 8, 50, 4, 0);
	assert_close(log.prompt, 157 / 3.0, 1e-12);
	assert_close(log.output, 5, 1e-12);
	assert_close(log.seconds, 8, 1e-12);
	assert_int_equal(log.longest, 110);
	assert_int_equal(log.longest_line, 2);
	requests_free(&log);
	/* other words, order and separator; prefixes in blocks of 512 tokens */
	reads("\xef\xbb\xbfOutput Len;Prefix-Blocks-Seen;prompt;what;arrival_ms\n"
	      "5;1;2000;x;100\n6;9;1024;y;350\n",
	      &log);
	is(&log, 0, 0, 2000, 5, 512);
	is(&log, 1, 0.25, 1024, 6, 1023); /* the last token is computed */
	requests_free(&log);
	reads("prompt,output\n3,4\n", &log);
	assert_false(log.arrives);
	requests_free(&log);
}

/* Within quotes a separator is none, and a quote is written twice. */
static void cells_in_quotes(void **state)
{
	struct request_log log;

	(void)state;
	reads("\"arrival\", \"text\" ,prompt,\"output\"\n"
	      "0,\"hello, \"\"world\"\", you\",\" 100 \",10\n"
	      "1 , \"\" ,\"7\" , 1\n",
	      &log);
	assert_int_equal(log.count, 2);
	is(&log, 0, 0, 100, 10, 0);
	is(&log, 1, 1, 7, 1, 0);
	assert_int_equal(requests_beyond(&log, 0), 0);
	assert_int_equal(requests_beyond(&log, 7), 2);
	assert_int_equal(requests_beyond(&log, 109), 1);
	assert_int_equal(requests_beyond(&log, 110), 0);
	requests_free(&log);
	reads("arrival\tprompt\toutput\n0\t\"3\"\t4\n", &log);
	is(&log, 0, 0, 3, 4, 0);
	requests_free(&log);
}

/* Azure/AzurePublicDataset, 2023 and 2024. */
static void dates(void **state)
{
	struct request_log log;

	(void)state;
	reads("TIMESTAMP,ContextTokens,GeneratedTokens\n"
	      "2023-11-16 23:59:59.9799600,374,44\n"
	      "2023-11-17 00:00:01.0319600,396,109\n",
	      &log);
	is(&log, 0, 0, 374, 44, 0);
	is(&log, 1, 1.052, 396, 109, 0);
	requests_free(&log);
	/* a leap day, and a zone */
	reads("TIMESTAMP,ContextTokens,GeneratedTokens\n"
	      "2024-02-28 12:00:00.009930+00:00,1,1\n"
	      "2024-03-01 12:00:00.009930+00:00,1,1\n",
	      &log);
	is(&log, 1, 2 * 86400.0, 1, 1, 0);
	requests_free(&log);
}

/* HPMLL/BurstGPT: seconds; a failed request has no output. */
static void failures_are_left_out(void **state)
{
	struct request_log log;

	(void)state;
	reads("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
	      "5,ChatGPT,472,18,490,Conversation log\n"
	      "45,ChatGPT,1087,0,1087,Conversation log\n"
	      "118,GPT-4,417,276,693,API log\n",
	      &log);
	assert_int_equal(log.count, 2);
	assert_int_equal(log.left_out, 1);
	is(&log, 1, 113, 417, 276, 0);
	requests_free(&log);
}

/* kvcache-ai/Mooncake: milliseconds, hashes of blocks of 512 tokens. */
static void prefixes_are_counted(void **state)
{
	struct request_log log;

	(void)state;
	reads("{\"timestamp\": 1000, \"input_length\": 1500, \"output_length\": 9, "
	      "\"hash_ids\": [0, 1, 2]}\n"
	      "{\"timestamp\": 4000, \"input_length\": 1600, \"output_length\": 5, "
	      "\"hash_ids\": [0, 1, 7, 8]}\n"
	      "{\"timestamp\": 4000, \"input_length\": 600, \"output_length\": 5, "
	      "\"hash_ids\": [9, 1]}\n",
	      &log);
	is(&log, 0, 0, 1500, 9, 0);
	is(&log, 1, 3, 1600, 5, 1024);
	is(&log, 2, 3, 600, 5, 0); /* 1 was seen, but does not lead */
	assert_close(log.cached, 1024 / 3700.0, 1e-12);
	requests_free(&log);
}

static void what_is_refused_is_named(void **state)
{
	static const struct {
		const char *text, *says;
	} row[] = {
		{ "", ":0: no line" },
		{ "a,b\n1,2\n", ":1: no column of prompt tokens" },
		{ "prompt,arrival\n", ":1: no column of output tokens" },
		{ "prompt,output\n", "no request" },
		{ "prompt,output\n1,2\n3\n", ":3: 1 columns; the first line has 2" },
		{ "prompt,output\n1,x\n", ":2: column 2 is 'x'" },
		{ "prompt,output\n\"1,000\",2\n", ":2: column 1 is '1,000'" },
		{ "prompt,output\n\"1,2\n", ":2: column 1 is '1,2'" },
		{ "prompt,output\n1.5,1\n", ":2: the prompt is 1.5" },
		{ "prompt,output\n-1,1\n", ":2: the prompt is -1" },
		{ "prompt,output\n1,1e300\n", ":2: the output is 1e+300" },
		{ "prompt,output\n1,1\n99999999999,1\n",
		  ":3: the prompt is 1e+11; it is a whole number of tokens from 0 to "
		  "67108864" },
		{ "arrival,prompt,output\n2,1,1\n1,1,1\n", ":3: arrives at -1 s" },
		{ "arrival,prompt,output\nnan,1,1\n", ":2: column 1 is 'nan'" },
		{ "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-13-01 1:1:1,1,1\n",
		  ":2: column 1" },
		{ "{\"input_length\": 5}\n", ":1: no output tokens" },
		{ "{\"input_length\": 5, \"output_length\": 1}\n[1]\n",
		  ":2: no object of JSON" },
		{ "{\"input_length\": \"x\", \"output_length\": 1}\n",
		  ":1: \"input_length\" is no number" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct request_log log;
		struct error error = { "" };

		write_file(row[i].text);
		if (requests_read(&log, path, 0, &error))
			fail_msg("taken: %s", row[i].text);
		if (!strstr(error.text, row[i].says))
			fail_msg("'%s' says '%s', not '%s'", row[i].text, error.text,
				 row[i].says);
		assert_null(log.item);
	}
}

static const char server[] = "eval --mode inference --model llama3.1-8b --cluster "
			     "dgx-h100 --stack vllm --gpus 1 --tp 1 --goal-ttft 200";

static char *evaluates(const char *more, int status)
{
	char line[512];
	struct ran ran;
	char *out;

	snprintf(line, sizeof line, "%s %s", server, more);
	ran = run(line);
	if (ran.status != status)
		fail_msg("%s: status %d, %s", line, ran.status, ran.err);
	out = strdup(status == 2 ? ran.err : ran.out);
	ran_free(&ran);
	assert_non_null(out);
	return out;
}

static double number(const cJSON *object, const char *where)
{
	char copy[64], *rest = copy, *part;

	snprintf(copy, sizeof copy, "%s", where);
	while ((part = strsep(&rest, "."))) {
		object = cJSON_GetObjectItem(object, part);
		if (!object)
			fail_msg("no %s", where);
	}
	assert_true(cJSON_IsNumber(object));
	return object->valuedouble;
}

/* 300 requests, half a second apart, of 600 + 20 tokens; every third 1,024 of 1,500
 * seen before. */
static void write_trace(void)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs("arrival_seconds,prompt_tokens,output_tokens,prefix_blocks_seen\n", file);
	for (int i = 0; i < 300; i++)
		fprintf(file, "%g,%d,20,%d\n", i * 0.5, i % 3 ? 600 : 1500,
			i % 3 ? 0 : 2);
	assert_int_equal(fclose(file), 0);
}

static void a_trace_is_simulated(void **state)
{
	char more[128], *text, *again;
	cJSON *root, *without;

	(void)state;
	write_trace();
	snprintf(more, sizeof more, "--trace %s --json", path);
	text = evaluates(more, 0);
	again = evaluates(more, 0);
	assert_string_equal(text, again);
	root = cJSON_Parse(text);
	assert_close(number(root, "simulation.requests"), 300, 0);
	assert_close(number(root, "simulation.file.prompt_mean"), 900, 1e-12);
	assert_close(number(root, "scenario.request_rate"), 2, 1e-12);
	assert_close(number(root, "simulation.requests_per_second"), 2, 0.02);
	assert_close(number(root, "simulation.cached_tokens"), 100 * 1024, 0);
	assert_close(number(root, "simulation.within_goal_ttft"), 1, 0);
	/* Little 1961 */
	assert_close(number(root, "simulation.running"),
		     number(root, "simulation.requests_per_second") *
			     number(root, "simulation.request.mean_seconds"),
		     1e-9);
	free(text);
	free(again);
	snprintf(more, sizeof more, "--trace %s --prefix-cache off --json", path);
	text = evaluates(more, 0);
	without = cJSON_Parse(text);
	assert_close(number(without, "simulation.cached_tokens"), 0, 0);
	assert_true(number(without, "simulation.ttft.p99_seconds") >
		    1.5 * number(root, "simulation.ttft.p99_seconds"));
	free(text);
	cJSON_Delete(root);
	cJSON_Delete(without);
}

static void options_are_held_to_the_file(void **state)
{
	static const struct {
		const char *more, *says;
	} row[] = {
		{ "--trace %s --prompt 5", "--prompt" },
		{ "--trace %s --request-rate 5", "--request_rate" },
		{ "--trace %s --requests 301", "300 requests" },
		{ "--trace %s --requests 0", "from 1 on" },
		{ "--trace %s --lengths x", "leave one out" },
		{ "--trace %s --seed 1x", "whole number" },
		{ "--trace %s --mode training", "--mode inference" },
	};

	(void)state;
	write_trace();
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		char more[160], *text, *at = strstr(row[i].more, "%s");

		snprintf(more, sizeof more, "%.*s%s%s", (int)(at - row[i].more),
			 row[i].more, path, at + 2);
		text = evaluates(more, 2);
		if (!strstr(text, row[i].says))
			fail_msg("%s: %s", more, text);
		free(text);
	}
}

static double simulated(const char *more, const char *where)
{
	char *text = evaluates(more, 0);
	cJSON *root = cJSON_Parse(text);
	double value = number(root, where);

	cJSON_Delete(root);
	free(text);
	return value;
}

/* What each knob of a load does to the tail. */
static void knobs_move_percentiles(void **state)
{
	static const char p99[] = "simulation.ttft.p99_seconds";
	double poisson = simulated("--request-rate 5 --json --simulate", p99);
	char more[128];

	(void)state;
	assert_true(simulated("--request-rate 5 --arrival-scv 0 --json --simulate",
			      p99) < 0.8 * poisson);
	assert_true(simulated("--request-rate 5 --arrival-scv 8 --json --simulate",
			      p99) > 1.2 * poisson);
	assert_true(simulated("--request-rate 5 --length-shape lognormal "
			      "--length-spread 1.5 --json --simulate",
			      p99) > 1.5 * poisson);
	assert_true(simulated("--request-rate 5 --seed 1 --json", p99) != poisson);
	/* lengths of a file, arrivals by the knobs, begun again behind its end */
	write_trace();
	snprintf(more, sizeof more,
		 "--lengths %s --requests 3000 --concurrency 8 --json", path);
	assert_close(simulated(more, "simulation.running"), 8, 0.02);
	assert_close(simulated(more, "simulation.requests"), 3000, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_tables),
		cmocka_unit_test(cells_in_quotes),
		cmocka_unit_test(dates),
		cmocka_unit_test(failures_are_left_out),
		cmocka_unit_test(prefixes_are_counted),
		cmocka_unit_test(what_is_refused_is_named),
		cmocka_unit_test(a_trace_is_simulated),
		cmocka_unit_test(options_are_held_to_the_file),
		cmocka_unit_test(knobs_move_percentiles),
	};

	return cmocka_run_group_tests(tests, make_file, drop_file);
}
