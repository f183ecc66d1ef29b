/* serve_parts.h - what the parts of an inference estimate pass between each other. */
#ifndef ENGINE_SERVE_SERVE_PARTS_H
#define ENGINE_SERVE_SERVE_PARTS_H

#include "engine/queue/room.h"
#include "engine/rules/legality.h"
#include "engine/serve/pass.h"

/* Passes that were timed, for whoever asks again: most points of a run ask for the same
 * prompt, and two terms of a point for the same decode pass. */
enum { MAX_TIMED = 32 };
struct timed_passes {
	int count, next; /* next: the place that is taken when all are */
	struct timed_pass {
		double requests, tokens, depth, copies; /* what was asked */
		double seconds, stage_seconds, network_bytes;
	} of[MAX_TIMED];
};

/* One server: an engine shape that is run `engines` times. */
struct server {
	struct serve_context context;
	struct collective_choices choices; /* of its collectives */
	struct timed_passes passes, *timed;
	double engines;
	double budget_tokens;  /* of one pass over prompts, per copy of the attention */
	double room;           /* requests that the KV cache of one copy holds */
	double kv_room_bytes;  /* of one rank, for requests */
	double kv_share_bytes; /* of one rank, by the memory share */
};

/* Adds a copy of so many bytes and seconds a pass to an estimate's traffic and to the
 * sums of its dimension; the copy says dimension, ranks, link and what of it crosses
 * the network. */
void server_add_copy(struct traffic copy, double bytes, double seconds,
		     struct estimate *out);
/* What a rank of the fullest stage holds before any request. */
void server_memory(const struct server *server, struct stage_memory *out);
/* Tokens that whole blocks of the cache have for a request's. */
double server_held_tokens(const struct scenario *scenario, double tokens);
/* KV cache and states of one request of that many tokens, on one rank. */
double server_request_bytes(const struct serve_context *context, double tokens);
/* What a memory share gives the cache of a rank, by the stack's meaning of it. It may
 * be below 0, or above what is really free for one: then the server can't start. */
double server_bytes_of_share(const struct scenario *scenario,
			     const struct stage_memory *held, double share);
double server_left_bytes(const struct scenario *scenario,
			 const struct stage_memory *held);
/* Elements that a rank of the fullest stage holds: of large matrices, which are
 * quantised, and of tables, norms and routers, which are not. */
void server_weights(const struct serve_context *context, double *large, double *small);
/* Groups that a rank has a communicator of. */
double server_communicators(const struct server *server);
/* Requests of a copy and tokens of a pass that the stack takes on this GPU where nobody
 * says how many. */
double server_usual_requests(const struct scenario *scenario);
double server_usual_tokens(const struct scenario *scenario);
/* Requests that a copy of the attention runs at most; 0 = no limit. */
double server_request_limit(const struct scenario *scenario);
/* Fills room, kv_room_bytes and kv_share_bytes; held is what server_memory() gave. */
void server_room(struct server *server, const struct stage_memory *held);
/* Tokens of a request that count when it is let in, and in the mean. */
double server_admitted_tokens(const struct scenario *scenario);
double server_mean_context(const struct scenario *scenario);
/* Tokens of a prompt that the prefix cache holds already. */
double server_cached_tokens(const struct scenario *scenario);

/* The working point of one copy of the attention with that many requests in it. The
 * terms of TTFT and TPOT stand beside them:
 *   ttft = prefill + received + ahead served + begin + company + transfer + contended
 *          + load
 *   tpot = step / gain + behind added / max(1, output - 1) */
struct point {
	bool held; /* a loop of them, whatever the scenario says */
	double requests;
	double decoding;        /* of them; fewer where prompts run elsewhere */
	double decode_seconds;  /* one decode pass */
	double step_seconds;    /* between two passes of a request, undisturbed */
	double mixed_seconds;   /* one pass that carries prompt tokens too */
	double prefill_seconds; /* one prompt alone */
	double ttft_seconds, tpot_seconds;
	double gain;           /* tokens of a request in a pass, drafts accepted */
	double met;            /* others that a request meets in its copy */
	double ahead, behind;  /* prompts of others, before and while it decodes */
	double served_seconds; /* that each of them is waited for */
	double added_seconds;  /* that each adds to decoding; of a pipeline, which waits
				  for its slowest micro-batch, more */
	double received_seconds;  /* until those before it are received */
	double begin_seconds;     /* until a pass under way ends */
	double company_seconds;   /* until others of its pass leave the last stage */
	double transfer_seconds;  /* of the cache, from pool to pool */
	double contended_seconds; /* of it beside collectives on the same NIC */
	double nic_share;         /* of the time that these have it */
	double load_seconds;      /* that TTFT waits for its cache from the host */
	double carrying_seconds;  /* in passes that carry prompts, for one prompt */
	double tokens_per_second; /* output, of all copies and engines */
	double requests_per_second;
	double prefill_share; /* of the time, in passes that carry prompts */
	/* until there is room, before all else: of who comes at this point's rate
	 * (run_at()); ttft is without it */
	double room_seconds;
};

/* decode: where requests decode; prefill: where prompts run, the same server unless
 * that is disaggregated. Fewer than one request in a copy: some copies run none. */
void steady_point(const struct server *decode, const struct server *prefill,
		  double requests, struct point *out);
/* The same with requests that are held, whatever the scenario says of them. */
void steady_held(const struct server *decode, const struct server *prefill,
		 double requests, struct point *out);
/* Requests a second of all copies and engines that no steady point of up to `requests`
 * in a copy exceeds: those that decode need their passes, of which none costs less for
 * each request where it has fewer; and every prompt its share of the fullest pass. */
double steady_ceiling(const struct server *decode, const struct server *prefill,
		      double requests);
/* Seconds of each further token where requests come at that rate, of all copies and
 * engines, and the only time is that of decoding; at no rate of one that is alone. */
double steady_least_tpot(const struct server *decode, double rate);
/* Requests a second that a copy of a pool which only decodes lets go, that many in it:
 * the first token takes a pass there too. */
double steady_decode_rate(const struct server *decode, double requests);
/* The pass of a server at a steady point that carries prompt tokens (beside those that
 * decode, where the stack mixes them). Returns the share of passes that do; 0, and no
 * batch, where none does. */
double steady_mixed(const struct server *server, const struct point *point,
		    struct batch *out);
/* A pass of a server over `requests` that decode and at most so many tokens of prompts:
 * never more than one prompt has, or a pass takes, where none decode. */
void steady_batch(const struct server *server, double requests, double tokens,
		  struct batch *out);

/* --- all engines together (run.c) --- */

/* The servers of a scenario. */
struct serving_run {
	struct server decode, prefill;
	bool apart; /* two pools */
	struct stage_memory held;
	double room; /* requests in all engines together */
	/* what they give with so many inside, where requests come at a rate */
	struct queue_room line;
};

/* False if a pool is too small for one engine, which scenario_check() names. */
bool run_open(const struct scenario *scenario, struct serving_run *run);
/* What is held before any request, how many there is room for, and what the servers
 * give with some of them. */
void run_room(struct serving_run *run);
/* Copies of the attention in all its engines. */
double server_copies(const struct server *server);
/* The most shares of the cluster that are alike: each with whole copies of the pool
 * that decodes, and whole engines of one that takes prompts; or whole copies of both,
 * where of `running` requests more than `most` would be in a share. */
double run_shares(const struct serving_run *run, double running, double most);
/* A part of the cluster that is simulated, with whole pools: one of `parts` by its
 * servers, so many users in it (`most` at most, where it can be so small), and how many
 * such parts have the users, or the rate, that is asked. */
struct server_part {
	double parts, users, scale;
};
void run_part(const struct serving_run *run, const struct scenario *scenario,
	      double most, struct server_part *out);
/* The point at which `running` requests run in all engines together, times scaled by
 * the cluster's measured run. */
void run_at(const struct serving_run *run, double running, struct point *out);
/* Output tokens a second that no number of requests gives up to those asked for, or
 * that there is room for. */
double run_ceiling(const struct serving_run *run, const struct scenario *scenario);
/* Bytes that a prefix in the cache takes of a rank, and those of one request behind it.
 */
double run_prefix_bytes(const struct serving_run *run);
double run_request_bytes(const struct serving_run *run);
/* Seconds until there is room for who comes at that rate, mean; 0 where requests are
 * held, of whom those without room are known. */
double run_room_wait(const struct serving_run *run, double rate);
/* Requests a second of all engines while they are full. */
double run_full_rate(const struct serving_run *run);
/* Whether the point keeps both goals. */
bool run_meets(const struct scenario *scenario, const struct point *point);
/* Requests in flight: those asked for, all that there is room for, or those that the
 * scenario's rate leads to; infinite where even a full cache is too slow for it. */
double run_asked(const struct serving_run *run, const struct scenario *scenario);
/* Of `asked` of them, those that are inside: as many as there is room for, and, where
 * prompts have a pool of their own, whose prompts run or travel meanwhile. */
double run_in_flight(const struct serving_run *run, const struct scenario *scenario,
		     double asked);
/* The point at which so many run: of those that come at a rate where they fill some
 * of the servers some of the time, or that of servers which are always full. */
void run_working(const struct serving_run *run, const struct scenario *scenario,
		 double running, struct point *out);
/* Where prompts run. */
const struct server *run_prompts(const struct serving_run *run);
/* A decode pass of that many requests in one copy of the attention; a pass over one
 * prompt, or as much of it as one takes. */
void run_decode_batch(const struct serving_run *run, double requests,
		      struct batch *out);
void run_prompt_batch(const struct serving_run *run, struct batch *out);
/* The passes over one prompt, of one copy alone where prompts have a pool: one that the
 * budget of tokens fills, of which there are as many as is returned, and what is left
 * for the last. Without prompt tokens where there is none. */
double run_prompt_parts(const struct serving_run *run, struct batch *whole,
			struct batch *rest);
/* Bytes of a prompt's cache on its longest way between pools, and of what a rank finds
 * of it on the host. */
double run_travelling_bytes(const struct serving_run *run);
double run_reloaded_bytes(const struct serving_run *run);

/* --- problems that only an estimate knows (explained.c) --- */

/* To three digits. */
double serve_rounded(double value, bool up);

/* Why no request fits, and why some wait, or keep no goal. */
void serve_explain_room(const struct serving_run *run, const struct scenario *scenario,
			struct findings *out);
void serve_explain_load(const struct serving_run *run, const struct scenario *scenario,
			const struct serving_estimate *estimate, struct findings *out);

/* --- 99th percentiles (tail.c) --- */

/* No more requests than that keep the goal for the 99th percentile of TTFT: they begin
 * at once, and the last of them waits for the prompts of all, which no server runs
 * faster than in full passes. Infinite where that says nothing. */
double tail_most_requests(const struct serving_run *run,
			  const struct scenario *scenario);
/* The fewest that give an output of `least` tokens a second, where `high` do: none of
 * fewer does. More are taken to give more, but where stages of a pipeline are idle or
 * prompts have a pool of their own. */
double tail_fewest_requests(const struct serving_run *run, double high, double least);

#endif
