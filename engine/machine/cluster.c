/* cluster.c - see cluster.h. */
#include "engine/machine/cluster.h"

#include <stddef.h>

const struct precision_row precision_table[PRECISION_COUNT] = {
	[PRECISION_BF16] = { true, true, false, 2, 2 },
	[PRECISION_FP16] = { true, true, false, 2, 2 },
	[PRECISION_FP32] = { true, true, false, 4, 4 },
	[PRECISION_FP8] = { true, false, false, 1, 1 },
	[PRECISION_MXFP8] = { true, false, true, 1 + 1.0 / 32, 1 + 1.0 / 32 },
	[PRECISION_NVFP4] = { true, false, true, 0.5 + 1.0 / 16, 0.5 + 1.0 / 16 },
	/* scales of 32 bits: per row one for 128, of weights one for 128 x 128 */
	[PRECISION_FP8_BLOCK] = { false, false, true, 1 + 4.0 / 128,
				  1 + 4.0 / (128 * 128) },
	[PRECISION_INT8] = { false, false, false, 1, 1 },
	/* of 128 weights one scale in 16 bits and one zero point in 4: the usual groups
	 * of GPTQ and AWQ (AutoGPTQ/AutoGPTQ README.md, quantize_config;
	 * mit-han-lab/llm-awq README.md, --q_group_size) */
	[PRECISION_INT4] = { false, false, false, 2, 0.5 + 2.5 / 128 },
	[PRECISION_MXFP4] = { false, false, true, 0.5 + 1.0 / 32, 0.5 + 1.0 / 32 },
};

const struct attention_row attention_table[ATTENTION_COUNT] = {
	[ATTENTION_FLASH1] = { .flash = true, .generation = 1 },
	[ATTENTION_FLASH2] = { .flash = true, .generation = 2 },
	[ATTENTION_FLASH3] = { .flash = true, .generation = 3 },
};

/* Of a domain of several nodes up to two may stay out of a job (a rack of 72 gives 64),
 * where the job then takes as much of each domain. */
static int64_t even_share(int64_t span, int64_t node, int64_t gpus)
{
	if (gpus % span == 0)
		return span;
	for (int64_t out = 1; out <= 2; out++) {
		int64_t share = span - span % node - out * node;

		if (share > 0 && gpus % share == 0)
			return share;
	}
	return span;
}

/* Of pods a job takes slices that are alike (PaLM: 3072 chips of each of two 4096). */
static int64_t equal_slices(int64_t span, int64_t gpus)
{
	int64_t pods = (gpus + span - 1) / span;

	return gpus % pods == 0 ? gpus / pods : span;
}

int64_t cluster_domain(const struct cluster *cluster)
{
	int64_t span = cluster->link[LINK_DOMAIN].span, node = cluster->gpus_per_node;

	if (span < 1)
		span = 1;
	if (span >= cluster->gpus)
		return cluster->gpus;
	if (cluster->torus)
		return equal_slices(span, cluster->gpus);
	if (node < 1 || span < 4 * node)
		return span;
	return even_share(span, node, cluster->gpus);
}

double cluster_host_shares(const struct cluster *cluster)
{
	double node = (double)cluster->gpus_per_node, gpus = (double)cluster->gpus;

	return gpus > 0 && gpus < node ? node / gpus : 1;
}

double cluster_host_rate(const struct cluster *cluster)
{
	const struct accelerator *a = &cluster->accelerator;
	int64_t node = cluster->gpus_per_node, used = cluster->gpus;
	double shared = a->host_bytes_per_second, way;

	if (shared <= 0 || used < 1)
		return shared;
	way = a->host_alone_bytes_per_second /
	      (double)(node > 0 && node < used ? node : used);
	return way > shared ? way : shared;
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
