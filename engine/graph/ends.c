/* ends.c - embedding of the first stage, head and loss of the last. */
#include <string.h>

#include "engine/base/plain.h"
#include "engine/graph/build.h"

static void draw_embedding(const struct graph_context *c, struct graph *out)
{
	const struct scenario *s = c->scenario;
	double h = (double)s->model.hidden, tp = (double)c->mesh->tp;
	struct graph_operator *op;

	/* read the rows, write them; backward adds fp32 gradients to the table, if it
	 * trains: below the first adapter nobody asks for a gradient */
	op = graph_memory(c, out, OPERATOR_EMBEDDING, "embedding", c->tokens,
			  h + (double)(s->model.layers * s->model.input_width),
			  2 * c->width, c->table_frozen ? 0 : 8);
	op->weights = (double)scenario_padded_vocab(s) * h / tp +
		      model_input_table(&s->model) / tp;
	if (s->model.position == POSITION_LEARNED)
		op->weights += (double)s->model.max_positions * h;
	if (s->model.embedding_norm)
		op->weights += model_norm_weights(&s->model);
	op->trainable = c->table_frozen ? 0 : op->weights;
	/* a head that is the same table has gradients of it */
	if (c->table_frozen && !c->head_frozen && s->model.tied_embeddings)
		op->trainable = (double)scenario_padded_vocab(s) * h / tp;
	op->kept_bytes =
		s->model.dropout > 0 && !scenario_freezes(s) ? c->norm_tokens * h : 0;
	graph_collective(c, out, "embedded tokens", DIM_TP,
			 s->plan.sp ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE,
			 &c->mesh->tp_group, c->tokens * h * c->width, 1, 0);
	graph_collective(c, out, "embedding gradient", DIM_TP, COLLECTIVE_ALL_GATHER,
			 &c->mesh->tp_group, c->tokens * h * c->width, 0,
			 s->plan.sp && !scenario_freezes(s));
}

void graph_embedding(const struct graph_context *c, struct graph *out)
{
	out->count = 0;
	out->forward_only = scenario_freezes(c->scenario);
	draw_embedding(c, out);
}

/* The loss reads and writes whole logits a few times; a fused kernel half of that. */
static void draw_loss(const struct graph_context *c, double vocab, struct graph *out)
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

static void draw_head(const struct graph_context *c, struct graph *out)
{
	const struct scenario *s = c->scenario;
	double h = (double)s->model.hidden, tp = (double)c->mesh->tp;
	double vocab = (double)scenario_padded_vocab(s);
	struct graph_context bf16 = *c;
	struct graph_operator *op;

	/* the head stays in bf16 whatever the layers do, and has no adapters */
	bf16.weight_pass = 0;
	graph_stay_wide(&bf16);
	bf16.frozen = c->head_frozen;
	graph_norm(&bf16, out, "final norm", c->norm_tokens, h);
	graph_enter_tp(&bf16, out, "head input", 1, 1);
	bf16.adapter_rank = 0;
	op = graph_linear(&bf16, out, "head", c->tokens, vocab / tp, h,
			  s->model.head_bias ? vocab / tp : 0, 1);
	/* a tied head on the stage of the embedding is the embedding's table; its bias
	 * is its own */
	if (s->model.tied_embeddings && s->plan.pp == 1) {
		op->weights = s->model.head_bias ? vocab / tp : 0;
		op->trainable = lesser(op->trainable, op->weights);
	}
	draw_loss(c, s->plan.vocab_parallel ? vocab / tp : vocab, out);
}

void graph_head(const struct graph_context *c, struct graph *out)
{
	out->count = 0;
	out->forward_only = false;
	draw_head(c, out);
}

/* Of the embedding of a token that follows and a hidden state one that is as wide as
 * either: DeepSeek-V3, section 2.2. TP splits what comes out, which all need
 * (NVIDIA/Megatron-LM@00611e6e, multi_token_prediction.py, _concat_embeddings). It has
 * no adapters, and no fp4 ("currently ignoring FP4"). */
static void join_halves(const struct graph_context *c, struct graph *out)
{
	const struct group *tp = &c->mesh->tp_group;
	double h = (double)c->scenario->model.hidden, bytes = c->tokens * h * c->width;
	struct graph_context bare = graph_frozen(c);
	int first = out->count;

	if (c->scenario->plan.precision == PRECISION_NVFP4)
		graph_stay_wide(&bare);
	graph_norm(&bare, out, "next token's norm", c->norm_tokens, h);
	/* the input of the head's norm, too */
	graph_norm(&bare, out, "hidden state's norm", c->norm_tokens, h);
	out->item[first + 1].kept_bytes = 0;
	/* both are written side by side, and their gradients apart again */
	graph_memory(&bare, out, OPERATOR_ELEMENTWISE, "side by side", c->norm_tokens,
		     2 * h, 2 * c->width, 2 * c->width);
	graph_enter_tp(&bare, out, "joined input", 2, 1);
	graph_linear(&bare, out, "joining", c->tokens, h / (double)tp->ranks, 2 * h, 0,
		     1);
	graph_collective(&bare, out, "joined", DIM_TP, COLLECTIVE_ALL_GATHER, tp, bytes,
			 1, c->scenario->plan.sp);
	for (int i = first; i < out->count; i++)
		out->item[i].with_layer = true;
}

/* The tables are those of the ends, and count with them. */
static void have_none(struct graph_operator *op)
{
	op->weights = op->trainable = 0;
}

void graph_mtp(const struct graph_context *c, struct graph *out)
{
	out->count = 0;
	out->forward_only = false;
	draw_embedding(c, out);
	have_none(&out->item[0]);
	join_halves(c, out);
	draw_head(c, out);
	for (int i = 0; i < out->count; i++)
		if (strcmp(out->item[i].name, "head") == 0)
			have_none(&out->item[i]);
}
