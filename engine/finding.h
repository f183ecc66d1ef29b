/* finding.h - problems and advice as data: a rule, its terms, the nearest
 * legal values. finding_text() is the only place that makes prose of them.
 *
 * A rule's template holds placeholders "{n}" or "{n:form}": the n-th value,
 * printed as count (default), real, percent, bytes, seconds, tokens or word;
 * "{n:+percent}" gives a gain its sign.
 */
#ifndef ENGINE_FINDING_H
#define ENGINE_FINDING_H

#include <stddef.h>
#include <stdint.h>

#include "engine/limits.h"

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
	const char *knob; /* key of the knob that would mend it, or NULL */
	double nearest[MAX_NEAREST];
	int nearest_count;
};

struct findings {
	int count;
	struct finding item[MAX_FINDINGS];
};

/* Every rule of legality and advice, one after the other; NULL beyond the last. Codes
 * of a legality rule may come more than once. */
const struct rule *rule_at(int index);
/* Where the rule comes from, in full: the tables say M for Megatron-LM, B for
 * Megatron-Bridge. */
size_t rule_source(const struct rule *rule, char *out, size_t size);
/* "error", "warning", "hint". */
const char *severity_label(enum severity severity);

/* Write the finding as one line of at most size - 1 bytes; returns its length. */
size_t finding_text(const struct finding *finding, char *out, size_t size);
/* The remedy "gbs 256 or 272", empty if there is none. */
size_t finding_remedy(const struct finding *finding, char *out, size_t size);

/* One number with the shortest fitting unit, the same on every screen. */
enum form {
	FORM_COUNT,
	FORM_REAL,
	FORM_PERCENT,
	FORM_BYTES,   /* GiB, MiB */
	FORM_TRAFFIC, /* GB, MB: decimal, as networks count */
	FORM_SECONDS,
	FORM_TOKENS, /* 15 T, 8 k */
	FORM_FLOPS,
	FORM_RATE, /* tok/s */
	FORM_DOLLARS,
	FORM_ENERGY, /* joules in, kWh or MWh out */
	FORM_DATE,   /* seconds in, days or hours out */
	FORM_WORD    /* the word of the finding's knob with that index */
};
size_t form_text(enum form form, double value, char *out, size_t size);
/* What the value itself counts, before form_text() shortens it: "bytes", "seconds", "1"
 * for a plain number or a share of 1. */
const char *form_unit(enum form form);

#endif
