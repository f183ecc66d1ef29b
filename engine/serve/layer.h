/* layer.h - half a layer of a kind in a pass, on one rank; and what is priced alike,
 * embedding, head and sends. */
#ifndef ENGINE_SERVE_LAYER_H
#define ENGINE_SERVE_LAYER_H

#include "engine/serve/kernels.h"
#include "engine/serve/pass.h"

enum { MAX_LAYER_OPERATORS = 40, MAX_LAYER_TRAFFIC = 8 };

struct layer_pass {
	bool lists;    /* operators and traffic too */
	bool prompts;  /* dispatchers then save network bytes, else latency */
	double copies; /* of the attention whose tokens the experts get; 0 = all */
	double compute_seconds, memory_seconds, fixed_seconds, seconds; /* computing */
	double flops, bytes;
	double network_seconds[DIM_COUNT];
	double network_bytes; /* across the network */
	int operators, traffic_count;
	struct pass_operator operator[MAX_LAYER_OPERATORS];
	struct traffic traffic[MAX_LAYER_TRAFFIC];
};

/* An empty one; lists false leaves operators and traffic out. */
void layer_begin(struct layer_pass *out, bool lists);
/* The halves of a layer of that kind. */
void layer_mixer(const struct serve_context *context, const struct layer_kind *kind,
		 const struct batch *batch, struct layer_pass *out);
void layer_mlp(const struct serve_context *context, const struct layer_kind *kind,
	       const struct batch *batch, struct layer_pass *out);

/* Weights of one adapter beside that matrix, on one rank: the side that TP does not
 * split is whole on each (vLLM without --fully-sharded-loras). */
struct shape;
double server_adapter_weights(const struct scenario *scenario,
			      const struct shape *shape);
void layer_kernel(struct layer_pass *out, const char *name, double count,
		  const struct kernel *kernel);
/* Collectives of a layer. bytes: the vector of an all-reduce, the gathered vector of a
 * gather, what a rank holds before an all-to-all. */
void layer_all_reduce(const struct serve_context *context, const char *what,
		      double bytes, struct layer_pass *out);
void layer_gather(const struct serve_context *context, const char *what, double bytes,
		  struct layer_pass *out);
void layer_exchange(const struct serve_context *context, const char *what, double bytes,
		    struct layer_pass *out);
void layer_ring(const struct serve_context *context, const char *what, double bytes,
		struct layer_pass *out);
void layer_send(const struct serve_context *context, const char *what, double bytes,
		struct layer_pass *out);
/* Width and intermediate size of an expert as a rank stores it: in mxfp4, padded to
 * what its kernels take. */
struct expert_sizes {
	double width, ffn;
};
struct expert_sizes serve_expert_sizes(const struct serve_context *context);
/* Further copies of experts, which servers have beside experts spread over ranks alone
 * (vLLM's EPLB and SGLang's need expert parallelism). */
double serve_spare_experts(const struct serve_context *context);
/* Router, experts, shared experts and what travels. */
void layer_experts(const struct serve_context *context, double tokens,
		   struct layer_pass *out);

#endif
