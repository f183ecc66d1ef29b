/* least.c - see least.h. */
#include "engine/train/least.h"

#include <math.h>

void train_least_begin(struct train_least *least, struct trial *trial)
{
	least->trial = trial;
	train_least_node(least);
	for (int role = 0; role <= TRAIN_ROLES; role++)
		train_set_begin(&least->set[role], &trial->scenario);
}

void train_least_free(struct train_least *least, const char *key, const double *value,
		      int count)
{
	for (int role = 0; role <= (int)train_role_of(key); role++)
		train_set_free(&least->set[role], key, value, count);
}

static bool is_mode(const struct train_mode *mode, const struct plan *plan)
{
	return mode->recompute == plan->recompute &&
	       mode->layers == plan->recompute_layers &&
	       mode->modules == plan->recompute_modules &&
	       mode->offload == plan->activation_offload;
}

/* Shapes come back to the same modes; beyond those that are kept, they are costed
 * again. */
static void cost_mode(struct train_least *least)
{
	const struct plan *plan = &least->trial->scenario.plan;
	int kept = least->modes < KEPT_MODES ? least->modes : KEPT_MODES, i = 0;

	while (i < kept && !is_mode(&least->kept[i], plan))
		i++;
	least->mode = &least->kept[i < kept ? i : least->modes % KEPT_MODES];
	if (i < kept)
		return;
	least->modes++;
	least->mode->recompute = plan->recompute;
	least->mode->layers = plan->recompute_layers;
	least->mode->modules = plan->recompute_modules;
	least->mode->offload = plan->activation_offload;
	if (!least->drawn)
		trial_begin(least->trial);
	least->drawn = true;
	trial_cost(least->trial, least->mode->part);
	train_bound(&least->trial->scenario, least->mode->part, &least->mode->bound);
}

void train_least_node(struct train_least *least)
{
	least->drawn = least->dealt = false;
	least->modes = 0;
}

static const struct train_bound *bound_of(const struct train_least *least,
					  enum train_role role)
{
	return role < DECIDES_STATES ? &least->outer : &least->mode->bound;
}

/* What train_relax() turns; a whole plan has a thousand bytes. */
struct turned {
	int split, schedule, recompute;
	int64_t layers, zero, zero_group;
	uint64_t modules;
	double offload;
};

static struct turned relax_role(struct train_least *least, enum train_role role)
{
	struct plan *plan = &least->trial->scenario.plan;
	struct turned turned = {
		plan->split,
		plan->schedule,
		plan->recompute,
		plan->recompute_layers,
		plan->zero,
		plan->zero_group,
		plan->recompute_modules,
		plan->activation_offload,
	};

	train_relax(&least->set[role], plan);
	return turned;
}

static void put_back(struct train_least *least, const struct turned *turned)
{
	struct plan *plan = &least->trial->scenario.plan;

	plan->split = turned->split;
	plan->schedule = turned->schedule;
	plan->recompute = turned->recompute;
	plan->recompute_layers = turned->layers;
	plan->zero = turned->zero;
	plan->zero_group = turned->zero_group;
	plan->recompute_modules = turned->modules;
	plan->activation_offload = turned->offload;
}

void train_least_cost(struct train_least *least)
{
	struct turned turned = relax_role(least, DECIDES_SHAPE);

	train_relaxed_cost(&least->set[DECIDES_SHAPE], least->trial, &least->outer);
	put_back(least, &turned);
}

double train_least_seconds(struct train_least *least, enum train_role role)
{
	struct turned turned;
	double seconds;

	if (role == DECIDES_SHAPE)
		train_least_node(least);
	if (role == DECIDES_STATES) {
		cost_mode(least);
		least->dealt = false;
	}
	turned = relax_role(least, role);
	seconds = train_relaxed_seconds(&least->set[role], bound_of(least, role),
					&least->trial->scenario);
	put_back(least, &turned);
	return seconds;
}

double train_least_bytes(struct train_least *least, enum train_role role)
{
	struct turned turned = relax_role(least, role);
	double bytes = train_relaxed_bytes(&least->set[role], bound_of(least, role),
					   &least->trial->scenario);

	put_back(least, &turned);
	return bytes;
}

double train_least_dealt(struct train_least *least)
{
	struct scenario *s = &least->trial->scenario;
	int64_t zero = s->plan.zero;

	if (!least->dealt) {
		trial_use(least->trial, least->mode->part);
		s->plan.zero = 0;
		least->dealt = trial_stages(least->trial);
		s->plan.zero = zero;
	}
	if (!least->dealt)
		return INFINITY;
	return train_bound_scaled(s, trial_pipeline_floor(least->trial) +
					     train_bound_ends(&least->mode->bound, s));
}
