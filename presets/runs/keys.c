/* keys.c - see keys.h. */
#include "presets/runs/keys.h"

#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/megatron/flags.h"
#include "presets/megatron/megatron.h"
#include "presets/pairs/mapping.h"

struct key {
	const char *name;
	/* text is "" for lists and mappings */
	bool (*take)(struct measured_run *run, const struct node *node,
		     const char *text);
};

static bool set(struct measured_run *run, const char *key, const char *text)
{
	char why[160];

	return knob_parse(&run->scenario, knob_find(key), text, why, sizeof why);
}

static bool is_true(const char *text)
{
	return strcmp(text, "true") == 0 || strcmp(text, "True") == 0 ||
	       strcmp(text, "1") == 0;
}

static bool take_nothing(struct measured_run *run, const struct node *node,
			 const char *text)
{
	(void)run, (void)node, (void)text;
	return true;
}

/* The stack's flash kernel where it has one, or the second generation. */
static bool take_flash(struct measured_run *run, const struct node *node,
		       const char *text)
{
	struct plan *plan = &run->scenario.plan;
	bool flash = attention_table[plan->attention_kernel].flash;

	(void)node;
	if (is_true(text) && !flash)
		plan->attention_kernel = ATTENTION_FLASH2;
	else if (!is_true(text) && flash)
		plan->attention_kernel = ATTENTION_FUSED_SOFTMAX;
	return true;
}

static bool take_gradients(struct measured_run *run, const struct node *node,
			   const char *text)
{
	(void)node;
	run->scenario.plan.overlap_grad_reduce = is_true(text);
	if (!is_true(text))
		run->scenario.plan.overlap_param_gather = false;
	return true;
}

/* Those of a list in brackets; all where it names none. */
static uint64_t scopes_of(const char *text)
{
	static const struct {
		const char *word;
		uint64_t bits;
	} words[] = {
		{ "attn", 1u << SCOPE_ATTN },
		{ "mlp", 1u << SCOPE_MLP },
		{ "moe_router", 1u << SCOPE_MOE_ROUTER | 1u << SCOPE_SHARED_EXPERTS },
		{ "moe_preprocess", 1u << SCOPE_MOE_PREPROCESS },
		{ "mamba", 1u << SCOPE_MAMBA },
	};
	uint64_t bits = 0;

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		bits |= strstr(text, words[i].word) ? words[i].bits : 0;
	return bits ? bits : (1u << SCOPE_COUNT) - 1;
}

/* "implementation/scope", as Megatron Bridge prints them. */
static bool take_graphs(struct measured_run *run, const struct node *node,
			const char *text)
{
	int *graphs = &run->scenario.plan.cuda_graphs;

	(void)node;
	if (!strchr(text, '/'))
		return set(run, "cuda_graphs", text);
	if (strncmp(text, "none", 4) == 0)
		*graphs = GRAPHS_NONE;
	else
		*graphs = strstr(text, "full_iteration") ? GRAPHS_FULL : GRAPHS_PARTIAL;
	if (*graphs == GRAPHS_PARTIAL)
		run->scenario.plan.graph_scopes = scopes_of(text);
	return true;
}

static bool take_modules(struct measured_run *run, const struct node *node,
			 const char *text)
{
	char joined[256] = "";

	if (node->kind == NODE_SCALAR)
		return set(run, "recompute_modules", text);
	for (const struct node *item = node->child; item; item = item->next) {
		size_t used = strlen(joined);

		if (item->kind != NODE_SCALAR)
			return false;
		snprintf(joined + used, sizeof joined - used, "%s%s", used ? "+" : "",
			 item->text);
	}
	return set(run, "recompute_modules", joined[0] ? joined : "none");
}

static bool take_layout(struct measured_run *run, const struct node *node,
			const char *text)
{
	(void)node;
	run->scenario.plan.split = SPLIT_CUSTOM;
	return set(run, "layout", text);
}

/* Megatron Bridge's token drop pads every expert to its capacity as well (utils/
 * moe_token_drop.py, moe_pad_expert_input_to_capacity). */
static bool take_drop(struct measured_run *run, const struct node *node,
		      const char *text)
{
	(void)node;
	run->scenario.plan.moe_capacity =
		is_true(text) ? CAPACITY_PAD : CAPACITY_DROPLESS;
	return true;
}

static bool take_stage(struct measured_run *run, const struct node *node,
		       const char *text)
{
	(void)node;
	run->last_only = strcmp(text, "last") == 0;
	return true;
}

static bool take_part(struct measured_run *run, const struct node *node,
		      const char *text)
{
	(void)node;
	run->layers_only = strcmp(text, "layers") == 0;
	return run->layers_only;
}

/* A frozen model with adapters; 8 is NeMo's rank in its performance recipes. */
static bool take_task(struct measured_run *run, const struct node *node,
		      const char *text)
{
	(void)node;
	return strcmp(text, "lora") != 0 || set(run, "lora_rank", "8");
}

/* Zero bubble's forks give the first and the last stage one layer less. */
static bool take_first_last(struct measured_run *run, const struct node *node,
			    const char *text)
{
	struct scenario *s = &run->scenario;
	int64_t each = s->plan.pp > 0 ? (s->model.layers + 2) / s->plan.pp : 0;

	(void)node;
	if (strcmp(text, "one fewer") != 0)
		return false;
	if (s->plan.pp > 1 && each > 1) {
		s->plan.split = SPLIT_FIRST_LAST;
		s->plan.first_stage_layers = each - 1;
		s->plan.last_stage_layers = each - 1;
	}
	return true;
}

/* Megatron's words for how CP sees the whole sequence. */
static bool take_cp_comm(struct measured_run *run, const struct node *node,
			 const char *text)
{
	const struct flag *flag = megatron_flag("cp-comm-type");
	char word[32];

	(void)node;
	return mapping_ours(flag->words, text, strlen(text), word) &&
	       set(run, flag->knob, word);
}

/* A share, or a switch: all of it. */
static bool take_offload(struct measured_run *run, const struct node *node,
			 const char *text)
{
	bool off = strcmp(text, "false") == 0 || strcmp(text, "False") == 0;

	return set(run, node->key, off ? "0" : is_true(text) ? "1" : text);
}

static bool take_version(struct measured_run *run, const struct node *node,
			 const char *text)
{
	(void)node;
	snprintf(run->software_version, sizeof run->software_version, "%s", text);
	error_clean(run->software_version);
	return true;
}

static const struct key keys[] = {
	{ "flash_attention", take_flash },
	{ "overlap_grad_reduce", take_gradients },
	{ "cuda_graphs", take_graphs },
	{ "recompute_modules", take_modules },
	{ "layout", take_layout },
	{ "moe_token_drop", take_drop },
	{ "measured_stage", take_stage },
	{ "measured_part", take_part },
	{ "task", take_task },
	{ "layers_first_last", take_first_last },
	{ "megatron_args", take_nothing }, /* run_amend() */
	{ "cp_comm", take_cp_comm },
	{ "optimizer_offload", take_offload },
	{ "activation_offload", take_offload },
	{ "measured_busbw_gbs", take_nothing }, /* a fact about the job, no input */
	{ "software_version", take_version },
	{ "note", take_nothing },
	{ "source", take_nothing },
	{ "reference", take_nothing },
};

bool run_key_read(struct measured_run *run, const struct document *document,
		  const struct node *node, bool *mine, struct error *error)
{
	const char *text = node->kind == NODE_SCALAR ? node->text : "";

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		*mine = strcmp(keys[i].name, node->key) == 0;
		if (*mine)
			return keys[i].take(run, node, text) ||
			       error_set(error, document->file, node->line,
					 "%s is '%.60s', which is no value of it",
					 node->key, text);
	}
	return false;
}

bool run_amend(struct measured_run *run, const struct document *document,
	       const struct node *map, const struct node *shape, struct error *error)
{
	const struct node *args = node_get(map, "megatron_args");
	struct import_report *report;
	bool good;

	if (!args)
		return true;
	if (args->kind != NODE_SCALAR)
		return error_set(error, document->file, args->line,
				 "megatron_args is no text; "
				 "expected \"name=value name=value\"");
	if (shape && !node_get(shape, "dropout"))
		run->scenario.model.dropout = 0.1; /* Megatron's default */
	report = calloc(1, sizeof *report);
	if (!report)
		return error_set(error, document->file, args->line, "out of memory");
	good = megatron_amend(&run->scenario, document->file, args->line, args->text,
			      report, error);
	free(report);
	return good;
}

/* How the layers were dealt out is rarely stated. Where they don't divide, the
 * frameworks count embedding and loss as layers, or weigh the stages. */
static void settle_split(struct scenario *s, const struct node *map)
{
	int64_t stages = s->plan.pp * (s->plan.vpp > 1 ? s->plan.vpp : 1);

	if (s->plan.pp < 2 || s->plan.split != SPLIT_AUTO || node_get(map, "split") ||
	    s->plan.split_embedding || s->plan.split_loss ||
	    s->stack.split_rule == SPLITS_BY_WEIGHTS || s->model.layers % stages == 0)
		return;
	if ((s->model.layers + 2) % stages == 0) {
		s->plan.split_embedding = true;
		s->plan.split_loss = true;
	} else {
		s->plan.split = SPLIT_BALANCED;
	}
}

/* Chunks in groups that don't divide the micro-batches: all of them in one group. */
static void settle_groups(struct scenario *s, const struct node *map)
{
	int64_t m = scenario_micro_batches(s);

	if (s->plan.vpp > 1 && s->plan.pp > 1 && m > s->plan.pp &&
	    m % s->plan.pp != 0 && !node_get(map, "micro_batch_group") &&
	    !node_get(map, "microbatch_group"))
		s->plan.micro_batch_group = m;
}

/* What a shape leaves open must suit the run that was measured: as many learned
 * positions as its sequence, heads that TP divides. */
static void settle_shape(struct scenario *s, const struct node *shape)
{
	struct model *m = &s->model;
	int64_t tp = s->plan.tp;

	if (!shape)
		return;
	if (!node_get(shape, "max_positions") && m->max_positions > 0 &&
	    m->max_positions < s->plan.seq_len)
		m->max_positions = s->plan.seq_len;
	if (node_get(shape, "heads") || m->kinds != 1 || tp < 2)
		return;
	struct attention *a = &m->kind[0].attention;
	int64_t heads = a->heads;

	while (heads > tp && (heads % tp != 0 || m->hidden % heads != 0))
		heads--;
	if (heads % tp == 0 && m->hidden % heads == 0) {
		a->heads = a->kv_heads = heads;
		a->head_dim = a->value_dim = m->hidden / heads;
	}
}

/* The kernel and the gradients may be named twice: the finer key wins. A run keeps its
 * schedule only where there are chunks. */
void run_settle(struct measured_run *run, const struct node *map,
		const struct node *shape)
{
	struct plan *plan = &run->scenario.plan;
	const struct node *kernel = node_get(map, "attention_kernel");
	const struct node *gather = node_get(map, "overlap_param_gather");

	if (kernel && kernel->kind == NODE_SCALAR)
		set(run, "attention_kernel", kernel->text);
	if (gather && gather->kind == NODE_SCALAR)
		set(run, "overlap_param_gather", gather->text);
	if (!node_get(map, "schedule"))
		plan->schedule = plan->vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
	/* what is measured and published is tuned: unless another overlap is said to be
	 * off, the stack's TP overlap was on where it can be */
	if (!node_get(map, "tp_overlap") && run->scenario.stack.tp_overlap > 0 &&
	    !node_get(map, "async_tp"))
		plan->tp_overlap = plan->sp && plan->tp > 1 &&
				   (!node_get(map, "overlap_grad_reduce") ||
				    plan->overlap_grad_reduce);
	/* torchtitan's reshard_after_forward "default": not under a pipeline */
	if (plan->zero == 3 && plan->pp > 1 && !node_get(map, "fsdp_reshard"))
		plan->fsdp_reshard = false;
	/* one layer a chunk, the embedding and the head for one more (zero bubble) */
	if (node_get(map, "schedule") && plan->schedule == SCHEDULE_INTERLEAVED &&
	    plan->vpp < 2 && plan->pp > 1 && node_get(map, "layers_first_last")) {
		plan->vpp = (run->scenario.model.layers + 2) / plan->pp;
		plan->split = SPLIT_AUTO;
	}
	if (shape && !node_get(shape, "dropout") && !node_get(map, "megatron_args"))
		run->scenario.model.dropout = run->scenario.stack.dropout;
	settle_split(&run->scenario, map);
	settle_groups(&run->scenario, map);
	settle_shape(&run->scenario, shape);
}
