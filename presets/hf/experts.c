/* experts.c - see experts.h. */
#include "presets/hf/experts.h"

#include <string.h>

#include "presets/hf/doubts.h"

/* How many there are, how many of them see a token, and how wide they are. */
static const char counts[] =
	"num_experts num_local_experts n_routed_experts num_routed_experts "
	"moe_num_experts moe_num_primary_experts ffn_config.moe_num_experts";
static const char picked[] =
	"num_experts_per_tok num_experts_per_token experts_per_token moe_k moe_top_k "
	"top_k_experts moe_topk moe_num_active_primary_experts "
	"ffn_config.moe_top_k";
static const char widths[] =
	"moe_intermediate_size expert_intermediate_size "
	"expert_ffn_hidden_size expert_hidden_dim moe_ffn_hidden_size";

static bool is_llama4(const struct hf_reader *r)
{
	return r->family && strcmp(r->family->model_type, "llama4") == 0;
}

/* By the name of its family, which says so. */
static bool is_mixture(const struct hf_reader *r)
{
	return r->family && (strstr(r->family->model_type, "moe") ||
			     strstr(r->family->model_type, "mixtral"));
}

static void read_shared_expert(struct hf_reader *r, struct moe *moe)
{
	moe->shared_experts = hf_count(r,
				       "n_shared_experts num_shared_experts "
				       "moe_num_shared_experts num_shared_expert",
				       is_llama4(r));
	moe->shared_ffn = hf_count(r,
				   "shared_expert_intermediate_size share_expert_dim "
				   "moe_shared_expert_intermediate_size "
				   "shared_intermediate_size",
				   moe->shared_experts * moe->expert_ffn);
	if (moe->shared_ffn > 0 && moe->shared_experts == 0)
		moe->shared_experts = 1;
	moe->shared_gate = moe->shared_ffn > 0 && (hf_traits(r) & FAMILY_SHARED_GATE);
}

/* Those that the router picks of. */
static void read_routed(struct hf_reader *r, struct model *model, int64_t ffn)
{
	struct moe *moe = &model->moe;
	bool wide = (hf_traits(r) & FAMILY_EXPERT_FFN) || is_llama4(r);

	moe->experts_per_token = hf_count(r, picked, 0);
	if (moe->experts_per_token == 0) {
		moe->experts_per_token = 1;
		hf_approximate(r, model, "num_experts_per_tok",
			       "how many experts see a token is not stated: one");
	}
	moe->expert_ffn = hf_count(r, widths, wide ? ffn : 0);
	if (moe->expert_ffn == 0) {
		moe->expert_ffn = ffn;
		hf_approximate(r, model, "moe_intermediate_size",
			       "the width of experts is not stated: that of the MLP");
	}
}

void hf_read_experts(struct hf_reader *r, struct model *model, int64_t ffn)
{
	struct moe *moe = &model->moe;
	int64_t zero;

	/* the class of a mixture has some where its file is silent */
	if (is_mixture(r) && !hf_has(r, counts))
		hf_need(r, counts);
	moe->experts = hf_count(r, counts, 0);
	if (moe->experts == 0)
		return;
	/* Doge: the sizes of experts stand in files of dense models, too */
	if (!hf_bool(r, "is_moe", true)) {
		moe->experts = 0;
		return;
	}
	read_routed(r, model, ffn);
	/* LongCat: so many more that pass a token on, of which the router picks too */
	zero = hf_count(r, "zero_expert_num", 0);
	if (zero > 0 && moe->experts > 0)
		moe->experts_per_token = (2 * moe->experts_per_token * moe->experts +
					  moe->experts + zero) /
					 (2 * (moe->experts + zero));
	moe->expert_latent =
		hf_count(r, "moe_latent_size routed_expert_hidden_size", 0);
	moe->expert_bias = (hf_traits(r) & FAMILY_EXPERT_BIAS) != 0;
	moe->router_bias = moe->expert_bias;
	moe->activation_limit = hf_number(r, "swiglu_limit", moe->expert_bias ? 7 : 0);
	moe->group_limit = hf_count(r, "topk_group", 0);
	moe->groups = hf_count(r, "n_group", 0);
	if (moe->groups <= 1)
		moe->group_limit = moe->groups = 0;
	read_shared_expert(r, moe);
	/* Arctic: a dense MLP beside the experts, as wide as the layer
	 * (modeling_arctic.py, ArcticMLP of is_residual_mlp) */
	if (hf_bool(r, "use_residual", false) &&
	    hf_bool(r, "parallel_attn_mlp_res", false)) {
		moe->shared_experts = 1;
		moe->shared_ffn = model->hidden;
	}
	if (hf_bool(r, "enable_moe_block", false)) {
		/* Gemma 4: the dense MLP runs beside the experts, as a shared one does
		 */
		moe->shared_experts = 1;
		moe->shared_ffn = ffn;
	}
}
