/* test_chakra.c - Chakra traces, read as ASTRA-sim's reader does: lengths, nodes, what
 * waits for what, and that what is sent is received. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/chakra.h"
#include "presets/library.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/run.h"

enum { COMPUTE = 4, SEND = 5, RECEIVE = 6, MAX_NODES = 4096, MOST_STAGES = 16 };

struct event {
	uint64_t id, type, duration, after[4];
	int afters;
	int64_t source, target, tag, size;
	bool gpu;
};

struct trace {
	int count;
	struct event node[MAX_NODES];
};

static struct trace traces[MOST_STAGES];

/* A varint; the test fails beyond the end. */
static uint64_t number(const uint8_t **at, const uint8_t *stop)
{
	uint64_t value = 0;

	for (int shift = 0;; shift += 7) {
		assert_true(*at < stop && shift < 64);
		value |= (uint64_t)(**at & 0x7f) << shift;
		if (!(*(*at)++ & 0x80))
			return value;
	}
}

static void read_attribute(struct event *node, const uint8_t *at, const uint8_t *stop)
{
	char name[32] = "";
	uint64_t value = 0;
	int kind = 0;

	while (at < stop) {
		uint64_t key = number(&at, stop);

		if ((key & 7) == 2) {
			uint64_t length = number(&at, stop);

			assert_true(length < sizeof name &&
				    length <= (uint64_t)(stop - at));
			assert_int_equal(key >> 3, 1);
			memcpy(name, at, length);
			name[length] = '\0';
			at += length;
		} else {
			kind = (int)(key >> 3);
			value = number(&at, stop);
		}
	}
	/* the members of the oneof that et_feeder_node.cpp asks for */
	if (strcmp(name, "is_cpu_op") == 0) {
		assert_int_equal(kind, 27);
		node->gpu = value == 0;
	} else if (strcmp(name, "comm_size") == 0) {
		assert_int_equal(kind, 9);
		node->size = (int64_t)value;
	} else {
		assert_int_equal(kind, 7);
		if (strcmp(name, "comm_src") == 0)
			node->source = (int64_t)value;
		else if (strcmp(name, "comm_dst") == 0)
			node->target = (int64_t)value;
		else if (strcmp(name, "comm_tag") == 0)
			node->tag = (int64_t)value;
		else
			fail_msg("attribute %s", name);
	}
}

static void read_node(struct event *node, const uint8_t *at, const uint8_t *stop)
{
	while (at < stop) {
		uint64_t key = number(&at, stop), value = number(&at, stop);
		int field = (int)(key >> 3);

		if ((key & 7) == 2) {
			assert_true(value <= (uint64_t)(stop - at));
			if (field == 10)
				read_attribute(node, at, at + value);
			at += value;
		} else if (field == 1) {
			node->id = value;
		} else if (field == 3) {
			node->type = value;
		} else if (field == 5) {
			assert_true(node->afters < 4);
			node->after[node->afters++] = value;
		} else if (field == 7) {
			node->duration = value;
		}
	}
}

/* The first message is the file's own, the others are nodes. */
static void read_trace(struct trace *trace, const uint8_t *at, size_t length)
{
	const uint8_t *stop = at + length;
	bool head = true;

	trace->count = 0;
	while (at < stop) {
		uint64_t size = number(&at, stop);

		assert_true(size <= (uint64_t)(stop - at));
		if (!head) {
			assert_true(trace->count < MAX_NODES);
			memset(&trace->node[trace->count], 0, sizeof(struct event));
			read_node(&trace->node[trace->count++], at, at + size);
		}
		head = false;
		at += size;
	}
	assert_true(at == stop);
}

static const struct event *find(const struct trace *trace, uint64_t id)
{
	for (int i = 0; i < trace->count; i++)
		if (trace->node[i].id == id)
			return &trace->node[i];
	return NULL;
}

/* Numbers are unique, what a node waits for stands before it. */
static void check_order(const struct trace *trace)
{
	for (int i = 0; i < trace->count; i++) {
		const struct event *node = &trace->node[i];

		assert_true(node->gpu);
		assert_ptr_equal(find(trace, node->id), node);
		for (int k = 0; k < node->afters; k++)
			assert_true(find(trace, node->after[k]) < node &&
				    find(trace, node->after[k]) != NULL);
	}
}

static int matches(int stages, int stage, const struct event *sent)
{
	int found = 0;

	assert_true(sent->target >= 0 && sent->target < stages);
	assert_int_equal(sent->source, stage);
	for (int i = 0; i < traces[sent->target].count; i++) {
		const struct event *other = &traces[sent->target].node[i];

		found += other->type == RECEIVE && other->source == stage &&
			 other->target == sent->target && other->tag == sent->tag &&
			 other->size == sent->size;
	}
	return found;
}

/* As a machine runs it with one transfer of a stage at a time: nobody waits for ever.
 * Returns the seconds until the last one is through, where transfers take none. */
static double check_runs(int stages)
{
	static bool done[MOST_STAGES][MAX_NODES];
	static double ends[MOST_STAGES][MAX_NODES];
	bool moved = true;
	int left = 0;
	double last = 0;

	memset(done, 0, sizeof done);
	while (moved) {
		moved = false;
		left = 0;
		for (int s = 0; s < stages; s++)
			for (int i = 0; i < traces[s].count; i++) {
				const struct event *n = &traces[s].node[i];
				bool ready = !done[s][i];
				double at = 0;

				left += !done[s][i];
				for (int k = 0; k < n->afters && ready; k++) {
					ptrdiff_t j = find(&traces[s], n->after[k]) -
						      traces[s].node;

					ready = done[s][j];
					at = fmax(at, ends[s][j]);
				}
				if (ready && n->type == RECEIVE) {
					const struct trace *t = &traces[n->source];

					ready = false;
					for (int j = 0; j < t->count && !ready; j++) {
						ready = done[n->source][j] &&
							t->node[j].type == SEND &&
							t->node[j].tag == n->tag &&
							t->node[j].target == s;
						at = ready ? fmax(at,
								  ends[n->source][j])
							   : at;
					}
				}
				if (ready)
					ends[s][i] = at + (double)n->duration / 1e6;
				if (ready)
					last = fmax(last, ends[s][i]);
				done[s][i] = done[s][i] || ready;
				moved = moved || ready;
			}
	}
	assert_int_equal(left, 0);
	return last;
}

static double tied_bytes(const struct estimate *estimate)
{
	double bytes = 0;

	for (int i = 0; i < estimate->traffic_count; i++)
		if (estimate->traffic[i].dimension == DIM_PP &&
		    estimate->traffic[i].kind == COLLECTIVE_ALL_REDUCE)
			bytes += estimate->traffic[i].count *
				 estimate->traffic[i].payload_bytes;
	return bytes;
}

static void check_plan(const struct scenario *s)
{
	size_t bytes = timeline_bytes(s);
	struct arena arena = { .base = malloc(bytes), .size = bytes };
	struct estimate *estimate = malloc(sizeof *estimate);
	struct timeline_problem problem;
	struct timeline t;
	struct chakra_source source = { .timeline = &t };
	double sent = 0, whole = 0, runs;

	if (!timeline_build(s, &arena, estimate, &t, &problem))
		fail_msg("%s", problem.reason);
	source.bytes = chakra_transfer_bytes(&t, estimate);
	for (int stage = 0; stage < t.stages; stage++) {
		size_t length;
		char *text = chakra_stage(&source, stage, &length);

		assert_non_null(text);
		read_trace(&traces[stage], (const uint8_t *)text, length);
		free(text);
	}
	for (int stage = 0; stage < t.stages; stage++) {
		const struct trace *trace = &traces[stage];
		double busy = 0;

		check_order(trace);
		for (int i = 0; i < trace->count; i++) {
			busy += (double)trace->node[i].duration / 1e6;
			if (trace->node[i].type == SEND)
				assert_int_equal(
					matches(t.stages, stage, &trace->node[i]), 1);
			if (trace->node[i].type == SEND)
				sent += (double)trace->node[i].size;
		}
		assert_close(busy, t.stage[stage].busy + t.stage[stage].tail_seconds,
			     1e-3);
		whole = fmax(whole, t.pipeline_seconds + t.stage[stage].tail_seconds);
	}
	/* it takes what the timeline does, but for its transfers */
	runs = check_runs(t.stages);
	if (runs > 1.005 * whole || runs < 0.95 * whole)
		fail_msg("%g s, the timeline %g", runs, whole);
	/* what all stages send is what the estimate counts, a mean of them, without the
	 * gradients of tied embeddings */
	assert_close(sent / t.stages,
		     metric_get(estimate, metric_find("pp.payload_bytes")) -
			     tied_bytes(estimate),
		     1e-6);
	free(estimate);
	free(arena.base);
}

static void test_plans(void **state)
{
	static const char *const schedules[] = { "gpipe", "1f1b", "zb-h1" };
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++) {
		case_dense(&s);
		case_set(&s, "pp", "4");
		case_set(&s, "gbs", "64");
		case_set(&s, "schedule", schedules[i]);
		check_plan(&s);
	}
	s.model.tied_embeddings = true;
	check_plan(&s);
	s.model.tied_embeddings = false;
	case_set(&s, "schedule", "dualpipe");
	check_plan(&s);
	case_set(&s, "schedule", "interleaved");
	case_set(&s, "vpp", "2");
	check_plan(&s);
	case_set(&s, "schedule", "zb-v");
	check_plan(&s);
}

/* Of a cut each stage has its micro-batches' items, what is received is sent by a stage
 * of the cut, and it runs to its end. */
static void check_cut(const struct scenario *s, struct trace_cut cut)
{
	size_t bytes = timeline_bytes(s);
	struct arena arena = { .base = malloc(bytes), .size = bytes };
	struct estimate *estimate = malloc(sizeof *estimate);
	struct timeline_problem problem;
	struct timeline t;
	struct chakra_source source = { &t, cut, 1000 };
	int transfers = 0;

	if (!timeline_build(s, &arena, estimate, &t, &problem))
		fail_msg("%s", problem.reason);
	for (int stage = 0; stage < cut.stages; stage++) {
		size_t length;
		char *text = chakra_stage(&source, stage, &length);

		assert_non_null(text);
		read_trace(&traces[stage], (const uint8_t *)text, length);
		free(text);
	}
	for (int stage = 0; stage < cut.stages; stage++) {
		const struct trace *trace = &traces[stage];
		int computed = 0;

		check_order(trace);
		for (int i = 0; i < trace->count; i++) {
			computed += trace->node[i].type == COMPUTE;
			if (trace->node[i].type == SEND)
				assert_int_equal(
					matches(cut.stages, stage, &trace->node[i]), 1);
			transfers += trace->node[i].type == RECEIVE;
		}
		/* forward and backward of each, and the end of the step */
		assert_int_equal(computed, 2 * cut.micro_batches + 1);
	}
	assert_int_equal(transfers, 2 * (cut.stages - 1) * cut.micro_batches);
	check_runs(cut.stages);
	free(estimate);
	free(arena.base);
}

static void test_cuts(void **state)
{
	struct scenario s;

	(void)state;
	case_dense(&s);
	case_set(&s, "pp", "4");
	case_set(&s, "gbs", "64");
	case_set(&s, "schedule", "1f1b");
	check_cut(&s, (struct trace_cut){ 4, 3 });
	check_cut(&s, (struct trace_cut){ 2, 3 });
	check_cut(&s, (struct trace_cut){ 1, 1 });
}

/* The command makes the folder, and one file a stage. */
static void test_command(void **state)
{
	char folder[] = "/tmp/shardscope-XXXXXX", command[256], path[128];
	FILE *stream;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof command,
		 "export chakra %s/new llama3-70b-64-h100 --tp 8 --pp 4", folder);
	run_check(command, 0, "4 files in", NULL);
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof path, "%s/new/llama3.1-70b.%d.et", folder, i);
		stream = fopen(path, "r");
		assert_non_null(stream);
		fclose(stream);
		remove(path);
	}
	snprintf(path, sizeof path, "%s/new", folder);
	remove(path);
	snprintf(command, sizeof command,
		 "export chakra %s llama3-70b-64-h100 --tp 8 --pp 4 --stages 1 "
		 "--micro-batches 2",
		 folder);
	run_check(command, 0, "1 files in", NULL);
	snprintf(path, sizeof path, "%s/llama3.1-70b.0.et", folder);
	assert_int_equal(remove(path), 0);
	snprintf(command, sizeof command,
		 "export chakra %s llama3-70b-64-h100 --tp 8 --pp 4 --gbs 65536 "
		 "--stages 2",
		 folder);
	run_check(command, 0, "2 files in", NULL);
	snprintf(command, sizeof command,
		 "export chakra %s llama3-70b-64-h100 --tp 8 --pp 4 --gbs 131072",
		 folder);
	run_check(command, 0, "4 files in", "MB; --stages N and --micro-batches N cut");
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof path, "%s/llama3.1-70b.%d.et", folder, i);
		assert_int_equal(remove(path), 0);
	}
	assert_int_equal(remove(folder), 0);
	run_check("export chakra", 2, NULL, "needs a folder");
	run_check("export chakra x llama3.1-70b-4-h100-serve", 2, NULL, "of training");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plans),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
