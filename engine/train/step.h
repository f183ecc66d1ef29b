/* step.h - what the parts of one training step pass between each other. */
#ifndef ENGINE_TRAIN_STEP_H
#define ENGINE_TRAIN_STEP_H

#include "engine/collective/collective.h"
#include "engine/estimate/estimate.h"
#include "engine/graph/graph.h"
#include "engine/pipeline/pipeline.h"
#include "engine/plan/mesh.h"
#include "engine/plan/split.h"
#include "engine/train/states.h"
#include "engine/train/train.h"

/* What one micro-batch takes on one virtual stage. Unless something else is said,
 * these are seconds; counts are of weights and of layers. */
struct chunk_time {
	double forward, input_grad, weight_grad, recompute;
	double exposed_forward, exposed_backward;
	double alone_forward, alone_backward, pairs_hide; /* see struct layer_cost */
	double host_forward, host_backward;               /* seconds of the CPU */
	double wait_forward; /* of the forward, that it has launched nothing ahead */
	double layers, expert_layers; /* all, and those that have experts */
	double dense, expert, dense_trainable, expert_trainable;
	double table; /* trainable weights of the table that tokens are looked up in */
	/* of those held, what a forward alone reads: frozen layers and their embedding
	 */
	double dense_still, expert_still;
	double flops, again_flops;
	double host_bytes;                  /* of activations that go to the host */
	double saved_bytes;                 /* of activations that stay */
	double late_forward, late_backward; /* waiting for the CPU */
	double all_forward, all_input_grad; /* sums that the pipeline sees */
	/* Parts of what is exposed: gathering and scattering shards, and offload. */
	double shard_forward, shard_backward, offload_forward, offload_backward;
	/* of the shards: for a forward, for a backward where they are freed, and back
	 */
	double gather_seconds, again_seconds, scatter_seconds;
	double accumulate; /* part of weight_grad: adding gradients to their sum */
	/* Weights that FSDP shares out, what a backward reads of them, and what trains;
	 * copying them is part of forward, input_grad and weight_grad. */
	double shared, shared_again, shared_trained;
	double copy_forward, copy_again, copy_gradients;
};

/* One layer (or the embedding, or the head) for one micro-batch on one rank. */
struct layer_cost {
	double forward, input_grad, weight_grad; /* computing seconds */
	double recompute;       /* computing seconds added to the backward */
	double exposed_forward; /* communication that nothing hides */
	double exposed_backward;
	/* Where the schedule pairs a forward with a backward (DualPipe), EP's traffic
	 * hides in the pair and nowhere else. A forward or a backward that runs alone
	 * exposes so much more than exposed_*; a pair hides so much of both. */
	double alone_forward, alone_backward, pairs_hide;
	double dense, expert; /* weights held, elements */
	double dense_trainable, expert_trainable;
	double narrow;      /* those of them that turn to fp8 or fp4 once a step */
	double trained;     /* share of a layer's weights that train; 0 of the ends */
	bool forward_only;  /* no gradient comes back to it */
	double saved_bytes; /* held per micro-batch, after recomputation and offload */
	double host_bytes;  /* activations that are sent to the host instead */
	double sent_bytes;  /* those of them that the plan names */
	double whole_bytes; /* held while the layer is recomputed or run backward */
	double gemm_bytes;  /* largest weight of a layer that trains, bytes */
	double passing_bytes; /* of other ranks, while its attention runs */
	double flops;         /* forward */
	double again_flops;   /* recomputed */
	double host_forward, host_backward; /* seconds of the CPU */
	double wait_forward;
};

/* What a layer holds while it runs backward, and does not keep until then. */
static inline double layer_again_bytes(const struct layer_cost *cost)
{
	return larger(0, cost->whole_bytes - cost->saved_bytes);
}

/* Parts of the model that were costed already, each with its layers recomputed as a
 * whole and without that: they stay the same when another number of layers is
 * recomputed. */
enum { MAX_PARTS = MAX_LAYER_KINDS + 3 };

struct part_costs {
	bool has[2][MAX_PARTS];
	struct layer_cost cost[2][MAX_PARTS];
};

/* Sums over the layers, embedding, head and MTP of a stage; over both copies where the
 * schedule keeps two. What is no layer and has no unit counts weights. */
struct stage_sum {
	double layers, dense, expert, dense_trainable, expert_trainable, narrow;
	double trained_layers; /* a frozen layer counts by its adapters' weights */
	double saved_bytes, host_bytes, gemm_bytes;
	double again_bytes;   /* largest of a layer's tensors that are not kept */
	double passing_bytes; /* largest of a layer */
	/* Weights of the largest layer or end, which is gathered whole: dense ones
	 * alone, and with experts. */
	double largest_dense, largest_layer;
	double largest_dense_trainable, largest_trainable;
	bool has_head;
};

/* What a stage works in all its chunks together. */
struct stage_work {
	double forward_seconds, backward_seconds; /* of one micro-batch */
	double alone_seconds; /* of one micro-batch: its layers' alone_* */
	/* Of a whole step: what its micro-batches expose, and what is recomputed. */
	double exposed_seconds, recompute_seconds, recompute_flops;
	/* at the step's end: exposed DP traffic, and the optimizer */
	double sync_seconds, optimizer_seconds;
};

/* What a stage holds, and what it works. */
struct stage_load {
	struct stage_sum sum;
	struct stage_work work;
};

/* The parts of the model as this rank runs them, and which of them stand where. */
struct step {
	const struct scenario *scenario;
	struct mesh mesh;
	struct graph_context context;
	int64_t micro_batches;
	int stages, chunks;
	double kind_layers[MAX_LAYER_KINDS]; /* for traffic */
	struct layer_cost kind[MAX_LAYER_KINDS];
	struct layer_cost embedding, head, mtp;
	struct split split;
	struct collective send; /* between neighbouring stages */
	struct collective join; /* of its parts over TP, where the stack cuts it */
	double join_seconds; /* mean of all virtual stages but the first: those behind
				another on the same stage get no message */
	double send_bytes;
};

/* All that stands between a scenario and its estimate: the parts, what each stage makes
 * of those that it has, and the pipeline over the stages. Who runs a step keeps one;
 * the functions below are handed what they read of it. */
struct whole_step {
	struct step step;
	struct collective_choices choices; /* of its collectives */
	struct stage_load load[MAX_STAGES];
	struct pipeline_input pipeline;
	struct pipeline_result result;
};

/* Whether the expert all-to-all hides behind another micro-batch in the pairs that the
 * schedule makes, and only there (DualPipe), not in every layer. */
bool step_hides_in_pairs(const struct scenario *scenario);
/* Costs of one graph: what its collectives expose, what recomputation drops. full is
 * for a layer that is recomputed as a whole. */
void layer_cost(const struct graph_context *context, struct graph *graph, bool full,
		struct layer_cost *out);
/* The parts of a model in this order: kinds of layers, embedding, head, and what stands
 * around MTP layers. Each is drawn as a graph, then costed, kinds first (`known` may be
 * NULL); then its collectives go into the estimate's traffic. Below, an estimate may be
 * NULL. */
int step_parts(const struct model *model);
void step_draw(const struct graph_context *context, int part, struct graph *graph);
void step_cost(struct step *step, int part, struct graph *graph,
	       struct part_costs *known);
void step_part_traffic(const struct step *step, int part, const struct graph *graph,
		       struct estimate *out);
void step_layers(struct step *step, struct estimate *out);
/* Whether a named policy says what layers keep. */
static inline bool step_has_policy(const struct plan *plan)
{
	return plan->recompute == RECOMPUTE_SELECTIVE &&
	       plan->remat_policy != REMAT_MODULES;
}
/* Whether it computes the operator again; and what it holds of it, here and on the host
 * (op->held_bytes, op->away_bytes). */
bool step_policy_recomputes(const struct plan *plan, const struct graph_operator *op);
void step_policy_holds(const struct graph_context *context, struct graph_operator *op);
/* Of a stage's layers, the share that whole recomputation runs again. */
double step_recomputed_share(const struct scenario *scenario);
/* Whether the table of the embedding that MTP layers look tokens up in is another one
 * on virtual stage k than the first stage's (Megatron Core, gpt_model.py: embedding
 * where pre_process or mtp_process): not where both, or a tied head, share a rank. */
bool step_has_table(const struct step *step, int k);
/* So many layers of each kind on `times` virtual stages, with the ends that k has, to
 * what their stage holds. */
void step_add_layers(const struct step *step, int k, const int16_t *kind_layers,
		     double times, struct stage_sum *out);
/* What a stage with such layers and so many micro-batches in flight holds at its peak.
 */
void step_hold(const struct step *step, int stage, const struct stage_sum *sum,
	       double in_flight, struct stage_memory *out);
/* Fill the split by what stages hold (SPLIT_BALANCED_MEMORY): the pipeline tells what
 * is in flight, and its times and result are overwritten for that. */
bool step_split_memory(struct step *step, const double *weights,
		       struct pipeline_input *pipeline, struct pipeline_result *result);
/* Which layers go where, and what a pipeline over them is asked, but for times; false
 * if they can't be split. */
bool step_split(struct step *step, struct pipeline_input *pipeline,
		struct pipeline_result *result);
/* Times of the virtual stages and loads of the stages; then all that the pipeline
 * needs. */
void step_chunks(const struct step *step, struct stage_load *load,
		 struct pipeline_input *pipeline, struct estimate *out);
void step_fill(struct step *step, struct stage_load *load,
	       struct pipeline_input *pipeline, struct estimate *out);
/* Seconds of a micro-batch that ZeRO 2 and 3 add to every virtual stage with a layer,
 * at least: what a layer's collective shows. 0 where the CPU might hide it. */
double step_shard_seconds(const struct step *step);
/* What FSDP's copies take of a virtual stage. */
void step_shard_copies(const struct step *step, struct chunk_time *time);
/* The same traffic of a virtual stage with such times, which it adds to; `times` are
 * like it. */
void step_shard_traffic(const struct step *step, double times, struct chunk_time *time,
			struct estimate *out);
/* So many layers with that cost. */
void chunk_add_layer(struct chunk_time *to, const struct layer_cost *cost,
		     double count);
/* Times, sums and the pipeline over them, of layers that are split. */
void step_pipeline(struct whole_step *whole, struct estimate *out);
/* Times of virtual stage k alone, as step_chunks() put them together, and its share of
 * the traffic (out may be NULL). */
void step_chunk_time(const struct step *step, int k, struct chunk_time *time,
		     struct estimate *out);
/* The calls of train.h for a scenario whose layers that stay wide are kinds of their
 * own already (wide.c). */
void settled_estimate(const struct scenario *scenario, bool sums_alone,
		      struct estimate *out);
bool settled_chunks(const struct scenario *scenario, struct estimate *out,
		    struct train_chunks *chunks);
bool settled_layout(const struct scenario *scenario, struct estimate *scratch,
		    char *out, int size);
void settled_graph(const struct scenario *scenario, int part, struct graph *out);
/* What an estimate says before the layers of its step are costed, and all behind that
 * and behind their split: false if the plan is illegal, as where they can't be split.
 */
bool step_open(const struct scenario *scenario, bool sums_alone, struct estimate *out);
bool step_close(struct whole_step *whole, bool split, struct estimate *out);
/* Whether an estimate for who looks at many plans needs no list of traffic: of a pin
 * the list tells whether it runs anywhere. */
static inline bool step_sums_alone(const struct plan *plan)
{
	return plan->collective == ALGORITHM_AUTO;
}
/* Everything of such a scenario: train_estimate() with the step that it was made of.
 * False if the plan is illegal. */
bool train_step(const struct scenario *scenario, struct whole_step *whole,
		struct estimate *out);
/* Activations that a micro-batch holds on virtual stage k, and seconds of recomputing
 * in its backward. */
void step_chunk_parts(const struct step *step, int k, double *held_bytes,
		      double *recompute);
/* Gradient and parameter traffic of each stage, optimizer and offload. */
void step_sync(const struct step *step, struct stage_load *load, struct estimate *out);
/* What a stage exchanges at the step's end, each in its slot; those of expert weights
 * behind those of dense ones. */
enum sync_slot {
	SYNC_GRADIENTS,
	SYNC_PARAMETERS,
	SYNC_REPLICAS,
	SYNC_EXPERTS, /* on from here: the three above */
	SYNC_TIED = 2 * SYNC_EXPERTS,
	SYNC_HOST,
	SYNC_SLOTS
};
struct sync_part {
	const char *what; /* in Traffic; NULL: there is none */
	struct group group;
	double seconds, exposed;
	bool overlaps;
};
void step_sync_parts(const struct step *step, const struct stage_load *load, int stage,
		     struct sync_part part[SYNC_SLOTS]);
/* Whether the layer at work on a stage holds more than it keeps. */
bool step_again(const struct scenario *scenario, const struct stage_sum *sum);
/* Trainable weights of the embedding's table where a stage looks up in it, else 0. */
double step_sync_table(const struct step *step, int stage);
/* Seconds behind the pipeline of the stage that ends last. */
double step_ends(const struct step *step, const struct stage_load *load);
/* What each stage holds with so many micro-batches in flight, and whether it fits; and
 * bytes of the fullest stage alone. */
void step_memory(const struct step *step, const struct stage_load *load,
		 const double *in_flight, struct estimate *out);
double step_bytes(const struct step *step, const struct stage_load *load,
		  const double *in_flight);
/* What offload puts into the memory of the fullest node's host, and whether it fits. */
void step_host(const struct step *step, struct estimate *out);
/* Of the GPUs of the fullest node, the shares of the stages on it, from `first` on. */
int step_host_shares(const struct step *step, const struct stage_memory *stage,
		     int *first, double *share);
/* Bytes of host memory that a GPU has; 0 = not known. */
double step_host_capacity(const struct cluster *cluster);
/* Times per stage and their means, throughput, money. */
void step_total(const struct whole_step *whole, struct estimate *out);
/* How much wider than that of measured runs its range is. */
double step_range_factor(const struct scenario *scenario);
/* Between which factors of the predicted memory the truth is. */
struct spread step_memory_spread(const struct scenario *scenario);
/* The chance that what needs so much has room. */
double step_fit_chance(const struct scenario *scenario, const struct estimate *out,
		       double need, double room);
void step_run(const struct scenario *scenario, struct estimate *out);

void step_mean_traffic(struct estimate *out);

/* Bytes that move for each parameter when a micro-batch's gradient is added to the sum
 * of g: it is read and written, and the new one read, unless the GEMM that makes it
 * adds; some software copies it before it adds to fp32. */
FORMULA(step_adding, (double precision, double g, double adds, double copies),
	either(adds == 1, 2 * g,
	       either(precision == 2, 2 * g + 4,
		      2 * g + 2 + either(g == 4, copies, 0))));
_Static_assert(PRECISION_FP32 == 2, "the number of this word in step_adding");

static inline double step_accumulate_bytes(const struct scenario *scenario,
					   double trainable)
{
	return trainable * step_adding_value(scenario->plan.precision,
					     step_gradient_bytes(scenario),
					     scenario->stack.adds_in_gemm,
					     scenario->stack.sum_copy_bytes);
}
/* The same as states_shards(), for a mesh that is built already. */
void step_shards(const struct plan *plan, const struct mesh *mesh, struct shards *out);
/* Whether experts are on other ranks than the dense weights of their layer: then FSDP
 * wraps them apart, and a rank that alone holds its experts gathers none. */
bool step_experts_apart(const struct mesh *mesh);
/* The innermost `sharded` ranks of a group: those that share one set of shards. */
struct group step_shard_group(const struct group *group, int64_t sharded);
/* What FSDP's copies move for each weight that it gathers, and for each that trains. */
static inline double step_gather_copy_bytes(const struct scenario *scenario)
{
	return scenario->stack.gathered_passes * step_weight_bytes(scenario);
}
static inline double step_gradient_copy_bytes(const struct scenario *scenario)
{
	return scenario->stack.gradient_passes * step_gradient_bytes(scenario) +
	       scenario->stack.sent_passes * step_sent_bytes(scenario);
}
/* One collective done in `calls` pieces, each of which pays the latency. */
void step_pieces(const struct fabric *fabric, const struct group *group,
		 enum collective_kind kind, double bytes, double calls,
		 struct collective *out);
/* A layer's input: what a stage sends to the next, where it is not cut up. */
double step_message_bytes(const struct step *step);
/* Whether gradients are scattered behind the last micro-batch, beside nothing. */
bool step_scatters_behind(const struct scenario *scenario);
/* Bytes per logit at the loss's peak; whether the loss is compiled with the model; and
 * the bytes that captured CUDA graphs hold. */
double step_logit_width(const struct scenario *scenario);
bool step_compiles_loss(const struct scenario *scenario);
double step_graph_bytes(const struct scenario *scenario);
/* So many exposed seconds of a dimension (mean of the stages) more or, negative, less.
 */
void step_expose_traffic(struct estimate *out, enum dimension dimension,
			 double seconds);
/* One more collective in the list: count calls per GPU and step (mean). Calls of
 * the same name and dimension add up, and step_mean_traffic() then makes what is said
 * of one call their mean. */
void step_traffic(struct estimate *out, const char *what, enum dimension dimension,
		  enum collective_kind kind, const struct group *group, double count,
		  double payload_bytes, const struct collective *call,
		  double exposed_total);

#endif
