/* relax.c - see relax.h. */
#include "engine/train/relax.h"

#include <math.h>
#include <string.h>

#include "engine/base/words.h"
#include "engine/schedule/schedule.h"

static const struct {
	const char *key;
	enum train_role role;
} roles[] = {
	{ "gbs", DECIDES_BATCH },
	{ "pp", DECIDES_BATCH },
	{ "schedule", DECIDES_SHAPE },
	{ "vpp", DECIDES_SHAPE },
	{ "split", DECIDES_SHAPE },
	{ "micro_batch_group", DECIDES_SHAPE },
	{ "recompute", DECIDES_MODE },
	{ "recompute_layers", DECIDES_MODE },
	{ "recompute_modules", DECIDES_MODE },
	{ "activation_offload", DECIDES_MODE },
	{ "zero", DECIDES_STATES },
	{ "zero_group", DECIDES_STATES },
	{ "optimizer_offload", DECIDES_STATES },
};

enum train_role train_role_of(const char *key)
{
	for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
		if (strcmp(roles[i].key, key) == 0)
			return roles[i].role;
	return DECIDES_COST;
}

enum train_role train_role_of_all(const char *keys)
{
	struct words words = { .at = keys };
	enum train_role last = DECIDES_COST;
	char key[64];

	while (words_next(&words))
		if (words_copy(&words, key, sizeof key) && train_role_of(key) > last)
			last = train_role_of(key);
	return last;
}

/* 1F1B's bounds are its own. */
static bool is_plain(int schedule)
{
	return schedule_by_rounds(schedule) && !schedule_takes_chunks(schedule);
}

void train_set_begin(struct train_set *set, const struct scenario *s)
{
	*set = (struct train_set){
		.pairs = schedule_pairs(s->plan.schedule),
		.two_copies = schedule_weight_copies(s->plan.schedule) > 1,
		.plain = is_plain(s->plan.schedule),
	};
}

static void free_schedules(struct train_set *set, const double *value, int count)
{
	set->pairs = set->two_copies = false;
	set->plain = true;
	for (int i = 0; i < count; i++) {
		int schedule = (int)value[i];

		set->pairs |= schedule_pairs(schedule);
		set->two_copies |= schedule_weight_copies(schedule) > 1;
		set->plain &= is_plain(schedule);
	}
}

void train_set_free(struct train_set *set, const char *key, const double *value,
		    int count)
{
	if (count < 2)
		return;
	set->free_shape |= train_role_of(key) == DECIDES_SHAPE;
	set->free_mode |= train_role_of(key) == DECIDES_MODE;
	set->free_split |= strcmp(key, "split") == 0 || strcmp(key, "vpp") == 0;
	set->free_recompute |= strcmp(key, "recompute") == 0;
	set->free_layers |= strcmp(key, "recompute_layers") == 0;
	set->free_modules |= strcmp(key, "recompute_modules") == 0;
	set->free_group |= strcmp(key, "zero_group") == 0;
	set->free_activations |= strcmp(key, "activation_offload") == 0;
	if (strcmp(key, "schedule") == 0)
		free_schedules(set, value, count);
	if (strcmp(key, "zero") == 0) {
		set->zero = value;
		set->zeros = count;
	}
	if (strcmp(key, "optimizer_offload") == 0) {
		set->share = value;
		set->shares = count;
	}
}

static double most(const double *value, int count)
{
	double out = value[0];

	for (int i = 1; i < count; i++)
		out = fmax(out, value[i]);
	return out;
}

static double least(const double *value, int count)
{
	double out = value[0];

	for (int i = 1; i < count; i++)
		out = fmin(out, value[i]);
	return out;
}

static void relax_mode(const struct train_set *set, struct plan *plan)
{
	if (set->free_recompute)
		plan->recompute = RECOMPUTE_NONE;
	if (set->free_layers)
		plan->recompute_layers = 1;
	if (set->free_modules)
		plan->recompute_modules = 0;
	if (set->free_activations)
		plan->activation_offload = 0;
}

/* A schedule of which least is known, or whose pairs may hide more than any other's,
 * and any split; nothing is made again or sent out; states are shared by all. */
void train_relax(const struct train_set *set, struct plan *plan)
{
	if (set->free_split)
		plan->split = SPLIT_BALANCED;
	if (set->free_shape)
		plan->schedule = set->pairs   ? SCHEDULE_DUALPIPEV
				 : set->plain ? SCHEDULE_1F1B
					      : SCHEDULE_ZB_V;
	relax_mode(set, plan);
	if (set->free_group)
		plan->zero_group = 0;
	if (set->zeros > 0)
		plan->zero = (int64_t)most(set->zero, set->zeros);
}

void train_relaxed_cost(const struct train_set *set, struct trial *trial,
			struct train_bound *out)
{
	struct layer_cost part[MAX_PARTS];
	struct scenario *s = &trial->scenario;
	int64_t pp = s->plan.pp;

	/* the more layers on a stage, the less of them is recomputed with so many */
	if (s->model.tied_embeddings ||
	    (s->plan.recompute == RECOMPUTE_FULL && s->plan.recompute_layers > 0))
		s->plan.pp = 1;
	trial_begin(trial);
	trial_cost(trial, part);
	train_bound(s, part, out);
	out->two_copies = set->two_copies;
	s->plan.pp = pp;
}

double train_relaxed_seconds(const struct train_set *set,
			     const struct train_bound *bound, struct scenario *s)
{
	double share = s->plan.optimizer_offload, ends;
	struct bound_shape shape;

	if (set->shares > 0)
		s->plan.optimizer_offload = least(set->share, set->shares);
	ends = train_bound_ends(bound, s);
	if (set->shares > 0) {
		s->plan.optimizer_offload = most(set->share, set->shares);
		ends = fmin(ends, train_bound_ends(bound, s));
	}
	s->plan.optimizer_offload = share;
	train_bound_shape(s, &shape);
	return train_bound_scaled(s, train_bound_pipeline(bound, &shape) + ends);
}

/* With so many bytes of activations; NULL: whatever they are. */
static double held(const struct train_bound *bound, const struct scenario *s,
		   const struct bound_bytes *activations)
{
	struct bound_bytes bytes;

	train_bound_states(bound, s, &bytes);
	return activations && isfinite(bytes.mean)
		       ? train_bound_bytes(bound, &bytes, activations)
		       : bytes.mean + bound->framework_bytes;
}

/* With the most of the states on the hosts, or where these can't hold so much, with any
 * other share of them. */
static double least_held(const struct train_set *set, const struct train_bound *bound,
			 struct scenario *s, const struct bound_bytes *activations)
{
	double bytes, fewest = INFINITY;

	if (set->shares > 0)
		s->plan.optimizer_offload = most(set->share, set->shares);
	bytes = held(bound, s, activations);
	if (isfinite(bytes))
		return bytes;
	for (int i = 0; i < set->shares; i++) {
		s->plan.optimizer_offload = set->share[i];
		fewest = fmin(fewest, held(bound, s, activations));
	}
	return fewest;
}

double train_relaxed_bytes(const struct train_set *set, const struct train_bound *bound,
			   struct scenario *s)
{
	double share = s->plan.optimizer_offload, fewest = INFINITY;
	bool known = !set->free_shape && !set->free_mode;
	struct bound_bytes activations;
	struct bound_shape shape;
	int64_t zero = s->plan.zero;

	if (known) {
		train_bound_shape(s, &shape);
		train_bound_activations(bound, s, &shape, &activations);
	}
	for (int i = 0; i < (set->zeros > 0 ? set->zeros : 1); i++) {
		if (set->zeros > 0)
			s->plan.zero = (int64_t)set->zero[i];
		fewest = fmin(fewest,
			      least_held(set, bound, s, known ? &activations : NULL));
	}
	s->plan.zero = zero;
	s->plan.optimizer_offload = share;
	return fewest;
}

void train_states_begin(struct train_states *states)
{
	*states = (struct train_states){
		INFINITY, { .mean = INFINITY, .first = INFINITY, .layer = INFINITY }
	};
}

void train_states_add(const struct train_bound *bound, struct scenario *s,
		      struct train_states *states, struct train_states *own)
{
	int schedule = s->plan.schedule;
	struct train_states these;

	s->plan.schedule = SCHEDULE_1F1B;
	these.ends = train_bound_ends(bound, s);
	train_bound_states(bound, s, &these.bytes);
	s->plan.schedule = schedule;
	states->ends = fmin(states->ends, these.ends);
	states->bytes.mean = fmin(states->bytes.mean, these.bytes.mean);
	states->bytes.first = fmin(states->bytes.first, these.bytes.first);
	states->bytes.layer = fmin(states->bytes.layer, these.bytes.layer);
	if (own)
		*own = these;
}

double train_dealt_seconds(struct trial *trial, const struct train_states *states)
{
	return train_bound_scaled(&trial->scenario,
				  trial_pipeline_floor(trial) + states->ends);
}
