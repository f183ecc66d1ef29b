/* test_certificate.c - proofs of searches: all are accepted, and none of a thousand
 * that were changed a little. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/train/train.h"
#include "engine/verify/verify.h"
#include "presets/certificate.h"
#include "presets/certificate_read.h"
#include "presets/scenario_file.h"
#include "presets/stream.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

enum { MOST = 64 << 20, MAX_LINES = 1 << 16 };

static struct planner_problem problem;
static struct planner_result result;
static struct scenario scenario;
static struct verified found;
static struct error error;

static void begin(const char *model, const char *cluster, const char *stack, int gpus)
{
	memset(&problem, 0, sizeof problem);
	/* an axis that is read behind the last one is no pointer */
	memset(&problem.axis, 0x5a, sizeof problem.axis);
	if (!scenario_blank(&problem.base, model, cluster, stack, &error))
		fail_msg("%s", error.text);
	problem.base.cluster.gpus = gpus;
	problem.base.plan.global_batch = 64;
	problem.base.plan.seq_len = 4096;
	problem.reserve = 0.05;
	problem.top = 3;
	planner_axes(&problem);
}

static void pin(const char *key, const char *values)
{
	char why[128];

	if (!planner_pin_text(&problem, knob_find(key), values, why, sizeof why))
		fail_msg("%s", why);
}

/* The certificate of the problem, to be freed. */
static char *certify(void)
{
	char path[] = "/tmp/test_certificate.XXXXXX", *text;
	struct planner *planner = planner_start(&problem);
	int file = mkstemp(path);
	size_t length;

	assert_non_null(planner);
	assert_true(file >= 0);
	close(file);
	while (planner_step(planner, 1000)) {
	}
	result = *planner_result(planner);
	if (!certificate_save(path, &problem, planner, &result, &error))
		fail_msg("%s", error.text);
	planner_free(planner);
	text = stream_read_file(path, MOST, &length, &error);
	unlink(path);
	assert_non_null(text);
	return text;
}

static bool holds(const char *text)
{
	int line;

	/* a name that speaks of another form changes nothing */
	text = certificate_read("certificate.json", text, &scenario, &line, &error);
	if (!text)
		return false;
	assert_true(certificate_verify(&scenario, text, &found));
	if (!found.good)
		error_set(&error, "certificate", line + found.line - 1, "%s",
			  found.why);
	return found.good;
}

static const char *line[MAX_LINES];

/* Where the lines of the boxes begin; how many. */
static int split(const char *text)
{
	const char *at = strstr(text, "\nboxes ");
	int lines = 0;

	assert_non_null(at);
	for (at = strchr(at + 1, '\n') + 1; *at; at = strchr(at, '\n') + 1) {
		assert_true(lines < MAX_LINES);
		line[lines++] = at;
	}
	line[lines] = at;
	return lines;
}

/* A line of a box has its axis, values, and what closes it: no more than the first two
 * of one that lies open. */
static bool closes(int i)
{
	int words = 1;

	for (const char *at = line[i]; at < line[i + 1]; at++)
		words += *at == ' ';
	return words > 2;
}

static bool same_axis(int i, int k)
{
	size_t length = strcspn(line[i], " ");

	return strncmp(line[i], line[k], length + 1) == 0;
}

static bool says(int i, const char *word)
{
	const char *at = strstr(line[i], word);

	return at && at < line[i + 1];
}

/* What is closed alike for all values but names of others is said once, of the box that
 * they are in: no box holds two lines of which the second is of names. One exception:
 * of servers a name may break no rule that its neighbours break. */
static void is_said_once(const char *text)
{
	bool serves = problem.base.plan.mode == MODE_INFERENCE;
	int lines = split(text);

	for (int i = 0; i + 1 < lines; i++) {
		bool begins = i == 0 || (!closes(i - 1) && !same_axis(i - 1, i));
		bool ends = i + 2 == lines || !same_axis(i + 1, i + 2);

		if (begins && ends && closes(i) && same_axis(i, i + 1) &&
		    says(i + 1, " same ") && !(serves && says(i, " rule ")))
			fail_msg("two lines where one would do: %.*s",
				 (int)(line[i + 2] - line[i]), line[i]);
	}
}

static void accept(void)
{
	char *text = certify();

	if (!holds(text))
		fail_msg("%s on %s: %s", problem.base.model.name,
			 problem.base.cluster.name, error.text);
	is_said_once(text);
	if (result.found > 0)
		assert_true(found.answer == result.top[0].score);
	else
		assert_true(isinf(found.answer));
	free(text);
}

static void accepts_proofs(void **state)
{
	(void)state;
	begin("llama2-13b", "dgx-a100-40g", "megatron-core", 16);
	accept();
	problem.objective = OBJECTIVE_MEMORY;
	accept();
	problem.objective = OBJECTIVE_THROUGHPUT;
	pin("gpus", "8,16,32");
	accept();
	begin("mixtral-8x7b", "dgx-h100", "megatron-core", 64);
	problem.trust = 2;
	accept();
	begin("deepseek-v3", "dgx-h100", "megatron-core", 256);
	problem.research = true;
	planner_axes(&problem);
	pin("schedule", "1f1b,interleaved,dualpipe,zb-v");
	pin("tp", "1,2");
	pin("mbs", "1");
	accept();
	begin("llama3.1-8b", "dgx-h100", "fsdp", 16);
	accept();
	begin("llama3.1-70b", "dgx-h100", "deepspeed", 64);
	pin("activation_offload", "0,0.5,1");
	accept();
	/* what is given is not relaxed */
	begin("llama3.1-70b", "dgx-h100", "megatron-core", 64);
	pin("recompute", "full");
	pin("zero", "1");
	accept();
}

/* A plan that takes all of the room to the byte fits: the proof leaves it out no more
 * than the search does. */
static void accepts_rooms_that_are_just_full(void **state)
{
	static const int counts[] = { 1, 2, 4, 8 };
	static struct estimate full;

	(void)state;
	for (int i = 0; i < 8; i++) {
		struct scenario s;
		double score;

		begin(i < 4 ? "llama3.2-1b" : "llama3.1-8b", "dgx-h100",
		      "megatron-core", counts[i % 4]);
		problem.reserve = 0;
		free(certify());
		if (result.found == 0)
			continue;
		score = result.top[0].score;
		planner_scenario(&problem, &result.top[0], &s);
		train_estimate(&s, &full);
		problem.base.cluster.accelerator.usable_bytes = full.memory.total_bytes;
		accept();
		assert_true(result.found > 0 && result.top[0].score == score);
	}
}

/* Where states or activations would have to lie in host memory that the hosts lack: no
 * such plan is the answer, and the proof says why. */
static void accepts_hosts_without_room(void **state)
{
	double free_score;

	(void)state;
	begin("llama2-13b", "dgx-a100-40g", "megatron-core", 8);
	pin("optimizer_offload", "0,0.5,1");
	pin("activation_offload", "0,0.5,1");
	problem.base.cluster.host_bytes_per_gpu = 1e12;
	accept();
	assert_true(result.found > 0);
	free_score = result.top[0].score;
	problem.base.cluster.host_bytes_per_gpu = 8e9;
	accept();
	assert_true(result.found == 0 || result.top[0].score > free_score);
}

static void begin_server(const char *model, const char *cluster, int gpus)
{
	begin(model, cluster, "vllm", gpus);
	knob_set(&problem.base, knob_find("mode"), MODE_INFERENCE);
	planner_axes(&problem);
}

/* Of servers a bound is what no request can exceed. */
static void accepts_servers(void **state)
{
	(void)state;
	begin_server("llama3.1-70b", "dgx-h100", 8);
	accept();
	problem.objective = OBJECTIVE_THROUGHPUT;
	problem.base.plan.serving.goal_tpot_seconds = 0.03;
	accept();
	problem.objective = OBJECTIVE_MEMORY;
	accept();
	begin_server("deepseek-v3", "dgx-h200", 16);
	problem.objective = OBJECTIVE_STEP;
	accept();
	problem.base.plan.serving.goal_tpot_seconds = 0.05;
	problem.base.plan.serving.goal_percentile = GOAL_P99;
	accept();
	/* at a rate that some keep, and at one that nobody does */
	problem.base.plan.serving.request_rate = 2;
	accept();
	problem.base.plan.serving.request_rate = 500;
	accept();
	/* PP 8 breaks a rule; PP 2 beside a pool that is none is a name, and breaks
	 * none */
	begin_server("deepseek-v2-lite", "dgx-h100", 8);
	pin("tp", "2");
	pin("pp", "8,2");
	pin("disaggregated", "off");
	pin("prefill_gpus", "0,2,6");
	accept();
	/* nothing fits */
	begin_server("deepseek-v3", "dgx-a100-40g", 8);
	accept();
	assert_int_equal(result.found, 0);
}

/* Dollars are those of the run, which the bounds of a step are no more than. */
static void accepts_costs(void **state)
{
	(void)state;
	begin("llama2-13b", "dgx-a100-40g", "megatron-core", 16);
	problem.objective = OBJECTIVE_COST;
	problem.base.cluster.price_per_gpu_hour = 3;
	accept();
}

/* On one stage a schedule does nothing, but of these two only the second is legal with
 * such chunks: that plan is in the proof too. */
static void accepts_a_second_name_that_alone_is_legal(void **state)
{
	(void)state;
	begin("llama3.2-1b", "dgx-h100", "megatron-core", 2);
	problem.objective = OBJECTIVE_MEMORY;
	pin("cp", "2");
	pin("schedule", "interleaved,1f1b");
	pin("vpp", "9,2");
	accept();
	assert_true(result.found > 0);
	/* layers that are recomputed in full do nothing beside modules, but are refused
	 * there */
	begin("llama3.2-1b", "dgx-h100", "megatron-core", 8);
	problem.objective = OBJECTIVE_MEMORY;
	pin("tp", "2");
	pin("recompute", "selective");
	pin("recompute_layers", "1,all");
	accept();
	assert_true(result.found > 0);
	/* nor is there a layout for one stage */
	pin("pp", "1");
	pin("split", "custom,even");
	accept();
	assert_true(result.found > 0);
}

/* One plan, and none at all. */
static void accepts_small_spaces(void **state)
{
	(void)state;
	begin("llama3.1-405b", "dgx-h100", "megatron-core", 8);
	pin("mbs", "1");
	pin("optimizer_offload", "0");
	accept();
	assert_int_equal(result.found, 0);
	begin("llama3.1-8b", "dgx-h100", "megatron-core", 8);
	for (int i = 0; i < problem.axes; i++)
		problem.axis[i].count = 1;
	accept();
	pin("tp", "1,2,4,8");
	accept();
	pin("tp", "3");
	accept();
}

/* Spaces of any kind: few values of any axis, what proofs are of, on machines that some
 * plans fit on, or none. */
static void accepts_any_space(void **state)
{
	static const char *const models[] = { "llama3.2-1b", "mixtral-8x7b",
					      "deepseek-v2-lite", "gpt2-xl" };
	static const char *const stacks[] = { "megatron-core", "fsdp", "torchtitan",
					      "nanotron", "vllm" };
	int answers = 0, none = 0;

	(void)state;
	seed = 16;
	for (int round = 0; round < 100; round++) {
		const char *stack = stacks[next(5)], *model = models[next(4)];
		int gpus = 1 << next(5);

		if (strcmp(stack, "vllm") == 0)
			begin_server(model, "dgx-h100", gpus);
		else
			begin(model, "dgx-h100", stack, gpus);
		problem.base.cluster.accelerator.usable_bytes *=
			0.05 + 0.1 * (double)next(10);
		problem.objective = (enum objective)next(OBJECTIVE_SURE);
		problem.trust = (int)next(5);
		problem.exhaustive = next(4) == 0;
		planner_axes(&problem);
		for (int i = 0; i < problem.axes; i++) {
			struct planner_axis *axis = &problem.axis[i];

			int at = (int)next((uint64_t)axis->count);
			double first = axis->value[0];

			axis->value[0] = axis->value[at];
			axis->value[at] = first;
			if (next(4))
				axis->count = 1 + (int)next(2) * (axis->count > 1);
		}
		accept();
		*(result.found > 0 ? &answers : &none) += 1;
	}
	assert_true(answers > 10 && none > 10);
}

/* --- a little changed --- */

/* The last word of a line but `back`, of lines that close a box; NULL for others. */
static const char *word_at(const char *begin, const char *end, int back)
{
	int words = 1;

	for (const char *at = begin; at < end; at++)
		words += *at == ' ';
	if (words < 4)
		return NULL;
	for (const char *at = end - 1; at > begin; at--)
		if (at[-1] == ' ' && back-- == 0)
			return at;
	return NULL;
}

/* The text with another one from..to. */
static char *replace(const char *text, const char *from, const char *to,
		     const char *with)
{
	size_t before = (size_t)(from - text), length = strlen(with);
	char *out = malloc(strlen(text) + length + 1);

	assert_non_null(out);
	memcpy(out, text, before);
	memcpy(out + before, with, length);
	strcpy(out + before + length, to);
	return out;
}

/* A number of the line, changed: its count, or the bound before it. */
static char *change(const char *text, int at, int back, double factor, double more)
{
	const char *word = word_at(line[at], line[at + 1] - 1, back);
	char number[64], *end;
	double value;

	if (!word)
		return NULL;
	value = strtod(word, &end);
	if (end == word || (*end != ' ' && *end != '\n') || isinf(value) ||
	    value == 0 || (back > 0 && strncmp(word - 5, "rule ", 5) == 0))
		return NULL;
	snprintf(number, sizeof number, "%.17g", value * factor + more);
	return replace(text, word, end, number);
}

/* The answer's plan is said to score better than it does. */
static char *better(const char *text, double factor)
{
	const char *at = strstr(text, "\nanswer ") + 8;
	char number[64], *end;
	double value = strtod(at, &end);

	snprintf(number, sizeof number, "%.17g", value * factor);
	return replace(text, at, end, number);
}

static char *mutate(const char *text, int lines)
{
	int at = (int)next((uint64_t)lines);
	double factor = 1 - 0.001 * (double)(1 + next(500));

	switch (next(5)) {
	case 0: return replace(text, line[at], line[at + 1], "");
	case 1: return change(text, at, 1, factor, 0);
	case 2: return change(text, at, 0, 1, next(2) ? 1 : -1);
	case 3: return change(text, at, 1, 1 / factor, 0);
	default: return better(text, factor);
	}
}

static void rejects(int wanted)
{
	char *text = certify();
	int lines = split(text);

	assert_true(holds(text));
	for (int done = 0; done < wanted;) {
		char *other = mutate(text, lines);

		if (!other)
			continue;
		if (holds(other))
			fail_msg("mutation %d of %s is accepted", done,
				 problem.base.model.name);
		free(other);
		done++;
	}
	free(text);
}

static void rejects_what_was_changed(void **state)
{
	(void)state;
	seed = 15;
	begin("llama2-13b", "dgx-a100-40g", "megatron-core", 16);
	pin("mbs", "1,2");
	pin("cp", "1");
	pin("optimizer_offload", "0");
	pin("recompute", "none,full");
	pin("vpp", "1,2,4");
	pin("zero", "0,1");
	rejects(some_of(500));
	begin("mixtral-8x7b", "dgx-h100", "megatron-core", 16);
	pin("mbs", "1");
	pin("cp", "1");
	pin("tp", "1,2");
	pin("recompute", "none,full");
	pin("vpp", "1,2");
	rejects(some_of(500));
	begin_server("mixtral-8x7b", "dgx-h100", 16);
	rejects(some_of(500));
}

/* Another plan in the answer's place, a rule that is none, values twice. */
static void rejects_other_answers(void **state)
{
	char *text, *other;
	const char *at;

	(void)state;
	begin("llama2-13b", "dgx-a100-40g", "megatron-core", 16);
	pin("mbs", "1");
	pin("optimizer_offload", "0");
	text = certify();
	at = strstr(text, "\ntp: ") + 5;
	other = replace(text, at, at + 1, *at == '1' ? "2" : "1");
	assert_false(holds(other));
	free(other);
	at = strstr(text, "\nanswer ") + 8;
	other = replace(text, at, strchr(at, '\n'), "-inf");
	assert_false(holds(other));
	free(other);
	other = replace(text, text, text + 1, "S");
	assert_false(holds(other));
	free(other);
	at = strstr(text, " rule ") + 6;
	other = replace(text, at, strchr(at, ' '), "99");
	assert_false(holds(other));
	free(other);
	split(text);
	other = replace(text, line[0], line[0], "tp 1 time 1e9 1\n");
	assert_false(holds(other));
	free(other);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_proofs),
		cmocka_unit_test(accepts_rooms_that_are_just_full),
		cmocka_unit_test(accepts_hosts_without_room),
		cmocka_unit_test(accepts_servers),
		cmocka_unit_test(accepts_costs),
		cmocka_unit_test(accepts_a_second_name_that_alone_is_legal),
		cmocka_unit_test(accepts_small_spaces),
		cmocka_unit_test(accepts_any_space),
		cmocka_unit_test(rejects_what_was_changed),
		cmocka_unit_test(rejects_other_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
