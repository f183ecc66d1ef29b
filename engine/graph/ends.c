/* ends.c - embedding of the first stage, head and loss of the last. */
#include "engine/base/plain.h"
#include "engine/graph/build.h"

void graph_embedding(const struct graph_context *c, struct graph *out)
{
	const struct scenario *s = c->scenario;
	double h = (double)s->model.hidden, tp = (double)c->mesh->tp;
	struct graph_operator *op;

	out->count = 0;
	/* read the rows, write them; backward adds fp32 gradients to the table, if it
	 * trains: below the first adapter nobody asks for a gradient */
	op = graph_memory(c, out, OPERATOR_EMBEDDING, "embedding", c->tokens,
			  h + (double)(s->model.layers * s->model.input_width),
			  2 * c->width, c->frozen ? 0 : 8);
	op->weights = (double)scenario_padded_vocab(s) * h / tp +
		      model_input_table(&s->model) / tp;
	if (s->model.position == POSITION_LEARNED)
		op->weights += (double)s->model.max_positions * h;
	if (s->model.embedding_norm)
		op->weights += model_norm_weights(&s->model);
	op->trainable = c->frozen ? 0 : op->weights;
	op->kept_bytes = s->model.dropout > 0 ? c->norm_tokens * h : 0;
	graph_collective(c, out, "embedded tokens", DIM_TP,
			 s->plan.sp ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE,
			 &c->mesh->tp_group, c->tokens * h * c->width, 1, 0);
	graph_collective(c, out, "embedding gradient", DIM_TP, COLLECTIVE_ALL_GATHER,
			 &c->mesh->tp_group, c->tokens * h * c->width, 0, s->plan.sp);
}

/* The loss reads and writes whole logits a few times; a fused kernel half of that. */
static void loss(const struct graph_context *c, double vocab, struct graph *out)
{
	const struct plan *plan = &c->scenario->plan;
	double each = plan->cross_entropy == CE_PLAIN ? 12 : 6;

	graph_memory(c, out, OPERATOR_LOSS, "cross-entropy", c->tokens, vocab, each,
		     each);
	/* maximum, sum and the target's logit: three scalars a token, not the
	 * vocabulary */
	if (plan->vocab_parallel)
		graph_collective(c, out, "loss sums", DIM_TP, COLLECTIVE_ALL_REDUCE,
				 &c->mesh->tp_group, c->tokens * 4, 3, 0);
	else
		graph_collective(c, out, "whole logits", DIM_TP, COLLECTIVE_ALL_GATHER,
				 &c->mesh->tp_group, c->tokens * vocab * c->width, 1,
				 0);
}

void graph_head(const struct graph_context *c, struct graph *out)
{
	const struct scenario *s = c->scenario;
	double h = (double)s->model.hidden, tp = (double)c->mesh->tp;
	double vocab = (double)scenario_padded_vocab(s);
	struct graph_context bf16 = *c;
	struct graph_operator *op;

	out->count = 0;
	/* the head stays in bf16 whatever the layers do, and has no adapters */
	bf16.weight_pass = 0;
	graph_stay_wide(&bf16);
	graph_norm(&bf16, out, "final norm", c->norm_tokens, h);
	graph_enter_tp(c, out, "head input");
	bf16.adapter_rank = 0;
	op = graph_linear(&bf16, out, "head", c->tokens, vocab / tp, h,
			  s->model.head_bias ? vocab / tp : 0, 1);
	/* a tied head on the stage of the embedding is the embedding's table; its bias
	 * is its own */
	if (s->model.tied_embeddings && s->plan.pp == 1) {
		op->weights = s->model.head_bias ? vocab / tp : 0;
		op->trainable = lesser(op->trainable, op->weights);
	}
	loss(c, s->plan.vocab_parallel ? vocab / tp : vocab, out);
}
