/* test_train.c - published figures: activations, states, rings, bubbles, FLOPs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/collective/collective.h"
#include "engine/graph/graph.h"
#include "engine/knob/knob.h"
#include "engine/train/step.h"
#include "engine/train/train.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

/* GPT of Korthikanti et al. (arXiv 2205.05198): s 2048, b 1, 16-bit, dropout, attention
 * that keeps its scores. */
static void korthikanti(struct scenario *s, int64_t tp, bool sp)
{
	struct error error = { "" };

	if (!scenario_blank(s, "gpt3-175b", "dgx-a100-80g", "megatron-lm-2021", &error))
		fail_msg("%s", error.text);
	s->model.dropout = 0.1;
	s->plan.tp = tp;
	s->plan.sp = sp;
	s->plan.pp = 1;
	s->plan.seq_len = 2048;
	s->plan.micro_batch = 1;
	s->plan.recompute = RECOMPUTE_NONE;
	s->plan.recompute_modules = 1u << MODULE_CORE_ATTN;
	s->plan.fused_norms = true;
	s->cluster.gpus = tp;
	s->plan.global_batch = 1;
}

/* Bytes that one layer keeps for its backward, in units of s*b*h. */
static double kept(struct scenario *s)
{
	double sbh = (double)s->plan.seq_len * (double)s->plan.micro_batch *
		     (double)s->model.hidden;
	struct graph_context context;
	struct graph graph;
	struct mesh mesh;
	double bytes = 0;

	mesh_build(s, &mesh);
	graph_context(s, &mesh, &context);
	graph_layer(&context, 0, &graph);
	for (int i = 0; i < graph.count; i++) {
		const struct graph_operator *op = &graph.item[i];
		bool again = s->plan.recompute == RECOMPUTE_SELECTIVE &&
			     (op->modules & s->plan.recompute_modules);

		bytes += again ? op->kept_bytes : op->saved_bytes + op->kept_bytes;
	}
	return bytes / sbh;
}

static void test_activations_are_those_of_korthikanti(void **state)
{
	struct scenario s;

	(void)state;
	/* 5as/h: heads 96, sequence 2048, hidden 12288 */
	double scores = 5.0 * 96 * 2048 / 12288;
	korthikanti(&s, 1, false);
	assert_close(kept(&s), 34 + scores, 1e-9); /* equation 1 */
	korthikanti(&s, 8, false);
	assert_close(kept(&s), 10 + 24.0 / 8 + scores / 8, 1e-9); /* equation 2 */
	korthikanti(&s, 8, true);
	assert_close(kept(&s), (34 + scores) / 8, 1e-9); /* equation 4 */
	s.plan.recompute = RECOMPUTE_SELECTIVE;
	assert_close(kept(&s), 34.0 / 8, 1e-9); /* equation 6 */
}

static void test_full_recomputation_keeps_the_layers_input(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct scenario s;

	(void)state;
	korthikanti(&s, 8, true);
	s.plan.recompute = RECOMPUTE_FULL;
	train_estimate(&s, e);
	assert_true(e->legal);
	/* 2sbh a layer, split by SP, and one layer at work (table 2) */
	double sbh = 2048.0 * 12288;
	double scores = 5.0 * 96 * 2048 / 12288;
	double expected = 96 * 2 * sbh / 8 + (34 + scores) * sbh / 8;
	assert_close(e->memory.activations_bytes, expected, 0.06);
	free(e);
}

static double framework(struct scenario *s, struct estimate *e, int graphs)
{
	s->plan.cuda_graphs = graphs;
	train_estimate(s, e);
	assert_true(e->legal);
	return e->stage[0].framework_bytes;
}

/* Cut into pieces, an MLP keeps its input alone, and what is at work is one piece of
 * its three wide tensors; its forward comes again (arXiv 2506.13996, section 3.1). */
static void test_tiles_of_an_mlp_hold_one_piece(void **state)
{
	static struct estimate whole, cut;
	struct error error = { "" };
	struct scenario s;
	double wide;

	(void)state;
	if (!scenario_blank(&s, "llama3-8b", "dgx-h100", "megatron-core", &error))
		fail_msg("%s", error.text);
	s.plan.seq_len = 65536;
	s.plan.micro_batch = s.plan.global_batch = 1;
	s.cluster.gpus = 1;
	train_estimate(&s, &whole);
	s.plan.mlp_tiles = 16;
	train_estimate(&s, &cut);
	wide = 3 * 65536.0 * 14336 * 2;
	assert_close(whole.memory.activations_bytes - cut.memory.activations_bytes,
		     (32 - 1.0 / 16) * wide, 3e-4); /* what the head keeps counts too */
	/* the gate and up matrices are two of the three of a forward */
	assert_true(whole.recompute_seconds == 0 && cut.recompute_seconds > 0);
	assert_close(cut.hfu * cut.step_seconds / (whole.hfu * whole.step_seconds),
		     1 + 32 * 4 * 65536.0 * 4096 * 14336 /
				     (whole.flops_per_token * 65536),
		     1e-6);
	assert_true(cut.step_seconds > whole.step_seconds);
}

/* Where some of the layers run again whole, the others' pieces do as they do alone:
 * time and memory lie between both, by the layers. */
static void test_tiles_run_again_beside_whole_layers(void **state)
{
	static struct estimate none, some, all;
	struct error error = { "" };
	struct scenario s;

	(void)state;
	if (!scenario_blank(&s, "llama3-8b", "dgx-h100", "megatron-core", &error))
		fail_msg("%s", error.text);
	s.plan.micro_batch = s.plan.global_batch = s.cluster.gpus = 1;
	s.plan.mlp_tiles = 16;
	train_estimate(&s, &none);
	s.plan.recompute = RECOMPUTE_FULL;
	train_estimate(&s, &all);
	s.plan.recompute_layers = 8; /* of 32 */
	train_estimate(&s, &some);
	assert_true(none.legal && some.legal && all.legal);
	assert_close(some.recompute_seconds,
		     none.recompute_seconds +
			     8.0 / 32 *
				     (all.recompute_seconds - none.recompute_seconds),
		     1e-9);
	assert_true(some.step_seconds > none.step_seconds);
	assert_true(some.memory.activations_bytes < none.memory.activations_bytes);
}

/* Megatron Bridge's performance guide: several GB, more than 10 GB with PP. */
static void test_captured_graphs_take_memory(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct error error = { "" };
	struct scenario s;

	(void)state;
	if (!scenario_blank(&s, "llama3-8b", "dgx-h100", "megatron-core", &error))
		fail_msg("%s", error.text);
	s.cluster.gpus = 8;
	s.plan.global_batch = 64;
	s.plan.tp = 2;
	for (int64_t pp = 1; pp <= 2; pp++) {
		s.plan.pp = pp;
		assert_close(framework(&s, e, GRAPHS_PARTIAL) -
				     framework(&s, e, GRAPHS_NONE),
			     (pp > 1 ? 10 : 3) * 1073741824.0, 1e-9);
	}
	free(e);
}

/* Logits of the micro-batch before live on where the stack says so, one of a single
 * micro-batch does not. */
static void test_logits_per_stack(void **state)
{
	struct error error = { "" };
	struct scenario s;

	(void)state;
	if (!scenario_blank(&s, "llama3-8b", "dgx-h100", "nanotron", &error))
		fail_msg("%s", error.text);
	s.cluster.gpus = 8;
	s.plan.micro_batch = 1;
	s.plan.global_batch = 8;
	assert_close(step_logit_width(&s), 10, 1e-9);
	s.plan.global_batch = 16;
	assert_close(step_logit_width(&s), 14, 1e-9);
	if (!scenario_blank(&s, "llama3-8b", "dgx-h100", "torchtitan", &error))
		fail_msg("%s", error.text);
	s.cluster.gpus = 8;
	assert_close(step_logit_width(&s), 14, 1e-9);
	s.plan.tp = 2;
	assert_close(step_logit_width(&s), 20, 1e-9);
	s.plan.cross_entropy = CE_FUSED;
	assert_close(step_logit_width(&s), 6, 1e-9);
	s.plan.cross_entropy = CE_CHUNKED;
	assert_close(step_logit_width(&s), 0.75, 1e-9);
}

/* ZeRO (arXiv 1910.02054), figure 1: 7.5 B parameters, 64 GPUs, K = 12. */
static void test_zero_states_are_those_of_the_paper(void **state)
{
	static const double published[] = { 120e9, 31.4e9, 16.6e9, 1.88e9 };
	struct estimate *e = calloc(1, sizeof *e);
	struct error error = { "" };
	struct scenario s;

	(void)state;
	if (!scenario_blank(&s, "megatron-7.5b", "dgx-v100", "generic", &error))
		fail_msg("%s", error.text);
	s.cluster.gpus = 64;
	s.plan.global_batch = 64;
	s.plan.seq_len = 1024;
	s.plan.precision = PRECISION_FP16;
	s.plan.grad_dtype = GRAD_BF16; /* 2 bytes */
	for (int zero = 0; zero < 4; zero++) {
		s.plan.zero = zero;
		train_estimate(&s, e);
		assert_true(e->legal);
		double bytes = e->memory.weights_bytes + e->memory.gradients_bytes +
			       e->memory.optimizer_bytes;
		assert_close(bytes * 7.5e9 / e->parameters, published[zero], 0.01);
	}
	free(e);
}

/* Megatron Core, docs/source/api-guide/dist_optimizer.md: 18 -> 6 + 12/d bytes with
 * bf16 weights and fp32 gradients. */
static void test_the_distributed_optimizer_takes_six_and_twelfth(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct scenario s;

	(void)state;
	case_dense(&s);
	s.plan.pp = 1;
	s.plan.grad_dtype = GRAD_FP32;
	for (int zero = 0; zero < 2; zero++) {
		double d = 8, per;

		s.plan.zero = zero;
		train_estimate(&s, e);
		assert_true(e->legal && e->dp == 8);
		per = (e->memory.weights_bytes + e->memory.gradients_bytes +
		       e->memory.optimizer_bytes) /
		      e->memory.parameters;
		assert_close(per, zero ? 6 + 12 / d : 18, 1e-9);
	}
	free(e);
}

/* A ring sends 2n(p-1)/p for an all-reduce, n(p-1)/p for its halves
 * (nccl-tests, doc/PERFORMANCE.md). */
static void test_rings_send_what_rings_send(void **state)
{
	struct scenario s;
	struct mesh mesh;
	struct collective c;
	struct fabric fabric;

	(void)state;
	case_dense(&s);
	mesh_build(&s, &mesh);
	collective_fabric(&s, NULL, &fabric);
	collective_cost(&fabric, &mesh.tp_group, COLLECTIVE_ALL_REDUCE, 8e6, &c);
	assert_close(c.sent_bytes, 2 * 8e6 * 7 / 8, 1e-12);
	collective_cost(&fabric, &mesh.tp_group, COLLECTIVE_ALL_GATHER, 8e6, &c);
	assert_close(c.sent_bytes, 8e6 * 7 / 8, 1e-12);
	assert_true(c.network_bytes == 0);
	collective_cost(&fabric, &mesh.dp_group, COLLECTIVE_REDUCE_SCATTER, 8e6, &c);
	assert_close(c.sent_bytes, 8e6 / 2, 1e-12);
	assert_close(c.network_bytes, c.sent_bytes, 1e-12);
}

static double seconds_of(const struct scenario *s, const struct group *group,
			 enum collective_kind kind, double bytes)
{
	struct collective c;
	struct fabric fabric;

	collective_fabric(s, NULL, &fabric);
	fabric.network_share = 1;
	collective_cost(&fabric, group, kind, bytes, &c);
	return c.seconds;
}

/* Switches that add up: n/g bytes of an all-reduce go up once, where a ring sends
 * 2(p-1)/p n/g (Graham et al. 2020); gathers and scatters have their bytes and fewer
 * steps; nothing changes in a domain. */
static void test_sharp_acts_on_the_network(void **state)
{
	struct estimate *off = calloc(1, sizeof *off), *on = calloc(1, sizeof *on);
	struct scenario s, sharp;
	struct collective c;
	struct fabric fabric;
	struct mesh mesh;

	(void)state;
	case_dense(&s); /* TP 8 fills a domain, DP is on the network */
	case_set(&s, "gpus", "256");
	case_set(&s, "zero", "0");
	sharp = s;
	case_set(&sharp, "in_network_reduction", "on");
	mesh_build(&s, &mesh);
	const struct group *tp = &mesh.tp_group, *dp = &mesh.dp_group;
	assert_int_equal(dp->ranks, 8);
	collective_fabric(&sharp, NULL, &fabric);
	fabric.network_share = 1;
	collective_cost(&fabric, dp, COLLECTIVE_ALL_REDUCE, 8e9, &c);
	assert_close(c.network_bytes, 8e9, 1e-12);
	assert_close(seconds_of(&s, dp, COLLECTIVE_ALL_REDUCE, 8e9) / c.seconds, 1.75,
		     0.01);
	for (int kind = COLLECTIVE_ALL_REDUCE; kind <= COLLECTIVE_REDUCE_SCATTER;
	     kind++) {
		assert_true(seconds_of(&sharp, dp, kind, 1e4) <
			    seconds_of(&s, dp, kind, 1e4));
		assert_true(seconds_of(&sharp, dp, kind, 1e9) <
			    seconds_of(&s, dp, kind, 1e9));
		assert_true(seconds_of(&sharp, tp, kind, 1e9) ==
			    seconds_of(&s, tp, kind, 1e9));
	}
	train_estimate(&s, off);
	train_estimate(&sharp, on);
	assert_true(on->legal && on->step_seconds < off->step_seconds);
	assert_non_null(strstr(knob_find("in_network_reduction")->help, "all-reduce"));
	/* a job inside one domain has no such switch */
	case_set(&s, "nvlink_domain", "256");
	assert_false(knob_applies(&s, knob_find("in_network_reduction")));
	free(off);
	free(on);
}

/* A 70B on TP 8 PP 8, s 8192, h 8192 in 16 bit: with SP each rank has an eighth of the
 * 134 MB; without it all of it is sent by every rank, or an eighth that the receiver
 * gathers (arXiv 2104.04473, section 4.1). */
static void test_messages_between_stages(void **state)
{
	struct estimate *sharded = calloc(1, sizeof *sharded);
	struct estimate *whole = calloc(1, sizeof *whole),
			*cut = calloc(1, sizeof *cut);
	const double message = 8192.0 * 8192 * 2;
	struct scenario s;

	(void)state;
	case_dense(&s);
	s.plan.pp = 8;
	/* 7 cuts of 8 stages, both ways, every micro-batch of 128 */
	double sends = 2 * 128 * 7 / 8.0;
	train_estimate(&s, sharded);
	assert_close(sharded->cost[DIM_PP].bytes, sends * message / 8, 1e-12);
	s.plan.sp = false;
	train_estimate(&s, whole);
	assert_close(whole->cost[DIM_PP].bytes, sends * message, 1e-12);
	s.stack.scatters_sends = true;
	train_estimate(&s, cut);
	assert_close(cut->cost[DIM_PP].bytes, sends * message / 8, 1e-12);
	/* and sends seven of eight parts within the domain */
	assert_close(cut->cost[DIM_TP].bytes - whole->cost[DIM_TP].bytes,
		     sends * message * 7 / 8, 1e-9);
	assert_close(cut->cost[DIM_TP].exposed_seconds -
			     whole->cost[DIM_TP].exposed_seconds,
		     cut->cost[DIM_TP].seconds - whole->cost[DIM_TP].seconds, 1e-9);
	double joins = 0;
	for (int i = 0; i < 8; i++)
		joins += (cut->stage_time[i].exposed_seconds -
			  whole->stage_time[i].exposed_seconds) /
			 8;
	assert_close(joins, cut->cost[DIM_TP].seconds - whole->cost[DIM_TP].seconds,
		     1e-6);
	free(sharded);
	free(whole);
	free(cut);
}

/* Narayanan et al. (arXiv 2104.04473), section 2.2. */
static void test_bubbles_are_those_of_equal_stages(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct scenario s;

	(void)state;
	case_dense(&s);
	/* no head, no sends worth the name: stages are equal */
	s.model.vocab = 128;
	s.cluster.link[LINK_NETWORK].bytes_per_second = 1e18;
	s.cluster.link[LINK_NETWORK].latency_seconds = 0;
	s.cluster.link[LINK_DOMAIN].latency_seconds = 0;
	s.plan.pp = 8;
	s.plan.tp = 2;
	s.plan.schedule = SCHEDULE_1F1B;
	train_estimate(&s, e);
	assert_true(e->legal);
	double p = 8, m = (double)e->micro_batches;
	assert_close(e->bubble_ratio, (p - 1) / (m + p - 1), 0.01);
	assert_close(e->idle_to_ideal, (p - 1) / m, 0.02);
	s.plan.schedule = SCHEDULE_INTERLEAVED;
	s.plan.vpp = 5;
	train_estimate(&s, e);
	assert_true(e->legal);
	assert_close(e->bubble_ratio, (p - 1) / (5 * m + p - 1), 0.05);
	free(e);
}

/* Model FLOPs per token: 6 x (parameters without the table) + 6 L s heads head_dim,
 * Llama 3 (arXiv 2407.21783) gives 3.8e25 for 15.6 T tokens of the 405B, without
 * attention scores. */
static void test_flops_per_token_of_llama(void **state)
{
	struct model model;

	(void)state;
	assert_true(library_model(&model, "llama3.1-405b", NULL));
	assert_close(model_trained_flops_per_token(&model, 8192, false, 0, LORA_ALL) *
			     15.6e12,
		     3.8e25, 0.04);
	assert_true(library_model(&model, "llama3.1-70b", NULL));
	double weights = 70.554e9 - 128256.0 * 8192;
	assert_close(model_trained_flops_per_token(&model, 8192, false, 0, LORA_ALL),
		     6 * weights + 6 * 80.0 * 8192 * 64 * 128, 0.001);
}

/* Bytes of keys and values per token: 2 x layers x kv_heads x head_dim x 2. */
static void test_kv_bytes_per_token(void **state)
{
	struct model model;

	(void)state;
	assert_true(library_model(&model, "llama3.1-70b", NULL));
	assert_close(model_kv_bytes_per_token(&model, 8192, 2), 2 * 80 * 8 * 128 * 2.0,
		     1e-9);
	/* DeepSeek-V2 (arXiv 2405.04434), table 1: (512 + 64) a layer with MLA */
	assert_true(library_model(&model, "deepseek-v2", NULL));
	assert_close(model_kv_bytes_per_token(&model, 8192, 2), 60 * 576 * 2.0, 1e-9);
}

static const struct graph_operator *find_operator(const struct graph *graph,
						  const char *name)
{
	for (int i = 0; i < graph->count; i++)
		if (strcmp(graph->item[i].name, name) == 0)
			return &graph->item[i];
	fail_msg("no operator %s", name);
	return NULL;
}

/* Experts of Mixtral at a quarter of its width: by hand, h x l down and up for each
 * token, 3 x l x ffn for each expert, and a quarter of the bytes to them. */
static void test_latent_experts_work_at_their_width(void **state)
{
	static struct graph wide, narrow;
	struct graph_context context;
	struct layer_counts had, got;
	struct scenario s;
	struct mesh mesh;
	double h, l, e, f;

	(void)state;
	case_moe(&s);
	mesh_build(&s, &mesh);
	graph_context(&s, &mesh, &context);
	graph_layer(&context, 0, &wide);
	model_count_layer(&s.model, &s.model.kind[0], &had);
	s.model.moe.expert_latent = s.model.hidden / 4;
	graph_context(&s, &mesh, &context);
	graph_layer(&context, 0, &narrow);
	model_count_layer(&s.model, &s.model.kind[0], &got);
	h = (double)s.model.hidden;
	l = (double)s.model.moe.expert_latent;
	e = (double)s.model.moe.experts;
	f = (double)s.model.moe.expert_ffn;
	assert_close(had.total - got.total, e * 3 * (h - l) * f - 2 * h * l, 1e-9);
	assert_close(had.active - got.active,
		     (double)s.model.moe.experts_per_token * 3 * (h - l) * f -
			     2 * h * l,
		     1e-9);
	assert_close(find_operator(&narrow, "latent down")->forward_flops,
		     2 * context.norm_tokens * h * l, 1e-9);
	assert_close(find_operator(&narrow, "latent up")->weights, h * l, 1e-9);
	assert_close(find_operator(&narrow, "latent up")->saved_bytes,
		     context.norm_tokens * l * 2, 1e-9);
	assert_close(find_operator(&narrow, "dispatch")->sent_bytes * 4,
		     find_operator(&wide, "dispatch")->sent_bytes, 1e-9);
	assert_close(find_operator(&narrow, "expert down")->weights * 4,
		     find_operator(&wide, "expert down")->weights, 1e-9);
	assert_close(find_operator(&narrow, "sort by expert")->saved_bytes * 4,
		     find_operator(&wide, "sort by expert")->saved_bytes, 1e-9);
	assert_close(find_operator(&narrow, "router")->forward_flops,
		     find_operator(&wide, "router")->forward_flops, 1e-9);
}

static void test_calibration_scales_every_time(void **state)
{
	struct estimate *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
	struct scenario s;

	(void)state;
	case_moe(&s);
	train_estimate(&s, a);
	s.cluster.scale = 1.25;
	train_estimate(&s, b);
	assert_close(b->step_seconds, 1.25 * a->step_seconds, 1e-12);
	assert_close(b->compute_seconds + b->exposed_seconds + b->bubble_seconds +
			     b->optimizer_seconds,
		     b->step_seconds, 1e-9);
	assert_close(b->bubble_ratio, a->bubble_ratio, 1e-12);
	assert_close(b->mfu, a->mfu / 1.25, 1e-12);
	free(a);
	free(b);
}

/* Young 1974: the interval that loses least; cost-formulas 2.11. */
static void test_a_run_pays_for_checkpoints_and_failures(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct scenario s;

	(void)state;
	case_dense(&s);
	s.cluster.node_mtbf_hours = 1000;
	s.cluster.checkpoint_bytes_per_second = 1e9;
	s.cluster.restart_seconds = 600;
	s.plan.tokens = 1e12;
	train_estimate(&s, e);
	double mtbf = 1000 * 3600 / 8.0, c = e->run.checkpoint_seconds;
	assert_close(e->run.checkpoint_interval_seconds, sqrt(2 * c * mtbf), 1e-9);
	assert_close(e->run.steps,
		     ceil(1e12 / (double)(s.plan.global_batch * s.plan.seq_len)),
		     1e-12);
	assert_close(e->run.seconds * e->run.goodput, e->run.steps * e->step_seconds,
		     1e-9);
	assert_close(e->run.dollars,
		     e->run.seconds / 3600 * 64 * s.cluster.price_per_gpu_hour + 1e-30,
		     1e-9);
	free(e);
}

/* What the first half of a layer gathered and keeps, in shares of the gathered input.
 */
static double parts_kept(const char *pp, double shards)
{
	struct graph_context context;
	struct graph graph;
	struct scenario s;
	struct mesh mesh;

	case_dense(&s);
	case_set(&s, "tp", "8");
	case_set(&s, "sp", "on");
	case_set(&s, "pp", pp);
	s.stack.saved_gather_shards = shards;
	mesh_build(&s, &mesh);
	graph_context(&s, &mesh, &context);
	graph_layer(&context, 0, &graph);
	for (int i = 0; i < graph.count; i++)
		if (graph.item[i].collective == COLLECTIVE_ALL_GATHER &&
		    graph.item[i].forward_calls > 0)
			return graph.item[i].kept_bytes / graph.item[i].payload_bytes;
	return -1;
}

/* A compiled loss keeps logits and their gradient in 16 bits, but for those that TP
 * shards; pieces divide it. */
static void test_compiled_losses(void **state)
{
	struct scenario s;
	struct error error;

	(void)state;
	assert_true(scenario_blank(&s, "llama3-8b", "dgx-h200", "torchtitan", &error));
	case_set(&s, "tp", "1");
	s.plan.global_batch = s.plan.micro_batch; /* no micro-batch before */
	assert_close(step_logit_width(&s), 14, 1e-12);
	s.plan.compile = true;
	assert_close(step_logit_width(&s), 4, 1e-12);
	s.plan.cross_entropy = CE_CHUNKED;
	s.plan.loss_tiles = 8;
	assert_close(step_logit_width(&s), 0.5, 1e-12);
	s.plan.cross_entropy = CE_PLAIN;
	s.plan.tp = 2;
	assert_close(step_logit_width(&s), 20, 1e-12);
	s.plan.vocab_parallel = false;
	assert_close(step_logit_width(&s), 4, 1e-12);
	s.stack.compiled_logit_bytes = 0;
	assert_close(step_logit_width(&s), 14, 1e-12);
}

/* Beside the rank's own part, which the norm has. */
static void test_gathered_inputs_that_stay(void **state)
{
	(void)state;
	assert_close(parts_kept("1", 0), 0, 1e-12);
	assert_close(parts_kept("2", 0), 0, 1e-12);
	assert_close(parts_kept("1", 3), 7.0 / 8, 1e-12);
	assert_close(parts_kept("2", 3), 2.0 / 8, 1e-12);
	assert_close(parts_kept("2", 16), 7.0 / 8, 1e-12);
}

/* Runs were measured on up to 1,024 GPUs, and none of layers that scan. */
static void test_ranges_widen_beyond_what_was_measured(void **state)
{
	static const struct {
		const char *model;
		int gpus;
		double factor;
	} rows[] = { { "llama3.1-8b", 8, 1 },      { "llama3.1-8b", 1024, 1 },
		     { "llama3.1-8b", 1025, 1.5 }, { "llama3.1-8b", 16384, 1.5 },
		     { "mamba2-2.7b", 8, 1.5 },    { "mamba2-2.7b", 2048, 1.5 } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct error error = { "" };
		struct scenario s;

		if (!scenario_blank(&s, rows[i].model, "dgx-h100", "generic", &error))
			fail_msg("%s", error.text);
		s.cluster.gpus = rows[i].gpus;
		assert_true(step_range_factor(&s) == rows[i].factor);
	}
}

/* More collectives than the list has room for: the last of a dimension takes what does
 * not, so that its rows add up to what the dimension has. */
static void test_a_full_list_of_traffic_adds_up(void **state)
{
	enum { NAMES = 3 * MAX_TRAFFIC };
	static char name[NAMES][8];
	static struct estimate e;
	double count[DIM_COUNT] = { 0 }, seconds[DIM_COUNT] = { 0 };
	double exposed[DIM_COUNT] = { 0 };

	(void)state;
	memset(&e, 0, sizeof e);
	for (int i = 0; i < NAMES; i++) {
		struct collective call = { .seconds = 1 + i, .sent_bytes = 10 + i };
		enum dimension dimension = (enum dimension)(i % DIM_COUNT);

		snprintf(name[i], sizeof name[i], "%d", i);
		step_traffic(&e, name[i], dimension, COLLECTIVE_SEND, NULL, 2, 7, &call,
			     0.5);
	}
	assert_int_equal(e.traffic_count, MAX_TRAFFIC);
	for (int i = 0; i < MAX_TRAFFIC; i++) {
		const struct traffic *t = &e.traffic[i];

		/* each row but the last of its dimension has what its name has */
		if (i < MAX_TRAFFIC - DIM_COUNT)
			assert_true(t->count == 2 && t->total_seconds == 2 * (1 + i));
		assert_string_equal(t->what, name[i]);
		count[t->dimension] += t->count;
		seconds[t->dimension] += t->total_seconds;
		exposed[t->dimension] += t->exposed_seconds;
	}
	for (int d = 0; d < DIM_COUNT; d++) {
		int calls = NAMES / DIM_COUNT + (d < NAMES % DIM_COUNT);

		assert_true(count[d] == 2.0 * calls);
		assert_close(seconds[d], e.cost[d].seconds, 1e-12);
		assert_close(exposed[d], e.cost[d].exposed_seconds, 1e-12);
		assert_close(e.cost[d].payload_bytes, 14.0 * calls, 1e-12);
	}
	/* a dimension of which there is none: the first row takes it */
	memset(&e, 0, sizeof e);
	for (int i = 0; i <= MAX_TRAFFIC; i++) {
		struct collective call = { .seconds = 1 };

		step_traffic(&e, name[i], i < MAX_TRAFFIC ? DIM_TP : DIM_PP,
			     COLLECTIVE_SEND, NULL, 1, 1, &call, 0);
	}
	assert_true(e.traffic[0].count == 2);
}

/* Of 2,048 tokens a rank of TP 4 has two heads of keys and values, 2 MiB. Backward a
 * ring of four holds two parts and their gradients, a gather all four and theirs;
 * logits that are gone have left more room than that. */
static void test_keys_of_other_ranks_are_held(void **state)
{
	const double part = 2048 * 2 * (128 + 128) * 2;
	struct estimate *e = calloc(1, sizeof *e);
	double alone, last;
	struct scenario s;

	(void)state;
	case_dense(&s);
	s.plan.tp = s.plan.cp = 4;
	s.plan.cp_kind = CP_RING;
	train_estimate(&s, e);
	alone = e->stage[0].buffers_bytes - 4 * part;
	last = e->stage[3].buffers_bytes;
	s.plan.cp_kind = CP_ALL_GATHER;
	train_estimate(&s, e);
	assert_close(e->stage[0].buffers_bytes - alone, 2 * 4 * part, 1e-9);
	assert_close(e->stage[3].buffers_bytes, last, 1e-12);
	s.plan.cp = 1;
	s.plan.micro_batch = 1;
	s.plan.seq_len /= 4;
	train_estimate(&s, e);
	assert_close(e->stage[0].buffers_bytes, alone, 1e-9);
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_of_other_ranks_are_held),
		cmocka_unit_test(test_activations_are_those_of_korthikanti),
		cmocka_unit_test(test_full_recomputation_keeps_the_layers_input),
		cmocka_unit_test(test_tiles_of_an_mlp_hold_one_piece),
		cmocka_unit_test(test_tiles_run_again_beside_whole_layers),
		cmocka_unit_test(test_captured_graphs_take_memory),
		cmocka_unit_test(test_logits_per_stack),
		cmocka_unit_test(test_zero_states_are_those_of_the_paper),
		cmocka_unit_test(test_the_distributed_optimizer_takes_six_and_twelfth),
		cmocka_unit_test(test_rings_send_what_rings_send),
		cmocka_unit_test(test_sharp_acts_on_the_network),
		cmocka_unit_test(test_messages_between_stages),
		cmocka_unit_test(test_bubbles_are_those_of_equal_stages),
		cmocka_unit_test(test_flops_per_token_of_llama),
		cmocka_unit_test(test_kv_bytes_per_token),
		cmocka_unit_test(test_latent_experts_work_at_their_width),
		cmocka_unit_test(test_calibration_scales_every_time),
		cmocka_unit_test(test_a_run_pays_for_checkpoints_and_failures),
		cmocka_unit_test(test_gathered_inputs_that_stay),
		cmocka_unit_test(test_compiled_losses),
		cmocka_unit_test(test_ranges_widen_beyond_what_was_measured),
		cmocka_unit_test(test_a_full_list_of_traffic_adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
