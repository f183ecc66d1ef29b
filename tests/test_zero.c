/* test_zero.c - what ZeRO 0 to 3 move and hold of a model with experts, counted by
 * hand. */
#include <stdlib.h>
#include <string.h>

#include "engine/train/states.h"
#include "engine/train/train.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"

/* Mixtral 8x7B has, of dense weights, two tables of 32000 x 4096 (131 072 000 each), 32
 * layers of attention (41 943 040), router (32 768) and norms (8 192), and a norm
 * (4 096): 1 605 636 096. Each layer's experts are 8 x 3 x 4096 x 14336 =
 * 1 409 286 144, all 45 097 156 608. With TP 2 norms and routers stay whole (1 314
 * 816), the rest is halved: 803 475 456 and a layer of 21 012 480. */
#define DENSE         1605636096.0
#define DENSE_TP2     803475456.0
#define LAYER         41984000.0
#define LAYER_TP2     21012480.0
#define TABLE         131072000.0
#define EXPERTS       45097156608.0
#define LAYER_EXPERTS 1409286144.0

/* 4 micro-batches, 16-bit weights, fp32 gradients: bytes of vectors that a ring passes
 * round for one weight in a step. An all-reduce passes its vector round twice. */
static const double moved[] = {
	2 * 4,           /* ZeRO 0: all-reduce of gradients */
	4 + 2,           /* 1: scatter gradients, gather weights */
	4 * 4 + 2,       /* 2: scatter for each micro-batch */
	4 * (2 + 2 + 4), /* 3: gather twice and scatter for each */
};

static void mixtral(struct scenario *s)
{
	struct error error = { "" };

	if (!scenario_blank(s, "mixtral-8x7b", "dgx-h100", "generic", &error))
		fail_msg("%s", error.text);
	s->cluster.gpus = 64;
	s->plan.tp = s->plan.pp = s->plan.ep = s->plan.etp = 1;
	s->plan.micro_batch = 1;
	s->plan.seq_len = 1024;
	s->plan.grad_dtype = GRAD_FP32;
	s->plan.precision = PRECISION_BF16;
	s->plan.zero_group = 0;
	s->plan.fsdp_reshard = true;
	s->plan.fsdp_prefetch = 1;
	s->plan.recompute = RECOMPUTE_NONE;
	s->plan.schedule = SCHEDULE_1F1B;
	s->plan.collective = ALGORITHM_RING; /* trees send more */
}

/* One split of 64 GPUs on nodes of 8. Of each family: weights of a rank, mean of the
 * stages; ranks with the same ones; how many of those are on one node. */
struct split_case {
	int64_t tp, ep, etp, pp;
	double dense, dense_ranks, dense_near;
	double expert, expert_ranks, expert_near;
	double layer; /* with its experts, on a rank */
};

static const struct split_case cases[] = {
	/* all 64 hold the same */
	{ 1, 1, 1, 1, DENSE, 64, 8, EXPERTS, 64, 8, LAYER + LAYER_EXPERTS },
	/* an expert a GPU of the node: the same expert is on 8 nodes */
	{ 1, 8, 1, 1, DENSE, 64, 8, EXPERTS / 8, 8, 1, LAYER + LAYER_EXPERTS / 8 },
	/* stages of 16 GPUs; every fourth has the same experts */
	{ 1, 4, 1, 4, DENSE / 4, 16, 8, EXPERTS / 16, 4, 2, LAYER + LAYER_EXPERTS / 4 },
	/* stages of 32; dense on every second, experts on every eighth */
	{ 2, 4, 2, 2, DENSE_TP2 / 2, 16, 4, EXPERTS / 16, 4, 1,
	  LAYER_TP2 + LAYER_EXPERTS / 8 },
	/* experts whole on each rank of TP */
	{ 2, 1, 1, 1, DENSE_TP2, 32, 4, EXPERTS, 64, 8, LAYER_TP2 + LAYER_EXPERTS },
};

static void estimate(const struct scenario *s, struct estimate *e)
{
	train_estimate(s, e);
	assert_true(e->legal);
	assert_int_equal(e->micro_batches, 4);
}

/* A ring of n sends (n - 1) / n of a vector; of a node's members one sends it out. */
static void check_bytes(const struct split_case *c, int zero, const struct estimate *e)
{
	double d = (c->dense_ranks - 1) / c->dense_ranks * c->dense * moved[zero];
	double x = (c->expert_ranks - 1) / c->expert_ranks * c->expert * moved[zero];

	assert_close(e->cost[DIM_DP].bytes, d + x, 1e-9);
	assert_close(e->cost[DIM_DP].network_bytes,
		     d / c->dense_near + x / c->expert_near, 1e-9);
}

static void check_states(const struct split_case *c, int zero, const struct estimate *e)
{
	double d = 0, x = 0;

	for (int i = 0; i < e->stages; i++)
		d += e->stage[i].weights_bytes / e->stages;
	x = zero == 3 ? 2 * (c->dense / c->dense_ranks + c->expert / c->expert_ranks)
		      : 2 * (c->dense + c->expert);
	assert_close(d, x, 1e-9);
}

static void test_traffic_and_states_are_those_counted_by_hand(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct split_case *c = &cases[i];
		double before = 0;
		struct scenario s;

		mixtral(&s);
		s.plan.tp = c->tp;
		s.plan.ep = c->ep;
		s.plan.etp = c->etp;
		s.plan.pp = c->pp;
		s.plan.global_batch = 4 * 64 / (c->tp * c->pp);
		for (int zero = 0; zero < 4; zero++) {
			s.plan.zero = zero;
			estimate(&s, e);
			check_bytes(c, zero, e);
			check_states(c, zero, e);
			if (zero < 3)
				before = e->stage[0].buffers_bytes;
		}
		/* two layers in 16 bit and fp32 gradients of one */
		assert_close(e->stage[0].buffers_bytes - before, (2 * 2 + 4) * c->layer,
			     1e-9);
	}
	free(e);
}

/* Who sums beside 16-bit gradients holds both, where there is somebody to exchange them
 * with: ranks with other batches, or the other copy of a pipeline that runs both ways.
 */
static void test_a_copy_beside_the_sum_where_gradients_are_exchanged(void **state)
{
	static const struct {
		int64_t gpus;
		enum schedule_kind schedule;
		bool exchanges;
	} each[] = {
		{ 2, SCHEDULE_1F1B, false },
		{ 4, SCHEDULE_1F1B, true },
		{ 2, SCHEDULE_DUALPIPE, true },
		{ 4, SCHEDULE_DUALPIPE, true },
	};
	struct shards shards;
	struct states held;
	struct scenario s;

	(void)state;
	mixtral(&s);
	s.stack.sync_copy_bytes = 2;
	s.plan.pp = 2;
	s.plan.zero = 1;
	for (int i = 0; i < 4; i++) {
		s.cluster.gpus = each[i].gpus;
		s.plan.schedule = each[i].schedule;
		states_shards(&s, &shards);
		states_bytes(&s, &shards, &held);
		assert_close(held.sync_copy, each[i].exchanges ? 2 : 0, 0);
	}
	/* with ZeRO-3 each is scattered as it comes; fp16 sums in 16 bits */
	s.plan.zero = 3;
	states_bytes(&s, &shards, &held);
	assert_true(held.sync_copy == 0);
	s.plan.zero = 2;
	states_bytes(&s, &shards, &held);
	assert_true(held.sync_copy == 2);
	s.plan.precision = PRECISION_FP16;
	states_bytes(&s, &shards, &held);
	assert_true(held.sync_copy == 0);
}

static void test_kept_weights_are_all_gathered(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	double before;
	struct scenario s;

	(void)state;
	mixtral(&s);
	s.plan.global_batch = 256;
	s.plan.fsdp_reshard = false;
	s.plan.zero = 2;
	estimate(&s, e);
	before = e->memory.buffers_bytes;
	s.plan.zero = 3;
	estimate(&s, e);
	/* and a gather less for each micro-batch */
	assert_close(e->cost[DIM_DP].bytes, 63.0 / 64 * (DENSE + EXPERTS) * 4 * (2 + 4),
		     1e-9);
	assert_close(e->memory.buffers_bytes - before,
		     2 * (DENSE + EXPERTS) + 4 * (LAYER + LAYER_EXPERTS), 1e-9);
	free(e);
}

/* Groups of 8 make 8 sets. Dense weights are shared by the node's 8 GPUs, and added up
 * over 8 nodes; with EP 8 those 8 GPUs hold different experts, so that none is shared
 * out, and its gradient is added up over 8 nodes whole. */
static void test_a_group_holds_a_set_of_experts(void **state)
{
	static const double times[] = { 0, 4 + 2, 4 * 4 + 2, 4 * (2 + 2 + 4) };
	struct estimate *e = calloc(1, sizeof *e);
	double before = 0;
	struct scenario s;

	(void)state;
	mixtral(&s);
	s.plan.ep = 8;
	s.plan.zero_group = 8;
	s.plan.global_batch = 256;
	for (int zero = 1; zero < 4; zero++) {
		double sums = 2 * 7.0 / 8 * 4 * (DENSE / 8 + EXPERTS / 8);

		s.plan.zero = zero;
		estimate(&s, e);
		assert_close(e->cost[DIM_DP].network_bytes, sums, 1e-9);
		assert_close(e->cost[DIM_DP].bytes,
			     7.0 / 8 * DENSE * times[zero] + sums, 1e-9);
		assert_close(e->memory.optimizer_bytes, 12 * (DENSE + EXPERTS) / 8,
			     1e-9);
		if (zero < 3)
			before = e->memory.buffers_bytes;
	}
	assert_close(e->memory.weights_bytes, 2 * (DENSE + EXPERTS) / 8, 1e-9);
	/* the head, a table and a norm, is more than a layer without experts */
	assert_close(e->memory.buffers_bytes - before, (2 * 2 + 4) * (TABLE + 4096),
		     1e-9);
	free(e);
}

/* Published words: FSDP over 64 GPUs gathers all of Mixtral twice for each of 4
 * micro-batches, 2 x 63/64 x 46.7e9 x 2 B x 4 = 736 GB; Qwen3 30B-A3B on 256 GPUs with
 * EP 8 has every expert on 32 nodes. */
static void test_rows_name_the_family_and_its_ranks(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct error error = { "" };
	struct scenario s;
	double bytes = 0;

	(void)state;
	if (!scenario_blank(&s, "qwen3-30b-a3b", "dgx-h100", "megatron-core", &error))
		fail_msg("%s", error.text);
	s.cluster.gpus = 256;
	s.plan.ep = 8;
	s.plan.zero = 3;
	s.plan.global_batch = 1024;
	train_estimate(&s, e);
	assert_true(e->legal);
	for (int i = 0; i < e->traffic_count; i++) {
		const struct traffic *t = &e->traffic[i];

		if (t->dimension != DIM_DP)
			continue;
		if (strstr(t->what, "expert")) {
			assert_int_equal(t->ranks, 32);
			assert_int_equal(t->ranks_per_domain, 1);
			assert_close(t->network_bytes, t->total_bytes, 1e-9);
			bytes += t->total_bytes;
		} else {
			assert_int_equal(t->ranks, 256);
		}
	}
	/* 48 layers x 128 experts x 3 x 2048 x 768 / 8, 8 bytes, 4 micro-batches */
	assert_close(bytes,
		     31.0 / 32 * 48 * 128 * 3 * 2048 * 768 / 8 * 4 *
			     (2 * 2 + step_gradient_bytes(&s)),
		     1e-9);
	free(e);
}

static const struct traffic *row_named(const struct estimate *e, const char *what)
{
	for (int i = 0; i < e->traffic_count; i++)
		if (strcmp(e->traffic[i].what, what) == 0)
			return &e->traffic[i];
	fail_msg("no %s", what);
	return NULL;
}

/* nanotron has no DDP with ZeRO: one all-reduce of its fp32 buffer behind the backward,
 * whose bytes pass round twice, and nothing of it hides (src/nanotron/trainer.py,
 * make_ddp). */
static void test_a_stack_sums_whole_gradients(void **state)
{
	static struct estimate scattered, whole;
	const struct traffic *row;
	struct scenario s;

	(void)state;
	mixtral(&s);
	s.model.moe.experts = 0;
	s.cluster.gpus = 64;
	s.plan.global_batch = 256;
	s.plan.zero = 1;
	s.plan.overlap_grad_reduce = true;
	s.stack.dp_overlap = 1;
	for (int k = 0; k < s.model.kinds; k++) {
		s.model.kind[k].mlp = MLP_DENSE;
		s.model.kind[k].ffn = 14336;
	}
	estimate(&s, &scattered);
	assert_true(row_named(&scattered, "gradients")->kind ==
		    COLLECTIVE_REDUCE_SCATTER);
	s.stack.reduces_behind = true;
	estimate(&s, &whole);
	row = row_named(&whole, "gradients");
	assert_true(row->kind == COLLECTIVE_ALL_REDUCE);
	assert_close(row->sent_bytes,
		     2 * row_named(&scattered, "gradients")->sent_bytes, 1e-9);
	assert_close(row->pieces, 1, 0);
	assert_close(row->exposed_seconds, row->total_seconds, 1e-12);
	s.plan.overlap_grad_reduce = false;
	estimate(&s, &scattered);
	assert_close(row_named(&scattered, "gradients")->exposed_seconds,
		     row->exposed_seconds, 1e-12);
	/* ZeRO 0 has DDP, and hides */
	s.plan.zero = 0;
	s.plan.overlap_grad_reduce = true;
	estimate(&s, &scattered);
	row = row_named(&scattered, "gradients");
	assert_true(row->exposed_seconds < row->total_seconds);
}

/* The gradient of the embedding's table is the last that a backward makes, and its rows
 * the first that a forward reads: however long both are, its part of the exchange
 * shows, and one layer's where the vocabulary is small. Another stage of a pipeline has
 * none. */
static void test_nothing_hides_the_embedding(void **state)
{
	static const char *const rows[] = { "gradients", "parameters" };
	static const double bytes[] = { 4, 2 };
	static struct estimate e;
	struct scenario s;

	(void)state;
	mixtral(&s);
	s.model.moe.experts = 0;
	s.model.vocab = 256000;
	s.model.tied_embeddings = false;
	s.cluster.gpus = 8;
	s.plan.seq_len = 32768;
	s.plan.global_batch = 32;
	s.plan.zero = 1;
	s.plan.overlap_grad_reduce = s.plan.overlap_param_gather = true;
	s.stack.dp_overlap = 1;
	for (int k = 0; k < s.model.kinds; k++) {
		s.model.kind[k].mlp = MLP_DENSE;
		s.model.kind[k].ffn = 14336;
	}
	for (int i = 0; i < 2; i++) {
		double table = 256000.0 * (double)s.model.hidden;
		const struct traffic *row;

		estimate(&s, &e);
		row = row_named(&e, rows[i]);
		assert_close(row->exposed_seconds / row->total_seconds,
			     table * bytes[i] / row->payload_bytes, 1e-9);
		s.model.vocab = 1024;
		estimate(&s, &e);
		row = row_named(&e, rows[i]);
		assert_close(row->exposed_seconds / row->total_seconds,
			     1 / (double)s.model.layers, 1e-9);
		s.model.vocab = 256000;
	}
}

/* The same of each micro-batch's shards: forward all that is gathered for the table,
 * backward all that its gradient scatters. */
static void test_nothing_hides_the_root_of_shards(void **state)
{
	static struct estimate e;
	const struct traffic *gather, *scatter;
	struct scenario s;
	double share;

	(void)state;
	mixtral(&s);
	s.model.moe.experts = 0;
	s.model.vocab = 256000;
	s.model.tied_embeddings = false;
	s.cluster.gpus = 8;
	s.plan.seq_len = 32768;
	s.plan.global_batch = 32;
	s.plan.overlap_grad_reduce = true;
	s.stack.dp_overlap = 1;
	for (int k = 0; k < s.model.kinds; k++) {
		s.model.kind[k].mlp = MLP_DENSE;
		s.model.kind[k].ffn = 14336;
	}
	s.plan.zero = 2;
	estimate(&s, &e);
	scatter = row_named(&e, "scatter gradients");
	share = 256000.0 * (double)s.model.hidden * 4 / scatter->payload_bytes;
	assert_close(scatter->exposed_seconds / scatter->total_seconds, share, 1e-9);
	s.plan.zero = 3;
	estimate(&s, &e);
	scatter = row_named(&e, "scatter gradients");
	gather = row_named(&e, "gather weights");
	assert_close(gather->exposed_seconds + scatter->exposed_seconds,
		     share * (gather->total_seconds / 2 + scatter->total_seconds),
		     1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traffic_and_states_are_those_counted_by_hand),
		cmocka_unit_test(
			test_a_copy_beside_the_sum_where_gradients_are_exchanged),
		cmocka_unit_test(test_kept_weights_are_all_gathered),
		cmocka_unit_test(test_a_group_holds_a_set_of_experts),
		cmocka_unit_test(test_rows_name_the_family_and_its_ranks),
		cmocka_unit_test(test_a_stack_sums_whole_gradients),
		cmocka_unit_test(test_nothing_hides_the_embedding),
		cmocka_unit_test(test_nothing_hides_the_root_of_shards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
