/* script.c - a plan of servers as a shell script. */
#include <stdlib.h>
#include <string.h>

#include "presets/serving/job.h"
#include "presets/serving/print.h"
#include "presets/serving/serving.h"

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
	struct server_words *words = job_server(job, role, !at, at);
	struct tool_writer *w;

	if (!words)
		return;
	w = &words->w;
	w->again = again;
	if (at) {
		put_gpus(job->whole, w);
		if (role != ROLE_BOTH)
			write_flag(w, job->tool->role_flag, job->tool->roles[role]);
		write_count(w, "port", at->port);
		if (job->tool->put_channel)
			job->tool->put_channel(w);
	}
	job_keep(job, words);
	put_rank(job, w);
	print_command(job->tool, w);
	free(words);
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

/* Whether it takes several servers: two pools, or engines that one command does not
 * start together. */
static bool takes_servers(const struct tool *tool, const struct scenario *s)
{
	int64_t size = job_engine(&s->plan);

	if (s->plan.mode != MODE_INFERENCE)
		return false;
	return s->plan.serving.disaggregated ||
	       (size > 0 && s->cluster.gpus / size > 1 && tool->starts_one(s));
}

static char *write_tool(const struct tool *tool, const struct scenario *scenario,
			const struct import_report *kept)
{
	struct job job;

	if (!job_begin(&job, tool, scenario, kept))
		return NULL;
	if (takes_servers(tool, scenario))
		write_pools(&job);
	else
		write_command(&job, ROLE_BOTH, NULL, false);
	return job_end(&job, "#!/bin/bash\n");
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
