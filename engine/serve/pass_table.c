/* pass_table.c - see pass_table.h. */
#include "engine/serve/pass_table.h"

#include <math.h>

/* An axis: whole numbers up to `dense`, then one or two `steps` for each doubling. */
struct axis {
	int dense, steps, entries;
	double unit;
};

static const struct axis requests_axis = { 4, 2, REQUEST_ENTRIES, 1 };
static const struct axis context_axis = { 1, 1, CONTEXT_ENTRIES, 256 };
static const struct axis tokens_axis = { 1, 2, TOKEN_ENTRIES, 8 };

static const double root_of_two = 1.41421356237309505;

static double entry_value(const struct axis *a, int i)
{
	int beyond = i - a->dense;
	double half = beyond % a->steps ? root_of_two : 1;

	if (beyond <= 0)
		return a->unit * i;
	return a->unit * a->dense * half * (double)(1LL << beyond / a->steps);
}

/* Between which two entries a value lies. */
struct place {
	int at;
	double beyond; /* share of the way to the next */
};

static struct place find(const struct axis *a, double value)
{
	double v = value / a->unit, low, high;
	double within = fmin(v, entry_value(a, a->entries - 1) / a->unit);
	int i = (int)within, doublings;

	if (within > a->dense) {
		double mantissa = 2 * frexp(within / a->dense, &doublings);

		i = a->dense + a->steps * (doublings - 1) +
		    (a->steps > 1 && mantissa >= root_of_two);
	}
	if (i > a->entries - 2)
		i = a->entries - 2;
	low = entry_value(a, i);
	high = entry_value(a, i + 1);

	return (struct place){ i, (value - low) / (high - low) };
}

static struct timing between(struct timing a, struct timing b, double beyond)
{
	return (struct timing){ a.pass + (b.pass - a.pass) * beyond,
				a.stage + (b.stage - a.stage) * beyond };
}

static struct timing ask_of(const struct pass_table *t, const struct work *work,
			    struct timing *entry, const struct queue_pass *pass)
{
	if (entry->pass <= 0)
		*entry = work_pass_at(work, t->server, pass);
	return *entry;
}

static struct timing ask(const struct pass_table *t, struct timing *entry, double n,
			 double context, double tokens, double prompt_context)
{
	return ask_of(t, &t->work, entry,
		      &(struct queue_pass){ .requests = n,
					    .context = context,
					    .prompt_tokens = tokens,
					    .prompt_context = prompt_context });
}

static struct timing decode_at(struct pass_table *t, double n, double context)
{
	struct place r = find(&requests_axis, n), c = find(&context_axis, context);
	struct timing row[2];

	for (int i = 0; i < 2; i++) {
		double requests = entry_value(&requests_axis, r.at + i);
		struct timing *e = &t->decode[r.at + i][c.at];

		row[i] = between(
			ask(t, &e[0], requests, entry_value(&context_axis, c.at), 0, 0),
			ask(t, &e[1], requests, entry_value(&context_axis, c.at + 1), 0,
			    0),
			c.beyond);
	}
	return between(row[0], row[1], r.beyond);
}

/* Tokens of a pass with prompts: the first entry stands for one, as a pass without any
 * costs less than the next token adds. */
static double entry_tokens(int i)
{
	return fmax(1, entry_value(&tokens_axis, i));
}

/* Between which two entries so many tokens lie, those that most passes have among them.
 */
struct tokens_near {
	int at[2];
	double tokens[2];
	double beyond; /* share of the way to the second */
};

static struct tokens_near tokens_near(const double usual[USUAL_TOKENS], double tokens)
{
	int at = find(&tokens_axis, tokens).at;
	struct tokens_near n = { { at, at + 1 },
				 { entry_tokens(at), entry_tokens(at + 1) },
				 0 };

	for (int i = 0; i < USUAL_TOKENS; i++) {
		int end = usual[i] >= tokens;

		if (usual[i] <= n.tokens[0] || usual[i] >= n.tokens[1])
			continue;
		n.at[end] = TOKEN_ENTRIES + i;
		n.tokens[end] = usual[i];
	}
	n.beyond = (tokens - n.tokens[0]) / (n.tokens[1] - n.tokens[0]);
	return n;
}

static struct timing prompts_of(const struct pass_table *t, const struct work *work,
				struct timing table[TOKEN_ROWS][CONTEXT_ENTRIES],
				const struct queue_pass *p)
{
	struct tokens_near k = tokens_near(t->usual, p->prompt_tokens);
	struct place c = find(&context_axis, p->prompt_context);
	struct timing row[2];

	for (int i = 0; i < 2; i++) {
		struct timing *e = &table[k.at[i]][c.at];
		struct queue_pass near = {
			.prompt_tokens = k.tokens[i],
			.prompt_context = entry_value(&context_axis, c.at),
		};
		struct queue_pass far = near;

		far.prompt_context = entry_value(&context_axis, c.at + 1);
		row[i] = between(ask_of(t, work, &e[0], &near),
				 ask_of(t, work, &e[1], &far), c.beyond);
	}
	return between(row[0], row[1], k.beyond);
}

struct timing pass_table_prompts(struct pass_table *t, double tokens, double context)
{
	return prompts_of(t, &t->work, t->prompt,
			  &(struct queue_pass){ .prompt_tokens = tokens,
						.prompt_context = context });
}

/* The experts that copies of the attention share get the tokens of those that have
 * any. */
static struct timing prompts_abreast(struct pass_table *t, const struct queue_pass *p)
{
	double dp = t->server->context.shape.dp;
	struct timing all = pass_table_prompts(t, p->prompt_tokens, p->prompt_context);
	struct work alone = t->work;

	if (p->copies <= 0 || p->copies >= dp)
		return all;
	alone.copies = 1;
	return between(prompts_of(t, &alone, t->alone, p), all,
		       (p->copies - 1) / (dp - 1));
}

/* Tokens of the budget that so many requests take of each micro-batch they decode in.
 */
static double decoded(const struct pass_table *t, double n)
{
	return n * t->work.tokens_each / t->server->context.shape.pp;
}

/* What a pass carries beside those that decode fills the budget up: its matrices have
 * as many rows however many they are. One more than that is a step of a kernel. */
static double fills_up(const struct pass_table *t, double n, double tokens)
{
	return fmax(1, tokens - decoded(t, n));
}

static struct timing mixed_at(struct pass_table *t, double n, double tokens)
{
	struct place r = find(&requests_axis, n);
	double rows = tokens + decoded(t, n);
	struct timing row[2];

	for (int i = 0; i < 2; i++) {
		double requests = entry_value(&requests_axis, r.at + i);
		double usual[USUAL_TOKENS] = {
			fills_up(t, requests, t->usual[0]),
			t->usual[1],
		};
		struct tokens_near k = tokens_near(usual, fills_up(t, requests, rows));
		struct timing *e = t->mixed[r.at + i];

		row[i] = between(ask(t, &e[k.at[0]], requests, t->mean_context,
				     k.tokens[0], t->mean_prompt_context),
				 ask(t, &e[k.at[1]], requests, t->mean_context,
				     k.tokens[1], t->mean_prompt_context),
				 k.beyond);
	}
	return between(row[0], row[1], r.beyond);
}

/* Attention reads what each request has: it is added to the rest of a pass. */
static struct timing beside_prompts(struct pass_table *t, const struct queue_pass *p)
{
	struct timing all = mixed_at(t, p->requests, p->prompt_tokens);
	struct timing more = decode_at(t, p->requests, p->context);
	struct timing less = decode_at(t, p->requests, t->mean_context);
	struct timing deep = pass_table_prompts(t, p->prompt_tokens, p->prompt_context);
	struct timing shallow =
		pass_table_prompts(t, p->prompt_tokens, t->mean_prompt_context);

	all.pass += more.pass - less.pass + deep.pass - shallow.pass;
	all.stage += more.stage - less.stage + deep.stage - shallow.stage;
	return all;
}

/* Of a pipeline whose micro-batches carry prompts in a round: what one of them has, and
 * how many do. Requests come when those of a micro-batch end, or at any time, and the
 * next one takes them in: they are dealt out, but none is cut for that. */
static struct queue_pass micro_batch(const struct pass_table *t,
				     const struct queue_pass *p, double *carrying)
{
	double most = t->server->budget_tokens, lanes = t->server->context.shape.pp;
	struct queue_pass one = *p;

	if (!t->work.s->plan.serving.chunked_prefill)
		most = fmax(most, t->work.prompt);
	most = fills_up(t, p->requests, most);
	*carrying = fmax(p->prompt_tokens / most, fmin(lanes, fmax(1, p->prompts)));
	one.prompt_tokens = p->prompt_tokens / *carrying;
	return one;
}

/* What a prompt that is dealt out to more micro-batches than one still takes when the
 * round is over: each begins a stage behind the one before, and goes through all. */
static double behind_round(const struct pass_table *t, const struct queue_pass *p,
			   double carrying, struct timing with, double round)
{
	double chunks = carrying / fmax(1, p->prompts);

	if (t->server->context.shape.pp <= 1)
		return 0;
	return fmax(0, (fmax(1, chunks) - 1) * with.stage + with.pass - round);
}

/* Prompts run alone, before others decode; in a pipeline a round of those that do in
 * other micro-batches meanwhile. */
static struct queue_seconds prompts_alone(struct pass_table *t,
					  const struct queue_pass *p)
{
	double carrying, round, behind, lanes = t->server->context.shape.pp;
	struct timing all, alone;
	struct queue_pass one;

	if (lanes <= 1 || p->aside <= 0) {
		all = prompts_abreast(t, p);
		return (struct queue_seconds){ all.stage, all.pass - all.stage };
	}
	one = micro_batch(t, p, &carrying);
	all = prompts_abreast(t, &one);
	alone = decode_at(t, p->aside, p->context);
	round = work_round(t->server, all, carrying, alone);
	behind = behind_round(t, p, carrying, all, round);
	return (struct queue_seconds){ round, behind };
}

/* Beside decoding requests: who is in a pass with prompts waits for all of it, who is
 * in another micro-batch of a pipeline behind it, too. */
static struct queue_seconds round_seconds(struct pass_table *t,
					  const struct queue_pass *p)
{
	struct timing alone = decode_at(t, p->requests, p->context), with;
	double step = work_step(&t->work, t->server, p->requests, alone), carrying;
	struct queue_pass one;

	if (p->prompt_tokens <= 0)
		return (struct queue_seconds){ step, 0 };
	one = micro_batch(t, p, &carrying);
	with = beside_prompts(t, &one);
	step += work_round(t->server, with, carrying, alone) -
		work_round(t->server, alone, 0, alone);
	step = fmax(step, 1e-9);
	return (struct queue_seconds){ step, behind_round(t, p, carrying, with, step) };
}

struct queue_seconds pass_table_seconds(void *server, const struct queue_pass *p)
{
	struct pass_table *t = server;
	struct queue_seconds all;

	if (p->requests > 0)
		all = round_seconds(t, p);
	else
		all = prompts_alone(t, p);
	return (struct queue_seconds){ all.busy * t->scale, all.trail * t->scale };
}

/* Tokens of a mean prompt's passes, most of which fill the budget: what few others have
 * is priced between entries, and steps of a kernel or a collective are not seen there.
 */
static void set_usual(struct pass_table *t)
{
	double budget = t->server->budget_tokens, rest = fmod(t->work.prompt, budget);

	t->usual[0] = budget;
	t->usual[1] = rest > 0 ? rest : budget;
}

void pass_table_move(struct pass_table *t, const struct server *server)
{
	const struct scenario *s = server->context.scenario;

	work_of(s, &t->work);
	t->server = server;
	t->scale = s->cluster.scale;
	t->mean_context = server_mean_context(s);
	t->mean_prompt_context = t->work.cached + t->work.prompt / 2;
	set_usual(t);
}

void pass_table_open(struct pass_table *t, const struct server *server)
{
	pass_table_move(t, server);
	for (int i = 0; i < REQUEST_ENTRIES; i++) {
		for (int k = 0; k < CONTEXT_ENTRIES; k++)
			t->decode[i][k].pass = 0;
		for (int k = 0; k < TOKEN_ROWS; k++)
			t->mixed[i][k].pass = 0;
	}
	for (int i = 0; i < TOKEN_ROWS; i++)
		for (int k = 0; k < CONTEXT_ENTRIES; k++)
			t->prompt[i][k].pass = 0;
}
