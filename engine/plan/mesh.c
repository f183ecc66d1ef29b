/* mesh.c - see mesh.h. */
#include "engine/plan/mesh.h"

#include <string.h>

#include "engine/schedule/schedule.h"

/* Members of a group within `span` neighbouring ranks. */
static int64_t members_within(int64_t span, int64_t ranks, int64_t stride)
{
	int64_t members = span / stride;

	if (members < 1)
		members = 1;
	return members < ranks ? members : ranks;
}

/* Where groups do not fill a domain evenly, some lie across a border. All wait for
 * those, which are cut somewhere: in the middle, in the mean. */
static int64_t members_together(int64_t span, int64_t world, int64_t ranks,
				int64_t stride)
{
	int64_t block = ranks * stride;

	if (block < span && span % block != 0 && world > span)
		return (ranks + 1) / 2;
	return members_within(span, ranks, stride);
}

static void place_group(const struct cluster *cluster, const struct mesh *mesh,
			struct group *group, int64_t ranks, int64_t stride)
{
	int64_t domain = cluster_domain(cluster);
	int64_t upper = cluster->link[LINK_UPPER].span;
	int64_t node = cluster->gpus_per_node > 0 ? cluster->gpus_per_node : 1;

	group->ranks = ranks > 0 ? ranks : 1;
	group->stride = stride > 0 ? stride : 1;
	group->per_domain =
		members_together(domain, mesh->world, group->ranks, group->stride);
	group->per_node = members_within(node, group->ranks, group->stride);
	group->beside = domain / group->per_domain;
	if (group->beside < 1)
		group->beside = 1;
	group->link = group->per_domain >= group->ranks ? LINK_DOMAIN : LINK_NETWORK;
	if (group->link == LINK_NETWORK && upper > 0 &&
	    members_within(upper, group->ranks, group->stride) < group->ranks)
		group->link = LINK_UPPER;
}

/* The mirrored stage holds the same weights; it shares a domain only where the whole
 * pipeline does. */
static void add_copies(const struct cluster *cluster, const struct mesh *mesh,
		       struct group *group)
{
	int64_t pipeline = mesh->tp * mesh->cp * mesh->dp * mesh->pp;
	int64_t upper = cluster->link[LINK_UPPER].span;
	int64_t node = cluster->gpus_per_node > 0 ? cluster->gpus_per_node : 1;

	if (mesh->copies < 2)
		return;
	group->ranks *= mesh->copies;
	if (pipeline <= node)
		group->per_node *= mesh->copies;
	if (pipeline <= cluster_domain(cluster)) {
		group->per_domain *= mesh->copies;
		return;
	}
	group->link = upper > 0 && pipeline > upper ? LINK_UPPER : LINK_NETWORK;
}

static int copies_of(const struct scenario *scenario, int64_t pp)
{
	return pp > 1 ? schedule_weight_copies(scenario->plan.schedule) : 1;
}

int mesh_copies(const struct scenario *scenario)
{
	return copies_of(scenario, scenario->plan.pp);
}

static void place_groups(const struct cluster *cluster, struct mesh *mesh)
{
	int64_t stage = mesh->tp * mesh->cp * mesh->dp;

	place_group(cluster, mesh, &mesh->tp_group, mesh->tp, 1);
	place_group(cluster, mesh, &mesh->cp_group, mesh->cp, mesh->tp);
	place_group(cluster, mesh, &mesh->dp_group, mesh->dp, mesh->tp * mesh->cp);
	place_group(cluster, mesh, &mesh->dense_group, mesh->dp * mesh->cp, mesh->tp);
	place_group(cluster, mesh, &mesh->pp_group, mesh->pp, stage);
	place_group(cluster, mesh, &mesh->etp_group, mesh->etp, 1);
	place_group(cluster, mesh, &mesh->ep_group, mesh->ep, mesh->etp);
	place_group(cluster, mesh, &mesh->edp_group, mesh->edp, mesh->etp * mesh->ep);
}

void mesh_place(const struct scenario *scenario, const struct mesh_degrees *of,
		struct mesh *mesh)
{
	const struct cluster *cluster = &scenario->cluster;
	bool experts = scenario->model.moe.experts > 0;

	mesh->world = of->world;
	mesh->tp = of->tp;
	mesh->cp = of->cp;
	mesh->pp = of->pp;
	mesh->dp = scenario_quotient(of->world, of->tp, of->cp, of->pp);
	mesh->ep = experts ? of->ep : 1;
	mesh->etp = of->etp;
	mesh->edp = experts ? scenario_quotient(of->world, of->etp, of->ep, of->pp) : 1;
	mesh->copies = copies_of(scenario, of->pp);
	place_groups(cluster, mesh);
	add_copies(cluster, mesh, &mesh->dense_group);
	if (experts)
		add_copies(cluster, mesh, &mesh->edp_group);
}

void mesh_build(const struct scenario *scenario, struct mesh *mesh)
{
	const struct plan *plan = &scenario->plan;

	mesh_place(scenario,
		   &(struct mesh_degrees){ .world = scenario->cluster.gpus,
					   .tp = plan->tp,
					   .cp = plan->cp,
					   .pp = plan->pp,
					   .ep = plan->ep,
					   .etp = scenario_etp(scenario) },
		   mesh);
}

void mesh_coordinates(const struct mesh *mesh, int64_t rank, struct coordinates *out)
{
	int64_t stage = mesh->tp * mesh->cp * mesh->dp; /* ranks of one stage */
	int64_t inside = rank % stage;

	out->pp = rank / stage;
	out->tp = inside % mesh->tp;
	out->cp = inside / mesh->tp % mesh->cp;
	out->dp = inside / (mesh->tp * mesh->cp);
	out->etp = inside % mesh->etp;
	out->ep = inside / mesh->etp % mesh->ep;
	out->edp = inside / (mesh->etp * mesh->ep);
}

bool mesh_shares_group(const struct mesh *mesh, enum dimension dimension, int64_t a,
		       int64_t b)
{
	struct coordinates x, y;

	mesh_coordinates(mesh, a, &x);
	mesh_coordinates(mesh, b, &y);
	switch (dimension) {
	case DIM_TP: return x.pp == y.pp && x.dp == y.dp && x.cp == y.cp;
	case DIM_CP: return x.pp == y.pp && x.dp == y.dp && x.tp == y.tp;
	case DIM_EP: return x.pp == y.pp && x.edp == y.edp && x.etp == y.etp;
	case DIM_PP: return x.tp == y.tp && x.cp == y.cp && x.dp == y.dp;
	case DIM_DP:
		return x.tp == y.tp && (x.pp == y.pp || (mesh->copies == 2 &&
							 x.pp + y.pp == mesh->pp - 1));
	default: return a == b;
	}
}
