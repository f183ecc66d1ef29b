/* write.c - flags of a server by its plan: what the tools share. */
#include <stdarg.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/serving/tool.h"

void write_flag(const struct tool_writer *w, const char *key, const char *value)
{
	entries_add(w->flags, key, value, false);
}

void write_count(const struct tool_writer *w, const char *key, int64_t value)
{
	entries_add_count(w->flags, key, value);
}

void write_default(const struct tool_writer *w, const char *key, const char *value)
{
	entries_add(w->flags, key, value, true);
}

void write_precision(const struct tool_writer *w, const char *quantisation,
		     const char *words, const char *dtype)
{
	static const char plain[] = "bfloat16=bf16 float16=fp16 float32=fp32";
	const char *native = checkpoint_native(&w->scenario->model, w->checkpoint);
	char precision[32], word[32];

	knob_print(w->scenario, knob_find("precision"), precision, sizeof precision);
	if (strcmp(precision, native) == 0)
		return;
	if (mapping_theirs(plain, precision, word)) {
		if (strcmp(native, "bf16") == 0)
			write_flag(w, dtype, word);
		else
			export_unsaid(w->out, "precision",
				      "%s: the weights are published in %s", precision,
				      native);
	} else if (strcmp(native, "fp8-block") == 0 && strcmp(precision, "fp8") == 0) {
		export_unsaid(w->out, "precision",
			      "fp8: the weights are published in fp8-block");
	} else if (strcmp(precision, "fp8-block") != 0 &&
		   mapping_theirs(words, precision, word)) {
		write_flag(w, quantisation, word);
	} else {
		export_unsaid(w->out, "precision",
			      "%s: a checkpoint that is stored so says it itself",
			      precision);
	}
}

void write_unsaid(const struct tool_writer *w, const char *knob, const char *format,
		  ...)
{
	char text[MAX_NOTE], twin[MAX_NAME];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	/* most knobs are those of both pools */
	snprintf(twin, sizeof twin, "prefill_%s", knob);
	if (w->role != ROLE_PREFILL || !knob_find(twin))
		snprintf(twin, sizeof twin, "%s", knob);
	export_unsaid(w->out, twin, "%s", text);
	/* all GPUs are those of both pools */
	if (w->role == ROLE_PREFILL && strcmp(knob, "gpus") == 0)
		export_unsaid(w->out, knob, "see prefill_gpus");
}

bool write_nodes(const struct tool_writer *w, int64_t ranks)
{
	int64_t node = w->scenario->cluster.gpus_per_node;

	if (node < 1 || ranks <= node)
		return false;
	w->spread->nodes = (ranks + node - 1) / node;
	write_count(w, "nnodes", w->spread->nodes);
	write_flag(w, "node-rank", "${RANK}");
	return true;
}
