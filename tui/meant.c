/* meant.c - see meant.h. */
#include "tui/meant.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* Of a knob, a number or a view. */
static const struct {
	const char *word, *key;
} synonyms[] = {
	{ "context length", "seq" },
	{ "context", "seq" },
	{ "context", "cp" },
	{ "sequence", "seq" },
	{ "length", "seq" },
	{ "ctx", "seq" },
	{ "seq length", "seq" },
	{ "sequence length", "seq" },
	{ "microbatch", "mbs" },
	{ "micro", "mbs" },
	{ "expert", "ep" },
	{ "rate", "request_rate" },
	{ "batch size", "gbs" },
	{ "batch size", "mbs" },
	{ "batch", "gbs" },
	{ "batch", "mbs" },
	{ "context window", "seq" },
	{ "max length", "seq" },
	{ "max seq len", "seq" },
	{ "gpu", "gpus" },
	{ "gpu count", "gpus" },
	{ "fp8", "precision" },
	{ "bf16", "precision" },
	{ "fp16", "precision" },
	{ "input length", "prompt" },
	{ "input len", "prompt" },
	{ "qps", "request_rate" },
	{ "rps", "request_rate" },
	{ "data parallel", "dp" },
	{ "data parallel size", "dp" },
	{ "dp size", "dp" },
	{ "accumulation", "gbs" },
	{ "gradient accumulation steps", "gbs" },
	{ "nodes", "gpus" },
	{ "devices", "gpus" },
	{ "world size", "gpus" },
	{ "sharding", "zero" },
	{ "fsdp", "zero" },
	{ "checkpointing", "recompute" },
	{ "activation checkpointing", "recompute" },
	{ "gradient checkpointing", "recompute" },
	{ "rematerialization", "recompute" },
	{ "quantization", "precision" },
	{ "interleaving", "vpp" },
	{ "flash", "attention_kernel" },
	{ "nvlink", "nvlink_domain" },
	{ "infiniband", "network_gbps_per_gpu" },
	{ "ib", "network_gbps_per_gpu" },
	{ "experts", "ep" },
	{ "heads", "tp" },
	{ "long context", "seq" },
	{ "users", "concurrency" },
	{ "8 bit", "precision" },
	{ "days", "run_seconds" },
	{ "duration", "run_seconds" },
	{ "wall time", "run_seconds" },
	{ "eta", "run_seconds" },
	{ "cost", "run_dollars" },
	{ "dollars", "run_dollars" },
	{ "money", "run_dollars" },
	{ "budget", "run_dollars" },
	{ "electricity", "run_joules" },
	{ "carbon", "run_co2_grams" },
	{ "energy", "run_joules" },
	{ "power", "run_joules" },
	{ "speed", "tokens_per_second_per_gpu" },
	{ "throughput", "tokens_per_second_per_gpu" },
	{ "latency", "tpot_seconds" },
	{ "oom", "total_bytes" },
	{ "vram", "total_bytes" },
	{ "hbm", "total_bytes" },
	{ "idle", "bubble_ratio" },
	{ "waiting", "exposed_seconds" },
	{ "waiting", "bubble_ratio" },
	{ "speedup", "tokens_per_second_per_gpu" },
	{ "why", "explain" },
	{ "advice", "overview" },
	{ "utilization", "mfu" },
	{ "best plans", "search" },
	{ "optimize", "search" },
	{ "deadline", "search" },
	{ "gantt", "timeline" },
	{ "communication", "traffic" },
	{ "network traffic", "traffic" },
	{ "operators", "graph" },
	{ "roofline", "graph" },
};

static char plain(char c)
{
	return c == '_' || c == '-' ? ' ' : (char)tolower((unsigned char)c);
}

bool meant_text_begins(const char *text, const char *with)
{
	while (*with != '\0' && plain(*text) == plain(*with)) {
		text++;
		with++;
	}
	return *with == '\0';
}

const char *meant_key(const char *word, int n)
{
	for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++)
		if (strlen(synonyms[i].word) == strlen(word) &&
		    meant_text_begins(synonyms[i].word, word) && n-- == 0)
			return synonyms[i].key;
	return NULL;
}

bool meant_begins(const char *key, const char *text)
{
	for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++)
		if (strcmp(synonyms[i].key, key) == 0 &&
		    meant_text_begins(synonyms[i].word, text))
			return true;
	return false;
}
