/* features.c - rules about recomputation, offload, kernels and overlaps that do
 * not go together. */
#include "engine/model/mixer.h"
#include "engine/rules/rules.h"
#include "engine/schedule/schedule.h"

static bool recomputes(const struct facts *f, enum recompute_module module)
{
	return f->plan->recompute == RECOMPUTE_SELECTIVE &&
	       f->plan->remat_policy == REMAT_MODULES &&
	       (f->plan->recompute_modules >> module & 1);
}

static int64_t without(const struct facts *f, uint64_t modules)
{
	return (int64_t)(f->plan->recompute_modules & ~modules);
}

bool breaks_e17(const struct facts *f, struct broken *out)
{
	if (f->plan->recompute != RECOMPUTE_SELECTIVE || f->plan->recompute_layers < 1)
		return false;
	*out = (struct broken){ .value = { (double)f->plan->recompute_layers },
				.mend = { { "recompute_layers", MEND_VALUE, 0 } } };
	return true;
}

bool breaks_e17_empty(const struct facts *f, struct broken *out)
{
	if (f->plan->recompute != RECOMPUTE_SELECTIVE || f->plan->recompute_modules ||
	    f->plan->remat_policy != REMAT_MODULES)
		return false;
	*out = (struct broken){
		.mend = { { "recompute_modules", MEND_VALUE, 1 << MODULE_CORE_ATTN },
			  { "recompute", MEND_VALUE, RECOMPUTE_NONE } },
	};
	return true;
}

bool breaks_e18_gemm(const struct facts *f, struct broken *out)
{
	if (!f->moe || f->plan->grouped_gemm || !recomputes(f, MODULE_MOE_ACT))
		return false;
	*out = (struct broken){
		.mend = { { "grouped_gemm", MEND_VALUE, 1 },
			  { "recompute_modules", MEND_VALUE,
			    without(f, 1 << MODULE_MOE_ACT) } },
	};
	return true;
}

bool breaks_e18_mla(const struct facts *f, struct broken *out)
{
	if (!recomputes(f, MODULE_MLA_UP_PROJ) || mixer_latent_any(f->model))
		return false;
	*out = (struct broken){
		.mend = { { "recompute_modules", MEND_VALUE,
			    without(f, 1 << MODULE_MLA_UP_PROJ) },
			  { "recompute", MEND_VALUE, RECOMPUTE_NONE } },
	};
	return true;
}

bool breaks_e19(const struct facts *f, struct broken *out)
{
	if (!f->moe || !f->plan->shared_expert_overlap ||
	    !recomputes(f, MODULE_SHARED_EXPERTS))
		return false;
	*out = (struct broken){
		.mend = { { "shared_expert_overlap", MEND_VALUE, 0 },
			  { "recompute_modules", MEND_VALUE,
			    without(f, 1 << MODULE_SHARED_EXPERTS) } },
	};
	return true;
}

bool breaks_e20(const struct facts *f, struct broken *out)
{
	if (f->plan->precision != PRECISION_FP8 || f->plan->fp8_recipe != FP8_DELAYED ||
	    (!recomputes(f, MODULE_MOE_ACT) && !recomputes(f, MODULE_LAYERNORM)))
		return false;
	*out = (struct broken){
		.mend = { { "fp8_recipe", MEND_VALUE, FP8_CURRENT_SCALING },
			  { "recompute_modules", MEND_VALUE,
			    without(f, 1 << MODULE_MOE_ACT | 1 << MODULE_LAYERNORM) } },
	};
	return true;
}

static bool overlaps_experts(const struct facts *f)
{
	return f->moe && f->ep > 1 && f->plan->ep_overlap;
}

static bool overlaps_shared(const struct facts *f)
{
	return f->moe && f->model->moe.shared_ffn > 0 && f->plan->shared_expert_overlap;
}

bool breaks_e21_full(const struct facts *f, struct broken *out)
{
	if (!overlaps_experts(f) || f->plan->recompute != RECOMPUTE_FULL)
		return false;
	*out = (struct broken){ .mend = { { "ep_overlap", MEND_VALUE, 0 },
					  { "recompute", MEND_VALUE,
					    RECOMPUTE_SELECTIVE } } };
	return true;
}

bool breaks_e21_chunks(const struct facts *f, struct broken *out)
{
	if (!overlaps_experts(f) || f->pp < 2 || f->chunks != 1 ||
	    schedule_pairs(f->plan->schedule))
		return false;
	*out = (struct broken){ .value = { (double)f->pp },
				.mend = { { "vpp", MEND_AROUND, 0 },
					  { "ep_overlap", MEND_VALUE, 0 } } };
	return true;
}

bool breaks_e21_dispatcher(const struct facts *f, struct broken *out)
{
	if (!overlaps_experts(f) || f->plan->moe_dispatcher != DISPATCH_ALLGATHER)
		return false;
	*out = (struct broken){
		.mend = { { "moe_dispatcher", MEND_VALUE, DISPATCH_ALLTOALL },
			  { "ep_overlap", MEND_VALUE, 0 } },
	};
	return true;
}

bool breaks_e21_moe(const struct facts *f, struct broken *out)
{
	if (!overlaps_experts(f) || !recomputes(f, MODULE_MOE))
		return false;
	*out = (struct broken){
		.mend = { { "recompute_modules", MEND_VALUE,
			    without(f, 1 << MODULE_MOE) },
			  { "ep_overlap", MEND_VALUE, 0 } },
	};
	return true;
}

bool breaks_e21_alone(const struct facts *f, struct broken *out)
{
	if (!f->moe || f->ep > 1 || !f->plan->ep_overlap)
		return false;
	*out = (struct broken){ .mend = { { "ep_overlap", MEND_VALUE, 0 },
					  { "ep", MEND_AROUND, 0 } } };
	return true;
}

bool breaks_e21_precision(const struct facts *f, struct broken *out)
{
	if (!overlaps_experts(f) || f->plan->precision != PRECISION_FP32)
		return false;
	*out = (struct broken){ .mend = {
					{ "ep_overlap", MEND_VALUE, 0 },
					{ "precision", MEND_VALUE, PRECISION_BF16 } } };
	return true;
}

bool breaks_e21_shared(const struct facts *f, struct broken *out)
{
	if (!overlaps_experts(f) || !overlaps_shared(f))
		return false;
	*out = (struct broken){ .mend = { { "shared_expert_overlap", MEND_VALUE, 0 },
					  { "ep_overlap", MEND_VALUE, 0 } } };
	return true;
}

bool breaks_e22_layers(const struct facts *f, struct broken *out)
{
	if (!(f->plan->activation_offload >= 1))
		return false;
	*out = (struct broken){ .value = { (double)f->model->layers },
				.mend = { { "activation_offload", MEND_AROUND, 0 } } };
	return true;
}

bool breaks_e22_pp(const struct facts *f, struct broken *out)
{
	if (!(f->plan->activation_offload > 0) || f->pp < 2)
		return false;
	*out = (struct broken){ .value = { (double)f->pp },
				.mend = { { "activation_offload", MEND_VALUE, 0 } } };
	return true;
}

bool breaks_e22_recompute(const struct facts *f, struct broken *out)
{
	if (!(f->plan->activation_offload > 0) || f->plan->recompute == RECOMPUTE_NONE)
		return false;
	*out = (struct broken){
		.mend = { { "recompute", MEND_VALUE, RECOMPUTE_NONE },
			  { "activation_offload", MEND_VALUE, 0 } },
	};
	return true;
}

bool breaks_e22_graphs(const struct facts *f, struct broken *out)
{
	if (!(f->plan->activation_offload > 0) || f->plan->cuda_graphs == GRAPHS_NONE)
		return false;
	*out = (struct broken){
		.mend = { { "cuda_graphs", MEND_VALUE, GRAPHS_NONE },
			  { "activation_offload", MEND_VALUE, 0 } },
	};
	return true;
}

bool breaks_e23(const struct facts *f, struct broken *out)
{
	if (!f->plan->tp_overlap || f->plan->sp || f->tp < 2)
		return false;
	*out = (struct broken){ .value = { (double)f->tp },
				.mend = { { "sp", MEND_VALUE, 1 },
					  { "tp_overlap", MEND_VALUE, 0 } } };
	return true;
}

bool breaks_e24(const struct facts *f, struct broken *out)
{
	if (!f->moe || f->tp < 2 || f->plan->sp)
		return false;
	*out = (struct broken){ .value = { (double)f->tp },
				.mend = { { "sp", MEND_VALUE, 1 } } };
	return true;
}

bool breaks_e26(const struct facts *f, struct broken *out)
{
	if (!f->plan->sp || f->tp != 1)
		return false;
	*out = (struct broken){ .mend = { { "sp", MEND_VALUE, 0 } } };
	return true;
}

bool breaks_e27(const struct facts *f, struct broken *out)
{
	if (!recomputes(f, MODULE_CORE_ATTN) ||
	    !attention_table[f->plan->attention_kernel].flash)
		return false;
	*out = (struct broken){
		.value = { (double)f->plan->attention_kernel },
		.mend = { { "recompute_modules", MEND_VALUE,
			    without(f, 1 << MODULE_CORE_ATTN) },
			  { "recompute", MEND_VALUE, RECOMPUTE_NONE } },
	};
	return true;
}

bool breaks_e28(const struct facts *f, struct broken *out)
{
	int64_t padded = scenario_padded_vocab(f->scenario);
	double waste = (double)(padded - f->model->vocab) / (double)f->model->vocab;

	if (f->model->vocab < 1 || waste <= 0.01)
		return false;
	*out = (struct broken){
		.value = { (double)f->model->vocab, (double)padded,
			   (double)f->scenario->stack.vocab_multiple, (double)f->tp,
			   waste },
		.mend = { { "tp", MEND_AROUND, 0 } },
	};
	return true;
}

bool breaks_e29(const struct facts *f, struct broken *out)
{
	if (!overlaps_shared(f) || f->plan->moe_dispatcher != DISPATCH_ALLGATHER)
		return false;
	*out = (struct broken){
		.mend = { { "moe_dispatcher", MEND_VALUE, DISPATCH_ALLTOALL },
			  { "shared_expert_overlap", MEND_VALUE, 0 } },
	};
	return true;
}

bool breaks_e30(const struct facts *f, struct broken *out)
{
	if (f->plan->zero < 1 || !f->plan->overlap_param_gather ||
	    f->plan->overlap_grad_reduce)
		return false;
	*out = (struct broken){ .mend = { { "overlap_grad_reduce", MEND_VALUE, 1 },
					  { "overlap_param_gather", MEND_VALUE, 0 } } };
	return true;
}

bool breaks_e31(const struct facts *f, struct broken *out)
{
	if (f->plan->cuda_graphs != GRAPHS_PARTIAL ||
	    f->plan->recompute != RECOMPUTE_FULL)
		return false;
	*out = (struct broken){ .mend = { { "cuda_graphs", MEND_VALUE, GRAPHS_FULL },
					  { "cuda_graphs", MEND_VALUE, GRAPHS_NONE },
					  { "recompute", MEND_VALUE,
					    RECOMPUTE_SELECTIVE } } };
	return true;
}

bool breaks_e32(const struct facts *f, struct broken *out)
{
	if (f->plan->zero < 2 || f->plan->optimizer != OPTIMIZER_MUON)
		return false;
	*out = (struct broken){ .value = { (double)f->plan->zero },
				.mend = { { "zero", MEND_VALUE, 1 },
					  { "optimizer", MEND_VALUE,
					    OPTIMIZER_ADAMW } } };
	return true;
}

static uint64_t sent_modules(const struct facts *f)
{
	bool live = f->plan->recompute == RECOMPUTE_NONE ||
		    (f->plan->recompute == RECOMPUTE_SELECTIVE &&
		     f->plan->remat_policy == REMAT_MODULES);

	return live ? f->plan->offload_modules : 0;
}

bool breaks_e37(const struct facts *f, struct broken *out)
{
	const uint64_t core = 1 << OFFLOAD_CORE_ATTN, proj = 1 << OFFLOAD_ATTN_PROJ;
	uint64_t sent = sent_modules(f);

	if ((sent & proj) == 0 || (sent & core) != 0)
		return false;
	*out = (struct broken){
		.mend = { { "offload_modules", MEND_VALUE, (int64_t)(sent | core) },
			  { "offload_modules", MEND_VALUE, (int64_t)(sent & ~proj) } },
	};
	return true;
}

bool breaks_e37_layers(const struct facts *f, struct broken *out)
{
	if (sent_modules(f) == 0 || !(f->plan->activation_offload > 0))
		return false;
	*out = (struct broken){ .mend = { { "activation_offload", MEND_VALUE, 0 },
					  { "offload_modules", MEND_VALUE, 0 } } };
	return true;
}

static bool has_wide_layers(const struct facts *f)
{
	return scenario_trains_narrow(f->scenario) &&
	       (f->plan->wide_first > 0 || f->plan->wide_last > 0);
}

bool breaks_e36(const struct facts *f, struct broken *out)
{
	if (!has_wide_layers(f) || f->plan->precision != PRECISION_FP8 ||
	    f->plan->fp8_recipe != FP8_DELAYED)
		return false;
	*out = (struct broken){ .mend = { { "fp8_recipe", MEND_VALUE,
					    FP8_CURRENT_SCALING } } };
	return true;
}

bool breaks_recipe(const struct facts *f, struct broken *out)
{
	if (f->plan->precision != PRECISION_FP8 || f->plan->fp8_recipe != FP8_MXFP8)
		return false;
	*out = (struct broken){ .mend = { { "precision", MEND_VALUE, PRECISION_MXFP8 },
					  { "fp8_recipe", MEND_VALUE,
					    FP8_CURRENT_SCALING } } };
	return true;
}

bool breaks_e36_stage(const struct facts *f, struct broken *out)
{
	int64_t each = f->pp > 0 ? f->model->layers / f->pp : 0;
	bool first = f->plan->wide_first > f->plan->wide_last;
	int64_t most = first ? f->plan->wide_first : f->plan->wide_last;

	/* its NVFP4 has no such check */
	if (!has_wide_layers(f) || f->plan->precision == PRECISION_NVFP4 ||
	    most <= each)
		return false;
	*out = (struct broken){ .value = { (double)most, (double)each },
				.mend = { { first ? "wide_first" : "wide_last",
					    MEND_VALUE, each } } };
	return true;
}

bool breaks_wide_layers(const struct facts *f, struct broken *out)
{
	int64_t layers = f->model->layers, first = f->plan->wide_first;

	if (!has_wide_layers(f) || first + f->plan->wide_last <= layers)
		return false;
	*out = (struct broken){ .value = { (double)first, (double)f->plan->wide_last,
					   (double)layers } };
	out->mend[0] = first < layers ? (struct mend){ "wide_last", MEND_VALUE,
						       layers - first }
				      : (struct mend){ "wide_first", MEND_VALUE, 0 };
	return true;
}

bool breaks_wide_kinds(const struct facts *f, struct broken *out)
{
	struct scenario room;
	const struct model *m = &room.model;

	bool freezes = scenario_freezes(f->scenario);

	if ((!has_wide_layers(f) && !freezes) || f->model->layers < 1)
		return false;
	room = *f->scenario;
	scenario_mark(&room);
	/* the first or the last layer is one */
	if (m->kind[m->layer[0]].wide || m->kind[m->layer[0]].frozen ||
	    m->kind[m->layer[m->layers - 1]].wide)
		return false;
	*out = (struct broken){ .value = { MAX_LAYER_KINDS },
				.mend = { { freezes ? "frozen_layers" : "wide_first",
					    MEND_VALUE, 0 },
					  { "wide_last", MEND_VALUE, 0 } } };
	return true;
}

/* What this accelerator trains in instead. */
static void set_precisions(const struct facts *f, struct broken *out)
{
	const double *peak = f->scenario->cluster.accelerator.peak_flops;
	int n = 0;

	*out = (struct broken){ .value = { (double)f->plan->precision } };
	for (int i = 0; i <= PRECISION_NVFP4 && n < MAX_MENDS; i++)
		if (peak[i] > 0)
			out->mend[n++] = (struct mend){ "precision", MEND_VALUE, i };
}

bool breaks_precision(const struct facts *f, struct broken *out)
{
	const double *peak = f->scenario->cluster.accelerator.peak_flops;

	if (!precision_table[f->plan->precision].trains || peak[f->plan->precision] > 0)
		return false;
	set_precisions(f, out);
	return true;
}

bool breaks_trained_precision(const struct facts *f, struct broken *out)
{
	if (precision_table[f->plan->precision].trains)
		return false;
	set_precisions(f, out);
	return true;
}

bool breaks_host_link(const struct facts *f, struct broken *out)
{
	if (f->scenario->cluster.accelerator.host_bytes_per_second > 0 ||
	    (!(f->plan->optimizer_offload > 0) && !plan_sends_activations(f->plan)))
		return false;
	*out = (struct broken){
		.mend = { { f->plan->optimizer_offload > 0 ? "optimizer_offload"
							   : "activation_offload",
			    MEND_VALUE, 0 } },
	};
	return true;
}

bool breaks_frozen_layers(const struct facts *f, struct broken *out)
{
	int64_t layers = f->model->layers;

	if (!scenario_freezes(f->scenario) || f->plan->frozen_layers < layers)
		return false;
	*out = (struct broken){
		.value = { (double)f->plan->frozen_layers, (double)layers },
		.mend = { { "frozen_layers", MEND_VALUE, layers - 1 } }
	};
	return true;
}

bool breaks_frozen_stages(const struct facts *f, struct broken *out)
{
	if (!scenario_freezes(f->scenario) || f->plan->pp < 2)
		return false;
	*out = (struct broken){ .value = { (double)f->plan->pp },
				.mend = { { "pp", MEND_VALUE, 1 },
					  { "frozen_layers", MEND_VALUE, 0 } } };
	return true;
}

bool breaks_lora(const struct facts *f, struct broken *out)
{
	if (f->plan->lora_rank <= f->model->hidden)
		return false;
	*out = (struct broken){
		.value = { (double)f->plan->lora_rank, (double)f->model->hidden },
		.mend = { { "lora_rank", MEND_AROUND, 0 } },
	};
	return true;
}
