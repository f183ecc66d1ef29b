/* test_update.c - what the update of the weights takes, by the optimizer and by whose
 * memory it is bound by, against counts by hand. */
#include <string.h>

#include "engine/train/step.h"
#include "engine/train/train.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

/* The seconds of an update on eight GPUs that share out nothing else. */
static double seconds_of(const struct scenario *s, double *trained)
{
	static struct estimate e;

	train_estimate(s, &e);
	assert_true(e.legal);
	/* ZeRO 1: each of them makes the update of its share */
	*trained = e.stage[0].parameters / (double)(s->cluster.gpus / s->plan.tp);
	return e.optimizer_seconds;
}

static void begin(struct scenario *s)
{
	case_dense(s);
	case_set(s, "pp", "1");
	case_set(s, "zero", "1");
}

/* Bytes of a weight: the gradient for its norm and again for the step (4 + 4), moments
 * and master weight in and out, the weight out; Adafactor reads the gradient for its
 * means and for the size of what it adds, too. */
static void test_optimizers_move_their_own_states(void **state)
{
	static const struct {
		const char *optimizer;
		double bytes;
	} rows[] = {
		{ "adamw", 4 + 4 + 2 * (4 + 4 + 4) + 2 },
		{ "adamw-8bit", 4 + 4 + 2 * (1 + 1 + 4) + 2 },
		{ "adamw-bf16", 4 + 4 + 2 * (2 + 2 + 4) + 2 },
		{ "adafactor", 4 + 4 + 4 + 4 + 2 * (0.01 + 4) + 2 },
		{ "sgd", 4 + 4 + 2 * (4 + 4) + 2 },
	};
	struct scenario s;
	double trained, adam;

	(void)state;
	begin(&s);
	adam = seconds_of(&s, &trained);
	for (size_t i = 1; i < sizeof rows / sizeof rows[0]; i++) {
		const struct accelerator *a = &s.cluster.accelerator;
		double saved =
			(rows[0].bytes - rows[i].bytes) * trained /
			(a->memory_bytes_per_second * a->calibration.memory_efficiency);

		case_set(&s, "optimizer", rows[i].optimizer);
		assert_close(adam - seconds_of(&s, &trained), saved, 1e-6);
	}
}

/* Where the stack splits it, a master weight beside narrow moments is the 16 bits that
 * a bf16 weight lacks: two bytes a weight less, and the weight is read with them. */
static void test_a_split_master_is_the_rest_of_the_weight(void **state)
{
	static const struct {
		const char *key, *value;
		double bytes; /* of the states that are left */
	} rows[] = {
		{ "optimizer", "adamw-bf16", 6.0 / 8 },
		{ "optimizer", "adamw-8bit", 4.0 / 6 },
		{ "optimizer", "adamw", 1 },
		{ "optimizer", "sgd", 1 },
		{ "precision", "fp16", 1 },
	};
	static struct estimate whole, split;
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct accelerator *a = &s.cluster.accelerator;

		begin(&s);
		case_set(&s, "optimizer", "adamw-bf16");
		case_set(&s, rows[i].key, rows[i].value);
		train_estimate(&s, &whole);
		s.stack.splits_master = true;
		train_estimate(&s, &split);
		assert_close(split.memory.optimizer_bytes,
			     whole.memory.optimizer_bytes * rows[i].bytes, 1e-12);
		if (rows[i].bytes == 1)
			continue;
		/* 4 + 4 and the weight's 2 against 2 + 2 and 2 + 2 */
		assert_close(whole.optimizer_seconds - split.optimizer_seconds,
			     2 * whole.stage[0].parameters /
				     (double)(s.cluster.gpus / s.plan.tp) /
				     (a->memory_bytes_per_second *
				      a->calibration.memory_efficiency),
			     1e-6);
	}
}

/* Payloads and kinds of a step's gradients, as a stack sends them. */
static const struct traffic *sent_gradients(const struct scenario *s,
					    struct estimate *e)
{
	train_estimate(s, e);
	assert_true(e->legal);
	for (int i = 0; i < e->traffic_count; i++)
		if (strcmp(e->traffic[i].what, "gradients") == 0)
			return &e->traffic[i];
	fail_msg("no gradients travel");
	return NULL;
}

/* ZeRO 1 scatters them as they are held; a stack may turn them to another format, and
 * may sum them for every rank, but those that are held and sent in 16 bits. */
static void test_gradients_travel_as_the_stack_sends_them(void **state)
{
	static const struct {
		const char *held;
		bool whole;
		double turned, bytes;
		enum collective_kind kind;
	} rows[] = {
		{ "fp32", false, 0, 4, COLLECTIVE_REDUCE_SCATTER },
		{ "fp32", true, 0, 4, COLLECTIVE_ALL_REDUCE },
		{ "fp32", true, 2, 2, COLLECTIVE_ALL_REDUCE },
		{ "fp32", false, 2, 2, COLLECTIVE_REDUCE_SCATTER },
		{ "bf16", true, 4, 4, COLLECTIVE_ALL_REDUCE },
		{ "bf16", true, 0, 2, COLLECTIVE_REDUCE_SCATTER },
		{ "bf16", true, 2, 2, COLLECTIVE_REDUCE_SCATTER },
	};
	static struct estimate e;
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct traffic *t;

		begin(&s);
		case_set(&s, "grad_dtype", rows[i].held);
		s.stack.reduces_whole = rows[i].whole;
		s.stack.reduced_bytes = rows[i].turned;
		t = sent_gradients(&s, &e);
		assert_int_equal(t->kind, rows[i].kind);
		assert_close(t->payload_bytes, e.stage[0].parameters * rows[i].bytes,
			     1e-9);
	}
}

/* The sum is read and written, and what is added read, unless the GEMM that makes it
 * adds; where it is turned to fp32 before, that is moved, too. */
static void test_adding_up_moves_what_the_stack_says(void **state)
{
	struct scenario s;

	(void)state;
	begin(&s);
	for (int fp32 = 0; fp32 < 2; fp32++) {
		double sum = fp32 ? 4 : 2;

		case_set(&s, "grad_dtype", fp32 ? "fp32" : "bf16");
		s.stack.adds_in_gemm = true;
		s.stack.sum_copy_bytes = 0;
		assert_close(step_accumulate_bytes(&s, 10), 10 * 2 * sum, 1e-12);
		s.stack.adds_in_gemm = false;
		assert_close(step_accumulate_bytes(&s, 10), 10 * (2 * sum + 2), 1e-12);
		s.stack.sum_copy_bytes = 16;
		assert_close(step_accumulate_bytes(&s, 10),
			     10 * (2 * sum + 2 + (fp32 ? 16 : 0)), 1e-12);
	}
}

/* What a host makes of it: gradient in, moments and master in and out, weight out, at
 * the rate that ZeRO-Offload's table 4 gives; the launches stay. */
static void test_a_host_is_bound_by_its_memory(void **state)
{
	struct scenario s;
	double trained, all, half, none, each, fixed;

	(void)state;
	begin(&s);
	s.cluster.host_memory_bytes_per_second = 76.8e9;
	each = (4 + 2 * (4 + 4 + 4) + 2) / (76.8e9 * 10 * 30 / 2.57 / 256);
	none = seconds_of(&s, &trained);
	case_set(&s, "optimizer_offload", "1");
	all = seconds_of(&s, &trained);
	case_set(&s, "optimizer_offload", "0.5");
	half = seconds_of(&s, &trained);
	assert_close(all - half, each * trained / 2, 1e-9);
	fixed = all - each * trained;
	assert_true(fixed > 0 && fixed < none);
	assert_close(half, fixed + each * trained / 2, 1e-9);
	/* a little of it is over before the accelerator's part is */
	case_set(&s, "optimizer_offload", "0.01");
	assert_true(seconds_of(&s, &trained) < none);
	/* a memory that nobody stated is as fast as the link */
	case_set(&s, "optimizer_offload", "1");
	s.cluster.host_memory_bytes_per_second = 0;
	assert_close(seconds_of(&s, &trained) - fixed,
		     30 * trained / s.cluster.accelerator.host_bytes_per_second, 1e-9);
}

/* ZeRO-Offload's largest model on one V100 of 32 GB has 13 billion parameters: of each
 * the GPU keeps the weight's two bytes alone (arXiv 2101.06840, sections 4.1 and 6.2),
 * where gradients are shared. */
static void test_gradients_follow_what_sums_them(void **state)
{
	static struct estimate e;
	struct error error;
	struct scenario s;

	(void)state;
	assert_true(scenario_blank(&s, "llama-13b", "dgx2-v100", "deepspeed", &error));
	case_set(&s, "gpus", "1");
	case_set(&s, "gbs", "4");
	case_set(&s, "mbs", "4");
	case_set(&s, "seq", "1024");
	case_set(&s, "precision", "fp16");
	case_set(&s, "zero", "2");
	case_set(&s, "optimizer_offload", "1");
	train_estimate(&s, &e);
	assert_true(e.memory.gradients_bytes == 0);
	assert_close(e.memory.weights_bytes, 2 * e.stage[0].parameters, 1e-12);
	assert_true(e.memory.total_bytes < s.cluster.accelerator.usable_bytes);
	case_set(&s, "zero", "3");
	case_set(&s, "optimizer_offload", "0.25");
	train_estimate(&s, &e);
	assert_close(e.memory.gradients_bytes, 1.5 * e.stage[0].parameters, 1e-12);
	case_set(&s, "zero", "1"); /* sums whole ones in place */
	train_estimate(&s, &e);
	assert_close(e.memory.gradients_bytes, 2 * e.stage[0].parameters, 1e-12);
	case_set(&s, "zero", "2");
	s.stack.offloads_gradients = false; /* Megatron keeps its buffer */
	train_estimate(&s, &e);
	assert_close(e.memory.gradients_bytes, 2 * e.stage[0].parameters, 1e-12);
}

/* torchtitan holds gradients in 16 bits and scatters them in fp32, whose copy of one
 * unit stands beside them; FSDP of other tools scatters what it holds. */
static void test_gradients_are_scattered_wide(void **state)
{
	static struct estimate e;
	struct scenario s;
	double sent, buffers, unit;

	(void)state;
	assert_true(scenario_read(&s, "llama3-8b-64-h200", NULL, NULL));
	assert_string_equal(s.stack.name, "torchtitan");
	train_estimate(&s, &e);
	sent = e.cost[DIM_DP].payload_bytes;
	buffers = e.stage[e.fullest_stage].buffers_bytes;
	s.stack.reduced_bytes = 0;
	train_estimate(&s, &e);
	assert_close(sent - e.cost[DIM_DP].payload_bytes,
		     2 * e.stage[0].parameters * (double)e.micro_batches, 1e-9);
	/* the output matrix with the last norm is larger than a layer */
	unit = 128256.0 * 4096 + 4096;
	assert_close(buffers - e.stage[e.fullest_stage].buffers_bytes, 4 * unit, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gradients_follow_what_sums_them),
		cmocka_unit_test(test_optimizers_move_their_own_states),
		cmocka_unit_test(test_a_split_master_is_the_rest_of_the_weight),
		cmocka_unit_test(test_gradients_travel_as_the_stack_sends_them),
		cmocka_unit_test(test_adding_up_moves_what_the_stack_says),
		cmocka_unit_test(test_a_host_is_bound_by_its_memory),
		cmocka_unit_test(test_gradients_are_scattered_wide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
