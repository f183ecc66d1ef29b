/* terms.c - the rows of terms.h. A further term is one row:
 *
 *	TERM(key_bytes, "symbol in the sum", "Title", "assumption", expression,
 *	     OF(symbol, value, "key of its page", "meaning"), ...)
 *
 * The expression is one of FORMULA() in the symbols behind it, whose values are read
 * from `h`. */
#include "engine/train/terms.h"

#include <stddef.h>

#include "engine/base/formula.h"

/* Buffers. Logits count where the loss is computed; a layer that runs again uses their
 * memory once they are gone. */
#define BUFFER_TERMS(TERM, OF)                                                        \
	TERM(logits_bytes, "logits", "Logits",                                        \
	     "Of one micro-batch, where the loss is computed; a layer that runs "     \
	     "again uses their memory once they are gone.",                           \
	     either(head > 0, max(0, T * V * l / either(split > 0, TP, 1) - R), 0),   \
	     OF(head, h->sum->has_head, ".heads", "on the stage"),                    \
	     OF(T, h->step->context.tokens, "micro_batch_tokens", "tokens of it"),    \
	     OF(V, h->vocab, "padded_vocab", "vocabulary after padding"),             \
	     OF(l, h->logit_width, "logit_width", "bytes per logit at the peak"),     \
	     OF(split, h->plan->vocab_parallel, "vocab_parallel", "1 is over TP"),    \
	     OF(TP, (double)h->step->mesh.tp, "tp", "ranks that share them out"),     \
	     OF(R, h->again, ".again_bytes", "of a layer that runs again there"))     \
	TERM(passing_bytes, "passing", "Keys and values of other ranks",              \
	     "While the attention of one layer runs backward under context "          \
	     "parallelism; they use the memory of logits that are gone.",             \
	     max(0, X - L),                                                           \
	     OF(X, h->sum->passing_bytes, ".layer_passing_bytes",                     \
		"of the largest layer"),                                              \
	     OF(L, logits_bytes(h), ".logits_bytes", "logits"))                       \
	TERM(gathered_bytes, "gathered", "Gathered weights",                          \
	     "FSDP, torchtitan and Megatron-FSDP take a layer with its experts for "  \
	     "the unit, where experts are sharded too.",                              \
	     either(ZeRO == 3, W * b + G * (g + either(r > g, r, 0)), 0),             \
	     OF(ZeRO, (double)h->plan->zero, "zero", "stage"),                        \
	     OF(W, h->gathered, ".gathered_weights", "weights that are whole"),       \
	     OF(b, h->weight_bytes, "states.weight_bytes", "bytes each"),             \
	     OF(G, h->gathered_trained, ".gathered_gradients", "of one unit"),        \
	     OF(g, h->gradient_bytes, "states.sent_gradient_bytes", "bytes each"),    \
	     OF(r, h->sent_bytes, "states.reduced_gradient_bytes",                    \
		"of the copy that is reduced, where it is wider"))                    \
	TERM(gradient_copies_bytes, "copies", "Gradients beside the sum",             \
	     "A weight gradient is in 16 bits at first.", W + D * c,                  \
	     OF(W, h->sum->gemm_bytes, ".gemm_bytes", "the largest that joins it"),   \
	     OF(D, h->sum->dense_trainable, ".trained_dense", "dense, that train"),   \
	     OF(c, h->each.sync_copy, "states.sync_copy_bytes", "bytes of a copy"))   \
	TERM(messages_bytes, "messages", "Messages between stages",                   \
	     "PyTorch's stages have a buffer for each micro-batch and keep what "     \
	     "they sent; what a micro-batch in flight received is an activation.",    \
	     either(torch *(P - 1) > 0,                                               \
		    s * (m * i + (m + n) * o) - min(s * n * i, A - R), 0),            \
	     OF(torch, h->stack->torch_stages, "stack.torch_stages", "1 is so"),      \
	     OF(P, (double)h->plan->pp, "pp", "stages"),                              \
	     OF(s, step_message_bytes(h->step), "layer_input_bytes", "of one"),       \
	     OF(m, (double)h->step->micro_batches, "micro_batches", "micro-batches"), \
	     OF(n, h->in_flight, ".in_flight", "of them in flight"),                  \
	     OF(i, h->receives, ".chunks_that_receive", "chunks with one before"),    \
	     OF(o, h->sends, ".chunks_that_send", "chunks with one behind"),          \
	     OF(A, h->activations, ".activations_bytes", "activations"),              \
	     OF(R, h->again, ".again_bytes", "of a layer that runs again there"))     \
	TERM(narrow_copies_bytes, "narrow", "Weights in fp8 or fp4",                  \
	     "Made once a step, and kept beside what they were made of.", W *b,       \
	     OF(W, h->sum->narrow, ".narrow_weights", "weights in fp8 or fp4"),       \
	     OF(b, h->step->context.weight_copy_bytes, "weight_copy_bytes",           \
		"bytes of each"))

/* What libraries take, and what the allocator loses between tensors. */
#define FRAMEWORK_TERMS(TERM, OF)                                                      \
	TERM(context_bytes, "C", "Context and libraries", "By the stack.", c,          \
	     OF(c, h->stack->context_bytes, "stack.context_bytes", "of the stack"))    \
	TERM(communicators_bytes, "N", "Communicators", "By the stack.", (c * groups), \
	     OF(c, h->stack->communicator_bytes, "stack.communicator_bytes", "each"),  \
	     OF(groups, h->communicators, "communicators", "of a rank"))               \
	TERM(graphs_bytes, "g", "Captured CUDA graphs", "By the stack.", g,            \
	     OF(g, h->graphs, "captured_bytes", "of the stack"))                       \
	TERM(loose_bytes, "loose", "Lost between tensors",                             \
	     "What the allocator reserves above what is live.",                        \
	     (max(r, 1) - 1) * (A + B),                                                \
	     OF(r, h->stack->fragmentation, "stack.fragmentation", "of what is live"), \
	     OF(A, h->activations, ".activations_bytes", "activations"),               \
	     OF(B, h->buffers, ".buffers_bytes", "buffers"))

/* The optimizer on the accelerator, before any scale. A fused optimizer cuts what
 * trains into chunks of equal size and launches so many of them at once (apex,
 * csrc/multi_tensor_apply.cuh), and so does the gradient's norm: what the CPU does per
 * layer follows the weights that train. Muon (Jordan 2024): five Newton-Schulz steps of
 * three products on each matrix. */
#define UPDATE_TERMS(TERM, OF)                                                       \
	TERM(update_seconds, "U", "Reading and writing the states",                  \
	     "Bound by memory: gradient, moments and master weight are read, "       \
	     "moments, master and 16-bit weight written.",                           \
	     moved / bw,                                                             \
	     OF(moved,                                                               \
		states_update_value(h->plan->optimizer_offload, h->shared, h->local, \
				    states_moved_bytes(h->step->scenario)),          \
		".update_bytes", "bytes that the update moves"),                     \
	     OF(bw, 1 / h->step->context.memory.seconds_per_byte,                    \
		"memory_bytes_per_second", "bytes per second that kernels reach"))   \
	TERM(host_update_seconds, "H", "Waiting for the host's part",                \
	     "The host steps its share, bound by its memory, while the accelerator " \
	     "steps the other.",                                                     \
	     max(0, o *S *s - U),                                                    \
	     OF(o, h->plan->optimizer_offload, "optimizer_offload",                  \
		"share kept on the host"),                                           \
	     OF(S, h->shared, ".shared_trained", "trained weights of its share"),    \
	     OF(s, states_host_seconds(h->step->scenario), "states.host_seconds",    \
		"seconds that each takes there"),                                    \
	     OF(U, update_seconds(h), ".update_seconds", "of the part that stays"))  \
	TERM(narrow_seconds, "N", "Turning weights narrow",                          \
	     "Once a step; their copies serve all its micro-batches.", W *b / bw,    \
	     OF(W, h->sum->narrow, ".narrow_weights", "weights in fp8 or fp4"),      \
	     OF(b, h->step->context.quantise_weight_bytes, "quantised_weight_bytes", \
		"bytes that each moves"),                                            \
	     OF(bw, 1 / h->step->context.memory.seconds_per_byte,                    \
		"memory_bytes_per_second", "bytes per second that kernels reach"))   \
	TERM(muon_seconds, "M", "Muon's products",                                   \
	     "Five Newton-Schulz steps of three products on each matrix.",           \
	     either(optimizer == 4, 30 * width * S / r, 0),                          \
	     OF(optimizer, h->plan->optimizer, "optimizer", "4 is Muon"),            \
	     OF(width, (double)h->step->scenario->model.hidden, "model.hidden",      \
		"hidden size"),                                                      \
	     OF(S, h->shared, ".shared_trained", "trained weights of its share"),    \
	     OF(r, 1 / h->step->context.gemm.seconds_per_flop,                       \
		"gemm_flops_per_second", "FLOP/s of its products"))                  \
	TERM(launching_seconds, "fixed", "Whatever the size",                        \
	     "Launches, and a step's own.", fixed,                                   \
	     OF(fixed,                                                               \
		states_fixed_seconds(h->step->scenario, h->sum->trained_layers),     \
		".update_fixed_seconds", "of layers that train, and of a step"))

_Static_assert(OPTIMIZER_MUON == 4, "the row of Muon says so");

/* Of each row a function, an addend and a line of the table. */
#define READ(symbol, value, key, meaning) symbol = value
#define LINK(symbol, value, key, meaning) \
	{                                 \
#symbol, key, meaning     \
	}
#define VALUE(name, sign, title, about, expression, ...)   \
	static inline double name(const struct holding *h) \
	{                                                  \
		const double __VA_ARGS__;                  \
                                                           \
		return expression;                         \
	}
#define ADD(name, sign, title, about, expression, ...) +name(h)
#define ROW(name, sign, title, about, expression, ...) \
	{ #name, sign, title, about, #expression, { __VA_ARGS__ }, name },

BUFFER_TERMS(VALUE, READ)
FRAMEWORK_TERMS(VALUE, READ)
UPDATE_TERMS(VALUE, READ)

const struct term buffer_terms[] = { BUFFER_TERMS(ROW, LINK){ .key = NULL } };
const struct term framework_terms[] = { FRAMEWORK_TERMS(ROW, LINK){ .key = NULL } };
const struct term update_terms[] = { UPDATE_TERMS(ROW, LINK){ .key = NULL } };

double holding_buffers(const struct holding *h)
{
	return 0 BUFFER_TERMS(ADD, LINK);
}

double holding_framework(const struct holding *h)
{
	return 0 FRAMEWORK_TERMS(ADD, LINK);
}

double holding_update(const struct holding *h)
{
	return 0 UPDATE_TERMS(ADD, LINK);
}

double holding_loose(const struct holding *h)
{
	return loose_bytes(h);
}
