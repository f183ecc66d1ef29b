/* flags.h - the table between Megatron-LM's flags and knobs, for both directions. */
#ifndef PRESETS_MEGATRON_FLAGS_H
#define PRESETS_MEGATRON_FLAGS_H

#include <stdbool.h>

enum flag_form {
	FLAG_VALUE, /* --flag N: the knob's own spelling */
	FLAG_WORD,  /* --flag word: translated by words */
	FLAG_LIST,  /* --flag a b c: a set */
	FLAG_ON,    /* --flag switches the knob on */
	FLAG_OFF    /* --no-... switches it off */
};

struct flag {
	const char *name; /* without the dashes */
	const char *knob;
	enum flag_form form;
	/* FLAG_WORD: "megatron=knob" pairs parted by blanks; the first pair of a knob
	 * word is the one written. A switch of a knob with words: "with without". */
	const char *words;
	/* The knob value that Megatron has without the flag; export leaves it out.
	 * NULL: always written. */
	const char *absent;
};

/* In the order of writing; ends with a row of name NULL. Knobs whose meaning needs
 * more than one flag (virtual stages, ZeRO, precision, optimizer) are in plan.c and
 * write.c. */
extern const struct flag megatron_flags[];
const struct flag *megatron_flag(const char *name);

#endif
