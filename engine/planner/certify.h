/* certify.h - the proof of a search, written down so that others can check it.
 *
 * The space is cut into boxes, a tree: lines `KEY VALUES` open boxes, lines
 * `KEY VALUES KIND ... COUNT` close them, and those of one box part the values of one
 * axis. A box is closed by
 *
 * - rule ROW CODE: every plan in it breaks this row of the rules
 * - same: the axis does nothing there: names of plans that stand beside it
 * - time SCORE: the relaxed plan of any choice of the outer and dividing axes scores no
 *   less (relax() in list.c)
 * - memory BYTES: its states alone take more than there is room for
 * - work SCORE: recomputation known; of the pipeline its work, and the states that end
 *   soonest
 * - pairs SCORE: recomputation and shape known as well
 * - held BYTES: the same of bytes, with the least states
 * - floor SCORE: the stages dealt out, without ZeRO's traffic, with the state's least
 *   end
 * - large BYTES: estimated one by one, the smallest takes more than the room
 * - plans SCORE: estimated one by one, the best of them scores so much
 * - hosts 0: layers can't be dealt out so, or the hosts can't hold what is offloaded
 * - mixed SCORE: pair by pair the first that closes it: rules of its shape and
 *   recomputation, held and pairs with all states of the box, then (or at once) state
 *   by state these two, other rules, and the rest; SCORE is the least of all that may
 *   fit, and inf where nothing may
 *
 * Counts are of candidates. engine/verify/ reads it.
 */
#ifndef ENGINE_PLANNER_CERTIFY_H
#define ENGINE_PLANNER_CERTIFY_H

#include "engine/planner/planner.h"

/* Axes with more than one value, in the order of the tree; how many. */
int planner_certificate_axes(const struct planner *planner, int axis[MAX_AXES]);
/* The boxes of a training problem that was searched to its end: that no plan scores
 * less than the answer, INFINITY where nothing fits. To be freed; NULL if memory runs
 * out. */
char *planner_certify(const struct planner *planner, double answer);

#endif
