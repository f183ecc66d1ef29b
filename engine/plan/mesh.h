/* mesh.h - which rank sits where? Placement innermost first: tp, cp, dp, pp;
 * expert layers: etp, ep, edp, pp over the same ranks.
 */
#ifndef ENGINE_PLAN_MESH_H
#define ENGINE_PLAN_MESH_H

#include "engine/plan/dimension.h"
#include "engine/plan/scenario.h"

/* A family of groups: `ranks` members, `stride` apart. */
struct group {
	int64_t ranks, stride;
	int64_t per_domain; /* members that share one fast domain */
	int64_t per_node;
	enum link_level link; /* slowest level that the group crosses */
	/* groups of this family that share one domain's way out at once */
	int64_t beside;
};

struct mesh {
	int64_t world, tp, cp, dp, pp, ep, etp, edp;
	/* 2 where each stage's weights live on the mirrored stage too (DualPipe,
	 * Chimera): dense_group and edp_group then span both */
	int64_t copies;
	struct group tp_group, cp_group, dp_group, dense_group /* dp*cp */, pp_group,
		ep_group, etp_group, edp_group;
};

/* Coordinates of a rank along each dimension. */
struct coordinates {
	int64_t tp, cp, dp, pp, ep, etp, edp;
};

/* Copies of the weights that each stage holds; one stage alone has no use for two. */
int mesh_copies(const struct scenario *scenario);
void mesh_build(const struct scenario *scenario, struct mesh *mesh);
/* The same of other degrees than the plan's, on that many ranks: of an engine. */
struct mesh_degrees {
	int64_t world, tp, cp, pp, ep, etp;
};
void mesh_place(const struct scenario *scenario, const struct mesh_degrees *degrees,
		struct mesh *mesh);
void mesh_coordinates(const struct mesh *mesh, int64_t rank, struct coordinates *out);
/* Whether two ranks share a group of that dimension (DIM_EP: the expert group;
 * DIM_DP: replicas of dense weights over dp and cp). */
bool mesh_shares_group(const struct mesh *mesh, enum dimension dimension, int64_t a,
		       int64_t b);

#endif
