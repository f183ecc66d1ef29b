/* tensor.h - the tensors of a layer one by one, with who holds which rows. */
#ifndef TESTS_TWIN_TENSOR_H
#define TESTS_TWIN_TENSOR_H

#include "tests/twin/twin.h"

/* Degrees of the ranks that share a layer; all 1 for the whole model. */
struct twin_split {
	int64_t tp, ep, etp;
};

/* One of the ranks that share a matrix. */
struct twin_part {
	int64_t ranks, which;
};

/* Elements of a layer, of the ends and of an MTP layer's own part on one rank. */
void twin_layer(const struct model *model, const struct layer_kind *kind,
		struct twin_split split, struct twin_rank rank,
		struct twin_weights *out);
double twin_norm(const struct model *model);
/* So many of `items` that are dealt out in order over `ranks` as rank `which` has. */
int64_t twin_mine(int64_t items, int64_t ranks, int64_t which);

#endif
