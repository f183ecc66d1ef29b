/* experts.c - a mixture of experts, drawn once for counts, training and serving. */
#include "engine/model/shape.h"

static void set(struct shape *shape, enum shape_kind kind, const char *name,
		double rows, double columns, double inner)
{
	*shape = (struct shape){ .kind = (uint8_t)kind,
				 .name = name,
				 .rows = rows,
				 .columns = columns,
				 .inner = inner };
}

void shapes_experts(const struct model *m, const struct share *share,
		    struct shape out[EXPERT_SHAPES])
{
	double h = (double)m->hidden, e = (double)m->moe.experts;
	double w = (double)model_expert_width(m), up = m->gated_mlp ? 2 : 1;
	double f = (double)m->moe.expert_ffn / share->tp;
	double tokens = share->norm_rows, rows = share->rows;
	double latent = m->moe.expert_latent > 0 ? w : 0;

	set(&out[EXPERT_ROUTER], SHAPE_LINEAR, "router", tokens, e, h);
	out[EXPERT_ROUTER].weights = m->moe.router_bias ? e : 0;
	set(&out[EXPERT_LATENT_DOWN], SHAPE_LINEAR, "latent down", tokens, latent, h);
	set(&out[EXPERT_UP], SHAPE_LINEAR, "expert gate and up", rows, up * f, w);
	out[EXPERT_UP].weights = m->moe.expert_bias ? up * f : 0;
	out[EXPERT_UP].saved = up * f;
	set(&out[EXPERT_ACTIVATION], SHAPE_ACTIVATION, "expert activation", rows, f, 0);
	out[EXPERT_ACTIVATION].forward = up + 1;
	out[EXPERT_ACTIVATION].backward = 2 * up + 1;
	out[EXPERT_ACTIVATION].saved = f;
	set(&out[EXPERT_DOWN], SHAPE_LINEAR, "expert down", rows, w, f);
	out[EXPERT_DOWN].weights = m->moe.expert_bias ? w : 0;
	set(&out[EXPERT_LATENT_UP], SHAPE_LINEAR, "latent up", tokens, h, latent);
}
