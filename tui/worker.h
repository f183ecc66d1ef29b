/* worker.h - a search on all processors, in slices.
 *
 * A search that takes longer than a frame is shared by threads; between two calls of
 * worker_step() all of them rest, so that a search can be looked at, left or thrown
 * away at any time without a lock. What it finds depends neither on the threads nor on
 * the length of the slices.
 */
#ifndef TUI_WORKER_H
#define TUI_WORKER_H

#include "engine/planner/planner.h"

struct worker;

/* As many threads as there are processors, if threads is 0. NULL if memory runs out.
 * The problem is copied. */
struct worker *worker_start(const struct planner_problem *problem, int threads);
/* The same search again, once it is done, with more memory in reserve: nothing is
 * listed twice. */
void worker_lessen(struct worker *worker, double reserve);
/* Works for about this long; false once all is known, or memory ran out. */
bool worker_step(struct worker *worker, double seconds);
/* As far as it is known; valid until the next step. */
const struct planner_result *worker_result(const struct worker *worker);
/* The searcher that has the lists of all, for planner_certify(). */
const struct planner *worker_planner(const struct worker *worker);
/* NULL is allowed. */
void worker_free(struct worker *worker);

#endif
