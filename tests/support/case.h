/* case.h - complete scenarios for tests of the engine, without any preset.
 *
 * Figures are those of the public model cards and datasheets, rounded.
 */
#ifndef TESTS_SUPPORT_CASE_H
#define TESTS_SUPPORT_CASE_H

#include "engine/plan/scenario.h"

/* A DGX H100 cluster under a stack with Megatron's rules. */
void case_dense(struct scenario *out);  /* Llama-3 70B, 64 GPUs, TP 8 PP 4 */
void case_moe(struct scenario *out);    /* Mixtral 8x7B, 64 GPUs, TP 1 PP 2 EP 8 */
void case_mla(struct scenario *out);    /* DeepSeek-V3, 2048 GPUs, PP 16 EP 64 */
void case_hybrid(struct scenario *out); /* attention and Mamba-2, 8 GPUs, TP 2 */
/* All of Megatron's rules. */
uint64_t case_rules(void);
/* Set a knob by key as a person would; fails the test if it is refused. */
/* The habits that presets/habits states, for a stack made by hand. */
void case_habits(struct stack *stack);
void case_set(struct scenario *scenario, const char *key, const char *value);

#endif
