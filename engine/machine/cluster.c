/* cluster.c - see cluster.h. */
#include "engine/machine/cluster.h"

#include <stddef.h>

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

bool cluster_is_calibrated(const struct cluster *cluster)
{
	const struct calibration *c = &cluster->accelerator.calibration;
	const double scales[] = { cluster->scale, c->compute_scale, c->network_scale,
				  c->host_scale };

	for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++)
		if (scales[i] > 0 && scales[i] != 1)
			return true;
	return false;
}
