/* call.c - where the seconds and bytes of a collective's calls come from. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/collective/seconds.h"
#include "engine/explain/row.h"

static const char several[] = "none: calls of several sizes, or a copy";

/* Whether the row's calls are all of this one, so many pieces of it each. */
static bool is_of(const struct asked *a, double piece, double call)
{
	return fabs(explain_traffic_row(a)->pieces * piece - call) <= 1e-9 * fabs(call);
}

/* What ran, by the estimate; false where calls of the row differ. */
static bool ran(const struct asked *a)
{
	const struct traffic *t = explain_traffic_row(a);
	struct account account;

	return explain_account(a, t->algorithm, &account) &&
	       is_of(a, account.waiting + account.moving, t->seconds);
}

/* Of the bytes of a call: so many pieces of what the algorithm states. */
static void call_bytes_terms(const struct asked *a, struct explanation *out,
			     const char *member, double piece, double call)
{
	char row[EXPLAIN_MAX_KEY];

	if (!ran(a) || !is_of(a, piece, call)) {
		explain_say(out, "%s", several);
		return;
	}
	explain_say(out, "pieces * x");
	explain_traffic_name(a, row);
	explain_from(a, out, "pieces", "calls of the library", "%s.pieces", row);
	explain_from(a, out, "x", "of one, by what runs", "%s.by.%s.%s", row,
		     algorithm_name(explain_traffic_row(a)->algorithm), member);
}

void explain_call_sent(const struct asked *a, struct explanation *out)
{
	struct account account = { 0 };

	explain_account(a, explain_traffic_row(a)->algorithm, &account);
	call_bytes_terms(a, out, "sent_bytes", account.work.sent_bytes,
			 explain_traffic_row(a)->sent_bytes);
}

void explain_call_network(const struct asked *a, struct explanation *out)
{
	const struct traffic *t = explain_traffic_row(a);
	struct account account = { 0 };

	explain_account(a, t->algorithm, &account);
	call_bytes_terms(a, out, "left_bytes", account.work.left_bytes,
			 t->count > 0 ? t->network_bytes / t->count : 0);
}

/* Whether a row of Traffic has the calls of this operator and no others. */
static bool has_call(const struct traffic *t, const struct graph_operator *op,
		     double seconds)
{
	return t->dimension == op->dimension && t->kind == op->collective &&
	       strcmp(t->what, op->name) == 0 &&
	       fabs(t->seconds - seconds) <= 1e-9 * seconds;
}

void explain_operator_call(const struct asked *a, struct explanation *out)
{
	const struct graph_operator *op = &explain_graph(a)->item[a->op];
	const struct estimate *e = a->estimate;
	int calls = op->forward_calls + op->backward_calls;
	double seconds = op->forward_seconds + op->input_grad_seconds;

	if (op->kind != OPERATOR_COLLECTIVE || calls == 0) {
		explain_say(out, "0");
		return;
	}
	for (int i = 0; i < e->traffic_count; i++)
		if (has_call(&e->traffic[i], op, seconds / calls)) {
			explain_say(out, "t");
			explain_from(a, out, "t", "a call, in Traffic",
				     "traffic.%d.seconds", i);
			return;
		}
	explain_say(out, "%s", several);
}

static void add_algorithm(const struct asked *a, struct explanation *out,
			  enum algorithm algorithm, bool beside)
{
	const char *name = algorithm_name(algorithm);
	char row[EXPLAIN_MAX_KEY], key[2 * EXPLAIN_MAX_KEY];

	snprintf(key, sizeof key, "%s.by.%s.seconds", explain_traffic_name(a, row),
		 name);
	if (beside)
		explain_beside(out, name,
			       algorithm == explain_traffic_row(a)->algorithm
				       ? "what runs"
			       : explain_offers(a, algorithm)
				       ? "one call by it"
				       : "one call, if the software had it",
			       FORM_SECONDS, explain_value(a, "%s", key), key);
	else
		explain_from(a, out, "t", "one call by what runs", "%s", key);
}

void explain_call_seconds(const struct asked *a, struct explanation *out)
{
	enum algorithm which = explain_traffic_row(a)->algorithm;
	struct account account;

	if (ran(a)) {
		char row[EXPLAIN_MAX_KEY];

		explain_say(out, "pieces * t");
		explain_from(a, out, "pieces", "calls of the library", "%s.pieces",
			     explain_traffic_name(a, row));
		add_algorithm(a, out, which, false);
	} else {
		explain_say(out, "%s", several);
	}
	for (int i = 1; i < ALGORITHM_COUNT; i++)
		if (explain_account(a, (enum algorithm)i, &account))
			add_algorithm(a, out, (enum algorithm)i, true);
}
