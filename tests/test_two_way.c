/* test_two_way.c - schedules whose micro-batches run both ways, or that pair a forward
 * with a backward: two copies of the weights, traffic hidden in pairs. */
#include <math.h>

#include "engine/plan/mesh.h"
#include "engine/schedule/schedule.h"
#include "engine/train/train.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct scenario scenario;
static struct estimate estimate;

static void make(void (*fill)(struct scenario *), const char *schedule)
{
	fill(&scenario);
	case_set(&scenario, "schedule", schedule);
	case_set(&scenario, "split", "balanced");
}

static void run(void)
{
	char why[400];

	train_estimate(&scenario, &estimate);
	if (estimate.legal)
		return;
	finding_text(&estimate.problems.item[0], why, sizeof why);
	fail_msg("%s", why);
}

/* Each stage's gradients are summed over its data-parallel ranks and the mirrored
 * stage's: a ring over 2 dp ranks, of both sets of layers. */
static void test_gradients_of_two_copies(void **state)
{
	static const char *const schedules[] = { "dualpipe", "chimera" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		for (int64_t gpus = 32; gpus <= 128; gpus *= 2) {
			double ranks = 2 * (double)gpus / 32, gradients = 0;

			make(case_dense, schedules[i]);
			scenario.cluster.gpus = gpus;
			scenario.plan.zero = 0;
			run();
			for (int s = 0; s < estimate.stages; s++)
				gradients += estimate.stage[s].gradients_bytes /
					     estimate.stages;
			assert_close(estimate.cost[DIM_DP].bytes,
				     2 * gradients * (ranks - 1) / ranks, 1e-9);
			assert_true(estimate.cost[DIM_DP].network_bytes > 0);
		}
	}
}

static double states_of(const char *schedule, int64_t zero)
{
	double bytes = 0;

	make(case_dense, schedule);
	scenario.plan.zero = zero;
	run();
	for (int s = 0; s < estimate.stages; s++)
		bytes += estimate.stage[s].optimizer_bytes;
	return bytes;
}

/* Two copies of the weights, but where they are sharded one optimizer for both. */
static void test_states_of_two_copies(void **state)
{
	(void)state;
	assert_close(states_of("dualpipe", 0), 2 * states_of("1f1b", 0), 1e-12);
	assert_close(states_of("dualpipe", 1), states_of("1f1b", 1), 1e-12);
	assert_close(states_of("dualpipev", 1), states_of("1f1b", 1), 1e-12);
	assert_close(states_of("chimera", 3), states_of("1f1b", 3), 1e-12);
}

static void test_mirrored_ranks_share_gradients(void **state)
{
	struct mesh mesh;
	int64_t each;

	(void)state;
	make(case_dense, "dualpipe");
	mesh_build(&scenario, &mesh);
	each = mesh.world / mesh.pp;
	assert_true(mesh_shares_group(&mesh, DIM_DP, 0, (mesh.pp - 1) * each));
	assert_false(mesh_shares_group(&mesh, DIM_DP, 0, each));
	assert_int_equal(mesh.dense_group.ranks, 2 * mesh.dp * mesh.cp);
	make(case_dense, "1f1b");
	mesh_build(&scenario, &mesh);
	assert_false(mesh_shares_group(&mesh, DIM_DP, 0, (mesh.pp - 1) * each));
	assert_int_equal(mesh.dense_group.ranks, mesh.dp * mesh.cp);
}

static void check_sums(void)
{
	double parts = estimate.compute_seconds + estimate.exposed_seconds +
		       estimate.bubble_seconds + estimate.optimizer_seconds;

	assert_close(parts, estimate.step_seconds, 1e-9);
	for (int s = 0; s < estimate.stages; s++) {
		const struct stage_time *t = &estimate.stage_time[s];

		assert_true(t->exposed_seconds >= 0);
		assert_true(t->idle_seconds > -1e-9 * estimate.step_seconds);
	}
}

/* The all-to-all hides in pairs and nowhere else: what the first and last micro-batches
 * send shows, and no more than the stack can hide is hidden. */
static void test_expert_traffic_hides_in_pairs(void **state)
{
	static const char *const schedules[] = { "dualpipe", "dualpipev" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		double all, shown, step, alone;

		make(case_mla, schedules[i]);
		scenario.stack.ep_overlap = 0.9;
		case_set(&scenario, "ep_overlap", "off");
		run();
		check_sums();
		all = estimate.cost[DIM_EP].exposed_seconds;
		step = estimate.step_seconds;
		assert_close(all, estimate.cost[DIM_EP].seconds, 1e-9);
		case_set(&scenario, "ep_overlap", "on");
		run();
		check_sums();
		shown = estimate.cost[DIM_EP].exposed_seconds;
		/* forwards and backwards that are no pair: about 2.5 x 16 of each */
		alone = 40.0 / (double)estimate.micro_batches;
		assert_true(shown < all && shown > alone / 4 * all);
		assert_true(estimate.step_seconds < step);
		scenario.stack.ep_overlap = 0;
		run();
		check_sums();
		assert_close(estimate.cost[DIM_EP].exposed_seconds, all, 1e-9);
		assert_close(estimate.step_seconds, step, 1e-9);
	}
}

/* The head of a V-shaped schedule is on the first stage, as the embedding is: nothing
 * to add up between stages. */
static void test_tied_embeddings_that_meet(void **state)
{
	static const struct {
		const char *schedule;
		bool sends;
	} examples[] = {
		{ "1f1b", true },
		{ "zb-v", false },
		{ "dualpipe", false },
		{ "interleaved", true },
	};

	(void)state;
	for (int i = 0; i < 4; i++) {
		bool sends = false;

		make(case_dense, examples[i].schedule);
		scenario.model.tied_embeddings = true;
		run();
		for (int t = 0; t < estimate.traffic_count; t++)
			sends |= estimate.traffic[t].dimension == DIM_PP &&
				 estimate.traffic[t].kind == COLLECTIVE_ALL_REDUCE;
		assert_int_equal(sends, examples[i].sends);
	}
}

/* Chunks that follow each other on one stage send nothing. */
static void test_turns_send_nothing(void **state)
{
	(void)state;
	assert_int_equal(schedule_cuts(SCHEDULE_1F1B, 8, 1), 7);
	assert_int_equal(schedule_cuts(SCHEDULE_INTERLEAVED, 8, 3), 23);
	assert_int_equal(schedule_cuts(SCHEDULE_ZB_V, 8, 2), 14);
	assert_int_equal(schedule_cuts(SCHEDULE_HANAYO, 8, 4), 28);
	assert_int_equal(schedule_cuts(SCHEDULE_DUALPIPE, 8, 1), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gradients_of_two_copies),
		cmocka_unit_test(test_states_of_two_copies),
		cmocka_unit_test(test_mirrored_ranks_share_gradients),
		cmocka_unit_test(test_expert_traffic_hides_in_pairs),
		cmocka_unit_test(test_tied_embeddings_that_meet),
		cmocka_unit_test(test_turns_send_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
