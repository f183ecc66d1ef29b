/* write.c - terms and formulas of an explanation. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/explain/row.h"

static void add_term(struct explanation *out, const char *symbol, const char *meaning,
		     enum form form, double value, const char *key)
{
	struct explanation_term *term;

	/* no row comes near the room for them (test_explain_rows.c) */
	if (out->terms == EXPLAIN_MAX_TERMS)
		return;
	term = &out->term[out->terms++];
	*term = (struct explanation_term){ .meaning = meaning,
					   .form = form,
					   .value = value };
	snprintf(term->symbol, sizeof term->symbol, "%s", symbol);
	if (key)
		snprintf(term->key, sizeof term->key, "%s", key);
}

/* In front of what begins with a point goes the place of the asked number. */
static void add_place(const struct asked *a, char key[EXPLAIN_MAX_KEY])
{
	char member[EXPLAIN_MAX_KEY];

	if (key[0] != '.')
		return;
	memcpy(member, key, sizeof member);
	if (a->place > 0)
		snprintf(key, EXPLAIN_MAX_KEY, "%.*s", a->place, a->key);
	else
		snprintf(key, EXPLAIN_MAX_KEY, "stages.%d", a->stage);
	strncat(key, member, EXPLAIN_MAX_KEY - 1 - strlen(key));
}

void explain_from(const struct asked *asked, struct explanation *out,
		  const char *symbol, const char *meaning, const char *key, ...)
{
	struct explain_number number = { .form = FORM_REAL, .value = NAN };
	char text[EXPLAIN_MAX_KEY];
	va_list list;

	va_start(list, key);
	vsnprintf(text, sizeof text, key, list);
	va_end(list);
	add_place(asked, text);
	explain_find(asked, text, &number);
	add_term(out, symbol, meaning, number.form, number.value, text);
}

double explain_value(const struct asked *asked, const char *key, ...)
{
	struct explain_number number = { .value = 0 };
	char text[EXPLAIN_MAX_KEY];
	va_list list;

	va_start(list, key);
	vsnprintf(text, sizeof text, key, list);
	va_end(list);
	add_place(asked, text);
	return explain_find(asked, text, &number) ? number.value : 0;
}

void explain_beside(struct explanation *out, const char *symbol, const char *meaning,
		    enum form form, double value, const char *key)
{
	struct explanation_term *term;

	if (out->besides == EXPLAIN_MAX_BESIDE)
		return;
	term = &out->beside[out->besides++];
	*term = (struct explanation_term){ .meaning = meaning,
					   .form = form,
					   .value = value };
	snprintf(term->symbol, sizeof term->symbol, "%s", symbol);
	if (key)
		snprintf(term->key, sizeof term->key, "%s", key);
}

void explain_say(struct explanation *out, const char *format, ...)
{
	size_t used = strlen(out->formula);
	va_list list;

	va_start(list, format);
	vsnprintf(out->formula + used, sizeof out->formula - used, format, list);
	va_end(list);
}

void explain_formula(struct explanation *out, const char *text)
{
	if (!formula_words(text, out->formula))
		out->formula[0] = '\0';
}

static bool has_symbol(const struct explanation *out, const char *symbol)
{
	for (int i = 0; i < out->terms; i++)
		if (strcmp(out->term[i].symbol, symbol) == 0)
			return true;
	return false;
}

void explain_symbol(const struct explanation *out, const char *name,
		    char symbol[EXPLAIN_MAX_SYMBOL])
{
	enum { ROOM = 20 };
	int length = 0;

	for (; *name != '\0' && length < ROOM; name++)
		if (isalnum((unsigned char)*name))
			symbol[length++] = *name;
		else if (length > 0 && symbol[length - 1] != '_')
			symbol[length++] = '_';
	while (length > 0 && symbol[length - 1] == '_')
		length--;
	symbol[length] = '\0';
	for (int again = 2; has_symbol(out, symbol); again++)
		snprintf(symbol + length, (size_t)(EXPLAIN_MAX_SYMBOL - length), "_%d",
			 again);
}

enum { SUMMANDS = 24, BLOCK = 16 };

/* What one of a list is called, by the list's key: "stages.3.…" is stage_3, an operator
 * has a name. */
static void name_summand(const struct asked *asked, const struct explanation *out,
			 const char *key, int from, int to,
			 char symbol[EXPLAIN_MAX_SYMBOL])
{
	bool stages = strncmp(key, "stages.", 7) == 0;

	if (from != to)
		snprintf(symbol, EXPLAIN_MAX_SYMBOL, "%s%d_%d",
			 stages ? "stages_" : "x", from, to);
	else if (strstr(key, ".operators."))
		explain_symbol(out,
			       asked->pass > 0 ? explain_pass_of(asked)
							 ->cost.operator[from]
							 .name
					       : explain_graph(asked)->item[from].name,
			       symbol);
	else
		snprintf(symbol, EXPLAIN_MAX_SYMBOL, "%s%d", stages ? "stage_" : "x",
			 from);
}

static void add_summand(const struct asked *asked, struct explanation *out,
			const char *meaning, const char *key, int from, int to)
{
	char symbol[EXPLAIN_MAX_SYMBOL];
	size_t used;

	name_summand(asked, out, key, from, to, symbol);
	used = strlen(out->formula);
	explain_say(out, "%s%s", used > 0 && out->formula[used - 1] != '(' ? " + " : "",
		    symbol);
	explain_from(asked, out, symbol, meaning, "%s", key);
}

void explain_sum(const struct asked *asked, struct explanation *out, const char *prefix,
		 int first, int last, const char *member, const char *meaning)
{
	char key[EXPLAIN_MAX_KEY];
	int count = 0, step = 1;

	for (int i = first; i <= last; i++)
		count += explain_value(asked, "%s.%d.%s", prefix, i, member) != 0;
	if (count == 0) {
		explain_say(out, "0");
		return;
	}
	while (count > SUMMANDS && (last - first) / step >= SUMMANDS)
		step *= BLOCK;
	for (int i = first; i <= last; i += step) {
		int end = i + step - 1 < last ? i + step - 1 : last;

		if (i == end)
			snprintf(key, sizeof key, "%s.%d.%s", prefix, i, member);
		else
			snprintf(key, sizeof key, "%s.%d-%d.%s", prefix, i, end,
				 member);
		if (explain_value(asked, "%s", key) != 0)
			add_summand(asked, out, meaning, key, i, end);
	}
}

void explain_scale(const struct asked *asked, struct explanation *out)
{
	explain_from(asked, out, "scale",
		     "of a measured run on this cluster (calibrate)", "scale");
}

double explain_scaled(const struct asked *asked, double seconds)
{
	double scale = asked->scenario->cluster.scale;

	return scale > 0 ? seconds * scale : seconds;
}

static void price_pass(struct explain_facts *f, enum explained_pass which,
		       const struct server *server, const struct batch *batch)
{
	struct explain_pass *pass = &f->pass[which];

	pass->exists = true;
	pass->halved = serve_halves(&server->context, batch);
	pass->server = server;
	pass->batch = *batch;
	serve_pass(&server->context, batch, true, &pass->cost);
}

/* Passes over one prompt. */
static void price_prompt(struct explain_facts *f)
{
	const struct server *server = run_prompts(&f->run);
	struct batch whole, rest;

	f->whole_passes = run_prompt_parts(&f->run, &whole, &rest);
	if (f->whole_passes > 0)
		price_pass(f, PASS_WHOLE, server, &whole);
	if (rest.prompt_tokens > 0)
		price_pass(f, PASS_REST, server, &rest);
}

/* The passes at the working point. */
static bool open_server(const struct scenario *s, struct explain_facts *f)
{
	struct batch b;
	struct point p;

	if (!run_open(s, &f->run))
		return false;
	run_room(&f->run);
	for (int i = 0; i < PASS_COUNT; i++)
		f->pass[i].exists = false;
	run_working(&f->run, s, run_in_flight(&f->run, s, run_asked(&f->run, s)), &p);
	run_decode_batch(&f->run, p.decoding, &b);
	price_pass(f, PASS_DECODE, &f->run.decode, &b);
	if (!f->run.apart && steady_mixed(&f->run.decode, &p, &b) > 0)
		price_pass(f, PASS_MIXED, &f->run.decode, &b);
	price_prompt(f);
	run_prompt_batch(&f->run, &b);
	serve_pass(&run_prompts(&f->run)->context, &b, true, &f->prompt);
	return true;
}

/* Once for all numbers of one explanation. */
static const struct explain_facts *facts_of(const struct asked *asked)
{
	struct explain_facts *f = asked->facts;

	if (!f->known) {
		f->known = true;
		f->part = -1;
		f->legal = asked->estimate->legal &&
			   (asked->scenario->plan.mode == MODE_TRAINING
				    ? train_step(asked->scenario, &f->whole, &f->again)
				    : open_server(asked->scenario, f));
	}
	return f;
}

const struct whole_step *explain_whole(const struct asked *asked)
{
	if (asked->scenario->plan.mode != MODE_TRAINING)
		return NULL;
	return facts_of(asked)->legal ? &asked->facts->whole : NULL;
}

const struct step *explain_step(const struct asked *asked)
{
	const struct whole_step *whole = explain_whole(asked);

	return whole ? &whole->step : NULL;
}

const struct graph *explain_graph(const struct asked *asked)
{
	struct explain_facts *f = asked->facts;

	if (!facts_of(asked)->legal)
		return NULL;
	if (f->part != asked->part) {
		f->part = asked->part;
		step_draw(&f->whole.step.context, f->part, &f->graph);
		layer_cost(&f->whole.step.context, &f->graph, false, &f->cost);
	}
	return &f->graph;
}

const struct explain_facts *explain_server(const struct asked *asked)
{
	return facts_of(asked);
}
