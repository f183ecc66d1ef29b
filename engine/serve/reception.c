/* reception.c - see reception.h. */
#include "engine/serve/reception.h"

#include <math.h>

double reception_rate(const struct work *w, double processes)
{
	double each = w->s->stack.serving.prompt_seconds;

	return each > 0 ? processes / each : INFINITY;
}

void reception_wait(const struct work *w, double n, double processes, struct point *out)
{
	double each = w->s->stack.serving.prompt_seconds;
	double cycle = work_cycle(w, out), stays;

	if (!w->closed) {
		stays = work_stay(fmax(1, n / processes), each, fmax(0, cycle - each));
		out->received_seconds = work_bunching(w) * fmax(0, stays - each);
	} else {
		each /= processes;
		stays = out->ttft_seconds +
			out->ahead * fmax(0, each - out->served_seconds);
		out->received_seconds =
			work_within_capacity(stays, n, each,
					     cycle - out->ttft_seconds) -
			out->ttft_seconds;
	}
	out->ttft_seconds += out->received_seconds;
}
