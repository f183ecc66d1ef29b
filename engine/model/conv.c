/* conv.c - a short convolution between two gates: one projection makes what goes in and
 * both gates, all as wide as the inner width (LFM2: transformers, modeling_lfm2.py,
 * Lfm2ShortConv). It keeps the last tokens of its input and no other state. */
#include "engine/model/ssm.h"

static void fill_form(const struct model *model, double tp, struct ssm_form *out)
{
	ssm_widths(model, tp, out);
	out->state = 0;
	out->in = 3 * out->inner;
	out->conv = out->inner;
	out->filter = (double)model->ssm.conv;
	out->kept_conv = out->conv;
	out->flops = 2 * out->inner; /* the gates */
	out->traffic = 4 * out->inner;
}

const struct mixer mixer_conv = {
	.label = "short convolution",
	.nearest = &mixer_mamba2,
	.scans = true,
	.channels = ssm_inner,
	.form = fill_form,
	.measure = ssm_measure,
	.draw = ssm_draw,
	.parameters = "3 * h * i + c * i + i * h",
	.symbol = { { "h", "hidden size", "model.hidden" },
		    { "i", "inner width", "model.ssm_inner" },
		    { "c", "taps of the convolution", "model.ssm_conv" } },
	.hf_keys = "conv_L_cache",
};
