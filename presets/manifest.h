/* manifest.h - what containers of Kubernetes start, as a script: Jobs, PyTorchJobs,
 * Pods, and values of charts that have a container's `command`.
 */
#ifndef PRESETS_MANIFEST_H
#define PRESETS_MANIFEST_H

#include <stddef.h>

/* One command a container that has flags, behind the variables of its `env`; a word
 * stands in the line that it has in the manifest, where those go upwards. NULL where
 * the text is no such manifest, or out of memory. The caller frees it. */
char *manifest_commands(const char *text, size_t length);

#endif
