/* pass_table.h - seconds of the passes of a server, for a simulation that asks for very
 * many: priced where they are met, at entries some tens of percent apart, and
 * interpolated between those.
 */
#ifndef ENGINE_SERVE_PASS_TABLE_H
#define ENGINE_SERVE_PASS_TABLE_H

#include "engine/serve/work.h"

enum { REQUEST_ENTRIES = 40, CONTEXT_ENTRIES = 20, TOKEN_ENTRIES = 44 };
/* Behind them, lengths that most passes have. */
enum { USUAL_TOKENS = 2, TOKEN_ROWS = TOKEN_ENTRIES + USUAL_TOKENS };

struct pass_table {
	struct work work;
	const struct server *server;
	double scale, mean_context, mean_prompt_context;
	double usual[USUAL_TOKENS]; /* tokens of prompts */
	/* seconds; pass 0 = not asked for yet */
	struct timing decode[REQUEST_ENTRIES][CONTEXT_ENTRIES];
	struct timing prompt[TOKEN_ROWS][CONTEXT_ENTRIES];
	/* who decodes never waits for idle copies, a pool of prompts decodes nothing */
	union {
		struct timing mixed[REQUEST_ENTRIES][TOKEN_ROWS];
		struct timing alone[TOKEN_ROWS][CONTEXT_ENTRIES];
	};
};

/* Of the two pools, for who simulates one scenario often, with other loads: passes that
 * were met stay priced. */
struct pass_tables {
	bool open;
	struct pass_table of[2];
};

/* Nothing is priced yet. */
void pass_table_open(struct pass_table *table, const struct server *server);
/* It is of an equal server from now on, whose passes it has. */
void pass_table_move(struct pass_table *table, const struct server *server);
/* A queue_cost: of a pass table. */
struct queue_seconds pass_table_seconds(void *table, const struct queue_pass *pass);
/* A pass over so many tokens of prompts alone, which attend over that many each. */
struct timing pass_table_prompts(struct pass_table *table, double tokens,
				 double context);

#endif
