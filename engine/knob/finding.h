/* finding.h - problems and advice as data: a rule, its terms, the nearest
 * legal values. finding_text() is the only place that makes prose of them.
 *
 * A rule's template holds placeholders "{n}" or "{n:form}": the n-th value,
 * printed as count (default), real, percent, bytes, seconds, tokens or word;
 * "{n:+percent}" gives a gain its sign.
 */
#ifndef ENGINE_KNOB_FINDING_H
#define ENGINE_KNOB_FINDING_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/form.h"
#include "engine/base/limits.h"

enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_HINT, SEVERITY_COUNT };

enum { MAX_NEAREST = 4 };

struct rule {
	const char *code; /* "E7", "M12", "T5" */
	enum severity severity;
	const char *text;   /* one line with placeholders */
	const char *source; /* file and line, paper, or "heuristic" */
};

struct finding {
	const struct rule *rule;
	double value[MAX_TERMS];
	const char *knob;  /* key of the knob that would mend it, or NULL */
	const char *first; /* a knob that is set before it, or NULL */
	double first_value;
	double nearest[MAX_NEAREST];
	int nearest_count;
};

struct findings {
	int count;
	struct finding item[MAX_FINDINGS];
};

/* Where the rule comes from, in full: the tables say M for Megatron-LM, B for
 * Megatron-Bridge. */
size_t rule_source(const struct rule *rule, char *out, size_t size);
/* "error", "warning", "hint". */
const char *severity_label(enum severity severity);

/* Write the finding as one line of at most size - 1 bytes; returns its length. */
size_t finding_text(const struct finding *finding, char *out, size_t size);
/* The remedy "gbs 256 or 272", empty if there is none. */
size_t finding_remedy(const struct finding *finding, char *out, size_t size);
/* The same with the knob's label, as a screen names it: "TP tensor 8 or 4". */
size_t finding_offer(const struct finding *finding, char *out, size_t size);

#endif
