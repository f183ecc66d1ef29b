/* load.c - see load.h. */
#include "tui/explorer/load.h"

#include <stdlib.h>
#include <string.h>

#include "tui/explorer.h"

enum { MOST_POINTS = 40, MOST_SLOW = 4, UNKNOWN = -1, MOST_KEPT = 6 };

/* Of one scenario. */
struct curve {
	struct scenario scenario;
	unsigned looked; /* the higher, the later; 0: never */
	/* how many points; UNKNOWN: not computed yet */
	int points, slow;
	struct serve_point point[MOST_POINTS], point_slow[MOST_SLOW];
	bool tail_known, tail_good;
	struct serve_tail tail;
};

struct load {
	struct curve curve[MOST_KEPT];
	unsigned looks;
};

struct load *load_make(void)
{
	return calloc(1, sizeof(struct load));
}

/* What is kept of this scenario, or the place of the one that nobody looked at for
 * longest. */
static struct curve *find_curve(struct load *load, const struct scenario *scenario)
{
	struct curve *oldest = &load->curve[0];

	for (int i = 0; i < MOST_KEPT; i++) {
		struct curve *curve = &load->curve[i];

		if (curve->looked > 0 &&
		    memcmp(&curve->scenario, scenario, sizeof *scenario) == 0)
			return curve;
		if (curve->looked < oldest->looked)
			oldest = curve;
	}
	oldest->scenario = *scenario;
	oldest->points = oldest->slow = UNKNOWN;
	oldest->tail_known = false;
	return oldest;
}

static struct curve *curve_of(const struct explorer *explorer,
			      const struct scenario *scenario)
{
	struct curve *curve = find_curve(explorer->load, scenario);

	curve->looked = ++explorer->load->looks;
	return curve;
}

static int points_of(struct curve *curve, const struct serve_point **point)
{
	if (curve->points == UNKNOWN)
		curve->points =
			serve_curve(&curve->scenario, curve->point, MOST_POINTS);
	*point = curve->point;
	return curve->points;
}

int load_curve(const struct explorer *explorer, const struct serve_point **point)
{
	return points_of(curve_of(explorer, &explorer->scenario), point);
}

int load_curve_before(const struct explorer *explorer, const struct serve_point **point)
{
	if (!explorer->pinned || explorer->baseline.plan.mode != MODE_INFERENCE)
		return 0;
	return points_of(curve_of(explorer, &explorer->baseline), point);
}

int load_slowest(const struct explorer *explorer, const struct serve_point **point)
{
	struct curve *curve = curve_of(explorer, &explorer->scenario);
	const struct serve_point *points;
	int count = points_of(curve, &points);

	if (curve->slow == UNKNOWN)
		curve->slow = serve_tail_curve(&curve->scenario, points, count,
					       curve->point_slow, MOST_SLOW);
	*point = curve->point_slow;
	return curve->slow;
}

const struct serve_tail *load_tail(const struct explorer *explorer)
{
	struct curve *curve = curve_of(explorer, &explorer->scenario);

	if (!curve->tail_known) {
		curve->tail_good = serve_tail(&curve->scenario, &curve->tail);
		curve->tail_known = true;
	}
	return curve->tail_good ? &curve->tail : NULL;
}
