/* rates.c - what shares of the datasheet's rates operators of training reach. */
#include <stddef.h>

#include <string.h>

#include "engine/explain/training.h"
#include "engine/knob/knob.h"
#include "engine/model/mixer.h"

static const struct calibration *calibration(const struct asked *a)
{
	return &a->scenario->cluster.accelerator.calibration;
}

bool explain_calibrated(const struct asked *a, const char *key)
{
	double scale = explain_value(a, "%s", key);

	return scale > 0 && scale != 1;
}

/* " / u" or " * u" behind a formula that is calibrated. */
static void divide_or_multiply(const struct asked *a, struct explanation *out,
			       const char *sign, const char *key)
{
	if (!explain_calibrated(a, key))
		return;
	explain_say(out, "%su", sign);
	knob(a, out, "u", "slower than predicted (calibrate)", key);
}

VALUE(memory_rate, 1 / explain_step(a)->context.memory.seconds_per_byte)

static void memory_rate_terms(const struct asked *a, struct explanation *out)
{
	knob(a, out, "bw", "of the datasheet", "cluster.memory_bytes_per_second");
	knob(a, out, "em", "share of it", "cluster.memory_efficiency");
	divide_or_multiply(a, out, " / ", "compute_scale");
}

VALUE(gemm_rate, 1 / explain_step(a)->context.gemm.seconds_per_flop)
VALUE(head_rate, 1 / explain_step(a)->context.head_gemm.seconds_per_flop)

static void add_rate(const struct asked *a, struct explanation *out, int precision)
{
	const struct accelerator *acc = &a->scenario->cluster.accelerator;
	enum precision used = roofline_precision(acc, (enum precision)precision);
	const char *word = knob_find("precision")->words[used];

	explain_from(a, out, "peak", "dense peak, FLOP/s", "cluster.peak_flops.%s",
		     word);
	explain_say(out, "peak");
	if (calibration(a)->gemm_efficiency[used] > 0) {
		explain_say(out, " * ec");
		explain_from(a, out, "ec", "share of it that large GEMMs reach",
			     "cluster.gemm_efficiency.%s", word);
	}
	divide_or_multiply(a, out, " / ", "compute_scale");
}

FILL(gemm_rate_terms, add_rate(a, out, plan(a)->precision))

static void head_rate_terms(const struct asked *a, struct explanation *out)
{
	add_rate(a, out,
		 precision_table[plan(a)->precision].wide ? plan(a)->precision
							  : PRECISION_BF16);
}

static void add_narrow_gain(const struct asked *a, struct explanation *out)
{
	if (!scenario_attends_narrow(a->scenario) ||
	    calibration(a)->fp8_attention_gain <= 0)
		return;
	explain_say(out, " * gain");
	knob(a, out, "gain", "of fp8 over bf16", "cluster.fp8_attention_gain");
}

/* Of what a kernel sees at once. */
static void add_length(const struct asked *a, struct explanation *out)
{
	int64_t parts = plan(a)->cp_kind == CP_RING ? plan(a)->cp : 1;

	if (scenario_attended_len(a->scenario) * parts < plan(a)->seq_len) {
		explain_say(out, " * s / (s + half)");
		knob(a, out, "s", "tokens per document", "document_len");
	} else if (parts > 1) {
		explain_say(out, " * s/cp / (s/cp + half)");
		knob(a, out, "cp", "parts of it that come by in a ring", "cp");
		knob(a, out, "s", "tokens per sequence", "seq");
	} else {
		explain_say(out, " * s / (s + half)");
		knob(a, out, "s", "tokens per sequence", "seq");
	}
	knob(a, out, "half", "tokens at which it reaches half",
	     "cluster.attention_half_seq");
}

void explain_attention_rate(const struct asked *a, struct explanation *out)
{
	const struct accelerator *acc = &a->scenario->cluster.accelerator;
	struct mixing mixing;
	enum precision used =
		roofline_attention_precision(acc, (enum precision)plan(a)->precision);
	const char *word = knob_find("precision")->words[used];
	int kernel = plan(a)->attention_kernel;

	mixer_of(&a->scenario->model.kind[a->part])
		->measure(&a->scenario->model, &a->scenario->model.kind[a->part], 1,
			  &mixing);
	explain_say(out, "peak");
	explain_from(a, out, "peak", "dense peak, FLOP/s", "cluster.peak_flops.%s",
		     word);
	if (calibration(a)->attention_efficiency[kernel] > 0) {
		explain_say(out, " * e");
		explain_from(a, out, "e", "share of it that the kernel reaches",
			     "cluster.attention_efficiency.%s",
			     knob_find("attention_kernel")->words[kernel]);
	}
	divide_or_multiply(a, out, " / ", "compute_scale");
	if (!attention_table[kernel].flash)
		return;
	add_narrow_gain(a, out);
	add_length(a, out);
	if (mixing.query_dim <= 64 && calibration(a)->narrow_head_efficiency > 0) {
		explain_say(out, " * narrow");
		knob(a, out, "narrow", "share of it with narrow heads",
		     "cluster.narrow_head_efficiency");
	}
}

VALUE(kernel, explain_step(a)->context.gemm.kernel_seconds)
VALUE(small_kernel, explain_step(a)->context.memory.kernel_seconds)

static void add_kernel(const struct asked *a, struct explanation *out)
{
	explain_say(out, "t");
	knob(a, out, "t", "of the accelerator", "cluster.kernel_seconds");
	divide_or_multiply(a, out, " * ", "compute_scale");
	explain_say(out, " + gap");
	knob(a, out, "gap", "of the stack between kernels", "stack.kernel_gap_seconds");
}

FILL(kernel_terms, add_kernel(a, out))

static void small_kernel_terms(const struct asked *a, struct explanation *out)
{
	explain_say(out, "(");
	add_kernel(a, out);
	explain_say(out, ") * small");
	knob(a, out, "small", "of a GEMM's", "habits.small_start");
}

VALUE(unaligned, explain_step(a)->context.unaligned_efficiency)
VALUE(launch, explain_step(a)->context.launch_seconds)
VALUE(slowest_host, graph_slowest_host(a->scenario, &explain_step(a)->mesh))

static void slowest_terms(const struct asked *a, struct explanation *out)
{
	if (a->scenario->model.moe.experts <= 0) {
		explain_say(out, "1");
		return;
	}
	explain_formula(out, graph_slowest_text);
	knob(a, out, "n", "hosts that wait for each other", "ep");
	knob(a, out, "deviation", "of one host's launches", "habits.host_spread");
}

static void launch_terms(const struct asked *a, struct explanation *out)
{
	bool waits = explain_step(a)->mesh.ep > 1;

	explain_say(out, plan(a)->host_binding ? "l" : "u * l");
	if (!plan(a)->host_binding)
		knob(a, out, "u", "where processes move between cores",
		     "habits.unbound_host");
	divide_or_multiply(a, out, " * ", "host_scale");
	knob(a, out, "l", "of a core of the host", "cluster.launch_seconds");
	if (!waits)
		return;
	explain_say(out, " * slowest");
	explain_from(a, out, "slowest", "host of those that wait for each other",
		     "slowest_host");
}

VALUE(join, explain_step(a)->join_seconds)

static double join_share(const struct asked *a)
{
	const struct step *step = explain_step(a);

	return step->join.seconds > 0 ? step->join_seconds / step->join.seconds : 0;
}

static void join_terms(const struct asked *a, struct explanation *out)
{
	const struct estimate *e = a->estimate;

	explain_say(out, "0");
	for (int i = 0; i < e->traffic_count && join(a) > 0; i++) {
		if (strcmp(e->traffic[i].what, "join messages") != 0)
			continue;
		out->formula[0] = '\0';
		explain_say(out, "t * share / scale");
		explain_from(a, out, "t", "a call, in Traffic", "traffic.%d.seconds",
			     i);
		explain_from(a, out, "share", "of virtual stages that send",
			     "join_share");
		explain_scale(a, out);
		return;
	}
}

static const char shares[] = "Measured shares of the data sheet's rates.";

const struct explain_node explain_rates[] = {
	NODE("memory_bytes_per_second", "Memory bandwidth that kernels reach",
	     FORM_BANDWIDTH, memory_rate, memory_rate_terms, "bw * if(em > 0, em, 1)",
	     shares),
	NODE("gemm_flops_per_second", "FLOPs per second of a large GEMM", FORM_SPEED,
	     gemm_rate, gemm_rate_terms, NULL, shares),
	NODE("head_flops_per_second", "The same of the head", FORM_SPEED, head_rate,
	     head_rate_terms, NULL, "The head and routers stay in bf16."),
	NODE("kernel_seconds", "Fixed time of a kernel", FORM_SECONDS, kernel,
	     kernel_terms, NULL, shares),
	NODE("small_kernel_seconds", "Fixed time of a small kernel", FORM_SECONDS,
	     small_kernel, small_kernel_terms, NULL,
	     "Most are short and fused with a neighbour."),
	NODE_OF("unaligned_efficiency", "Share of it with odd widths", FORM_PERCENT,
		unaligned, "if(e > 0, e, 1)", shares,
		{ "e", "measured, 0 = not", "cluster.unaligned_efficiency" }),
	NODE("launch_seconds", "One launch of a kernel", FORM_SECONDS, launch,
	     launch_terms, NULL,
	     "The CPU's time; one operator of the framework launches several "
	     "kernels."),
	NODE("slowest_host", "The slowest host over the mean", FORM_REAL, slowest_host,
	     slowest_terms, NULL,
	     "Of n hosts, sqrt(2 ln n) deviations above the mean."),
	NODE("join_share", "Messages between stages over those between virtual ones",
	     FORM_PERCENT, join_share, NULL, EXPLAIN_COUNTED,
	     "Virtual stages of one stage send none."),
	NODE("join_seconds", "Messages put together over TP", FORM_SECONDS, join,
	     join_terms, NULL,
	     "An all-gather behind each message, mean of the virtual stages."),
	{ .row.key = NULL },
};
