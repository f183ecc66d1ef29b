/* job.c - see job.h. */
#include "presets/serving/job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/rules/legality.h"
#include "engine/serve/pass.h"
#include "engine/serve/serve.h"
#include "presets/library.h"
#include "presets/serving/print.h"

int64_t job_engine(const struct plan *plan)
{
	return plan->tp * plan->pp * plan->cp * plan->serving.dp_attention;
}

/* GPUs of no whole engine. */
static void say_idle(const struct tool_writer *w)
{
	int64_t size = job_engine(&w->scenario->plan);
	int64_t gpus = w->scenario->cluster.gpus;

	if (size > 0 && gpus % size != 0)
		write_unsaid(w, "gpus", "%lld: %lld of them make no engine of %lld",
			     (long long)gpus, (long long)(gpus % size),
			     (long long)size);
}

static bool has(const struct tool *tool, const char *knob)
{
	static const char *const servers[] = {
		"gpus",        "tp",           "ep",       "dp_attention", "precision",
		"speculative", "draft_tokens", "adapters", "adapter_rank", "host_kv",
		NULL
	};
	bool pools = strncmp(knob, "prefill_", 8) == 0;

	return pools || strcmp(knob, "disaggregated") == 0 ||
	       word_among(knob, servers) || mapping_has(tool->rows, knob) ||
	       (tool->more_knobs && word_among(knob, tool->more_knobs));
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

/* Requests that a copy of the attention decodes at once, and tokens in its cache.
 * False: out of memory. */
static bool find_planned(const struct scenario *whole, struct planned *out)
{
	struct estimate *e = calloc(1, sizeof *e);
	bool good = e != NULL;

	if (e && whole->plan.mode == MODE_INFERENCE &&
	    scenario_check(whole, NULL) == 0) {
		double copies;

		serve_estimate(whole, e);
		copies = e->serving.engines * (double)whole->plan.serving.dp_attention;
		if (copies > 0) {
			out->batch = ceil(e->serving.concurrency / copies);
			out->kv_tokens = e->serving.kv_tokens / copies;
		}
	}
	free(e);
	return good;
}

const struct tool *job_tool(const struct scenario *scenario)
{
	static const struct tool *const tools[] = { &tool_vllm, &tool_sglang,
						    &tool_trtllm };
	const char *stack = scenario->stack.name;
	size_t length = strcspn(stack, "@");

	for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
		if (strlen(tools[i]->stack) == length &&
		    strncmp(tools[i]->stack, stack, length) == 0)
			return tools[i];
	return NULL;
}

bool job_begin(struct job *job, const struct tool *tool,
	       const struct scenario *scenario, const struct import_report *kept)
{
	*job = (struct job){
		.tool = tool, .whole = scenario, .kept = kept, .out = export_begin()
	};
	if (!job->out)
		return false;
	if (kept && strcmp(kept->kept, tool->name) != 0)
		job->kept = NULL;
	say_unsaid(tool, scenario, job->out);
	job->out->failed = !find_planned(scenario, &job->planned) || job->out->failed;
	return true;
}

char *job_end(struct job *job, const char *first_line)
{
	char title[2 * MAX_NOTE];

	fputc('\n', job->out->body);
	export_subject(job->whole, title, sizeof title);
	return export_end(job->out, first_line, "#", title);
}

/* SGLang alone reckons its share of the memory. */
static void settle_share(const struct job *job, struct server_words *words)
{
	double *share = &words->pool.plan.serving.memory_share;

	if (*share > 0 || job->tool == &tool_sglang)
		return;
	*share = server_memory_share(&words->pool);
	write_unsaid(&words->w, "memory_share", "auto: %g is asked for", *share);
}

/* A cache that is planned as narrow as the weights, which checkpoints say who were made
 * so; others have to be asked for it. */
static void settle_cache(struct server_words *words)
{
	struct serving_plan *v = &words->pool.plan.serving;

	if (v->kv_precision != KV_AUTO || serve_kv_element_bytes(&words->pool) != 1)
		return;
	v->kv_precision = KV_FP8;
	write_unsaid(&words->w, "kv_precision", "auto: fp8 is asked for");
}

struct server_words *job_server(const struct job *job, enum role role, bool all,
				const struct server_place *at)
{
	struct server_words *words = calloc(1, sizeof *words);
	int64_t engines;

	if (!words) {
		job->out->failed = true;
		return NULL;
	}
	take_pool(job->whole, role, &words->pool);
	engines = all ? words->pool.cluster.gpus / job_engine(&words->pool.plan) : 1;
	words->spread = (struct node_share){ 1, 0 };
	words->w = (struct tool_writer){
		.scenario = &words->pool,
		.role = role,
		.checkpoint = name_checkpoint(job->whole, job->kept, words->checkpoint),
		.engines = engines > 0 ? engines : 1,
		.spread = &words->spread,
		.planned = job->planned,
		.at = at,
		.flags = &words->flags,
		.out = job->out,
	};
	settle_share(job, words);
	settle_cache(words);
	entries_add_rows(&words->flags, &words->pool, job->tool->rows, false, job->out);
	job->tool->write(&words->w);
	return words;
}

void job_keep(const struct job *job, struct server_words *words)
{
	say_idle(&words->w);
	add_kept(job->tool, &words->w, job->kept);
	if (job->tool->settle)
		job->tool->settle(&words->w);
}
