/* queue_parts.h - what the parts of the simulation pass between each other. */
#ifndef ENGINE_QUEUE_PARTS_H
#define ENGINE_QUEUE_PARTS_H

#include "engine/queue/queue.h"

enum { NOBODY = -1 };

struct request {
	double arrival, first, end;
	double ready; /* when the pool it is going to can take it, or it may decode */
	int32_t prompt, output;
	int32_t cached; /* of the prompt, by a list */
	int32_t fill;   /* tokens to compute before it decodes */
	int32_t chunk;  /* of them in the pass under way */
	int32_t left;   /* passes until its last token */
	double held;    /* tokens of the cache that it was let in with */
	/* of its server's decode passes, the one before its first and its last */
	int64_t begun, finish;
	int32_t next, before; /* in a line */
	int32_t at;           /* the station that its cache is copied to */
};

/* First come, first served; requests know their neighbours. */
struct line {
	int32_t first, last;
	int count;
};

/* A request that decodes, by the pass that ends it. */
struct ending {
	int64_t finish;
	int32_t who;
};

struct station {
	const struct queue_pool *pool;
	int abreast; /* servers from this one on that run their passes together */
	int engine;  /* the first of those */
	int beside;  /* of these, with anything to run in the pass under way */
	/* leaving: prompts that have not come out of the last stage, by `ready` */
	struct line waiting, filling, leaving, running;
	struct ending *heap;
	int heap_count;
	int64_t passes; /* decode passes so far */
	double context; /* tokens of all that decode */
	double used;    /* of the cache */
	/* of those that decode, the passes that end them; of those that fill, outputs
	 */
	int64_t finishes;
	double outputs; /* of those that decode */
	/* what they have still to write, as it was after so many passes; -1: since
	 * then others decode */
	double decodes_to_come;
	int64_t counted_at;
	double unwritten; /* as much of them as is expected */
	int32_t longest;  /* output that was let in so far */
	double expects;   /* the share of outputs to come that has to fit */
	bool full;        /* who waits had no room, and nobody has ended since */
	bool lost;        /* some lost their cache before the passes under way */
	bool hands_over;  /* after the prompt */
	double net_free;  /* when its network can send the next cache */
	double host_free; /* when it can receive the next request */
	double host_last; /* when the last that it received had come */
	double link_free; /* when its host link can copy the next cache */
	/* passes under way: `count` of them from `start` on */
	double start, end;  /* end: infinite where nothing runs */
	double one, growth; /* seconds of the first, and how much each is longer */
	double trail;       /* until what the last carried has left the last stage */
	double out;         /* when the last that had such a trail has */
	double before;      /* the same of prompts that nobody decoded beside */
	double rounds;      /* that micro-batches without prompts are ahead, below 1 */
	int64_t count;
	bool decodes;
	bool idles;    /* nothing runs until the next of those that leave is out */
	int seen;      /* of those that wait, how many were there at the last look */
	int64_t blind; /* decode passes since then */
	bool holds;    /* prompts wait for others in the passes under way */
	int64_t held;  /* passes that they have */
};

struct simulation {
	const struct queue_system *system;
	const struct queue_load *load;
	struct request *request;
	struct station *station;
	int stations, fronts; /* the first `fronts` run prompts alone */
	/* When each station's passes end, side by side, and which of them something
	 * happened to since, in their order: all others are as they were. */
	double *end;
	int32_t *touched;
	int touched_count;
	struct line coming, sent; /* to the prompts' pool, to the other */
	struct line fetching;     /* back from the host, by `ready` */
	int begun, done;
	int late[2]; /* requests beyond the goals for TTFT and TPOT so far */
	struct queue_result *out;
};

void line_add(struct line *line, struct request *all, int32_t who);
/* NOBODY: in front. */
void line_insert(struct line *line, struct request *all, int32_t who, int32_t behind);
void line_drop(struct line *line, struct request *all, int32_t who);

/* --- load.c --- */

/* Lengths and, unless the loop is closed, times of arrival. */
void load_draw(const struct queue_load *load, struct request *out);

/* --- heap.c, of who ends when --- */

void heap_add(struct station *at, struct ending e);
void heap_drop(struct station *at, int i);
void heap_forget(struct station *at, int32_t who);

/* --- cache.c --- */

/* Tokens of a prompt that need no computing there. */
double station_cached(const struct station *station, const struct request *request);
/* Of the cache, when it is let in. */
double cache_taken(const struct station *station, const struct request *request);
bool cache_has_room(struct station *station, const struct request *request);
/* So many tokens that a request may still write, as far as they are expected. */
double cache_expected(const struct station *station, double tokens);
/* What it has written since it began to decode, where that was not set aside. */
double cache_grown(const struct station *station, const struct request *request);
/* For what everybody writes in a pass: true if somebody lost his for it. */
bool cache_make_room(struct station *station, struct simulation *s, double now);

/* --- passes.c --- */

/* One pass from now on. */
void passes_begin(struct station *station, double now, struct queue_seconds pass,
		  bool decodes);
/* When that many of those under way are over. */
double passes_end(const struct station *station, double passes);
/* No more than the one that runs now. */
void passes_cut(struct station *station, double now);

/* --- station.c --- */

void station_open(struct station *station, const struct queue_pool *pool, bool front,
		  struct ending *heap);
void station_take(struct station *station, struct simulation *s, int32_t who,
		  double now);
/* The same of one that was preempted: it is the next. */
void station_return(struct station *station, struct simulation *s, int32_t who,
		    double now);
/* What runs next; nothing where the station is empty. */
void station_plan(struct station *station, struct simulation *s, double now);
/* The passes under way are over. */
void station_end(struct station *station, struct simulation *s);
/* Requests in it. */
static inline int station_load(const struct station *at)
{
	return at->waiting.count + at->filling.count + at->leaving.count +
	       at->running.count;
}

/* --- queue.c --- */

void simulation_first_token(struct simulation *s, int32_t who, double now);
void simulation_done(struct simulation *s, int32_t who, double now);
/* So many tokens of a request on their way from a station's host. */
void simulation_fetch(struct simulation *s, struct station *to, int32_t who,
		      double tokens, double now);
/* A prompt that ran, on its way to the other pool. */
void simulation_send(struct simulation *s, struct station *from, int32_t who);

/* --- figures.c --- */

/* So many times out of n beyond a goal, and the 99th percentile is beyond it, whatever
 * the others are. */
int figures_too_many(int n);
/* Seconds of each further token. */
double figures_tpot(const struct request *request);
/* scratch has room for as many doubles as there are requests. */
void figures_sum(const struct simulation *s, double *scratch);

#endif
