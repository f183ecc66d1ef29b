/* law.c - see law.h; a collection of the formulas is in the schedules' papers. */
#include "engine/schedule/law.h"

#include <math.h>

static double each(const struct law_case *c)
{
	return c->f + c->b + c->w;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* In chunks, and no more than all of a step. */
static int64_t held(const struct law_case *c, int64_t chunks)
{
	return least(chunks, c->micro_batches * c->chunks);
}

static double idle_1f1b(const struct law_case *c)
{
	return (c->stages - 1) * each(c) / c->chunks;
}

static int64_t held_gpipe(const struct law_case *c)
{
	return held(c, c->micro_batches);
}

static int64_t held_1f1b(const struct law_case *c)
{
	return held(c, c->stages - c->stage);
}

static int64_t held_groups(const struct law_case *c, int64_t group)
{
	return held(c, 2 * (c->stages - 1 - c->stage) + (c->chunks - 1) * group + 1);
}

static int64_t held_interleaved(const struct law_case *c)
{
	int64_t group = c->group > 0 ? c->group : c->stages;

	return held_groups(c, least(group, c->micro_batches));
}

static int64_t held_breadth(const struct law_case *c)
{
	return held_groups(c, c->micro_batches);
}

static double idle_h1(const struct law_case *c)
{
	return (c->stages - 1) * (c->f + c->b - c->w);
}

/* The first stage's own; with a barrier the last one's late start is the least. */
static double idle_h2(const struct law_case *c)
{
	double start = c->barrier ? c->f : 0;

	return (c->stages - 1) * fmax(c->f + c->b - 2 * c->w, start);
}

static int64_t held_p(const struct law_case *c)
{
	return held(c, (int64_t)c->stages * c->chunks);
}

static int64_t held_h2(const struct law_case *c)
{
	return held(c, 2 * c->stages - 1);
}

static int64_t held_2p(const struct law_case *c)
{
	return held(c, 2 * c->stages);
}

static double idle_zbv(const struct law_case *c)
{
	return c->barrier ? (c->stages - 1) * c->f / 2 : 0;
}

static double idle_half(const struct law_case *c)
{
	return (c->stages - 1) * each(c) / 2;
}

/* p divisible by 3 shifts the block by a micro-batch. */
static double idle_min(const struct law_case *c)
{
	return (c->stages - 1) * each(c) * 2 / 3 + each(c);
}

static int64_t held_half(const struct law_case *c)
{
	return held(c, (c->stages + 2) / 2 * 2 + 1);
}

static int64_t held_min(const struct law_case *c)
{
	return held(c, (c->stages + 4) / 3 * 2);
}

static double idle_dualpipe(const struct law_case *c)
{
	return (c->stages / 2 - 1) * (c->f + 2 * c->b - c->w);
}

static double idle_dualpipev(const struct law_case *c)
{
	return (c->stages - 1) * (c->f + 2 * c->b - c->w) / 2;
}

static int64_t held_dualpipe(const struct law_case *c)
{
	return held(c, c->stages + 1);
}

static int64_t held_dualpipev(const struct law_case *c)
{
	return held(c, 2 * c->stages + 1);
}

static double idle_chimera(const struct law_case *c)
{
	double back = c->b + c->w, units = (double)c->micro_batches / c->stages;

	return (c->stages - 2) * (fmax(c->f, back) + (units - 1) * fabs(back - c->f));
}

static int64_t held_chimera(const struct law_case *c)
{
	int near = c->stages - 1 - c->stage;

	return held(c, c->stages / 2 + 1 + least(c->stage, near));
}

static double idle_hanayo(const struct law_case *c)
{
	return 2 * (c->stages - 1) * fmax(c->f, c->b + c->w) / c->chunks;
}

const struct schedule_law schedule_laws[SCHEDULE_COUNT] = {
	[SCHEDULE_GPIPE] = { "(p - 1)(F + B + W)", "m, all of the step",
			     "GPipe, arXiv 1811.06965, section 2.3", idle_1f1b,
			     held_gpipe, .any_passes = true },
	[SCHEDULE_1F1B] = { "(p - 1)(F + B + W)", "min(m, p - i)",
			    "PipeDream-flush, arXiv 2006.09503; Narayanan et al., "
			    "arXiv 2104.04473, section 2.2",
			    idle_1f1b, held_1f1b, .any_passes = true },
	[SCHEDULE_INTERLEAVED] = { "(p - 1)(F + B + W)/v",
				   "min(m, (2(p - 1 - i) + (v - 1)N + 1)/v)",
				   "Narayanan et al., arXiv 2104.04473, section 2.2; "
				   "Korthikanti et al., arXiv 2205.05198, section 4",
				   idle_1f1b, held_interleaved, .least = 1,
				   .any_passes = true },
	[SCHEDULE_BREADTH_FIRST] = { "(p - 1)(F + B + W)/v",
				     "min(m, (2(p - 1 - i) + (v - 1)m + 1)/v)",
				     "Lamy-Poirier, arXiv 2211.05953, section 4",
				     idle_1f1b, held_breadth, .least = 1,
				     .any_passes = true },
	[SCHEDULE_ZB_H1] = { "(p - 1)(F + B - W)", "min(m, p)",
			     "Qi et al., arXiv 2401.10241, table 2", idle_h1, held_p,
			     .least = 1, .any_passes = true },
	[SCHEDULE_ZB_H2] = { "(p - 1)(F + B - 2W), at least (p - 1)F with a barrier",
			     "min(m, 2p - 1)", "Qi et al., arXiv 2401.10241, table 2",
			     idle_h2, held_h2, .least = 2, .any_passes = true },
	[SCHEDULE_ZB_1P] = { "(p - 1)F where F = B = W", "min(m, p)",
			     "Qi et al., arXiv 2401.10241, sections 3 and 4", idle_h1,
			     held_p, .least = 1 },
	[SCHEDULE_ZB_2P] = { "0 where F = B = W, and (p - 1)F with a barrier",
			     "min(m, 2p)",
			     "Qi et al., arXiv 2401.10241, sections 3 and 4", idle_h2,
			     held_2p, .least = 2 },
	[SCHEDULE_ZB_V] = { "0 where F = B = W, and (p - 1)F/2 with a barrier",
			    "min(m, p)", "Qi et al., arXiv 2401.10241, section 6",
			    idle_zbv, held_p, .least = 2 },
	[SCHEDULE_V_HALF] = { "at most (p - 1)(F + B + W)/2 where F = B = W",
			      "at most min(m, floor(p/2) + 3/2)",
			      "Qi et al., arXiv 2405.15362, table 1", idle_half,
			      held_half, .least = 4, .at_most = true },
	[SCHEDULE_V_MIN] = { "at most 2/3 (p - 1)(F + B + W), and one micro-batch, "
			     "where F = B = W",
			     "at most min(m, floor((p + 4)/3))",
			     "Qi et al., arXiv 2405.15362, table 1", idle_min, held_min,
			     .least = 4, .at_most = true },
	[SCHEDULE_DUALPIPE] = { "(p/2 - 1)(F + 2B - W) where F = B = W, less what "
				"pairs hide",
				"p + 1", "DeepSeek, DualPipe README", idle_dualpipe,
				held_dualpipe, .least = 2 },
	[SCHEDULE_DUALPIPEV] = { "(p - 1)(F + 2B - W)/2 where F = B = W, less what "
				 "pairs hide",
				 "p + 1/2", "DeepSeek, DualPipe README", idle_dualpipev,
				 held_dualpipev, .least = 2 },
	[SCHEDULE_CHIMERA] = { "(p - 2)(max(F, B + W) + (m/p - 1)|B + W - F|)",
			       "p/2 + 1 + min(i, p - 1 - i)",
			       "Li and Hoefler, arXiv 2107.06925, section 3",
			       idle_chimera, held_chimera, .least = 1,
			       .any_passes = true },
	[SCHEDULE_HANAYO] = { "2(p - 1) max(F, B + W)/v", "min(m, p)",
			      "Liu et al., arXiv 2308.15762, section 3", idle_hanayo,
			      held_p, .least = 2, .any_passes = true },
};

const struct schedule_law *schedule_law(int kind, int stages, int chunks)
{
	bool whole = kind == SCHEDULE_INTERLEAVED || kind == SCHEDULE_BREADTH_FIRST;

	if (kind < 0 || kind >= SCHEDULE_COUNT || stages < 2 || (whole && chunks < 2))
		kind = SCHEDULE_1F1B;
	return &schedule_laws[kind];
}
