/* states.h - what a weight of a rank costs: the bytes of its states as ZeRO shares them
 * out, and the traffic of its update. Written once, for the estimate, for the bound
 * that the planner prunes by, and for Explain.
 *
 * ZeRO: Rajbhandari et al., arXiv 1910.02054, section 5; bytes of Adam's states
 * section 3.1.
 */
#ifndef ENGINE_TRAIN_STATES_H
#define ENGINE_TRAIN_STATES_H

#include "engine/base/formula.h"
#include "engine/plan/scenario.h"

/* Ranks that share out one set of states, of dense weights and of experts; whether
 * others hold the same dense weights for other samples. */
struct shards {
	int64_t dense, expert;
	bool replicated;
};

/* Bytes that one weight takes on one of them. */
struct weight_states {
	double weight, gradient;
	double optimizer; /* on the accelerator and its host together */
	double host;      /* of all of it there, with the gradient that steps it */
};

struct states {
	struct weight_states dense, expert;
	/* 16-bit gradients that wait for the backward's end, or lie in DDP's buckets,
	 * beside the fp32 sum: of a dense weight that is trained */
	double sync_copy;
};

/* Of so many ranks with the same dense weights, and with the same experts, those that
 * share one set: all, or a group of them (HSDP). As many sets of experts are held as of
 * dense weights: Megatron Core's num_distributed_optimizer_instances
 * (parallel_state.py) and torchtitan's dp_replicate divide both. */
static inline void states_share(const struct plan *plan, int64_t dense, int64_t expert,
				struct shards *out)
{
	bool whole = plan->zero_group <= 0 || plan->zero_group >= dense;
	int64_t sets = whole ? 1 : dense / plan->zero_group;

	out->dense = whole ? dense : plan->zero_group;
	out->expert = expert > sets ? expert / sets : 1;
}

/* Of a scenario with whole degrees. */
void states_shards(const struct scenario *scenario, struct shards *out);
void states_bytes(const struct scenario *scenario, const struct shards *shards,
		  struct states *out);
/* FSDP under a pipeline that keeps its weights gathered: it gathers before the first
 * micro-batch, sums whole gradients, and scatters them behind the last one. PyTorch's
 * stages leave weights whole behind a backward and sum whole gradients, whatever is
 * freed behind a forward, and where ZeRO 2 shares gradients alone. */
bool states_stay_whole(const struct scenario *scenario);
/* Shared gradients are summed where the optimizer's states are, so that of those on the
 * host none stay on the accelerator. */
bool states_gradients_follow(const struct scenario *scenario);

/* Per parameter, before any sharing. */
double step_gradient_bytes(const struct scenario *scenario);
/* As it travels: some software turns it to another format for the sum. */
double step_sent_bytes(const struct scenario *scenario);
double step_optimizer_bytes(const struct scenario *scenario);
/* Of it, the master weight, which is the rest of the other or whole, and the moments.
 */
double step_master_rest(const struct scenario *scenario);
double step_master_bytes(const struct scenario *scenario);
double step_moment_bytes(const struct habits *habits, enum optimizer optimizer);
/* Mean of the layers' weights and those of the ends and some layers, which stay wide.
 */
double step_weight_bytes(const struct scenario *scenario);
/* Weights of the layers that stay wide. */
double states_wide_weights(const struct model *model);
/* Of a weight of a layer, in the format that it is stored in. */
double step_layer_weight_bytes(const struct plan *plan);
/* Of one that trains, as it goes round: adapters are wide whatever they stand beside.
 */
double states_trained_bytes(const struct scenario *scenario);

/* Bytes of a master weight: fp32, or, on request or beside narrow moments where the
 * stack splits it, the 16 bits that a bf16 weight lacks of it; fp16 has other bits, a
 * weight stored in fp8 fewer, and a host keeps whole ones. Or a copy in 16 bits
 * (DeepSpeed's bf16_master_weights_and_grads, runtime/zero/stage_1_and_2.py; Megatron's
 * main-params-dtype fp16), or none, where the weight itself is stepped. */
FORMULA(states_master_rest, (double split, double optimizer, double kept),
	either(kept == 2, 1,
	       either(kept == 0,
		      split *either(optimizer == 1, 1, either(optimizer == 2, 1, 0)),
		      0)));
FORMULA(states_master,
	(double precision, double kept, double rest, double offload, double stored,
	 double lora),
	either(precision == 2, 0,
	       either(kept == 3, 2,
		      either(kept == 4, 0,
			     4 - 2 * rest * either(precision == 1, 0, 1) *
					     either(offload > 0, 0, 1) *
					     either((stored - 1) * (stored - 3) == 0,
						    either(lora > 0, 1,
							   either(precision < 3, 1,
								  either(precision > 5,
									 1, 0))),
						    1)))));
_Static_assert(MASTER_AUTO == 0 && MASTER_REST == 2 && MASTER_HALF == 3 &&
		       MASTER_NONE == 4,
	       "the numbers of these words in states_master");
_Static_assert(PRECISION_FP16 == 1 && PRECISION_FP8 == 3 && PRECISION_NVFP4 == 5 &&
		       OPTIMIZER_ADAMW_8BIT == 1 && OPTIMIZER_ADAMW_BF16 == 2 &&
		       WEIGHTS_FP8 == 1 && WEIGHTS_FP4 == 3,
	       "the numbers of these words in states_master");

/* Of them, those of weights: a master weight of m bytes is read and written and its
 * 16-bit weight written, which is read with one that is its rest or where there is
 * none.
 */
FORMULA(states_stepped, (double m, double precision, double kept),
	either(precision == 2, 8, 2 * m + either(kept == 3, 2, either(m < 4, 4, 2))));

/* Bytes that an update moves per parameter: the norm reads the gradient and the step
 * reads it again, moments of M bytes are read and written, and W bytes of weights; in
 * fp32 there is one. Adafactor reads the
 * gradient twice more, for the means of its rows and columns and for the size of the
 * update that it clips by (Shazeer and Stern, arXiv 1804.04235, algorithm 4); Muon's
 * products take the momentum and leave the update in 16 bits (Jordan 2024). */
FORMULA(states_moved, (double M, double W, double optimizer),
	8 + 2 * M + W + either(optimizer == 3, 8, either(optimizer == 4, 4, 0)));
_Static_assert(PRECISION_FP32 == 2 && OPTIMIZER_ADAFACTOR == 3 && OPTIMIZER_MUON == 4,
	       "the numbers of these words in states_moved");

/* Of the parameters of the shard S a share o goes to the host; u bytes each are moved
 * of the others, and gradients are cleared for all T of the rank's weights. */
FORMULA(states_update, (double o, double S, double T, double u),
	u *(1 - o) * S + 4 * T);

/* Bytes of host memory per parameter that a CPU updates: it reads the gradient of g
 * bytes, reads and writes moments and master weight, and writes the weight that goes
 * back (DeepSpeed, csrc/adam/cpu_adam_impl.cpp). */
FORMULA(states_host_moved, (double M, double W, double g), 2 * M + g + W);

/* Bytes on the host of a weight whose K bytes of states it keeps: its step reads a
 * gradient in fp32 that stays there (DeepSpeed, stage_1_and_2.py,
 * single_partition_of_fp32_groups; Megatron Core, HybridDeviceOptimizer,
 * cpu_copy_map_grad; 16 bytes of Adam in estimate_zero2_model_states_mem_needs), in 16
 * bits where the master weight has no more; weights in fp32 have none. */
FORMULA(states_on_host, (double K, double kept, double precision),
	K + either(kept > 2, either(precision == 2, 4, 2), 4));

/* Host memory for S bytes of states and A of activations. DeepSpeed's estimate of
 * offloaded states multiplies them by 1.5 (estimate_zero2_ and
 * estimate_zero3_model_states_mem_needs, additional_buffer_factor): pinned copies,
 * fragmentation. Activations are pinned where they lie. */
FORMULA(states_host_need, (double S, double A), 1.5 * S + A);

/* Bytes a second of host memory that this reaches: of the nominal ones the share that
 * 10 billion parameters of 30 bytes in 2.57 s are of the 256 GB/s of a DGX-2's two
 * sockets of six channels of DDR4-2666 (ZeRO-Offload, arXiv 2101.06840, table 4; its 4
 * billion in 1.03 s give the same 0.46, its 1 billion in 0.22 s 0.53). A job that takes
 * part of a node has n GPUs' share. A host whose memory nobody stated is taken to be no
 * slower than its link. */
FORMULA(states_host_rate, (double memory, double n, double link),
	either(memory > 0, memory *n *(10 * 30 / 2.57 / 256), link));

/* The chance that a plan fits that takes M bytes of C: a logistic of the measured
 * sweeps' shares (presets/accuracy).
 *
 * Where nobody measured the accelerator, one run in ten needs more than h times M (the
 * range of memory), so nine of ten fit that take C / h by the prediction: a logistic of
 * the logarithm, never steeper than the curve above, whose tenth lies at `tenth`. Above
 * C nothing is known: of 19 published recipes for TPUs, all of which ran, 12 were
 * predicted there. */
FORMULA(step_fit, (double M, double C, double steep, double middle),
	1 / (1 + exp(steep * (M / C - middle))));
FORMULA(step_unsure, (double M, double C, double h, double tenth),
	max(0.5, 1 / (1 + exp(ln(9) / ln(max(h, tenth)) * ln(M / C)))));

/* Of the weights and their master weights. */
double step_stepped_bytes(const struct scenario *scenario);
double states_moved_bytes(const struct scenario *scenario);
double states_host_moved_bytes(const struct scenario *scenario);

/* Seconds of the host's memory for each weight whose step the host makes; 0 where
 * nothing is known of either. */
double states_host_seconds(const struct scenario *scenario);

/* Bytes over the host link for each weight whose step the host makes: gradients out,
 * weights back. */
static inline double states_host_traffic(const struct scenario *scenario)
{
	return step_gradient_bytes(scenario) + states_trained_bytes(scenario);
}

/* Of a stage's layers, the share that trains: adapters beside a frozen base by their
 * weight. */
static inline double states_trained_share(const struct scenario *scenario,
					  double trained_layers)
{
	double layers = (double)scenario->model.layers / (double)scenario->plan.pp;

	return scenario->plan.lora_rank > 0 || scenario_freezes(scenario)
		       ? trained_layers / layers
		       : 1;
}

/* Seconds of an update that do not depend on how many weights it has: of a step and of
 * the launches for each layer, both of what trains. */
static inline double states_fixed_seconds(const struct scenario *scenario,
					  double trained_layers)
{
	const struct calibration *c = &scenario->cluster.accelerator.calibration;
	double fixed =
		c->step_seconds * states_trained_share(scenario, trained_layers) +
		trained_layers * scenario->stack.layer_step_seconds;

	return c->host_scale > 0 ? c->host_scale * fixed : fixed;
}

#endif
