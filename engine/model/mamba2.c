/* mamba2.c - Mamba-2 (arXiv 2405.21060): projections, a short convolution with bias,
 * decay, skip and step for each head, a gated norm. */
#include "engine/model/ssm.h"

static void fill_form(const struct model *model, double tp, struct ssm_form *out)
{
	ssm_widths(model, tp, out);
	out->conv = out->inner + 2 * out->groups * out->state;
	out->in = out->inner + out->conv + out->heads;
	out->filter = (double)model->ssm.conv + 1;
	out->scan_weights = 3 * out->heads;
	out->norm_weights = out->inner;
	/* state-spaces/mamba, ssd_combined.py, MambaSplitConv1dScanCombinedFn saves its
	 * input and what the scan made; NVIDIA/Megatron-LM, mamba_mixer.py,
	 * _ssm_training has the norm outside of it, which keeps its input and hands on
	 * another */
	out->kept_norm = 2 * out->inner;
	ssm_chunks(model, out);
}

const struct mixer mixer_mamba2 = {
	.label = "Mamba-2",
	.letter = 'M',
	.scans = true,
	.channels = ssm_heads,
	.form = fill_form,
	.measure = ssm_measure,
	.draw = ssm_draw,
	.parameters = "h * (2 * i + 2 * g * s + H) + (i + 2 * g * s) * (c + 1) + "
		      "3 * H + i + i * h",
	.symbol = { { "h", "hidden size", "model.hidden" },
		    { "i", "inner width", "model.ssm_inner" },
		    { "s", "state", "model.ssm_state" },
		    { "c", "taps of the convolution", "model.ssm_conv" },
		    { "g", "groups", "model.ssm_groups" },
		    { "H", "heads", "model.ssm_heads" } },
};
