/* certify.h - the proof of a search, written down so that others can check it.
 *
 * The space is cut into boxes, a tree: lines `KEY VALUES` open boxes, lines
 * `KEY VALUES KIND ... COUNT` close them, and those of one box part the values of one
 * axis. Axes that decide what costs a micro-batch, and how many there are, make the
 * tree; what else is free (shape, recomputation, states) belongs to every box. A box is
 * closed by
 *
 * - rule ROW CODE: every plan in it breaks this row of the rules
 * - same: the axis does nothing there: names of plans that stand beside it
 * - time SCORE: the relaxed plan of any of its choices (engine/train/relax.h) scores no
 *   less
 * - memory BYTES: its states alone take more than there is room for
 * - plans SCORE: opened, each plan by the first of these that is above the answer: the
 *   least with its shape (engine/train/least.h), with its way to recompute too, with
 *   its states too, each by its seconds, then its bytes (or by more than the room); its
 *   stages dealt out, without ZeRO's traffic; the estimate. What breaks a rule is left
 *   out, once all that the rule reads is chosen. SCORE is the least of all that may
 * fit, and inf where nothing may.
 *
 * Of a server the whole plan makes the tree; its bound is that of serve_ceiling().
 * Counts are of candidates. engine/verify/ reads it.
 */
#ifndef ENGINE_PLANNER_CERTIFY_H
#define ENGINE_PLANNER_CERTIFY_H

#include "engine/planner/planner.h"

/* Axes with more than one value, in the order of the tree, then those of every box; how
 * many. */
int planner_certificate_axes(const struct planner *planner, int axis[MAX_AXES]);
/* The boxes of a problem that was searched to its end: that no plan scores
 * less than the answer, INFINITY where nothing fits. To be freed; NULL if memory runs
 * out. */
char *planner_certify(const struct planner *planner, double answer);

#endif
