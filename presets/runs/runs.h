/* runs.h - measured training runs: files of them in, predictions beside them out.
 *
 * A file holds `models` (shapes, in the keys of presets/models) and `groups` of runs
 * that share a source, a stack and a cluster. A run has one key per knob, `measured`,
 * and `use`: what it may be scored on. tests/validation/README.md explains the keys.
 *
 * One fault is one line; what can be read beside it is still scored.
 */
#ifndef PRESETS_RUNS_RUNS_H
#define PRESETS_RUNS_RUNS_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/estimate/estimate.h"
#include "engine/score/score.h"
#include "presets/error.h"

/* Which of the allocator's figures a source printed as peak memory. */
enum memory_kind { MEMORY_ALLOCATED, MEMORY_RESERVED, MEMORY_OTHER, MEMORY_KIND_COUNT };

struct measured_run {
	char id[128];
	char software_version[64]; /* as the source prints it; "" = not stated */
	int source;                /* file, from 0 in the order of reading */
	int group;                 /* of all files together */
	bool readable;             /* the scenario below is there */
	bool last_only;            /* memory was measured on the last stage alone */
	bool layers_only;          /* time: of the layers' passes, without embedding,
				    * loss and update */
	bool scores_time, scores_memory, scores_fit;
	enum memory_kind memory_kind;
	double step_seconds, peak_bytes; /* 0 = not stated */
	double serving[SCORE_FIGURES];   /* measured; 0 = not stated */
	bool scores_serving[SCORE_FIGURES];
	bool fits;
	bool states_share; /* of a server's memory */
	int requests;      /* of a burst; 0 = not one */
	struct scenario scenario;
};

struct run_set {
	struct measured_run *run;
	int count, room;
	char (*source)[MAX_NAME]; /* names of the files, without folder and ending */
	int sources;
	int groups;
	struct error *fault; /* "FILE:LINE: ..." */
	int faults;
};

/* Add a file's runs. False with error filled if nothing of it can be read; faults
 * inside are added to the set. */
bool runs_read(struct run_set *set, const char *path, struct error *error);
bool runs_parse(struct run_set *set, const char *name, const char *text, size_t length,
		struct error *error);
void runs_free(struct run_set *set);

/* Estimate a run and put prediction beside measurement, memory of the measured kind.
 * estimate->legal is false for a run that is refused. */
/* Which kinds of servers (enum score_kind) this is one of. */
void run_kinds(const struct scenario *scenario, bool kind[SCORE_KINDS]);
void run_predict(const struct measured_run *run, struct estimate *estimate,
		 struct score_run *out);

/* Shares of the step that hang on each scale (struct calibration_run), of a scenario
 * that is legal; scratch and estimate are overwritten. */
void run_scale_shares(const struct scenario *scenario, struct scenario *scratch,
		      struct estimate *estimate, double *out);

/* All predictions and the scores of each source (room for set->sources) and in total.
 * False: out of memory. */
struct run_scores {
	struct score_run *rows; /* one per run */
	struct score *source;
	struct score total;
};
bool runs_score(const struct run_set *set, struct run_scores *out);
void run_scores_free(struct run_scores *scores);
/* The object of `validate --json`, to be freed; NULL: out of memory. */
char *runs_json(const struct run_set *set, const struct run_scores *scores);

#endif
