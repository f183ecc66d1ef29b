/* serve.h - inference: a server's memory, times and throughput for a workload.
 *
 * Prefill is a pass over prompt tokens, decoding one pass per token of all running
 * requests (DESIGN of rooms: engine/serve/README.md). Formulas: cost-formulas of
 * DistServe (arXiv 2401.09670), DeepSeek-V2 (2405.04434), Leviathan et al.
 * (2211.17192).
 */
#ifndef ENGINE_SERVE_H
#define ENGINE_SERVE_H

#include "engine/estimate/estimate.h"
#include "engine/plan/mesh.h"
#include "engine/plan/scenario.h"

/* Fill out for a scenario of mode inference. Pure, allocates nothing. Where the
 * concurrency is 0 the cache is filled with as many requests as it holds; where more
 * are asked for than fit, the others wait. */
void serve_estimate(const struct scenario *scenario, struct estimate *out);
/* The same without what would mend its problems, for who looks at many plans. A goodput
 * below `least` may be told lower than it is: the most requests that keep the goals are
 * not looked for there. */
void serve_figures(const struct scenario *scenario, double least, struct estimate *out);

/* What is known of a legal server before its steady state is. */
struct serve_ceiling {
	double tokens_per_second; /* of output: no goodput is above; 0 without room */
	double tpot_seconds;      /* of a request that is alone: none is quicker */
	/* the same beside those that come at a rate, where none falls behind */
	double loaded_tpot_seconds;
	double bytes; /* of a rank with one request, where that has no room */
};
/* False where it can't run. */
bool serve_ceiling(const struct scenario *scenario, struct serve_ceiling *out);

/* Whether the mean request does, of all that are asked for: in a queue that grows
 * without end none does. */
bool serve_keeps_goals(const struct scenario *scenario,
		       const struct serving_estimate *estimate);

/* Of a request with such times to its first token and for each other one, from its
 * arrival to its last token. */
double serve_request_seconds(const struct scenario *scenario, double ttft_seconds,
			     double tpot_seconds);

/* Output tokens a second of all that come at a rate; 0 where none is asked for. */
double serve_asked_tokens(const struct scenario *scenario);

/* By which factors the numbers of this server may be off, with so many requests
 * running: tpot, ttft and rate alone, of what the cluster's accuracy says. */
struct serve_spread serve_spread_of(const struct scenario *scenario,
				    double concurrency);

/* Dollars for a million tokens of output, where the cluster gives so many a second. */
double serve_dollars(const struct cluster *cluster, double tokens_per_second);

/* Latency against throughput, over requests running in all engines together. */
struct serve_point {
	double concurrency;
	double ttft_seconds, tpot_seconds;
	double output_tokens_per_second;
	double per_gpu, per_user; /* output tokens a second */
	bool meets;               /* both goals */
};

/* Points from one request to as many as fit, whole numbers about evenly apart on a
 * logarithmic axis, the last one full; at most `most`. Returns how many: 0 where
 * nothing fits. */
int serve_curve(const struct scenario *scenario, struct serve_point *out, int most);
/* One point: so many requests held, no more than there is room for. False where nothing
 * fits. */
bool serve_held(const struct scenario *scenario, double requests,
		struct serve_point *out);
/* The point of a curve that is farthest beyond the straight line between its ends, in
 * tokens a second per user and per GPU: more requests cost each user more than they
 * gain from there on (Satopaa et al. 2011, "Finding a Kneedle in a Haystack", section
 * III). -1 where there is none. */
int serve_knee(const struct serve_point *point, int count);

/* Sets what a person sees first of a scenario that has just become one of mode
 * inference: goals of 2 s and 50 ms where there are none (MLPerf Inference v5.0 asks 2
 * s and 200 ms of Llama 2 70B, 450 ms and 40 ms of its interactive variant), and as
 * many requests as the knee has, or fewer that keep the goals, where their number is
 * still the default; the precision of the published weights likewise. */
void serve_begin(struct scenario *scenario);

/* The roof over a rank's operators: dense peak of the products that run, and memory
 * bandwidth, as the datasheet has them. */
struct serve_roofline {
	double flops_per_second, bytes_per_second;
};
void serve_roofline(const struct scenario *scenario, struct serve_roofline *out);

/* An operator of a pass for the roofline: rates are of one rank. */
struct serve_operator {
	const char *name;
	double kernels, flops, bytes, seconds;
	bool network;
};

/* The operators of one decode pass at the scenario's working point, or of one prompt
 * (prefill true), longest first; at most `most`. Returns how many. */
int serve_operators(const struct scenario *scenario, bool prefill,
		    struct serve_operator *out, int most);

/* What fills a pass, in the order of a forward: operators by name, collectives, the
 * host, and what of the rates a pass over prompts does not reach. */
enum serve_filling {
	FILLING_COMPUTE, /* an operator that computing bounds */
	FILLING_MEMORY,
	FILLING_TP,
	FILLING_CP,
	FILLING_EP,
	FILLING_PP,
	FILLING_HOST,
	FILLING_REST,
	FILLING_COUNT
};
enum { MAX_FILLINGS = 64 };
struct serve_lane {
	double requests, prompt_tokens; /* in one copy of the attention */
	double seconds, stage_seconds;  /* of the pass, of the slowest stage */
	int count;
	struct {
		const char *name;
		enum serve_filling kind;
		double seconds;
	} item[MAX_FILLINGS];
};
enum { LANE_DECODE, LANE_MIXED, LANE_PROMPT, LANE_COUNT };
/* Passes of a server at the scenario's working point: of decoding requests, of those
 * with prompt tokens beside them (empty where none is mixed), over one prompt alone
 * (or as much of it as a pass takes). mixed_share is that of the passes that carry
 * prompt tokens. False for what can't run or does not fit. */
struct serve_lanes {
	struct serve_lane lane[LANE_COUNT];
	double mixed_share;
	int stages;
};
bool serve_lanes(const struct scenario *scenario, struct serve_lanes *out);

/* GPUs that decode (and prefill, unless that is disaggregated), and those that only
 * prefill: engines of `engine` ranks one after the other from GPU `first` on, mesh is
 * one engine's. Returns how many pools there are: 0 for what can't run. */
struct serve_pool {
	struct mesh mesh;
	int64_t first, gpus, engine, engines;
};
int serve_pools(const struct scenario *scenario, struct serve_pool out[2]);

/* What a server takes of the memory, by the plan or by itself; requests up to which
 * SGLang captures decoding by itself. */
double server_memory_share(const struct scenario *scenario);
double server_usual_graphs(const struct scenario *scenario);
/* Share of the first drafted token that holds: the knob's, or what is published. */
double server_acceptance(const struct scenario *scenario);
/* Of the i-th drafted token, over that of the first: less behind those that an MTP
 * layer was trained for. */
double server_reuse(const struct scenario *scenario, int64_t i);

/* The rules of the warnings that serve_estimate() adds, S18 on; NULL beyond the last.
 */
const struct rule *serve_note(int index);

#endif
