/* still.c - why all values of a knob may give the same, of those that do so in plans
 * where they apply. */
#include <string.h>

#include "engine/glossary/glossary.h"

/* Each is true of any plan: it says when the knob counts for nothing. */
static const struct {
	const char *key, *why;
} still[] = {
	{ "async_tp",
	  "It is another way to the overlap that TP overlap already brings." },
	{ "compile",
	  "Kernels that are fused anyway leave nothing to fuse, and launches "
	  "cost nothing while the GPU is busy longer than the CPU." },
	{ "cuda_graphs",
	  "They save launches, which cost nothing while the GPU is busy longer than the "
	  "CPU." },
	{ "document_len",
	  "Attention without a flash kernel computes the whole square, whatever "
	  "documents leave of it." },
	{ "etp", "Auto stands for a degree itself: here that one." },
	{ "fused_norms",
	  "Norms of one kernel, plain positions and MLPs without a gate have nothing "
	  "to fuse." },
	{ "host_binding", "It speeds up launches, which cost nothing while the GPU is "
			  "busy longer than the CPU." },
	{ "in_network_reduction",
	  "It counts where a sum crosses switches that add up; with two domains, or "
	  "none to cross, an exchange is as quick." },
	{ "pp", "A pipeline needs more than one GPU, and layers that all train: see "
		"frozen_layers." },
	{ "leaf_gpus",
	  "Leaf switches cost nothing where their links upwards are as wide as those "
	  "below: see oversubscription." },
	{ "micro_batch_group",
	  "With as many micro-batches as stages there is one group, whatever its "
	  "size." },
	{ "moe_capacity",
	  "While experts get equal shares, none is beyond its capacity and none has room "
	  "to fill." },
	{ "network_gbps_per_gpu", "Nothing leaves the fast domain." },
	{ "optimizer_sync",
	  "It counts where stages end their backward one after the other." },
	{ "overlap_grad_reduce",
	  "Under FSDP gradients leave layer by layer, beside a second gather that "
	  "takes as long." },
	{ "overlap_param_gather",
	  "Under FSDP weights are gathered layer by layer, as the prefetch says." },
	{ "scale_fusion",
	  "It saves launches, which cost nothing while the GPU is busy longer than "
	  "the CPU." },
	{ "shared_expert_overlap",
	  "Nothing hides where no tokens travel, or where the software overlaps none of it." },
	{ "split", "Layers that part evenly are dealt out evenly by every rule." },
	{ "split_embedding",
	  "Layers that part evenly without the embedding are not dealt out with it." },
	{ "split_loss",
	  "Layers that part evenly without the head are not dealt out with it." },
	{ "vpp",
	  "A layout that is written out says itself how many pieces there are." },
};

const char *glossary_still(const char *key)
{
	for (size_t i = 0; i < sizeof still / sizeof still[0]; i++)
		if (strcmp(still[i].key, key) == 0)
			return still[i].why;
	return NULL;
}
