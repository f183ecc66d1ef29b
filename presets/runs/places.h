/* places.h - what a measured run was measured of and on: its model, cluster and stack,
 * from its file or from the library.
 */
#ifndef PRESETS_RUNS_PLACES_H
#define PRESETS_RUNS_PLACES_H

#include "presets/document.h"
#include "presets/runs/runs.h"

/* One file being read. */
struct reading {
	struct run_set *set;
	const struct document *document;
	const struct node *models;
	int mode;             /* enum plan_mode */
	struct scenario base; /* of the group: cluster, stack and its defaults */
	bool base_good;
	struct model model; /* the last one read, most runs in a row share it */
	const struct node *shape;
	const char *model_name;
};

/* Whether the node is there and says this. */
bool run_text_is(const struct node *node, const char *text);
/* A knob by its key; false with FILE:LINE. */
bool run_set_knob(struct scenario *s, const struct document *document,
		  const struct node *node, struct error *error);
/* Cluster and stack of a group of runs; false where a fault was noted. */
bool run_read_cluster(struct reading *r, const struct node *group);
bool run_read_stack(struct reading *r, const struct node *group);
/* A shape of this file, or a shipped model; false with the error. */
bool run_read_model(struct reading *r, const struct node *run, struct error *error);
/* One more of what is wrong with the files of a set. */
void run_add_fault(struct run_set *set, const struct error *error);

#endif
