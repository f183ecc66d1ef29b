/* queue.h - a server of requests a second time: one pass after the other, one request
 * after the other, with nothing taken together and nothing kept that can be counted
 * anew. Written from engine/queue/queue.h, with which it shares the structs. */
#ifndef TESTS_TWIN_QUEUE_H
#define TESTS_TWIN_QUEUE_H

#include "engine/queue/queue.h"

enum { TWIN_REQUESTS = 64, TWIN_SERVERS = 6 };

struct twin_queue {
	int64_t passes;
	int preempted;
	double recomputed_tokens;
};

/* A load whose lengths are listed, and whose arrivals are listed or a closed loop. */
void twin_queue(const struct queue_system *system, const struct queue_load *load,
		struct queue_record *records, struct twin_queue *out);

#endif
