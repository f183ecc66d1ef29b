/* glossary.h - what words, knobs and numbers mean, in plain sentences.
 *
 * One row says one thing: what it means, and why one would turn it or look at it. A
 * word in brackets, [bubble] or [idle time|bubble], links to the term of that name;
 * glossary_plain() takes the brackets away. What a row means is told by terms that do
 * not need the row themselves: the links of `means` make no circle.
 */
#ifndef ENGINE_GLOSSARY_H
#define ENGINE_GLOSSARY_H

#include <stdbool.h>
#include <stddef.h>

enum word_kind {
	WORD_TERM,
	WORD_COLLECTIVE,
	WORD_SCHEDULE,
	WORD_KNOB,   /* its key is one of knob_table */
	WORD_NUMBER, /* one of metric_table; ".bytes" is that of each dimension */
	WORD_KIND_COUNT
};

struct glossary_word {
	enum word_kind kind;
	const char *key;  /* "pipeline bubble"; of knobs and numbers their key */
	const char *also; /* other names of a term, parted by commas; NULL: none */
	const char *means, *why;
};

enum { GLOSSARY_MAX_LINKS = 24, GLOSSARY_MAX_TEXT = 400 };

/* All rows, terms first, each kind in the order of its file. */
int glossary_count(void);
const struct glossary_word *glossary_at(int index);
/* Whether it is a word of the field, not a knob or a number of this program. */
bool glossary_is_term(const struct glossary_word *word);

/* A term, collective or schedule, by its key or another name of it; cases, plurals, and
 * '-', '_' and blanks are equal. NULL: there is none. */
const struct glossary_word *glossary_term(const char *name);
/* Of a knob, a number ("tp.bytes", "stages.3.total_bytes") or a term, in this order;
 * NULL: no row tells of it. */
const struct glossary_word *glossary_find(const char *key);

/* Why all values of a knob may give the same; NULL: of this one they should not. */
const char *glossary_still(const char *key);

/* A text without the brackets of its links; returns its length. */
size_t glossary_plain(const char *text, char *out, size_t size);
/* The same, and where in it the links stand: bytes from `from` to before `to`. Returns
 * how many. */
struct glossary_mark {
	size_t from, to;
};
int glossary_marks(const char *text, char *out, size_t size,
		   struct glossary_mark marks[GLOSSARY_MAX_LINKS]);
/* The first link of a text that names no term, without its brackets; a bracket that is
 * not closed; NULL: there is none. */
const char *glossary_broken(const char *text, size_t *length);
/* Adds the terms that a text links to, behind `count` others, each once; returns how
 * many there are then. A name without a term is left out (tests/test_glossary.c holds
 * that there is none). */
int glossary_links(const char *text,
		   const struct glossary_word *links[GLOSSARY_MAX_LINKS], int count);
/* Those of a whole row. */
int word_links(const struct glossary_word *word,
	       const struct glossary_word *links[GLOSSARY_MAX_LINKS]);
const char *word_kind_label(enum word_kind kind);

/* The rows of each file, ended by a key of NULL. */
extern const struct glossary_word glossary_basics[], glossary_parallel[],
	glossary_speed[], glossary_models[], glossary_serving[], glossary_collectives[],
	glossary_schedules[], glossary_knobs[], glossary_server_knobs[],
	glossary_machine_knobs[], glossary_numbers[], glossary_server_numbers[];

#endif
