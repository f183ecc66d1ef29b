/* bound.h - what no plan with these degrees can go below; for the planner. */
#ifndef ENGINE_TRAIN_BOUND_H
#define ENGINE_TRAIN_BOUND_H

#include "engine/train/trial.h"

/* One micro-batch through some of a model, on one rank of each stage together. */
struct bound_part {
	double forward, backward; /* seconds, with communication that its layers always
				     expose and with recomputation */
	double host_forward, host_backward; /* seconds of the CPU */
	double accumulate;                  /* seconds of adding up gradients */
	double dense, expert;               /* weights, elements */
	double dense_trainable, expert_trainable;
	double narrow;  /* weights that turn to fp8 or fp4 once a step */
	double trained; /* layers, frozen ones by the share that trains */
	double saved_bytes;
	/* What pairs of DualPipe hide, and what passes that run alone take more: see
	 * struct layer_cost. */
	double alone_forward, alone_backward, pairs_hide;
};

struct train_bound {
	/* the whole model; a layer, field by field the least of all kinds; the
	 * embedding; the head with MTP layers */
	struct bound_part all, layer, first, last;
	double framework_bytes;
	double memory_seconds; /* per byte */
	/* The schedule may be one that pairs stages from both ends, whatever the plan
	 * says: then some pair has as much as the mean, but no stage need have. */
	bool two_copies;
};

/* Sums of the parts as trial_cost() gives them. */
void train_bound(const struct scenario *scenario, const struct layer_cost *part,
		 struct train_bound *out);
/* What bounds ask of stages, chunks, schedule and split: the same for all ways to
 * recompute and to hold the states. */
struct bound_shape {
	double stages, chunks, micro_batches;
	double layers; /* of each chunk, 0 where they may differ */
	/* of the stage that has most, and of the pair of mirror images, at least;
	 * whether each may have the mean. No pairs where the stages are odd. */
	double most_layers, most_pair_layers;
	bool mean_layers, mean_pair_layers;
	bool even_chunks;  /* a schedule of rounds over chunks with the same layers */
	bool whole_groups; /* the last group is not smaller than the pipeline */
	bool hides_in_pairs, two_copies;
	double factor; /* 1F1B: a micro-batch on all stages, so many times; 0 elsewhere
			*/
	/* micro-batches in flight: of the first stage, their fall from one to the next,
	 * the most, and the least of any stage, which alone is known of others */
	bool in_flight;
	double flight, falls, most, least;
	double flights; /* of all stages together */
};
void train_bound_shape(const struct scenario *scenario, struct bound_shape *out);

/* Least seconds of the pipeline with this shape:
 * - any order: the mean stage works through all micro-batches, m C / p;
 * - 1F1B and GPipe: stage s starts behind the forwards and ends before the backwards of
 *   those before it, and waits for its first backward, which gives C + (m - 1) t_s less
 *   the forwards that it runs ahead; with the best split C (1 + 1 / sum 1/(m-1-j/2));
 * - where every stage has the same number of layers: the last one starts behind the
 *   first chunks of the others and has the head m times. */
double train_bound_pipeline(const struct train_bound *bound,
			    const struct bound_shape *shape);
/* The first of these alone: the same for all schedules. */
double train_bound_work(const struct train_bound *bound,
			const struct bound_shape *shape);
/* Least seconds behind it: the mean stage's share of the optimizer and host traffic. */
double train_bound_ends(const struct train_bound *bound,
			const struct scenario *scenario);
/* A step of so many seconds on this cluster, rounding aside. */
double train_bound_scaled(const struct scenario *scenario, double seconds);
/* Least bytes of the fullest stage, as a sum of what sharding decides and what
 * activations take: of the mean stage; where every stage has the same number of layers,
 * of the first; and with the best split of layers of which one takes a + f_s b on a
 * stage with f_s micro-batches in flight, L / sum 1/(a + f_s b). Infinite if the hosts
 * can't hold what is offloaded. */
struct bound_bytes {
	double mean, first, layer;
	/* of activations; no shape where what is in flight is not known */
	const struct bound_shape *shape;
	int64_t layers;
};
void train_bound_states(const struct train_bound *bound,
			const struct scenario *scenario, struct bound_bytes *out);
/* Whether they have the same weights: then the same states, and the same ends. */
bool train_bound_holds_same(const struct train_bound *a, const struct train_bound *b);
/* The shape must live as long. */
void train_bound_activations(const struct train_bound *bound,
			     const struct scenario *scenario,
			     const struct bound_shape *shape, struct bound_bytes *out);
double train_bound_bytes(const struct train_bound *bound,
			 const struct bound_bytes *states,
			 const struct bound_bytes *activations);
/* Whether these are more than that, or infinite: the same, mostly without adding up. */
bool train_bound_exceeds(const struct train_bound *bound,
			 const struct bound_bytes *states,
			 const struct bound_bytes *activations, double limit);

#endif
