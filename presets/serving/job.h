/* job.h - one text that is written for servers of a plan: what it is written of, and
 * the words that each server is started with.
 */
#ifndef PRESETS_SERVING_JOB_H
#define PRESETS_SERVING_JOB_H

#include "presets/serving/tool.h"

struct job {
	const struct tool *tool;
	const struct scenario *whole;
	const struct import_report *kept; /* of this tool's file; NULL */
	struct export_out *out;
	struct planned planned;
};

/* Words of one server, or of all engines of a pool that one command starts together. */
struct server_words {
	struct tool_writer w; /* of what follows */
	struct scenario pool;
	struct entries flags;
	struct node_share spread;
	char checkpoint[MAX_NOTE];
};

/* GPUs of one engine. */
int64_t job_engine(const struct plan *plan);
/* The tool that a plan's stack is, of whichever release; NULL: none. */
const struct tool *job_tool(const struct scenario *scenario);
/* False: out of memory. kept may be NULL or of another format. */
bool job_begin(struct job *job, const struct tool *tool,
	       const struct scenario *scenario, const struct import_report *kept);
/* The text, to be freed; NULL: out of memory. */
char *job_end(struct job *job, const char *first_line);
/* A server of a pool, or with `all` its engines together; where it stands, or NULL. To
 * be freed; NULL: out of memory, and the job has failed. */
struct server_words *job_server(const struct job *job, enum role role, bool all,
				const struct server_place *at);
/* What came with the file and nothing here models, and what stands idle. */
void job_keep(const struct job *job, struct server_words *words);

#endif
