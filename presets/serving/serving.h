/* serving.h - launch commands of inference servers to scenarios and back.
 *
 * Flags and defaults: vllm/engine/arg_utils.py and vllm/config/ (v0.8 to v0.12),
 * sglang/srt/server_args.py (v0.4 to v0.5), tensorrt_llm/commands/serve.py and
 * llmapi/llm_args.py (v0.18 to v1.1). Unknown flags are listed in the report.
 */
#ifndef PRESETS_SERVING_SERVING_H
#define PRESETS_SERVING_SERVING_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/plan/scenario.h"
#include "presets/error.h"
#include "presets/import.h"

/* A command line, a script with one or several, or the tool's own YAML; on dgx-h100
 * with the tool's stack. False with FILE:LINE, *out unchanged. */
bool vllm_read(struct scenario *out, const char *file, const char *text, size_t length,
	       struct import_report *report, struct error *error);
bool sglang_read(struct scenario *out, const char *file, const char *text,
		 size_t length, struct import_report *report, struct error *error);
bool trtllm_read(struct scenario *out, const char *file, const char *text,
		 size_t length, struct import_report *report, struct error *error);

/* LMCache's own YAML: what it keeps in host memory, of a server of vLLM. It names no
 * model. */
bool lmcache_read(struct scenario *out, const char *file, const char *text,
		  size_t length, struct import_report *report, struct error *error);

/* A shell script with all flags that differ from the tool's defaults, comments on what
 * the tool has no flag for above it, and those flags of the file it was read from that
 * nothing here models, as the report has them; kept may be NULL or of another format.
 * To be freed; NULL: out of memory. */
char *vllm_write(const struct scenario *scenario, const struct import_report *kept);
char *sglang_write(const struct scenario *scenario, const struct import_report *kept);
char *trtllm_write(const struct scenario *scenario, const struct import_report *kept);

/* The same as a graph of NVIDIA Dynamo for Kubernetes, of the stack's tool; as values
 * of llm-d's charts, of vLLM alone. NULL with the error where the stack is no such
 * tool's.
 */
char *dynamo_write(const struct scenario *scenario, const struct import_report *kept,
		   struct error *error);
char *llmd_write(const struct scenario *scenario, const struct import_report *kept,
		 struct error *error);

#endif
