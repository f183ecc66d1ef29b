/* accelerate.c - see accelerate.h. */
#include "presets/accelerate/accelerate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/accelerate/plugins.h"

static const char stack[] = "fsdp";

/* How the launcher is told the steps, as a comment. */
static const char accumulation[] = "# accelerate launch --gradient_accumulation_steps ";

#define PARALLEL ACCELERATE_PARALLEL
#define FSDP     "fsdp_config.fsdp_"

static const struct mapping rows[] = {
	{ "num_processes", "gpus", NULL, "1", false },
	{ "mixed_precision", "precision", "no=fp32 bf16=bf16 fp16=fp16 fp8=fp8", "fp32",
	  true },
	{ FSDP "activation_checkpointing", "recompute",
	  "true=full false=none True=full False=none", "none", false },
	{ FSDP "backward_prefetch", "fsdp_prefetch",
	  "BACKWARD_PRE=1 BACKWARD_POST=1 NO_PREFETCH=0", "1", true },
	{ PARALLEL "tp_size", "tp", NULL, "1", false },
	{ PARALLEL "cp_size", "cp", NULL, "1", false },
	{ PARALLEL "cp_comm_strategy", "cp_kind", "allgather=all-gather alltoall=ring",
	  "all-gather", true },
	{ NULL, NULL, NULL, NULL, false },
};

static const char *const others[] = {
	"compute_environment",
	"distributed_type",
	"num_machines",
	"gradient_accumulation_steps",
	FSDP "version",
	FSDP "sharding_strategy",
	FSDP "reshard_after_forward",
	FSDP "offload_params",
	PARALLEL "dp_replicate_size",
	PARALLEL "dp_shard_size",
	"use_parallelism_config",
	"dynamo_config.dynamo_backend",
	NULL,
};

static bool has(const char *knob)
{
	static const char *const more[] = {
		"gpus",    "zero", "zero_group", "fsdp_reshard", "optimizer_offload",
		"compile", NULL,
	};

	return word_among(knob, more) || mapping_has(rows, knob);
}

/* Names and the older numbers of torch.distributed.fsdp.ShardingStrategy. */
static const struct {
	const char *name, *number;
	int zero;
	bool hybrid;
} strategies[] = {
	{ "FULL_SHARD", "1", 3, false },        { "SHARD_GRAD_OP", "2", 2, false },
	{ "NO_SHARD", "3", 0, false },          { "HYBRID_SHARD", "4", 3, true },
	{ "HYBRID_SHARD_ZERO2", "5", 2, true },
};

bool accelerate_machines(const struct mapped *m)
{
	struct cluster *cluster = &m->out->cluster;
	int64_t machines = 0;
	const struct pair *from = mapped_find(m, "num_machines");

	if (!mapped_count(m, "num_machines", &machines))
		return false;
	if (machines < 1 || cluster->gpus % machines != 0)
		return true;
	int64_t each = cluster->gpus / machines;

	if (machines == 1 && each <= cluster->gpus_per_node)
		return true;
	return mapped_set_count(m, "gpus_per_node", each, from) &&
	       (each >= cluster->link[LINK_DOMAIN].span ||
		mapped_set_count(m, "nvlink_domain", each, from));
}

static bool read_strategy(const struct mapped *m, bool *hybrid)
{
	const struct pair *pair = mapped_find(m, FSDP "sharding_strategy");

	for (size_t i = 0; pair && i < sizeof strategies / sizeof strategies[0]; i++)
		if (strcmp(pair->value, strategies[i].name) == 0 ||
		    strcmp(pair->value, strategies[i].number) == 0) {
			*hybrid = strategies[i].hybrid;
			return mapped_set_count(m, "zero", strategies[i].zero, pair) &&
			       mapped_set(m, "fsdp_reshard", "on", pair);
		}
	return !pair || error_set(m->error, m->pairs->file, pair->line,
				  "%s is '%.40s'; expected FULL_SHARD, SHARD_GRAD_OP, "
				  "NO_SHARD, HYBRID_SHARD or HYBRID_SHARD_ZERO2",
				  pair->key, pair->value);
}

static bool read_sharding(const struct mapped *m)
{
	static const char reshard[] = FSDP "reshard_after_forward";
	bool hybrid = false, fsdp = mapped_is(m, "distributed_type", "FSDP");
	int64_t replicas = 1, shards = 0;

	if (!mapped_count(m, PARALLEL "dp_replicate_size", &replicas) ||
	    !mapped_count(m, PARALLEL "dp_shard_size", &shards))
		return false;
	fsdp = fsdp || shards > 1;
	if (!mapped_set(m, "zero", fsdp ? "3" : "0", NULL) ||
	    !mapped_set(m, "fsdp_reshard",
			mapped_is(m, reshard, "false") || mapped_is(m, reshard, "False")
				? "off"
				: "on",
			NULL))
		return false;
	if (fsdp && !read_strategy(m, &hybrid))
		return false;
	if (fsdp && shards > 0 && replicas > 1)
		return mapped_set_count(m, "zero_group", shards * m->out->plan.cp,
					NULL);
	return !hybrid ||
	       mapped_set_count(m, "zero_group", m->out->cluster.gpus_per_node, NULL);
}

static bool read_rest(const struct mapped *m)
{
	static const char dynamo[] = "dynamo_config.dynamo_backend";
	int64_t steps = 1, dp = scenario_dp(m->out);
	bool offload = mapped_true(m, FSDP "offload_params");
	bool compile = mapped_find(m, dynamo) && !mapped_is(m, dynamo, "no") &&
		       !mapped_is(m, dynamo, "NO");

	if (!mapped_count(m, "gradient_accumulation_steps", &steps))
		return false;
	import_note(m->report, IMPORT_ASSUMED, "mbs", "1; the training code decides");
	return mapped_set(m, "optimizer_offload", offload ? "1" : "0", NULL) &&
	       mapped_set(m, "compile", compile ? "on" : "off", NULL) &&
	       mapped_set(m, "mbs", "1", NULL) &&
	       mapped_set_count(m, "gbs", (steps > 0 ? steps : 1) * (dp > 0 ? dp : 1),
				NULL);
}

static bool read_plan(const struct mapped *m)
{
	return accelerate_machines(m) && read_sharding(m) && read_rest(m);
}

static void read_accumulation(struct pairs *pairs, const char *text)
{
	const char *at = strstr(text, accumulation);
	char steps[16];

	if (!at || pairs_find(pairs, "gradient_accumulation_steps"))
		return;
	at += sizeof accumulation - 1;
	snprintf(steps, sizeof steps, "%.*s", (int)strspn(at, "0123456789"), at);
	if (steps[0] != '\0')
		pairs_add(pairs, "gradient_accumulation_steps", steps, 1, NULL);
}

bool accelerate_read(struct scenario *out, const char *file, const char *text,
		     size_t length, struct import_report *report, struct error *error)
{
	static const struct mapped_format format = { stack,           rows,
						     others,          NULL,
						     mapped_no_model, read_plan };
	const struct mapped_format *plugin;
	struct pairs pairs;

	if (!pairs_from_yaml_repeats(&pairs, file, text, length, error))
		return false;
	read_accumulation(&pairs, text);
	plugin = accelerate_plugin(&pairs);
	return mapped_read(out, plugin ? plugin : &format, &pairs, report, error);
}

/* How the ranks are dealt out: their product is the number of processes. Pipeline
 * ranks, which accelerate does not have, share out the data too. */
struct sizes {
	int64_t shard, replicate;
};

static int64_t data_ranks(const struct scenario *s)
{
	int64_t ranks = s->cluster.gpus / (s->plan.tp * s->plan.cp);

	return ranks > 0 ? ranks : 1;
}

static struct sizes sizes_of(const struct scenario *s)
{
	const struct plan *plan = &s->plan;
	int64_t ranks = data_ranks(s);
	int64_t shard = plan->zero > 0 ? ranks : 1;

	if (plan->zero > 0 && plan->zero_group > 0 &&
	    plan->zero_group % plan->cp == 0 &&
	    ranks % (plan->zero_group / plan->cp) == 0)
		shard = plan->zero_group / plan->cp;
	/* TP and CP do not go with plain replicas */
	if (shard == 1 && ranks > 1 && (plan->tp > 1 || plan->cp > 1))
		shard = ranks;
	return (struct sizes){ shard, ranks / shard };
}

static void add_sizes(struct entries *e, const struct scenario *s,
		      struct export_out *out)
{
	const struct plan *plan = &s->plan;
	struct sizes sizes = sizes_of(s);
	int64_t ranks = scenario_dp(s) * plan->cp;

	if (plan->zero == 0 && sizes.shard > 1)
		export_unsaid(out, "zero", "0; TP and CP need FSDP, written as 3");
	if (plan->zero_group > 0 && plan->zero_group < ranks &&
	    sizes.shard * plan->cp != plan->zero_group)
		export_unsaid(out, "zero_group", "%lld", (long long)plan->zero_group);
	if (plan->zero == 0 && sizes.shard == 1)
		return;
	entries_add_count(e, PARALLEL "dp_replicate_size", sizes.replicate);
	entries_add_count(e, PARALLEL "dp_shard_size", sizes.shard);
}

static void add_sharding(struct entries *e, const struct scenario *s,
			 struct export_out *out)
{
	const struct plan *plan = &s->plan;
	bool whole = plan->zero == 0 || (plan->zero == 3 && plan->fsdp_reshard);

	if (plan->zero == 1 || plan->zero == 2)
		export_unsaid(out, "zero",
			      "%lld; written as FSDP2 that keeps the weights gathered",
			      (long long)plan->zero);
	add_sizes(e, s, out);
	if (plan->zero == 0 && sizes_of(s).shard == 1) {
		entries_add(e, "distributed_type",
			    s->cluster.gpus > 1 ? "MULTI_GPU" : "NO", true);
		return;
	}
	entries_add(e, "distributed_type", "FSDP", true);
	entries_add(e, FSDP "version", "2", false);
	/* each layer by itself: an absent policy gathers the whole model at once */
	entries_add(e, FSDP "auto_wrap_policy", "TRANSFORMER_BASED_WRAP", true);
	/* FSDP2 has this in place of a strategy */
	entries_add(e, FSDP "reshard_after_forward", whole ? "true" : "false", false);
}

static int64_t machines(const struct scenario *s)
{
	int64_t node = s->cluster.gpus_per_node;

	return node > 0 && s->cluster.gpus % node == 0 ? s->cluster.gpus / node : 1;
}

/* No key of the file, but words of the launcher. */
static void put_accumulation(const struct scenario *s, struct export_out *out)
{
	int64_t each = s->plan.micro_batch * data_ranks(s);
	int64_t steps = each > 0 ? s->plan.global_batch / each : 0;

	if (steps < 1 || steps * each != s->plan.global_batch) {
		export_unsaid(out, "gbs", "%lld; %lld ranks x micro-batch %lld",
			      (long long)s->plan.global_batch, (long long)data_ranks(s),
			      (long long)s->plan.micro_batch);
		return;
	}
	/* of several machines the file can't tell which one this is */
	fprintf(out->body, "%s%lld%s\n", accumulation, (long long)steps,
		machines(s) > 1 ? " --machine_rank $RANK --main_process_ip $HEAD "
				  "--main_process_port 29500"
				: "");
}

static void add_plan(struct entries *e, const struct scenario *s,
		     struct export_out *out)
{
	const struct plan *plan = &s->plan;

	entries_add(e, "compute_environment", "LOCAL_MACHINE", true);
	entries_add_rows(e, s, rows, true, out);
	entries_add_count(e, "num_machines", machines(s));
	add_sharding(e, s, out);
	if (plan->optimizer_offload >= 1)
		entries_add(e, FSDP "offload_params", "true", false);
	else if (plan->optimizer_offload > 0)
		export_unsaid(out, "optimizer_offload", "%.3g: all or nothing",
			      plan->optimizer_offload);
	if (plan->compile)
		entries_add(e, "dynamo_config.dynamo_backend", "INDUCTOR", true);
	if (plan->micro_batch != 1)
		export_unsaid(out, "gbs",
			      "%lld; the training code decides the micro-batch",
			      (long long)plan->global_batch);
	put_accumulation(s, out);
	export_unsaid_knobs(out, s, stack, has);
}

char *accelerate_write(const struct scenario *scenario)
{
	return entries_export(scenario, add_plan, entries_write_yaml);
}
