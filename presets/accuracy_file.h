/* accuracy_file.h - presets/accuracy: what predictions were worth, as YAML. */
#ifndef PRESETS_ACCURACY_FILE_H
#define PRESETS_ACCURACY_FILE_H

#include "engine/machine/accuracy.h"
#include "presets/document.h"

/* Both, as they are compiled in; read once. NULL: out of memory. */
const struct accuracy *accuracy_shipped(void);
/* "dense", "experts" ...: the keys of the kinds. */
const char *accuracy_kind_word(enum run_kind kind);

#endif
