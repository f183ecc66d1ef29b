/* states.c - bytes of weights, gradients, optimizer, logits and activations that many
 * formulas of training share. */
#include <stddef.h>

#include "engine/explain/training.h"

VALUE(weight_bytes, step_weight_bytes(a->scenario))
VALUE(layer_weight_bytes, step_layer_weight_bytes(plan(a)))

static void precision_term(const struct asked *a, struct explanation *out)
{
	knob(a, out, "precision", "by the number of its word, 2 is fp32", "precision");
}

/* As step_layer_weight_bytes() tells formats apart; each has its bytes from there. */
static void layer_weight_terms(const struct asked *a, struct explanation *out)
{
	bool lora = plan(a)->lora_rank > 0;
	double wide = plan(a)->precision == PRECISION_FP32 ? 4 : 2;

	if (layer_weight_bytes(a) == wide) {
		explain_say(out, "if(precision == 2, 4, 2)");
		precision_term(a, out);
		return;
	}
	explain_say(out, "if(format == %d, %.17g, if(precision == 2, 4, 2))",
		    lora ? plan(a)->frozen_format : plan(a)->weight_format,
		    layer_weight_bytes(a));
	knob(a, out, "format", "that weights are stored in, with its scales",
	     lora ? "frozen_format" : "weight_format");
	precision_term(a, out);
}

static void weight_bytes_terms(const struct asked *a, struct explanation *out)
{
	double wide = plan(a)->precision == PRECISION_FP32 ? 4 : 2;

	precision_term(a, out);
	if (layer_weight_bytes(a) == wide) {
		explain_say(out, "if(precision == 2, 4, 2)");
		return;
	}
	explain_say(out, "b + (if(precision == 2, 4, 2) - b) * (E + H + W) / P");
	explain_from(a, out, "b", "bytes of a weight of a layer",
		     "states.layer_weight_bytes");
	explain_from(a, out, "E", "embeddings", "model.embedding");
	explain_from(a, out, "H", "output matrix", "model.head");
	explain_from(a, out, "W", "layers that stay wide", "states.wide_weights");
	explain_from(a, out, "P", "parameters", "parameters");
}

VALUE(wide_weights, states_wide_weights(&a->scenario->model))
VALUE(sent_gradient, step_gradient_bytes(a->scenario))
VALUE(reduced_gradient, step_sent_bytes(a->scenario))
VALUE(gradient, states_stay_whole(a->scenario) ? 4 : step_gradient_bytes(a->scenario))

static void gradient_terms(const struct asked *a, struct explanation *out)
{
	if (states_stay_whole(a->scenario)) {
		explain_say(out, "4");
		return;
	}
	explain_say(out, "g");
	knob(a, out, "g", "as they travel", "states.sent_gradient_bytes");
}

VALUE(adding, step_accumulate_bytes(a->scenario, 1))
VALUE(gather_copy, step_gather_copy_bytes(a->scenario))
VALUE(gradient_copy, step_gradient_copy_bytes(a->scenario))
VALUE(optimizer, step_optimizer_bytes(a->scenario))
VALUE(moments,
      step_moment_bytes(&a->scenario->stack.habits, (enum optimizer)plan(a)->optimizer))
VALUE(master, step_master_bytes(a->scenario))
VALUE(master_rest, step_master_rest(a->scenario))
VALUE(stepped, step_stepped_bytes(a->scenario))

/* "if(optimizer == 0, 8, if(optimizer == 1, 2, ... 4))" */
static void moment_terms(const struct asked *a, struct explanation *out)
{
	const struct habits *h = &a->scenario->stack.habits;

	for (int i = 0; i + 1 < OPTIMIZER_COUNT; i++)
		if (i == OPTIMIZER_ADAFACTOR)
			explain_say(out, "if(optimizer == %d, factored, ", i);
		else
			explain_say(out, "if(optimizer == %d, %g, ", i,
				    step_moment_bytes(h, (enum optimizer)i));
	explain_say(out, "%g", step_moment_bytes(h, OPTIMIZER_COUNT - 1));
	for (int i = 0; i + 1 < OPTIMIZER_COUNT; i++)
		explain_say(out, ")");
	knob(a, out, "optimizer", "by the number of its word", "optimizer");
	knob(a, out, "factored", "means of rows and columns", "habits.factored_bytes");
}

VALUE(moved, states_moved_bytes(a->scenario))
VALUE(host_moved, states_host_moved_bytes(a->scenario))

static double host_rate(const struct asked *a)
{
	const struct cluster *c = &a->scenario->cluster;

	return states_host_rate_value(c->host_memory_bytes_per_second,
				      cluster_host_shares(c), cluster_host_rate(c));
}

VALUE(host_seconds, states_host_seconds(a->scenario))

static double sync_copy(const struct asked *a)
{
	struct shards shards;
	struct states each;

	states_shards(a->scenario, &shards);
	states_bytes(a->scenario, &shards, &each);
	return each.sync_copy;
}

VALUE(logit_width, step_logit_width(a->scenario))

static void logit_terms(const struct asked *a, struct explanation *out)
{
	const struct stack *stack = &a->scenario->stack;
	const struct plan *p = plan(a);
	bool parallel =
		p->vocab_parallel && p->tp > 1 && stack->parallel_logit_bytes > 0;

	explain_say(out, step_compiles_loss(a->scenario) ? "min(compiled, " : "");
	explain_say(out, p->cross_entropy == CE_PLAIN ? "l" : "min(l, 6)");
	if (step_compiles_loss(a->scenario)) {
		explain_say(out, ")");
		knob(a, out, "compiled", "of a compiled loss",
		     "stack.compiled_logit_bytes");
	}
	explain_say(out, p->cross_entropy == CE_CHUNKED ? " / pieces" : "");
	if (p->cross_entropy == CE_CHUNKED)
		knob(a, out, "pieces", "one after the other", "loss_tiles");
	knob(a, out, "l", "of a plain loss",
	     parallel ? "stack.parallel_logit_bytes" : "stack.logit_bytes");
	if (scenario_micro_batches(a->scenario) > 1) {
		explain_say(out, " + old");
		knob(a, out, "old", "of the micro-batch before",
		     "stack.old_logit_bytes");
	}
	if (p->pp > 1) {
		explain_say(out, " + piped * m");
		knob(a, out, "piped", "of each until the step ends",
		     "stack.piped_logit_bytes");
		knob(a, out, "m", "micro-batches", "micro_batches");
	}
}

VALUE(captured, step_graph_bytes(a->scenario))

static void captured_terms(const struct asked *a, struct explanation *out)
{
	explain_say(out, plan(a)->cuda_graphs == GRAPHS_NONE ? "0" : "g");
	if (plan(a)->cuda_graphs != GRAPHS_NONE)
		knob(a, out, "g", "of the stack",
		     plan(a)->pp > 1 ? "stack.graph_pipelined_bytes"
				     : "stack.graph_bytes");
}

VALUE(width, explain_step(a)->context.width)

VALUE(layer_input, step_message_bytes(explain_step(a)))

VALUE(operand_width, explain_step(a)->context.operand_width)
VALUE(narrow_alone, explain_step(a)->context.quantise_alone_bytes)
VALUE(narrow_weight, explain_step(a)->context.quantise_weight_bytes)
VALUE(weight_copy, explain_step(a)->context.weight_copy_bytes)

static void weight_copy_terms(const struct asked *a, struct explanation *out)
{
	const struct graph_context *c = &explain_step(a)->context;

	if (c->weight_copy_bytes <= 0) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, c->weight_copy_bytes > c->operand_width ? "2 * w" : "w");
	explain_from(a, out, "w", "bytes in one layout", "operand_width");
}

static void layer_input_terms(const struct asked *a, struct explanation *out)
{
	explain_say(out, plan(a)->sp ? "T / TP * h * w" : "T * h * w");
	knob(a, out, "T", "tokens of a micro-batch", "micro_batch_tokens");
	if (plan(a)->sp)
		knob(a, out, "TP", "ranks that split them with SP", "tp");
	knob(a, out, "h", "hidden size", "model.hidden");
	knob(a, out, "w", "bytes of an activation", "activation_width");
}

static const char states[] = "Bytes of one weight before any sharing.";

const struct explain_node explain_states[] = {
	NODE("states.weight_bytes", "Bytes of a weight", FORM_REAL, weight_bytes,
	     weight_bytes_terms, NULL,
	     "Mean of the layers, in the format that they are stored in, and the ends."),
	NODE("states.layer_weight_bytes", "Bytes of a weight of a layer", FORM_REAL,
	     layer_weight_bytes, layer_weight_terms, NULL,
	     "In the format of precision, weight_format and, under LoRA, frozen_format."),
	NODE("states.wide_weights", "Weights of layers that stay wide", FORM_COUNT,
	     wide_weights, NULL, EXPLAIN_COUNTED,
	     "wide_first at the start of the model and wide_last at its end."),
	NODE_OF("states.sent_gradient_bytes", "Bytes of a gradient", FORM_REAL,
		sent_gradient, "if(precision == 2, 4, if(dtype == 0, 4, 2))", states,
		{ "precision", "by the number of its word, 2 is fp32", "precision" },
		{ "dtype", "of gradients, 0 is fp32", "grad_dtype" }),
	NODE_OF("states.reduced_gradient_bytes", "Bytes of a gradient as it is reduced",
		FORM_REAL, reduced_gradient, "if(r > 0, if(precision == 2, g, r), g)",
		states,
		{ "precision", "by the number of its word, 2 is fp32", "precision" },
		{ "r", "in which it is reduced, 0: as it is held",
		  "stack.reduced_bytes" },
		{ "g", "as it is held", "states.sent_gradient_bytes" }),
	NODE("states.gradient_bytes", "Bytes of a gradient's sum", FORM_REAL, gradient,
	     gradient_terms, NULL,
	     "A pipeline that keeps gathered weights sums whole gradients in fp32."),
	NODE_OF("states.adding_bytes", "Bytes that adding up a gradient moves",
		FORM_REAL, adding, step_adding_text,
		"Of each micro-batch's: the sum read and written, and the new one read.",
		{ "precision", "by the number of its word, 2 is fp32", "precision" },
		{ "g", "bytes of a gradient", "states.sent_gradient_bytes" },
		{ "adds", "whether the GEMM that makes it adds", "stack.adds_in_gemm" },
		{ "copies", "bytes of copying it before", "stack.sum_copy_bytes" }),
	NODE_OF("states.gather_copy_bytes",
		"Bytes that copying a gathered weight moves", FORM_REAL, gather_copy,
		"passes * w",
		"FSDP takes parameters out of what was gathered, where it is not made of "
		"them.",
		{ "passes", "times that it is read or written",
		  "stack.gathered_passes" },
		{ "w", "bytes of a weight", "states.weight_bytes" }),
	NODE_OF("states.gradient_copy_bytes", "Bytes that copying a gradient moves",
		FORM_REAL, gradient_copy, "held * g + sent * s",
		"FSDP puts gradients together before it scatters them.",
		{ "held", "times that it is read or written as it is held",
		  "stack.gradient_passes" },
		{ "g", "bytes of it", "states.sent_gradient_bytes" },
		{ "sent", "times as it travels", "stack.sent_passes" },
		{ "s", "bytes of it then", "states.reduced_gradient_bytes" }),
	NODE_OF("states.optimizer_bytes", "Bytes of master weight and moments",
		FORM_REAL, optimizer, "master + moments", states,
		{ "master", "of the weight beside the one that computes",
		  "states.master_bytes" },
		{ "moments", "of the optimizer", "states.moment_bytes" }),
	NODE_OF("states.master_bytes", "Bytes of the master weight", FORM_REAL, master,
		states_master_text,
		"fp32, the 16 bits that the 16-bit weight lacks, 16 bits, or none.",
		{ "kept", "by the number of its word, 0 is auto", "master_weights" },
		{ "rest", "1: the bits that the weight lacks", "states.master_rest" },
		{ "offload", "share on the host, whose weights are whole",
		  "optimizer_offload" },
		{ "stored", "1 and 3 are narrow, which have too few bits",
		  "weight_format" },
		{ "lora", "above 0, adapters train, which are wide", "lora_rank" },
		{ "precision", "by the number of its word, 2 is fp32", "precision" }),
	NODE_OF("states.master_rest", "Whether it is the rest of the weight", FORM_REAL,
		master_rest, states_master_rest_text,
		"By the knob, or beside narrow moments where the stack splits it.",
		{ "split", "whether narrow moments keep only the rest of a weight",
		  "stack.splits_master" },
		{ "optimizer", "1 and 2 have narrow moments", "optimizer" },
		{ "kept", "by the number of its word, 0 is auto", "master_weights" }),
	NODE_OF("states.stepped_bytes", "Bytes of weights that an update moves",
		FORM_REAL, stepped, states_stepped_text,
		"The master weight is read and written, the 16-bit weight written.",
		{ "m", "of the master weight", "states.master_bytes" },
		{ "precision", "by the number of its word, 2 is fp32", "precision" },
		{ "kept", "3 is a copy in 16 bits", "master_weights" }),
	NODE("states.moment_bytes", "Bytes of the moments", FORM_REAL, moments,
	     moment_terms, NULL,
	     "Of the optimizer: 8 of AdamW, 2 in 8 bits, 4 of Muon and SGD."),
	NODE_OF("states.moved_bytes", "Bytes that the update of a weight moves",
		FORM_REAL, moved, states_moved_text,
		"Gradient twice, for its norm and the step; states read and written.",
		{ "M", "of the moments", "states.moment_bytes" },
		{ "W", "of the weights", "states.stepped_bytes" },
		{ "optimizer", "3 is Adafactor, 4 Muon", "optimizer" }),
	NODE_OF("states.host_moved_bytes", "Bytes of host memory per weight", FORM_REAL,
		host_moved, states_host_moved_text,
		"What a step of the CPU reads and writes.",
		{ "M", "of the moments", "states.moment_bytes" },
		{ "W", "of the weights", "states.stepped_bytes" },
		{ "g", "of the gradient", "states.sent_gradient_bytes" }),
	NODE_OF("states.host_rate", "Rate of a CPU's step", FORM_TRAFFIC, host_rate,
		states_host_rate_text,
		"The share that ZeRO-Offload's table 4 (arXiv 2101.06840) reached on a DGX-2.",
		{ "memory", "nominal, of a GPU's share",
		  "cluster.host_memory_bytes_per_second" },
		{ "n", "GPUs whose share each has", "cluster.host_shares" },
		{ "link", "where it is not known", "cluster.host_rate" }),
	NODE_OF("states.host_seconds", "Seconds of a weight's step on the host",
		FORM_SECONDS, host_seconds, "if(rate > 0, moved / rate, 0)",
		"Bound by its memory.",
		{ "moved", "bytes of host memory", "states.host_moved_bytes" },
		{ "rate", "bytes per second of it", "states.host_rate" }),
	NODE_OF("states.sync_copy_bytes", "Bytes of gradients beside the sum",
		FORM_REAL, sync_copy,
		"if(ZeRO < 3, if(DP * copies > 1, if(precision != 1, c, 0), 0), 0)",
		"fp16 sums in 16 bits.", { "ZeRO", "stage", "zero" },
		{ "DP", "replicas", "dp" },
		{ "copies", "of the weights in the pipeline", "copies" },
		{ "precision", "1 is fp16, which sums in 16 bits", "precision" },
		{ "c", "of the stack", "stack.sync_copy_bytes" }),
	NODE("logit_width", "Bytes of a logit at the loss's peak", FORM_REAL,
	     logit_width, logit_terms, NULL,
	     "A fused kernel keeps one copy, a chunked one a tile of it."),
	NODE("captured_bytes", "Captured CUDA graphs", FORM_BYTES, captured,
	     captured_terms, NULL, "By the stack."),
	NODE("activation_width", "Bytes of an activation", FORM_REAL, width,
	     precision_term, "if(precision == 2, 4, 2)", "16 bits but in fp32."),
	NODE_OF("operand_width", "Bytes of what a GEMM reads", FORM_REAL, operand_width,
		graph_operand_text,
		"fp8 a byte, mxfp8 with a scale per 32 elements, nvfp4 half a byte with "
		"one per 16.",
		{ "precision", "by the number of its word, 2 is fp32", "precision" },
		{ "w", "bytes of an activation", "activation_width" }),
	NODE_OF("narrow_bytes", "Bytes of turning an element narrow", FORM_REAL,
		narrow_alone, graph_narrow_alone_text,
		"In a kernel of its own, by its recipe.",
		{ "precision", "by the number of its word, 2 is fp32", "precision" },
		{ "recipe", "by the number of its word", "fp8_recipe" },
		{ "compile", "1: layers are compiled", "compile" }),
	NODE_OF("quantised_weight_bytes", "Bytes of turning a weight narrow", FORM_REAL,
		narrow_weight, graph_narrow_weight_text,
		"Once a step, for all micro-batches.",
		{ "a", "in a kernel of its own", "narrow_bytes" },
		{ "precision", "by the number of its word, 2 is fp32", "precision" },
		{ "stored", "format of weights, 1 and 3 are narrow alone",
		  "weight_format" },
		{ "squares", "1: scales for squares of weights", "fp4_squares" },
		{ "zero", "3 shares out what is stored narrow", "zero" }),
	NODE("weight_copy_bytes", "Bytes of a weight's narrow copies", FORM_REAL,
	     weight_copy, weight_copy_terms, NULL,
	     "Transformer Engine keeps them beside the weight, in two layouts where the "
	     "accelerator multiplies only one."),
	NODE("layer_input_bytes", "Input of a layer", FORM_BYTES, layer_input,
	     layer_input_terms, NULL, "Of one micro-batch on one rank."),
	{ .row.key = NULL },
};
