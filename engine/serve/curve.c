/* curve.c - latency against throughput, and the operators of a pass. */
#include <math.h>

#include "engine/rules/legality.h"
#include "engine/serve/kernels.h"
#include "engine/serve/serve.h"
#include "engine/serve/serve_parts.h"

/* The next number of requests: evenly apart on a logarithmic axis, whole numbers. */
static double next(double now, double room, int most)
{
	double factor = most > 1 ? pow(room, 1.0 / (most - 1)) : room;

	return fmin(room, fmax(now + 1, ceil(now * factor - 1e-9)));
}

static void point_of(const struct serving_run *run, const struct scenario *s,
		     double running, struct serve_point *out)
{
	struct point p;

	run_at(run, running, &p);
	*out = (struct serve_point){
		.concurrency = running,
		.ttft_seconds = p.ttft_seconds + p.room_seconds,
		.tpot_seconds = p.tpot_seconds,
		.output_tokens_per_second = p.tokens_per_second,
		.per_gpu = p.tokens_per_second / (double)s->cluster.gpus,
		.per_user = 1 / p.tpot_seconds,
		.meets = run_meets(s, &p),
	};
}

bool serve_held(const struct scenario *s, double requests, struct serve_point *out)
{
	struct serving_run run;
	double most;

	if (scenario_check(s, NULL) != 0 || !run_open(s, &run))
		return false;
	run_room(&run);
	if (run.room < 1)
		return false;
	/* in two pools more are in flight than have room where they decode */
	most = fmax(run.room, run_in_flight(&run, s, run_asked(&run, s)));
	point_of(&run, s, fmin(requests, most), out);
	return true;
}

int serve_curve(const struct scenario *s, struct serve_point *out, int most)
{
	struct serving_run run;
	int count = 0;

	if (scenario_check(s, NULL) != 0 || !run_open(s, &run))
		return 0;
	run_room(&run);
	for (double c = 1; run.room >= 1 && count < most; c = next(c, run.room, most)) {
		double running = count == most - 1 ? run.room : c;

		point_of(&run, s, running, &out[count++]);
		if (running >= run.room)
			break;
	}
	return count;
}

int serve_knee(const struct serve_point *point, int count)
{
	const struct serve_point *last = &point[count - 1];
	double width, height, most = 0;
	int knee = -1;

	if (count < 3)
		return -1;
	width = point[0].per_user - last->per_user;
	height = last->per_gpu - point[0].per_gpu;
	if (!(width > 0) || !(height > 0))
		return -1;
	for (int i = 1; i < count - 1; i++) {
		/* how far beyond the chord from the first to the last point */
		double beyond = (point[i].per_user - last->per_user) / width +
				(point[i].per_gpu - point[0].per_gpu) / height - 1;

		if (beyond > most) {
			most = beyond;
			knee = i;
		}
	}
	return knee;
}

void serve_roofline(const struct scenario *s, struct serve_roofline *out)
{
	out->flops_per_second = kernel_peak(s, (enum precision)s->plan.precision);
	out->bytes_per_second = s->cluster.accelerator.memory_bytes_per_second;
}

int serve_operators(const struct scenario *s, bool prefill, struct serve_operator *out,
		    int most)
{
	struct serving_run run;
	struct batch b;
	struct pass pass;
	struct point p;
	int count = 0;

	if (scenario_check(s, NULL) != 0 || !run_open(s, &run))
		return 0;
	run_room(&run);
	run_working(&run, s, run_in_flight(&run, s, run_asked(&run, s)), &p);
	if (prefill)
		run_prompt_batch(&run, &b);
	else
		run_decode_batch(&run, p.decoding, &b);
	serve_pass(prefill ? &run_prompts(&run)->context : &run.decode.context, &b,
		   true, &pass);
	for (int i = 0; i < pass.operators; i++) {
		const struct pass_operator *op = &pass.operator[i];
		struct serve_operator item = { op->name,  op->count,   op->flops,
					       op->bytes, op->seconds, op->network };
		int at = count < most ? count++ : most;

		for (; at > 0 && out[at - 1].seconds < item.seconds; at--)
			if (at < most)
				out[at] = out[at - 1];
		if (at < most)
			out[at] = item;
	}
	return count;
}

void serve_begin(struct scenario *s)
{
	struct serving_plan *v = &s->plan.serving;
	struct serve_point point[32];
	struct scenario plain;
	int count, knee;

	scenario_defaults(&plain);
	if (v->goal_ttft_seconds <= 0 && v->goal_tpot_seconds <= 0) {
		v->goal_ttft_seconds = 2;
		v->goal_tpot_seconds = 0.05;
	}
	if (s->plan.precision == plain.plan.precision)
		s->plan.precision = s->model.precision;
	if (v->request_rate > 0 || v->concurrency != plain.plan.serving.concurrency)
		return;
	count = serve_curve(s, point, 32);
	knee = serve_knee(point, count);
	while (knee > 0 && !point[knee].meets)
		knee--;
	if (knee >= 0)
		v->concurrency = (int64_t)point[knee].concurrency;
}
