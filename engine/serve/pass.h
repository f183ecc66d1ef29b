/* pass.h - one forward pass of an engine over a mixed batch, on one rank.
 *
 * A pass is what an inference server calls an iteration: each decoding request adds its
 * new tokens, prompts add theirs. Costs come from operators of a layer kind, as in
 * training, with the rates of serving kernels (struct serving_calibration): a GEMM
 * takes t0 + ((flops / (e_c P))^p + (bytes / (e_m B))^p)^(1/p), the form that fits 19
 * 000 measured shapes with a median error of 5.8 to 8.4 %
 * (ai-dynamo/aiconfigurator@095f58a, A100 to GB200).
 */
#ifndef ENGINE_SERVE_PASS_H
#define ENGINE_SERVE_PASS_H

#include "engine/estimate/estimate.h"
#include "engine/plan/mesh.h"
#include "engine/plan/scenario.h"
#include "engine/serve/kernels.h"

/* Degrees of one engine. */
struct engine_shape {
	double tp, pp, cp, dp, ep, etp; /* dp: copies of the attention */
	double ranks;                   /* tp x dp x cp x pp */
	double kv_shards;
};

/* What a pass works on, in one copy of the attention. */
struct batch {
	double requests;        /* decoding */
	double tokens_each;     /* new tokens of each: 1, or 1 + drafts */
	double context;         /* tokens that each has in the KV cache, mean */
	double prompt_tokens;   /* of prompts in this pass */
	double prompt_context;  /* tokens that a prompt token attends over, mean */
	double prompt_requests; /* prompts that they belong to */
	bool captured;          /* replayed as a graph: no launching */
	/* of the attention with such a batch; 0 = all, the others have nothing to do */
	double copies;
};

enum { MAX_PASS_OPERATORS = 48 };

/* One operator of the pass, summed over the layers of a kind, on one rank. */
struct pass_operator {
	const char *name;
	double count; /* kernels */
	double flops, bytes;
	double compute_seconds, memory_seconds, fixed_seconds, seconds;
	enum kernel_rates rates;
	enum precision stored, used;
	bool network;
};

struct pass {
	double seconds;                                        /* of the whole pass */
	double compute_seconds, memory_seconds, fixed_seconds; /* of its kernels */
	double tp_seconds, ep_seconds, pp_seconds, cp_seconds; /* communication */
	double host_seconds;                                   /* of all stages */
	double flops, bytes;  /* of one rank, all stages on the path: one token's way */
	double network_bytes; /* that its collectives send over its NIC */
	double stage_seconds; /* the slowest stage: a pipeline gives one pass in that */
	/* TP, CP, EP and PP traffic of a rank in one pass */
	struct traffic traffic[12];
	int traffic_count;
	int operators, ends; /* the first of embedding and head */
	struct pass_operator operator[MAX_PASS_OPERATORS];
};

struct serve_context {
	const struct scenario *scenario;
	struct engine_shape shape;
	struct mesh mesh; /* of one engine */
	struct fabric fabric;
	struct chip_rates rates;
	double weight_bytes; /* per element of a large matrix */
	double kv_bytes;     /* per element of the cache */
	double layers[MAX_LAYER_KINDS];
};

/* Shape of the engine that decodes (and prefills, unless that is disaggregated). */
void serve_context(const struct scenario *scenario, struct serve_context *out);
/* The same for the prefill pool of a disaggregated server. */
void serve_prefill_context(const struct scenario *scenario, struct serve_context *out);
/* Cost of one pass; list false leaves operators and traffic out. */
void serve_pass(const struct serve_context *context, const struct batch *batch,
		bool list, struct pass *out);
/* Whether it is made as two halves that take turns. */
bool serve_halves(const struct serve_context *context, const struct batch *batch);

/* Whether a matrix is in the plan's precision: where that is the published one, those
 * that the checkpoint quantises; else all. */
enum serve_matrix { MATRIX_MIXER, MATRIX_MLP, MATRIX_EXPERT };
bool serve_quantises(const struct scenario *scenario, enum serve_matrix matrix);
/* Bytes per weight of those that are, scales counted. */
double serve_weight_bytes(const struct scenario *scenario);
double serve_kv_element_bytes(const struct scenario *scenario);

#endif
