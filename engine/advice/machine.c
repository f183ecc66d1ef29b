/* machine.c - notes on how the plan lies on links, kernels and published recipes. */
#include <math.h>
#include <string.h>

#include "engine/advice/rules.h"
#include "engine/model/mixer.h"

static double exposed_share(const struct situation *now, enum dimension dimension)
{
	return now->estimate->cost[dimension].exposed_seconds /
	       now->estimate->step_seconds;
}

static bool tp_crosses(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = (double)now->plan->tp;
	value[1] = (double)now->domain;
	value[2] = exposed_share(now, DIM_TP);
	return now->plan->tp > now->domain;
}

/* FLOPs per byte that a link carries, at the peak of the precision. */
static double flops_per_byte(const struct situation *now, enum link_level level)
{
	const struct cluster *c = &now->scenario->cluster;
	double peak = c->accelerator.peak_flops[now->plan->precision];
	double rate = c->link[level].bytes_per_second;

	if (level == LINK_UPPER)
		rate = c->link[LINK_NETWORK].bytes_per_second /
		       fmax(1, c->link[LINK_UPPER].oversubscription);
	return rate > 0 ? peak / rate : 0;
}

static double tokens_per_gpu(const struct situation *now)
{
	return now->estimate->tokens_per_step / (double)now->estimate->world;
}

/* Width of the MLP that TP splits; a MoE's is an expert's. */
static double ffn_width(const struct situation *now)
{
	double width = 0;

	for (int k = 0; k < now->model->kinds; k++)
		if (now->model->kind[k].mlp == MLP_DENSE)
			width = fmax(width, (double)now->model->kind[k].ffn);
	return width;
}

static bool tp_beyond_width(const struct situation *now, double value[MAX_TERMS])
{
	double ratio = flops_per_byte(now, LINK_DOMAIN);

	value[0] = (double)now->plan->tp;
	value[1] = ratio > 0 ? ffn_width(now) / ratio : 0;
	return now->plan->tp > 1 && value[1] > 0 && value[0] > value[1];
}

static bool torus_is_bound(const struct situation *now, double value[MAX_TERMS])
{
	double ratio = flops_per_byte(now, LINK_DOMAIN), width = ffn_width(now);

	value[0] = tokens_per_gpu(now);
	value[1] = width > 0 ? 2 * ratio * ratio / width : 0;
	return now->scenario->cluster.torus && now->plan->zero == 3 &&
	       now->plan->tp > 1 && value[0] < value[1];
}

static bool leaf_is_bound(const struct situation *now, double value[MAX_TERMS])
{
	int64_t span = now->scenario->cluster.link[LINK_UPPER].span;

	value[0] = tokens_per_gpu(now) * (double)span;
	value[1] = flops_per_byte(now, LINK_UPPER);
	return span > 0 && now->estimate->world > span && now->estimate->dp > 1 &&
	       value[0] < value[1];
}

static bool is_ethernet(const struct cluster *cluster)
{
	static const char *const names[] = { "RoCE", "EFA", "Ethernet", "data centre" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strncmp(cluster->link[LINK_NETWORK].name, names[i],
			    strlen(names[i])) == 0)
			return true;
	return false;
}

static bool ethernet_carries_layers(const struct situation *now,
				    double value[MAX_TERMS])
{
	const struct dimension_cost *cost = now->estimate->cost;
	double inside = cost[DIM_TP].network_bytes + cost[DIM_CP].network_bytes +
			cost[DIM_EP].network_bytes;

	value[0] = inside;
	return is_ethernet(&now->scenario->cluster) && inside > 0;
}

static bool odd_widths(const struct situation *now, double value[MAX_TERMS])
{
	for (int k = 0; k < now->model->kinds; k++) {
		const struct layer_kind *kind = &now->model->kind[k];
		int64_t ffn = kind->mlp == MLP_DENSE ? kind->ffn / now->plan->tp : 0;
		const struct mixer *mixer = mixer_of(kind);
		int64_t head =
			mixer->attends && !mixer->latent ? kind->attention.head_dim : 0;

		value[0] = (double)(head % 8 != 0 ? head : ffn);
		if (head % 8 != 0 || ffn % 8 != 0)
			return true;
	}
	return false;
}

static bool overlap_may_hurt(const struct situation *now, double value[MAX_TERMS])
{
	(void)value;
	return now->moe && now->plan->overlap_grad_reduce && now->estimate->dp > 1 &&
	       now->scenario->cluster.accelerator.year == 2022;
}

static bool shared_experts_wait(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = exposed_share(now, DIM_EP);
	return now->moe && now->model->moe.shared_ffn > 0 && now->plan->ep > 1 &&
	       !now->plan->shared_expert_overlap && value[0] > 0.05;
}

static bool records_streams(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = (double)now->plan->tp;
	return now->plan->tp > 1 &&
	       strcmp(now->scenario->stack.name, "torchtitan") == 0;
}

/* Where NVIDIA's guide starts; parameters up to which a row holds. */
struct start {
	double parameters;
	double tp_low, tp_high, pp_low;
};

static const struct start dense_starts[] = {
	{ 1e9, 1, 1, 1 },   { 10e9, 2, 4, 1 },  { 70e9, 4, 8, 2 },
	{ 175e9, 8, 8, 4 }, { 500e9, 8, 8, 8 },
};
static const struct start moe_starts[] = {
	{ 20e9, 1, 1, 1 },
	{ 100e9, 1, 2, 2 },
	{ 500e9, 2, 4, 8 },
	{ INFINITY, 2, 2, 16 },
};

static const struct start *start_of(const struct start *rows, size_t count,
				    double parameters)
{
	for (size_t i = 0; i < count; i++)
		if (parameters <= rows[i].parameters)
			return &rows[i];
	return NULL;
}

/* A recipe is worth a line where the plan is smaller than it and too large. */
static bool below_recipes(const struct situation *now, double value[MAX_TERMS])
{
	const struct start *row =
		now->moe ? start_of(moe_starts, sizeof moe_starts / sizeof *moe_starts,
				    now->estimate->parameters)
			 : start_of(dense_starts,
				    sizeof dense_starts / sizeof *dense_starts,
				    now->estimate->parameters);

	if (!row || !estimate_is_too_large(now->estimate))
		return false;
	value[0] = row->tp_low;
	value[1] = row->pp_low;
	return now->plan->tp * now->plan->pp < (int64_t)(row->tp_low * row->pp_low);
}

/* TP as wide as the whole model would want it, though few parameters work. */
static bool tp_for_all_parameters(const struct situation *now, double value[MAX_TERMS])
{
	const struct start *row =
		start_of(dense_starts, sizeof dense_starts / sizeof *dense_starts,
			 now->estimate->active_parameters);

	if (!now->moe || !row)
		return false;
	value[0] = (double)now->plan->tp;
	value[1] = now->estimate->active_parameters;
	value[2] = row->tp_high;
	return value[0] > value[2];
}

const struct note advice_machine_notes[] = {
	{ { "T2", SEVERITY_WARNING,
	    "TP {0} leaves the fast domain of {1}: {2:percent} of the step is "
	    "exposed",
	    "B docs/performance-guide.md:38" },
	  "tp",
	  tp_crosses },
	{ { "T17", SEVERITY_HINT,
	    "TP is {0}: above {1:real} (ffn x bandwidth / FLOP/s) traffic takes "
	    "longer than computing",
	    "jax-ml scaling-book, training" },
	  "tp",
	  tp_beyond_width },
	{ { "T18", SEVERITY_WARNING,
	    "{0:tokens} tokens per GPU are below {1:tokens}: FSDP with TP is bound by "
	    "the links",
	    "jax-ml scaling-book, training" },
	  "gbs",
	  torus_is_bound },
	{ { "T20", SEVERITY_WARNING,
	    "{0:tokens} tokens per leaf switch are below {1:tokens}: DP is bound by "
	    "the upper switches",
	    "jax-ml scaling-book, training" },
	  "gbs",
	  leaf_is_bound },
	{ { "T22", SEVERITY_HINT,
	    "TP, CP and EP send {0:traffic} per step over Ethernet: PP would send "
	    "less",
	    "B docs/parallelisms.md, By Hardware Topology" },
	  "tp",
	  ethernet_carries_layers },
	{ { "T31", SEVERITY_HINT,
	    "overlapped DP gradients take SMs from the all-to-all on Hopper (not "
	    "modelled)",
	    "B skills recipe-recommender, pitfalls" },
	  "overlap_grad_reduce",
	  overlap_may_hurt },
	{ { "T15", SEVERITY_HINT,
	    "shared experts could run during the all-to-all that exposes "
	    "{0:percent}",
	    "M megatron/core/transformer/moe/README.md:246-252" },
	  "shared_expert_overlap",
	  shared_experts_wait },
	{ { "T33", SEVERITY_HINT,
	    "TP {0}: set TORCH_NCCL_AVOID_RECORD_STREAMS=1, or memory grows",
	    "torchtitan docs/composability.md:27" },
	  NULL,
	  records_streams },
	{ { "T35", SEVERITY_HINT, "recipes for this size start at TP {0} and PP {1}",
	    "B docs/parallelisms.md:459-480" },
	  "tp",
	  below_recipes },
	{ { "T36", SEVERITY_HINT,
	    "TP {0} for {1:count} active parameters: dense models of that size "
	    "use at most {2}; use EP for experts",
	    "B skills parallelism-strategies" },
	  "tp",
	  tp_for_all_parameters },
	{ { "T25", SEVERITY_WARNING,
	    "matrices are {0} wide on a rank: not a multiple of 8, tensor cores "
	    "idle",
	    "stas00/ml-engineering training/performance:718-720" },
	  NULL,
	  odd_widths },
};

int advice_machine_note_count(void)
{
	return (int)(sizeof advice_machine_notes / sizeof advice_machine_notes[0]);
}
