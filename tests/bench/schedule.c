/* schedule.c - how long the pipeline phase of each schedule takes. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/pipeline/pipeline.h"
#include "engine/schedule/simulate.h"
#include "tests/bench/bench.h"

enum { STAGES = 16, TIMES = 31, CALLS = 8, ASKED_CHUNKS = 4, MICRO_BATCHES = 256 };

/* Stages that differ by a few percent, and a head. */
static void fill(struct pipeline_input *in, int kind, int64_t m)
{
	int virtual;

	*in = (struct pipeline_input){ .stages = STAGES, .micro_batches = m };
	in->schedule = kind;
	in->chunks = (int)schedule_chunks(kind, STAGES, ASKED_CHUNKS);
	in->send_seconds = 0.02;
	in->overlap_send = true;
	virtual = in->stages * in->chunks;
	for (int k = 0; k < virtual; k++) {
		in->forward[k] = 1 + 0.01 * (k * 7 % 5);
		in->input_grad[k] = 1 + 0.01 * (k * 3 % 7);
		in->weight_grad[k] = 1 + 0.01 * (k * 5 % 3);
	}
	in->forward[virtual - 1] *= 1.3;
	in->input_grad[virtual - 1] *= 1.3;
}

static double time_step(const struct pipeline_input *in)
{
	static struct pipeline_result out;
	static double seconds[TIMES];

	for (int i = 0; i < TIMES; i++) {
		double start = bench_now();

		for (int k = 0; k < CALLS; k++)
			pipeline_step(in, &out);
		seconds[i] = (bench_now() - start) / CALLS;
	}
	return bench_median(seconds, TIMES);
}

/* Every micro-batch, made and simulated. */
static double time_whole(const struct pipeline_input *in, unsigned char *room,
			 size_t bytes)
{
	static double seconds[TIMES];
	struct schedule_request request = { .kind = in->schedule,
					    .stages = in->stages,
					    .chunks = in->chunks,
					    .micro_batches = (int)in->micro_batches,
					    .forward = in->forward,
					    .input_grad = in->input_grad,
					    .weight_grad = in->weight_grad };
	struct simulate_times times = { .forward = in->forward,
					.input_grad = in->input_grad,
					.weight_grad = in->weight_grad,
					.kept_for_weights = 1 };

	for (int i = 0; i < TIMES; i++) {
		struct arena arena = { room, bytes, 0 };
		struct schedule schedule;
		struct simulation ran;
		double start = bench_now();

		if (!schedule_make(&request, &arena, &schedule, NULL) ||
		    !simulate(&schedule, &times, false, &arena, &ran))
			return -1;
		seconds[i] = bench_now() - start;
	}
	return bench_median(seconds, TIMES);
}

int bench_schedules(struct schedule_time *out, int most)
{
	static struct pipeline_input in;
	size_t bytes = 4 * simulate_bytes(STAGES, ASKED_CHUNKS, STAGES * ASKED_CHUNKS,
					  MICRO_BATCHES, false);
	unsigned char *room = calloc(1, bytes);
	int count = 0;

	for (; room && count < SCHEDULE_COUNT && count < most; count++) {
		struct schedule_time *t = &out[count];

		t->name = schedule_words[count];
		for (int i = 0; i < 3; i++) {
			fill(&in, count, MICRO_BATCHES / 4 << i);
			t->seconds[i] = time_step(&in);
		}
		t->chunks = in.chunks;
		t->whole_seconds = time_whole(&in, room, bytes);
		if (t->whole_seconds < 0) {
			fprintf(stderr, "bench: %s does not run\n", t->name);
			break;
		}
	}
	free(room);
	return count;
}
