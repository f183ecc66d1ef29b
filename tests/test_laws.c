/* test_laws.c - what must hold between two estimates, or two parts of one, whatever the
 * scenario: laws that no formula of the engine says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/explain/explain.h"
#include "engine/graph/graph.h"
#include "engine/plan/mesh.h"
#include "engine/rules/legality.h"
#include "engine/train/step.h"
#include "engine/train/train.h"
#include "tests/support/any.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/effect.h"
#include "tests/support/random.h"

static struct estimate one, two;

/* A legal one with its estimate in `one`. */
static void legal(struct scenario *s)
{
	do
		any_scenario(s);
	while (scenario_check(s, NULL) > 0 || (train_estimate(s, &one), !one.legal));
}

static void check_list(const struct estimate *e)
{
	struct dimension_cost sum[DIM_COUNT] = { { 0 } };

	for (int i = 0; i < e->traffic_count; i++) {
		const struct traffic *t = &e->traffic[i];
		struct dimension_cost *d = &sum[t->dimension];

		d->bytes += t->total_bytes;
		d->network_bytes += t->network_bytes;
		d->payload_bytes += t->payload_bytes * t->count;
		d->seconds += t->total_seconds;
		d->exposed_seconds += t->exposed_seconds;
		assert_close(t->count * t->sent_bytes, t->total_bytes, 1e-9);
		assert_close(t->count * t->seconds, t->total_seconds, 1e-9);
	}
	for (int d = 0; d < DIM_COUNT; d++) {
		assert_close(sum[d].bytes, e->cost[d].bytes, 1e-9);
		assert_close(sum[d].network_bytes, e->cost[d].network_bytes, 1e-9);
		assert_close(sum[d].payload_bytes, e->cost[d].payload_bytes, 1e-9);
		assert_close(sum[d].seconds, e->cost[d].seconds, 1e-9);
		assert_true(fabs(sum[d].exposed_seconds - e->cost[d].exposed_seconds) <=
			    1e-9 * (e->step_seconds + sum[d].exposed_seconds));
	}
}

/* What is not cut into pieces the library is called with whole; an exchange of experts
 * waits for the rank that has most. */
static void check_calls(const struct estimate *e)
{
	for (int i = 0; i < e->traffic_count; i++) {
		const struct traffic *t = &e->traffic[i];

		if (t->kind != COLLECTIVE_ALL_TO_ALL && t->pieces == 1)
			assert_close(t->call_bytes, t->payload_bytes, 1e-9);
	}
}

static void test_a_dimension_is_the_sum_of_its_list(void **state)
{
	struct scenario s;

	(void)state;
	seed = 11;
	for (int i = 0; i < 600; i++) {
		legal(&s);
		check_list(&one);
		check_calls(&one);
		s.cluster.scale = 1.7;
		train_estimate(&s, &two);
		check_list(&two);
	}
}

/* A scale or a share that nobody stated is one. */
static void test_what_nobody_stated_is_one(void **state)
{
	(void)state;
	seed = 17;
	for (int i = 0; i < 300; i++) {
		struct scenario s;
		struct calibration *c = &s.cluster.accelerator.calibration;

		legal(&s);
		double *const scale[] = {
			&c->compute_scale, &c->network_scale,
			&c->host_scale,    &c->collective_share,
			&s.cluster.scale,  &s.stack.network_efficiency
		};

		for (size_t k = 0; k < sizeof scale / sizeof scale[0]; k++) {
			double stated = *scale[k];

			*scale[k] = 0;
			train_estimate(&s, &one);
			*scale[k] = 1;
			train_estimate(&s, &two);
			*scale[k] = stated;
			if (one.step_seconds != two.step_seconds)
				fail_msg("constant %zu", k);
		}
	}
}

/* Seconds by their names in the table: rates go the other way, all else stays. */
static void check_scaled(const struct estimate *a, const struct estimate *b, double k)
{
	for (int i = 0; i < metric_count(); i++) {
		const struct metric *m = &metric_table[i];
		double x = metric_get(a, m), y = metric_get(b, m);
		bool run = strcmp(m->group, "run") == 0;

		/* a run also waits for what a calibration does not touch, and the
		 * range of a calibrated step is narrower */
		if (!(m->modes & METRIC_TRAINING) || run || strstr(m->key, "_low") ||
		    strstr(m->key, "_high"))
			continue;
		if (strstr(m->key, "seconds"))
			x *= k;
		if (strstr(m->key, "per_second") || strstr(m->key, "flops_per_gpu") ||
		    strstr(m->key, "fu"))
			x = strstr(m->key, "seconds") ? x : metric_get(a, m) / k;
		if (fabs(y - x) > 1e-9 * fabs(x) + 1e-12 * a->step_seconds)
			fail_msg("%s is %g, not %g", m->key, y, x);
	}
	for (int i = 0; i < a->stages; i++) {
		const double *x = (const double *)&a->stage_time[i];
		const double *y = (const double *)&b->stage_time[i];

		for (size_t n = 0; n < sizeof a->stage_time[i] / sizeof *x; n++)
			assert_true(fabs(y[n] - k * x[n]) <=
				    1e-9 * k * a->step_seconds);
	}
	for (int i = 0; i < a->traffic_count; i++) {
		assert_close(b->traffic[i].seconds, k * a->traffic[i].seconds, 1e-9);
		assert_close(b->traffic[i].total_seconds,
			     k * a->traffic[i].total_seconds, 1e-9);
		assert_close(b->traffic[i].exposed_seconds,
			     k * a->traffic[i].exposed_seconds, 1e-9);
	}
}

static void test_calibration_scales_every_second(void **state)
{
	struct scenario s;

	(void)state;
	seed = 12;
	for (int i = 0; i < 400; i++) {
		legal(&s);
		s.cluster.scale = 1;
		train_estimate(&s, &one);
		s.cluster.scale = 1.5;
		train_estimate(&s, &two);
		check_scaled(&one, &two, 1.5);
	}
}

/* A machine whose rates are all k times as slow takes k times as long: there is no
 * second that hangs on nothing. */
static void slow_down(struct scenario *s, double k)
{
	struct accelerator *a = &s->cluster.accelerator;

	for (int i = 0; i < PRECISION_COUNT; i++)
		a->peak_flops[i] /= k;
	a->memory_bytes_per_second /= k;
	a->host_bytes_per_second /= k;
	a->host_alone_bytes_per_second /= k;
	s->cluster.host_memory_bytes_per_second /= k;
	a->calibration.kernel_seconds *= k;
	a->calibration.step_seconds *= k;
	for (int i = 0; i < TRANSPORT_COUNT * PROTOCOL_COUNT; i++) {
		struct protocol *p =
			&a->transports.row[i / PROTOCOL_COUNT][i % PROTOCOL_COUNT];

		p->start_seconds *= k;
		p->hop_seconds *= k;
		p->peer_seconds *= k;
	}
	for (int i = 0; i < LINK_COUNT; i++) {
		s->cluster.link[i].bytes_per_second /= k;
		s->cluster.link[i].latency_seconds *= k;
	}
	s->cluster.launch_seconds *= k;
	s->stack.kernel_gap_seconds *= k;
	s->stack.layer_step_seconds *= k;
}

static void test_slower_rates_scale_every_second(void **state)
{
	struct scenario s;

	(void)state;
	seed = 13;
	for (int i = 0; i < 400; i++) {
		legal(&s);
		slow_down(&s, 4);
		train_estimate(&s, &two);
		assert_close(two.step_seconds, 4 * one.step_seconds, 1e-9);
		assert_close(two.optimizer_seconds, 4 * one.optimizer_seconds, 1e-9);
		for (int d = 0; d < DIM_COUNT; d++) {
			assert_close(two.cost[d].seconds, 4 * one.cost[d].seconds,
				     1e-9);
			assert_close(two.cost[d].bytes, one.cost[d].bytes, 1e-12);
		}
		assert_close(two.memory.total_bytes, one.memory.total_bytes, 1e-12);
	}
}

/* Bytes per weight in training with 16-bit weights, by what each paper keeps: an fp32
 * master, and Adam's two fp32 moments (Rajbhandari 2020, section 3.1: K = 12); two of a
 * byte (Dettmers 2021, section 2); two of bf16 (DeepSeek-V3, section 3.3.1); one fp32
 * momentum (Muon: Jordan 2024; SGD). Adafactor keeps a row and a column of each matrix
 * (Shazeer 2018, section 3). Where moments are narrow, a stack may keep of the master
 * only the 16 bits that a weight lacks. */
static void test_optimizers_hold_what_their_papers_say(void **state)
{
	static const double bytes[OPTIMIZER_COUNT] = {
		[OPTIMIZER_ADAMW] = 12,     [OPTIMIZER_ADAMW_8BIT] = 6,
		[OPTIMIZER_ADAMW_BF16] = 8, [OPTIMIZER_ADAFACTOR] = 4.01,
		[OPTIMIZER_MUON] = 8,       [OPTIMIZER_SGD] = 8,
	};
	struct scenario s;

	(void)state;
	seed = 14;
	for (int i = 0; i < 300; i++) {
		legal(&s);
		if (s.plan.lora_rank > 0)
			continue;
		s.plan.frozen_layers = 0;
		s.plan.zero = 0;
		s.plan.optimizer_offload = 0;
		s.plan.precision = PRECISION_BF16;
		s.plan.master_weights = MASTER_AUTO;
		for (int o = 0; o < OPTIMIZER_COUNT; o++) {
			s.plan.optimizer = o;
			if (scenario_check(&s, NULL) > 0)
				continue;
			bool split =
				s.stack.splits_master && (o == OPTIMIZER_ADAMW_8BIT ||
							  o == OPTIMIZER_ADAMW_BF16);
			double each = bytes[o] - (split ? 2 : 0);

			train_estimate(&s, &one);
			for (int k = 0; k < one.stages; k++)
				assert_close(one.stage[k].optimizer_bytes,
					     each * one.stage[k].parameters, 1e-9);
		}
	}
}

/* Five steps of Newton-Schulz, each with X X' (2 n m n), A A (2 n^3) and B X (2 n n m),
 * with every side taken for the hidden one: 30 h FLOPs a weight; beside SGD's bytes the
 * update is written and read in 16 bits. */
static void test_muon_multiplies_matrices(void **state)
{
	struct scenario s;
	double seconds, peak, rate;

	(void)state;
	case_dense(&s);
	effect_set(&s, "optimizer=sgd zero=0");
	train_estimate(&s, &one);
	effect_set(&s, "optimizer=muon");
	train_estimate(&s, &two);
	peak = s.cluster.accelerator.peak_flops[PRECISION_BF16] * 0.7;
	rate = s.cluster.accelerator.memory_bytes_per_second *
	       s.cluster.accelerator.calibration.memory_efficiency;
	for (int i = 0; i < one.stages; i++) {
		seconds = (30 * 8192 / peak + 4 / rate) * one.stage[i].parameters;
		assert_close(two.stage_time[i].optimizer_seconds -
				     one.stage_time[i].optimizer_seconds,
			     seconds, 1e-9);
	}
}

/* The same rate of FLOPs over another peak. */
static void test_mfu_is_over_both_peaks(void **state)
{
	int compared = 0;
	struct scenario s;

	(void)state;
	seed = 15;
	for (int i = 0; i < 2000 && compared < 100; i++) {
		const double *peak = s.cluster.accelerator.peak_flops;

		legal(&s);
		s.plan.precision = PRECISION_FP8;
		if (scenario_check(&s, NULL) > 0 || peak[PRECISION_FP8] <= 0 ||
		    peak[PRECISION_BF16] <= 0 ||
		    peak[s.plan.precision] == peak[PRECISION_BF16])
			continue;
		train_estimate(&s, &one);
		compared++;
		assert_close(one.mfu_bf16 / one.mfu,
			     peak[s.plan.precision] / peak[PRECISION_BF16], 1e-12);
	}
	assert_true(compared > 50);
}

/* Two stages have the table, however many there are: each sends its gradient once to
 * the other, as an all-reduce between two does, and nobody else does. */
static void test_two_ranks_exchange_a_tied_table(void **state)
{
	(void)state;
	for (int pp = 2; pp <= 16; pp *= 2) {
		const struct traffic *tied = NULL;
		struct scenario s;
		double table;

		case_dense(&s);
		s.plan.pp = pp;
		s.plan.split = SPLIT_BALANCED;
		s.cluster.gpus = 16 * pp;
		s.model.tied_embeddings = true;
		train_estimate(&s, &one);
		assert_true(one.legal);
		for (int i = 0; i < one.traffic_count; i++)
			if (strcmp(one.traffic[i].what, "tied embeddings") == 0)
				tied = &one.traffic[i];
		assert_non_null(tied);
		/* fp32 gradients */
		table = (double)scenario_padded_vocab(&s) * 8192 / 8;
		assert_close(tied->count, 2.0 / pp, 1e-12);
		assert_close(tied->sent_bytes, 4 * table, 1e-12);
	}
}

static bool exchanges(const struct estimate *e, const char *what)
{
	for (int i = 0; i < e->traffic_count; i++)
		if (strcmp(e->traffic[i].what, what) == 0)
			return true;
	return false;
}

/* MTP layers look up the tokens that follow: their stage has the table again, and two
 * ranks exchange its gradient; but for a tied head's, and on a V, which ends where it
 * began. */
static void test_mtp_has_a_table_of_its_own(void **state)
{
	static const struct {
		const char *schedule;
		bool tied, again;
		int last;
	} row[] = { { "1f1b", false, true, 3 },
		    { "1f1b", true, false, 3 },
		    { "zb-v", false, false, 0 },
		    { "dualpipe", false, false, 3 } };

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		double table, layer, joining = 2.0 * 8192 * 8192 / 8 + 3 * 8192;
		struct scenario s;

		case_dense(&s);
		case_set(&s, "schedule", row[i].schedule);
		s.model.tied_embeddings = row[i].tied;
		train_estimate(&s, &one);
		s.model.mtp_layers = 1;
		train_estimate(&s, &two);
		assert_true(one.legal && two.legal);
		table = (double)scenario_padded_vocab(&s) * 8192 / 8;
		layer = two.stage[1].parameters / two.stage[1].layers;
		assert_close(two.stage[row[i].last].parameters -
				     one.stage[row[i].last].parameters,
			     layer + joining + (row[i].again ? table : 0), 1e-9);
		assert_true(exchanges(&two, "tied embeddings") ==
			    (row[i].tied || row[i].again));
	}
}

/* An MTP layer is one of the last kind and the head once more, and takes no less beside
 * them than the FLOPs of 2h x h at the peak. */
static void test_mtp_takes_the_time_of_its_product(void **state)
{
	static struct whole_step whole;
	const struct step *step = &whole.step;
	const struct layer_cost *layer, *mtp = &step->mtp;
	double peak, seconds;
	struct scenario s;

	(void)state;
	case_mla(&s);
	assert_true(train_step(&s, &whole, &one));
	layer = &step->kind[model_mtp_kind(&s.model)];
	peak = s.cluster.accelerator.peak_flops[PRECISION_BF16];
	seconds = 2 * step->context.tokens * 2 * 7168 * 7168 / (double)s.plan.tp / peak;
	assert_true(mtp->forward - layer->forward - step->head.forward > seconds);
	assert_true(mtp->weight_grad - layer->weight_grad - step->head.weight_grad >
		    seconds);
	assert_close(mtp->flops - layer->flops - step->head.flops, seconds * peak,
		     1e-9);
	/* Megatron's checkpoint is around both: the product runs again with its layer
	 */
	case_set(&s, "recompute", "full");
	assert_true(train_step(&s, &whole, &one));
	assert_close(mtp->again_flops - layer->again_flops, seconds * peak, 1e-9);
}

/* Positions that tokens see, one by one. */
static double seen_by(int64_t seq, int64_t window, int64_t document)
{
	double sum = 0;

	for (int64_t t = 0; t < seq; t++) {
		int64_t back = document > 0 ? t % document : t;

		sum += (double)(window > 0 && back >= window ? window : back + 1);
	}
	return sum / (double)seq;
}

static const struct graph_operator *attention_of(struct scenario *s,
						 struct graph *graph)
{
	struct graph_context context;
	struct mesh mesh;

	mesh_build(s, &mesh);
	graph_context(s, &mesh, &context);
	graph_layer(&context, 0, graph);
	for (int i = 0; i < graph->count; i++)
		if (graph->item[i].kind == OPERATOR_ATTENTION)
			return &graph->item[i];
	fail_msg("a layer without attention");
	return NULL;
}

/* Against a loop that counts: a triangle of s tokens is s / 2 to half a token. */
static void test_attention_sees_windows_and_documents(void **state)
{
	static const int64_t windows[] = { 0, 128, 1024, 4096, 8192, 20000 };
	static const int64_t documents[] = { 0, 512, 2048, 8192, 20000 };
	static struct graph graph;

	(void)state;
	for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
		for (size_t d = 0; d < sizeof documents / sizeof *documents; d++) {
			struct scenario s;
			const struct graph_operator *op;
			double seen;

			case_dense(&s);
			s.model.kind[0].attention.window = windows[w];
			s.plan.document_len = documents[d];
			op = attention_of(&s, &graph);
			seen = seen_by(8192, windows[w], documents[d]);
			assert_true(fabs(op->inner - seen) <= 0.5);
			/* 2 products of 2 FLOPs with 8 heads of 128 on a rank */
			assert_close(op->forward_flops,
				     2.0 * 2 * 8192 * 8 * 128 * op->inner, 1e-12);
			if (documents[d] == 0)
				assert_close(
					model_trained_flops_per_token(
						&s.model, 8192, false, 0, LORA_ALL) -
						model_trained_flops_per_token(
							&s.model, 0, false, 0,
							LORA_ALL),
					3 * 80 * 4.0 * 64 * 128 * op->inner, 1e-9);
		}
}

/* Two samples on two ranks of a ring hold as many tokens as one sample on one, but
 * their kernels see half of it, and what comes by is summed. Whole sequences cost the
 * same. */
static void test_a_ring_runs_smaller_kernels(void **state)
{
	struct scenario s;

	(void)state;
	case_dense(&s);
	case_set(&s, "tp", "4");
	case_set(&s, "pp", "4");
	case_set(&s, "recompute", "full");
	train_estimate(&s, &one);
	case_set(&s, "cp", "2");
	case_set(&s, "mbs", "2");
	case_set(&s, "cp_kind", "ring");
	train_estimate(&s, &two);
	assert_true(one.legal && two.legal);
	assert_int_equal(one.micro_batches, two.micro_batches);
	assert_true(two.compute_seconds > 1.005 * one.compute_seconds);
	case_set(&s, "cp_kind", "ulysses");
	train_estimate(&s, &two);
	assert_close(two.compute_seconds, one.compute_seconds, 1e-3);
}

/* Flash kernels reach a stated share less with heads of 64 and narrower ones. */
static void test_narrow_heads_are_slower(void **state)
{
	static const int64_t width[] = { 32, 64, 65, 128 };
	struct accelerator a;
	struct scenario s;

	(void)state;
	case_dense(&s);
	a = s.cluster.accelerator;
	a.calibration.narrow_head_efficiency = 0.5;
	for (int i = 0; i < 4; i++) {
		struct roofline plain, narrow;

		roofline_attention(&s.cluster.accelerator, PRECISION_BF16,
				   ATTENTION_FLASH2, 4096, (double)width[i], &plain);
		roofline_attention(&a, PRECISION_BF16, ATTENTION_FLASH2, 4096,
				   (double)width[i], &narrow);
		assert_close(narrow.seconds_per_flop / plain.seconds_per_flop,
			     width[i] <= 64 ? 2 : 1, 1e-12);
	}
}

/* Every rank is in one group of a dimension, of the size that the degree says, and a
 * group differs in that coordinate alone. */
static void test_groups_part_the_ranks(void **state)
{
	struct scenario s;
	struct mesh mesh;

	(void)state;
	case_moe(&s);
	effect_set(&s, "tp=4 etp=2 ep=4 pp=2 cp=2 gpus=64");
	mesh_build(&s, &mesh);
	const int64_t size[DIM_COUNT] = {
		[DIM_TP] = 4, [DIM_CP] = 2,           [DIM_EP] = 4,
		[DIM_PP] = 2, [DIM_DP] = mesh.dp * 2, [DIM_HOST] = 1
	};

	for (int d = 0; d < DIM_COUNT; d++)
		for (int64_t a = 0; a < 64; a++) {
			int64_t members = 0;

			for (int64_t b = 0; b < 64; b++)
				members += mesh_shares_group(&mesh, (enum dimension)d,
							     a, b);
			assert_int_equal(members, size[d]);
		}
}

static void check_half(const struct stage_memory *m)
{
	double back = m->activations_bytes - m->host_activations_bytes;

	assert_true(back > 0);
	assert_true(back < m->host_activations_bytes / m->in_flight);
}

/* What DualPipe keeps twice, a micro-batch still runs through once: on the host lie as
 * many of its activations as on the accelerator, where the layer that runs backward is
 * whole beside them. */
static void test_the_host_gets_the_other_half(void **state)
{
	static const char *const schedules[] = { "schedule=1f1b", "schedule=dualpipe" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct scenario s;

		case_dense(&s);
		s.stack.rules = 0;
		effect_set(&s, schedules[i]);
		effect_set(&s, "activation_offload=0.5");
		train_estimate(&s, &one);
		assert_true(one.legal);
		for (int k = 0; k < one.stages; k++)
			check_half(&one.stage[k]);
	}
}

/* The value that Explain gives for a key. */
static double said(const struct scenario *s, const struct estimate *e, const char *key)
{
	struct explanation page;

	assert_true(explain(s, e, key, &page));
	return page.value;
}

/* ZeRO 3 kept gathered holds all dense weights, and experts where it gathers them: not
 * those that only one rank has. */
static void test_experts_of_one_rank_are_not_gathered(void **state)
{
	struct scenario s;
	double layers = 32, dense, expert, gathered;

	(void)state;
	case_moe(&s);
	s.stack.rules = 0;
	effect_set(&s, "gpus=8 pp=1 ep=8 zero=3 fsdp_reshard=off recompute=none");
	train_estimate(&s, &one);
	assert_true(one.legal);
	expert = layers * 3.0 * 4096 * 14336;
	dense = said(&s, &one, "stages.0.trained_dense");
	assert_close(said(&s, &one, "stages.0.trained_experts"), expert, 1e-12);
	/* and the gradients of the largest dense unit, the head, in fp32 */
	gathered = said(&s, &one, "stages.0.gathered_bytes");
	assert_close(gathered, dense * 2 + (32000.0 * 4096 + 4096) * 4, 1e-3);
	effect_set(&s, "ep=4");
	train_estimate(&s, &two);
	assert_true(said(&s, &two, "stages.0.gathered_bytes") > gathered + 2 * expert);
}

/* More of something never takes less memory. */
static void test_memory_grows_with_what_is_held(void **state)
{
	struct scenario s;

	(void)state;
	seed = 16;
	for (int i = 0; i < 300; i++) {
		legal(&s);
		for (int k = 0; k < 3; k++) {
			struct scenario more = s;

			if (k == 0)
				more.plan.micro_batch *= 2, more.plan.global_batch *= 2;
			else if (k == 1)
				more.plan.seq_len *= 2;
			else
				more.model.vocab *= 2;
			/* splits may be dealt out anew, and then another stage is full
			 */
			if (s.plan.pp > 1 || scenario_check(&more, NULL) > 0)
				continue;
			train_estimate(&more, &two);
			assert_true(two.memory.total_bytes >=
				    one.memory.total_bytes * (1 - 1e-12));
		}
	}
}

/* No flash kernel takes fp32 to the units of 16 bits: scores and values have its peak,
 * and the share of it that the kernel reaches. */
static void test_attention_in_fp32_has_its_peak(void **state)
{
	struct roofline half, whole;
	struct scenario s;

	(void)state;
	case_dense(&s);
	roofline_attention(&s.cluster.accelerator, PRECISION_BF16, ATTENTION_FLASH2,
			   4096, 128, &half);
	roofline_attention(&s.cluster.accelerator, PRECISION_FP32, ATTENTION_FLASH2,
			   4096, 128, &whole);
	assert_close(whole.seconds_per_flop / half.seconds_per_flop,
		     s.cluster.accelerator.peak_flops[PRECISION_BF16] /
			     s.cluster.accelerator.peak_flops[PRECISION_FP32],
		     1e-12);
}

/* What runs on a plan's attention can't be seen from its other numbers: whatever the
 * precision, the length and the documents packed, nobody computes above the peak. */
static void test_nobody_is_above_the_peak(void **state)
{
	static const char *const precisions[] = { "bf16", "fp8", "fp32" };
	static const char *const documents[] = { "off", "512", "8k" };

	(void)state;
	for (int seq = 8; seq <= 1024; seq *= 2)
		for (int i = 0; i < 9; i++) {
			struct scenario s;
			struct estimate e;
			char tokens[16];

			case_dense(&s);
			snprintf(tokens, sizeof tokens, "%dk", seq);
			case_set(&s, "gpu_memory_gib", "4000");
			case_set(&s, "seq", tokens);
			case_set(&s, "precision", precisions[i / 3]);
			case_set(&s, "document_len", documents[i % 3]);
			train_estimate(&s, &e);
			assert_true(e.legal);
			if (!(e.hfu <= 0.9 && e.mfu <= e.hfu * (1 + 1e-9)))
				fail_msg("%sk %s %s: MFU %g, HFU %g", tokens,
					 precisions[i / 3], documents[i % 3], e.mfu,
					 e.hfu);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_dimension_is_the_sum_of_its_list),
		cmocka_unit_test(test_what_nobody_stated_is_one),
		cmocka_unit_test(test_calibration_scales_every_second),
		cmocka_unit_test(test_slower_rates_scale_every_second),
		cmocka_unit_test(test_optimizers_hold_what_their_papers_say),
		cmocka_unit_test(test_muon_multiplies_matrices),
		cmocka_unit_test(test_mfu_is_over_both_peaks),
		cmocka_unit_test(test_two_ranks_exchange_a_tied_table),
		cmocka_unit_test(test_mtp_has_a_table_of_its_own),
		cmocka_unit_test(test_mtp_takes_the_time_of_its_product),
		cmocka_unit_test(test_attention_sees_windows_and_documents),
		cmocka_unit_test(test_a_ring_runs_smaller_kernels),
		cmocka_unit_test(test_narrow_heads_are_slower),
		cmocka_unit_test(test_groups_part_the_ranks),
		cmocka_unit_test(test_the_host_gets_the_other_half),
		cmocka_unit_test(test_experts_of_one_rank_are_not_gathered),
		cmocka_unit_test(test_memory_grows_with_what_is_held),
		cmocka_unit_test(test_attention_in_fp32_has_its_peak),
		cmocka_unit_test(test_nobody_is_above_the_peak),
	};

	return cmocka_run_group_tests(tests, any_load, any_unload);
}
