/* report_list.h - what there is of a kind of preset, as JSON. */
#ifndef PRESETS_REPORT_LIST_H
#define PRESETS_REPORT_LIST_H

#include "presets/library.h"

/* The object of `list KIND --json`, with a newline, to be freed: names, titles, and for
 * models their Hugging Face id and the names that share their shape. */
char *report_presets(enum preset_kind kind);
/* The same of challenges; what can't be read has the reason for its title. NULL: out of
 * memory. */
char *report_challenges(void);
/* The same of the rules of legality and advice: code, text, severity and source. */
char *report_rules(void);

#endif
