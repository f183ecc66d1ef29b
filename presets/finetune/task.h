/* task.h - what a command of transformers' Trainer trains, and whether on the next
 * token of one model. */
#ifndef PRESETS_FINETUNE_TASK_H
#define PRESETS_FINETUNE_TASK_H

#include "presets/pairs/mapping.h"

/* False with the error where another loss or other models take part. */
bool task_check(const struct mapped *m);
/* The error that the value of this key is not modelled, and why; false. */
bool task_refuse(const struct mapped *m, const struct pair *pair, const char *why);

#endif
