/* container.h - a server's words as Kubernetes is told them: a list of arguments, and
 * the variables that they name.
 */
#ifndef PRESETS_SERVING_CONTAINER_H
#define PRESETS_SERVING_CONTAINER_H

#include "presets/serving/job.h"

/* One item of a list in YAML, in quotes, behind so many blanks. */
void container_word(FILE *stream, int indent, const char *word);
/* Flags of these keys, or with `list` NULL all, into the body: "--key", value, ... What
 * a shell would have put in for "${NAME:-usual}" is "$(NAME)"; '_' is the joint. */
void container_flags(struct export_out *out, int indent, const struct entries *flags,
		     const char *const *list, char joint);
/* The variables of a command and its flags as items of "env"; whether there are any.
 * With stream NULL none is written. */
bool container_variables(FILE *stream, int indent, const struct tool_writer *w);
/* Flags that only say where a process runs: whoever starts the pods knows. */
void container_drop_places(const struct tool *tool, const struct tool_writer *w);
/* A name for Kubernetes: small letters, digits and dashes, 40 at most. */
void container_name(const struct scenario *scenario, char name[41]);
/* GPUs of each pod, of as many nodes as the engine has; what no whole pods hold is
 * said. */
int64_t container_gpus(const struct server_words *words);

#endif
