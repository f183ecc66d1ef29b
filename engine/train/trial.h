/* trial.h - one plan after the other that differ in little: what does not change is not
 * calculated again; for the planner.
 *
 * A trial runs the very functions of train_estimate(), so that its seconds and bytes
 * are the same numbers, bit for bit. The caller turns the knobs of `scenario` between
 * the calls, and says with the calls which of them it turned.
 *
 * trial_begin(): any knob. The layers and ends are drawn as graphs.
 *
 * trial_cost(): recomputation and activation offload.
 *
 * trial_stages(): schedule, chunks, split, and with ZeRO 2 and 3 what is sharded.
 *
 * The other calls: ZeRO, shard groups, optimizer offload.
 */
#ifndef ENGINE_TRAIN_TRIAL_H
#define ENGINE_TRAIN_TRIAL_H

#include "engine/train/step.h"

struct trial {
	struct scenario scenario;
	int parts; /* of the model, see step_parts() */
	struct whole_step whole;
	struct graph graph[MAX_PARTS];
	/* costs of the parts with this plan's recomputation but for its layers */
	struct part_costs known;
	struct {
		int recompute;
		uint64_t modules;
		double offload;
	} known_for;
	bool split;   /* the layers are dealt out */
	bool holds;   /* what is in flight is known without a simulation */
	bool counted; /* and stands in the step's result */
	bool flowed;  /* the pipeline has run */
	double floor;
	int fullest; /* the stage that held too much last */
};

/* The scenario must be legal but for its inner knobs. */
void trial_begin(struct trial *trial);
/* Costs of the parts, `parts` of them; out may be NULL. */
void trial_cost(struct trial *trial, struct layer_cost *part);
/* Take these as those of the plan; to be called after each turn of a knob of
 * trial_cost() or trial_stages(), which deals the layers out once for all ways to
 * shard. */
void trial_use(struct trial *trial, const struct layer_cost *part);
/* Deal the layers out to stages; false if they can't be. */
bool trial_stages(struct trial *trial);
/* Whether they would all have the same number of layers, without dealing them out. */
bool trial_deals_evenly(struct trial *trial);
/* Whether a stage holds more than that, in the terms of trial_bytes(). */
bool trial_exceeds(struct trial *trial, double bytes);
/* Bytes of the fullest stage; until trial_seconds() of a simulated schedule, no more
 * than they will be, and not `exact`. */
double trial_bytes(struct trial *trial, bool *exact);
/* Seconds that the pipeline, and a step, can't go below; and those of a step. */
double trial_pipeline_floor(struct trial *trial);
double trial_floor(struct trial *trial);
/* The same of stages that were dealt out without ZeRO's traffic in each micro-batch,
 * with what that adds at least. */
double trial_lean_floor(struct trial *trial);
/* Infinite where the pipeline alone is sure to take longer than `enough`; 0 = whatever
 * it takes. */
double trial_seconds(struct trial *trial, double enough);
/* All that train_figures() says of the plan whose costs are in use, with nothing drawn
 * or costed again. False if it is illegal. Stages have to be dealt anew after it. */
bool trial_figures(struct trial *trial, struct estimate *out);

#endif
