/* trtllm.c - TensorRT-LLM's flags, the YAML beside them, and what they mean here. */
#include <stdio.h>
#include <string.h>

#include "presets/release.h"
#include "presets/serving/tool.h"

static const struct mapping rows[] = {
	{ "pp_size", "pp", NULL, "1", false },
	{ "cp_size", "cp", NULL, "1", false },
	{ "ep_size", "ep", NULL, "1", false },
	{ "max_batch_size", "max_requests", NULL, "auto", false },
	{ "max_num_tokens", "max_batched_tokens", NULL, "auto", false },
	{ "enable_chunked_prefill", "chunked_prefill",
	  "=on true=on True=on false=off False=off", "off", false },
	{ "kv_cache_config.free_gpu_memory_fraction", "memory_share", NULL, "0.9",
	  false },
	{ "kv_cache_config.dtype", "kv_precision",
	  "fp8=fp8 nvfp4=fp4 float16=bf16 bfloat16=bf16", "auto", true },
	{ "kv_cache_config.tokens_per_block", "kv_block", NULL, "32", false },
	{ "kv_cache_config.enable_block_reuse", "prefix_cache",
	  "true=on True=on false=off False=off", "on", false },
	{ "disable_overlap_scheduler", "host_overlap",
	  "true=off True=off false=on False=on", "on", false },
	{ NULL, NULL, NULL, NULL, false },
};

static const char *const model_flags[] = { "model", "model_path", NULL };
/* PR 12626 of NVIDIA/TensorRT-LLM: a preset's name, or where its module is. */
static const char connector_key[] = "kv_connector_config.connector";
static const char module_key[] = "kv_connector_config.connector_module";
static const char *const aliases[] = {
	"kv_connector", connector_key, "tensor_parallel_size", "tp_size",
	"pipeline_parallel_size", "pp_size", "context_parallel_size", "cp_size",
	"moe_expert_parallel_size", "ep_size", "tp", "tp_size", "pp", "pp_size", "ep",
	"ep_size", "free_gpu_memory_fraction",
	"kv_cache_config.free_gpu_memory_fraction", "kv_cache_free_gpu_memory_fraction",
	"kv_cache_config.free_gpu_memory_fraction", "kv_cache_free_gpu_mem_fraction",
	"kv_cache_config.free_gpu_memory_fraction", "kv_cache_dtype",
	"kv_cache_config.dtype", "build_config.max_batch_size", "max_batch_size",
	"build_config.max_num_tokens", "max_num_tokens", "config",
	"extra_llm_api_options",
	/* NVIDIA Dynamo's */
	"extra_engine_args", "extra_llm_api_options", NULL
};
static const char slots_key[] = "moe_config.load_balancer.num_slots";
static const char host_key[] = "kv_cache_config.host_cache_size";
static const char modules_key[] = "lora_config.lora_target_modules";
static const char wait_key[] = "batch_wait_timeout_iters";
static const char balance_key[] = "attention_dp_config.enable_balance";
static const char timeout_key[] = "attention_dp_config.timeout_iters";
static const char *const lists[] = { modules_key, "lora_config.lora_dir", NULL };
static const char *const others[] = { "tp_size",
				      "enable_attention_dp",
				      slots_key,
				      wait_key,
				      balance_key,
				      timeout_key,
				      "batch_wait_max_tokens_ratio",
				      "quant_config.quant_algo",
				      "dtype",
				      "speculative_config.decoding_type",
				      "speculative_config.num_nextn_predict_layers",
				      "speculative_config.max_draft_len",
				      "server_role",
				      "cache_transceiver_config.backend",
				      "disable_overlap_scheduler",
				      host_key,
				      "enable_lora",
				      "lora_config.max_loras",
				      "lora_config.max_lora_rank",
				      LMCACHE_KEPT,
				      LMCACHE_SIZE,
				      NULL };
static const char *const drafts[] = { "speculative_config.decoding_type", NULL };
static const char *const switches[] = { "trust_remote_code",
					"fail_fast_on_attention_window_too_large",
					"enable_attention_dp", NULL };
static const char *const launcher[] = { "gpus_per_node", "port", "disaggregation_mode",
					"LMCACHE_CONFIG_FILE", NULL };
static const char *const cli_keys[] = { "tp_size",
					"pp_size",
					"cp_size",
					"ep_size",
					"max_batch_size",
					"max_num_tokens",
					"enable_chunked_prefill",
					"host",
					"port",
					"backend",
					"tokenizer",
					"custom_tokenizer",
					"log_level",
					"max_beam_width",
					"max_seq_len",
					"num_postprocess_workers",
					"trust_remote_code",
					"reasoning_parser",
					"tool_parser",
					"metadata_server_config_file",
					"server_role",
					"fail_fast_on_attention_window_too_large",
					"otlp_traces_endpoint",
					"gpus_per_node",
					"served_model_name",
					"chat_template",
					"revision",
					"disagg_cluster_uri",
					NULL };

static const char formats[] =
	"FP8=fp8 FP8_PER_CHANNEL_PER_TOKEN=fp8 FP8_BLOCK_SCALES=fp8-block NVFP4=nvfp4 "
	"W4A8_MXFP4_MXFP8=mxfp4 W4A8_MXFP4_FP8=mxfp4 W4A16_MXFP4=mxfp4 MXFP8=mxfp8 "
	"W8A8_SQ_PER_CHANNEL=int8 W8A8_SQ_PER_CHANNEL_PER_TOKEN_PLUGIN=int8 "
	"W8A8_SQ_PER_TENSOR_PLUGIN=int8 W8A16=int8 INT8=int8 W4A16_AWQ=int4 "
	"W4A16_GPTQ=int4 W4A16=int4 W4A8_AWQ=int4";

/* A lora_config is the switch, max_lora_rank is 64 where it does not say; how many
 * adapters then fit a share of what is free, which is taken as one. Without a
 * checkpoint to look at it has to be told the matrices (tensorrt_llm/lora_helper.py,
 * LoraConfig). */
#define ATTENTION "attn_q attn_k attn_v attn_dense"
static const struct adapter_words adapters = {
	.on = "enable_lora",
	.count = "lora_config.max_loras",
	.rank = "lora_config.max_lora_rank",
	.section = "lora_config.",
	.usual = 1,
	.usual_rank = 64,
	.matrices = modules_key,
	.dense = ATTENTION " mlp_h_to_4h mlp_gate mlp_4h_to_h",
	.attention = ATTENTION,
	.latent = ATTENTION,
};

static int starts(const struct shell_word *words, int count)
{
	for (int i = 0; i < count; i++) {
		bool named = i + 1 < count && strcmp(words[i + 1].text, "serve") == 0;

		if (strcmp(words[i].text, "dynamo.trtllm") == 0)
			return i + 1;
		if (!word_is_program(words[i].text, "trtllm-serve"))
			continue;
		if (i + 1 < count &&
		    strncmp(words[i + 1].text, "disaggregated", 13) == 0)
			return 0;
		return named ? i + 2 : i + 1;
	}
	return 0;
}

static bool read_drafts(const struct mapped *m)
{
	const struct pair *type = mapped_find(m, "speculative_config.decoding_type");
	int64_t tokens = 0, layers = 0;

	if (!type)
		return true;
	return mapped_count(m, "speculative_config.max_draft_len", &tokens) &&
	       mapped_count(m, "speculative_config.num_nextn_predict_layers",
			    &layers) &&
	       read_speculation(m, strcasecmp(type->value, "MTP") == 0,
				tokens > 0   ? tokens
				: layers > 0 ? layers
					     : 1);
}

/* Slots of a layer hold each expert and some of them again. */
static bool read_slots(const struct mapped *m)
{
	int64_t slots = 0, experts = m->out->model.moe.experts;

	return mapped_count(m, slots_key, &slots) &&
	       (slots <= experts || experts == 0 ||
		mapped_set_count(m, "redundant_experts", slots - experts,
				 mapped_find(m, slots_key)));
}

/* Copies of the attention wait until each has a prompt where they balance, for fifty
 * passes at most by themselves (AttentionDpConfig in tensorrt_llm/llmapi/llm_args.py);
 * an engine of one copy until a pass is filled. */
static bool read_wait(const struct mapped *m, bool copies)
{
	bool balances = copies && mapped_on(m, balance_key);
	const char *key = balances ? timeout_key : wait_key;
	int64_t passes = balances ? 50 : 0;

	/* _torch/pyexecutor/py_executor.py: no other wait beside attention DP */
	if (copies && !balances)
		return true;
	return mapped_count(m, key, &passes) &&
	       mapped_set_count(m, "batch_wait", passes, mapped_find(m, key));
}

static void write_wait(const struct tool_writer *w, bool copies)
{
	int64_t passes = w->scenario->plan.serving.batch_wait;

	if (passes <= 0)
		return;
	if (copies) {
		write_flag(w, balance_key, "true");
		write_count(w, timeout_key, passes);
		/* as engine/serve/work.h has it: they go when each has one */
		write_flag(w, "attention_dp_config.batching_wait_iters", "0");
	} else {
		write_count(w, wait_key, passes);
		write_flag(w, "batch_wait_max_tokens_ratio", "0.9");
	}
}

/* LMCache inside the ranks; "lmcache-mp" speaks to a process of its own. */
static bool uses_lmcache(const struct pairs *flags)
{
	const struct pair *connector = pairs_find(flags, connector_key);
	const struct pair *module = pairs_find(flags, module_key);

	return (connector && strcmp(connector->value, "lmcache") == 0) ||
	       (module && strncmp(module->value, "lmcache.", 8) == 0);
}

/* Bytes of each rank; a connector keeps its own beside those. */
static bool read_host(const struct mapped *m)
{
	double bytes;

	if (!mapped_find(m, host_key) && uses_lmcache(m->pairs))
		return lmcache_inside(m);
	return read_number(m, host_key, &bytes) &&
	       read_host_kv(m, bytes, mapped_find(m, host_key));
}

static void settle_host(struct tool_writer *w)
{
	if (!lmcache_again(w, connector_key, host_key))
		lmcache_again(w, module_key, host_key);
}

static bool read_degrees(const struct mapped *m, const char *checkpoint)
{
	const struct pair *from = mapped_find(m, "tp_size");
	bool copies = mapped_on(m, "enable_attention_dp");
	int64_t tp = 1;

	return mapped_count(m, "tp_size", &tp) &&
	       mapped_set_count(m, "tp", copies ? 1 : tp, from) &&
	       mapped_set_count(m, "dp_attention", copies ? tp : 1, from) &&
	       read_wait(m, copies) && read_slots(m) && read_engines(m, 1, from) &&
	       read_drafts(m) && read_adapters(m, &adapters) && read_host(m) &&
	       read_precision(m, "quant_config.quant_algo", formats, "dtype",
			      checkpoint);
}

static const char *const more_knobs[] = { "redundant_experts", "batch_wait", NULL };

static void write_drafts(const struct tool_writer *w)
{
	const struct serving_plan *v = &w->scenario->plan.serving;

	if (v->speculative == SPECULATIVE_MTP) {
		write_flag(w, "speculative_config.decoding_type", "MTP");
		write_count(w, "speculative_config.num_nextn_predict_layers",
			    v->draft_tokens);
	} else if (v->speculative == SPECULATIVE_DRAFT) {
		write_default(w, "speculative_config.decoding_type", "DraftTarget");
		write_count(w, "speculative_config.max_draft_len", v->draft_tokens);
		write_default(w, "speculative_config.speculative_model_dir",
			      "DRAFT_MODEL");
	}
}

/* Who sends and takes caches; a server of prompts alone has no passes to overlap. */
static void write_transfer(const struct tool_writer *w)
{
	if (w->role == ROLE_BOTH)
		return;
	write_flag(w, "cache_transceiver_config.backend", "DEFAULT");
	if (w->role == ROLE_PREFILL && w->scenario->plan.serving.host_overlap)
		write_flag(w, "disable_overlap_scheduler", "true");
}

/* It listens to its own node alone unless told. */
static void put_channel(struct tool_writer *w)
{
	if (w->at->host[0] == '$')
		write_flag(w, "host", "0.0.0.0");
}

/* TensorRT-LLM, docs/source/features/disagg-serving.md; it waits for the servers, three
 * minutes by itself. */
static void put_orchestrator(FILE *stream, const struct server_place *list, int count)
{
	bool several = count > 0 && list[0].host[0] == '$';
	int prefill = 0;

	while (prefill < count && list[prefill].role == ROLE_PREFILL)
		prefill++;
	/* addresses are variables */
	fprintf(stream, "cat > disagg.yaml <<%s\nhostname: 0.0.0.0\nport: 8000\n",
		several ? "EOF" : "'EOF'");
	fprintf(stream,
		"backend: pytorch\ncontext_servers:\n  num_instances: %d\n  urls:\n",
		prefill);
	put_places(stream, list, count, ROLE_PREFILL, "  - \"{host}:{port}\"\n");
	fprintf(stream, "generation_servers:\n  num_instances: %d\n  urls:\n",
		count - prefill);
	put_places(stream, list, count, ROLE_DECODE, "  - \"{host}:{port}\"\n");
	fputs("EOF\ntrtllm-serve disaggregated -c disagg.yaml -t 3600 -r 3600", stream);
}

static bool starts_one(const struct scenario *scenario)
{
	(void)scenario;
	return true;
}

/* Ranks beyond a node are one job's (docs of trtllm-serve, "Multi-node Serving with
 * Slurm"); beside other servers the nodes are told. */
static void put_launcher(const struct tool_writer *w)
{
	const struct plan *plan = &w->scenario->plan;
	int64_t ranks = plan->tp * plan->serving.dp_attention * plan->pp * plan->cp;
	FILE *stream = w->out->body;

	fprintf(stream, "srun --nodes %lld --ntasks %lld --ntasks-per-node %lld",
		(long long)w->spread->nodes, (long long)ranks,
		(long long)(ranks / w->spread->nodes));
	if (w->at) {
		fputs(" --overlap --nodelist \"${HOST[NODE]}", stream);
		for (int64_t i = 1; i < w->spread->nodes; i++)
			fprintf(stream, ",${HOST[NODE + %lld]}", (long long)i);
		fputs("\"", stream);
	}
	fputs(" --mpi pmix \\\n  trtllm-llmapi-launch ", stream);
}

/* Decoding is captured up to 128 requests, and between sizes only where they are filled
 * up (tensorrt_llm/llmapi/llm_args.py, CudaGraphConfig). */
static void write_graphs(const struct tool_writer *w)
{
	double batch = w->planned.batch;

	if (w->role == ROLE_PREFILL || batch <= 32)
		return;
	write_default(w, "cuda_graph_config.enable_padding", "true");
	if (batch > 128)
		write_count(w, "cuda_graph_config.max_batch_size", (int64_t)batch);
}

/* A power of two greater than one (docs/source/features/kvcache.md; asserted in
 * cpp/tensorrt_llm/kernels/kvCacheUtils.h).
 */
static void settle_block(const struct tool_writer *w)
{
	int64_t block = w->scenario->plan.serving.kv_block;

	if (block > 1 && (block & (block - 1)) == 0)
		return;
	write_without(w, "kv_cache_config.tokens_per_block");
	write_unsaid(w, "kv_block", "%lld; TensorRT-LLM has powers of two from 2",
		     (long long)block);
}

static void write_ranks(const struct tool_writer *w, int64_t ranks)
{
	int64_t node = w->scenario->cluster.gpus_per_node;

	if (node < 1 || ranks <= node)
		return;
	w->spread->nodes = (ranks + node - 1) / node;
	write_count(w, "gpus_per_node", node);
}

/* Whose kernels experts over several nodes run on, and which balance them. Those that
 * the model gets by itself need not: before 1.2 one backend alone had a load balancer
 * (modules/fused_moe/create_moe.py), which pull 17797 removed; since then it is FP8 in
 * blocks on Blackwell by DEEPGEMM and NVFP4 by CUTEDSL (examples/wide_ep/README.md). */
static void write_experts(const struct tool_writer *w)
{
	const struct scenario *s = w->scenario;
	const struct serving_plan *v = &s->plan.serving;
	int64_t ranks = s->plan.tp * v->dp_attention;
	bool wide = v->dp_attention > 1 && s->plan.ep == ranks &&
		    ranks > s->cluster.gpus_per_node;
	bool spare = v->redundant_experts > 0;
	bool blackwell = s->cluster.accelerator.peak_flops[PRECISION_NVFP4] > 0;

	if (s->plan.ep <= 1 || (!wide && !spare))
		return;
	if (spare)
		write_count(w, slots_key, s->model.moe.experts + v->redundant_experts);
	write_default(w, "moe_config.backend",
		      release_is_before(s->stack.name, "1.2", "2026-01-01") ? "WIDEEP"
		      : s->plan.precision == PRECISION_NVFP4 && blackwell   ? "CUTEDSL"
		      : s->plan.precision == PRECISION_FP8_BLOCK && blackwell
			      ? "DEEPGEMM"
			      : "CUTLASS");
}

/* The PyTorch backend reads how weights are quantised from their checkpoint, and takes
 * no argument for it: LLM() refuses what is no field of TorchLlmArgs
 * (NVIDIA/TensorRT-LLM, tensorrt_llm/llmapi/llm.py, valid_keys). */
static void write_formats(const struct tool_writer *w)
{
	bool engines = release_is_before(w->scenario->stack.name, "1.0", "2025-09-01");

	write_precision(w, "quant_config.quant_algo", engines ? formats : "", "dtype");
}

static void write_plan(const struct tool_writer *w)
{
	const struct plan *plan = &w->scenario->plan;
	const struct serving_plan *v = &plan->serving;
	bool moe = w->scenario->model.moe.experts > 0;
	bool copies = v->dp_attention > 1 && plan->tp == 1;

	if (v->dp_attention > 1 && plan->tp > 1) {
		write_unsaid(w, "dp_attention",
			     "%lld: TensorRT-LLM has TP or copies, not both",
			     (long long)v->dp_attention);
		write_unsaid(w, "tp", "%lld inside each copy", (long long)plan->tp);
	}
	if (plan->tp * v->dp_attention > 1)
		write_count(w, "tp_size", plan->tp * v->dp_attention);
	if (copies)
		write_flag(w, "enable_attention_dp", "true");
	write_wait(w, copies);
	if (moe)
		write_experts(w);
	write_formats(w);
	settle_block(w);
	write_drafts(w);
	write_adapters(w, &adapters);
	write_graphs(w);
	if (v->host_kv_bytes > 0)
		write_count(w, host_key, (int64_t)v->host_kv_bytes);
	write_transfer(w);
	write_ranks(w, plan->tp * v->dp_attention * plan->pp * plan->cp);
}

const struct tool tool_trtllm = {
	.name = "trtllm",
	.stack = "tensorrt-llm",
	.launch = "trtllm-serve",
	.sign = "trtllm-serve",
	.joint = '_',
	.starts = starts,
	.model_flags = model_flags,
	.aliases = aliases,
	.rows = rows,
	.others = others,
	.drafts = drafts,
	.switches = switches,
	.lists = lists,
	.launcher = launcher,
	.cli_keys = cli_keys,
	.file_flag = "extra_llm_api_options",
	.degree_flag = "tp_size",
	.role_flag = "server_role",
	.roles = { [ROLE_PREFILL] = "CONTEXT", [ROLE_DECODE] = "GENERATION" },
	.starts_one = starts_one,
	.put_alike = put_balancer,
	.put_pools = put_orchestrator,
	.put_channel = put_channel,
	.put_launcher = put_launcher,
	.variables = lmcache_variables,
	.reads_variables = uses_lmcache,
	.read = read_degrees,
	.write = write_plan,
	.settle = settle_host,
	.more_knobs = more_knobs,
};
