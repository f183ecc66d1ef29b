/* unit.h - one algorithm of a collective: how many bytes, in how many steps.
 *
 * A unit knows no seconds: seconds.h times all of them alike. What it states is written
 * once: WORK() makes of it the function that the estimate calls and the text that
 * Explain prints and computes (engine/base/formula.h).
 */
#ifndef ENGINE_COLLECTIVE_UNIT_H
#define ENGINE_COLLECTIVE_UNIT_H

#include <stddef.h>

#include "engine/base/formula.h"
#include "engine/base/plain.h"
#include "engine/collective/collective.h"
#include "engine/machine/transport.h"

enum { MAX_AXES = 3 };

/* One call, in the symbols of the formulas. */
struct call {
	enum collective_kind kind;
	enum exchange exchange;
	double n, r;       /* bytes as collective_cost() has them; those of an
			      all-to-all that leave the domain */
	double p, g, N;    /* ranks, of them in a domain, domains */
	double f;          /* 2: there and back (all-reduce), 1: its halves */
	double s;          /* 1 where the domain's switch adds up (NVLS) */
	bool network_adds; /* the network's switches do (SHARP) */
	int axes;          /* of the torus; 0 = a switch */
	double A, U, H, D; /* axes, at least 1; of them, those that the group lies
			      along, a line half; hops to the farthest; ranks along the
			      longest, of a line twice */
	double spare; /* lines of a member inside the domain over those that the call
			 can use, at least 1: of a mesh one to each of the group, of a
			 message one */
	double over;  /* calls that share a line above a leaf, at least 1 */
};

/* What a member does. near_bytes go at the rate of its links inside the domain,
 * far_bytes at that of its network port. */
struct unit_work {
	double near_steps, far_steps; /* that wait for each other */
	double near_bytes, far_bytes;
	double peers;      /* that it addresses at once */
	double peer_bytes; /* to the one that gets most, inside the domain */
	double own_bytes;  /* copied from the input to the result */
	double sent_bytes; /* 0 = near_bytes + far_bytes */
	/* That leave the domain, mean over the group where not all members sit at its
	 * border; 0 = far_bytes */
	double left_bytes;
};

struct stated_work {
	void (*value)(const struct call *call, struct unit_work *out);
	const char *text; /* ".near_steps = f * (p - N), .far_steps = ..." */
};

/* WORK(name, .near_steps = f * (p - N), ...) defines `name`, which a unit refers to.
 * The symbols are those of struct call; L and l are lg p rounded up and down, G and M
 * lg g and lg N rounded up. What is not stated is 0. */
#define WORK(name, ...)                                                           \
	static void name##_value(const struct call *call, struct unit_work *out)  \
	{                                                                         \
		const double n = call->n, r = call->r, p = call->p, g = call->g,  \
			     N = call->N, f = call->f, s = call->s, A = call->A,  \
			     U = call->U, H = call->H, D = call->D, L = lg_up(p), \
			     l = lg_down(p), G = lg_up(g), M = lg_up(N);          \
                                                                                  \
		(void)n, (void)r, (void)p, (void)g, (void)N, (void)f, (void)s;    \
		(void)A, (void)U, (void)H, (void)D, (void)L, (void)l, (void)G;    \
		(void)M;                                                          \
		*out = (struct unit_work){ __VA_ARGS__ };                         \
	}                                                                         \
	static const struct stated_work name = { name##_value, WORK_TEXT(__VA_ARGS__) }
#define WORK_TEXT(...) #__VA_ARGS__

/* What a member passes on that gives everybody all (or gets all added up): everything
 * but its own part, there and back. */
#define ALL_BUT_OWN (f * (p - 1) / p * n)

struct unit {
	const struct stated_work *work[COLLECTIVE_COUNT]; /* NULL: not of that kind */
	enum transport transport;
	enum exchange exchange; /* that it does, of an all-to-all */
	bool in_turn;  /* near bytes and far bytes one after the other, else at once */
	bool on_torus; /* knows what a torus's links carry */
	/* Whether it can run there; NULL = wherever it does the kind. */
	bool (*applies)(const struct call *call);
	/* Where the library takes it by a rule of its own, and not where it is the
	 * quickest: whether it does, of so many bytes and ranks. NULL = the quickest.
	 */
	bool (*taken)(double bytes, double ranks);
	const char *source;
};

#define DECLARE(NAME, id, word, has) extern const struct unit unit_##id;
COLLECTIVE_UNITS(DECLARE)
#undef DECLARE

extern const struct unit *const units[ALGORITHM_COUNT];
/* The unit of an algorithm; NULL for ALGORITHM_AUTO and ALGORITHM_COUNT. */
static inline const struct unit *unit_of(enum algorithm algorithm)
{
	return (unsigned)algorithm < ALGORITHM_COUNT ? units[algorithm] : NULL;
}
/* The symbols of a call of n bytes, r of which leave the domain. */
void call_find(const struct fabric *fabric, const struct group *group,
	       enum collective_kind kind, double n, double r, struct call *out);
/* Whether the unit can run there. */
static inline bool unit_applies(const struct unit *unit, const struct call *call)
{
	return unit->work[call->kind] && unit->exchange == call->exchange &&
	       (call->axes == 0 || unit->on_torus) &&
	       (!unit->applies || unit->applies(call));
}
/* What it does for such a call. Bytes inside the domain count as often as lines idle
 * beside each that carries them: their rate is that of all lines. Those across the
 * network count for each call that shares their line. */
static inline void unit_does(const struct unit *unit, const struct call *call,
			     struct unit_work *out)
{
	unit->work[call->kind]->value(call, out);
	if (!(out->sent_bytes > 0))
		out->sent_bytes = out->near_bytes + out->far_bytes;
	if (!(out->left_bytes > 0))
		out->left_bytes = out->far_bytes;
	out->near_bytes *= call->spare;
	out->far_bytes *= call->over;
}
/* The formula of one member of its work, "near_steps", in words of the language; "0"
 * where it is not stated. */
void unit_formula(const struct unit *unit, enum collective_kind kind,
		  const char *member, char out[FORMULA_MAX_TEXT]);

/* lg, rounded up and down, of at least 1. */
static inline double lg_down(double ranks)
{
	double steps = 0;

	for (double reach = 2; reach <= ranks; reach *= 2)
		steps++;
	return steps;
}

static inline double lg_up(double ranks)
{
	double steps = 0;

	for (double reach = 1; reach < ranks; reach *= 2)
		steps++;
	return steps;
}

#endif
