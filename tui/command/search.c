/* search.c - the best plan on the command line, and what is asked beside it. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "engine/trust/trust.h"
#include "presets/certificate.h"
#include "tui/clock.h"
#include "tui/command.h"
#include "tui/command/search_asked.h"
#include "tui/command/search_print.h"
#include "tui/worker.h"

static const double slice_seconds = 0.02;

/* Ctrl-C ends the search, not the program: what was found until then is printed. A
 * second one ends the program. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* A machine of several sizes begins with the largest: its degrees are the others'. */
static double most(const struct planner_axis *axis)
{
	double value = axis->value[0];

	for (int i = 1; i < axis->count; i++)
		value = axis->value[i] > value ? axis->value[i] : value;
	return value;
}

/* Single values are part of what the usual axes are made for: once to set them, and
 * once to pin. */
static bool pin_all(struct planner_problem *problem, const struct asked *asked,
		    struct error *error)
{
	char why[256];

	for (int i = 0; i < asked->pins; i++)
		if (!planner_pin_text(problem, asked->pin[i].knob, asked->pin[i].text,
				      why, sizeof why))
			return error_set(error, NULL, 0, "--%s: %s",
					 asked->pin[i].knob->key, why);
	return true;
}

/* What the search does not choose, of a model without a plan. */
static bool choose(struct planner_problem *problem, struct asked *asked,
		   struct error *error)
{
	struct scenario *base = &problem->base;

	if (!asked->start.wanted)
		return true;
	if (asked->start.stack &&
	    (!command_serve(base, error) || !pin_all(problem, asked, error)))
		return false;
	for (int i = 0; i < problem->axes; i++)
		if (strcmp(problem->axis[i].knob->key, "gpus") == 0)
			base->cluster.gpus = (int64_t)most(&problem->axis[i]);
	for (int i = 0; i < asked->pins; i++)
		start_give(&asked->start, asked->pin[i].knob);
	start_choose(&asked->start, base);
	return true;
}

static bool pin(struct planner_problem *problem, struct asked *asked,
		struct error *error)
{
	if (!pin_all(problem, asked, error))
		return false;
	if (!choose(problem, asked, error))
		return false;
	if (asked->trust == 0 && !asked->research)
		problem->trust = planner_usual_trust(&problem->base);
	problem->falls_back = asked->trust == 0 && problem->trust > 0;
	planner_axes(problem);
	if (!pin_all(problem, asked, error))
		return false;
	for (int i = 0; i < problem->axes; i++) {
		const struct planner_axis *axis = &problem->axis[i];

		/* one that only a less known plan has is the search's to leave out */
		if (axis->count > 1 ||
		    axis->value[0] != knob_get(&problem->base, axis->knob))
			start_forget(&asked->start, axis->knob);
	}
	return true;
}

/* Everything that is asked and found. */
struct search {
	struct asked *asked;
	struct planner_problem problem, next;
	struct planner_result result, answer;
	struct planner_problem open; /* to any plan, however little is known of it */
	struct planner_result opened;
	double seconds; /* of the search itself */
	struct progress progress;
	struct inverse fewest, inverse[INVERSE_COUNT];
	struct pareto front;
	struct robust robust;
	struct misses misses;
	struct alike alike;
	struct why why;
	struct scenario scenario; /* as it was given */
	struct search_extra extra;
	struct error error; /* why there is no answer */
};

/* The proof of what this worker found; of the search itself, not of the questions
 * beside it. */
static bool certify(const struct search *search, const struct worker *worker,
		    const struct planner_problem *problem, struct error *error)
{
	if (!search->asked->certificate || problem != &search->problem)
		return true;
	return certificate_save(search->asked->certificate, problem,
				worker_planner(worker), worker_result(worker), error);
}

static void show_progress(struct search *search, const struct planner_result *result,
			  const char *doing)
{
	char best[32] = "nothing";
	/* a question asks nobody knows how many searches: they have no share */
	bool first = doing == NULL;

	if (!progress_is_due(&search->progress))
		return;
	if (result->found > 0)
		form_text(FORM_SECONDS, result->top[0].step_seconds, best, sizeof best);
	progress_show(&search->progress, first ? result->progress : -1, "%s, best %s",
		      first ? "searching" : doing, best);
}

static struct worker *start(const struct search *search,
			    const struct planner_problem *problem)
{
	return interrupted ? NULL : worker_start(problem, search->asked->threads);
}

/* A search to its end, with progress for a person who waits; doing is the question that
 * it belongs to, NULL for the search itself. False where it was interrupted, with what
 * is known by then in out, and without a worker. */
static bool finish(struct search *search, struct worker *worker, const char *doing,
		   struct planner_result *out)
{
	if (!worker)
		return false;
	while (!interrupted && worker_step(worker, slice_seconds))
		show_progress(search, worker_result(worker), doing);
	*out = *worker_result(worker);
	return out->done;
}

static bool solve(struct search *search, const struct planner_problem *problem,
		  const char *doing, struct planner_result *out)
{
	struct worker *worker = start(search, problem);
	bool good = finish(search, worker, doing, out) &&
		    certify(search, worker, problem, &search->error);

	worker_free(worker);
	return good;
}

static bool ask(struct search *search, struct inverse *inverse)
{
	char doing[48];

	while (inverse_next(inverse, &search->next)) {
		snprintf(doing, sizeof doing, "%s %g", inverse_word(inverse->kind),
			 inverse->value[inverse->at]);
		if (!solve(search, &search->next, doing, &search->answer))
			return false;
		if (!inverse_take(inverse, &search->next, &search->answer))
			return false;
	}
	search->extra.question[search->extra.questions++] = inverse;
	return true;
}

static bool ask_all(struct search *search)
{
	bool fewest = search->extra.questions > 0;

	for (int i = 0; i < INVERSE_COUNT; i++) {
		struct inverse *inverse = &search->inverse[i];

		if (!search->asked->ask[i] || (i == INVERSE_GPUS && fewest))
			continue;
		inverse_begin(inverse, (enum inverse_kind)i, &search->problem,
			      search->asked->deadline_seconds);
		if (!ask(search, inverse))
			return false;
	}
	return true;
}

static bool ask_front(struct search *search)
{
	if (search->asked->front == PARETO_COUNT)
		return true;
	struct worker *worker = NULL;

	pareto_begin(&search->front, search->asked->front, &search->problem);
	while (pareto_next(&search->front, &search->next)) {
		if (worker && pareto_lessens(&search->front)) {
			worker_lessen(worker, search->next.reserve);
		} else {
			worker_free(worker);
			worker = start(search, &search->next);
		}
		if (!finish(search, worker, "front", &search->answer))
			break;
		pareto_take(&search->front, &search->next, &search->answer);
	}
	worker_free(worker);
	if (search->front.done)
		search->extra.front = &search->front;
	return search->front.done;
}

static bool ask_robust(struct search *search)
{
	if (!search->asked->robust)
		return true;
	if (!robust_begin(&search->robust, &search->problem, &search->result))
		return false;
	while (robust_next(&search->robust, &search->next)) {
		if (!solve(search, &search->next, "10 % worse", &search->answer))
			return false;
		robust_take(&search->robust, &search->answer);
	}
	search->extra.robust = &search->robust;
	return true;
}

static bool ask_misses(struct search *search)
{
	if (search->result.found > 0)
		return true;
	misses_begin(&search->misses, &search->problem);
	while (misses_next(&search->misses, &search->next)) {
		if (!solve(search, &search->next, "what would fit", &search->answer))
			return false;
		misses_take(&search->misses, &search->next, &search->answer);
	}
	search->extra.misses = &search->misses;
	return true;
}

static bool ask_why(struct search *search)
{
	struct estimate *now, *scratch;
	struct scenario best;

	if (!search->asked->why || search->result.found == 0)
		return true;
	now = malloc(sizeof *now);
	scratch = malloc(sizeof *scratch);
	if (now && scratch) {
		scenario_estimate(&search->scenario, now);
		why_begin(&search->why, &search->problem, &search->scenario, now);
		while (why_step(&search->why, scratch)) {
		}
		planner_scenario(&search->problem, &search->result.top[0], &best);
		why_pair(&search->why, &best, scratch);
		search->extra.why = &search->why;
	}
	free(now);
	free(scratch);
	return search->extra.why != NULL;
}

/* Fewest GPUs, unless the planner has a list of them and no deadline: then it ranks
 * that list. From then on the machine has so many, and the shortest step is sought. */
static bool ask_fewest(struct search *search)
{
	struct planner_problem *problem = &search->problem;
	const struct knob *gpus = knob_find("gpus");
	const struct planner_axis *axis = planner_pinned(problem, gpus);
	double deadline = search->asked->deadline_seconds, found;
	struct scenario base = problem->base;

	if (problem->objective != OBJECTIVE_GPUS ||
	    (axis && axis->count > 1 && !(deadline > 0)))
		return true;
	inverse_begin(&search->fewest, INVERSE_GPUS, problem, deadline);
	if (!ask(search, &search->fewest))
		return false;
	if (!search->fewest.found)
		return true;
	found = search->fewest.answer;
	knob_set(&base, gpus, found);
	search->next = *problem;
	planner_again(&search->next, &base, problem);
	planner_pin(problem, gpus, &found, 1);
	problem->objective = OBJECTIVE_STEP;
	return true;
}

/* Plans that are alike are one row, so ideas are sought. Where nothing that is known
 * fits, and nobody asked for more, the others are shown as what they are. */
static bool search_best(struct search *search)
{
	double begun = clock_seconds();
	bool good;

	search->problem.top = search->asked->robust && search->asked->top < MAX_ROBUST
				      ? MAX_ROBUST
				      : search->asked->top;
	search->problem.each = planner_each(search->problem.top);
	progress_again(&search->progress);
	good = solve(search, &search->problem, NULL, &search->result);
	if (good && search->result.found == 0 && !search->extra.stopped &&
	    search->asked->trust == 0 && search->problem.trust > 0) {
		search->next = search->problem;
		planner_again_at(&search->next, &search->next.base, 0,
				 &search->problem);
		search->extra.unknown = true;
		good = solve(search, &search->problem, NULL, &search->result);
	}
	search->seconds = clock_seconds() - begun;
	progress_again(&search->progress);
	planner_alike(&search->problem, &search->result, &search->alike);
	search->extra.alike = &search->alike;
	search->extra.top = search->asked->top;
	search->extra.rows = search->alike.rows < search->asked->top
				     ? search->alike.rows
				     : search->asked->top;
	return good;
}

/* What the best would be if less known plans were taken, where nobody said which are.
 */
static bool ask_open(struct search *search)
{
	const struct planner_problem *problem = &search->problem;
	struct planner_problem *open = &search->open;

	if (search->asked->trust > 0 || problem->trust == 0 ||
	    problem->objective > OBJECTIVE_THROUGHPUT || search->result.found == 0)
		return true;
	planner_again_at(problem, &problem->base, 0, open);
	open->top = 1;
	open->each = 0;
	open->exhaustive = false;
	if (!solve(search, open, "less known plans", &search->opened))
		return false;
	if (open_gain(&search->opened, &search->result.top[0]) > 0) {
		search->extra.less_known = open;
		search->extra.faster = &search->opened.top[0];
	}
	return true;
}

static bool run(struct search *search)
{
	return ask_fewest(search) && search_best(search) && ask_open(search) &&
	       ask_misses(search) && ask_all(search) && ask_front(search) &&
	       ask_robust(search) && ask_why(search);
}

/* Where nobody reads the keys, as behind a shell's &, an interrupt stays ignored. */
static void let_interrupt(void)
{
	struct sigaction action = { .sa_handler = on_interrupt,
				    .sa_flags = (int)SA_RESETHAND },
			 before;

	if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		sigaction(SIGINT, &action, NULL);
}

static bool is_impossible(const struct search *search)
{
	for (int i = 0; i < search->extra.questions; i++)
		if (!search->extra.question[i]->found)
			return true;
	return search->result.found == 0;
}

static int print(struct search *search)
{
	char *text = NULL;

	if (search->asked->json)
		text = report_search(&search->problem, &search->result, &search->extra,
				     search->seconds);
	else
		print_search(&search->problem, &search->result, &search->extra,
			     search->seconds);
	if (!search->asked->json)
		print_open(&search->open, &search->opened, &search->result.top[0]);
	if (search->asked->json && !text)
		return command_fail(&(struct error){ "out of memory" });
	fputs(text ? text : "", stdout);
	free(text);
	if (search->extra.stopped && command_finish(STATUS_GOOD) == STATUS_GOOD)
		return STATUS_INTERRUPTED;
	return command_finish(is_impossible(search) ? STATUS_NO : STATUS_GOOD);
}

static bool begin(struct search *search, struct error *error)
{
	struct planner_problem *problem = &search->problem;
	struct asked *asked = search->asked;
	const struct planner_axis *mode;

	if (asked->deadline_seconds > 0 && asked->has_objective &&
	    asked->objective != OBJECTIVE_GPUS)
		return error_set(error, NULL, 0,
				 "--deadline goes with --objective gpus");
	problem->objective =
		asked->deadline_seconds > 0 ? OBJECTIVE_GPUS : asked->objective;
	problem->reserve = asked->reserve;
	problem->top = asked->top;
	problem->exhaustive = asked->exhaustive;
	problem->research = asked->research;
	problem->trust = asked->trust;
	if (!pin(problem, asked, error))
		return false;
	search->extra.start = &asked->start;
	search->scenario = problem->base;
	mode = planner_pinned(problem, knob_find("mode"));
	if (mode && mode->count > 1)
		return error_set(error, NULL, 0,
				 "--mode: steps and tokens have no common order; "
				 "expected one mode");
	if (asked->certificate && problem->objective == OBJECTIVE_SURE)
		return error_set(error, NULL, 0,
				 "--certificate proves steps, not the ends of their "
				 "ranges; expected another objective than sure");
	if (asked->front == PARETO_USERS && problem->base.plan.mode != MODE_INFERENCE)
		return error_set(error, NULL, 0,
				 "--pareto users is for servers: expected memory or "
				 "gpus, or --mode inference");
	if (problem->objective == OBJECTIVE_COST &&
	    !(problem->base.cluster.price_per_gpu_hour > 0))
		return error_set(error, NULL, 0,
				 "--objective cost: %s has no price; expected --price",
				 problem->base.cluster.name);
	return true;
}

int command_search(int argc, char **argv)
{
	struct asked asked = { .top = 10, .reserve = 0.05, .front = PARETO_COUNT };
	struct arguments arguments = { .context = &asked,
				       .knob = search_take_knob,
				       .start = &asked.start,
				       .starts_later = true };
	struct search *search = calloc(1, sizeof *search);
	struct error error = { "out of memory" };
	int status = STATUS_USAGE;

	if (!search)
		return command_fail(&error);
	search->asked = &asked;
	search->error = error;
	if (options_read(command_find("search"), &arguments, argc, argv,
			 &search->problem.base, &status)) {
		bool good;

		progress_begin(&search->progress);
		let_interrupt();
		good = begin(search, &search->error) && (run(search) || interrupted);
		progress_end(&search->progress);
		search->extra.stopped = interrupted;
		status = good ? print(search) : command_fail(&search->error);
	}
	free(search);
	return status;
}
