/* split.h - which layers go to which stage and chunk? */
#ifndef ENGINE_PLAN_SPLIT_H
#define ENGINE_PLAN_SPLIT_H

#include "engine/plan/scenario.h"

/* Layers first[k] to first[k + 1] - 1 of the model run on virtual stage k, counted
 * in model order: k = chunk * pp + place. Which pipeline stage that is says
 * schedule_stage() (place, but mirrored in the odd chunks of V-shaped schedules).
 * MTP layers and the head are on the last one, the embedding on the first,
 * unless a layout says otherwise. Only virtual_stages + 1 entries of the array are
 * written. */
struct split {
	int virtual_stages;
	int16_t first[MAX_VIRTUAL + 1];
	int16_t mtp_stage, head_stage, embedding_stage; /* virtual */
};

/* Layers of each of the model's kinds on virtual stage k, in model.kinds counts. */
void split_count(const struct model *model, const struct split *split, int k,
		 int16_t *count);

/* What SPLIT_BALANCED_MEMORY balances: the bytes that the stage of virtual stage k
 * holds if each of its chunks had so many layers of each kind; never less with a layer
 * more. */
struct split_cost {
	double (*bytes)(const void *of, int k, const int16_t *kind_layers);
	const void *of;
};

/* Chunks (virtual stages per rank): of the layout string with SPLIT_CUSTOM, else
 * what the schedule really uses; 0 if the layout can't be read or does not give
 * whole chunks. */
int64_t split_chunks(const struct scenario *scenario);
/* False if the layers can't be split like that (the rules say why). weights is
 * the relative work of a layer of each kind, then embedding, head and one MTP
 * layer; it steers SPLIT_BALANCED and SPLIT_AUTO, and may be NULL for 1 per layer
 * and MTP layer, nothing for embedding and head. The slowest stage is the least
 * possible with one chunk (exact); with several no chunk is slower than it must be, and
 * what freedom that leaves evens the stages; with two copies of the weights, where a
 * stage's two parts count together, it is near the least possible. A stage without
 * layers appears in layouts, where the embedding or the head alone outweighs the
 * others, or when there are fewer layers than stages. */
bool split_layers(const struct scenario *scenario, const double *weights,
		  struct split *out);
/* SPLIT_BALANCED_MEMORY, which split_layers() takes as SPLIT_BALANCED: the fullest
 * stage holds the least possible with one chunk (exact), near it with several; what
 * freedom that leaves evens the work. */
bool split_by_memory(const struct scenario *scenario, const double *weights,
		     const struct split_cost *cost, struct split *out);
/* Whether the plan itself says which stage has how many layers. */
static inline bool split_is_told(int split)
{
	return split == SPLIT_FIRST_LAST || split == SPLIT_CUSTOM;
}
/* What SPLIT_AUTO comes to: SPLIT_EVEN, SPLIT_BALANCED, or on a stack that has a way of
 * its own, SPLIT_AUTO; other kinds are returned as they are. */
int split_resolve(const struct scenario *scenario);
/* Whether it is what SPLIT_EVEN gives. */
bool split_is_even(const struct scenario *scenario, const struct split *split);
/* Megatron's layout string ("Et*2|(t*2|)*34,t*3|t*2L"): stages, and layers per
 * stage in counts (room for MAX_VIRTUAL). -1 with the reason in why. */
int split_parse_layout(const char *layout, int16_t *counts, char *why, int size);
/* The same in short: virtual stages and all layers; -1 stages and the character at
 * fault (from 1) if it can't be read. */
struct layout_facts {
	int stages, layers, fault;
};
void split_layout_facts(const char *layout, struct layout_facts *out);
/* The layout string of a split; false (and an empty string) if size is too small. */
bool split_layout(const struct scenario *scenario, const struct split *split, char *out,
		  int size);

#endif
