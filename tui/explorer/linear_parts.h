/* linear_parts.h - what the files of the conversation share; see linear.h.
 *
 * linear.c takes lines and turns knobs, linear_words.c has the words that one can type,
 * linear_mean.c finds what a text may mean, linear_say.c says what comes of it.
 */
#ifndef TUI_EXPLORER_LINEAR_PARTS_H
#define TUI_EXPLORER_LINEAR_PARTS_H

#include "tui/explorer/find.h"
#include "tui/explorer/linear.h"

struct knob;
struct metric;

/* --- what is said (linear_say.c) --- */

void linear_say(struct linear *linear, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* What the explorer would have written over its last line. */
void linear_say_message(struct linear *linear);
/* "863 tok/s per GPU, down 4.5 %. Fits, 48 GiB."; of a plan that can't run why. */
void linear_say_result(struct linear *linear);
void linear_say_problems(struct linear *linear);
/* The number with its change, between two texts. */
void linear_say_number(struct linear *linear, const struct metric *metric,
		       const char *before, const char *after);
/* A knob's name and what it is for, its value, and what each other one would give. */
void linear_say_knob(struct linear *linear, const struct knob *knob);
/* How many micro-batches there are, and of which global batch. */
void linear_say_micro_batches(struct linear *linear);
/* A number's formula, terms and source. */
void linear_say_explanation(struct linear *linear, const char *key);
void linear_say_word(struct linear *linear, const struct glossary_word *word);

/* --- what is meant (linear_mean.c) --- */

/* The likeliest that goes by this name; false: nothing does. */
bool linear_means(struct linear *linear, const char *text, struct found *out);
/* The knob that goes by this name, or NULL. */
const struct knob *linear_knob(struct linear *linear, const char *text);
/* Where a word stands for more than one knob, says which, each with this value. */
bool linear_asks(struct linear *linear, const char *text, const char *value);
/* Tells what a word, knob or number means; of a number with `deeply` its formula too.
 */
void linear_tell(struct linear *linear, const char *text, bool deeply);
/* A line that is nothing, and what it may have meant. */
void linear_wonder(struct linear *linear, const char *line);

/* --- what one can type (linear_words.c) --- */

/* A word that stands first in a line, and what it does with the rest. */
struct linear_word {
	const char *word, *key, *help;
	void (*run)(struct linear *linear, const char *rest);
};

/* Of these, or NULL. The one without a function ends it all. */
const struct linear_word *linear_word(const char *text);
const struct linear_word *linear_word_at(int index);
int linear_word_count(void);
/* All numbers, or those of a group: memory, time, throughput, communication, run. */
void linear_numbers(struct linear *linear, const char *group);

/* --- what is pressed (linear.c) --- */

/* One key, or a text into the field that is open; what was in it goes. */
unsigned linear_act(struct linear *linear, enum action_kind kind);
void linear_type(struct linear *linear, const char *text);
/* "tp 4", "tp=4", "global batch 128", "tp up"; false: the line names no knob. */
bool linear_turn(struct linear *linear, const char *line);
/* "model deepseek-v3": opens what stands above the knobs. False: no row of that name.
 */
bool linear_open(struct linear *linear, const char *row, const char *name);

#endif
