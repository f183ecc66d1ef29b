/* mamba1.c - Mamba (arXiv 2312.00752): projections, a short convolution with bias,
 * a decay for each channel and state, a skip for each channel. */
#include "engine/model/ssm.h"

static void fill_form(const struct model *model, double tp, struct ssm_form *out)
{
	ssm_widths(model, tp, out);
	out->in = 2 * out->inner;
	out->conv = out->inner;
	out->filter = (double)model->ssm.conv + 1;
	out->step_rank = (double)model->ssm.dt_rank;
	out->scan_weights = out->inner * (out->state + 1);
	out->flops = 9 * out->inner * out->state;
	out->traffic = 8 * out->inner;
	/* state-spaces/mamba, selective_scan_interface.py, MambaInnerFn: checkpoint_lvl
	 * is 1; csrc/selective_scan keeps two fp32 a state for each 2048 tokens */
	out->kept_bytes = 8 * out->inner * out->state / 2048;
}

const struct mixer mixer_mamba1 = {
	.label = "Mamba-1",
	.nearest = &mixer_mamba2,
	.scans = true,
	.channels = ssm_inner,
	.form = fill_form,
	.measure = ssm_measure,
	.draw = ssm_draw,
	.parameters = "2 * h * i + c * i + i + i * (r + 2 * s) + r * i + i + i * s + "
		      "i + i * h",
	.symbol = { { "h", "hidden size", "model.hidden" },
		    { "i", "inner width", "model.ssm_inner" },
		    { "s", "state", "model.ssm_state" },
		    { "c", "taps of the convolution", "model.ssm_conv" },
		    { "r", "rank of the step", "model.ssm_dt_rank" } },
	.hf_types = "mamba falcon_mamba jamba",
};
