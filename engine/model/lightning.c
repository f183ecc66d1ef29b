/* lightning.c - linear attention with a fixed decay for each head: query, key, value
 * and an output gate of all heads, no convolution, a norm over all heads before the
 * gate (MiniMax-01, arXiv 2501.08313, section 2.2; transformers, modeling_minimax.py,
 * MiniMaxLightningAttention). A request keeps one square of a head's width a head, in
 * 16 bits (vLLM, mamba_utils.py, linear_attention_state_dtype). */
#include "engine/model/ssm.h"

static void fill_form(const struct model *model, double tp, struct ssm_form *out)
{
	ssm_widths(model, tp, out);
	out->conv = 3 * out->inner; /* what the activation runs over */
	out->in = 4 * out->inner;
	out->state_element = 2;
	out->norm_weights = out->inner;
	out->kept_conv = out->conv;
	out->kept_norm = out->inner;
	ssm_chunks(model, out);
}

const struct mixer mixer_lightning = {
	.label = "lightning attention",
	.nearest = &mixer_linear,
	.scans = true,
	.channels = ssm_heads,
	.form = fill_form,
	.measure = ssm_measure,
	.draw = ssm_draw,
	.parameters = "4 * h * i + i + i * h",
	.symbol = { { "h", "hidden size", "model.hidden" },
		    { "i", "inner width", "model.ssm_inner" } },
};
