/* estimate.h - all results of one scenario, in SI units and bytes.
 *
 * train_estimate() fills it; views, JSON, CSV and Markdown only format it.
 * Only the first `stages` items of the per-stage arrays are written.
 */
#ifndef ENGINE_ESTIMATE_H
#define ENGINE_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/limits.h"
#include "engine/collective/collective.h"
#include "engine/knob/finding.h"
#include "engine/plan/dimension.h"
#include "engine/plan/scenario.h"

/* What one pipeline stage (its fullest rank) holds at its peak. */
struct stage_memory {
	double weights_bytes, gradients_bytes, optimizer_bytes, activations_bytes;
	double buffers_bytes;   /* logits, gathered shards, temporaries */
	double framework_bytes; /* context, communicators, fragmentation */
	double kv_bytes;        /* inference: cache of the running requests */
	double total_bytes;     /* the sum of these */
	double allocated_bytes; /* total without framework */
	double reserved_bytes;  /* and with what the allocator's cache loses */
	double host_optimizer_bytes, host_activations_bytes; /* sent to the host */
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
	enum algorithm algorithm; /* ALGORITHM_COUNT: calls differ */
	const char *what;         /* "attention output", "gradients" */
	int64_t ranks;            /* of the group */
	int64_t ranks_per_domain, stride;
	enum link_level link; /* the slowest level that it crosses */
	double count;         /* calls per GPU and step, mean over stages */
	double payload_bytes; /* of one call */
	double sent_bytes;    /* per GPU of one call */
	double seconds;       /* of one call */
	/* What the library is called with: pieces of so many bytes each, of which
	 * remote_bytes leave the domain in an all-to-all. An all-to-all of experts ends
	 * with the busiest rank, which has more than the payload. Means, as above. */
	double pieces, call_bytes, remote_bytes;
	double total_bytes, network_bytes, total_seconds, exposed_seconds;
};

struct run_cost {
	double steps, seconds, gpu_hours, dollars, joules;
	double co2_grams;                  /* of the grid, none of what was built */
	double dollars_per_million_tokens; /* trained on */
	/* 80 % ranges, as of the step: what takes longer costs more */
	double seconds_low, seconds_high, dollars_low, dollars_high, joules_low,
		joules_high, co2_low_grams, co2_high_grams;
	double goodput; /* useful share after checkpoints and failures */
	double checkpoint_bytes, checkpoint_seconds, checkpoint_interval_seconds;
	double failures; /* expected in the run */
};

/* What limits a pass: the largest of its parts. */
enum bound { BOUND_COMPUTE, BOUND_MEMORY, BOUND_NETWORK, BOUND_OVERHEAD, BOUND_COUNT };

/* Of a server, for mode inference. Throughput is of the whole cluster. */
struct serving_estimate {
	double ttft_seconds, tpot_seconds; /* mean request, queueing included */
	double ttft_low_seconds, ttft_high_seconds, tpot_low_seconds,
		tpot_high_seconds; /* 80 % ranges */
	double prefill_seconds, decode_seconds,
		mixed_seconds;  /* one prompt, one pass */
	double request_seconds; /* from its arrival to its last token */
	/* what TTFT and TPOT are made of, struct point of engine/serve says how */
	double step_between_seconds, served_seconds, added_seconds, begin_seconds,
		company_seconds, transfer_seconds, contended_seconds, load_seconds,
		received_seconds, carrying_seconds, nic_share, ahead, behind, gain;
	double stretch; /* of both, where the rate of requests leaps; 1 elsewhere */
	double output_tokens_per_second, output_low, output_high;
	double output_tokens_per_second_per_gpu, output_tokens_per_second_per_user;
	double requests_per_second, prompt_tokens_per_second;
	double concurrency; /* requests running */
	double elsewhere;   /* of them beyond the room of a full pool that decodes: with
			       their prompts in the other pool, or on the way */
	double waiting;     /* asked for, but without room */
	/* of those that come at a rate, until there is room: they wait while all is
	 * full */
	double room_seconds;
	double max_concurrency;
	double goodput;             /* output tokens a second within both goals */
	double goodput_concurrency; /* requests at which it is reached */
	/* of one request in a hundred there, where that was simulated; else 0 */
	double slow_ttft_seconds, slow_tpot_seconds;
	double kv_bytes, kv_bytes_per_token; /* running requests, on one rank; of one
						token, whatever ranks repeat */
	double kv_share_bytes;               /* what the memory share gives a rank */
	double kv_room_bytes;   /* of it for requests, a shared prefix apart */
	double budget_tokens;   /* of a pass over prompts */
	double communicators;   /* that a rank is in */
	double prefix_bytes;    /* of a shared prefix on one rank */
	double admitted_tokens; /* of a request when it is let in, behind it */
	double request_bytes;   /* of it on one rank */
	double kv_tokens;       /* that all caches together hold */
	double host_tokens;     /* and host memory behind them */
	double headroom_bytes;  /* of the fullest rank, below capacity */
	double engines;
	double compute_seconds, memory_seconds, network_seconds,
		overhead_seconds;                   /* shares of one decode pass */
	double prefill_intensity, decode_intensity; /* FLOPs a byte */
	double prefill_flops_per_second, decode_flops_per_second; /* of one rank */
	double prefill_share;                                     /* of the time */
	double dollars_per_million_tokens, joules_per_token;
	int bound; /* enum bound, of decoding */
};

struct estimate {
	bool legal; /* no rule is broken: the numbers below are there */
	bool fits;  /* the accelerator's memory and the host's */
	/* Training on an accelerator that nobody measured: what framework, compiler and
	 * activations take is unknown, so the chance to fit falls slowly. False where
	 * the weights and optimizer states alone are too large: those are counted. */
	bool wide_chance;
	bool unsure;    /* so that fits is a guess: its chance is below 95 % */
	bool host_fits; /* the host's alone; true where it is not known */
	bool feasible;  /* legal and fits, or may fit where that is unsure */
	struct findings problems;

	/* degrees after rules and derivation */
	int64_t world, dp, etp, edp, micro_batches, chunks, padded_vocab;
	int stages;

	/* model */
	double parameters, active_parameters, flops_per_token;

	/* memory of the fullest stage; capacity is what a framework can use */
	struct stage_memory memory;
	int fullest_stage;
	double capacity_bytes;
	double fit_probability; /* of a server 1 or 0: nobody measured it */
	/* offloaded, per GPU of the fullest node, and what of the host's memory may be
	 * taken; 0 = not known */
	double host_bytes, host_capacity_bytes;
	double memory_low_bytes, memory_high_bytes; /* 80 % range */

	/* time; compute + exposed + bubble + optimizer = step (means over stages) */
	double step_seconds, compute_seconds, bubble_seconds, exposed_seconds,
		optimizer_seconds, recompute_seconds;
	double step_low_seconds, step_high_seconds; /* 80 % range */
	/* the bubble: idle in the pipeline phase, and behind it until the stage that
	 * ends last has its gradients and optimizer done; how long the phase is */
	double pipeline_idle_seconds, end_idle_seconds, pipeline_seconds;
	double bubble_ratio, idle_to_ideal;
	int slowest_stage;

	struct dimension_cost cost[DIM_COUNT];

	/* throughput */
	double tokens_per_step, tokens_per_second, tokens_per_second_per_gpu;
	double tflops_per_gpu, mfu, mfu_bf16, hfu;

	struct run_cost run;
	struct serving_estimate serving;

	bool sums_alone; /* traffic is not listed, see train_figures() */
	int traffic_count;
	struct traffic traffic[MAX_TRAFFIC];
	struct stage_memory stage[MAX_STAGES];
	struct stage_time stage_time[MAX_STAGES];
};

/* A legal plan that the accelerator's memory does not hold, whatever the host has. */
bool estimate_is_too_large(const struct estimate *estimate);

/* Adds a warning where the knob `collective` pins an algorithm that none of the
 * estimate's collectives can run, with some that can. */
void estimate_check_pin(const struct scenario *scenario, struct estimate *out);
/* The rules of that; NULL behind the last. */
const struct rule *estimate_note(int index);

const char *bound_label(enum bound bound); /* "compute" ... */

/* The table of scalar metrics: screens, deltas, JSON, CSV, Markdown and explain
 * iterate over it. */
enum { METRIC_TRAINING = 1, METRIC_INFERENCE = 2, METRIC_BOTH = 3 };

struct metric {
	int modes;         /* in which it means something */
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
