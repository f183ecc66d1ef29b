/* queue.h - a server of requests, one pass after the other: who waits how long.
 *
 * A discrete-event simulation of iteration-level scheduling (Yu et al., "Orca", OSDI
 * 2022, section 3; chunked prompts: Agrawal et al., "Sarathi-Serve", arXiv 2403.02310).
 * Passes in which nothing joins or leaves are taken together: their lengths are linear
 * in the context. What a pass takes is asked of the caller. The same load and seed give
 * the same bytes; memory is lent.
 */
#ifndef ENGINE_QUEUE_H
#define ENGINE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"

/* --- what is asked --- */

enum queue_arrivals {
	ARRIVE_CLOSED, /* `users` requests at once, each followed by the next */
	ARRIVE_EVEN,   /* `rate` a second, all gaps alike */
	ARRIVE_POISSON,
	ARRIVE_BURSTY, /* gaps of a gamma distribution with variation `burst` */
	ARRIVE_LISTED, /* times of the list */
	ARRIVE_COUNT
};

enum queue_lengths {
	LENGTHS_EVEN,      /* within `spread` of prompt and output, on both sides */
	LENGTHS_LOGNORMAL, /* their mean is prompt and output, variation `spread` */
	LENGTHS_LISTED,
	LENGTHS_COUNT
};

struct queue_item {
	double arrival; /* seconds */
	int32_t prompt, output;
	int32_t cached; /* first tokens of the prompt that need no computing */
};

struct queue_load {
	enum queue_arrivals arrivals;
	enum queue_lengths lengths;
	int requests; /* in all */
	int users;    /* closed loop */
	double rate;  /* requests a second */
	double burst; /* standard deviation of the gaps over their mean */
	double prompt, output, spread;
	uint64_t seed;
	const struct queue_item *list; /* by arrival; lengths begin again behind it */
	int listed;                    /* items of it; arrivals need `requests` */
	/* Told now and then how many requests are done; may be NULL. */
	void (*tell)(void *listener, int done);
	void *listener;
};

/* --- what serves it --- */

enum queue_scheduler {
	SERVE_MIXED,         /* prompts, in chunks, beside decoding requests */
	SERVE_PROMPTS_FIRST, /* passes over prompts alone, as long as any waits */
	SERVE_STATIC,        /* a batch, its prompts first; the next when it is done */
	SERVE_COUNT
};

/* One pass. */
struct queue_pass {
	double requests;       /* that decode */
	double context;        /* tokens that each of them has, mean */
	double prompt_tokens;  /* in this pass */
	double prompt_context; /* that each of them attends over, mean */
	double prompts;        /* of so many requests */
	/* of those that run abreast, with such a pass; 0 where none do */
	double copies;
	/* that decode in other micro-batches of a pipeline meanwhile, each with
	 * `context`
	 */
	double aside;
};

/* Seconds of a pass. The next one of the same requests can begin after `busy`; a prompt
 * gives its first token `trail` later, when it has left the last stage of a pipeline.
 */
struct queue_seconds {
	double busy, trail;
};
/* `server` is the one of the pool. */
typedef struct queue_seconds queue_cost(void *server, const struct queue_pass *pass);

struct queue_pool {
	int servers; /* alike; a request goes to the one with the fewest */
	int abreast; /* of a pool of prompts: so many begin their passes together */
	enum queue_scheduler scheduler;
	double budget; /* tokens of a pass */
	int lanes;     /* micro-batches that go around in a pipeline, each with such a
			  budget where requests decode; 0 and 1: none */
	bool unsplit;  /* no prompt is cut: one longer than the budget runs alone;
			  of servers that run prompts first */
	double room;   /* tokens that the cache of a server holds */
	double cached; /* tokens of every prompt that it holds already */
	int most_requests; /* of a server; 0 = no limit */
	bool reserves;     /* a request is let in when its whole output fits */
	double expects;    /* else, which share of all outputs to come has to fit */
	/* That share is of those that decode; of prompts, and of who waits, all has to
	 * fit, and whoever has no room waits until somebody ends. It falls by
	 * `expects_falls` with a decode pass, down to `expects_least`. Who has written
	 * least loses its cache, and goes behind those that wait; the share is then
	 * what the others have written, and `expects_ahead` tokens of each, of all that
	 * they write; in an empty server it is what it was. */
	bool retracts;
	double expects_least, expects_falls, expects_ahead;
	double expects_most; /* of one output to come, no more; 0 = all of it */
	/* Where others decode: passes between two looks for requests (0 and 1: each
	 * time), and how many of them prompts wait at most until a pass has `fill`
	 * tokens. */
	int look_interval, prompt_wait;
	double fill;
	/* Behind a server's cache, memory on its host: the share of what `cached`
	 * leaves of a prompt that lies there, seconds of the link for a token, one
	 * request after the other, and how much of a copy a prompt hides. Who is
	 * preempted is copied there and back where `swaps`, else computed again. */
	double fetched, fetch_seconds, fetch_hidden;
	bool swaps;
	double gain; /* output tokens of a request in a pass */
	double each; /* tokens of the budget that it takes */
	queue_cost *cost;
	void *server;
};

struct queue_system {
	struct queue_pool pool;      /* where requests decode */
	struct queue_pool prompts;   /* where prompts run, if servers > 0 */
	double host_seconds;         /* of receiving a request, one after the other */
	double send_seconds;         /* the cache of a prompt token from pool to pool */
	double send_latency;         /* of one request */
	double goal_ttft, goal_tpot; /* seconds; 0 = none */
	/* Stop as soon as a 99th percentile is above its goal: the result says so and
	 * no more. */
	bool until_missed;
};

/* --- what comes out --- */

struct queue_times {
	double mean, p50, p90, p99; /* seconds */
};

struct queue_result {
	int requests;
	double seconds; /* from the first arrival to the last token */
	double prompt_tokens, output_tokens;
	struct queue_times ttft, tpot, request; /* request: arrival to last token */
	/* shares of the requests: both goals, and each */
	double within_goals, within_ttft, within_tpot;
	double running; /* in the system, mean over time */
	int64_t passes;
	int preempted; /* times that a request lost its cache */
	double recomputed_tokens;
	double fetched_tokens, swapped_tokens; /* that came from the host */
	double cached_tokens; /* of prompts, that a prefix cache held */
	int oversized;        /* requests that no empty cache has room for */
	bool missed;          /* where that was asked: there is nothing else here */
};

/* What became of a request. */
struct queue_record {
	double arrival, first, end; /* seconds; first and last token */
	int32_t prompt, output;
};

/* Memory that a load needs. */
size_t queue_bytes(const struct queue_load *load, const struct queue_system *system);
/* Runs the load; records, if given, has room for load->requests. False: not enough
 * memory, or a load without requests. */
bool queue_run(const struct queue_system *system, const struct queue_load *load,
	       struct arena *arena, struct queue_record *records,
	       struct queue_result *out);

#endif
