/* requests.h - a log of requests as a list: when each came, how long prompt and output
 * are, which part of the prompt an earlier one had. */
#ifndef PRESETS_REQUESTS_H
#define PRESETS_REQUESTS_H

#include "engine/queue/queue.h"
#include "presets/error.h"

struct request_log {
	struct queue_item *item; /* arrivals in seconds from the first one */
	int count;
	int left_out; /* without output */
	bool arrives; /* the file says when */
	/* means of prompt and output, seconds from the first to the last arrival */
	double prompt, output, seconds;
	double cached; /* share of all prompt tokens that earlier ones had */
	/* the request that takes most tokens, and its line */
	int64_t longest;
	long longest_line;
	char file[256]; /* as errors call it */
};

/* "-" is standard input. At most `most` requests are read, 0 = all. False with the
 * error filled, which names the line. */
bool requests_read(struct request_log *log, const char *path, int most,
		   struct error *error);
/* Requests whose prompt and output together are longer; 0 = no limit. */
int requests_beyond(const struct request_log *log, int64_t tokens);
void requests_free(struct request_log *log);

#endif
