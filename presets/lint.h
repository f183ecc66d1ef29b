/* lint.h - everything that is wrong with a plan, as severe as the user's rules say. */
#ifndef PRESETS_LINT_H
#define PRESETS_LINT_H

#include <stdbool.h>

#include "engine/estimate/estimate.h"
#include "engine/rules/ability.h"
#include "engine/start/start.h"
#include "engine/whatif/whatif.h"
#include "presets/error.h"

enum lint_level { LINT_ERROR, LINT_WARNING, LINT_HINT, LINT_OFF, LINT_LEVEL_COUNT };

enum { MAX_LINT_RULES = 256 };

/* Codes whose level differs from what the rule itself says. The engine's legality does
 * not change; only what `check` makes of it. */
struct lint_rules {
	int count;
	struct {
		char code[8];
		enum lint_level level;
	} item[MAX_LINT_RULES];
};

/* A YAML mapping `rules` of codes and levels:
 *     format: 1
 *     rules: {E28: off, X18: error, OOM: warning}
 * An unknown code or level is an error. */
bool lint_rules_read(struct lint_rules *out, const char *path, struct error *error);
bool lint_rules_parse(struct lint_rules *out, const char *name, const char *text,
		      size_t length, struct error *error);
/* The user's own rules.yaml in the configuration folder, if it is there. */
bool lint_rules_own(struct lint_rules *out, struct error *error);
/* "error", "warning", "hint", "off". */
const char *lint_level_label(enum lint_level level);

struct lint_item {
	char code[8];
	enum lint_level level; /* never LINT_OFF */
	char text[320];
	char remedy[128]; /* "gbs 256 or 272", "recompute full", or empty */
	char source[MAX_NOTE + MAX_ABILITY_SOURCE + 16];
	const struct finding *finding; /* NULL: the stack's lack, or the memory */
	struct lack lack;              /* its row is NULL: the memory, with its mends */
	struct whatif_mend mend[MAX_WHATIF_MENDS];
	int mends;
	int costs; /* of the remedy's values, in their order */
	struct whatif_cost cost[MAX_NEAREST + (int)MAX_WHATIF_MENDS];
};

enum { MAX_LINT_ITEMS = 2 * MAX_FINDINGS + MAX_ABILITIES + 1 };

struct lint {
	int count, errors;
	struct whatif_gpus gpus;
	struct findings advice;
	struct lint_item item[MAX_LINT_ITEMS];
};

/* The estimate is that of the scenario; scratch is any other. What the start chose, a
 * remedy's figures choose anew. Advice is told only where the rules name its code. */
void lint_run(const struct scenario *scenario, const struct start *start,
	      const struct estimate *estimate, const struct lint_rules *rules,
	      struct estimate *scratch, struct lint *out);
/* The object of `eval --json` with the problems as found here, "ok", "assumed" (what
 * the start chose) and "smallest_gpus". To be freed; NULL: out of memory. */
char *lint_json(const struct scenario *scenario, const struct estimate *estimate,
		const struct start *start, const struct lint *lint);

#endif
