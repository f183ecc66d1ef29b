/* test_pools.c - scripts of several servers are run, with words in place of the
 * tools that tell what they were started with: every server of the plan has GPUs and
 * ports that no other has, and what stands in front knows all addresses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/knob/knob.h"
#include "engine/rules/legality.h"
#include "presets/formats.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

enum { MAX_HEARD = 256, MAX_TEXT = 16384 };

/* A server as it was started, on one of its nodes. */
struct heard {
	int node, port;
	unsigned gpus; /* by bits; 0 = all of the node */
	bool first;    /* of its nodes: the one that answers */
	bool prefill;
	char side[16]; /* port of the side channel */
	char words[1024];
};

struct stage {
	char folder[64];
	int servers;
	struct heard server[MAX_HEARD];
	int fronts;
	char front[MAX_TEXT];
};

static struct stage stage;

/* Where a tool would stand: a line with the node, what it has and its words. What
 * stands in front ends a script, so it waits for the lines before it. */
static const char stand_in[] =
	"say() { printf '%s;%s;%s;%s\\n' \"$NODE\" \"${CUDA_VISIBLE_DEVICES:-}\" "
	"\"${VLLM_NIXL_SIDE_CHANNEL_PORT:-}\" \"$*\"; }\n"
	"front() { wait; printf 'front;%s\\n' \"$*\"; }\n"
	"vllm() { say \"$*\"; }\n"
	"srun() { say \"$*\"; }\n"
	"curl() { :; }\n"
	"python3() { case \"$*\" in *router*|*proxy*) front \"$*\";; *) say \"$*\";; "
	"esac; }\n"
	"trtllm-serve() { if [ \"$1\" = disaggregated ]; then front \"$(tr '\\n' ' ' < "
	"disagg.yaml)\"; else say \"$*\"; fi; }\n"
	"nginx() { front \"$(tr '\\n' ' ' < nginx.conf)\"; }\n";

static void write_file(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", stage.folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void hear(char *line)
{
	struct heard *server = &stage.server[stage.servers];
	char *part[3], *at = line;

	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "front;", 6) == 0) {
		snprintf(stage.front, sizeof stage.front, "%s", line + 6);
		stage.fronts++;
		return;
	}
	for (int i = 0; i < 3; i++) {
		part[i] = at;
		at = strchr(at, ';');
		if (!at)
			fail_msg("not understood: %s", line);
		*at++ = '\0';
	}
	assert_true(stage.servers < MAX_HEARD);
	*server = (struct heard){ .node = atoi(part[0]) };
	for (char *word = strtok(part[1], ","); word; word = strtok(NULL, ","))
		server->gpus |= 1u << atoi(word);
	snprintf(server->side, sizeof server->side, "%.15s", part[2]);
	snprintf(server->words, sizeof server->words, "%s ", at);
	server->port = strstr(at, "-port ") ? atoi(strstr(at, "-port ") + 6) : 0;
	server->first = !strstr(at, "--headless") &&
			(!strstr(at, "--node-rank") || strstr(at, "--node-rank 0"));
	server->prefill = strstr(at, "kv_producer") || strstr(at, "mode prefill") ||
			  strstr(at, "CONTEXT");
	stage.servers++;
}

static int by_place(const void *a, const void *b)
{
	const struct heard *x = a, *y = b;

	return x->node != y->node ? x->node - y->node : x->port - y->port;
}

/* Each node runs the script. */
static void play(const char *text, int nodes)
{
	char command[512], line[MAX_TEXT];
	FILE *pipe;

	stage.servers = stage.fronts = 0;
	write_file("plan.sh", text);
	snprintf(command, sizeof command,
		 "cd %s && for n in $(seq 0 %d); do NODE=$n "
		 "HOSTS=\"$(seq -f h%%.0f -s ' ' 0 %d)\" BASH_ENV=./stand_in "
		 "bash -u plan.sh 2>&1 || echo failed; done",
		 stage.folder, nodes - 1, nodes - 1);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	while (fgets(line, sizeof line, pipe))
		hear(line);
	assert_int_equal(pclose(pipe), 0);
	qsort(stage.server, (size_t)stage.servers, sizeof stage.server[0], by_place);
}

static void check_apart(const char *text)
{
	for (int i = 0; i < stage.servers; i++)
		for (int k = i + 1; k < stage.servers; k++) {
			const struct heard *a = &stage.server[i], *b = &stage.server[k];

			if (a->node != b->node)
				continue;
			if (a->port == b->port || !a->gpus || !b->gpus ||
			    (a->gpus & b->gpus) ||
			    (a->side[0] && strcmp(a->side, b->side) == 0))
				fail_msg("servers %d and %d of node %d collide in\n%s",
					 i, k, a->node, text);
		}
}

/* The addresses of one pool by a pattern, in which H and P stand for host and port. */
static void add_addresses(char *out, bool prefill, bool several, const char *pattern)
{
	size_t used = strlen(out);

	for (int i = 0; i < stage.servers; i++) {
		const struct heard *s = &stage.server[i];

		if (s->prefill != prefill || !s->first)
			continue;
		for (const char *c = pattern; *c != '\0'; c++) {
			char one[32] = { *c, '\0' };

			if (*c == 'H' && several)
				snprintf(one, sizeof one, "h%d", s->node);
			else if (*c == 'H')
				snprintf(one, sizeof one, "127.0.0.1");
			else if (*c == 'P')
				snprintf(one, sizeof one, "%d", s->port);
			else if (*c == 'B')
				snprintf(one, sizeof one, "%d", s->port + 10);
			used += (size_t)snprintf(out + used, MAX_TEXT - used, "%s",
						 one);
		}
	}
}

static void check_front(const char *format, bool several, const char *text)
{
	static const struct {
		const char *format, *word[2][2], *pattern[2][2];
	} rows[] = {
		{ "vllm",
		  { { " --prefiller-hosts", " --prefiller-ports" },
		    { " --decoder-hosts", " --decoder-ports" } },
		  { { " H", " P" }, { " H", " P" } } },
		{ "sglang",
		  { { " --port 8000", "" }, { "", "" } },
		  { { " --prefill http://H:P B", "" },
		    { " --decode http://H:P", "" } } },
		{ "trtllm",
		  { { "urls:", " " }, { "urls:", "" } },
		  { { "   - \"H:P\"", "" }, { "   - \"H:P\"", "" } } },
	};

	assert_int_equal(stage.fronts, 1);
	for (size_t r = 0; r < 3; r++)
		for (int pool = 0; pool < 2; pool++) {
			static char wanted[MAX_TEXT];

			if (strcmp(rows[r].format, format) != 0)
				continue;
			wanted[0] = '\0';
			for (int i = 0; i < 2; i++) {
				strcat(wanted, rows[r].word[pool][i]);
				add_addresses(wanted, pool == 0, several,
					      rows[r].pattern[pool][i]);
			}
			if (!strstr(stage.front, wanted))
				fail_msg("no '%s' in '%s' of\n%s", wanted, stage.front,
					 text);
		}
}

/* The same of servers that are alike. */
static void check_balancer(const char *format, bool several, const char *text)
{
	static char wanted[MAX_TEXT];
	bool router = strcmp(format, "sglang") == 0;

	assert_int_equal(stage.fronts, 1);
	strcpy(wanted, router ? "--worker-urls" : "least_conn; ");
	add_addresses(wanted, false, several,
		      router ? " http://H:P" : "    server H:P; ");
	if (!strstr(stage.front, wanted))
		fail_msg("no '%s' in '%s' of\n%s", wanted, stage.front, text);
}

static int heads(bool prefill)
{
	int count = 0;

	for (int i = 0; i < stage.servers; i++)
		count += stage.server[i].first && stage.server[i].prefill == prefill;
	return count;
}

static void check_plan(const char *format, const struct scenario *s)
{
	struct format_request request = { .scenario = s };
	const struct plan *plan = &s->plan;
	const struct engine_degrees p = scenario_prefill_engine(s);
	int64_t prefill = scenario_prefill_gpus(s), node = s->cluster.gpus_per_node;
	char *text = format_find_written(format)->out.write(&request);

	assert_non_null(text);
	if (!strstr(text, "refuses it") && !strstr(text, "is left to you")) {
		bool several = s->cluster.gpus > node;

		/* an engine that does not fit behind another begins on the next node */
		play(text, several ? (int)(2 * s->cluster.gpus / node) : 1);
		check_apart(text);
		check_front(format, several, text);
		assert_int_equal(heads(true), prefill / (p.tp * p.pp * p.dp_attention));
		assert_int_equal(heads(false), (s->cluster.gpus - prefill) /
						       (plan->tp * plan->pp *
							plan->serving.dp_attention));
	}
	free(text);
}

static void draw_plan(struct scenario *s, const char *stack)
{
	static const char *const models[] = { "llama3.1-8b", "mixtral-8x7b",
					      "deepseek-v3" };
	struct serving_plan *v = &s->plan.serving;
	struct error error;

	do {
		if (!scenario_blank(s, models[next(3)], "dgx-h200", stack, &error))
			fail_msg("%s", error.text);
		s->plan.mode = MODE_INFERENCE;
		s->cluster.gpus = 8 << next(4);
		s->plan.tp = 1 << next(5);
		s->plan.pp = 1 << next(2);
		v->dp_attention = 1 << next(3);
		if (s->model.moe.experts > 0 && next(2))
			s->plan.ep = s->plan.tp * v->dp_attention;
		v->disaggregated = true;
		v->prefill_gpus = s->cluster.gpus >> (1 + next(2));
		v->prefill_tp = 1 << next(4);
		v->prefill_pp = 1;
		v->prefill_dp_attention = 1;
		v->prefill_ep = 1;
	} while (scenario_check(s, NULL) != 0);
}

static void test_drawn(void **state)
{
	static const char *const rows[][2] = { { "vllm", "vllm" },
					       { "sglang", "sglang" },
					       { "trtllm", "tensorrt-llm" } };

	(void)state;
	seed = 14;
	for (int i = 0; i < 60; i++) {
		struct scenario s;

		draw_plan(&s, rows[i % 3][1]);
		check_plan(rows[i % 3][0], &s);
	}
}

/* Engines that are alike, of which a command starts one: all of them are started, and
 * read back as what was written where the script has each of them. */
static void test_alike(void **state)
{
	static const char *const rows[][2] = { { "vllm", "vllm" },
					       { "sglang", "sglang" },
					       { "trtllm", "tensorrt-llm" } };
	int several = 0;

	(void)state;
	seed = 15;
	for (int i = 0; i < 60; i++) {
		struct format_request request;
		struct scenario s;
		int64_t node, engine, engines;
		char *text;

		draw_plan(&s, rows[i % 3][1]);
		s.plan.serving.disaggregated = false;
		node = s.cluster.gpus_per_node;
		engine = s.plan.tp * s.plan.pp * s.plan.serving.dp_attention;
		engines = s.cluster.gpus / engine;
		if (scenario_check(&s, NULL) != 0 || engines < 2)
			continue;
		request = (struct format_request){ .scenario = &s };
		text = format_find_written(rows[i % 3][0])->out.write(&request);
		assert_non_null(text);
		if (strstr(text, " &\n") && !strstr(text, "refuses it") &&
		    !strstr(text, "is left to you")) {
			play(text,
			     s.cluster.gpus > node ? (int)(s.cluster.gpus / node) : 1);
			check_apart(text);
			check_balancer(rows[i % 3][0], s.cluster.gpus > node, text);
			assert_int_equal(heads(false), engines);
			several++;
		}
		free(text);
	}
	assert_true(several > 20);
}

static void expect_words(const struct heard *server, const char *words)
{
	if (!strstr(server->words, words))
		fail_msg("no '%s' in '%s' of node %d", words, server->words,
			 server->node);
}

/* Copies of the attention of several nodes each: one command over all nodes for vLLM,
 * which tells the copy of a node from its rank (vllm/engine/arg_utils.py). Engines of a
 * dense model know nothing of each other, so each is a server. */
static void test_copies_over_nodes(void **state)
{
	static const struct {
		const char *model, *precision;
		int tp, pp, copies, gpus, span;
	} rows[] = {
		{ "deepseek-v3", "fp8-block", 16, 1, 2, 32, 4 },
		{ "deepseek-v3", "fp8-block", 8, 2, 4, 64, 8 },
		{ "llama3.1-405b", "bf16", 8, 2, 1, 64, 2 },
		{ "llama3.1-405b", "bf16", 16, 2, 1, 64, 4 },
	};

	(void)state;
	for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
		struct format_request request;
		struct scenario s;
		struct error error;
		char *text, why[256];

		assert_true(
			scenario_blank(&s, rows[r].model, "dgx-h100", "vllm", &error));
		s.plan.mode = MODE_INFERENCE;
		assert_true(knob_parse(&s, knob_find("precision"), rows[r].precision,
				       why, sizeof why));
		s.cluster.gpus = rows[r].gpus;
		s.plan.tp = rows[r].tp;
		s.plan.pp = rows[r].pp;
		s.plan.serving.dp_attention = rows[r].copies;
		s.plan.ep = rows[r].copies > 1 ? rows[r].tp * rows[r].copies : 1;
		assert_int_equal(scenario_check(&s, NULL), 0);
		request = (struct format_request){ .scenario = &s };
		text = format_find_written("vllm")->out.write(&request);
		assert_non_null(text);
		assert_null(strstr(text, "dp_attention"));
		play(text, rows[r].gpus / 8);
		assert_int_equal(stage.servers, rows[r].gpus / 8);
		for (int i = 0; i < stage.servers; i++) {
			const struct heard *server = &stage.server[i];
			int rank = i % rows[r].span;
			char words[128];

			assert_int_equal(server->node, i);
			snprintf(words, sizeof words,
				 "--nnodes %d --node-rank %d --master-addr h%d ",
				 rows[r].span, rank, i - rank);
			expect_words(server, words);
			assert_int_equal(strstr(server->words, "--headless ") != NULL,
					 rank > 0);
			snprintf(words, sizeof words, "--data-parallel-size %d ",
				 rows[r].copies);
			if (rows[r].copies > 1)
				expect_words(server, words);
			else
				assert_null(strstr(server->words, "--data-parallel"));
			/* it would say how many copies begin on a node: none */
			assert_null(
				strstr(server->words, "--data-parallel-size-local"));
		}
		free(text);
	}
}

static int make_folder(void **state)
{
	(void)state;
	strcpy(stage.folder, "/tmp/shardscope-pools-XXXXXX");
	if (!mkdtemp(stage.folder))
		return -1;
	write_file("stand_in", stand_in);
	return 0;
}

static int remove_folder(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", stage.folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_drawn),
					    cmocka_unit_test(test_alike),
					    cmocka_unit_test(test_copies_over_nodes) };

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
