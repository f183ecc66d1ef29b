/* test_search_memory.c - memory that ends at any allocation of a search, its proof, its
 * questions or its several searchers: what is told then is that it ended, or what is
 * told with enough of it; and all is given back. */
#include <math.h>
#include <string.h>

#include "engine/planner/certify.h"
#include "engine/planner/inverse.h"
#include "engine/planner/planner.h"
#include "engine/planner/robust.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/memory_ends.h"

static struct planner_problem problem;

static void pin(const char *key, const char *text)
{
	char why[96];

	if (!planner_pin_text(&problem, knob_find(key), text, why, sizeof why))
		fail_msg("%s: %s", key, why);
}

/* More nodes, options and pairs than their lists hold at first. */
static void begin(bool serves)
{
	struct error error = { "" };

	memset(&problem, 0, sizeof problem);
	if (!scenario_blank(&problem.base, "llama3.2-1b", "dgx-h100",
			    serves ? "vllm" : "generic", &error))
		fail_msg("%s", error.text);
	problem.base.cluster.gpus = 16;
	problem.base.plan.global_batch = 64;
	problem.base.plan.seq_len = 2048;
	problem.research = true;
	problem.top = 3;
	if (serves)
		problem.base.plan.mode = MODE_INFERENCE;
	planner_axes(&problem);
	if (serves)
		return;
	pin("schedule", "1f1b,interleaved,gpipe,zb-h1,zb-v");
	pin("vpp", "1,2,4");
	pin("cp", "1");
	pin("sp", "on");
	pin("recompute_modules", "core_attn,mlp,layernorm");
	pin("zero", "0,1");
	pin("zero_group", "0");
	pin("optimizer_offload", "0");
}

/* --- what is told --- */

struct told {
	bool started, done, failed, certified;
	int found, searchers;
	struct planner_found top[3], together[3];
	double candidates;
	size_t proof; /* a hash of its text */
	int rank[3];
};

static size_t hash(const char *text)
{
	size_t sum = 5381;

	while (*text != '\0')
		sum = sum * 33 + (unsigned char)*text++;
	return sum;
}

static void run(struct planner *planner)
{
	int steps = 0;

	while (planner_step(planner, 500))
		assert_true(++steps < 100000);
}

static void tell_result(struct planner *planner, struct told *told)
{
	const struct planner_result *r = planner_result(planner);

	told->done = r->done;
	told->failed = r->failed;
	assert_true(r->done != r->failed);
	assert_true(r->done == (r->progress == 1) || r->failed);
	told->found = r->found;
	told->candidates = r->counts.candidates;
	memcpy(told->top, r->top, sizeof told->top);
}

static void search_alone(struct told *told)
{
	struct planner *planner = planner_start(&problem);
	char *text;

	told->started = planner != NULL;
	if (!planner)
		return;
	run(planner);
	tell_result(planner, told);
	if (told->done) {
		text = planner_certify(planner,
				       told->found > 0 ? told->top[0].score : INFINITY);
		told->certified = text != NULL;
		if (text)
			told->proof = hash(text);
		free(text);
	}
	planner_free(planner);
}

static void search_together(struct told *told)
{
	static struct planner_result all;
	struct planner *part[4] = { planner_start(&problem) };
	int parts;

	told->started = part[0] != NULL;
	if (!part[0])
		return;
	parts = 1 + planner_split(part[0], part + 1, 3);
	told->searchers = parts;
	memset(&all, 0, sizeof all);
	all.done = true;
	all.progress = 1;
	for (int i = 0; i < parts; i++) {
		run(part[i]);
		planner_merge(part[i], &all);
	}
	assert_true(all.done != all.failed);
	assert_true(all.done == (all.progress == 1) || all.failed);
	told->done = all.done;
	told->failed = all.failed;
	told->found = all.found;
	told->candidates = all.counts.candidates;
	memcpy(told->top, all.top, sizeof told->top);
	for (int i = parts; i-- > 0;)
		planner_free(part[i]);
}

/* Does the best stay the best: asked of what a search without a fault found. */
static struct planner_result solved;

static void ask_robust(struct told *told)
{
	static struct robust robust;

	told->started = told->done = robust_begin(&robust, &problem, &solved);
	told->found = told->started ? robust.plans : 0;
	for (int i = 0; i < told->found && i < 3; i++)
		told->rank[i] = robust.item[i].rank[ROBUST_MEMORY];
}

/* As many allocations as there are: each fails once, and each with all after it. */
static void check(void (*ask)(struct told *told))
{
	static struct told whole, told;
	long allocations, before = memory_living;
	int ended = 0;

	if (!MEMORY_ENDS)
		skip();
	memset(&whole, 0, sizeof whole);
	memory_fail_at(-1, false);
	ask(&whole);
	allocations = memory_asked;
	assert_true(whole.started && whole.done && memory_living == before);
	assert_true(ask != search_alone || whole.certified);
	for (long n = 0; n < 2 * allocations; n++) {
		memset(&told, 0, sizeof told);
		memory_fail_at(n / 2, n % 2);
		ask(&told);
		memory_fail_at(-1, false);
		assert_true(memory_living == before);
		ended += !told.started || told.failed;
		if (!told.started || told.failed)
			continue;
		/* it ended behind what was told; or sorts in place, as qsort() does */
		assert_true(told.done && told.found == whole.found);
		assert_true(told.candidates == whole.candidates);
		assert_memory_equal(told.top, whole.top, sizeof told.top);
		assert_memory_equal(told.rank, whole.rank, sizeof told.rank);
		assert_true(!told.certified || told.proof == whole.proof);
		assert_true(told.searchers <= whole.searchers);
	}
	assert_true(ended > 0);
}

static void test_a_search_and_its_proof(void **state)
{
	(void)state;
	begin(false);
	check(search_alone);
	begin(true);
	check(search_alone);
	/* no node at all: 3 ranks don't divide 16 GPUs */
	begin(false);
	pin("tp", "3");
	check(search_alone);
}

static void test_all_plans(void **state)
{
	(void)state;
	begin(false);
	pin("schedule", "interleaved,zb-v");
	pin("mbs", "1");
	pin("split", "auto");
	problem.exhaustive = true;
	check(search_alone);
}

static void test_several_searchers(void **state)
{
	(void)state;
	begin(false);
	check(search_together);
}

static void test_what_stays_best(void **state)
{
	struct planner *planner;

	(void)state;
	begin(false);
	planner = planner_start(&problem);
	assert_non_null(planner);
	run(planner);
	solved = *planner_result(planner);
	planner_free(planner);
	check(ask_robust);
}

/* Which machine ends in time: where the run of a best plan can't be estimated, that is
 * no answer. */
static void ask_deadline(struct told *told)
{
	static struct inverse inverse;
	static struct planner_problem one;

	inverse_begin(&inverse, INVERSE_GPUS, &problem, 2000);
	told->started = true;
	while (!told->failed && inverse_next(&inverse, &one)) {
		struct planner *planner = planner_start(&one);

		told->failed = !planner;
		if (!planner)
			return;
		run(planner);
		told->failed = planner_result(planner)->failed ||
			       !inverse_take(&inverse, &one, planner_result(planner));
		planner_free(planner);
	}
	told->done = inverse.done;
	told->found = inverse.found;
	told->candidates = inverse.answer;
}

static void test_a_deadline(void **state)
{
	(void)state;
	begin(false);
	pin("schedule", "1f1b");
	pin("gpus", "8,16,32");
	problem.base.plan.tokens = 1e9;
	check(ask_deadline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_search_and_its_proof),
		cmocka_unit_test(test_all_plans),
		cmocka_unit_test(test_several_searchers),
		cmocka_unit_test(test_what_stays_best),
		cmocka_unit_test(test_a_deadline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
