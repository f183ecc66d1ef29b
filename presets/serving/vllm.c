/* vllm.c - vLLM's flags and what they mean here. */
#include <stdio.h>
#include <string.h>

#include "presets/release.h"
#include "presets/serving/tool.h"

static const struct mapping rows[] = {
	{ "tensor-parallel-size", "tp", NULL, "1", false },
	{ "pipeline-parallel-size", "pp", NULL, "1", false },
	{ "prefill-context-parallel-size", "cp", NULL, "1", false },
	{ "decode-context-parallel-size", "kv_shards", NULL, "1", false },
	{ "gpu-memory-utilization", "memory_share", NULL, NULL, false },
	{ "kv-cache-dtype", "kv_precision",
	  "fp8=fp8 fp8_e4m3=fp8 fp8_e5m2=fp8 fp8_inc=fp8 "
	  "fp8_ds_mla=fp8 fp8_per_token_head=fp8 bfloat16=bf16 "
	  "float16=bf16 nvfp4=fp4 int8_per_token_head=int8",
	  "auto", false },
	{ "block-size", "kv_block", NULL, "16", false },
	{ "max-num-batched-tokens", "max_batched_tokens", NULL, "auto", false },
	{ "max-num-seqs", "max_requests", NULL, "auto", false },
	{ "no-enable-prefix-caching", "prefix_cache", "=off true=off", "on", false },
	{ "enable-prefix-caching", "prefix_cache",
	  "=on true=on True=on false=off False=off", NULL, false },
	{ "no-enable-chunked-prefill", "chunked_prefill", "=off true=off", "on",
	  false },
	{ "enable-chunked-prefill", "chunked_prefill",
	  "=on true=on True=on false=off False=off", NULL, false },
	{ "no-async-scheduling", "host_overlap", "=off true=off", "on", false },
	{ "async-scheduling", "host_overlap", "=on true=on True=on false=off False=off",
	  NULL, false },
	{ "enable-dbo", "ep_overlap", "=on true=on True=on false=off False=off", "off",
	  false },
	{ "eplb-config.num-redundant-experts", "redundant_experts", NULL, "none",
	  false },
	{ NULL, NULL, NULL, NULL, false },
};

static const char *const model_flags[] = { "model", "model-tag", NULL };
static const char *const aliases[] = { "dpl",
				       "data-parallel-size-local",
				       "dpa",
				       "data-parallel-address",
				       "dpp",
				       "data-parallel-rpc-port",
				       "dpn",
				       "data-parallel-rank",
				       "asc",
				       "api-server-count",
				       "tp",
				       "tensor-parallel-size",
				       "pp",
				       "pipeline-parallel-size",
				       "dp",
				       "data-parallel-size",
				       "pcp",
				       "prefill-context-parallel-size",
				       "dcp",
				       "decode-context-parallel-size",
				       "q",
				       "quantization",
				       "ep",
				       "enable-expert-parallel",
				       "num-redundant-experts",
				       "eplb-config.num-redundant-experts",
				       "num-speculative-tokens",
				       "speculative-config.num-speculative-tokens",
				       "speculative-model",
				       "speculative-config.model",
				       "sc",
				       "speculative-config",
				       NULL };
static const char *const objects[] = { "speculative-config", "kv-transfer-config",
				       "eplb-config", NULL };
static const char tokens_key[] = "speculative-config.num-speculative-tokens";
static const char *const others[] = { "data-parallel-size",
				      "enable-expert-parallel",
				      "no-enable-expert-parallel",
				      "quantization",
				      "dtype",
				      "speculative-config.method",
				      "enable-lora",
				      "max-loras",
				      "max-lora-rank",
				      tokens_key,
				      "kv-offloading-size",
				      "kv-offloading-backend",
				      "kv-transfer-config.kv-role",
				      LMCACHE_KEPT,
				      LMCACHE_SIZE,
				      NULL };
static const char *const drafts[] = { "speculative-config.method", NULL };
static const char *const switches[] = { "enable-expert-parallel",
					"no-enable-expert-parallel",
					"enable-eplb",
					"trust-remote-code",
					"enforce-eager",
					"no-enforce-eager",
					"enable-auto-tool-choice",
					"disable-log-requests",
					"enable-log-requests",
					"no-enable-log-requests",
					"disable-log-stats",
					"async-scheduling",
					"no-async-scheduling",
					"enable-lora",
					"enable-reasoning",
					"headless",
					"disable-custom-all-reduce",
					"enable-sleep-mode",
					"data-parallel-hybrid-lb",
					"data-parallel-external-lb",
					"disable-sliding-window",
					"use-v2-block-manager",
					"disable-frontend-multiprocessing",
					"enable-prompt-tokens-details",
					"disable-uvicorn-access-log",
					"enable-server-load-tracking",
					"calculate-kv-scales",
					"skip-tokenizer-init",
					"generate",
					"language-model-only",
					"is-prefill-worker",
					"is-decode-worker",
					"enable-multimodal-encoder-data-parallel",
					NULL };
static const char *const launcher[] = { "port",
					"nnodes",
					"node-rank",
					"master-addr",
					"master-port",
					"headless",
					"distributed-executor-backend",
					"data-parallel-size-local",
					"data-parallel-start-rank",
					"data-parallel-address",
					"data-parallel-rpc-port",
					"data-parallel-rank",
					lmcache_file,
					"data-parallel-hybrid-lb",
					"data-parallel-external-lb",
					"disaggregation-mode",
					"connector",
					NULL };

/* Their words for how weights are stored; the first one of ours is written. */
static const char formats[] =
	"fp8=fp8 fbgemm_fp8=fp8 modelopt=fp8 modelopt_fp8=fp8 ptpc_fp8=fp8 "
	"deepspeedfp=fp8 quark=fp8 fp8_per_tensor=fp8 fp8_per_block=fp8-block "
	"modelopt_fp4=nvfp4 nvfp4=nvfp4 petit_nvfp4=nvfp4 mxfp4=mxfp4 "
	"mxfp8=mxfp8 compressed-tensors=int8 experts_int8=int8 tpu_int8=int8 "
	"awq_marlin=int4 awq=int4 gptq=int4 gptq_marlin=int4 marlin=int4 "
	"gptq_bitblas=int4 moe_wna16=int4 auto-round=int4 hqq=int4 aqlm=int4 "
	"gguf=int4 bitsandbytes=int4 ipex=int4 inc=int4";

/* MaxLoRARanks of vllm/config/lora.py. */
static const int64_t lora_ranks[] = { 1, 8, 16, 32, 64, 128, 256, 320, 512, 0 };
static const struct adapter_words adapters = { .on = "enable-lora",
					       .count = "max-loras",
					       .rank = "max-lora-rank",
					       .usual = 1,
					       .usual_rank = 16,
					       .ranks = lora_ranks };

/* "docker tag vllm/vllm-openai:v0.12.0 …": the image is named, and not run. */
static bool runs_image(const struct shell_word *words, int count)
{
	static const char *const idle[] = { "tag",  "pull", "push", "build",
					    "save", "load", "rmi",  "images" };

	for (int i = 0; i + 1 < count; i++)
		for (size_t k = 0; k < sizeof idle / sizeof idle[0]; k++)
			if ((word_is_program(words[i].text, "docker") ||
			     word_is_program(words[i].text, "podman")) &&
			    strcmp(words[i + 1].text, idle[k]) == 0)
				return false;
	return true;
}

/* "docker run vllm/vllm-openai bash -c …": the image runs something else than its own
 * server. */
static bool runs_program(const struct shell_word *words, int count)
{
	static const char *const programs[] = { "bash",    "sh",  "python",
						"python3", "pip", "nvidia-smi" };
	static const char asked[] = "--entrypoint=";

	for (int i = 0; i < count; i++) {
		const char *word = words[i].text;

		if (strncmp(word, asked, sizeof asked - 1) == 0)
			word += sizeof asked - 1;
		for (size_t k = 0; k < sizeof programs / sizeof programs[0]; k++)
			if (word_is_program(word, programs[k]))
				return true;
	}
	return false;
}

static int starts(const struct shell_word *words, int count)
{
	for (int i = 0; i + 1 < count; i++)
		if (word_is_program(words[i].text, "vllm") &&
		    strcmp(words[i + 1].text, "serve") == 0)
			return i + 2;
	for (int i = 0; i < count; i++)
		if (strncmp(words[i].text, "vllm.entrypoints", 16) == 0 ||
		    strcmp(words[i].text, "dynamo.vllm") == 0 ||
		    (strstr(words[i].text, "vllm-openai") && runs_image(words, count) &&
		     !runs_program(words, count)) ||
		    strstr(words[i].text, "vllm/entrypoints/"))
			return i + 1;
	return 0;
}

static bool read_drafts(const struct mapped *m)
{
	const struct pair *method = mapped_find(m, "speculative-config.method");
	int64_t tokens = 0;

	if (!method && !mapped_find(m, "speculative-config.model"))
		return true;
	return mapped_count(m, tokens_key, &tokens) &&
	       read_speculation(m, method && strstr(method->value, "mtp"), tokens);
}

/* A dense model's data-parallel ranks are engines; with experts they share these, split
 * over TP x DP ranks: by expert with the switch, else each across all. */
static bool read_degrees(const struct mapped *m, const char *checkpoint)
{
	const struct plan *plan = &m->out->plan;
	const struct pair *dp = mapped_find(m, "data-parallel-size");
	bool moe = m->out->model.moe.experts > 0;
	int64_t copies = 1;

	if (!mapped_count(m, "data-parallel-size", &copies) ||
	    (moe && !mapped_set_count(m, "dp_attention", copies, dp)))
		return false;
	if (moe && mapped_on(m, "enable-expert-parallel") &&
	    !mapped_set_count(m, "ep", plan->tp * plan->serving.dp_attention, dp))
		return false;
	return read_engines(m, moe ? 1 : copies, dp) && read_drafts(m) &&
	       read_adapters(m, &adapters) && vllm_read_host(m) &&
	       read_precision(m, "quantization", formats, "dtype", checkpoint);
}

static void write_drafts(const struct tool_writer *w)
{
	const struct serving_plan *v = &w->scenario->plan.serving;
	bool mtp = v->speculative == SPECULATIVE_MTP;

	if (v->speculative == SPECULATIVE_OFF)
		return;
	if (mtp)
		write_flag(w, "speculative-config.method", "mtp");
	else
		write_default(w, "speculative-config.model",
			      "${DRAFT_MODEL:?the draft model}");
	write_count(w, tokens_key, v->draft_tokens);
}

/* Attention kernels for CUDA take multiples of 16 only (vllm/v1/attention/backend.py).
 */
static void settle_block(const struct tool_writer *w)
{
	int64_t block = w->scenario->plan.serving.kv_block;

	if (block % 16 == 0)
		return;
	write_without(w, "block-size");
	write_unsaid(w, "kv_block", "%lld; vLLM has multiples of 16", (long long)block);
}

/* Each request has a token in a pass (vllm/config/scheduler.py). */
static void settle_requests(const struct tool_writer *w)
{
	const struct serving_plan *v = &w->scenario->plan.serving;
	int64_t tokens = v->max_batched_tokens;

	if (tokens <= 0 || v->max_requests <= tokens)
		return;
	write_without(w, "max-num-seqs");
	write_count(w, "max-num-seqs", tokens);
	write_unsaid(w, "max_requests", "%lld: a pass of %lld tokens holds no more",
		     (long long)v->max_requests, (long long)tokens);
}

/* What two batches overlap with is DeepEP's exchange, which is by expert
 * (vllm/config/vllm.py). */
static void settle_overlap(const struct tool_writer *w)
{
	const struct plan *plan = &w->scenario->plan;

	if (plan->ep > 1 || !plan->ep_overlap)
		return;
	write_without(w, "enable-dbo");
	if (w->scenario->model.moe.experts > 0 && plan->serving.dp_attention > 1)
		write_unsaid(w, "ep_overlap",
			     "on: vLLM overlaps an exchange by expert, which needs EP");
}

/* What has to be asked for before 0.14 (presets/stacks/vllm.yaml). */
static void write_scheduling(const struct tool_writer *w)
{
	if (w->scenario->plan.serving.host_overlap &&
	    release_is_before(w->scenario->stack.name, "0.14.0", "2026-01-20"))
		write_flag(w, "async-scheduling", "");
}

/* GPUs of one copy of the attention: vLLM's world within a data-parallel rank. */
static int64_t copy_gpus(const struct plan *plan)
{
	return plan->tp * plan->pp * plan->cp;
}

/* Copies of the attention over several nodes: each node starts its own. Those that take
 * nodes themselves have whole ones, in a row: --nnodes counts the nodes of all of them,
 * and which copy a node is of follows from its rank (vllm/engine/arg_utils.py,
 * create_engine_config; vllm/config/parallel.py, nnodes_within_dp). */
static void write_copies(const struct tool_writer *w, int64_t copies)
{
	int64_t node = w->scenario->cluster.gpus_per_node;
	int64_t gpus = copy_gpus(&w->scenario->plan), each = node / gpus;

	write_count(w, "data-parallel-size", copies);
	if (each < 1 && gpus % node != 0)
		write_unsaid(w, "dp_attention",
			     "%lld: vLLM shares no node among copies of %lld GPUs; "
			     "what to leave idle is left to you",
			     (long long)copies, (long long)gpus);
	if (each < 1 || copies <= each)
		return;
	*w->spread = (struct node_share){ (copies + each - 1) / each, each };
	write_count(w, "data-parallel-size-local", each);
	write_flag(w, "data-parallel-address", "${HEAD}");
	write_flag(w, "data-parallel-start-rank", "${START}");
}

/* The nodes of a copy that one does not hold, or of all such copies. */
static void write_ranks(const struct tool_writer *w, int64_t copies)
{
	const struct plan *plan = &w->scenario->plan;
	int64_t node = w->scenario->cluster.gpus_per_node, gpus = copy_gpus(plan);

	if (gpus <= node)
		return;
	if (write_nodes(w, (gpus + node - 1) / node * node * copies))
		write_flag(w, "master-addr", "${HEAD}");
	if (plan->cp > 1)
		write_unsaid(w, "cp",
			     "%lld over nodes, which TP x PP alone part; vLLM "
			     "refuses it",
			     (long long)plan->cp);
}

/* By themselves graphs are captured up to twice the requests that may run, but to 512
 * tokens (vllm/config/vllm.py); then each sixteenth is. A length of the model that the
 * cache does not hold is refused, unless what fits is asked for. */
static void write_limits(const struct tool_writer *w)
{
	const struct scenario *s = w->scenario;
	const struct serving_plan *v = &s->plan.serving;
	double more = v->speculative == SPECULATIVE_OFF ? 0 : (double)v->draft_tokens;
	double tokens = w->planned.batch * (1 + more);

	if (tokens > 512 && w->role != ROLE_PREFILL)
		write_count(w, "max-cudagraph-capture-size",
			    ((int64_t)tokens + 15) / 16 * 16);
	if (w->planned.kv_tokens > 0 &&
	    w->planned.kv_tokens < (double)s->model.max_positions)
		write_default(w, "max-model-len", "auto");
}

/* What a file said is of those that decode. */
static void write_exchange(const struct tool_writer *w)
{
	if (w->role == ROLE_PREFILL)
		write_flag(w, "all2all-backend", "deepep_high_throughput");
	else
		write_default(w, "all2all-backend", "deepep_low_latency");
}

static void write_plan(const struct tool_writer *w)
{
	const struct plan *plan = &w->scenario->plan;
	int64_t dp = plan->serving.dp_attention, ranks = plan->tp * dp;
	bool moe = w->scenario->model.moe.experts > 0;

	if (moe && dp > 1)
		write_copies(w, dp);
	if (!moe && w->engines > 1)
		write_copies(w, w->engines);
	settle_block(w);
	settle_overlap(w);
	settle_requests(w);
	write_scheduling(w);
	/* beyond a node it is what dispatch and combine are costed as */
	if (moe && plan->ep > 1 && dp > 1 &&
	    (plan->ep_overlap || ranks > w->scenario->cluster.gpus_per_node))
		write_exchange(w);
	if (moe && plan->ep > 1)
		write_flag(w, "enable-expert-parallel", "");
	if (moe && plan->ep > 1 && plan->ep != ranks)
		write_unsaid(w, "ep", "%lld: vLLM has 1 or TP x DP = %lld",
			     (long long)plan->ep, (long long)ranks);
	if (plan->serving.redundant_experts > 0 && moe && plan->ep > 1)
		write_flag(w, "enable-eplb", "");
	write_precision(w, "quantization", formats, "dtype");
	write_drafts(w);
	write_adapters(w, &adapters);
	write_limits(w);
	vllm_write_host(w);
	write_ranks(w, moe ? dp : 1);
}

/* Where a server of prompts tells what it holds: on each copy's own port from this one
 * on, at an address that the other pool's nodes know. */
static void put_channel(struct tool_writer *w)
{
	size_t used = strlen(w->place);

	if (w->role == ROLE_BOTH)
		return;
	used += (size_t)snprintf(w->place + used, sizeof w->place - used,
				 "VLLM_NIXL_SIDE_CHANNEL_PORT=%d ",
				 w->at->port + 10000);
	if (w->at->host[0] == '$' && used < sizeof w->place)
		snprintf(w->place + used, sizeof w->place - used,
			 "VLLM_NIXL_SIDE_CHANNEL_HOST=\"${HOST[NODE]}\" ");
}

/* vLLM, docs/features/nixl_connector_usage.md: the proxy of its tests, which does not
 * wait for the servers itself. */
static void put_proxy(FILE *stream, const struct server_place *list, int count)
{
	fputs("for at in", stream);
	put_places(stream, list, count, ROLE_PREFILL, " \"{host}:{port}\"");
	put_places(stream, list, count, ROLE_DECODE, " \"{host}:{port}\"");
	fputs("; do\n  until curl -sfo /dev/null \"http://$at/health\"; do sleep 5; done\n"
	      "done\n# of vLLM's tests/v1/kv_connector/nixl_integration\n"
	      "python3 toy_proxy_server.py --host 0.0.0.0 --port 8000 \\\n"
	      "  --prefiller-hosts",
	      stream);
	put_places(stream, list, count, ROLE_PREFILL, " \"{host}\"");
	fputs(" \\\n  --prefiller-ports", stream);
	put_places(stream, list, count, ROLE_PREFILL, " {port}");
	fputs(" \\\n  --decoder-hosts", stream);
	put_places(stream, list, count, ROLE_DECODE, " \"{host}\"");
	fputs(" \\\n  --decoder-ports", stream);
	put_places(stream, list, count, ROLE_DECODE, " {port}");
}

/* Data-parallel ranks of a dense model are engines, but of such that take several nodes
 * each would think itself alone on all of them (vllm/v1/engine/core.py counts one rank
 * there, --nnodes all nodes). */
static bool starts_one(const struct scenario *scenario)
{
	return scenario->model.moe.experts > 0 ||
	       copy_gpus(&scenario->plan) > scenario->cluster.gpus_per_node;
}

const struct tool tool_vllm = {
	.name = "vllm",
	.stack = "vllm",
	.launch = "vllm serve",
	.sign = "vllm",
	.joint = '-',
	.starts = starts,
	.model_flags = model_flags,
	.aliases = aliases,
	.rows = rows,
	.others = others,
	.drafts = drafts,
	.switches = switches,
	.objects = objects,
	.launcher = launcher,
	.settings_flag = "config",
	.degree_flag = "tensor-parallel-size",
	.variables = lmcache_variables,
	.reads_variables = vllm_uses_lmcache,
	.role_flag = "kv-transfer-config.kv-role",
	.roles = { [ROLE_PREFILL] = "kv_producer", [ROLE_DECODE] = "kv_consumer" },
	.starts_one = starts_one,
	.put_alike = put_balancer,
	.put_pools = put_proxy,
	.put_channel = put_channel,
	.later = "--headless",
	.read = read_degrees,
	.write = write_plan,
};
