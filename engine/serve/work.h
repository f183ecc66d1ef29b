/* work.h - what one request asks of a server, and how long passes over such take. */
#ifndef ENGINE_SERVE_WORK_H
#define ENGINE_SERVE_WORK_H

#include "engine/queue/queue.h"
#include "engine/serve/serve_parts.h"

struct work {
	const struct scenario *s;
	double prompt; /* tokens to compute of one prompt */
	double cached; /* tokens before them */
	double output;
	double tokens_each; /* of a decoding request in a pass */
	double accepted;    /* tokens that it gains by a pass */
	double draft_share; /* time of drafting over a decode pass */
	/* of the attention that have prompts in a pass; 0 = all of an engine */
	double copies;
	bool closed; /* requests are held, and come back at once */
	bool begins; /* as a burst, whose waves go on in step */
};

void work_of(const struct scenario *scenario, struct work *out);

/* Standard deviation of lengths over their mean. */
double work_spread(const struct work *work);
/* Of the outputs of two requests the shorter one over the mean, in the mean. */
double work_overlap(const struct work *work);
/* By how much longer a queue is where requests come at a rate, over one with Poisson
 * arrivals: (ca^2 + cs^2) / (1 + cs^2), by the approximation of Allen and Cunneen
 * (Allen 1990, "Probability, Statistics and Queueing Theory", section 5.4). */
double work_bunching(const struct work *work);

/* Prompts that wait for others (batch_wait) go when a pass is so full: what
 * SemiAnalysisAI/InferenceX@b328c7f59 sets, batch_wait_max_tokens_ratio. With several
 * copies of the attention they go when each has one: attention_dp_config,
 * enable_balance and timeout_iters (TensorRT-LLM's "ADP Balance Strategy", tech blog
 * 10). */
#define WORK_FILLED 0.9
/* Decode passes that a request waits until its prompt may run, beyond the one under
 * way, where `requests` of a copy get `passes` each. */
double work_held(const struct work *work, const struct server *server, double requests,
		 double passes);

/* Whether prompts run beside decoding requests. */
bool work_mixes(const struct work *work);

/* A batch of `requests` decoding beside `tokens` of prompts, contexts those of the mean
 * request. */
void work_batch(const struct work *work, const struct server *server, double requests,
		double tokens, struct batch *out);

/* How long a pass takes, and its slowest stage of it. */
struct timing {
	double pass, stage;
};

struct timing work_pass(const struct work *work, const struct server *server,
			double requests, double tokens);
/* The same with prompts whose tokens attend over `depth` each. */
struct timing work_pass_behind(const struct work *work, const struct server *server,
			       double requests, double tokens, double depth);
/* It, and what it sends; until others are asked for. */
const struct timed_pass *work_timed(const struct work *work,
				    const struct server *server, double requests,
				    double tokens);
/* A pass over so many tokens of a prompt, behind `before` of it: in a pipeline, where
 * the last to leave is waited for, at their own depth, else at that of the mean. */
struct queue_pass work_part(const struct work *work, const struct server *server,
			    double before, double tokens);
/* The same with other contexts. */
struct timing work_pass_at(const struct work *work, const struct server *server,
			   const struct queue_pass *pass);
/* So many prompts in passes of at most the budget, and receiving the first. */
struct timing work_prompts(const struct work *work, const struct server *server,
			   double together);
/* Between two tokens of a request, where a decode pass of them takes that long: a token
 * passes every stage before the next one starts, and all micro-batches the slowest. */
double work_step(const struct work *work, const struct server *server, double requests,
		 struct timing pass);
/* A round of a pipeline in which some micro-batches carry prompts: as many go around as
 * it has stages, each scheduled with a budget of its own, and none overtakes another,
 * so that all wait for the slowest of them, or for the slowest stage (vLLM,
 * v1/engine/core.py, step_with_batch_queue; SGLang, scheduler_pp_mixin.py,
 * event_loop_pp; TensorRT-LLM, pyexecutor/py_executor.py, _executor_loop_pp). Without a
 * pipeline, the pass. */
double work_round(const struct server *server, struct timing with, double carrying,
		  struct timing without);
/* Seconds that one of n customers is at a server that takes `service` for each and sees
 * them again `away` seconds later, mean. */
double work_stay(double n, double service, double away);
/* That stay, or what n customers make of it, who come back `away` seconds after they
 * left: no server is busy for longer than the time there is, n customers go round in no
 * less than n services (asymptotic bound of closed networks: Denning and Buzen 1978,
 * "The Operational Analysis of Queueing Network Models", Computing Surveys 10). */
double work_within_capacity(double stay, double n, double service, double away);
/* Seconds of a request at that point from its arrival to its last token. */
double work_cycle(const struct work *work, const struct point *point);
/* Bytes a second of a rank's NIC. */
double work_nic_rate(const struct scenario *scenario);
/* Bytes of a request's cache on the longest way between two engines. */
double work_travelling_bytes(const struct work *work, const struct server *decode,
			     const struct server *prefill);
/* Seconds of a request's cache from the prefill pool to a decoding engine. */
double work_transfer(const struct work *work, const struct server *decode,
		     const struct server *prefill);

#endif
