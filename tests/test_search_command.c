/* test_search_command.c - `search` and what can be asked beside the best plans. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "engine/base/form.h"
#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tests/support/vt.h"

#define SMALL "search --model llama2-13b --cluster dgx-a100-40g --stack megatron-core "
#define PINS  "--gbs 24 --seq 4k --vpp 1,2 "

static cJSON *json_of(const char *arguments, int status)
{
	struct ran ran = run(arguments);
	cJSON *root;

	if (ran.status != status)
		fail_msg("%s: status %d, %s", arguments, ran.status, ran.err);
	root = cJSON_Parse(ran.out);
	assert_non_null(root);
	ran_free(&ran);
	return root;
}

static cJSON *at(cJSON *root, const char *path)
{
	char copy[128], *rest = copy, *part;

	snprintf(copy, sizeof copy, "%s", path);
	while ((part = strsep(&rest, "."))) {
		root = part[0] >= '0' && part[0] <= '9'
			       ? cJSON_GetArrayItem(root, atoi(part))
			       : cJSON_GetObjectItem(root, part);
		if (!root)
			fail_msg("no %s", path);
	}
	return root;
}

static double number(cJSON *root, const char *path)
{
	cJSON *item = at(root, path);

	assert_true(cJSON_IsNumber(item));
	return item->valuedouble;
}

static void says(const char *arguments, int status, const char *expected)
{
	struct ran ran = run(arguments);

	if (ran.status != status)
		fail_msg("%s: status %d, %s", arguments, ran.status, ran.err);
	if (!strstr(status == 2 ? ran.err : ran.out, expected))
		fail_msg("%s: no '%s' in\n%s%s", arguments, expected, ran.out, ran.err);
	ran_free(&ran);
}

/* What is left out as too little known is told with its step, where it is faster; not
 * where all plans are taken, or who asks says which. */
static void test_less_known_plans_are_told(void **state)
{
	static const char told[] = "less known plans are left out";
	static char text[160];
	cJSON *all = json_of("search deepseek-v3-2048-h800 --trust open --json", 0);
	double seconds = number(all, "best.time.step_seconds");
	char step[32];

	(void)state;
	form_text(FORM_SECONDS, seconds, step, sizeof step);
	snprintf(text, sizeof text, "(open) takes %s per step, ", step);
	says("search deepseek-v3-2048-h800", 0, told);
	says("search deepseek-v3-2048-h800", 0, text);
	for (int i = 0; i < 2; i++) {
		struct ran ran =
			run(i ? "search deepseek-v3-2048-h800 --trust open"
			      : "search deepseek-v3-2048-h800 --trust published");

		assert_int_equal(ran.status, 0);
		assert_null(strstr(ran.out, told));
		ran_free(&ran);
	}
	cJSON_Delete(all);
}

/* The engine that nobody gave is the same beside the remedy: one that keeps the goals.
 */
static void test_fewer_requests_mend_what_was_assumed(void **state)
{
#define GOAL                                                                     \
	"check --mode inference --model pythia-12b --gpus 4 --cluster dgx-h100 " \
	"--stack vllm --disaggregated on --prefill_gpus 2 --goal_tpot 11 "
	(void)state;
	says(GOAL, 0, "nearest that works: concurrency 18\n");
	says(GOAL "--concurrency 18", 0, "tp 2, pp 1\nok: legal");
	says(GOAL "--concurrency 1", 0, "tp 1, pp 1\nok: legal");
#undef GOAL
}

static void test_questions_have_answers(void **state)
{
	cJSON *root = json_of(SMALL PINS "--gpus 16 --ask gpus --ask mbs --ask seq "
					 "--ask model --json",
			      0);
	static const char *const asked[] = { "gpus", "mbs", "seq", "model" };

	(void)state;
	assert_int_equal(cJSON_GetArraySize(at(root, "questions")), 4);
	for (int i = 0; i < 4; i++) {
		cJSON *q = cJSON_GetArrayItem(at(root, "questions"), i);
		cJSON *beyond = at(q, "beyond");

		assert_string_equal(at(q, "ask")->valuestring, asked[i]);
		assert_true(cJSON_IsTrue(at(q, "plan.feasible")));
		/* the value next to the answer is on the wrong side of it */
		if (cJSON_IsNumber(beyond) && i == 0)
			assert_true(beyond->valuedouble < number(q, "answer"));
		else if (cJSON_IsNumber(beyond))
			assert_true(beyond->valuedouble > number(q, "answer"));
		if (i < 3)
			assert_close(number(at(q, "plan.scenario"), asked[i]),
				     number(q, "answer"), 1e-12);
	}
	assert_true(number(root, "questions.3.plan.model.parameters") > 13e9);
	cJSON_Delete(root);
	says(SMALL PINS "--gpus 16 --top 1 --ask gpus", 0, "smallest cluster: ");
	/* what is tried beyond one node, and that only */
	says("search --model llama3.1-405b --cluster dgx-h100 --stack vllm --mode inference --gpus 16 --precision bf16 "
	     "--concurrency 8 --top 1 --ask gpus",
	     0, "smallest cluster: 16 GPUs, not 8 GPUs, in whole nodes of 8");
	/* one is no plural, and less known plans are taken where no other fits */
	says("search --model qwen1.5-4b --cluster ascend-910b --gpus 3 --seq 8192 --gbs 96 "
	     "--stack megatron-core --top 1 --ask gpus --trust published",
	     0, "2 GPUs, not 1 GPU, by plans that are measured or published\n");
	says("search --model qwen1.5-4b --cluster ascend-910b --gpus 3 --seq 8192 --gbs 96 "
	     "--stack megatron-core --top 1 --ask gpus",
	     0,
	     "smallest cluster: 1 GPU, by a plan that is open; by plans that are "
	     "measured or published: 2 GPUs\n");
	/* a server has no step */
	says("search --model mixtral-8x7b --cluster dgx-h200 --gpus 16 --mode inference "
	     "--top 1 --ask gpus",
	     0, ": TPOT ");
	/* and its sequence is the prompt */
	says("search --model mixtral-8x7b --cluster dgx-h200 --gpus 16 --mode inference "
	     "--top 1 --ask seq",
	     0, "longest sequence: prompt ");
}

static void test_the_fewest_gpus(void **state)
{
	cJSON *root = json_of(SMALL PINS "--gpus 16 --objective gpus --json", 0);
	cJSON *late;

	(void)state;
	assert_close(number(root, "questions.0.answer"),
		     number(root, "best.scenario.gpus"), 1e-12);
	assert_true(number(root, "best.scenario.gpus") < 16);
	/* who wants it sooner needs more of them */
	late = json_of(SMALL PINS "--gpus 16 --tokens 0.01T --deadline 3d --json", 0);
	assert_true(number(late, "best.scenario.gpus") >
		    number(root, "best.scenario.gpus"));
	assert_close(number(late, "questions.0.deadline_seconds"), 3 * 86400, 1e-12);
	cJSON_Delete(root);
	cJSON_Delete(late);
	says(SMALL PINS "--gpus 16 --tokens 0.01T --deadline 3d", 0,
	     "cluster that ends in 3");
	says(SMALL PINS "--gpus 16 --deadline 1h", 1,
	     "none, not even at the full rate");
	/* a list is ranked as it is */
	root = json_of(SMALL PINS "--gpus 48,6,24 --objective gpus --json", 0);
	assert_true(number(root, "best.scenario.gpus") == 6 ||
		    number(root, "best.scenario.gpus") == 24);
	cJSON_Delete(root);
}

static double sum_of(const cJSON *object)
{
	const cJSON *item;
	double sum = 0;

	cJSON_ArrayForEach(item, object)
	{
		assert_true(cJSON_IsNumber(item) && item->valuedouble >= 0);
		sum += item->valuedouble;
	}
	return sum;
}

/* What became of every candidate: each is counted once. */
static void check_proof(const char *request, const char *rule)
{
	cJSON *root = json_of(request, 0);

	assert_close(number(root, "explored") + sum_of(at(root, "pruned")) +
			     sum_of(at(root, "rejected")),
		     number(root, "candidates"), 1e-12);
	assert_true(number(root, "explored") >= cJSON_GetArraySize(at(root, "top")));
	assert_true(number(at(root, "rejected"), rule) > 0);
	cJSON_Delete(root);
}

static void test_the_proof_adds_up(void **state)
{
	cJSON *root = json_of(SMALL PINS "--gpus 16 --top 3 --json", 0);

	(void)state;
	assert_string_equal(at(root, "proof")->valuestring, "bounds");
	cJSON_Delete(root);
	check_proof(SMALL PINS "--gpus 16 --top 3 --json", "E1");
	check_proof(SMALL PINS "--gpus 16 --exhaustive --json", "memory");
	/* a server's rules are others */
	check_proof("search deepseek-v3-8-h200-serve --json", "S1");
	says(SMALL PINS "--gpus 16 --top 1", 0, "broken rules: ");
	says("search deepseek-v3-8-h200-serve", 0, "broken rules: S");
}

/* A switch is pinned like any other knob, and told apart in a name. */
static void test_switches_take_lists(void **state)
{
	static const char *const free[] = { "off,on", "off..on", "on,off" };

	(void)state;
	for (int i = 0; i < 3; i++) {
		char request[200];
		cJSON *root;

		snprintf(request, sizeof request,
			 SMALL PINS "--gpus 4 --tp 2 --sp %s --json", free[i]);
		root = json_of(request, 0);
		assert_int_equal(cJSON_GetArraySize(at(root, "top")), 10);
		cJSON_Delete(root);
	}
	says(SMALL PINS "--gpus 4 --tp 2 --pp 1 --sp off,on", 0, "noSP");
	says(SMALL PINS "--gpus 4 --tp 2 --sp=off,on --top 1", 0,
	     "the first as options: --mbs ");
}

/* Lines after the header that begin with this many fields. */
static void sweeps(const char *vary, const char *const *rows, int count)
{
	char request[160];
	struct ran ran;
	char *rest, *line;

	snprintf(request, sizeof request, "sweep --vary %s", vary);
	ran = run(request);
	assert_int_equal(ran.status, 0);
	rest = ran.out;
	line = strsep(&rest, "\n");
	for (int i = 0; i < count; i++) {
		line = strsep(&rest, "\n");
		assert_non_null(line);
		*strchr(line, ',') = '\0';
		assert_string_equal(line, rows[i]);
	}
	assert_string_equal(rest, "");
	ran_free(&ran);
}

static void test_ranges(void **state)
{
	(void)state;
	sweeps("zero=0..3", (const char *[]){ "0", "1", "2", "3" }, 4);
	sweeps("schedule=1f1b..breadth-first,gpipe",
	       (const char *[]){ "1f1b", "interleaved", "breadth-first", "gpipe" }, 4);
	/* by a tenth, and wide ones by the knob's own steps */
	sweeps("imbalance=1..1.2", (const char *[]){ "1", "1.1", "1.2" }, 3);
	sweeps("seq=1k..5000", (const char *[]){ "1024", "2048", "4096", "5000" }, 4);
	says("sweep --vary tp=2..1", 2, "ends before it begins");
	says("sweep --vary tp=1..", 2, "tp is empty");
	says("sweep --vary recompute_modules=mlp..moe", 2, "has no ranges");
	says("sweep --vary tp=1 --vary tp=2", 2, "varied already");
	says(SMALL PINS "--gpus 64 --tp 1..64 --top 1", 0, "can't be better");
	says(SMALL PINS "--gpus 8 --seq 1k..16k --top 1", 0, "seq1024");
	says(SMALL PINS "--gpus 8 --recompute_modules mlp..moe", 2, "has no ranges");
}

static void test_a_front_falls(void **state)
{
	cJSON *root = json_of(SMALL PINS "--gpus 16 --top 1 --pareto memory --json", 0);
	cJSON *points = at(root, "pareto.points");

	(void)state;
	assert_true(cJSON_GetArraySize(points) > 2);
	for (int i = 1; i < cJSON_GetArraySize(points); i++) {
		cJSON *a = cJSON_GetArrayItem(points, i - 1);
		cJSON *b = cJSON_GetArrayItem(points, i);

		assert_true(number(b, "total_bytes") < number(a, "total_bytes"));
		assert_true(number(b, "tokens_per_second") <
			    number(a, "tokens_per_second"));
		at(b, "plan.tp");
		at(b, "plan.recompute");
	}
	assert_close(number(points, "0.step_seconds"),
		     number(root, "best.time.step_seconds"), 1e-12);
	cJSON_Delete(root);
	says(SMALL PINS "--gpus 16 --top 1 --pareto gpus", 0,
	     "no plan beats these in throughput and gpus");
}

/* A remedy says what it costs, and eval how far a run may be from it. */
static void test_remedies_have_prices(void **state)
{
	cJSON *root = json_of("check llama3-70b-64-h100 --tp 4 --pp 8 --json", 1);
	cJSON *remedies = at(root, "problems.0.remedies"), *remedy;

	(void)state;
	assert_in_range(cJSON_GetArraySize(remedies), 2, 4);
	cJSON_ArrayForEach(remedy, remedies)
	{
		assert_true(cJSON_IsTrue(at(remedy, "feasible")));
		assert_true(number(remedy, "tokens_per_second_per_gpu") > 100);
	}
	cJSON_Delete(root);
	says("check llama3-70b-64-h100 --tp 4 --pp 8", 1, "mbs 1: ");
	says("check llama3-70b-64-h100 --tp 3", 1, "tp 4: ");
	says("check llama3-70b-64-h100 --tp 3", 1, "does not fit, ");
	says("eval llama3-70b-64-h100", 0, "the chance that it fits is ");
	says("eval llama3-70b-64-h100", 0, "four of five runs");
}

/* Free knobs are chosen anew at each point: no fixed plan is better. */
static void test_a_sweep_may_choose(void **state)
{
	struct ran free = run("sweep llama3-70b-64-h100 --vary gpus=64,128 "
			      "--free tp,pp,mbs --json");
	struct ran fixed = run("sweep llama3-70b-64-h100 --vary gpus=64,128 --json");
	char *a = free.out, *b = fixed.out;

	(void)state;
	assert_int_equal(free.status, 0);
	for (int i = 0; i < 2; i++) {
		cJSON *best = cJSON_ParseWithOpts(a, (const char **)&a, false);
		cJSON *given = cJSON_ParseWithOpts(b, (const char **)&b, false);

		assert_true(number(best, "time.step_seconds") <
			    number(given, "time.step_seconds"));
		assert_true(number(best, "scenario.gpus") == 64 << i);
		assert_true(number(best, "scenario.gbs") ==
			    number(given, "scenario.gbs"));
		cJSON_Delete(best);
		cJSON_Delete(given);
	}
	ran_free(&free);
	ran_free(&fixed);
	says("sweep llama3-70b-64-h100 --vary gpus=64 --free tpp", 2, "--free tpp");
}

/* Ten rows are ten ideas: what differs in offload, recomputation or chunks stands with
 * the best of them, and none of two rows has the same degrees. */
static void test_rows_are_ideas(void **state)
{
	cJSON *root = json_of(
		"search --model llama3.1-8b --cluster dgx-h100 --gpus 64 --json", 0);
	cJSON *ideas, *idea;
	int plans = 0;

	(void)state;
	assert_int_equal(cJSON_GetArraySize(at(root, "top")), 10);
	ideas = at(root, "ideas");
	assert_in_range(cJSON_GetArraySize(ideas), 2, 10);
	assert_close(number(ideas, "0.score"), number(root, "best.score"), 1e-12);
	cJSON_ArrayForEach(idea, ideas)
	{
		cJSON *other, *list = at(idea, "alike");

		plans += 1 + cJSON_GetArraySize(list);
		assert_true(number(idea, "as_fast") <= 1 + cJSON_GetArraySize(list));
		cJSON_ArrayForEach(other, list)
			assert_true(number(other, "score") >= number(idea, "score"));
		for (cJSON *next = idea->next; next; next = next->next)
			assert_string_not_equal(at(idea, "name")->valuestring,
						at(next, "name")->valuestring);
	}
	assert_true(plans > cJSON_GetArraySize(ideas));
	cJSON_Delete(root);
	says("search --model llama3.1-8b --cluster dgx-h100 --gpus 64", 0, "like it");
}

static void test_robust_plans_are_ten(void **state)
{
	cJSON *root = json_of(SMALL PINS "--gpus 16 --top 2 --robust --json", 0);

	(void)state;
	assert_int_equal(cJSON_GetArraySize(at(root, "top")), 2);
	assert_int_equal(cJSON_GetArraySize(at(root, "robust.plans")), 10);
	assert_int_equal(cJSON_GetArraySize(at(root, "robust.cases")), 4);
	for (int i = 0; i < 10; i++) {
		cJSON *plan = cJSON_GetArrayItem(at(root, "robust.plans"), i);

		assert_close(number(plan, "rank.0"), i + 1, 1e-12);
		assert_int_equal(cJSON_GetArraySize(at(plan, "rank")), 4);
		assert_true(cJSON_IsBool(at(plan, "best_in_all_cases")));
	}
	cJSON_Delete(root);
	says(SMALL PINS "--gpus 16 --robust", 0, "order on 10 % less of");
}

static void test_why_names_changes(void **state)
{
	cJSON *root =
		json_of("search llama3-70b-64-h100 --vpp 1,2 --top 1 --why --json", 0);

	(void)state;
	assert_true(number(root, "why.gain_of_best") > 0.01);
	/* TP's overlap has two knobs and is told once */
	assert_int_equal(cJSON_GetArraySize(at(root, "why.changes")), 2);
	assert_true(number(root, "why.changes.0.gain") >
		    number(root, "why.changes.1.gain"));
	cJSON_Delete(root);
}

/* Servers that hold no request are legal, and none of them a near miss. */
/* What the words of --why say of a plan that runs, of the best, and of ones that do not
 * fit, with a remedy and without. */
static void test_why_is_said_in_words(void **state)
{
	static const struct {
		const char *plan, *says;
	} rows[] = {
		{ "llama3-70b-64-h100 --tp 8 --pp 4 --mbs 1",
		  "of your plan's time; single changes, of other knobs too, save:\n"
		  "  tp_overlap off -> on  " },
		{ "llama3-8b-8-h100", "\nyour plan is as good as the best\n" },
		{ "llama3-8b-8-h100 --zero 0 --mbs 4",
		  "\nyour plan does not fit or can't run; what mends it:\n  tp 1 -> 8\n" },
		{ "llama3-70b-64-h100 --tp 1 --pp 1 --zero 0",
		  "what mends it:\n  no single change does\n" },
	};
	char file[] = "/tmp/shardscope-why-XXXXXX", line[160];
	int made = mkstemp(file);

	(void)state;
	assert_true(made >= 0);
	close(made);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ran ran;
		FILE *out = fopen(file, "w");

		snprintf(line, sizeof line, "export yaml %s", rows[i].plan);
		ran = run(line);
		assert_int_equal(ran.status, 0);
		assert_non_null(out);
		fputs(ran.out, out);
		assert_int_equal(fclose(out), 0);
		ran_free(&ran);
		snprintf(line, sizeof line, "search %s --threads 1 --top 1 --why",
			 file);
		says(line, 0, rows[i].says);
	}
	unlink(file);
}

/* Who asks for more than any server gives is told so, above those that come closest:
 * the mean request's goals, those of the slowest percent, and a rate. */
static void test_goals_that_no_server_keeps(void **state)
{
	static const struct {
		const char *asked, *says;
		bool goals, up;
	} rows[] = {
		{ "--goal-ttft 2 --goal-tpot 0.05",
		  "no server here keeps the goals, TTFT 2.00 ms, TPOT 50.0 us: ", false,
		  true },
		{ "--goal-ttft 2 --goal-percentile p99",
		  "no server here keeps the goals, TTFT 2.00 ms: ", false, true },
		{ "--goal-tpot 50 --request-rate 1000",
		  "no server here is up to 1000 requests per second: ", true, false },
		{ "--goal-ttft 2000 --goal-percentile p99", NULL, true, true },
		{ "--request-rate 1", NULL, true, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char line[300];
		struct ran ran;
		cJSON *root;

		snprintf(line, sizeof line,
			 "search --mode inference --model llama3.1-70b --cluster "
			 "dgx-h100 --stack vllm --gpus 8 %s",
			 rows[i].asked);
		ran = run(line);
		if (rows[i].says)
			assert_non_null(strstr(ran.out, rows[i].says));
		else
			assert_null(strstr(ran.out, "no server here"));
		ran_free(&ran);
		strcat(line, " --json");
		root = json_of(line, 0);
		assert_int_equal(cJSON_IsTrue(at(root, "best.keeps_goals")),
				 rows[i].goals);
		assert_int_equal(cJSON_IsTrue(at(root, "best.keeps_up")), rows[i].up);
		cJSON_Delete(root);
	}
}

/* Goals of 99 of 100 requests rank servers by what they give while they keep them: less
 * than the mean request gets, and the first keeps them there. */
static void test_servers_by_their_slowest(void **state)
{
	static const char server[] =
		"search --mode inference --model llama3.1-70b --cluster dgx-h100 "
		"--stack vllm --gpus 8 --goal-ttft 2000 --goal-tpot 50 --top 3 --json "
		"--goal-percentile ";
	char line[400], plan[400];
	cJSON *mean, *slow, *again;

	(void)state;
	snprintf(line, sizeof line, "%smean", server);
	mean = json_of(line, 0);
	snprintf(line, sizeof line, "%sp99", server);
	slow = json_of(line, 0);
	assert_true(cJSON_IsBool(at(mean, "best.p99.within_goals")));
	assert_true(number(slow, "best.p99.goodput") > 0);
	assert_true(number(slow, "best.p99.goodput") <
		    number(mean, "best.throughput.goodput"));
	snprintf(plan, sizeof plan,
		 "eval --mode inference --model llama3.1-70b --cluster dgx-h100 "
		 "--stack vllm --gpus 8 --json --simulate --tp %.0f --concurrency "
		 "%.0f",
		 number(slow, "best.scenario.tp"),
		 number(slow, "best.p99.goodput_concurrency"));
	again = json_of(plan, 0);
	assert_true(number(again, "simulation.ttft.p99_seconds") <= 2);
	assert_true(number(again, "simulation.tpot.p99_seconds") <= 0.05);
	cJSON_Delete(mean);
	cJSON_Delete(slow);
	cJSON_Delete(again);
}

/* A row tells one load: all that are asked for, of whom some wait for room, or, where
 * there are goals, those that keep them. */
static void test_rows_of_servers_tell_one_load(void **state)
{
	static const char server[] =
		"--mode inference --model llama3.1-70b --cluster dgx-h100 --stack vllm "
		"--gpus 8 --tp 2 --pp 1 --disaggregated off --kv-shards 1";
	static const char *const goals[] = { "", "--goal-ttft 4000 --goal-tpot 50" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		char line[400], wanted[200], mean[32], slow[32];
		double requests = 64;
		cJSON *held;

		snprintf(line, sizeof line, "search %s --concurrency 64 %s --json",
			 server, goals[i]);
		held = json_of(line, 0);
		if (i > 0)
			requests = number(held, "best.throughput.goodput_concurrency");
		assert_int_equal(requests<64, i> 0);
		cJSON_Delete(held);
		snprintf(line, sizeof line,
			 "eval %s --concurrency %.0f --simulate --json", server,
			 requests);
		held = json_of(line, 0);
		form_text(FORM_SECONDS, number(held, "time.ttft_seconds"), mean,
			  sizeof mean);
		form_text(FORM_SECONDS, number(held, "simulation.ttft.p99_seconds"),
			  slow, sizeof slow);
		snprintf(wanted, sizeof wanted, "%8.0f %9s %9s ", requests, mean, slow);
		cJSON_Delete(held);
		snprintf(line, sizeof line, "search %s --concurrency 64 %s", server,
			 goals[i]);
		says(line, 0, wanted);
	}
}

static void test_servers_that_are_too_large(void **state)
{
	(void)state;
	says("search --mode inference --model llama3.1-405b --cluster dgx-a100-40g "
	     "--gpus 16",
	     1, "nothing fits: ");
}

static void test_impossible_problems_get_the_closest_misses(void **state)
{
	cJSON *root = json_of(SMALL PINS "--optimizer-offload 0 --gpus 4 --json", 1);

	(void)state;
	assert_true(cJSON_IsNull(at(root, "best")));
	assert_int_equal(cJSON_GetArraySize(at(root, "misses.plans")), 5);
	assert_true(number(root, "misses.plans.0.memory.total_bytes") >
		    number(root, "misses.has_bytes"));
	assert_non_null(
		strstr(at(root, "misses.would_do.0")->valuestring, "GPUs would do"));
	cJSON_Delete(root);
	says(SMALL PINS "--optimizer-offload 0 --gpus 4", 1,
	     "nothing fits: the closest needs ");
	says(SMALL "--model llama3.2-1b --gbs 32 --gpus 7 --vpp 1 --split even", 1,
	     "gbs 35 would do");
	/* learned positions end at 2048 */
	says("search --model gpt3-175b --gpus 1024 --gbs 1024 --seq 4k", 1,
	     "no legal plan: X5 ");
	says("search --model gpt3-175b --gpus 1024 --gbs 1024 --seq 4k", 1,
	     "seq 2048 would do");
}

static void test_threads_are_no_matter(void **state)
{
	static const char base[] = "search llama3-70b-64-h100 --top 8 --json --threads";
	cJSON *one, *four;
	char arguments[128];

	(void)state;
	snprintf(arguments, sizeof arguments, "%s 1", base);
	one = json_of(arguments, 0);
	snprintf(arguments, sizeof arguments, "%s 4", base);
	four = json_of(arguments, 0);
	assert_true(cJSON_Compare(at(one, "top"), at(four, "top"), true));
	assert_true(cJSON_Compare(at(one, "best"), at(four, "best"), true));
	assert_true(number(one, "candidates") == number(four, "candidates"));
	cJSON_Delete(one);
	cJSON_Delete(four);
}

static void test_wrong_questions_are_refused(void **state)
{
	(void)state;
	says("search --ask money", 2, "gpus, mbs, seq or model");
	says("search --pareto speed", 2, "memory, gpus or users");
	says(SMALL "--pareto users", 2, "is for servers");
	says(SMALL "--mode inference,training", 2, "expected one mode");
	says("search --deadline soon", 2, "30d or 72h");
	says("search --certificate ''", 2, "--certificate: expected a file");
	says("search --deadline -3", 2, "30d or 72h");
	says("search --deadline 3d --objective cost", 2, "--objective gpus");
	says("search --threads 0", 2, "1 to 32");
	says("search --reserve ''", 2, "a share");
	says("search --tp 8..2", 2, "ends before it begins");
	says("search --objective cost --price 0", 2, "has no price");
}

/* Who waits on a terminal sees how far it is, and nobody else does. */
static void test_a_terminal_sees_progress(void **state)
{
	char command[4608]; /* a program may lie deep */
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };
	const struct vt_options options = { .columns = 80, .rows = 4 };
	struct vt *vt;

	(void)state;
	snprintf(command, sizeof command,
		 "exec %s sweep --yes --vary tp=1,2,4,8 --vary pp=1,2,4,8 --vary "
		 "mbs=1,2,3,4,5,6,7,8,9,10,11,12 --vary zero=0,1,2,3 --vary "
		 "gbs=64,128,256,512,1024 --vary seq=1k,2k,4k,8k,16k --vary "
		 "cp=1,2,4,8 --vary recompute=none,full > /dev/null",
		 run_program());
	vt = vt_start(&options, argv);
	vt_expect(vt, "of 153600 plans");
	assert_true(vt_find(vt, " %  ", NULL) || vt_find(vt, "[", NULL));
	vt_close(vt);
	/* of a search the best so far too */
	snprintf(command, sizeof command,
		 "exec %s search deepseek-v3-2048-h800 --exhaustive --schedule "
		 "gpipe..hanayo --threads 1",
		 run_program());
	vt = vt_start(&options, argv);
	vt_expect(vt, "searching, best");
	vt_close(vt);
	struct ran ran = run("search llama3-70b-64-h100 --top 1");
	assert_string_equal(ran.err, "");
	ran_free(&ran);
}

/* Free on request only, and told where it could be tried. */
static void test_activation_offload_is_left_out(void **state)
{
	static const char asks[] = "--activation_offload 0,0.5,1";
	static const char plan[] = "search llama3-70b-64-h100 --top 1";
	struct ran ran = run(plan), free;

	(void)state;
	assert_int_equal(ran.status, 0);
	assert_non_null(strstr(ran.out, asks));
	assert_null(strstr(ran.out, " ao"));
	free = run("search llama3-70b-64-h100 --top 1 --activation_offload 0,0.5,1");
	assert_int_equal(free.status, 0);
	assert_null(strstr(free.out, asks));
	assert_non_null(strstr(free.out, " ao0.5"));
	ran_free(&ran);
	ran_free(&free);
	/* no host's memory is known: there is nothing to ask for */
	ran = run("search llama3-70b-64-h100 --top 1 --host-memory-gib 0");
	assert_int_equal(ran.status, 0);
	assert_null(strstr(ran.out, asks));
	ran_free(&ran);
}

/* A longest sequence may be longer than the model's positions, or end with the knob. */
static void test_ends_that_are_none_of_the_memory(void **state)
{
	struct ran ran = run("search --model pythia-70m --cluster h100-pcie --gpus 128 "
			     "--seq 4096 --ask seq --top 1");

	(void)state;
	assert_non_null(strstr(ran.out, "longest sequence: seq 16777216, the most that "
					"the knob takes; the model was made for 2048"));
	ran_free(&ran);
	ran = run("search --model llama3.1-8b --gpus 64 --ask gpus --top 1");
	assert_null(strstr(ran.out, "the knob takes"));
	assert_null(strstr(ran.out, "was made for"));
	ran_free(&ran);
}

/* A start may choose what a search of known plans may not: that is told with the
 * reason, as the explorer tells it, and not as something that was assumed. */
static void test_ones_own_plan_is_faster(void **state)
{
	static const char line[] = "--model deepseek-v2-lite --cluster hgx-h100-96g "
				   "--gpus 32 --seq 2048 --stack internevo";
	static const char plan[] = "the plan that eval takes, mbs8 EP8 PP2 Z1, is ";
	char arguments[256], told[64];
	struct ran ran, screen;

	(void)state;
	snprintf(arguments, sizeof arguments, "search %s --top 1", line);
	ran = run(arguments);
	assert_int_equal(ran.status, 0);
	assert_null(strstr(ran.out, "assumed: gbs 2048, pp 1, ep 8"));
	assert_non_null(strstr(ran.out, plan));
	assert_non_null(strstr(
		ran.out,
		"it is open: not measured on internevo: pp (nor published), ep (nor "
		"published); --trust open takes such plans"));
	snprintf(told, sizeof told, "your plan is %.4s %% faster than any",
		 strstr(ran.out, plan) + strlen(plan));
	snprintf(arguments, sizeof arguments, "screen search %s --size 120x36", line);
	screen = run(arguments);
	assert_non_null(strstr(screen.out, told));
	ran_free(&ran);
	ran_free(&screen);
	/* a plan outside of what was asked about is not compared */
	snprintf(arguments, sizeof arguments, "search %s --top 1 --ep 1 --pp 1", line);
	ran = run(arguments);
	assert_null(strstr(ran.out, "the plan that eval takes"));
	ran_free(&ran);
	ran = run("search llama3-405b-16k-h100 --top 1");
	assert_non_null(strstr(ran.out, "it fills the 5 % that --reserve keeps free"));
	ran_free(&ran);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_less_known_plans_are_told),
		cmocka_unit_test(test_fewer_requests_mend_what_was_assumed),
		cmocka_unit_test(test_questions_have_answers),
		cmocka_unit_test(test_the_fewest_gpus),
		cmocka_unit_test(test_the_proof_adds_up),
		cmocka_unit_test(test_switches_take_lists),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_a_front_falls),
		cmocka_unit_test(test_rows_are_ideas),
		cmocka_unit_test(test_remedies_have_prices),
		cmocka_unit_test(test_a_sweep_may_choose),
		cmocka_unit_test(test_robust_plans_are_ten),
		cmocka_unit_test(test_why_names_changes),
		cmocka_unit_test(test_why_is_said_in_words),
		cmocka_unit_test(test_goals_that_no_server_keeps),
		cmocka_unit_test(test_servers_by_their_slowest),
		cmocka_unit_test(test_rows_of_servers_tell_one_load),
		cmocka_unit_test(test_servers_that_are_too_large),
		cmocka_unit_test(test_impossible_problems_get_the_closest_misses),
		cmocka_unit_test(test_threads_are_no_matter),
		cmocka_unit_test(test_wrong_questions_are_refused),
		cmocka_unit_test(test_a_terminal_sees_progress),
		cmocka_unit_test(test_activation_offload_is_left_out),
		cmocka_unit_test(test_ones_own_plan_is_faster),
		cmocka_unit_test(test_ends_that_are_none_of_the_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
