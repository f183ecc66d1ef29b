/* stack_file.c - see stack_file.h. */
#include "presets/stack_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/trust/trust.h"
#include "presets/ability_file.h"
#include "presets/fields.h"
#include "presets/habits_file.h"

static const char *const etp_words[] = { "tp", "one", NULL };
static const char *const kv_words[] = { "divisor-or-multiple", "tp-divides-kv-heads",
					NULL };

static const char *const share_words[] = { "rest", "gpu", "static", NULL };
static const char *const kernel_words[] = { "nccl", "vllm", "tensorrt-llm", NULL };
static const char *const split_words[] = { "even", "by-weights", NULL };

struct draft {
	struct scenario scenario;
	struct stack stack;
	struct stack_note note;
};

#define S(member) \
	offsetof(struct draft, stack.member), sizeof(((struct draft *)0)->stack.member)

static const struct field fields[] = {
	{ "title", FIELD_TEXT, offsetof(struct draft, note.title),
	  sizeof(((struct draft *)0)->note.title), 0, NULL },
	{ "alias", FIELD_TEXT, offsetof(struct draft, note.alias),
	  sizeof(((struct draft *)0)->note.alias), 0, NULL },
	{ "name", FIELD_TEXT, S(name), 0, NULL },
	{ "source", FIELD_TEXT, S(source), 0, NULL },
	{ "etp_rule", FIELD_WORD, S(etp_rule), 0, etp_words },
	{ "kv_rule", FIELD_WORD, S(kv_rule), 0, kv_words },
	{ "split_rule", FIELD_WORD, S(split_rule), 0, split_words },
	{ "scatters_sends", FIELD_BOOL, S(scatters_sends), 0, NULL },
	{ "reduces_behind", FIELD_BOOL, S(reduces_behind), 0, NULL },
	{ "serves", FIELD_BOOL, S(serves), 0, NULL },
	{ "vocab_multiple", FIELD_COUNT, S(vocab_multiple), 0, NULL },
	{ "operator_launches", FIELD_NUMBER, S(operator_launches), 0, NULL },
	{ "dp_overlap", FIELD_NUMBER, S(dp_overlap), 0, NULL },
	{ "tp_overlap", FIELD_NUMBER, S(tp_overlap), 0, NULL },
	{ "ep_overlap", FIELD_NUMBER, S(ep_overlap), 0, NULL },
	{ "tp_grad_overlap", FIELD_NUMBER, S(tp_grad_overlap), 0, NULL },
	{ "kernel_gap_us", FIELD_NUMBER, S(kernel_gap_seconds), 1e-6, NULL },
	{ "sync_calls_per_layer", FIELD_NUMBER, S(sync_calls_per_layer), 0, NULL },
	{ "layer_step_us", FIELD_NUMBER, S(layer_step_seconds), 1e-6, NULL },
	{ "network_efficiency", FIELD_NUMBER, S(network_efficiency), 0, NULL },
	{ "serving.iteration_us", FIELD_NUMBER, S(serving.iteration_seconds), 1e-6,
	  NULL },
	{ "serving.request_us", FIELD_NUMBER, S(serving.request_seconds), 1e-6, NULL },
	{ "serving.overlapped_us", FIELD_NUMBER, S(serving.overlapped_seconds), 1e-6,
	  NULL },
	{ "serving.prompt_us", FIELD_NUMBER, S(serving.prompt_seconds), 1e-6, NULL },
	{ "serving.small_kernels", FIELD_NUMBER, S(serving.small_kernels), 0, NULL },
	{ "serving.quantise_kernels", FIELD_NUMBER, S(serving.quantise_kernels), 0,
	  NULL },
	{ "serving.mxfp4_rows", FIELD_NUMBER, S(serving.mxfp4_rows), 0, NULL },
	{ "serving.prefill_efficiency", FIELD_NUMBER, S(serving.prefill_efficiency), 0,
	  NULL },
	{ "serving.layer_cpu_us", FIELD_NUMBER, S(serving.layer_cpu_seconds), 1e-6,
	  NULL },
	{ "serving.expert_cpu_us", FIELD_NUMBER, S(serving.expert_cpu_seconds), 1e-6,
	  NULL },
	{ "serving.mixes", FIELD_BOOL, S(serving.mixes), 0, NULL },
	{ "serving.flash2", FIELD_BOOL, S(serving.flash2), 0, NULL },
	{ "serving.narrow_kv", FIELD_BOOL, S(serving.narrow_kv), 0, NULL },
	{ "serving.loads_by_layer", FIELD_BOOL, S(serving.loads_by_layer), 0, NULL },
	{ "serving.swaps", FIELD_BOOL, S(serving.swaps), 0, NULL },
	{ "serving.reserves", FIELD_BOOL, S(serving.reserves), 0, NULL },
	{ "serving.expects", FIELD_NUMBER, S(serving.expects), 0, NULL },
	{ "serving.expects_least", FIELD_NUMBER, S(serving.expects_least), 0, NULL },
	{ "serving.expects_ahead", FIELD_NUMBER, S(serving.expects_ahead), 0, NULL },
	{ "serving.expects_most", FIELD_NUMBER, S(serving.expects_most), 0, NULL },
	{ "serving.expects_passes", FIELD_COUNT, S(serving.expects_passes), 0, NULL },
	{ "serving.max_requests", FIELD_COUNT, S(serving.max_requests), 0, NULL },
	{ "serving.max_batched_tokens", FIELD_COUNT, S(serving.max_batched_tokens), 0,
	  NULL },
	{ "serving.small_gib", FIELD_NUMBER, S(serving.small_bytes), 1073741824.0,
	  NULL },
	{ "serving.small_name", FIELD_TEXT, S(serving.small_name), 0, NULL },
	{ "serving.small_requests", FIELD_COUNT, S(serving.small_requests), 0, NULL },
	{ "serving.small_batched_tokens", FIELD_COUNT, S(serving.small_batched_tokens),
	  0, NULL },
	{ "serving.large_gib", FIELD_NUMBER, S(serving.large_bytes), 1073741824.0,
	  NULL },
	{ "serving.large_batched_tokens", FIELD_COUNT, S(serving.large_batched_tokens),
	  0, NULL },
	{ "serving.memory_share_of", FIELD_WORD, S(serving.share_of), 0, share_words },
	{ "serving.all_reduce", FIELD_WORD, S(serving.kernels), 0, kernel_words },
	{ "serving.logit_bytes", FIELD_NUMBER, S(serving.logit_bytes), 0, NULL },
	{ "serving.other_gib", FIELD_NUMBER, S(serving.other_bytes), 1073741824.0,
	  NULL },
	{ "serving.activation_copies", FIELD_NUMBER, S(serving.activation_copies), 0,
	  NULL },
	{ "serving.kept_reduces", FIELD_NUMBER, S(serving.kept_reduces), 0, NULL },
	{ "context_gib", FIELD_NUMBER, S(context_bytes), 1073741824.0, NULL },
	{ "communicator_gib", FIELD_NUMBER, S(communicator_bytes), 1073741824.0, NULL },
	{ "graph_gib", FIELD_NUMBER, S(graph_bytes), 1073741824.0, NULL },
	{ "graph_pipelined_gib", FIELD_NUMBER, S(graph_pipelined_bytes), 1073741824.0,
	  NULL },
	{ "fragmentation", FIELD_NUMBER, S(fragmentation), 0, NULL },
	{ "logit_bytes", FIELD_NUMBER, S(logit_bytes), 0, NULL },
	{ "parallel_logit_bytes", FIELD_NUMBER, S(parallel_logit_bytes), 0, NULL },
	{ "saved_ffn_copies", FIELD_NUMBER, S(saved_ffn_copies), 0, NULL },
	{ "saved_head_copies", FIELD_NUMBER, S(saved_head_copies), 0, NULL },
	{ "saved_gather_shards", FIELD_NUMBER, S(saved_gather_shards), 0, NULL },
	{ "keeps_gathered", FIELD_BOOL, S(keeps_gathered), 0, NULL },
	{ "sync_copy_bytes", FIELD_NUMBER, S(sync_copy_bytes), 0, NULL },
	{ "piped_logit_bytes", FIELD_NUMBER, S(piped_logit_bytes), 0, NULL },
	{ "old_logit_bytes", FIELD_NUMBER, S(old_logit_bytes), 0, NULL },
	{ "compiled_logit_bytes", FIELD_NUMBER, S(compiled_logit_bytes), 0, NULL },
	{ "torch_stages", FIELD_BOOL, S(torch_stages), 0, NULL },
	{ "reports_first_stage", FIELD_BOOL, S(reports_first), 0, NULL },
	{ "dropout", FIELD_NUMBER, S(dropout), 0, NULL },
	{ "saves_norm_input_fp32", FIELD_BOOL, S(saves_norm_input_fp32), 0, NULL },
	{ "sends_fp8_rows", FIELD_BOOL, S(sends_fp8_rows), 0, NULL },
	{ "splits_master", FIELD_BOOL, S(splits_master), 0, NULL },
	{ "offloads_gradients", FIELD_BOOL, S(offloads_gradients), 0, NULL },
	{ "adds_in_gemm", FIELD_BOOL, S(adds_in_gemm), 0, NULL },
	{ "reduces_by_product", FIELD_BOOL, S(reduces_by_product), 0, NULL },
	{ "gathers_by_product", FIELD_BOOL, S(gathers_by_product), 0, NULL },
	{ "copies_gathered", FIELD_BOOL, S(copies_gathered), 0, NULL },
	{ "reduces_whole", FIELD_BOOL, S(reduces_whole), 0, NULL },
	{ "reduced_bytes", FIELD_NUMBER, S(reduced_bytes), 0, NULL },
	{ "sum_copy_bytes", FIELD_NUMBER, S(sum_copy_bytes), 0, NULL },
	{ "gathered_passes", FIELD_NUMBER, S(gathered_passes), 0, NULL },
	{ "gradient_passes", FIELD_NUMBER, S(gradient_passes), 0, NULL },
	{ "sent_passes", FIELD_NUMBER, S(sent_passes), 0, NULL },
	{ "general_norms", FIELD_BOOL, S(general_norms), 0, NULL },
	{ "splits_adapters", FIELD_BOOL, S(splits_adapters), 0, NULL },
	{ "gathers_fp8", FIELD_BOOL, S(gathers_fp8), 0, NULL },
	{ "gathers_blocks", FIELD_BOOL, S(gathers_blocks), 0, NULL },
	{ "saves_fp8_inputs", FIELD_BOOL, S(saves_fp8_inputs), 0, NULL },
	{ "measured_gpus", FIELD_COUNT, S(evidence.measured_gpus), 0, NULL },
	{ "published_gpus", FIELD_COUNT, S(evidence.published_gpus), 0, NULL },
};

enum { FIELDS = sizeof fields / sizeof fields[0] };

/* What no software does: a share beyond the whole, a reserve beyond any machine. */
static const struct {
	const char *key;
	double least, most;
} domains[] = {
	{ "vocab_multiple", 1, 1e6 },
	{ "operator_launches", 0, 1e4 },
	{ "dp_overlap", 0, 1 },
	{ "tp_overlap", 0, 1 },
	{ "ep_overlap", 0, 1 },
	{ "network_efficiency", 0.01, 1 },
	{ "context_gib", 0, 1024 },
	{ "communicator_gib", 0, 1024 },
	{ "graph_gib", 0, 1024 },
	{ "graph_pipelined_gib", 0, 1024 },
	{ "fragmentation", 1, 10 },
	{ "logit_bytes", 0, 64 },
	{ "saved_gather_shards", 0, 4096 },
	{ "parallel_logit_bytes", 0, 64 },
	{ "piped_logit_bytes", 0, 64 },
	{ "old_logit_bytes", 0, 64 },
	{ "compiled_logit_bytes", 0, 64 },
	{ "dropout", 0, 1 },
};

static bool check_domains(const struct document *document, const struct node *map,
			  struct error *error)
{
	for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++) {
		const struct node *node = node_get(map, domains[i].key);
		double value;

		if (!node || !node_number(document, node, &value, NULL))
			continue;
		if (value < domains[i].least || value > domains[i].most)
			return error_set(error, document->file, node->line,
					 "%s is %g; expected %g to %g", node->key,
					 value, domains[i].least, domains[i].most);
	}
	return true;
}

static bool read_rules(const struct document *document, const struct node *list,
		       struct stack *stack, struct error *error)
{
	if (list->kind != NODE_LIST)
		return error_set(error, document->file, list->line,
				 "rules is a list such as [E1, E4]");
	for (const struct node *item = list->child; item; item = item->next) {
		char *end = NULL;
		long n = item->kind == NODE_SCALAR && item->text[0] == 'E'
				 ? strtol(item->text + 1, &end, 10)
				 : 0;

		if (n < 1 || n > 63 || *end != '\0')
			return error_set(
				error, document->file, item->line,
				"rules: '%.20s' is no rule; expected E1 to E63",
				item->kind == NODE_SCALAR ? item->text : "a list");
		stack->rules |= UINT64_C(1) << n;
	}
	return true;
}

static bool read_default(const struct document *document, const struct node *node,
			 struct scenario *scenario, struct error *error)
{
	const struct knob *knob = knob_find(node->key);
	const char *near = knob ? NULL : knob_nearest_key(node->key);
	char why[256];

	if (!knob)
		return error_set(error, document->file, node->line,
				 "no knob '%.60s'%s%s", node->key,
				 near ? "; did you mean " : "", near ? near : "");
	if (node->kind == NODE_SCALAR &&
	    knob_parse(scenario, knob, node->text, why, sizeof why))
		return true;
	return error_set(error, document->file, node->line, "%s: %s", node->key,
			 node->kind == NODE_SCALAR ? why : "expected a value");
}

static bool read_defaults(const struct document *document, const struct node *map,
			  struct scenario *scenario, struct error *error)
{
	if (map->kind != NODE_MAP)
		return error_set(error, document->file, map->line,
				 "defaults is a mapping of knobs and values");
	for (const struct node *node = map->child; node; node = node->next)
		if (!read_default(document, node, scenario, error))
			return false;
	return true;
}

/* "[zero-1, pp]": features as bits. key: of what. */
static bool read_set(const struct document *document, const struct node *list,
		     const char *key, uint64_t *out, struct error *error)
{
	if (list->kind != NODE_LIST)
		return error_set(error, document->file, list->line,
				 "%s is a list of features such as [zero-1, pp]", key);
	for (const struct node *item = list->child; item; item = item->next) {
		const char *text = item->kind == NODE_SCALAR ? item->text : "a list";
		int i = trust_feature_find(text);

		if (i == TRUST_FEATURES)
			return error_set(error, document->file, item->line,
					 "%s: no feature '%.40s'; `shardscope show "
					 "megatron-core` has such words",
					 key, text);
		*out |= UINT64_C(1) << i;
	}
	return true;
}

/* "measured: [[zero-1, tp], [zero-3]]": what runs had at once. A list of words is that
 * of one run. */
static bool read_measured(const struct document *document, const struct node *list,
			  struct evidence *out, struct error *error)
{
	const struct node *set = list->kind == NODE_LIST ? list->child : NULL;
	bool one = !set || set->kind != NODE_LIST;
	int count = 0;

	for (set = one ? list : set; set; set = one ? NULL : set->next) {
		if (count == MAX_TOGETHER)
			return error_set(error, document->file, set->line,
					 "%s: more than %d lists of features",
					 list->key, (int)MAX_TOGETHER);
		if (!read_set(document, set, list->key, &out->together[count], error))
			return false;
		out->measured |= out->together[count];
		count += out->together[count] != 0;
	}
	return true;
}

static void write_set(uint64_t features, FILE *stream)
{
	bool first = true;

	fputc('[', stream);
	for (int i = 0; i < TRUST_FEATURES; i++) {
		if ((features >> i & 1) == 0)
			continue;
		fprintf(stream, "%s%s", first ? "" : ", ", trust_feature_word(i));
		first = false;
	}
	fputc(']', stream);
}

static void write_evidence(const struct evidence *evidence, FILE *stream)
{
	for (int i = 0; i < MAX_TOGETHER && evidence->together[i] != 0; i++) {
		fputs(i ? ", " : ", measured: [", stream);
		write_set(evidence->together[i], stream);
	}
	if (evidence->together[0] != 0)
		fputc(']', stream);
	if (evidence->published != 0) {
		fputs(", published: ", stream);
		write_set(evidence->published, stream);
	}
}

static bool read_other(const struct document *document, const struct node *node,
		       const char *key, void *base, bool *failed, struct error *error)
{
	struct draft *d = base;

	if (strcmp(key, "rules") == 0)
		*failed = !read_rules(document, node, &d->stack, error);
	else if (strcmp(key, "defaults") == 0)
		*failed = !read_defaults(document, node, &d->scenario, error);
	else if (strcmp(key, "measured") == 0)
		*failed = !read_measured(document, node, &d->stack.evidence, error);
	else if (strcmp(key, "published") == 0)
		*failed = !read_set(document, node, key, &d->stack.evidence.published,
				    error);
	else if (strcmp(key, "releases") == 0)
		return true; /* the newest one stands in the file itself */
	else if (strcmp(key, "abilities") == 0)
		*failed = !abilities_read(document, node, &d->scenario,
					  &d->stack.abilities, error);
	else
		return false;
	return !*failed;
}

bool stack_read(const struct document *document, const struct node *map,
		struct scenario *scenario, struct stack_note *note, struct error *error)
{
	const struct habits *habits = habits_shipped();
	struct draft d = { .scenario = *scenario };

	if (!habits)
		return error_set(error, document->file, 0, "out of memory");
	d.stack.habits = *habits;
	/* what it does not say of serving, a generic server does */
	d.stack.serving = scenario->stack.serving;
	d.stack.vocab_multiple = 1;
	d.stack.fragmentation = 1;
	d.stack.network_efficiency = 1;
	if (!fields_read(document, map, fields, FIELDS, &d, read_other, error) ||
	    !check_domains(document, map, error))
		return false;
	*scenario = d.scenario;
	scenario->stack = d.stack;
	if (note)
		*note = d.note;
	return true;
}

static bool read_change(const struct document *document, const struct node *node,
			const char *key, void *base, bool *failed, struct error *error)
{
	struct draft *d = base;

	if (strcmp(key, "before") == 0 || strcmp(key, "date") == 0)
		return true;
	if (node->kind != NODE_SCALAR)
		return false; /* a mapping of the stack's members */
	*failed = !read_default(document, node, &d->scenario, error);
	return !*failed;
}

bool stack_read_changes(const struct document *document, const struct node *row,
			struct scenario *scenario, struct error *error)
{
	struct draft d = { .scenario = *scenario, .stack = scenario->stack };

	if (!fields_read(document, row, fields, FIELDS, &d, read_change, error))
		return false;
	*scenario = d.scenario;
	scenario->stack = d.stack;
	return true;
}

bool stack_write(const struct stack *stack, FILE *stream)
{
	struct draft *d = calloc(1, sizeof *d);
	bool first = true;

	if (!d)
		return false;
	d->stack = *stack;
	fputc('{', stream);
	first = !fields_write(fields, FIELDS, d, stream);
	fputs(first ? "rules: [" : ", rules: [", stream);
	first = true;
	for (int n = 1; n < 64; n++) {
		if (!(stack->rules & UINT64_C(1) << n))
			continue;
		fprintf(stream, "%sE%d", first ? "" : ", ", n);
		first = false;
	}
	fputc(']', stream);
	write_evidence(&stack->evidence, stream);
	if (stack->abilities.read[0] != '\0') {
		fputs(", abilities: {", stream);
		abilities_write(&stack->abilities, stream);
		fputc('}', stream);
	}
	fputc('}', stream);
	free(d);
	return true;
}
