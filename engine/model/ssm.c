/* ssm.c - see ssm.h. */
#include "engine/model/ssm.h"

#include "engine/base/plain.h"

static double chunk_of(const struct model *model)
{
	return model->ssm.chunk > 0 ? (double)model->ssm.chunk : 256;
}

void ssm_widths(const struct model *model, double tp, struct ssm_form *out)
{
	const struct ssm *s = &model->ssm;

	clear_bytes(out, sizeof *out);
	out->inner = (double)s->inner / tp;
	out->state = (double)s->state;
	out->state_element = 4;
	out->heads = (double)s->heads / tp;
	/* groups are split like heads, and repeated where there are fewer than ranks */
	out->groups = larger((double)s->groups / tp, 1);
}

void ssm_chunks(const struct model *model, struct ssm_form *f)
{
	double chunk = chunk_of(model);

	f->flops = 2 * (chunk / 2 * (f->groups * f->state + f->inner) +
			2 * f->inner * f->state);
	f->traffic = 3 * (f->conv + f->inner);
	f->traffic_bytes = 8 * f->inner * f->state / chunk;
}

/* The mixer of a layer that is one, or stands beside attention. */
static const struct mixer *state_space_of(const struct layer_kind *kind)
{
	const struct mixer *mixer = mixer_of(kind);

	return mixer->form ? mixer : mixer_rows[kind->beside];
}

void ssm_measure(const struct model *model, const struct layer_kind *kind, double tp,
		 struct mixing *out)
{
	struct ssm_form form, *f = &form;
	double taps, behind;

	state_space_of(kind)->form(model, tp, f);
	taps = f->filter > 0 ? (double)model->ssm.conv : 0;
	behind = larger(taps - 1, 0) * f->conv;
	*out = (struct mixing){ 0 };
	out->scan = (struct scan){
		.state = f->inner * f->state,
		/* what the convolution looks back on is in 16 bits (vLLM,
		 * mamba_utils.py: kernel - 1 of all that it runs over) */
		.state_bytes = f->inner * f->state * f->state_element + behind * 2,
		.flops = f->flops,
		.traffic = f->traffic,
		.traffic_bytes = f->traffic_bytes,
		.kept = f->inner,
		.kept_bytes = f->kept_bytes,
		.conv_state = behind,
	};
}

void ssm_draw(const struct model *model, const struct layer_kind *kind,
	      const struct share *share, struct shapes *out)
{
	double h = (double)model->hidden, rows = share->rows;
	struct ssm_form form, *f = &form;
	struct shape *shape;

	state_space_of(kind)->form(model, share->tp, f);
	shape_add(out, SHAPE_ENTER, "mixer input", rows, h);
	shape_linear(out, "input projection", rows, f->in, h)->kept = f->in;
	shape = shape_add(out, SHAPE_ELEMENTWISE,
			  f->filter > 0 ? "short convolution" : "activation", rows,
			  f->conv);
	shape->forward = 2;
	shape->backward = 3;
	shape->weights = f->conv * f->filter;
	shape->kept = f->kept_conv;
	if (f->step_rank > 0) {
		shape_linear(out, "step and state projection", rows,
			     f->step_rank + 2 * f->state, f->inner);
		shape_linear(out, "step expansion", rows, f->inner, f->step_rank)
			->weights = f->inner;
	}
	shape_add(out, SHAPE_STATES, "chunk states", rows, f->inner);
	shape = shape_add(out, SHAPE_SCAN, "scan", rows, f->inner);
	shape->inner = f->state;
	shape->weights = f->scan_weights;
	if (f->norm_weights > 0) {
		shape = shape_norm(out, "gated norm", rows, f->inner, 3);
		shape->weights = f->norm_weights;
		shape->kept = f->kept_norm;
	}
	shape_linear(out, "output projection", rows, h, f->inner);
	shape_add(out, SHAPE_LEAVE, "mixer output", rows, h);
}

int64_t ssm_inner(const struct model *model, const struct layer_kind *kind)
{
	(void)kind;
	return model->ssm.inner;
}

int64_t ssm_heads(const struct model *model, const struct layer_kind *kind)
{
	(void)kind;
	return model->ssm.heads;
}
