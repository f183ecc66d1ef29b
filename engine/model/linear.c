/* linear.c - gated delta net and kin: query and key of groups x state, value and gate
 * of the inner width, decay and step for each head (arXiv 2412.06464). */
#include "engine/model/ssm.h"

static void fill_form(const struct model *model, double tp, struct ssm_form *out)
{
	ssm_widths(model, tp, out);
	out->conv = out->inner + 2 * out->groups * out->state;
	out->in = out->inner + out->conv + 2 * out->heads;
	out->filter = (double)model->ssm.conv;
	out->scan_weights = 2 * out->heads;
	out->norm_weights = (double)model->ssm.head_dim;
	out->kept_conv = out->conv;
	out->kept_norm = out->inner;
	ssm_chunks(model, out);
}

const struct mixer mixer_linear = {
	.label = "linear attention",
	.letter = 'G',
	.scans = true,
	.channels = ssm_heads,
	.form = fill_form,
	.measure = ssm_measure,
	.draw = ssm_draw,
	.parameters = "h * (2 * g * s + 2 * i + 2 * H) + c * (2 * g * s + i) + 2 * H + "
		      "d + i * h",
	.symbol = { { "h", "hidden size", "model.hidden" },
		    { "i", "inner width", "model.ssm_inner" },
		    { "s", "state", "model.ssm_state" },
		    { "c", "taps of the convolution", "model.ssm_conv" },
		    { "g", "groups", "model.ssm_groups" },
		    { "H", "heads", "model.ssm_heads" },
		    { "d", "width of a head", "model.ssm_head_dim" } },
	.hf_keys = "linear_num_value_heads linear_attn_config.num_heads "
		   "short_conv_kernel_size",
};
