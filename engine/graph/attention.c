/* attention.c - attention between its projections, on one rank. */
#include <math.h>

#include "engine/base/plain.h"
#include "engine/graph/build.h"

/* Positions a token sees on average: the causal half, a window, or a packed document;
 * kernels that keep scores compute the whole square. Context parallelism is balanced
 * (zigzag), so a rank's share is the mean. */
static double positions_seen(const struct graph_context *c, const struct attention *a)
{
	const struct plan *plan = &c->scenario->plan;

	if (!attention_table[plan->attention_kernel].flash)
		return (double)plan->seq_len;
	return attention_mean_seen(a, (double)scenario_attended_len(c->scenario));
}

/* Bytes held per score and head where scores are stored: softmax output in 16 bit and,
 * with dropout, its mask and result (Korthikanti 2022, section 4.1: 5 a s / h). Written
 * op by op the softmax works in fp32 and keeps that beside the 16-bit one. */
static double score_bytes(const struct graph_context *c)
{
	bool unfused = c->scenario->plan.attention_kernel == ATTENTION_UNFUSED;

	return (c->scenario->model.dropout > 0 ? 5 : 2) + (unfused ? 4 : 0);
}

/* Traffic per score and head where scores are stored: product, softmax there and back,
 * product, in 16 bits or op by op in fp32. */
static double score_traffic(const struct graph_context *c)
{
	return c->scenario->plan.attention_kernel == ATTENTION_FUSED_SOFTMAX ? 8 : 24;
}

/* And of dropout on them, which is a kernel of its own: it reads, writes, and writes a
 * mask of a byte; backward it reads both. */
static double dropout_traffic(const struct graph_context *c)
{
	return c->scenario->model.dropout > 0 ? 2 * c->width + 1 : 0;
}

static bool is_ring(const struct plan *plan)
{
	return plan->cp > 1 && plan->cp_kind == CP_RING;
}

/* A ring runs a kernel for each part of the sequence that comes by, so short ones; the
 * other kinds give a kernel the whole sequence, of which it computes each document for
 * itself. */
static void core_rate(const struct graph_context *c, double qk_dim,
		      struct roofline *out)
{
	const struct plan *plan = &c->scenario->plan;
	double parts = is_ring(plan) ? (double)plan->cp : 1;
	double part = (double)plan->seq_len / parts;
	double gain = c->scenario->cluster.accelerator.calibration.fp8_attention_gain;

	roofline_attention(
		&c->scenario->cluster.accelerator, (enum precision)plan->precision,
		(enum attention_kernel)plan->attention_kernel,
		fmin(part, (double)scenario_attended_len(c->scenario)), qk_dim, out);
	if (scenario_attends_narrow(c->scenario) && gain > 0)
		out->seconds_per_flop /= gain;
	out->kernel_seconds += c->scenario->stack.kernel_gap_seconds;
}

void graph_attention_rate(const struct graph_context *c, const struct layer_kind *kind,
			  struct roofline *out)
{
	struct mixing mixing;

	shapes_measure(&c->scenario->model, kind, 1, &mixing);
	core_rate(c, mixing.query_dim, out);
}

double graph_backward_rate(const struct scenario *scenario)
{
	return attention_table[scenario->plan.attention_kernel].flash
		       ? scenario->stack.habits.flash_backward
		       : 1;
}

/* In fp8 queries, keys and values are turned there and the output back, backward the
 * output's gradient there and theirs back: two bytes and one for each element
 * (Transformer Engine, attention/dot_product_attention/backends.py, FusedAttnFunc). */
static void turn_narrow(const struct graph_context *c, const struct mixing *m,
			struct graph_operator *op)
{
	double heads = m->heads * (m->query_dim + m->value_dim) +
		       m->kv_heads * (m->query_dim + m->value_dim);

	if (!scenario_attends_narrow(c->scenario))
		return;
	op->turned_bytes = (c->width + 1) * c->tokens * heads;
	op->forward_seconds += op->turned_bytes * c->memory.seconds_per_byte;
	op->input_grad_seconds += op->turned_bytes * c->memory.seconds_per_byte;
}

/* Traffic backward, and seconds both ways; `as_forward` bytes are moved once each way,
 * all others twice backward. */
static void run_kernel(const struct graph_context *c, struct roofline roofline,
		       double as_forward, struct graph_operator *op)
{
	op->backward_bytes = 2 * op->forward_bytes + as_forward;
	op->forward_bytes += as_forward;
	op->modules = 1u << MODULE_CORE_ATTN;
	op->forward_seconds =
		roofline_seconds(&roofline, op->forward_flops, op->forward_bytes);
	roofline.seconds_per_flop /= graph_backward_rate(c->scenario);
	op->input_grad_seconds =
		roofline_seconds(&roofline, op->input_grad_flops, op->backward_bytes);
}

void graph_core(const struct graph_context *c, const struct shape *shape,
		const struct mixing *m, struct graph *graph)
{
	const struct plan *plan = &c->scenario->plan;
	struct graph_operator *op = graph_add(graph, OPERATOR_ATTENTION, shape->name);
	double heads = m->heads, qk_dim = m->query_dim, v_dim = m->value_dim;
	bool flash = attention_table[plan->attention_kernel].flash;
	double seen = positions_seen(c, m->attention),
	       scores = c->tokens * heads * seen;
	struct roofline roofline;

	core_rate(c, qk_dim, &roofline);
	op->rows = c->tokens;
	op->columns = heads * v_dim;
	op->inner = seen;
	graph_own_weights(c, shape, op);
	op->forward_flops = 2 * scores * (qk_dim + v_dim);
	/* a flash kernel computes the scores again: 5 products instead of 4 */
	op->input_grad_flops = op->forward_flops * (flash ? 2.5 : 2);
	op->forward_bytes = c->tokens * heads * (2 * qk_dim + 2 * v_dim) * c->width;
	if (!flash)
		op->forward_bytes += scores * score_traffic(c);
	op->saved_bytes = flash ? 0 : scores * score_bytes(c);
	op->saved_bytes += c->head_copies * c->tokens * heads * (2 * qk_dim + v_dim) *
			   c->width * m->sharing;
	op->kept_bytes = c->tokens * heads * (v_dim * c->width + (flash ? 4 : 0));
	run_kernel(c, roofline, flash ? 0 : scores * dropout_traffic(c), op);
	turn_narrow(c, m, op);
}

void graph_scores(const struct graph_context *c, const struct shape *shape,
		  const struct mixing *m, struct graph *graph)
{
	struct graph_operator *op = graph_add(graph, OPERATOR_ATTENTION, shape->name);
	double scored =
		attention_mean_scored(m->attention, (double)c->scenario->plan.seq_len);
	struct roofline roofline;

	core_rate(c, m->query_dim, &roofline);
	op->rows = c->tokens;
	op->columns = m->index;
	op->inner = scored;
	op->forward_flops = 2 * c->tokens * m->index * scored;
	op->input_grad_flops = 2 * op->forward_flops;
	op->forward_bytes =
		c->tokens * (m->index + (double)m->attention->index_dim) * c->width;
	run_kernel(c, roofline, 0, op);
}

/* What a ring adds up: behind each part but the first the output is scaled and summed
 * into what stands, in one pass that reads both and writes one; backward the gradients
 * of queries, keys and values are (Transformer Engine, context_parallel.py,
 * flash_attn_fwd_out_correction, and the backward of AttnFuncWithCPAndKVP2P). */
void graph_merge(const struct graph_context *c, const struct shape *shape,
		 const struct mixing *m, struct graph *graph)
{
	const struct plan *plan = &c->scenario->plan;
	double passes = 3 * (double)(plan->cp - 1) * c->width;
	double gradients =
		m->heads * m->query_dim + m->kv_heads * (m->query_dim + m->value_dim);
	struct graph_operator *op;

	if (!is_ring(plan))
		return;
	op = graph_memory(c, graph, OPERATOR_ELEMENTWISE, shape->name, c->tokens,
			  shape->columns, passes, passes * gradients / shape->columns);
	op->modules = 1u << MODULE_CORE_ATTN;
}

static struct graph_operator *exchange(const struct graph_context *c,
				       struct graph *graph, const char *name,
				       enum collective_kind kind, double bytes,
				       int forward, int backward)
{
	return graph_collective(c, graph, name, DIM_CP, kind, &c->mesh->cp_group, bytes,
				forward, backward);
}

/* Keys and values between the ranks of a context-parallel group. What passes through a
 * rank is most in the backward: a ring holds a part with its gradient while the next
 * comes (Transformer Engine, context_parallel.py, p2p_comm_buffers of
 * AttnFuncWithCPAndKVP2P.backward), a gather all keys and values and their gradients
 * (AttnFuncWithCPAndKVAllGather), an exchange of heads what it sends. */
void graph_keys(const struct graph_context *c, const struct mixing *m,
		struct graph *graph)
{
	const struct plan *plan = &c->scenario->plan;
	double width = m->query_dim + m->value_dim;
	/* a key that is its value is one tensor */
	double entry = m->attention->shared_kv ? m->query_dim : width;
	double each = scenario_attends_narrow(c->scenario) ? 1 : c->width;
	double kv = c->tokens * m->kv_heads * entry * each;
	double all = kv * (double)plan->cp;
	int steps = (int)plan->cp - 1;
	struct graph_operator *op;

	if (plan->cp < 2)
		return;
	if (plan->cp_kind == CP_RING) {
		/* each step passes K and V on; backward K, V and their gradients */
		op = exchange(c, graph, "ring KV", COLLECTIVE_SEND, kv, steps,
			      2 * steps);
		op->overlaps = true;
		op->passing_bytes = 2 * 2 * kv;
	} else if (plan->cp_kind == CP_ALL_GATHER) {
		op = exchange(c, graph, "gather KV", COLLECTIVE_ALL_GATHER, all, 1, 1);
		op->passing_bytes = 2 * all;
		exchange(c, graph, "KV gradient", COLLECTIVE_REDUCE_SCATTER, all, 0, 1);
	} else {
		/* Ulysses: queries, keys, values in, outputs back (arXiv 2309.14509);
		 * where there are fewer heads of keys than ranks, each is sent to
		 * several (DeepSpeed ulysses_sp.py, kv_replication_factor) */
		double copies = larger(1, (double)plan->cp / m->kv_heads);
		double q = c->tokens * m->heads * width * each;

		op = exchange(c, graph, "heads to sequence", COLLECTIVE_ALL_TO_ALL,
			      kv * copies + q, 1, 1);
		op->passing_bytes = op->payload_bytes;
	}
}
