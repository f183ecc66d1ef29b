/* test_twin.c - the engine's counts against the twin's, who counts everything one by
 * one (tests/twin/twin.h), on small random models and plans of every architecture. */
#include <string.h>

#include "engine/rules/legality.h"
#include "engine/train/train.h"
#include "tests/support/any.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/twin/twin.h"

enum { SCENARIOS = 300 };

static struct estimate e;

/* Picks of an indexer: of tokens, or of entries that stand for some (DeepSeek-V3.2 and
 * V4); or of a layer before, which has the indexer (GLM-5.2). */
static void random_index(struct attention *a)
{
	a->index_topk = 4 << next(4);
	if (next(4) == 0)
		return;
	a->index_heads = 1 << next(3);
	a->index_dim = 4 << next(2);
}

/* Attention as DeepSeek-V4 and Gemma have it: entries of windows, a key that is its
 * value, queries through a latent, the output in two steps, borrowed keys. */
static void random_variant(struct attention *a)
{
	a->qk_norm = next(2);
	a->sinks = next(3) == 0;
	a->shared_kv = next(4) == 0;
	a->query_rank = !a->output_gate && next(4) == 0 ? 24 : 0;
	if (next(4) == 0) {
		a->output_groups = 1 << next(4);
		a->output_rank = 8;
	}
	if (next(4) == 0) {
		a->window = 4 << next(5);
		a->compress = 4 << next(2);
	}
	/* who borrows keys has no latent of queries: nobody built both */
	if (a->query_rank == 0)
		a->borrowed_kv = next(4) == 0;
	if ((a->window == 0 || a->compress > 0) && next(2))
		random_index(a);
}

static struct layer_kind random_kind(int64_t mixer, int64_t mlp)
{
	struct layer_kind kind = { .mixer = (enum mixer_kind)mixer,
				   .mlp = (enum mlp_kind)mlp };
	struct attention *a = &kind.attention;

	if (mlp == MLP_DENSE)
		kind.ffn = 32 << next(3);
	if (mixer != MIXER_ATTENTION && mixer != MIXER_MLA)
		return kind;
	a->heads = 8;
	a->kv_heads = mixer == MIXER_MLA ? 8 : 1 << next(4);
	a->head_dim = 4 << next(2);
	a->value_dim = 4 << next(2);
	a->window = next(2) ? 4 << next(5) : 0;
	if (mixer == MIXER_ATTENTION) {
		a->qkv_bias = next(2);
		a->output_bias = next(2);
		a->output_gate = next(4) == 0;
		if (next(2))
			random_variant(a);
		if (next(3) == 0)
			kind.beside = MIXER_MAMBA2;
		return kind;
	}
	a->query_rank = next(2) ? 24 : 0;
	a->kv_rank = 16;
	a->nope_dim = 4;
	a->rope_dim = 2;
	a->head_dim = 6;
	if (next(3) == 0) {
		a->window = 0;
		random_index(a);
	}
	return kind;
}

/* What stands around the halves of a layer, and at the ends. */
static void random_rest(struct model *m)
{
	m->post_norms = next(4) == 0;
	m->parallel_block = next(4) == 0;
	m->shared_norm = m->parallel_block && next(2);
	m->embedding_norm = next(4) == 0;
	m->head_bias = next(4) == 0;
	m->position = next(4) == 0 ? POSITION_LEARNED : POSITION_ROPE;
	m->max_positions = m->position == POSITION_LEARNED ? 1024 : 1 << 20;
	m->moe.shared_gate = next(3) == 0;
	m->moe.router_bias = next(3) == 0;
	m->moe.expert_latent = next(3) == 0 ? 24 : 0;
	if (next(3) == 0) {
		m->input_width = 8;
		m->input_rows = 40;
	}
}

/* A layer's own input comes in behind an MLP, as in Gemma; not where experts are. */
static bool takes_inputs(const struct model *m)
{
	for (int k = 0; k < m->kinds; k++)
		if (m->kind[k].mlp != MLP_DENSE)
			return false;
	return true;
}

/* One to three kinds of layers in turn. */
static void random_model(struct model *m)
{
	static const int64_t mixers[] = {
		MIXER_ATTENTION, MIXER_ATTENTION, MIXER_MLA,
		MIXER_MAMBA1,    MIXER_MAMBA2,    MIXER_NONE
	};
	int64_t layers = 4 * (1 + (int64_t)next(3)), kinds = 1 + (int64_t)next(3);
	struct layer_kind kind[3];

	*m = (struct model){ .hidden = 32 << next(2),
			     .vocab = 50 + (int64_t)next(300),
			     .gated_mlp = next(2),
			     .mlp_bias = next(2),
			     .norm = (enum norm_kind)next(2),
			     .norm_bias = next(2),
			     .tied_embeddings = next(2),
			     .mtp_layers = next(3) == 0,
			     .max_positions = 1 << 20 };
	strcpy(m->name, "small");
	m->moe = (struct moe){ .experts = 8,
			       .experts_per_token = 1 + (int64_t)next(3),
			       .expert_ffn = 16,
			       .shared_ffn = next(2) ? 32 : 0,
			       .expert_bias = next(2) };
	m->ssm = (struct ssm){ .inner = 64,
			       .state = 8,
			       .heads = 8,
			       .head_dim = 8,
			       .groups = 8,
			       .conv = 4,
			       .chunk = 16,
			       .dt_rank = 6 };
	for (int64_t k = 0; k < kinds; k++) {
		int64_t mixer = mixers[next(6)];

		kind[k] = random_kind(mixer, mixer == MIXER_NONE ? 1 + (int64_t)next(2)
								 : (int64_t)next(3));
	}
	bool experts = false;

	random_rest(m);
	for (int64_t i = 0; i < layers; i++) {
		assert_true(model_add_layer(m, &kind[i % kinds]));
		experts |= kind[i % kinds].mlp == MLP_MOE;
	}
	if (!experts)
		m->moe = (struct moe){ 0 };
	if (!takes_inputs(m))
		m->input_width = 0;
}

static void random_plan(struct scenario *s)
{
	struct plan *p = &s->plan;

	p->tp = 1 << next(3);
	p->sp = p->tp > 1 && next(2);
	p->cp = 1 << next(2);
	p->cp_kind = (int)next(CP_KIND_COUNT);
	p->pp = 1 << next(3);
	p->ep = s->model.moe.experts > 0 ? 1 << next(3) : 1;
	p->etp = s->model.moe.experts > 0 ? 1 << next(3) : 0;
	p->zero = (int64_t)next(4);
	p->fsdp_reshard = next(2);
	p->micro_batch = 1 + (int64_t)next(2);
	p->seq_len = 32 << next(2);
	p->precision = next(3) == 0   ? PRECISION_FP32
		       : next(3) == 0 ? PRECISION_FP8 + (int)next(3)
				      : PRECISION_BF16;
	p->fp8_recipe = (int)next(FP8_MXFP8);
	s->stack.gathers_fp8 = next(2);
	s->stack.gathers_blocks = next(2);
	p->grad_dtype = (int)next(2);
	p->optimizer = (int)next(OPTIMIZER_COUNT);
	p->master_weights = (int)next(MASTER_COUNT);
	p->vocab_parallel = next(2);
	p->split = SPLIT_EVEN;
	p->schedule = SCHEDULE_1F1B;
	p->global_batch = p->micro_batch * 32;
	s->cluster.gpus = p->pp * p->tp * p->cp * (int64_t)(1u << next(3));
	s->stack.vocab_multiple = 1 + (int64_t)next(7);
	s->stack.reduces_by_product = next(2);
	s->stack.gathers_by_product = next(2);
	s->stack.splits_master = next(2);
	s->stack.reduces_whole = next(2);
	s->stack.reduces_behind = next(4) == 0;
	s->stack.reduced_bytes = 2 * (double)next(3);
}

/* A legal one, where the framework's own refusals do not matter. */
static void small(struct scenario *s)
{
	do {
		case_dense(s);
		s->stack.rules = 0;
		s->stack.sync_copy_bytes = 0;
		random_model(&s->model);
		random_plan(s);
		/* the twin passes on in rings */
		s->plan.collective = ALGORITHM_RING;
	} while (scenario_check(s, NULL) > 0 || (train_estimate(s, &e), !e.legal));
}

/* The tensors of an optimizer, one after the other: moments, and what is stepped beside
 * a weight in 16 bits. */
static double state_bytes(const struct scenario *s)
{
	static const double first[] = { 4, 1, 2, 0.01, 4, 4 };
	static const double second[] = { 4, 1, 2, 0, 0, 0 };
	const struct plan *p = &s->plan;
	bool narrow = p->optimizer == OPTIMIZER_ADAMW_8BIT ||
		      p->optimizer == OPTIMIZER_ADAMW_BF16;
	double master = 4;

	if (p->master_weights == MASTER_REST || p->master_weights == MASTER_HALF ||
	    (p->master_weights == MASTER_AUTO && narrow && s->stack.splits_master))
		master = 2;
	if (p->master_weights == MASTER_NONE || p->precision == PRECISION_FP32)
		master = 0;
	return first[p->optimizer] + second[p->optimizer] + master;
}

/* What a rank holds, after its share. */
static void check_rank(const struct scenario *s, int64_t rank)
{
	const struct plan *p = &s->plan;
	struct twin_rank at = twin_rank(s, rank);
	const struct stage_memory *held = &e.stage[at.pp];
	bool fp32 = p->precision == PRECISION_FP32;
	double weight = fp32 ? 4 : 2,
	       gradient = fp32 || p->grad_dtype == GRAD_FP32 ? 4 : 2;
	double dense = (double)(s->cluster.gpus / (p->tp * p->pp)), expert = 1, state;
	int64_t etp = p->etp > 0 ? p->etp : p->tp;
	struct twin_weights own;

	twin_weights(s, at, &own);
	if (s->model.moe.experts > 0)
		expert = (double)(s->cluster.gpus / (etp * p->ep * p->pp));
	state = held->optimizer_bytes /
		(p->zero >= 1 ? own.dense / dense + own.expert / expert
			      : own.dense + own.expert);
	assert_close(held->parameters, own.dense + own.expert, 1e-12);
	assert_close(held->weights_bytes,
		     weight * (p->zero >= 3 ? own.dense / dense + own.expert / expert
					    : own.dense + own.expert),
		     1e-12);
	/* kept gathered under a pipeline they are summed whole, in fp32 */
	if (p->zero == 3 && p->pp > 1 && (!p->fsdp_reshard || s->stack.torch_stages))
		assert_close(held->gradients_bytes, 4 * (own.dense + own.expert),
			     1e-12);
	else
		assert_close(held->gradients_bytes,
			     gradient * (p->zero >= 2 ? own.dense / dense +
								own.expert / expert
						      : own.dense + own.expert),
			     1e-12);
	assert_close(state, state_bytes(s), 1e-12);
}

static void check_traffic(const struct scenario *s)
{
	struct twin_sent sent;

	twin_traffic(s, &sent);
	for (int d = 0; d < DIM_HOST; d++) {
		double mean = sent.bytes[d] / (double)s->cluster.gpus;

		if (e.cost[d].bytes < mean * (1 - 1e-9) ||
		    e.cost[d].bytes > mean * (1 + 1e-9)) {
			any_describe(s);
			fail_msg("%s sends %.12g bytes, the twin %.12g",
				 dimension_label((enum dimension)d), e.cost[d].bytes,
				 mean);
		}
	}
}

/* What came up, so that nothing is compared that is never there. */
enum feature {
	MIXERS,
	MIXED = MIXERS + MIXER_COUNT,
	ROUTED,
	SLICED,
	TIED,
	MTP,
	BESIDE,
	PICKED,
	COMPRESSED,
	ONE_ENTRY,
	BORROWED,
	IN_TWO_STEPS,
	THROUGH_A_LATENT,
	OWN_INPUTS,
	PARALLEL,
	LATENT_EXPERTS,
	FEATURES
};

static void note_kind(const struct layer_kind *kind, int *seen)
{
	const struct attention *a = &kind->attention;

	seen[MIXERS + kind->mixer]++;
	seen[BESIDE] += kind->beside != MIXER_NONE;
	seen[PICKED] += a->index_topk > 0;
	seen[COMPRESSED] += a->compress > 0;
	seen[ONE_ENTRY] += a->shared_kv;
	seen[BORROWED] += a->borrowed_kv;
	seen[IN_TWO_STEPS] += a->output_rank > 0;
	seen[THROUGH_A_LATENT] += kind->mixer == MIXER_ATTENTION && a->query_rank > 0;
}

static void note(const struct scenario *s, int *seen)
{
	const struct plan *p = &s->plan;

	for (int k = 0; k < s->model.kinds && p->tp > 1; k++)
		note_kind(&s->model.kind[k], seen);
	seen[MIXED] += s->model.kinds > 1;
	seen[ROUTED] += p->ep > 1;
	seen[SLICED] += p->etp > 1;
	seen[TIED] += s->model.tied_embeddings && p->pp > 2;
	seen[MTP] += s->model.mtp_layers > 0 && p->pp > 1;
	seen[OWN_INPUTS] += s->model.input_width > 0 && p->tp > 1;
	seen[PARALLEL] += s->model.parallel_block && p->tp > 1;
	seen[LATENT_EXPERTS] += s->model.moe.expert_latent > 0 && p->ep > 1;
}

static void test_the_twin_holds_and_sends_as_much(void **state)
{
	int seen[FEATURES] = { 0 };
	struct scenario s;

	(void)state;
	seed = 2112;
	for (int i = 0; i < SCENARIOS; i++) {
		small(&s);
		for (int64_t rank = 0; rank < s.cluster.gpus; rank++)
			check_rank(&s, rank);
		check_traffic(&s);
		note(&s, seen);
	}
	/* linear attention is approximate, short convolutions and fixed decays are
	 * theirs alone: the twin does not know them */
	for (int f = 0; f < FEATURES; f++)
		assert_true(f == MIXERS + MIXER_LINEAR || f == MIXERS + MIXER_CONV ||
			    f == MIXERS + MIXER_LIGHTNING || seen[f] > SCENARIOS / 50);
}

static void test_the_twin_counts_as_many_weights_and_flops(void **state)
{
	struct model m;

	(void)state;
	seed = 5;
	for (int i = 0; i < SCENARIOS; i++) {
		struct model_counts counts;

		random_model(&m);
		model_count(&m, &counts);
		assert_close(counts.total, twin_parameters(&m), 1e-12);
		assert_close(model_trained_flops_per_token(&m, 64, false, 0, LORA_ALL),
			     twin_flops(&m, 64), 1e-9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_twin_counts_as_many_weights_and_flops),
		cmocka_unit_test(test_the_twin_holds_and_sends_as_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
