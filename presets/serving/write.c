/* write.c - a scenario as launch commands: what the tools share. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/library.h"
#include "presets/serving/print.h"
#include "presets/serving/serving.h"

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

static int64_t engine_size(const struct plan *plan)
{
	return plan->tp * plan->pp * plan->cp * plan->serving.dp_attention;
}

void write_unsaid(const struct tool_writer *w, const char *knob, const char *format,
		  ...)
{
	char text[MAX_NOTE], twin[MAX_NAME];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	snprintf(twin, sizeof twin, "%s%s", w->role == ROLE_PREFILL ? "prefill_" : "",
		 knob);
	export_unsaid(w->out, twin, "%s", text);
	/* all GPUs are those of both pools */
	if (w->role == ROLE_PREFILL && strcmp(knob, "gpus") == 0)
		export_unsaid(w->out, knob, "see prefill_gpus");
}

void write_one_engine(const struct tool_writer *w)
{
	if (w->engines > 1)
		write_unsaid(
			w, "gpus", "%lld: start %lld of these servers, %lld GPUs each",
			(long long)w->scenario->cluster.gpus, (long long)w->engines,
			(long long)engine_size(&w->scenario->plan));
}

bool write_nodes(const struct tool_writer *w, int64_t ranks)
{
	int64_t node = w->scenario->cluster.gpus_per_node;

	if (node < 1 || ranks <= node)
		return false;
	write_count(w, "nnodes", (ranks + node - 1) / node);
	write_flag(w, "node-rank", "${NODE_RANK:-0}");
	return true;
}

/* GPUs of no whole engine. */
static void say_idle(const struct tool_writer *w)
{
	int64_t size = engine_size(&w->scenario->plan);
	int64_t gpus = w->scenario->cluster.gpus;

	if (size > 0 && gpus % size != 0)
		write_unsaid(w, "gpus", "%lld: %lld of them make no engine of %lld",
			     (long long)gpus, (long long)(gpus % size),
			     (long long)size);
}

static bool has(const struct tool *tool, const char *knob)
{
	static const char *const common[] = {
		"disaggregated", "prefill_gpus",         "prefill_tp", "prefill_pp",
		"prefill_ep",    "prefill_dp_attention", NULL
	};

	return word_among(knob, common) || mapping_has(tool->rows, knob) ||
	       tool->has(knob);
}

/* As export_unsaid_knobs asks it: without the tool. */
#define HAS(tool)                                \
	static bool has_##tool(const char *knob) \
	{                                        \
		return has(&tool_##tool, knob);  \
	}
HAS(vllm)
HAS(sglang)
HAS(trtllm)

static void say_unsaid(const struct tool *tool, const struct scenario *scenario,
		       struct export_out *out)
{
	struct model model;

	export_unsaid_knobs(out, scenario, tool->stack,
			    tool == &tool_vllm     ? has_vllm
			    : tool == &tool_sglang ? has_sglang
						   : has_trtllm);
	if (!library_model(&model, scenario->model.name, NULL) ||
	    memcmp(&model, &scenario->model, sizeof model) != 0)
		export_unsaid(out, "model", "a shape of its own; its config.json says");
}

/* One pool of a disaggregated plan as a whole plan. */
static void take_pool(const struct scenario *whole, enum role role,
		      struct scenario *out)
{
	const struct engine_degrees engine = scenario_prefill_engine(whole);
	struct plan *plan = &out->plan;
	int64_t prefill = scenario_prefill_gpus(whole);

	*out = *whole;
	if (role == ROLE_BOTH)
		return;
	plan->serving.disaggregated = false;
	out->cluster.gpus -= prefill;
	if (role == ROLE_DECODE)
		return;
	out->cluster.gpus = prefill;
	plan->tp = engine.tp;
	plan->pp = engine.pp;
	plan->ep = engine.ep;
	plan->serving.dp_attention = engine.dp_attention;
}

/* Flags that came with the file and that nothing here models. */
static void add_kept(const struct tool *tool, const struct tool_writer *w,
		     const struct import_report *kept)
{
	/* others would mean something to a shell */
	static const char names[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

	for (int i = 0; kept && i < kept->count; i++) {
		const struct import_note *note = &kept->note[i];
		bool cut = strlen(note->text) >= sizeof note->text - 1 ||
			   strlen(note->key) >= sizeof note->key - 1 ||
			   note->key[strspn(note->key, names)] != '\0';

		if (note->kind != IMPORT_NOT_MODELLED ||
		    strcmp(note->key, "model") == 0)
			continue;
		if (cut)
			export_unsaid(w->out, note->key, "too long, or no flag's name");
		else if (tool->file_flag && strcmp(note->key, tool->file_flag) == 0)
			export_unsaid(w->out, note->key, "%.120s: not opened",
				      note->text);
		else
			print_keep(w->flags, note->key, note->text);
	}
	if (kept && kept->left_out > 0)
		export_unsaid(w->out, "more flags", "%d; the file has too many of them",
			      kept->left_out);
}

/* The name that the file had: where the library does not know it, or where it says this
 * model and precision still. */
static const char *name_checkpoint(const struct scenario *scenario,
				   const struct import_report *kept,
				   char name[MAX_NOTE])
{
	char precision[32];

	knob_print(scenario, knob_find("precision"), precision, sizeof precision);
	for (int i = 0; kept && i < kept->count; i++) {
		const struct import_note *note = &kept->note[i];
		char *as;

		if (strcmp(note->key, "model") != 0 ||
		    strlen(note->text) >= sizeof note->text - 1)
			continue;
		snprintf(name, MAX_NOTE, "%s", note->text);
		if (note->kind == IMPORT_NOT_MODELLED)
			return name;
		as = strstr(name, " as ");
		if (note->kind != IMPORT_TAKEN || !as)
			continue;
		*as = '\0';
		if (strcmp(as + 4, scenario->model.name) == 0 &&
		    strcmp(checkpoint_native(&scenario->model, name), precision) == 0)
			return name;
	}
	return checkpoint_id(&scenario->model);
}

enum { PREFILL_PORT = 8100, DECODE_PORT = 8200, SIDE_CHANNEL = 1000 };

static int port_of(enum role role)
{
	return role == ROLE_PREFILL ? PREFILL_PORT : DECODE_PORT;
}

/* Pools of one node share out its GPUs: those that prefill are the first. */
static void put_place(const struct tool *tool, const struct scenario *whole,
		      struct tool_writer *w)
{
	bool before = w->role == ROLE_PREFILL;
	int64_t first = before ? 0 : scenario_prefill_gpus(whole);
	int64_t end = before ? scenario_prefill_gpus(whole) : whole->cluster.gpus;
	size_t used = 0, size = sizeof w->place;
	const char *between = "CUDA_VISIBLE_DEVICES=";

	if (whole->cluster.gpus <= whole->cluster.gpus_per_node) {
		for (int64_t i = first; i < end && used < size; i++, between = ",")
			used += (size_t)snprintf(w->place + used, size - used, "%s%lld",
						 between, (long long)i);
		if (used < size)
			used += (size_t)snprintf(w->place + used, size - used, " ");
	}
	if (tool->side_channel && used < size)
		snprintf(w->place + used, size - used, "%s=%d ", tool->side_channel,
			 port_of(w->role) + SIDE_CHANNEL);
}

static void write_command(const struct tool *tool, const struct scenario *whole,
			  enum role role, const struct import_report *kept,
			  struct export_out *out)
{
	struct entries *flags = calloc(1, sizeof *flags);
	struct scenario *pool = calloc(1, sizeof *pool);
	char name[MAX_NOTE];
	struct tool_writer w = { .scenario = pool,
				 .role = role,
				 .checkpoint = name_checkpoint(whole, kept, name),
				 .flags = flags,
				 .out = out };

	if (flags && pool) {
		take_pool(whole, role, pool);
		w.engines = pool->cluster.gpus / engine_size(&pool->plan);
		w.engines = w.engines > 0 ? w.engines : 1;
		entries_add_rows(flags, pool, tool->rows, false, out);
		tool->write(&w);
		if (role != ROLE_BOTH)
			write_flag(&w, tool->role_flag, tool->roles[role]);
		if (role != ROLE_BOTH && tool->put_front)
			write_count(&w, "port", port_of(role));
		say_idle(&w);
		add_kept(tool, &w, kept);
		if (role != ROLE_BOTH && tool->put_front)
			put_place(tool, whole, &w);
		print_command(tool, &w);
	}
	free(pool);
	free(flags);
}

static char *write_tool(const struct tool *tool, const struct scenario *scenario,
			const struct import_report *kept)
{
	struct export_out *out = export_begin();
	char title[2 * MAX_NOTE];

	if (!out)
		return NULL;
	if (kept && strcmp(kept->kept, tool->name) != 0)
		kept = NULL;
	say_unsaid(tool, scenario, out);
	if (scenario->plan.mode == MODE_INFERENCE &&
	    scenario->plan.serving.disaggregated) {
		write_command(tool, scenario, ROLE_PREFILL, kept, out);
		fputs(" &\n", out->body);
		write_command(tool, scenario, ROLE_DECODE, kept, out);
		if (tool->put_front) {
			fputs(" &\n", out->body);
			tool->put_front(out->body, PREFILL_PORT, DECODE_PORT);
		}
	} else {
		write_command(tool, scenario, ROLE_BOTH, kept, out);
	}
	fputc('\n', out->body);
	export_subject(scenario, title, sizeof title);
	return export_end(out, "#!/bin/bash\n", "#", title);
}

char *vllm_write(const struct scenario *scenario, const struct import_report *kept)
{
	return write_tool(&tool_vllm, scenario, kept);
}

char *sglang_write(const struct scenario *scenario, const struct import_report *kept)
{
	return write_tool(&tool_sglang, scenario, kept);
}

char *trtllm_write(const struct scenario *scenario, const struct import_report *kept)
{
	return write_tool(&tool_trtllm, scenario, kept);
}

void write_adapters(const struct tool_writer *w, const char *count,
		    const int64_t *ranks)
{
	const struct serving_plan *v = &w->scenario->plan.serving;
	int64_t rank = v->adapter_rank;

	if (v->adapters <= 0)
		return;
	while (ranks && *ranks > 0 && *ranks < v->adapter_rank)
		ranks++;
	if (ranks && *ranks > 0)
		rank = *ranks;
	write_flag(w, "enable-lora", "");
	write_count(w, count, v->adapters);
	write_count(w, "max-lora-rank", rank);
	if (rank != v->adapter_rank || (ranks && *ranks == 0))
		write_unsaid(w, "adapter_rank", "%lld is none that the tool has",
			     (long long)v->adapter_rank);
}
