/* objective.c - see objective.h. */
#include "engine/predict/objective.h"

#include <math.h>
#include <string.h>

#include "engine/predict/predict.h"
#include "engine/serve/serve.h"
#include "engine/serve/tail.h"

static const char *const objectives[OBJECTIVE_COUNT] = {
	"step", "throughput", "cost", "memory", "gpus", "sure"
};

const char *objective_word(enum objective objective)
{
	return (unsigned)objective < OBJECTIVE_COUNT ? objectives[objective] : "";
}

enum objective objective_find(const char *word)
{
	int i = 0;

	while (i < OBJECTIVE_COUNT && strcmp(objectives[i], word) != 0)
		i++;
	return (enum objective)i;
}

bool objective_counts_bytes(enum objective objective)
{
	return objective == OBJECTIVE_MEMORY;
}

double objective_of_step(enum objective objective, const struct scenario *s,
			 double seconds, double bytes)
{
	double gpus = (double)s->cluster.gpus;
	double tokens = (double)s->plan.global_batch * (double)s->plan.seq_len;

	switch (objective) {
	case OBJECTIVE_THROUGHPUT: return seconds * gpus / tokens;
	case OBJECTIVE_COST:
		return s->plan.tokens / tokens * seconds * gpus / 3600 *
		       s->cluster.price_per_gpu_hour;
	case OBJECTIVE_MEMORY: return bytes;
	case OBJECTIVE_GPUS: return gpus * 1e6 + seconds;
	default: return seconds;
	}
}

bool objective_serves(const struct estimate *e, bool all)
{
	const struct serving_estimate *v = &e->serving;

	/* who comes at a rate waits for room, and is served */
	bool room = v->waiting <= 0 || v->room_seconds > 0;

	return e->fits && v->goodput > 0 &&
	       (!all || (room && isfinite(v->ttft_seconds) &&
			 v->goodput_concurrency >= v->concurrency * (1 - 1e-9)));
}

static const double far = 1e9;

/* The same of a server, linear in the GPU-seconds that it takes for a token. */
static double score_token(enum objective objective, const struct scenario *s,
			  double seconds)
{
	double gpus = (double)s->cluster.gpus;

	switch (objective) {
	case OBJECTIVE_THROUGHPUT: return seconds * gpus;
	case OBJECTIVE_COST:
		return seconds * gpus / 3600 * s->cluster.price_per_gpu_hour * 1e6;
	case OBJECTIVE_GPUS: return gpus * 1e6 + seconds;
	default: return seconds;
	}
}

/* Seconds of a token, for the order alone: of servers that no goal is kept by, and
 * behind them of those that are not up to the rate, by how much more they would have to
 * give.
 */
static double far_behind(double tpot)
{
	return far * (1 + tpot);
}

static double out_of_reach(const struct scenario *s, double tokens_per_second)
{
	return 1e3 * far * serve_asked_tokens(s) / tokens_per_second;
}

/* Good tokens are those within the goals; a server that has none comes behind all that
 * do, the shortest time per token first. */
static double of_server(enum objective objective, const struct scenario *s,
			const struct estimate *e)
{
	const struct serving_estimate *v = &e->serving;
	double each;

	if (v->goodput > 0)
		each = 1 / v->goodput;
	else if (isfinite(v->ttft_seconds))
		each = far_behind(v->tpot_seconds);
	else
		each = out_of_reach(s, v->output_tokens_per_second);
	if (objective == OBJECTIVE_MEMORY)
		return e->memory.total_bytes;
	if (objective == OBJECTIVE_SURE && v->output_low > 0)
		each *= v->output_tokens_per_second / v->output_low;
	each = score_token(objective, s, each);
	/* not all that is asked for */
	if (objective == OBJECTIVE_GPUS && !objective_serves(e, true))
		each += far * 1e6;
	return each;
}

double objective_of_estimate(enum objective objective, const struct scenario *s,
			     const struct estimate *e)
{
	if (s->plan.mode == MODE_INFERENCE)
		return of_server(objective, s, e);
	if (objective == OBJECTIVE_COST)
		return e->run.dollars;
	/* bounds are of the step, which is no longer than this */
	if (objective == OBJECTIVE_SURE)
		return e->step_high_seconds;
	return objective_of_step(objective, s, e->step_seconds, e->memory.total_bytes);
}

/* Tokens a second below which a server is above that score: scores are linear in the
 * seconds of a token, or of the fewest GPUs first. */
static double least_output(enum objective objective, const struct scenario *s,
			   double worst)
{
	if (objective == OBJECTIVE_MEMORY || objective == OBJECTIVE_GPUS)
		return 0;
	return score_token(objective, s, 1) / worst * (1 - 1e-6);
}

void objective_figures(enum objective objective, const struct scenario *s, double worst,
		       struct estimate *out)
{
	if (s->plan.mode == MODE_INFERENCE)
		serve_figures(s, least_output(objective, s, worst), out);
	else
		scenario_figures(s, out);
}

void objective_hold_goals(enum objective objective, const struct scenario *s,
			  double worst, struct estimate *e)
{
	struct serving_estimate *v = &e->serving;

	if (s->plan.mode != MODE_INFERENCE ||
	    s->plan.serving.goal_percentile != GOAL_P99 || !e->fits)
		return;
	/* needs no simulation, and holds whoever else is better */
	if (serve_tail_decides(s) && !serve_keeps_goals(s, v))
		v->goodput = v->goodput_concurrency = 0;
	if (of_server(objective, s, e) <= worst)
		serve_tail_goodput(s, least_output(objective, s, worst), &e->serving);
}

/* One more than all that is left to halving. */
static const double sure = 1 - 1e-6;

/* Whose request alone is too slow keeps no goal. Where all tokens of a rate are good or
 * none, no server gives more than it, and one that is not up to it gives none. */
static double least_of_token(const struct scenario *s, const struct serve_ceiling *c)
{
	double goal = s->plan.serving.goal_tpot_seconds;
	double asked = serve_asked_tokens(s), tpot = c->tpot_seconds;
	bool decides = serve_tail_decides(s);

	if (decides && c->tokens_per_second < asked * sure)
		return out_of_reach(s, c->tokens_per_second) * sure;
	if (decides)
		tpot = c->loaded_tpot_seconds;
	if (goal > 0 && tpot * sure > goal)
		return far_behind(tpot) * sure;
	/* no server gives more than is asked for */
	return fmax(sure / c->tokens_per_second, asked > 0 ? 1 / asked : 0);
}

void objective_of_ceiling(enum objective objective, const struct scenario *s,
			  struct objective_ceiling *out)
{
	struct serve_ceiling ceiling;

	*out = (struct objective_ceiling){ 0 };
	if (objective == OBJECTIVE_MEMORY || !serve_ceiling(s, &ceiling))
		return;
	out->score = score_token(objective, s, least_of_token(s, &ceiling));
	out->bytes = ceiling.bytes * sure;
	/* who falls behind a rate never sees a first token */
	out->request_seconds =
		sure *
		serve_request_seconds(
			s, 0, fmax(ceiling.tpot_seconds, ceiling.loaded_tpot_seconds));
}

double objective_of_least(enum objective objective, struct train_least *least,
			  enum train_role role, double enough, double *bytes)
{
	const struct scenario *s = &least->trial->scenario;
	struct objective_ceiling ceiling;
	double seconds, score;

	if (s->plan.mode == MODE_INFERENCE) {
		objective_of_ceiling(objective, s, &ceiling);
		*bytes = ceiling.bytes;
		return ceiling.score;
	}
	seconds = train_least_seconds(least, role);
	score = objective_of_step(objective, s, seconds, 0);
	*bytes = 0;
	if (score >= enough)
		return score;
	*bytes = train_least_bytes(least, role);
	return objective_of_step(objective, s, seconds, *bytes);
}

bool objective_try(enum objective objective, const struct scenario *s, double reserve,
		   double worst, struct estimate *e, double *score)
{
	scenario_figures(s, e);
	if (!e->legal)
		return false;
	objective_hold_goals(objective, s, worst, e);
	*score = objective_of_estimate(objective, s, e);
	/* a server's share of the memory may have no room, where all of it has */
	return e->host_fits && e->memory.total_bytes <= objective_room(s, reserve) &&
	       (e->fits || s->plan.mode != MODE_INFERENCE);
}

double objective_room(const struct scenario *s, double reserve)
{
	const struct accelerator *a = &s->cluster.accelerator;

	if (s->plan.mode == MODE_INFERENCE)
		reserve = 0;
	return (a->usable_bytes > 0 ? a->usable_bytes : a->memory_bytes) *
	       (1 - reserve);
}
