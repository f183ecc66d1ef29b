/* pass_operator.c - what an operator takes of a server's pass, over all layers. */
#include <math.h>
#include <stdio.h>

#include "engine/explain/row.h"
#include "engine/knob/knob.h"

static const struct pass_operator *op_of(const struct asked *a)
{
	return &explain_pass_of(a)->cost.operator[a->op];
}

static const struct serving_calibration *rates_of(const struct asked *a)
{
	return &a->scenario->cluster.accelerator.calibration.serving;
}

VALUE(seconds, op_of(a)->seconds)
VALUE(compute, op_of(a)->compute_seconds)
VALUE(memory, op_of(a)->memory_seconds)
VALUE(fixed, op_of(a)->fixed_seconds)
VALUE(flops, op_of(a)->flops)
VALUE(bytes, op_of(a)->bytes)

/* --- rates --- */

/* A share of a rate: a constant, where the chip has it; else it is all of the rate. */
static void add_share(const struct asked *a, struct explanation *out,
		      const char *symbol, const char *key)
{
	if (explain_value(a, "%s", key) > 0) {
		explain_say(out, "%s", symbol);
		explain_from(a, out, symbol, "share that such kernels reach", "%s",
			     key);
	} else {
		explain_say(out, "%g", kernel_share(0));
	}
}

/* The same of a precision. */
static void share_of(const struct asked *a, struct explanation *out, const char *symbol,
		     const char *name, const double *table, enum precision precision)
{
	char key[EXPLAIN_MAX_KEY];

	snprintf(key, sizeof key, "cluster.%s.%s", name,
		 knob_find("precision")->words[kernel_stated(table, precision)]);
	add_share(a, out, symbol, key);
}

static void compute_share(const struct asked *a, struct explanation *out)
{
	const struct pass_operator *op = op_of(a);

	switch (op->rates) {
	case KERNEL_PROMPT:
	case KERNEL_DECODE:
		add_share(a, out, "e", "cluster.serving_attention_efficiency");
		if (op->rates == KERNEL_DECODE ||
		    kernel_older_attention(a->scenario) >= 1)
			return;
		explain_say(out, " * f2 / f3");
		explain_from(a, out, "f2", "of FlashAttention 2, as the release has it",
			     "cluster.attention_efficiency.flash2");
		explain_from(a, out, "f3", "of FlashAttention 3",
			     "cluster.attention_efficiency.flash3");
		return;
	case KERNEL_LATENT:
		add_share(a, out, "e", "cluster.serving_latent_efficiency");
		return;
	default: break;
	}
	explain_say(out, "min(1, ");
	share_of(a, out, "e", "serving_gemm_efficiency", rates_of(a)->gemm_efficiency,
		 op->used);
	if (op->rates == KERNEL_EXPERTS) {
		explain_say(out, " * ");
		share_of(a, out, "g", "serving_grouped_gemm_efficiency",
			 rates_of(a)->grouped_gemm_efficiency, op->stored);
	}
	explain_say(out, ")");
}

VALUE(flops_per_second, compute(a) > 0 ? flops(a) / compute(a) : 0)

/* The peak of what it runs in, 1 where the chip states none. */
static void flops_rate_terms(const struct asked *a, struct explanation *out)
{
	if (compute(a) <= 0) {
		explain_say(out, "0");
		return;
	}
	if (a->scenario->cluster.accelerator.peak_flops[op_of(a)->used] > 0) {
		explain_say(out, "P * ");
		explain_from(a, out, "P", "peak", "cluster.peak_flops.%s",
			     knob_find("precision")->words[op_of(a)->used]);
	}
	compute_share(a, out);
}

static void memory_share(const struct asked *a, struct explanation *out)
{
	const struct pass_operator *op = op_of(a);
	bool narrow = serve_kv_element_bytes(a->scenario) < 2;

	switch (op->rates) {
	case KERNEL_SMALL:
	case KERNEL_ROUTING:
		add_share(a, out, "e", "cluster.serving_elementwise_efficiency");
		return;
	case KERNEL_DECODE:
	case KERNEL_LATENT:
		add_share(a, out, "e",
			  narrow ? "cluster.serving_kv_efficiency_fp8"
				 : "cluster.serving_kv_efficiency");
		return;
	case KERNEL_PROMPT:
		share_of(a, out, "e", "serving_stream_efficiency",
			 rates_of(a)->stream_efficiency, PRECISION_BF16);
		return;
	default: break;
	}
	explain_say(out, "min(1, ");
	share_of(a, out, "e", "serving_stream_efficiency",
		 rates_of(a)->stream_efficiency, op->stored);
	if (op->rates == KERNEL_EXPERTS) {
		explain_say(out, " * ");
		add_share(a, out, "g", "cluster.serving_grouped_stream_efficiency");
	}
	explain_say(out, ")");
}

VALUE(bytes_per_second, memory(a) > 0 ? bytes(a) / memory(a) : 0)

static void bytes_rate_terms(const struct asked *a, struct explanation *out)
{
	if (memory(a) <= 0) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "bw * ");
	explain_from(a, out, "bw", "of the memory", "cluster.memory_bytes_per_second");
	memory_share(a, out);
}

/* --- seconds --- */

static void compute_terms(const struct asked *a, struct explanation *out)
{
	if (compute(a) <= 0) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "F / r");
	own(a, out, "F", "FLOPs", "flops");
	own(a, out, "r", "FLOPs per second that it reaches", "flops_per_second");
}

static void memory_terms(const struct asked *a, struct explanation *out)
{
	if (memory(a) <= 0) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "B / r");
	own(a, out, "B", "bytes of memory traffic", "bytes");
	own(a, out, "r", "bytes per second that it reaches", "bytes_per_second");
}

static const char *fixed_key(enum kernel_rates rates)
{
	switch (rates) {
	case KERNEL_SMALL: return "cluster.serving_small_kernel_seconds";
	case KERNEL_ROUTING: return "cluster.serving_grouped_fixed_seconds";
	case KERNEL_PROMPT: return "cluster.serving_attention_fixed_seconds";
	case KERNEL_DECODE:
	case KERNEL_LATENT: return "cluster.serving_decode_fixed_seconds";
	default: return "cluster.serving_kernel_seconds";
	}
}

static double kernels(const struct asked *a)
{
	double each = explain_value(a, "%s", fixed_key(op_of(a)->rates));

	return each > 0 ? fixed(a) / each : 0;
}

static void fixed_terms(const struct asked *a, struct explanation *out)
{
	own(a, out, "n", "kernels that it counts for", "kernels");
	explain_from(a, out, "t0", "fixed time of one", "%s",
		     fixed_key(op_of(a)->rates));
}

/* Of kernels that are all alike: of several sizes, each is joined for itself. */
static bool joins_as(const struct asked *a, double exponent)
{
	double most = fmax(compute(a), memory(a)), least = fmin(compute(a), memory(a));
	double joined =
		most > 0 ? most * pow(1 + pow(least / most, exponent), 1 / exponent)
			 : 0;

	return fabs(fixed(a) + joined - seconds(a)) <= 1e-9 * seconds(a);
}

static void second_terms(const struct asked *a, struct explanation *out)
{
	if (joins_as(a, 1)) {
		explain_say(out, "fixed + c + m");
	} else if (joins_as(a, kernel_exponent(a->scenario))) {
		explain_say(out,
			    "fixed + max(c, m) * exp(ln(1 + exp(p * ln(min(c, m) / "
			    "max(c, m)))) / p)");
	} else {
		explain_say(out, "%s", "none: kernels of several sizes");
		return;
	}
	own(a, out, "fixed", "times of kernels", "fixed_seconds");
	own(a, out, "c", "computing alone", "compute_seconds");
	own(a, out, "m", "reading alone", "memory_seconds");
	if (!formula_uses(out->formula, "p"))
		return;
	if (rates_of(a)->roofline_exponent >= 1)
		explain_from(a, out, "p", "how both join",
			     "cluster.serving_roofline_exponent");
	else
		explain_formula(out, "fixed + sqrt(c * c + m * m)");
}

#undef NODE_SOURCE
#define NODE_SOURCE                                                                    \
	"roofline: Williams et al. 2009; fits of measured kernels, presets/clusters: " \
	"serving"

static const char layers[] = "Over the layers of a pass that have it.";

const struct explain_node explain_pass_operator[] = {
	NODE("seconds", "An operator of a pass", FORM_SECONDS, seconds, second_terms,
	     NULL, "The larger of compute and memory time, more where they are equal."),
	NODE("compute_seconds", "Computing alone", FORM_SECONDS, compute, compute_terms,
	     NULL, layers),
	NODE("memory_seconds", "Reading alone", FORM_SECONDS, memory, memory_terms,
	     NULL, layers),
	NODE("fixed_seconds", "Fixed times of its kernels", FORM_SECONDS, fixed,
	     fixed_terms, "n * t0", layers),
	NODE("flops_per_second", "FLOPs per second that it reaches", FORM_SPEED,
	     flops_per_second, flops_rate_terms, NULL, "Of large kernels."),
	NODE("bytes_per_second", "Bytes per second that it reaches", FORM_BANDWIDTH,
	     bytes_per_second, bytes_rate_terms, NULL, "Of large kernels."),
	NODE("kernels", "Kernels that it counts for", FORM_REAL, kernels, NULL,
	     EXPLAIN_COUNTED, layers),
	NODE("flops", "FLOPs of an operator", FORM_FLOPS, flops, NULL, EXPLAIN_COUNTED,
	     layers),
	NODE("bytes", "Memory traffic of an operator", FORM_TRAFFIC, bytes, NULL,
	     EXPLAIN_COUNTED, layers),
	{ .row.key = NULL },
};
