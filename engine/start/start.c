/* start.c - see start.h. */
#include "engine/start/start.h"

#include <stdio.h>
#include <string.h>

#include "engine/serve/serve.h"
#include "engine/start/parts.h"

void start_give(struct start *start, const struct knob *knob)
{
	if (start->givens < MAX_KNOBS)
		start->given[start->givens++] = knob;
}

void start_forget(struct start *start, const struct knob *knob)
{
	int kept = 0;

	for (int i = 0; i < start->chosen; i++)
		if (start->choice[i] != knob)
			start->choice[kept++] = start->choice[i];
	start->chosen = kept;
}

static bool has(const struct knob *const *list, int count, const struct knob *knob)
{
	for (int i = 0; i < count; i++)
		if (list[i] == knob)
			return true;
	return false;
}

bool start_is_given(const struct start *start, const char *key)
{
	return has(start->given, start->givens, knob_find(key));
}

void start_set(struct start *start, struct scenario *s, const char *key, double value)
{
	const struct knob *knob = knob_find(key);

	if (has(start->given, start->givens, knob) || !knob_set(s, knob, value))
		return;
	if (!has(start->choice, start->chosen, knob))
		start->choice[start->chosen++] = knob;
}

/* A round length within what the model has positions for: 2050 are 2048 of use. */
static int64_t within(const struct scenario *s, int64_t length)
{
	enum { ROUND = 128 };
	int64_t most = s->model.max_positions;

	if (most <= 0 || most >= length)
		return length;
	return most < ROUND ? most : most - most % ROUND;
}

static void choose_lengths(struct start *start, struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;
	int64_t whole = v->prompt_len + v->output_len, room = within(s, whole);

	if (s->plan.mode != MODE_INFERENCE) {
		start_set(start, s, "seq", (double)within(s, s->plan.seq_len));
		return;
	}
	if (room >= whole)
		return;
	/* as many answers a prompt as before */
	if (!start_is_given(start, "prompt"))
		start_set(start, s, "output", (double)(room * v->output_len / whole));
	if (v->output_len < room)
		start_set(start, s, "prompt", (double)(room - v->output_len));
}

/* A server reads the weights as they are published; else the first of the wide types
 * that the accelerator computes in. */
static void choose_precision(struct start *start, struct scenario *s)
{
	const double *peak = s->cluster.accelerator.peak_flops;

	if (s->plan.mode == MODE_INFERENCE && s->plan.precision == PRECISION_BF16 &&
	    s->model.precision != PRECISION_BF16) {
		start_set(start, s, "precision", s->model.precision);
		return;
	}
	if (s->plan.precision == PRECISION_BF16 && !(peak[PRECISION_BF16] > 0) &&
	    peak[PRECISION_FP16] > 0)
		start_set(start, s, "precision", PRECISION_FP16);
}

void start_choose(struct start *start, struct scenario *s)
{
	start->before = s->plan;
	choose_precision(start, s);
	/* a cluster that nobody sized has one; more are stated in its file */
	start_set(
		start, s, "gpus",
		(double)(s->cluster.gpus > 1 ? s->cluster.gpus : start_gpus(start, s)));
	choose_lengths(start, s);
	if (s->plan.mode == MODE_INFERENCE)
		start_server(start, s);
	else
		start_layout(start, s);
}

bool start_again(const struct start *start, const struct scenario *scenario,
		 const struct knob *knob, double value, struct scenario *out)
{
	struct start again = *start;

	*out = *scenario;
	/* the choices of a file's reader have no plan before them */
	if (start->wanted && start->chosen > 0)
		out->plan = start->before;
	if (!knob || !knob_set(out, knob, value))
		return false;
	again.chosen = 0;
	start_give(&again, knob);
	if (again.wanted)
		start_choose(&again, out);
	return true;
}

/* What is off, none, left to the stack, or a degree of 1 (but TP and PP) is nothing to
 * tell. */
static bool is_worth_telling(const struct scenario *s, const struct knob *knob)
{
	bool plain = strcmp(knob->key, "tp") == 0 || strcmp(knob->key, "pp") == 0;
	double value = knob_get(s, knob);

	if (!knob_applies(s, knob))
		return false;
	if (knob->type == KNOB_WORD || strcmp(knob->key, "zero") == 0)
		return true;
	return value != 0 && (value != 1 || plain || knob->type == KNOB_BOOL ||
			      knob->group != GROUP_PARALLELISM);
}

double start_acceptance(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;

	if (s->plan.mode != MODE_INFERENCE || v->speculative == SPECULATIVE_OFF ||
	    v->acceptance > 0)
		return 0;
	return server_acceptance(s);
}

bool start_believes_kernels(const struct scenario *s)
{
	const struct calibration *c = &s->cluster.accelerator.calibration;

	return s->plan.mode == MODE_INFERENCE ? c->serving.assumed : c->assumed;
}

bool start_believes_links(const struct scenario *s)
{
	const struct link *link = s->cluster.link;

	return link[LINK_DOMAIN].assumed || link[LINK_NETWORK].assumed;
}

/* What the numbers stand on and nobody said: kernels, links, and a server's drafts. */
static size_t add_believed(const struct start *start, const struct scenario *s,
			   size_t used, char *out, size_t size)
{
	bool told = has(start->choice, start->chosen, knob_find("acceptance"));

	if (start_acceptance(s) > 0 && !told && used < size)
		used += (size_t)snprintf(out + used, size - used, "%sacceptance %g",
					 used ? ", " : "", start_acceptance(s));
	if (start_believes_kernels(s) && used < size)
		used += (size_t)snprintf(out + used, size - used,
					 "%skernels as on measured accelerators",
					 used ? ", " : "");
	if (start_believes_links(s) && used < size)
		used += (size_t)snprintf(out + used, size - used,
					 "%slinks as on measured machines",
					 used ? ", " : "");
	return used;
}

size_t start_text(const struct start *start, const struct scenario *s, char *out,
		  size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	if (start->cluster)
		used = (size_t)snprintf(out, size, "%s", s->cluster.name);
	if (start->stack && used < size)
		used += (size_t)snprintf(out + used, size - used, "%s%s",
					 used ? ", " : "", s->stack.name);
	for (int i = 0; i < start->chosen && used < size; i++) {
		const struct knob *knob = start->choice[i];
		char text[96];

		if (!is_worth_telling(s, knob))
			continue;
		knob_show(s, knob, text, sizeof text);
		used += (size_t)snprintf(out + used, size - used, "%s%s %s",
					 used ? ", " : "", knob->key, text);
	}
	used = add_believed(start, s, used, out, size);
	return used < size ? used : size - 1;
}

size_t start_whole_text(const struct start *start, const struct scenario *s, char *out,
			size_t size)
{
	size_t used = start_text(start, s, out, size);
	const char *between = used > 0 ? ", " : "";

	if (start->others[0] == '\0')
		return used;
	used += (size_t)snprintf(out + used, size - used, "%s%s", between,
				 start->others);
	return used < size ? used : size - 1;
}
