/* pipelined.c - pipelines alone, with times that are drawn: "1f1b p:4 v:1 m:8 draw:3".
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/pipeline/pipeline.h"
#include "engine/plan/plan.h"
#include "engine/schedule/schedule.h"
#include "tests/numbers/figures.h"
#include "tests/numbers/options.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static int schedule_of(const char *title)
{
	size_t length = strcspn(title, " ");

	for (int kind = 0; kind < SCHEDULE_COUNT; kind++)
		if (strlen(schedule_words[kind]) == length &&
		    strncmp(title, schedule_words[kind], length) == 0)
			return kind;
	fail_msg("%s is no schedule", title);
	return 0;
}

/* The forward of a stage of one chunk; a power of two of no second. */
static const double unit_seconds = 0.01171875;

/* Seconds of a virtual stage: `each`, and more by a share of up to `spread`. */
static double draw(double each, double spread)
{
	return unit_seconds * each * (1 + spread * (double)next(1000) / 1000);
}

/* Stages that differ by `spread`, the first one longer by the embedding and the last
 * one by the head, in shares of a virtual stage. */
static void draw_times(const char *title, struct pipeline_input *in)
{
	double spread = option_number(title, "spread", 0);
	double work = option_given(title, "idle") ? 0 : 1;
	int last = in->stages * in->chunks - 1;

	/* of stages that are not there nothing may be read */
	for (int k = 0; k < MAX_VIRTUAL; k++)
		in->forward[k] = in->input_grad[k] = in->weight_grad[k] = in->held[k] =
			in->pair_hides[k] = NAN;
	seed = 77 + (uint64_t)option_number(title, "draw", 0) * 1000003;
	for (int k = 0; k <= last; k++) {
		in->forward[k] = draw(work / in->chunks, spread);
		in->input_grad[k] = draw(1.1 * work / in->chunks, spread);
		in->weight_grad[k] = draw(0.9 * work / in->chunks, spread);
		in->held[k] = draw(1, 2);
		in->pair_hides[k] = draw(0.1 / in->chunks, 1);
	}
	if (option_given(title, "slow"))
		in->forward[(int)option_number(title, "slow", 0)] *= 12;
	in->forward[0] += draw(option_number(title, "embedding", 0) / in->chunks, 0);
	in->forward[last] += draw(option_number(title, "head", 0) / in->chunks, 0);
	in->input_grad[last] += draw(option_number(title, "head", 0) / in->chunks, 0);
}

static void read_title(const char *title, struct pipeline_input *in)
{
	*in = (struct pipeline_input){
		.schedule = schedule_of(title),
		.stages = (int)option_number(title, "p", 4),
		.chunks = (int)option_number(title, "v", 1),
		.micro_batches = (int64_t)option_number(title, "m", 8),
		.group = (int64_t)option_number(title, "group", 0),
		.send_seconds = unit_seconds * option_number(title, "send", 0),
		.overlap_send = option_given(title, "beside"),
		.weighed = option_given(title, "weighed"),
		.hides = option_given(title, "hides"),
		.optimizer_sync = option_given(title, "post") ? SYNC_POST_VALIDATION
							      : SYNC_BARRIER,
	};
	assert_true(in->stages * in->chunks <= MAX_VIRTUAL);
	draw_times(title, in);
}

/* Of stages that are not there nothing is said. */
static void check_untouched(const struct pipeline_result *r, int stages)
{
	struct pipeline_result blank;

	memset(&blank, 0x55, sizeof blank);
	if (stages == MAX_STAGES)
		return;
	assert_memory_equal(&r->busy[stages], &blank.busy[stages], sizeof(double));
	assert_memory_equal(&r->transfer[stages], &blank.transfer[stages],
			    sizeof(double));
	assert_memory_equal(&r->idle[stages], &blank.idle[stages], sizeof(double));
	assert_memory_equal(&r->in_flight[stages], &blank.in_flight[stages],
			    sizeof(double));
	assert_memory_equal(&r->in_flight_chunks[stages],
			    &blank.in_flight_chunks[stages], sizeof(int64_t));
}

/* The n-th stage's counted n times, so that what moves to another one shows. */
static void add_stages(struct figures *out, const char *key, const double *of,
		       int stages, double scale)
{
	double sum = 0;

	for (int s = 0; s < stages; s++)
		sum += (s + 1) * of[s];
	figures_add(out, key, sum, scale * stages * stages);
}

void figures_pipelined(const char *title, struct figures *out)
{
	static struct pipeline_input in;
	struct pipeline_result r, told;
	bool known;
	double chunks[MAX_STAGES];

	read_title(title, &in);
	out->count = 0;
	memset(&r, 0x55, sizeof r);
	told = r;
	pipeline_step(&in, &r);
	check_untouched(&r, in.stages);
	for (int s = 0; s < in.stages; s++)
		chunks[s] = (double)r.in_flight_chunks[s];
	figures_add(out, "seconds", r.seconds, 0);
	figures_add(out, "floor_seconds", pipeline_floor(&in), 0);
	add_stages(out, "stages.busy_seconds", r.busy, in.stages, r.seconds);
	add_stages(out, "stages.transfer_seconds", r.transfer, in.stages, r.seconds);
	add_stages(out, "stages.idle_seconds", r.idle, in.stages, r.seconds);
	add_stages(out, "stages.in_flight_micro_batches", r.in_flight, in.stages, 1);
	add_stages(out, "stages.in_flight_chunks", chunks, in.stages, 1);
	known = pipeline_in_flight(&in, &told);
	check_untouched(&told, in.stages);
	if (known) {
		add_stages(out, "stages.told_micro_batches", told.in_flight, in.stages,
			   1);
		return;
	}
	add_stages(out, "stages.least_micro_batches", told.in_flight, in.stages, 1);
	pipeline_order_in_flight(&in, &told);
	add_stages(out, "stages.ordered_micro_batches", told.in_flight, in.stages, 1);
}
