/* seconds.h - what an algorithm's work takes in one protocol.
 *
 * alpha-beta (Thakur, Rabenseifner, Gropp 2005, section 3): steps that wait for each
 * other, then bytes at their rates. Both parts are formulas of engine/base/formula.h,
 * which Explain prints and computes.
 */
#ifndef ENGINE_COLLECTIVE_SECONDS_H
#define ENGINE_COLLECTIVE_SECONDS_H

#include "engine/collective/unit.h"

/* Of each protocol in which the transport can run there; those that are kept, or room
 * filled. */
const struct paces *paces_find(const struct fabric *fabric, enum transport transport,
			       struct paces *room);

FORMULA(waiting,
	(double start, double near_steps, double hop, double far_steps, double far_hop,
	 double peers, double peer),
	start + near_steps * hop + far_steps * far_hop + peers * peer);
/* Both levels at once: the slower one shows. */
FORMULA(at_once,
	(double near_bytes, double near_rate, double peer_bytes, double peer_rate,
	 double far_bytes, double far_rate, double own_bytes, double copy_rate),
	max(max(near_bytes / near_rate, peer_bytes / peer_rate), far_bytes / far_rate) +
		either(copy_rate > 0, own_bytes / copy_rate, 0));
FORMULA(in_turn,
	(double near_bytes, double near_rate, double peer_bytes, double peer_rate,
	 double far_bytes, double far_rate, double own_bytes, double copy_rate),
	max(near_bytes / near_rate, peer_bytes / peer_rate) + far_bytes / far_rate +
		either(copy_rate > 0, own_bytes / copy_rate, 0));
/* Bytes per second. e is the share of the line that was measured, d what the software
 * makes of that: readers take none above 1. */
FORMULA(rate, (double B, double e, double d, double share), B *e *d *share);
/* After calibration: seconds of a byte grow by n, and no line carries more than it can.
 */
FORMULA(calibrated_share, (double e, double d, double n), min(1, e *d / n));

/* Of a kernel where nobody measured the accelerator: as long as so many steps inside
 * the domain. */
FORMULA(unmeasured_start, (double steps, double hop), steps *hop);

static inline double work_waiting(const struct unit_work *work, const struct pace *pace)
{
	return waiting_value(pace->start, work->near_steps, pace->hop, work->far_steps,
			     pace->far_hop, work->peers, pace->peer);
}

static inline double work_moving(const struct unit *unit, const struct unit_work *work,
				 const struct pace *pace)
{
	if (unit->in_turn)
		return in_turn_value(work->near_bytes, pace->near_rate,
				     work->peer_bytes, pace->peer_rate, work->far_bytes,
				     pace->far_rate, work->own_bytes, pace->copy_rate);
	return at_once_value(work->near_bytes, pace->near_rate, work->peer_bytes,
			     pace->peer_rate, work->far_bytes, pace->far_rate,
			     work->own_bytes, pace->copy_rate);
}

/* One call by one algorithm, in its quickest protocol, with all that it is made of. */
struct account {
	const struct unit *unit;
	struct call call;
	struct unit_work work;
	struct pace pace;
	double waiting, moving; /* seconds */
};
/* False where the algorithm does not apply. */
bool account_find(const struct fabric *fabric, const struct group *group,
		  const struct message *message, enum algorithm algorithm,
		  struct account *out);

#endif
