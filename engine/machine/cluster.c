/* cluster.c - see cluster.h. */
#include "engine/machine/cluster.h"

int64_t cluster_domain(const struct cluster *cluster)
{
	int64_t span = cluster->link[LINK_DOMAIN].span;

	if (span < 1)
		span = 1;
	return span < cluster->gpus ? span : cluster->gpus;
}

double cluster_watts(const struct cluster *cluster, double busy)
{
	const struct accelerator *a = &cluster->accelerator;
	double watts = a->idle_watts + busy * (a->tdp_watts - a->idle_watts) +
		       cluster->host_watts_per_gpu;

	return watts * (cluster->pue > 0 ? cluster->pue : 1);
}
