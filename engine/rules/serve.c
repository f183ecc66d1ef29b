/* serve.c - what may be asked of a server.
 *
 * S1 to S17, S24 and S27 are checked before anything is estimated. What only an
 * estimate knows (no room for a request, goals out of reach) is added by
 * engine/serve/explained.c.
 */
#include "engine/model/mixer.h"
#include "engine/rules/rules.h"

static int64_t engine_size(const struct facts *f)
{
	return f->tp * f->pp * f->cp * f->plan->serving.dp_attention;
}

static int64_t decoding_gpus(const struct facts *f)
{
	return f->world - scenario_prefill_gpus(f->scenario);
}

static bool breaks_s1(const struct facts *f, struct broken *out)
{
	int64_t size = engine_size(f), gpus = decoding_gpus(f);

	if (gpus >= size)
		return false;
	*out = (struct broken){
		.value = { (double)gpus, (double)f->tp,
			   (double)f->plan->serving.dp_attention, (double)f->cp,
			   (double)f->pp, (double)size },
		.mend = { { "gpus", MEND_VALUE, f->world - gpus + size },
			  { "tp", MEND_AROUND, 0 },
			  { "pp", MEND_AROUND, 0 } },
	};
	return true;
}

static bool breaks_s2(const struct facts *f, struct broken *out)
{
	int64_t size = engine_size(f), gpus = decoding_gpus(f);

	if (size < 1 || gpus < size || gpus % size == 0)
		return false;
	*out = (struct broken){
		.value = { (double)gpus, (double)(gpus / size), (double)size,
			   (double)(gpus % size) },
		.mend = { { "gpus", MEND_VALUE, f->world - gpus % size } },
	};
	return true;
}

static const struct attention *attention_of(const struct facts *f, int k)
{
	return mixer_attention_of(&f->model->kind[k]);
}

static bool is_latent(const struct facts *f, int k)
{
	return mixer_of(&f->model->kind[k])->latent;
}

static bool breaks_s3(const struct facts *f, struct broken *out)
{
	for (int k = 0; k < f->model->kinds; k++) {
		const struct attention *a = attention_of(f, k);

		if (!a || a->heads % f->tp == 0)
			continue;
		*out = (struct broken){
			.value = { (double)f->tp, (double)a->heads },
			.mend = { { "tp", MEND_DIVISOR, a->heads } },
		};
		return true;
	}
	return false;
}

static bool breaks_s4(const struct facts *f, struct broken *out)
{
	for (int k = 0; k < f->model->kinds; k++) {
		const struct attention *a = attention_of(f, k);

		if (!a || is_latent(f, k) || a->kv_heads < 1 ||
		    a->kv_heads % f->tp == 0 || f->tp % a->kv_heads == 0)
			continue;
		*out = (struct broken){
			.value = { (double)f->tp, (double)a->kv_heads },
			.mend = { { "tp", MEND_AROUND, 0 } },
		};
		return true;
	}
	return false;
}

/* Experts are dealt out over an engine's ranks, in each pool. */
static bool breaks_ep(const char *knob, int64_t ep, int64_t tp, int64_t dp,
		      struct broken *out)
{
	if ((tp * dp) % ep == 0)
		return false;
	*out = (struct broken){
		.value = { (double)ep, (double)tp, (double)dp, (double)(tp * dp) },
		.mend = { { knob, MEND_DIVISOR, tp * dp } },
	};
	return true;
}

static bool breaks_s5(const struct facts *f, struct broken *out)
{
	const struct serving_plan *v = &f->plan->serving;
	struct engine_degrees own = scenario_prefill_engine(f->scenario);

	if (!f->moe)
		return false;
	if (breaks_ep("ep", f->ep, f->tp, v->dp_attention, out))
		return true;
	return v->disaggregated &&
	       breaks_ep("prefill_ep", own.ep, own.tp, own.dp_attention, out);
}

static bool breaks_s6(const struct facts *f, struct broken *out)
{
	int64_t copies = f->model->moe.experts + f->plan->serving.redundant_experts;

	if (!f->moe || f->ep < 2 || copies % f->ep == 0)
		return false;
	*out = (struct broken){
		.value = { (double)f->ep, (double)copies },
		.mend = { { "ep", MEND_DIVISOR, copies },
			  { "redundant_experts", MEND_VALUE,
			    (copies + f->ep - 1) / f->ep * f->ep -
				    f->model->moe.experts } },
	};
	return true;
}

static bool breaks_s7(const struct facts *f, struct broken *out)
{
	const struct serving_plan *v = &f->plan->serving;
	bool decodes = v->dp_attention > 1;

	if (f->moe || !(decodes || (v->disaggregated && v->prefill_dp_attention > 1)))
		return false;
	*out = (struct broken){
		.value = { (double)(decodes ? v->dp_attention
					    : v->prefill_dp_attention) },
		.mend = { { decodes ? "dp_attention" : "prefill_dp_attention",
			    MEND_VALUE, 1 } },
	};
	return true;
}

static bool breaks_s8(const struct facts *f, struct broken *out)
{
	if (f->pp <= f->model->layers)
		return false;
	*out = (struct broken){
		.value = { (double)f->pp, (double)f->model->layers },
		.mend = { { "pp", MEND_VALUE, f->model->layers } },
	};
	return true;
}

static bool breaks_s9(const struct facts *f, struct broken *out)
{
	int64_t shards = f->plan->serving.kv_shards;

	if (shards < 2 || f->tp % shards == 0)
		return false;
	*out = (struct broken){
		.value = { (double)shards, (double)f->tp },
		.mend = { { "kv_shards", MEND_DIVISOR, f->tp } },
	};
	return true;
}

/* Copies of the cache that TP makes: where each rank has heads of its own there is
 * nothing to share out. */
static bool breaks_s24(const struct facts *f, struct broken *out)
{
	int64_t shards = f->plan->serving.kv_shards;

	if (shards < 2)
		return false;
	for (int k = 0; k < f->model->kinds; k++) {
		const struct attention *a = attention_of(f, k);
		int64_t heads = a && !is_latent(f, k) ? a->kv_heads : 1;
		int64_t copies = heads < f->tp ? f->tp / heads : 1;

		if (!a || shards <= copies)
			continue;
		*out = (struct broken){
			.value = { (double)shards, (double)copies, (double)f->tp,
				   (double)heads },
			.mend = { { "kv_shards", MEND_VALUE, copies } },
		};
		return true;
	}
	return false;
}

static bool breaks_s10(const struct facts *f, struct broken *out)
{
	const struct serving_plan *v = &f->plan->serving;

	if (v->speculative == SPECULATIVE_OFF || v->draft_tokens > 0)
		return false;
	*out = (struct broken){ .mend = { { "draft_tokens", MEND_VALUE, 1 },
					  { "draft_tokens", MEND_VALUE, 3 } } };
	return true;
}

static bool breaks_s11(const struct facts *f, struct broken *out)
{
	if (f->plan->serving.speculative != SPECULATIVE_MTP || f->model->mtp_layers > 0)
		return false;
	*out = (struct broken){
		.mend = { { "speculative", MEND_VALUE, SPECULATIVE_OFF },
			  { "speculative", MEND_VALUE, SPECULATIVE_DRAFT } },
	};
	return true;
}

static bool breaks_s12(const struct facts *f, struct broken *out)
{
	const struct serving_plan *v = &f->plan->serving;
	struct engine_degrees own = scenario_prefill_engine(f->scenario);
	int64_t size = own.tp * own.pp * own.dp_attention * f->cp;
	int64_t pool = scenario_prefill_gpus(f->scenario);

	if (!v->disaggregated || (pool >= size && pool < f->world))
		return false;
	*out = (struct broken){
		.value = { (double)pool, (double)size },
		.mend = { { "prefill_gpus", MEND_VALUE, size },
			  { "prefill_tp", MEND_AROUND, 0 },
			  { "gpus", MEND_VALUE, size + engine_size(f) } },
	};
	return true;
}

static bool breaks_s13(const struct facts *f, struct broken *out)
{
	const struct serving_plan *v = &f->plan->serving;

	if (!v->disaggregated || v->batching != BATCHING_STATIC)
		return false;
	*out = (struct broken){ .mend = { { "batching", MEND_VALUE,
					    BATCHING_CONTINUOUS } } };
	return true;
}

static bool breaks_s14(const struct facts *f, struct broken *out)
{
	int64_t length = f->plan->serving.prompt_len + f->plan->serving.output_len;

	if (f->model->max_positions <= 0 || length <= f->model->max_positions)
		return false;
	*out = (struct broken){
		.value = { (double)length, (double)f->model->max_positions },
		.mend = { { "prompt_len", MEND_AROUND, 0 } },
	};
	return true;
}

static bool breaks_s15(const struct facts *f, struct broken *out)
{
	enum precision p = (enum precision)f->plan->precision;

	/* weights alone: tokens are wider on every chip */
	if (p == PRECISION_INT4 || precision_table[p].wide ||
	    f->scenario->cluster.accelerator.peak_flops[p] > 0)
		return false;
	/* a scale per block or per 32 elements runs on fp8 products */
	if ((p == PRECISION_FP8_BLOCK || p == PRECISION_MXFP8) &&
	    f->scenario->cluster.accelerator.peak_flops[PRECISION_FP8] > 0)
		return false;
	if (p == PRECISION_MXFP4 &&
	    f->scenario->cluster.accelerator.peak_flops[PRECISION_MXFP8] > 0)
		return false;
	*out = (struct broken){ 0 };
	/* nobody has wider weights of a model that is published so */
	if ((int)p != f->model->precision)
		out->mend[0] = (struct mend){ "precision", MEND_VALUE, PRECISION_BF16 };
	return true;
}

static bool breaks_s16(const struct facts *f, struct broken *out)
{
	if (f->scenario->stack.serves)
		return false;
	*out = (struct broken){ .mend = { { 0 } } };
	return true;
}

static bool breaks_s17(const struct facts *f, struct broken *out)
{
	if (f->moe || f->ep < 2)
		return false;
	*out = (struct broken){
		.value = { (double)f->ep },
		.mend = { { "ep", MEND_VALUE, 1 } },
	};
	return true;
}

static bool breaks_s27(const struct facts *f, struct broken *out)
{
	const struct serving_plan *v = &f->plan->serving;

	if (v->length_shape != LENGTH_UNIFORM || v->length_spread <= 1)
		return false;
	*out = (struct broken){
		.value = { v->length_spread },
		.mend = { { "length_shape", MEND_VALUE, LENGTH_LOGNORMAL },
			  { "length_spread", MEND_VALUE, 1 } },
	};
	return true;
}

static bool breaks_s30(const struct facts *f, struct broken *out)
{
	const struct cluster *c = &f->scenario->cluster;
	double asked = f->plan->serving.host_kv_bytes, has;

	/* a server on a part of a node has all of its host */
	has = c->host_bytes_per_gpu * cluster_host_shares(c);

	if (asked <= 0 || has <= 0 || asked <= has)
		return false;
	*out = (struct broken){
		.value = { asked, has },
		.mend = { { "host_kv", MEND_AROUND, 0 } },
	};
	return true;
}

static bool breaks_s31(const struct facts *f, struct broken *out)
{
	if (f->plan->serving.host_kv_bytes <= 0 ||
	    f->scenario->cluster.accelerator.host_bytes_per_second > 0)
		return false;
	*out = (struct broken){ .mend = { { "host_kv", MEND_VALUE, 0 } } };
	return true;
}

#define ERROR   SEVERITY_ERROR
#define WARNING SEVERITY_WARNING

const struct legality serving_table[] = {
	{ { "S1", ERROR,
	    "one engine needs TP {1} x DP attention {2} x CP {3} x PP {4} = {5} "
	    "GPUs, more than {0}",
	    "by definition of the degrees" },
	  0,
	  breaks_s1,
	  "gpus tp pp cp dp_attention disaggregated prefill_gpus" },
	{ { "S3", ERROR, "TP {0} does not divide {1} heads",
	    "vllm/config/model.py verify_with_parallel_config" },
	  0,
	  breaks_s3,
	  "tp" },
	{ { "S4", ERROR, "TP {0} and {1} key-value heads: neither divides the other",
	    "vllm/model_executor/models/llama.py LlamaAttention" },
	  0,
	  breaks_s4,
	  "tp" },
	{ { "S5", ERROR, "EP {0} does not divide TP {1} x DP attention {2} = {3}",
	    "TensorRT-LLM mapping: moe_tp_size x moe_ep_size = tp_size" },
	  0,
	  breaks_s5,
	  "ep tp dp_attention disaggregated prefill_ep prefill_tp prefill_dp_attention" },
	{ { "S6", ERROR, "EP {0} does not divide {1} experts (copies included)",
	    "DeepSeek EPLB: physical experts are dealt out evenly" },
	  0,
	  breaks_s6,
	  "ep redundant_experts" },
	{ { "S17", ERROR, "EP {0} needs experts, and this model is dense",
	    "by definition of EP" },
	  0,
	  breaks_s17,
	  "ep" },
	{ { "S7", ERROR,
	    "DP attention {0} needs experts, and this model is dense: use more "
	    "engines instead",
	    "sglang/srt/server_args.py enable_dp_attention" },
	  0,
	  breaks_s7,
	  "dp_attention disaggregated prefill_dp_attention" },
	{ { "S8", ERROR, "PP {0} has more stages than {1} layers",
	    "a stage needs one" },
	  0,
	  breaks_s8,
	  "pp" },
	{ { "S9", ERROR, "{0} KV shards do not divide TP {1}",
	    "vllm --decode-context-parallel-size" },
	  0,
	  breaks_s9,
	  "kv_shards tp" },
	{ { "S24", ERROR,
	    "{0} KV shards, and TP {2} makes {1} copies of {3} key-value heads",
	    "vllm/config/parallel.py decode_context_parallel_size" },
	  0,
	  breaks_s24,
	  "kv_shards tp" },
	{ { "S10", ERROR, "speculation needs at least one drafted token",
	    "arXiv 2211.17192, section 2" },
	  0,
	  breaks_s10,
	  "speculative draft_tokens" },
	{ { "S11", ERROR, "this model has no MTP layers to draft with",
	    "arXiv 2412.19437, section 2.2" },
	  0,
	  breaks_s11,
	  "speculative" },
	{ { "S12", ERROR,
	    "a prefill pool of {0} GPUs must hold an engine of {1} and leave GPUs "
	    "to decode",
	    "arXiv 2401.09670, section 3" },
	  0,
	  breaks_s12,
	  "gpus tp pp cp dp_attention disaggregated prefill_gpus prefill_tp prefill_pp "
	  "prefill_dp_attention" },
	{ { "S13", ERROR, "a disaggregated server needs continuous batching",
	    "arXiv 2401.09670, section 3" },
	  0,
	  breaks_s13,
	  "disaggregated batching" },
	{ { "S27", ERROR,
	    "uniform lengths with a spread of {0} times the mean would be negative",
	    "by definition of a uniform distribution" },
	  0,
	  breaks_s27,
	  "length_shape length_spread" },
	{ { "C1", ERROR,
	    "the stack does not support this plan: row {0} of its ability sheet",
	    "the stack's YAML, abilities" },
	  0,
	  breaks_ability,
	  "mode pp kv_shards kv_precision speculative" },
	{ { "C2", ERROR, "the plan is less trusted than the search requires",
	    "measured runs and shipped plans of the stack" },
	  0,
	  breaks_trust,
	  "tp pp cp ep dp_attention kv_shards kv_precision disaggregated speculative "
	  "chunked_prefill redundant_experts precision gpus" },
	{ { "S2", WARNING, "{0} GPUs make {1} engines of {2}; {3} stay idle",
	    "by definition of the degrees" },
	  0,
	  breaks_s2,
	  "gpus tp pp cp dp_attention disaggregated prefill_gpus" },
	{ { "S14", WARNING, "{0} tokens of prompt and output exceed the model's {1}",
	    "max_position_embeddings of the model" },
	  0,
	  breaks_s14,
	  "prompt output" },
	{ { "S15", WARNING,
	    "this accelerator cannot multiply in this format: weights are stored "
	    "narrow and unpacked to bf16",
	    "Marlin kernels of vLLM" },
	  0,
	  breaks_s15,
	  "precision" },
	{ { "S16", WARNING,
	    "this is a training stack: serving is estimated as for a generic "
	    "server",
	    "presets/stacks" },
	  0,
	  breaks_s16,
	  "mode" },
	{ { "S30", ERROR,
	    "the KV cache needs {0:bytes} of host memory per GPU, but there are "
	    "{1:bytes}",
	    "presets/clusters: host_gib_per_gpu" },
	  0,
	  breaks_s30,
	  "host_kv" },
	{ { "S31", ERROR,
	    "this accelerator's host link is not known: no KV cache on the host",
	    "presets/clusters: host_gbs" },
	  0,
	  breaks_s31,
	  "host_kv" },
};

_Static_assert(sizeof serving_table / sizeof serving_table[0] <= MAX_RULES,
	       "sets of rules have room for every row");

int serving_rules(void)
{
	return (int)(sizeof serving_table / sizeof serving_table[0]);
}
