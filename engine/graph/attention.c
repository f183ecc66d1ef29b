/* attention.c - MHA, GQA, MQA and MLA on one rank. */
#include <math.h>

#include "engine/base/plain.h"
#include "engine/graph/build.h"

/* Positions a token sees on average: the causal half, a window, or a packed document;
 * kernels that keep scores compute the whole square. Context parallelism is balanced
 * (zigzag), so a rank's share is the mean. */
static double positions_seen(const struct graph_context *c, const struct attention *a)
{
	const struct plan *plan = &c->scenario->plan;
	double seq = (double)plan->seq_len;

	if (plan->attention_kernel < ATTENTION_FLASH1)
		return seq;
	if (plan->document_len > 0 && (double)plan->document_len < seq)
		seq = (double)plan->document_len;
	return attention_mean_seen(a, seq);
}

/* Bytes held per score and head where scores are stored: softmax output in 16 bit and,
 * with dropout, its mask and result (Korthikanti 2022, section 4.1: 5 a s / h). Written
 * op by op the softmax works in fp32 and keeps that beside the 16-bit one. */
static double score_bytes(const struct graph_context *c)
{
	bool unfused = c->scenario->plan.attention_kernel == ATTENTION_UNFUSED;

	return (c->scenario->model.dropout > 0 ? 5 : 2) + (unfused ? 4 : 0);
}

static bool is_ring(const struct plan *plan)
{
	return plan->cp > 1 && plan->cp_kind == CP_RING;
}

/* A ring runs a kernel for each part of the sequence that comes by, so short ones; the
 * other kinds give a kernel the whole sequence. */
static void core_rate(const struct graph_context *c, double qk_dim,
		      struct roofline *out)
{
	const struct plan *plan = &c->scenario->plan;
	double parts = is_ring(plan) ? (double)plan->cp : 1;

	roofline_attention(&c->scenario->cluster.accelerator,
			   (enum attention_kernel)plan->attention_kernel,
			   (double)plan->seq_len / parts, qk_dim, out);
	out->kernel_seconds += c->scenario->stack.kernel_gap_seconds;
}

void graph_attention_rate(const struct graph_context *c, const struct layer_kind *kind,
			  struct roofline *out)
{
	const struct attention *a = &kind->attention;

	core_rate(c,
		  kind->mixer == MIXER_MLA ? (double)(a->nope_dim + a->rope_dim)
					   : (double)a->head_dim,
		  out);
}

/* The kernel between the projections: heads on this rank, widths of a query-key and of
 * a value head. */
static void core(const struct graph_context *c, struct graph *graph,
		 const struct attention *a, double heads, double qk_dim, double v_dim)
{
	const struct plan *plan = &c->scenario->plan;
	struct graph_operator *op = graph_add(graph, OPERATOR_ATTENTION, "attention");
	bool flash = plan->attention_kernel >= ATTENTION_FLASH1;
	double seen = positions_seen(c, a), scores = c->tokens * heads * seen;
	struct roofline roofline;

	core_rate(c, qk_dim, &roofline);
	op->rows = c->tokens;
	op->columns = heads * v_dim;
	op->inner = seen;
	op->forward_flops = 2 * scores * (qk_dim + v_dim);
	/* a flash kernel computes the scores again: 5 products instead of 4 */
	op->input_grad_flops = op->forward_flops * (flash ? 2.5 : 2);
	op->forward_bytes = c->tokens * heads * (2 * qk_dim + 2 * v_dim) * c->width;
	if (!flash)
		op->forward_bytes +=
			scores *
			(plan->attention_kernel == ATTENTION_FUSED_SOFTMAX ? 8 : 24);
	op->backward_bytes = 2 * op->forward_bytes;
	op->saved_bytes = flash ? 0 : scores * score_bytes(c);
	op->saved_bytes += c->head_copies * c->tokens * heads * (2 * qk_dim + v_dim) *
			   c->width * (double)(a->heads + 2 * a->kv_heads) /
			   (double)(3 * a->heads);
	op->kept_bytes = c->tokens * heads * (v_dim * c->width + (flash ? 4 : 0));
	op->modules = 1u << MODULE_CORE_ATTN;
	op->forward_seconds =
		roofline_seconds(&roofline, op->forward_flops, op->forward_bytes);
	/* backward kernels reach 0.82 of the forward's rate (prototype) */
	roofline.seconds_per_flop /= flash ? 0.82 : 1;
	op->input_grad_seconds =
		roofline_seconds(&roofline, op->input_grad_flops, op->backward_bytes);
}

/* What a ring adds up: behind each part but the first the output is scaled and summed
 * into what stands, in one pass that reads both and writes one; backward the gradients
 * of queries, keys and values are (Transformer Engine, context_parallel.py,
 * flash_attn_fwd_out_correction, and the backward of AttnFuncWithCPAndKVP2P). */
static void merge_parts(const struct graph_context *c, struct graph *graph,
			double heads, double kv_heads, double qk_dim, double v_dim)
{
	const struct plan *plan = &c->scenario->plan;
	double passes = 3 * (double)(plan->cp - 1) * c->width;
	double gradients = heads * qk_dim + kv_heads * (qk_dim + v_dim);
	struct graph_operator *op;

	if (!is_ring(plan))
		return;
	op = graph_memory(c, graph, OPERATOR_ELEMENTWISE, "sum of the ring's parts",
			  c->tokens, heads * v_dim, passes,
			  passes * gradients / (heads * v_dim));
	op->modules = 1u << MODULE_CORE_ATTN;
}

/* Keys and values between the ranks of a context-parallel group. */
static void context_parallel(const struct graph_context *c, struct graph *graph,
			     double heads, double kv_heads, double qk_dim, double v_dim)
{
	const struct plan *plan = &c->scenario->plan;
	const struct group *cp = &c->mesh->cp_group;
	double kv = c->tokens * kv_heads * (qk_dim + v_dim) * c->width;
	int steps = (int)plan->cp - 1;
	struct graph_operator *op;

	if (plan->cp < 2)
		return;
	if (plan->cp_kind == CP_RING) {
		/* each step passes K and V on; backward K, V and their gradients */
		op = graph_collective(c, graph, "ring KV", DIM_CP, COLLECTIVE_SEND, cp,
				      kv, steps, 2 * steps);
		if (op)
			op->overlaps = true;
	} else if (plan->cp_kind == CP_ALL_GATHER) {
		graph_collective(c, graph, "gather KV", DIM_CP, COLLECTIVE_ALL_GATHER,
				 cp, kv * (double)plan->cp, 1, 1);
		graph_collective(c, graph, "KV gradient", DIM_CP,
				 COLLECTIVE_REDUCE_SCATTER, cp, kv * (double)plan->cp,
				 0, 1);
	} else {
		/* Ulysses: queries, keys, values in, outputs back (arXiv 2309.14509);
		 * where there are fewer heads of keys than ranks, each is sent to
		 * several (DeepSpeed ulysses_sp.py, kv_replication_factor) */
		double copies = larger(1, (double)plan->cp / kv_heads);
		double q = c->tokens * heads * (qk_dim + v_dim) * c->width;

		graph_collective(c, graph, "heads to sequence", DIM_CP,
				 COLLECTIVE_ALL_TO_ALL, cp, kv * copies + q, 1, 1);
	}
}

/* What picks the entries that a query attends to, whole on every TP rank (Megatron
 * Core, experimental_attention_variant/dsa.py: linear_wq_b and linear_wk are
 * duplicated): queries from the latent or from the input, a key a token or a window, a
 * weight a head, and scores over all entries. */
static void indexer(const struct graph_context *c, struct graph *graph,
		    const struct layer_kind *kind)
{
	const struct attention *a = &kind->attention;
	double h = (double)c->scenario->model.hidden, tokens = c->norm_tokens;
	double queries = (double)(a->index_heads * a->index_dim);
	double keys = (double)a->index_dim * (a->compress > 0 ? 4 : 1);
	double scored = attention_mean_scored(a, (double)c->scenario->plan.seq_len);
	struct graph_operator *op;
	struct roofline roofline;

	if (a->index_heads <= 0)
		return;
	op = graph_linear(c, graph, "indexer queries", tokens, queries,
			  a->query_rank > 0 ? (double)a->query_rank : h, false, 1);
	op->kept_bytes = tokens * queries * c->width;
	op = graph_linear(c, graph, "indexer keys and weights", tokens,
			  keys + (double)a->index_heads, h, false, 1);
	op->kept_bytes = tokens * (keys + (double)a->index_heads) * c->width;
	op = graph_memory(c, graph, OPERATOR_NORM, "indexer norm", tokens,
			  (double)a->index_dim, 2 * c->width, 4 * c->width);
	op->weights = attention_index_parameters(a, h) -
		      queries * (a->query_rank > 0 ? (double)a->query_rank : h) -
		      h * (keys + (double)a->index_heads);
	op->trainable = c->frozen ? 0 : op->weights;
	op = graph_add(graph, OPERATOR_ATTENTION, "indexer scores");
	graph_attention_rate(c, kind, &roofline);
	op->rows = c->tokens;
	op->columns = queries;
	op->inner = scored;
	op->forward_flops = 2 * c->tokens * queries * scored;
	op->input_grad_flops = 2 * op->forward_flops;
	op->forward_bytes = c->tokens * (queries + (double)a->index_dim) * c->width;
	op->backward_bytes = 2 * op->forward_bytes;
	op->modules = 1u << MODULE_CORE_ATTN;
	op->forward_seconds =
		roofline_seconds(&roofline, op->forward_flops, op->forward_bytes);
	/* as in the core */
	roofline.seconds_per_flop /=
		c->scenario->plan.attention_kernel >= ATTENTION_FLASH1 ? 0.82 : 1;
	op->input_grad_seconds =
		roofline_seconds(&roofline, op->input_grad_flops, op->backward_bytes);
}

/* Keys and values of whole windows of tokens, beside those of the last ones. */
static void compressor(const struct graph_context *c, struct graph *graph,
		       const struct attention *a)
{
	double columns = attention_compressor(a);
	struct graph_operator *op;

	if (columns <= 0)
		return;
	op = graph_linear(c, graph, "compressed keys", c->norm_tokens, columns,
			  (double)c->scenario->model.hidden, false, 1);
	op->kept_bytes = c->norm_tokens * columns * c->width;
	op = graph_memory(c, graph, OPERATOR_ELEMENTWISE, "windows of tokens",
			  c->norm_tokens, columns, 2 * c->width, 3 * c->width);
	op->weights = columns / 2 * (double)a->compress + (double)a->head_dim;
	op->trainable = c->frozen ? 0 : op->weights;
}

/* Queries through a latent, keys and values from the input itself. */
static void low_rank_queries(const struct graph_context *c, struct graph *graph,
			     const struct attention *a, double q, double kv)
{
	double h = (double)c->scenario->model.hidden, rank = (double)a->query_rank;
	struct graph_operator *op;

	op = graph_linear(c, graph, "query down", c->norm_tokens, rank, h, false, 1);
	op->kept_bytes = c->norm_tokens * rank * c->width;
	op = graph_memory(c, graph, OPERATOR_NORM, "query latent norm", c->norm_tokens,
			  rank, 2 * c->width, 4 * c->width);
	op->weights = rank;
	op->trainable = c->frozen ? 0 : rank;
	op->kept_bytes = c->norm_tokens * rank * c->width;
	op = graph_linear(c, graph, "query up", c->tokens, q, rank, a->qkv_bias, 1);
	op->kept_bytes = c->tokens * q * c->width;
	op = graph_linear(c, graph, "KV projection", c->tokens, kv, h, a->qkv_bias, 1);
	op->kept_bytes = c->tokens * kv * c->width;
}

/* Groups of heads to a rank each, the ranks to the hidden size; with one step all at
 * once. */
static void output_projection(const struct graph_context *c, struct graph *graph,
			      const struct attention *a, double o)
{
	double h = (double)c->scenario->model.hidden, tp = (double)c->mesh->tp;
	double groups = fmax(1, (double)a->output_groups / tp);
	double ranks = groups * (double)a->output_rank;

	if (a->output_rank > 0) {
		graph_linear(c, graph, "output down", c->tokens, ranks, o / groups,
			     false, 1);
		o = ranks;
	}
	graph_linear(c, graph, "output projection", c->tokens, h, o, a->output_bias, 1);
}

void graph_attention(const struct graph_context *c, const struct layer_kind *kind,
		     struct graph *graph)
{
	const struct attention *a = &kind->attention;
	const struct model *m = &c->scenario->model;
	double tp = (double)c->mesh->tp, h = (double)m->hidden;
	double heads = (double)a->heads / tp;
	double kv_heads = larger((double)a->kv_heads / tp, 1); /* replicated beyond */
	double q = heads * (double)a->head_dim, o = heads * (double)a->value_dim;
	double kv = attention_entry(a, kv_heads);
	struct graph_operator *op;

	graph_enter_tp(c, graph, "attention input");
	if (a->query_rank > 0)
		low_rank_queries(c, graph, a, q, kv);
	op = a->query_rank > 0 ? &graph->item[graph->count - 1]
			       : graph_linear(c, graph, "qkv projection", c->tokens,
					      q + kv + (a->output_gate ? o : 0), h,
					      a->qkv_bias, 1);
	op->kept_bytes = c->tokens *
			 (a->query_rank > 0 ? kv : q + kv + (a->output_gate ? o : 0)) *
			 c->width;
	if (m->position == POSITION_RELATIVE) {
		op->weights += h * h / tp;
		op->trainable += c->frozen ? 0 : h * h / tp;
	}
	if (a->qk_norm)
		graph_memory(c, graph, OPERATOR_NORM, "query and key norm", c->tokens,
			     q + kv / 2, 2 * c->width, 4 * c->width);
	if (m->position == POSITION_ROPE)
		graph_memory(c, graph, OPERATOR_ELEMENTWISE, "rotary positions",
			     c->tokens, q + kv / 2,
			     2 * c->width * (c->norm_passes > 1 ? 3 : 1),
			     2 * c->width * (c->norm_passes > 1 ? 3 : 1));
	compressor(c, graph, a);
	indexer(c, graph, kind);
	context_parallel(c, graph, heads, kv_heads, (double)a->head_dim,
			 (double)a->value_dim);
	core(c, graph, a, heads, (double)a->head_dim, (double)a->value_dim);
	merge_parts(c, graph, heads, kv_heads, (double)a->head_dim,
		    (double)a->value_dim);
	output_projection(c, graph, a, o);
	graph_leave_tp(c, graph, "attention output");
}

/* DeepSeek-V2 section 2.1. The down projections are whole on every TP rank, as in
 * Megatron Core; the up projections are split by heads. */
void graph_mla(const struct graph_context *c, const struct layer_kind *kind,
	       struct graph *graph)
{
	const struct attention *a = &kind->attention;
	double tp = (double)c->mesh->tp, h = (double)c->scenario->model.hidden;
	double heads = (double)a->heads / tp;
	double qk = (double)(a->nope_dim + a->rope_dim), v = (double)a->value_dim;
	double latent = (double)(a->kv_rank + a->rope_dim);
	double rank = (double)a->query_rank;
	struct graph_operator *op;

	if (rank > 0) {
		op = graph_linear(c, graph, "query down", c->norm_tokens, rank, h,
				  false, 1);
		op->kept_bytes = c->norm_tokens * rank * c->width;
	}
	op = graph_linear(c, graph, "KV down", c->norm_tokens, latent, h, false, 1);
	op->kept_bytes = c->norm_tokens * latent * c->width;
	op = graph_memory(c, graph, OPERATOR_NORM, "latent norms", c->norm_tokens,
			  rank + (double)a->kv_rank, 2 * c->width, 4 * c->width);
	op->weights = rank + (double)a->kv_rank;
	op->trainable = c->frozen ? 0 : op->weights;
	op->kept_bytes = c->norm_tokens * (rank + (double)a->kv_rank) * c->width;
	graph_collective(c, graph, "latents", DIM_TP, COLLECTIVE_ALL_GATHER,
			 &c->mesh->tp_group, c->tokens * (rank + latent) * c->width,
			 c->scenario->plan.sp, 0);
	graph_collective(c, graph, "latent gradients", DIM_TP,
			 c->scenario->plan.sp ? COLLECTIVE_REDUCE_SCATTER
					      : COLLECTIVE_ALL_REDUCE,
			 &c->mesh->tp_group, c->tokens * (rank + latent) * c->width, 0,
			 1);
	op = graph_linear(c, graph, "query up", c->tokens, heads * qk,
			  rank > 0 ? rank : h, false, 1);
	op->saved_bytes = c->tokens * heads * qk * c->width;
	op->modules = 1u << MODULE_MLA_UP_PROJ;
	op = graph_linear(c, graph, "KV up", c->tokens,
			  heads * ((double)a->nope_dim + v), (double)a->kv_rank, false,
			  1);
	/* keys with the shared rotary part spread over the heads, and values */
	op->saved_bytes = c->tokens * heads * (qk + v) * c->width;
	op->modules = 1u << MODULE_MLA_UP_PROJ;
	graph_memory(c, graph, OPERATOR_ELEMENTWISE, "rotary positions", c->tokens,
		     heads * 2 * qk, 2 * c->width, 2 * c->width);
	indexer(c, graph, kind);
	context_parallel(c, graph, heads, heads, qk, v);
	core(c, graph, a, heads, qk, v);
	merge_parts(c, graph, heads, heads, qk, v);
	graph_linear(c, graph, "output projection", c->tokens, h, heads * v, false, 1);
	graph_leave_tp(c, graph, "attention output");
}
