/* sglang.c - SGLang's flags and what they mean here. */
#include <stdio.h>
#include <string.h>

#include "engine/serve/serve.h"
#include "presets/release.h"
#include "presets/serving/tool.h"

enum { BOOTSTRAP_ABOVE = 10 }; /* a server's port */

static const struct mapping rows[] = {
	{ "pp-size", "pp", NULL, "1", false },
	{ "mem-fraction-static", "memory_share", NULL, "auto", false },
	{ "kv-cache-dtype", "kv_precision",
	  "fp8_e4m3=fp8 fp8_e5m2=fp8 bf16=bf16 bfloat16=bf16 fp4_e2m1=fp4", "auto",
	  false },
	{ "page-size", "kv_block", NULL, "1", false },
	{ "disable-radix-cache", "prefix_cache",
	  "=off true=off True=off false=on False=on", "on", false },
	{ "enable-two-batch-overlap", "ep_overlap",
	  "=on true=on True=on false=off False=off", "off", false },
	{ "disable-overlap-schedule", "host_overlap",
	  "=off true=off True=off false=on False=on", "on", false },
	{ "scheduler-recv-interval", "receive_interval", NULL, "1", false },
	{ "ep-num-redundant-experts", "redundant_experts", NULL, "none", false },
	{ NULL, NULL, NULL, NULL, false },
};

static const char *const model_flags[] = { "model-path", "model", NULL };
static const char *const aliases[] = { "tp",
				       "tp-size",
				       "tensor-parallel-size",
				       "tp-size",
				       "pp",
				       "pp-size",
				       "pipeline-parallel-size",
				       "pp-size",
				       "dp",
				       "dp-size",
				       "data-parallel-size",
				       "dp-size",
				       "ep",
				       "ep-size",
				       "expert-parallel-size",
				       "ep-size",
				       "speculative-algo",
				       "speculative-algorithm",
				       NULL };
static const char *const others[] = { "tp-size",
				      "enable-lora",
				      "max-loras-per-batch",
				      "max-lora-rank",
				      "dp-size",
				      "enable-dp-attention",
				      "ep-size",
				      "moe-a2a-backend",
				      "enable-ep-moe",
				      "enable-deepep-moe",
				      "chunked-prefill-size",
				      "max-prefill-tokens",
				      "max-running-requests",
				      "quantization",
				      "dtype",
				      "speculative-algorithm",
				      "speculative-num-steps",
				      "speculative-num-draft-tokens",
				      "speculative-eagle-topk",
				      "disaggregation-mode",
				      "enable-hierarchical-cache",
				      "hicache-ratio",
				      "hicache-size",
				      LMCACHE_KEPT,
				      LMCACHE_SIZE,
				      NULL };
static const char *const drafts[] = { "speculative-algorithm", NULL };
static const char *const switches[] = { "enable-dp-attention",
					"enable-hierarchical-cache",
					"enable-lmcache",
					"enable-ep-moe",
					"enable-deepep-moe",
					"trust-remote-code",
					"disable-cuda-graph",
					"enable-torch-compile",
					"enable-mixed-chunk",
					"disable-overlap-schedule",
					"enable-metrics",
					"enable-dp-lm-head",
					"enable-eplb",
					"log-requests",
					"show-time-cost",
					"enable-p2p-check",
					"disable-custom-all-reduce",
					"enable-mscclpp",
					"skip-server-warmup",
					"disable-shared-experts-fusion",
					"enable-flashinfer-mla",
					"disable-chunked-prefix-cache",
					"enable-multimodal",
					"enable-lora",
					"enable-single-batch-overlap",
					"enable-symm-mem",
					"is-embedding",
					"skip-tokenizer-init",
					"disable-cuda-graph-padding",
					"enable-memory-saver",
					"enable-nccl-nvls",
					"enable-flashinfer-allreduce-fusion",
					"enable-flashinfer-cutlass-moe",
					"enable-flashinfer-trtllm-moe",
					NULL };
static const char *const launcher[] = { "port",
					"nnodes",
					"node-rank",
					"dist-init-addr",
					"nccl-init-addr",
					"disaggregation-bootstrap-port",
					"LMCACHE_CONFIG_FILE",
					NULL };

static const char formats[] =
	"fp8=fp8 w8a8_fp8=fp8 modelopt_fp8=fp8 modelopt=fp8 w8a8_int8=int8 "
	"blockwise_int8=int8 modelopt_fp4=nvfp4 nvfp4_online=nvfp4 petit_nvfp4=nvfp4 "
	"mxfp4=mxfp4 mxfp8=mxfp8 awq=int4 awq_marlin=int4 gptq=int4 gptq_marlin=int4 "
	"marlin=int4 moe_wna16=int4 qoq=int4 w4afp8=int4 bitsandbytes=int4 gguf=int4 "
	"auto-round=int4 compressed-tensors=int8";

/* Without an adapter to look at it asks for both of the last (srt/server_args.py,
 * check_lora_server_args). */
static const struct adapter_words adapters = {
	.on = "enable-lora",
	.count = "max-loras-per-batch",
	.rank = "max-lora-rank",
	.usual = 8,
	.usual_rank = 16,
	.matrices = "lora-target-modules",
	.dense = "q_proj k_proj v_proj o_proj gate_proj up_proj down_proj",
	.attention = "q_proj k_proj v_proj o_proj",
	.latent = "all",
};

static int starts(const struct shell_word *words, int count)
{
	for (int i = 0; i < count; i++) {
		const char *word = words[i].text;

		if (strcmp(word, "sglang.launch_server") == 0 ||
		    strcmp(word, "dynamo.sglang") == 0 ||
		    strcmp(word, "dynamo.sglang.worker") == 0 ||
		    strcmp(word, "sglang_router.launch_server") == 0 ||
		    strstr(word, "sglang/launch_server.py"))
			return i + 1;
		if (word_is_program(word, "sglang") && i + 1 < count &&
		    strcmp(words[i + 1].text, "serve") == 0)
			return i + 2;
	}
	return 0;
}

static bool read_drafts(const struct mapped *m)
{
	const struct pair *algorithm = mapped_find(m, "speculative-algorithm");
	bool own = m->out->model.mtp_layers > 0 &&
		   !mapped_find(m, "speculative-draft-model-path");
	int64_t steps = 0, tokens = 0, width = 1;

	if (!algorithm || algorithm->value[0] == '\0' ||
	    !mapped_count(m, "speculative-num-steps", &steps) ||
	    !mapped_count(m, "speculative-eagle-topk", &width) ||
	    !mapped_count(m, "speculative-num-draft-tokens", &tokens))
		return !algorithm || algorithm->value[0] == '\0';
	if (width > 1)
		import_note(m->report, IMPORT_APPROXIMATE, "speculative-eagle-topk",
			    "%lld: a tree of drafts counts as its longest path",
			    (long long)width);
	/* the tokens that are checked hold the last certain one too */
	if (steps <= 0 && tokens > 1)
		steps = tokens - 1;
	return read_speculation(
		m,
		strcasecmp(algorithm->value, "NEXTN") == 0 ||
			(own && strncasecmp(algorithm->value, "EAGLE", 5) == 0),
		steps);
}

/* Limits of all copies of the attention together; ours are of one. */
static bool read_limits(const struct mapped *m)
{
	int64_t copies = m->out->plan.serving.dp_attention, chunk = 0, prefill = 0,
		requests = 0;
	const struct pair *from = mapped_find(m, "chunked-prefill-size");

	if (!mapped_count(m, "chunked-prefill-size", &chunk) ||
	    !mapped_count(m, "max-prefill-tokens", &prefill) ||
	    !mapped_count(m, "max-running-requests", &requests))
		return false;
	copies = copies > 0 ? copies : 1;
	if (from && chunk == 0)
		chunk = -1;
	if (chunk > 0)
		chunk = chunk < copies ? 1 : chunk / copies;
	if (requests > 0)
		requests = requests < copies ? 1 : requests / copies;
	return mapped_set(m, "chunked_prefill", chunk < 0 ? "off" : "on", from) &&
	       mapped_set_count(m, "max_batched_tokens",
				chunk > 0                  ? chunk
				: chunk < 0 && prefill > 0 ? prefill
							   : 0,
				from) &&
	       mapped_set_count(m, "max_requests", requests > 0 ? requests : 0, NULL);
}

static bool read_experts(const struct mapped *m, int64_t tp)
{
	static const char key[] = "moe-a2a-backend";
	const struct pair *from = mapped_find(m, "ep-size");
	const struct pair *backend = mapped_find(m, key);
	int64_t ep = 1;

	if (!mapped_count(m, "ep-size", &ep))
		return false;
	if (mapped_on(m, "enable-ep-moe") || mapped_on(m, "enable-deepep-moe") ||
	    (backend && backend->value[0] != '\0' && !mapped_is(m, key, "none") &&
	     !mapped_is(m, key, "flashinfer")))
		ep = tp;
	return m->out->model.moe.experts == 0 || ep < 1 ||
	       mapped_set_count(m, "ep", ep, from);
}

static bool read_degrees(const struct mapped *m, const char *checkpoint)
{
	const struct pair *host = mapped_find(m, "kt-weight-path");
	const struct pair *from = mapped_find(m, "dp-size");
	const struct pair *width = mapped_find(m, "tp-size");
	int64_t tp = 1, dp = 1;
	bool shared = mapped_on(m, "enable-dp-attention");

	/* KTransformers; kvcache-ai/ktransformers, doc/en/kt-kernel */
	if (host)
		return error_set(m->error, m->pairs->file, host->line,
				 "--%s keeps experts in host memory and computes them "
				 "there, which is not modelled",
				 host->key);
	if (!mapped_count(m, "tp-size", &tp) || !mapped_count(m, "dp-size", &dp))
		return false;
	if (shared && (dp < 1 || tp % dp != 0))
		return error_set(m->error, m->pairs->file, from ? from->line : 1,
				 "tp-size %lld is no multiple of dp-size %lld, which "
				 "--enable-dp-attention needs",
				 (long long)tp, (long long)dp);
	if (!mapped_set_count(m, "tp", shared ? tp / dp : tp, width) ||
	    !mapped_set_count(m, "dp_attention", shared ? dp : 1, from))
		return false;
	return read_experts(m, tp) && read_limits(m) &&
	       read_engines(m, shared ? 1 : dp, from) && read_drafts(m) &&
	       read_adapters(m, &adapters) &&
	       read_precision(m, "quantization", formats, "dtype", checkpoint) &&
	       sglang_read_host(m);
}

static const char *const more_knobs[] = { "chunked_prefill", "max_batched_tokens",
					  "max_requests", NULL };

static void write_drafts(const struct tool_writer *w)
{
	const struct serving_plan *v = &w->scenario->plan.serving;
	bool mtp = v->speculative == SPECULATIVE_MTP;

	if (v->speculative == SPECULATIVE_OFF)
		return;
	if (mtp) {
		write_flag(w, "speculative-algorithm", "NEXTN");
	} else {
		write_default(w, "speculative-algorithm", "STANDALONE");
		write_default(w, "speculative-draft-model-path",
			      "${DRAFT_MODEL:?the draft model}");
	}
	write_count(w, "speculative-num-steps", v->draft_tokens);
	write_count(w, "speculative-eagle-topk", 1);
	write_count(w, "speculative-num-draft-tokens", v->draft_tokens + 1);
}

/* Two that SGLang's check_server_args keeps from each other. */
static void write_refused(const struct tool_writer *w)
{
	const struct plan *plan = &w->scenario->plan;
	const char *with = plan->pp > 1                 ? "a pipeline"
			   : plan->serving.adapters > 0 ? "LoRA adapters"
							: NULL;

	if (plan->serving.speculative != SPECULATIVE_OFF && with)
		write_unsaid(w, "speculative", "beside %s SGLang refuses it", with);
}

/* A chunk of a copy holds whole pages (srt/server_args.py, check_server_args). */
static int64_t chunk_of(const struct tool_writer *w)
{
	const struct serving_plan *v = &w->scenario->plan.serving;
	int64_t page = v->kv_block > 0 ? v->kv_block : 1;
	int64_t tokens = v->max_batched_tokens / page * page;

	if (tokens == v->max_batched_tokens)
		return tokens;
	tokens = tokens > 0 ? tokens : page;
	write_unsaid(w, "max_batched_tokens", "%lld: SGLang's chunks hold whole pages",
		     (long long)v->max_batched_tokens);
	return tokens;
}

static void write_limits(const struct tool_writer *w)
{
	const struct serving_plan *v = &w->scenario->plan.serving;

	if (!v->chunked_prefill)
		write_count(w, "chunked-prefill-size", -1);
	if (v->max_batched_tokens > 0 && !v->chunked_prefill)
		write_count(w, "max-prefill-tokens", v->max_batched_tokens);
	else if (v->max_batched_tokens > 0)
		write_count(w, "chunked-prefill-size", chunk_of(w) * v->dp_attention);
	if (v->max_requests > 0)
		write_count(w, "max-running-requests",
			    v->max_requests * v->dp_attention);
}

/* Graphs of prompts and of decoding have sizes of their own since 0.5.15
 * (sgl-project/sglang pull 23906); the one word of before is going (38375). */
static const char graphs_key[] = "cuda-graph-max-bs-decode";
static const char old_graphs_key[] = "cuda-graph-max-bs";

static void write_graphs(const struct tool_writer *w)
{
	bool old = release_is_before(w->scenario->stack.name, "0.5.15", "2026-07-01");

	if (w->role != ROLE_PREFILL &&
	    w->planned.batch > server_usual_graphs(w->scenario))
		write_count(w, old ? old_graphs_key : graphs_key,
			    (int64_t)w->planned.batch);
}

static void write_plan(const struct tool_writer *w)
{
	const struct plan *plan = &w->scenario->plan;
	int64_t copies = plan->serving.dp_attention;
	bool moe = w->scenario->model.moe.experts > 0;

	if (plan->tp * copies > 1)
		write_count(w, "tp-size", plan->tp * copies);
	if (copies > 1) {
		write_count(w, "dp-size", copies);
		write_flag(w, "enable-dp-attention", "");
	} else if (w->engines > 1) {
		write_count(w, "dp-size", w->engines);
	}
	if (moe && plan->ep > 1)
		write_count(w, "ep-size", plan->ep);
	/* tokens are sent to a spare expert only by who looks where experts are
	 * (srt/server_args.py, _handle_eplb_and_dispatch) */
	if (moe && plan->ep > 1 && plan->serving.redundant_experts > 0)
		write_flag(w, "enable-eplb", "");
	/* what dispatch and combine are costed as; it takes all ranks */
	if (moe && copies > 1 && plan->ep == plan->tp * copies)
		write_default(w, "moe-a2a-backend", "deepep");
	if (plan->cp > 1)
		write_unsaid(w, "gpus", "%lld: CP is not among the flags",
			     (long long)w->scenario->cluster.gpus);
	write_limits(w);
	write_graphs(w);
	write_precision(w, "quantization", formats, "dtype");
	write_drafts(w);
	write_adapters(w, &adapters);
	write_refused(w);
	sglang_write_host(w);
	if (write_nodes(w, plan->tp * copies * plan->pp))
		write_flag(w, "dist-init-addr", "${HEAD}:20000");
}

/* Those that decode ask a server of prompts on a port of its own, which is one number
 * for all of a node otherwise; and each listens to its own node alone. */
static void put_channel(struct tool_writer *w)
{
	if (w->at->host[0] == '$')
		write_flag(w, "host", "0.0.0.0");
	if (w->role == ROLE_PREFILL)
		write_count(w, "disaggregation-bootstrap-port",
			    w->at->port + BOOTSTRAP_ABOVE);
}

/* Replicas of one command share a node, but for attention DP. */
static bool starts_one(const struct scenario *scenario)
{
	return scenario->plan.serving.dp_attention > 1 ||
	       scenario->cluster.gpus > scenario->cluster.gpus_per_node;
}

/* SGLang, docs/advanced_features/router.md. */
static void put_router(FILE *stream, const struct server_place *list, int count)
{
	fputs("python3 -m sglang_router.launch_router --host 0.0.0.0 "
	      "--port 8000 \\\n  --worker-urls",
	      stream);
	put_places(stream, list, count, ROLE_BOTH, " \"http://{host}:{port}\"");
}

/* SGLang, docs/advanced_features/pd_disaggregation.md. */
static void put_pools(FILE *stream, const struct server_place *list, int count)
{
	fputs("python3 -m sglang_router.launch_router --pd-disaggregation --port 8000",
	      stream);
	for (int i = 0; i < count; i++)
		if (list[i].role == ROLE_PREFILL)
			fprintf(stream, " \\\n  --prefill \"http://%s:%d\" %d",
				list[i].host, list[i].port,
				list[i].port + BOOTSTRAP_ABOVE);
	put_places(stream, list, count, ROLE_DECODE,
		   " \\\n  --decode \"http://{host}:{port}\"");
}

/* A size that came in the other word goes. */
static void settle(struct tool_writer *w)
{
	bool both = false;

	sglang_settle_host(w);
	for (int i = 0; i < w->flags->count; i++)
		both = both || strcmp(w->flags->item[i].key, graphs_key) == 0;
	if (both)
		write_without(w, old_graphs_key);
}

const struct tool tool_sglang = {
	.name = "sglang",
	.stack = "sglang",
	.launch = "python3 -m sglang.launch_server",
	.sign = "sglang",
	.joint = '-',
	.starts = starts,
	.model_flags = model_flags,
	.aliases = aliases,
	.rows = rows,
	.others = others,
	.drafts = drafts,
	.switches = switches,
	.settings_flag = "config",
	.degree_flag = "tp-size",
	.launcher = launcher,
	.role_flag = "disaggregation-mode",
	.roles = { [ROLE_PREFILL] = "prefill", [ROLE_DECODE] = "decode" },
	.starts_one = starts_one,
	.put_alike = put_router,
	.put_pools = put_pools,
	.put_channel = put_channel,
	.read = read_degrees,
	.write = write_plan,
	.settle = settle,
	.variables = lmcache_variables,
	.reads_variables = sglang_uses_lmcache,
	.more_knobs = more_knobs,
};
