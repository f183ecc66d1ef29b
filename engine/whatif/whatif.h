/* whatif.h - what would each neighbouring value of each knob give? */
#ifndef ENGINE_WHATIF_H
#define ENGINE_WHATIF_H

#include "engine/estimate/estimate.h"
#include "engine/knob/knob.h"

struct whatif_value {
	double value;
	bool legal, fits;
	double tokens_per_second_per_gpu, memory_bytes, step_seconds;
	double moved;           /* whatif.metric of it */
	struct finding problem; /* the first one; rule NULL if legal */
	/* what the stack has not for it, of the scenario's sheet; NULL: it has all */
	const struct ability *lacks;
};

struct whatif {
	int count, present;
	/* that the knob moves: throughput per GPU if no other */
	const struct metric *metric;
	struct whatif_value item[MAX_VALUES];
};

/* The number that one turns this knob for: throughput per GPU if no other. */
const struct metric *whatif_metric(const struct scenario *scenario,
				   const struct knob *knob);
/* The strip of one knob; scratch is any estimate, overwritten. */
void whatif_knob(const struct scenario *scenario, const struct knob *knob,
		 struct estimate *scratch, struct whatif *out);

/* Values of a strip that were estimated already: as long as nothing but the knob turns,
 * the next strip needs only those that come into sight. All zero: none. */
struct whatif_kept {
	const struct knob *knob;
	struct scenario base; /* with the knob at the first of the values */
	struct whatif strip;
};
/* whatif_knob() by what is kept, which is brought up to date. */
void whatif_knob_again(const struct scenario *scenario, const struct knob *knob,
		       struct estimate *scratch, struct whatif_kept *kept,
		       struct whatif *out);

/* Two values of a strip and more can run, and all that can give the same. */
bool whatif_alike(const struct whatif *strip);

/* Whether one turns this knob to make a given training, or a given server, faster: what
 * is trained, in what batches, what is asked of a server, and the machine are given. */
bool whatif_tunes(const struct knob *knob);

/* Best relative gain in step time of one change of this knob to a neighbour that
 * fits (direction -1, +1, or 0 for none) and which way it goes. */
struct whatif_arrow {
	double gain;
	int direction;
};
void whatif_arrow(const struct scenario *scenario, const struct knob *knob,
		  const struct estimate *now, struct estimate *scratch,
		  struct whatif_arrow *out);

/* A number that is another one, by 1 % or more, once a knob is turned. */
struct whatif_move {
	const struct metric *metric;
	double before, after;
};
enum { MAX_WHATIF_MOVES = 24 };
/* What turning the knob to `value` moves of what a person watches; returns how many, or
 * -1 where the turned plan can't run (then scratch has its problems). */
int whatif_moves(const struct scenario *scenario, const struct knob *knob, double value,
		 const struct estimate *now, struct estimate *scratch,
		 struct whatif_move out[MAX_WHATIF_MOVES]);

/* --- what would mend a plan (whatif_mend.c) --- */

/* The smallest numbers of accelerators, all else as it is; 0 = none, whatever the
 * number (another rule is broken, or the plan never fits). */
struct whatif_gpus {
	int64_t degrees; /* hold these degrees, may they be legal or not */
	int64_t legal, fits;
};
void whatif_gpus(const struct scenario *scenario, struct estimate *scratch,
		 struct whatif_gpus *out);

/* One knob turned so that the plan fits. */
struct whatif_mend {
	const struct knob *knob;
	double value, tokens_per_second_per_gpu, memory_bytes;
};
/* The best value of a knob that the stack has and that fits; false if none does. */
bool whatif_best(const struct scenario *scenario, const struct knob *knob,
		 struct estimate *scratch, struct whatif_mend *out);
enum { MAX_WHATIF_MENDS = 4 };
/* The best value of each knob of memory and parallelism, the fastest first; returns
 * how many. */
int whatif_mends(const struct scenario *scenario, struct estimate *scratch,
		 struct whatif_mend out[MAX_WHATIF_MENDS]);

/* --- what a remedy costs --- */

struct whatif_cost {
	const struct knob *knob; /* NULL: no such value */
	double value;
	bool legal, fits; /* with this knob alone turned */
	double tokens_per_second_per_gpu, memory_bytes;
};
void whatif_cost(const struct scenario *scenario, const struct knob *knob, double value,
		 struct estimate *scratch, struct whatif_cost *out);
/* "does not fit, 117 GiB", "932 tok/s per GPU, 58.0 GiB", "breaks another rule". */
size_t whatif_cost_text(const struct whatif_cost *cost, char *out, size_t size);

/* --- where no single knob mends all (way.c) --- */

enum { MAX_WAY_TURNS = 3 };
struct whatif_turn {
	const struct knob *knob;
	double value;
};
/* Knobs that make a plan legal together, in the order in which they are set. */
struct whatif_way {
	int turns; /* 0: none was found */
	struct whatif_turn turn[MAX_WAY_TURNS];
	struct whatif_cost cost; /* of the plan at its end, which is legal */
};
/* The fewest knobs, two or three, whose nearest legal values mend all that is broken,
 * degrees before what was asked for; of degrees that do not fit a value further away
 * that does. False: none was found. */
bool whatif_way(const struct scenario *scenario, struct estimate *scratch,
		struct whatif_way *out);
/* Of a server that has no room for a request: the degrees of one engine that make room
 * on the fewest GPUs, with as many GPUs as they need; what is served is left as it is
 * (room.c). False: none was found. */
bool whatif_room(const struct scenario *scenario, struct estimate *scratch,
		 struct whatif_way *out);
/* Turns all knobs of a way; false where one does not take its value. */
bool whatif_way_set(const struct whatif_way *way, struct scenario *scenario);

#endif
