/* write.c - a scenario as launch commands: what the tools share. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/rules/legality.h"
#include "engine/serve/serve.h"
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

/* One text that is written: all of it but the server. */
struct job {
	const struct tool *tool;
	const struct scenario *whole;
	const struct import_report *kept;
	struct export_out *out;
	struct planned planned;
};

/* GPUs that a server has of a node, where others have the rest. */
static void put_gpus(const struct scenario *whole, struct tool_writer *w)
{
	const char *between = "CUDA_VISIBLE_DEVICES=";
	size_t used = 0, size = sizeof w->place;

	if (w->at->gpus >= whole->cluster.gpus_per_node)
		return;
	for (int64_t i = 0; i < w->at->gpus && used < size; i++, between = ",")
		used += (size_t)snprintf(w->place + used, size - used, "%s%lld",
					 between, (long long)(w->at->gpu + i));
	if (used < size)
		snprintf(w->place + used, size - used, " ");
}

/* Of a command that each of its nodes is given: which of them this is, and the first
 * one's address. */
static void put_rank(const struct job *job, const struct tool_writer *w)
{
	FILE *stream = job->out->body;

	if (w->spread->nodes < 2 || job->tool->put_launcher)
		return;
	if (!w->at)
		put_nodes(stream, w->spread->nodes);
	if (w->at)
		fprintf(stream, "RANK=$(((NODE - %lld) %% %lld))\n",
			(long long)w->at->node, (long long)w->spread->nodes);
	else
		fputs("RANK=$NODE\n", stream);
	fprintf(stream, "HEAD=${HOST[%s]}\n", w->at ? "NODE - RANK" : "0");
	if (w->spread->copies > 0)
		fprintf(stream, "START=$((RANK * %lld))\n",
			(long long)w->spread->copies);
	if (job->tool->later)
		fprintf(stream, "LATER=\n[ \"$RANK\" = 0 ] || LATER=%s\n",
			job->tool->later);
}

static void write_command(const struct job *job, enum role role,
			  const struct server_place *at, bool again)
{
	struct entries *flags = calloc(1, sizeof *flags);
	struct scenario *pool = calloc(1, sizeof *pool);
	char name[MAX_NOTE];
	struct node_share spread = { 1, 0 };
	struct tool_writer w = { .scenario = pool,
				 .role = role,
				 .checkpoint =
					 name_checkpoint(job->whole, job->kept, name),
				 .spread = &spread,
				 .planned = job->planned,
				 .at = at,
				 .again = again,
				 .flags = flags,
				 .out = job->out };

	if (flags && pool) {
		take_pool(job->whole, role, pool);
		w.engines = at ? 1 : pool->cluster.gpus / engine_size(&pool->plan);
		w.engines = w.engines > 0 ? w.engines : 1;
		entries_add_rows(flags, pool, job->tool->rows, false, job->out);
		job->tool->write(&w);
		if (at) {
			put_gpus(job->whole, &w);
			if (role != ROLE_BOTH)
				write_flag(&w, job->tool->role_flag,
					   job->tool->roles[role]);
			write_count(&w, "port", at->port);
			if (job->tool->put_channel)
				job->tool->put_channel(&w);
		}
		say_idle(&w);
		add_kept(job->tool, &w, job->kept);
		put_rank(job, &w);
		print_command(job->tool, &w);
	} else {
		job->out->failed = true;
	}
	free(pool);
	free(flags);
}

/* What stands on one node, each behind the one before. */
static void write_servers(const struct job *job, const struct server_place *list,
			  int from, int end)
{
	for (int i = from; i < end; i++) {
		bool again = false;

		for (int k = from; k < i && !again; k++)
			again = list[k].role == list[i].role;
		write_command(job, list[i].role, &list[i], again);
		fputs(" &\n", job->out->body);
	}
}

/* Nodes in a row on which the same stands, as a branch of "case". Who reads the script
 * and runs nothing knows no NODE: every branch takes the empty word, too, which bash
 * never comes to. Returns the first server behind. */
static int write_branch(const struct job *job, const struct server_place *list,
			int count, int from, int64_t written[ROLE_COUNT])
{
	int64_t per_node = job->whole->cluster.gpus_per_node;
	int64_t span = (list[from].gpus + per_node - 1) / per_node;
	int end = places_of_node(list, count, from), next = from;
	FILE *stream = job->out->body;

	fputs("case \"$NODE\" in\n\"\"", stream);
	while (next < count && places_alike(list, count, from, next)) {
		/* the first node starts what runs on the others, or each its part */
		for (int64_t i = 0; i < (job->tool->put_launcher ? 1 : span); i++)
			fprintf(stream, " | %lld", (long long)(list[next].node + i));
		next = places_of_node(list, count, next);
	}
	fputs(")\n", stream);
	write_servers(job, list, from, end);
	fputs(";;\nesac\n", stream);
	for (int i = from; i < end; i++)
		written[list[i].role]++;
	return next;
}

/* Servers of the plan that one who reads the script's branches does not see. */
static void say_repeated(const struct job *job, enum role role, int64_t all,
			 int64_t written)
{
	struct tool_writer w = { .role = role, .out = job->out };
	int64_t prefill = role == ROLE_BOTH ? 0 : scenario_prefill_gpus(job->whole);

	if (all != written)
		write_unsaid(
			&w, "gpus",
			"%lld: %lld servers; those alike stand here once, %lld in all",
			(long long)(role == ROLE_PREFILL
					    ? prefill
					    : job->whole->cluster.gpus - prefill),
			(long long)all, (long long)written);
}

static void write_pools(const struct job *job)
{
	struct server_place *list = calloc(MAX_PLACES, sizeof *list);
	int64_t left[ROLE_COUNT] = { 0 }, written[ROLE_COUNT] = { 0 };
	int64_t all[ROLE_COUNT] = { 0 };
	int64_t per_node = job->whole->cluster.gpus_per_node;
	int count = list ? place_servers(job->whole, list, left) : 0;
	bool several = job->whole->cluster.gpus > per_node;
	FILE *stream = job->out->body;

	job->out->failed = job->out->failed || !list;
	for (int i = 0; i < count; i++)
		all[list[i].role]++;
	if (several && count > 0) {
		const struct server_place *last = &list[count - 1];

		put_nodes(stream, last->node + (last->gpu + last->gpus + per_node - 1) /
						       per_node);
		for (int i = 0; i < count;)
			i = write_branch(job, list, count, i, written);
	} else {
		fputs("trap 'kill $(jobs -p) 2> /dev/null' EXIT\n", stream);
		write_servers(job, list, 0, count);
		memcpy(written, all, sizeof written);
	}
	for (int role = ROLE_BOTH; role < ROLE_COUNT; role++)
		say_repeated(job, (enum role)role, all[role] + left[role],
			     written[role]);
	if (several)
		fputs("if [ \"$NODE\" = 0 ]; then\n", stream);
	put_front(job->tool, stream, list, count);
	if (several)
		fputs("\nelse\nwait\nfi", stream);
	free(list);
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

/* Whether it takes several servers: two pools, or engines that one command does not
 * start together. */
static bool takes_servers(const struct tool *tool, const struct scenario *s)
{
	int64_t size = engine_size(&s->plan);

	if (s->plan.mode != MODE_INFERENCE)
		return false;
	return s->plan.serving.disaggregated ||
	       (size > 0 && s->cluster.gpus / size > 1 && tool->starts_one(s));
}

static char *write_tool(const struct tool *tool, const struct scenario *scenario,
			const struct import_report *kept)
{
	struct job job = {
		.tool = tool, .whole = scenario, .kept = kept, .out = export_begin()
	};
	char title[2 * MAX_NOTE];

	if (!job.out)
		return NULL;
	if (kept && strcmp(kept->kept, tool->name) != 0)
		job.kept = NULL;
	say_unsaid(tool, scenario, job.out);
	job.out->failed = !find_planned(scenario, &job.planned) || job.out->failed;
	if (takes_servers(tool, scenario))
		write_pools(&job);
	else
		write_command(&job, ROLE_BOTH, NULL, false);
	fputc('\n', job.out->body);
	export_subject(scenario, title, sizeof title);
	return export_end(job.out, "#!/bin/bash\n", "#", title);
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
