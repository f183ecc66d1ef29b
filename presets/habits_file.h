/* habits_file.h - presets/habits: what kernels and hosts cost alike everywhere. */
#ifndef PRESETS_HABITS_FILE_H
#define PRESETS_HABITS_FILE_H

#include "engine/machine/habits.h"

/* As they are compiled in; read once. NULL: out of memory. */
const struct habits *habits_shipped(void);

#endif
