/* test_copies.c - what FSDP copies on the stream that computes, by hand. */
#include <string.h>

#include "engine/train/step.h"
#include "engine/train/train.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

/* Llama-3 8B: 32 layers of 4096 with 32 heads and 8 KV heads of 128, and 14336 in the
 * MLP; two norms each; a table at either end, and a norm. */
#define LAYER (4096.0 * 6144 + 4096.0 * 4096 + 3 * 4096.0 * 14336 + 2 * 4096)
#define TABLE (128256.0 * 4096)
#define MODEL (32 * LAYER + 2 * TABLE + 4096)
/* bytes per second that kernels reach there */
#define MEMORY (1e12 * 0.5)

static struct estimate whole, without;
static struct whole_step run;

static void fsdp(struct scenario *s, const char *stack)
{
	struct error error = { "" };

	if (!scenario_blank(s, "llama3-8b", "dgx-h100", stack, &error))
		fail_msg("%s", error.text);
	s->cluster.gpus = 8;
	s->cluster.accelerator.memory_bytes_per_second = 1e12;
	s->cluster.accelerator.calibration.memory_efficiency = 0.5;
	s->plan.zero = 3;
	s->plan.micro_batch = 1;
	s->plan.global_batch = 32;
	s->plan.seq_len = 8192;
}

static struct chunk_time chunk(const struct scenario *s, int k)
{
	struct chunk_time t;

	assert_true(train_step(s, &run, &whole));
	step_chunk_time(&run.step, k, &t, NULL);
	return t;
}

/* FSDP2 takes 16-bit parameters out of what it gathered, twice a micro-batch, and
 * writes gradients in fp32: 4, 4 and 6 bytes a parameter. */
static void gathered_weights_are_copied_out(void **state)
{
	struct scenario s;
	struct chunk_time t;

	(void)state;
	fsdp(&s, "torchtitan");
	t = chunk(&s, 0);
	assert_close(t.copy_forward, MODEL * 4 / MEMORY, 1e-9);
	assert_close(t.copy_again, MODEL * 4 / MEMORY, 1e-9);
	assert_close(t.copy_gradients, MODEL * 6 / MEMORY, 1e-9);
	s.plan.fsdp_reshard = false;
	t = chunk(&s, 0);
	assert_close(t.copy_forward, MODEL * 4 / MEMORY, 1e-9);
	assert_true(t.copy_again == 0);
	s.plan.zero = 2;
	t = chunk(&s, 0);
	assert_true(t.copy_forward == 0 && t.copy_again == 0);
	assert_close(t.copy_gradients, MODEL * 6 / MEMORY, 1e-9);
}

/* FSDP1 gathers into the parameters themselves; it puts 16-bit gradients together and
 * divides them: 8 bytes a parameter. */
static void gradients_are_put_together_and_divided(void **state)
{
	struct scenario s;
	struct chunk_time t;

	(void)state;
	fsdp(&s, "fsdp");
	t = chunk(&s, 0);
	assert_true(t.copy_forward == 0 && t.copy_again == 0);
	assert_close(t.copy_gradients, MODEL * 8 / MEMORY, 1e-9);
}

/* Who shares with nobody, and who does not shard, copies nothing. */
static void nothing_is_copied_of_what_is_not_shared(void **state)
{
	struct scenario s;
	struct chunk_time t;

	(void)state;
	fsdp(&s, "torchtitan");
	s.cluster.accelerator.usable_bytes = 4e12;
	s.cluster.gpus = 1;
	t = chunk(&s, 0);
	assert_true(t.copy_forward == 0 && t.copy_again == 0 && t.copy_gradients == 0);
	fsdp(&s, "torchtitan");
	s.plan.zero = 0;
	t = chunk(&s, 0);
	assert_true(t.copy_forward == 0 && t.copy_again == 0 && t.copy_gradients == 0);
}

/* PyTorch's stages scatter sums behind the last of their micro-batches, and free
 * nothing but behind a forward. */
static void a_pipeline_copies_sums_once(void **state)
{
	struct scenario s;
	struct chunk_time t;
	double half = 16 * LAYER + TABLE;

	(void)state;
	fsdp(&s, "torchtitan");
	s.plan.pp = 2;
	s.plan.schedule = SCHEDULE_1F1B;
	t = chunk(&s, 0);
	assert_int_equal(run.step.micro_batches, 8);
	assert_close(t.copy_forward, half * 4 / 8 / MEMORY, 1e-9);
	assert_close(t.copy_gradients, half * 6 / 8 / MEMORY, 1e-9);
}

/* Experts that a rank alone holds are not gathered; with half as many ranks of EP two
 * hold each. */
static void experts_are_copied_where_ranks_share_them(void **state)
{
	struct error error = { "" };
	struct scenario s;
	struct chunk_time t;

	(void)state;
	fsdp(&s, "torchtitan");
	if (!library_model(&s.model, "mixtral-8x7b", &error))
		fail_msg("%s", error.text);
	s.cluster.accelerator.usable_bytes = 4e12;
	s.plan.ep = 8;
	t = chunk(&s, 0);
	assert_true(t.expert > 5e9);
	assert_close(t.copy_forward, t.dense * 4 / MEMORY, 1e-9);
	assert_close(t.copy_gradients, t.dense * 6 / MEMORY, 1e-9);
	s.plan.ep = 4;
	t = chunk(&s, 0);
	assert_close(t.copy_forward, (t.dense + t.expert) * 4 / MEMORY, 1e-9);
}

/* A step on one stage is longer by all of them, for each micro-batch. */
static void a_step_takes_them(void **state)
{
	struct scenario s;
	double each;

	(void)state;
	fsdp(&s, "fsdp");
	s.cluster.link[LINK_DOMAIN].bytes_per_second = 1e15;
	train_estimate(&s, &whole);
	s.stack.gradient_passes = 0;
	train_estimate(&s, &without);
	each = MODEL * 8 / MEMORY;
	/* copying hides what one more of it would show, and no more than that */
	assert_close(whole.step_seconds - without.step_seconds, 4 * each, 0.02);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gathered_weights_are_copied_out),
		cmocka_unit_test(gradients_are_put_together_and_divided),
		cmocka_unit_test(nothing_is_copied_of_what_is_not_shared),
		cmocka_unit_test(a_pipeline_copies_sums_once),
		cmocka_unit_test(experts_are_copied_where_ranks_share_them),
		cmocka_unit_test(a_step_takes_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
