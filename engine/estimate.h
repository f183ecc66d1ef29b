/* estimate.h - all results of one scenario, in SI units and bytes.
 *
 * train_estimate() fills it; views, JSON, CSV and Markdown only format it.
 * Only the first `stages` items of the per-stage arrays are written.
 */
#ifndef ENGINE_ESTIMATE_H
#define ENGINE_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/finding.h"
#include "engine/limits.h"
#include "engine/scenario.h"

/* The communication dimensions, in the order of the JSON object. */
enum dimension { DIM_TP, DIM_CP, DIM_EP, DIM_PP, DIM_DP, DIM_HOST, DIM_COUNT };

enum collective_kind {
	COLLECTIVE_ALL_REDUCE,
	COLLECTIVE_ALL_GATHER,
	COLLECTIVE_REDUCE_SCATTER,
	COLLECTIVE_ALL_TO_ALL,
	COLLECTIVE_SEND, /* point to point */
	COLLECTIVE_BROADCAST,
	COLLECTIVE_COPY, /* over the host link */
	COLLECTIVE_COUNT
};

/* What one pipeline stage (its fullest rank) holds at its peak. */
struct stage_memory {
	double weights_bytes, gradients_bytes, optimizer_bytes, activations_bytes;
	double buffers_bytes;   /* logits, gathered shards, temporaries */
	double framework_bytes; /* context, communicators, fragmentation */
	double total_bytes;     /* the sum of the six */
	double allocated_bytes; /* total without framework */
	double reserved_bytes;  /* and with what the allocator's cache loses */
	double in_flight;  /* micro-batches whose activations are held at the peak */
	double parameters; /* elements on one rank */
	double layers;     /* of all chunks, MTP counted */
};

/* busy + exposed + idle + optimizer = step, for each stage. */
struct stage_time {
	double forward_seconds, backward_seconds; /* one micro-batch, all chunks,
						     with exposed communication */
	double busy_seconds, exposed_seconds, idle_seconds, optimizer_seconds;
	double recompute_seconds; /* part of busy */
};

struct dimension_cost {
	double bytes;         /* sent per GPU and step, mean over stages */
	double network_bytes; /* of them over the network */
	double payload_bytes;
	double seconds, exposed_seconds;
};

/* One kind of collective of the step, as the Traffic view lists it. Bytes and
 * seconds are per GPU and step, means over the stages, so that the entries of a
 * dimension sum to its dimension_cost. */
struct traffic {
	enum dimension dimension;
	enum collective_kind kind;
	const char *what; /* "attention output", "gradients" */
	int64_t ranks;    /* of the group */
	int64_t ranks_per_domain;
	enum link_level link; /* the slowest level that it crosses */
	double count;         /* calls per GPU and step, mean over stages */
	double payload_bytes; /* of one call */
	double sent_bytes;    /* per GPU of one call */
	double seconds;       /* of one call */
	double total_bytes, network_bytes, total_seconds, exposed_seconds;
};

struct run_cost {
	double steps, seconds, gpu_hours, dollars, joules;
	double goodput; /* useful share after checkpoints and failures */
	double checkpoint_bytes, checkpoint_seconds, checkpoint_interval_seconds;
	double failures; /* expected in the run */
};

struct estimate {
	bool legal; /* no rule is broken: the numbers below are there */
	bool fits;
	bool feasible; /* legal and fits */
	struct findings problems;

	/* degrees after rules and derivation */
	int64_t world, dp, etp, edp, micro_batches, chunks, padded_vocab;
	int stages;

	/* model */
	double parameters, active_parameters, flops_per_token;

	/* memory of the fullest stage; capacity is what a framework can use */
	struct stage_memory memory;
	int fullest_stage;
	double capacity_bytes, fit_probability;
	double memory_low_bytes, memory_high_bytes; /* 80 % range */

	/* time; compute + exposed + bubble + optimizer = step (means over stages) */
	double step_seconds, compute_seconds, bubble_seconds, exposed_seconds,
		optimizer_seconds, recompute_seconds;
	double step_low_seconds, step_high_seconds; /* 80 % range */
	double bubble_ratio, idle_to_ideal;
	int slowest_stage;

	struct dimension_cost cost[DIM_COUNT];

	/* throughput */
	double tokens_per_step, tokens_per_second, tokens_per_second_per_gpu;
	double tflops_per_gpu, mfu, mfu_bf16, hfu;

	struct run_cost run;

	int traffic_count;
	struct traffic traffic[MAX_TRAFFIC];
	struct stage_memory stage[MAX_STAGES];
	struct stage_time stage_time[MAX_STAGES];
};

const char *dimension_key(enum dimension dimension);   /* "tp" ... "host" */
const char *dimension_label(enum dimension dimension); /* "TP" ... */
const char *collective_label(enum collective_kind kind);

/* The table of scalar metrics: screens, deltas, JSON, CSV, Markdown and explain
 * iterate over it. */
struct metric {
	const char *group; /* object in JSON: "memory", "communication"; "" = top */
	const char *key;   /* "step_seconds", "tp.bytes"; unique in the table */
	const char *label; /* "step" */
	enum form form;
	int better;    /* +1 more is better, -1 less is, 0 neither */
	size_t offset; /* of a double in struct estimate */
};
extern const struct metric metric_table[];
int metric_count(void);
const struct metric *metric_find(const char *key);
double metric_get(const struct estimate *estimate, const struct metric *metric);

#endif
