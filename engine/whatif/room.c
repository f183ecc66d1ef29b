/* room.c - the way out of a server that has no room for a request. */
#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "engine/rules/legality.h"
#include "engine/whatif/whatif.h"

/* Degrees that are tried: beyond these nobody splits one engine. */
enum { MOST_TP = 64, MOST_PP = 8 };

struct trial {
	const struct scenario *scenario;
	struct estimate *scratch;
	const struct knob *tp, *pp, *gpus;
	struct whatif_way best;
	double best_gpus;
};

static void add_turn(const struct trial *trial, struct whatif_way *way,
		     const struct knob *knob, double value)
{
	if (knob_get(trial->scenario, knob) != value)
		way->turn[way->turns++] = (struct whatif_turn){ knob, value };
}

/* Fewer GPUs before fewer turns, and those before a faster server. */
static bool is_better(const struct trial *trial, const struct whatif_way *way,
		      double gpus)
{
	const struct whatif_way *best = &trial->best;

	if (best->turns == 0 || gpus != trial->best_gpus)
		return best->turns == 0 || gpus < trial->best_gpus;
	if (way->turns != best->turns)
		return way->turns < best->turns;
	return way->cost.tokens_per_second_per_gpu >
	       best->cost.tokens_per_second_per_gpu;
}

/* The engine split so, on so many more GPUs as it needs. */
static void try_degrees(struct trial *trial, int64_t tp, int64_t pp)
{
	struct scenario turned = *trial->scenario;
	struct estimate *e = trial->scratch;
	struct whatif_way way = { 0 };
	int64_t gpus = turned.cluster.gpus, world;

	if (!knob_set(&turned, trial->tp, (double)tp) ||
	    !knob_set(&turned, trial->pp, (double)pp))
		return;
	world = scenario_smallest_world(&turned);
	if (world < 1)
		return;
	gpus = (gpus + world - 1) / world * world;
	if ((trial->best.turns > 0 && (double)gpus > trial->best_gpus) ||
	    !knob_set(&turned, trial->gpus, (double)gpus) ||
	    scenario_check(&turned, NULL) != 0)
		return;
	scenario_figures(&turned, e);
	if (!e->legal || !e->feasible)
		return;
	add_turn(trial, &way, trial->gpus, (double)gpus);
	add_turn(trial, &way, trial->tp, (double)tp);
	add_turn(trial, &way, trial->pp, (double)pp);
	if (way.turns == 0)
		return;
	way.cost = (struct whatif_cost){
		.knob = way.turn[way.turns - 1].knob,
		.value = way.turn[way.turns - 1].value,
		.legal = true,
		.fits = true,
		.tokens_per_second_per_gpu =
			e->serving.output_tokens_per_second_per_gpu,
		.memory_bytes = e->memory.total_bytes,
	};
	if (is_better(trial, &way, (double)gpus)) {
		trial->best = way;
		trial->best_gpus = (double)gpus;
	}
}

bool whatif_room(const struct scenario *scenario, struct estimate *scratch,
		 struct whatif_way *out)
{
	struct trial trial = { .scenario = scenario,
			       .scratch = scratch,
			       .tp = knob_find("tp"),
			       .pp = knob_find("pp"),
			       .gpus = knob_find("gpus") };

	*out = (struct whatif_way){ 0 };
	if (scenario->plan.mode != MODE_INFERENCE || !trial.tp || !trial.pp ||
	    !trial.gpus)
		return false;
	for (int64_t pp = 1; pp <= MOST_PP; pp *= 2)
		for (int64_t tp = 1; tp <= MOST_TP; tp *= 2)
			try_degrees(&trial, tp, pp);
	*out = trial.best;
	return out->turns > 0;
}
