/* row.h - what the files of explain share: one row for each number. */
#ifndef ENGINE_EXPLAIN_ROW_H
#define ENGINE_EXPLAIN_ROW_H

#include "engine/explain/explain.h"
#include "engine/schedule/law.h"

/* What a row's terms are taken from. */
struct asked {
	const struct scenario *scenario;
	const struct estimate *estimate;
	enum dimension dimension; /* of "tp.bytes" */
	int stage;                /* of "stages.3.total_bytes" */
};

struct explain_row {
	const char *key;
	const char *title, *formula;
	const char *assumption, *source;
	void (*fill)(const struct asked *asked, struct explanation *out);
};

/* Each ends with a row whose key is NULL. */
extern const struct explain_row explain_totals[];
extern const struct explain_row explain_memory[];     /* of a stage, and in all */
extern const struct explain_row explain_times[];      /* of a stage */
extern const struct explain_row explain_dimensions[]; /* behind the dot */
/* In mode inference, before the others: of a stage and in all; behind the dot. */
extern const struct explain_row explain_serving[], explain_serving_memory[];
extern const struct explain_row explain_serving_dimensions[];

/* One more term of the formula. No row comes near the room for them
 * (test_explain_rows.c). */
void explain_term(struct explanation *out, const char *symbol, const char *meaning,
		  enum form form, double value);
/* The same with the key of the number behind it. */
void explain_link(struct explanation *out, const char *symbol, const char *meaning,
		  enum form form, double value, const char *key);
/* What chains of keys end at: a knob or a constant of the presets. False if there is
 * none of that key. */
bool explain_leaf(const struct scenario *scenario, const char *key,
		  struct explanation *out);

/* What the papers say of the plan's schedule, and of which case: equal stages whose
 * forward, input and weight gradient take one third each. */
const struct schedule_law *explain_law(const struct asked *asked,
				       struct law_case *of_case);
/* Terms of a server that many numbers have. */
void explain_prompt(const struct asked *asked, struct explanation *out);
void explain_output(const struct asked *asked, struct explanation *out);
void explain_running(const struct asked *asked, struct explanation *out);
void explain_degrees(const struct asked *asked, struct explanation *out);

/* Ranks that share one set of dense (or expert) states. */
double explain_shards(const struct asked *asked, bool experts);

#endif
