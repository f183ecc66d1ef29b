/* load.c - see load.h. */
#include "tui/explorer/load.h"

#include <stdlib.h>

#include "tui/explorer.h"

enum { MOST_POINTS = 40, MOST_SLOW = 4, UNKNOWN = -1 };

struct load {
	/* how many points; UNKNOWN: not computed yet */
	int points, before, slow;
	struct serve_point point[MOST_POINTS], point_before[MOST_POINTS];
	struct serve_point point_slow[MOST_SLOW];
	bool tail_known, tail_good;
	struct serve_tail tail;
};

struct load *load_make(void)
{
	struct load *load = malloc(sizeof *load);

	if (load)
		load_forget(load);
	return load;
}

void load_forget(struct load *load)
{
	load->points = load->before = load->slow = UNKNOWN;
	load->tail_known = false;
}

int load_curve(const struct explorer *explorer, const struct serve_point **point)
{
	struct load *load = explorer->load;

	if (load->points == UNKNOWN)
		load->points =
			serve_curve(&explorer->scenario, load->point, MOST_POINTS);
	*point = load->point;
	return load->points;
}

int load_curve_before(const struct explorer *explorer, const struct serve_point **point)
{
	struct load *load = explorer->load;
	bool serves =
		explorer->pinned && explorer->baseline.plan.mode == MODE_INFERENCE;

	if (load->before == UNKNOWN)
		load->before = serves ? serve_curve(&explorer->baseline,
						    load->point_before, MOST_POINTS)
				      : 0;
	*point = load->point_before;
	return load->before;
}

int load_slowest(const struct explorer *explorer, const struct serve_point **point)
{
	struct load *load = explorer->load;
	const struct serve_point *curve;
	int count = load_curve(explorer, &curve);

	if (load->slow == UNKNOWN)
		load->slow = serve_tail_curve(&explorer->scenario, curve, count,
					      load->point_slow, MOST_SLOW);
	*point = load->point_slow;
	return load->slow;
}

const struct serve_tail *load_tail(const struct explorer *explorer)
{
	struct load *load = explorer->load;

	if (!load->tail_known) {
		load->tail_good = serve_tail(&explorer->scenario, &load->tail);
		load->tail_known = true;
	}
	return load->tail_good ? &load->tail : NULL;
}
