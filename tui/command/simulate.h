/* simulate.h - what `eval` simulates request by request, and how it is told. */
#ifndef TUI_COMMAND_SIMULATE_H
#define TUI_COMMAND_SIMULATE_H

#include "engine/serve/simulate.h"
#include "presets/error.h"
#include "presets/requests/requests.h"

struct cJSON;
struct knob;

/* What was asked for, and what came out. */
struct simulation_asked {
	bool wanted;
	const char *trace, *lengths; /* files, or NULL */
	int64_t requests;            /* 0 = not said */
	uint64_t seed;
	uint64_t given; /* knobs that say what the files say */
	struct request_log log;
	struct queue_result result;
	bool done;
};

/* Notes a knob that is given beside the files; always false: the scenario takes it. */
bool simulation_notes(struct simulation_asked *asked, const struct knob *knob);
/* Reads the file, if one is given: its means and rate become the scenario's. False with
 * the error. */
bool simulation_read(struct simulation_asked *asked, struct scenario *scenario,
		     struct error *error);
/* Runs it, with progress on a terminal. False with the error where memory runs out;
 * what can't run is left undone. */
bool simulation_run(struct simulation_asked *asked, const struct scenario *scenario,
		    struct error *error);
void simulation_print(const struct simulation_asked *asked,
		      const struct scenario *scenario);
void simulation_free(struct simulation_asked *asked);

#endif
