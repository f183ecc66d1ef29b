/* benchmark.h - scenarios of llm-d's benchmark, lists of servers of FlagScale and of
 * vllm-ascend. */
#ifndef PRESETS_SERVING_BENCHMARK_H
#define PRESETS_SERVING_BENCHMARK_H

#include "presets/document.h"

/* The script that the pools of a file's scenarios run, to be freed; its lines are those
 * of the file. NULL: it has none. */
char *benchmark_script(const struct node *root);
/* The same of the servers of this tool in FlagScale's list. */
struct tool;
char *flagscale_script(const struct tool *tool, const struct node *root);
/* The same of values that name a model with its degrees, and arguments of its server.
 */
char *values_script(const struct tool *tool, const struct node *root);
/* The same of the servers that vllm-ascend's tests start. */
char *cases_script(const struct tool *tool, const struct node *root);

#endif
