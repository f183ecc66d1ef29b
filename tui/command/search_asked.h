/* search_asked.h - what `search` is told on the command line; only its files include
 * it. */
#ifndef TUI_COMMAND_SEARCH_ASKED_H
#define TUI_COMMAND_SEARCH_ASKED_H

#include "engine/planner/inverse.h"
#include "engine/planner/pareto.h"
#include "tui/command.h"

enum { MAX_PINS = 32 };

struct asked {
	struct {
		const struct knob *knob;
		const char *text;
	} pin[MAX_PINS];
	int pins, top, threads;
	enum objective objective;
	bool has_objective;
	double reserve, deadline_seconds;
	bool ask[INVERSE_COUNT];
	int trust;              /* 1 + enum trust; 0 = not said */
	enum pareto_kind front; /* PARETO_COUNT: not asked */
	bool robust, why, json, exhaustive, research;
	const char *certificate; /* file, or NULL */
	struct start start;
};

/* A knob of the scenario, or several values of it. */
bool search_take_knob(void *asked, const struct knob *knob, const char *text);

#endif
