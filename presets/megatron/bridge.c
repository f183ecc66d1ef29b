/* bridge.c - overrides of a Megatron-Bridge configuration, out and in: lines of Python
 * such as `cfg.model.num_layers = 61`, or the same as words of a command line. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "presets/megatron/forms.h"
#include "presets/megatron/megatron.h"
#include "presets/megatron/parts.h"
#include "presets/stream.h"

/* Where Megatron-Bridge keeps a flag; the others are fields of the model of the same
 * name. Fields: NVIDIA-NeMo/Megatron-Bridge, src/megatron/bridge/training/config.py. */
static const struct {
	const char *flag, *field, *value; /* value of a switch, NULL = True */
} bridge_fields[] = {
	{ "micro-batch-size", "train.micro_batch_size", NULL },
	{ "global-batch-size", "train.global_batch_size", NULL },
	{ "train-samples", "train.train_samples", NULL },
	{ "num-virtual-stages-per-pipeline-rank",
	  "model.virtual_pipeline_model_parallel_size", NULL },
	{ "microbatch-group-size-per-virtual-pipeline-stage",
	  "model.microbatch_group_size_per_vp_stage", NULL },
	{ "decoder-first-pipeline-num-layers",
	  "model.num_layers_in_first_pipeline_stage", NULL },
	{ "decoder-last-pipeline-num-layers", "model.num_layers_in_last_pipeline_stage",
	  NULL },
	{ "use-distributed-optimizer", "ddp.use_distributed_optimizer", NULL },
	{ "overlap-grad-reduce", "ddp.overlap_grad_reduce", NULL },
	{ "overlap-param-gather", "ddp.overlap_param_gather", NULL },
	{ "use-megatron-fsdp", "ddp.use_megatron_fsdp", NULL },
	{ "data-parallel-sharding-strategy", "ddp.data_parallel_sharding_strategy",
	  NULL },
	{ "num-distributed-optimizer-instances",
	  "ddp.num_distributed_optimizer_instances", NULL },
	{ "grad-reduce-in-bf16", "ddp.grad_reduce_in_fp32", "False" },
	{ "accumulate-allreduce-grads-in-fp32", "ddp.grad_reduce_in_fp32", NULL },
	{ "tp-comm-overlap", "comm_overlap.tp_comm_overlap", NULL },
	{ "no-overlap-p2p-communication", "comm_overlap.overlap_p2p_comm", "False" },
	{ "overlap-moe-expert-parallel-comm",
	  "comm_overlap.overlap_moe_expert_parallel_comm", NULL },
	{ "optimizer", "optimizer.optimizer", NULL },
	{ "use-precision-aware-optimizer", "optimizer.use_precision_aware_optimizer",
	  NULL },
	{ "exp-avg-dtype", "optimizer.exp_avg_dtype", NULL },
	{ "exp-avg-sq-dtype", "optimizer.exp_avg_sq_dtype", NULL },
	{ "main-params-dtype", "optimizer.main_params_dtype", NULL },
	{ "optimizer-cpu-offload", "optimizer.optimizer_cpu_offload", NULL },
	{ "optimizer-offload-fraction", "optimizer.optimizer_offload_fraction", NULL },
	{ "no-masked-softmax-fusion", "model.masked_softmax_fusion", "False" },
	{ "disable-bias-linear", "model.add_bias_linear", "False" },
	{ "untie-embeddings-and-output-weights",
	  "model.share_embeddings_and_output_weights", "False" },
	{ "swiglu", "model.gated_linear_unit", NULL },
	{ "num-experts", "model.num_moe_experts", NULL },
	{ "recompute-num-layers", "model.recompute_num_layers", NULL },
	{ "ckpt-format", "checkpoint.ckpt_format", NULL },
	{ "no-check-for-nan-in-loss-and-grad",
	  "rerun_state_machine.check_for_nan_in_loss", "False" },
	{ "max-position-embeddings", NULL, NULL }, /* seq_length says it */
	{ "bf16", NULL, NULL },                    /* mixed_precision says these */
	{ "fp16", NULL, NULL },
	{ "fp8-format", NULL, NULL },
	{ "fp8-recipe", NULL, NULL },
	{ "fp4-format", NULL, NULL },
	{ "fp8-param-gather", NULL, NULL },
	{ "reuse-grad-buf-for-mxfp8-param-ag", NULL, NULL },
	{ "fp4-param-gather", NULL, NULL },
	{ "first-last-layers-bf16", "mixed_precision.first_last_layers_bf16", NULL },
	{ "num-layers-at-start-in-bf16", "mixed_precision.num_layers_at_start_in_bf16",
	  NULL },
	{ "num-layers-at-end-in-bf16", "mixed_precision.num_layers_at_end_in_bf16",
	  NULL },
	{ "group-query-attention", NULL, NULL }, /* num_query_groups says it */
	{ "attention-dropout", "model.attention_dropout", NULL },
};

static void put_value(struct export_out *out, const char *value)
{
	bool number = value[strspn(value, "0123456789.+-e")] == '\0';

	if (value[0] == '\0')
		fputs("True", out->body);
	else if (number || value[0] == '(' || value[0] == '[')
		fputs(value, out->body);
	else
		stream_put_quoted(out->body, value);
}

/* recompute_modules and the like: words as a list. */
static void put_words(struct export_out *out, const char *value)
{
	fputc('[', out->body);
	for (const char *at = value; *at != '\0'; at += strspn(at, " ")) {
		int length = (int)strcspn(at, " ");

		fprintf(out->body, "%s\"%.*s\"", at == value ? "" : ", ", length, at);
		at += length;
	}
	fputc(']', out->body);
}

/* Megatron's words for types are PyTorch's by other names
 * (megatron/training/arguments.py, dtype_map). */
static const struct {
	const char *word, *type;
} types[] = {
	{ "bf16", "bfloat16" },
	{ "fp16", "float16" },
	{ "fp32", "float32" },
	{ "fp8", "uint8" },
};

/* What a field that takes a type has for the word of a flag; NULL: it takes none. */
static const char *bridge_type(const char *flag, const char *value)
{
	size_t length = strlen(flag);

	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (length > 6 && strcmp(flag + length - 6, "-dtype") == 0 &&
		    strcmp(types[i].word, value) == 0)
			return types[i].type;
	return NULL;
}

/* "torch.bfloat16" as the word of a flag. */
static const char *word_of_type(const char *value)
{
	if (strncmp(value, "torch.", 6) != 0)
		return value;
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (strcmp(types[i].type, value + 6) == 0)
			return types[i].word;
	return value + 6;
}

static void put_field(struct export_out *out, const char *flag, const char *value)
{
	const char *field = NULL, *fixed = NULL;
	bool found = false;

	for (size_t i = 0; i < sizeof bridge_fields / sizeof bridge_fields[0]; i++)
		if (strcmp(bridge_fields[i].flag, flag) == 0) {
			found = true;
			field = bridge_fields[i].field;
			fixed = bridge_fields[i].value;
		}
	if (found && !field)
		return;
	if (strcmp(flag, "squared-relu") == 0) {
		fputs("from megatron.core.activations import squared_relu\n"
		      "cfg.model.activation_func = squared_relu\n",
		      out->body);
		return;
	}
	if (strcmp(flag, "hybrid-layer-pattern") == 0)
		fputs("# cfg.model is a HybridModelProvider\n", out->body);
	if (strcmp(flag, "position-embedding-type") == 0 &&
	    strcmp(value, "none") == 0) {
		export_unsaid(out, "positions", "none; the default of the model stays");
		return;
	}
	if (strcmp(flag, "exp-avg-dtype") == 0)
		fputs("import torch\n", out->body);
	fprintf(out->body, "cfg.%s", field ? field : "model.");
	for (const char *c = field ? "" : flag; *c != '\0'; c++)
		fputc(*c == '-' ? '_' : *c, out->body);
	fputs(" = ", out->body);
	if (fixed)
		fputs(fixed, out->body);
	else if (strcmp(flag, "recompute-modules") == 0 ||
		 strcmp(flag, "offload-modules") == 0)
		put_words(out, value);
	else if (strcmp(flag, "window-size") == 0)
		fprintf(out->body, "(%s)", value);
	else if (bridge_type(flag, value))
		fprintf(out->body, "torch.%s", bridge_type(flag, value));
	else
		put_value(out, value);
	fputc('\n', out->body);
}

char *bridge_write(const struct scenario *scenario)
{
	struct export_out *out = export_begin();
	struct scenario settled;
	struct flag_writer writer = { &settled, out, put_field };
	char title[2 * MAX_NOTE];

	if (!out)
		return NULL;
	megatron_settle(scenario, &settled, out);
	fputs("# overrides of a Megatron-Bridge ConfigContainer, to be launched by\n# ",
	      out->body);
	megatron_put_launcher(out, scenario);
	fputc('\n', out->body);
	mixed_put(out, &settled.plan);
	megatron_write_model(&writer);
	if (megatron_is_hybrid(&settled.model) &&
	    settled.model.position == POSITION_LEARNED)
		put_field(out, "position-embedding-type", "learned_absolute");
	megatron_write_plan(&writer);
	export_subject(scenario, title, sizeof title);
	return export_end(out, "", "#", title);
}

/* --- reading --- */

static bool add(struct arguments *arguments, const char *flag, const char *value,
		int line, struct error *error)
{
	return arguments_add(arguments, flag, value, line) ||
	       error_set(error, arguments->file, line, "more than %d settings",
			 ARGUMENTS_MAX);
}

/* A literal of Python or YAML as the words of a flag: quotes go, commas of a list are
 * blanks, true is a bare switch. Expressions such as ([0]*3+[1]*58) stay. */
static void plain_value(const char *from, size_t length, char *out, size_t size)
{
	bool list = length > 1 && from[0] == '[' && !memchr(from, '*', length);
	size_t used = 0;

	for (size_t i = 0; i < length && used < size - 1; i++) {
		char c = from[i];

		if (list && c == ',')
			c = ' ';
		if (c == '"' || c == '\'' || (list && strchr("[]", c)) ||
		    (list && c == ' ' && (used == 0 || out[used - 1] == ' ')))
			continue;
		out[used++] = c;
	}
	while (used > 0 && isspace((unsigned char)out[used - 1]))
		used--;
	out[used] = '\0';
	if (strcmp(out, "True") == 0 || strcmp(out, "true") == 0)
		out[0] = '\0';
}

/* Fields that are read beside those of the table, with their flag: Bridge keeps the
 * length of a sequence twice; the rest is NeMo's, whose overrides have the same form
 * (NVIDIA/NeMo, examples/nlp/language_modeling/conf/megatron_gpt_config.yaml). */
static const struct {
	const char *field, *flag;
} more_fields[] = {
	{ "dataset.sequence_length", "seq-length" },
	{ "dataset.seq_length", "seq-length" },
	{ "trainer.devices", "nproc-per-node" },
	{ "trainer.num_nodes", "nnodes" },
	{ "model.encoder_seq_length", "seq-length" },
	{ "model.activations_checkpoint_granularity", "recompute-granularity" },
	{ "model.activations_checkpoint_method", "recompute-method" },
	{ "model.activations_checkpoint_num_layers", "recompute-num-layers" },
};

/* "bf16", "bf16-mixed", "16-mixed", 16 of trainer.precision; fp32 is no flag. */
static const char *lightning_precision(const char *value)
{
	if (strncmp(value, "bf16", 4) == 0)
		return "bf16";
	return strncmp(value, "16", 2) == 0 || strncmp(value, "fp16", 4) == 0 ? "fp16"
									      : NULL;
}

bool bridge_add_field(struct arguments *arguments, const char *field, const char *value,
		      int line, struct error *error)
{
	const char *flag = strrchr(field, '.');
	bool off = strcmp(value, "False") == 0 || strcmp(value, "false") == 0;

	value = word_of_type(value);
	if (strcmp(value, "None") == 0 || strcmp(value, "null") == 0)
		return true;
	if (strcmp(field, "model.activation_func") == 0 &&
	    strcmp(value, "squared_relu") == 0)
		return add(arguments, "squared-relu", "", line, error);
	if (strcmp(field, "trainer.precision") == 0)
		return !lightning_precision(value) ||
		       add(arguments, lightning_precision(value), "", line, error);
	for (size_t i = 0; i < sizeof more_fields / sizeof more_fields[0]; i++)
		if (strcmp(more_fields[i].field, field) == 0)
			return add(arguments, more_fields[i].flag, value, line, error);
	/* a recipe by its name may have switched it on */
	if (off && strcmp(field, "mixed_precision.fp8_param_gather") == 0)
		arguments_drop(arguments, "fp8-param-gather");
	if (off && strcmp(field, "mixed_precision.fp4_param_gather") == 0)
		arguments_drop(arguments, "fp4-param-gather");
	if (strcmp(field, "mixed_precision") == 0)
		return mixed_add(arguments, value, line, error);
	if (strcmp(field, "model.num_query_groups") == 0 &&
	    !add(arguments, "group-query-attention", "", line, error))
		return false;
	for (size_t i = 0; i < sizeof bridge_fields / sizeof bridge_fields[0]; i++) {
		const char *fixed = bridge_fields[i].value;

		if (!bridge_fields[i].field ||
		    strcmp(bridge_fields[i].field, field) != 0)
			continue;
		if (!fixed)
			return off || add(arguments, bridge_fields[i].flag, value, line,
					  error);
		if (off)
			return add(arguments, bridge_fields[i].flag, "", line, error);
		flag = NULL; /* a switch that is on anyhow, or another row's */
	}
	if (off || !flag)
		return true;
	return add(arguments, flag + 1, value, line, error);
}

/* "cfg.model.tensor_model_parallel_size = 8  # why": name and value, or false. */
static bool split_line(const char *line, size_t length, char field[128],
		       char value[1024])
{
	const char *equals = memchr(line, '=', length), *end = line + length;
	size_t name, left;
	char quote = '\0';

	while (line < end && isspace((unsigned char)*line))
		line++;
	if (end - line > 4 && memcmp(line, "cfg.", 4) == 0)
		line += 4;
	if (!equals || equals < line || (equals + 1 < end && equals[1] == '='))
		return false;
	name = (size_t)(equals - line);
	while (name > 0 && isspace((unsigned char)line[name - 1]))
		name--;
	if (name == 0 || name > 127 || !isalpha((unsigned char)line[0]))
		return false;
	for (size_t i = 0; i < name; i++)
		if (!isalnum((unsigned char)line[i]) && line[i] != '_' &&
		    line[i] != '.')
			return false;
	memcpy(field, line, name);
	field[name] = '\0';
	for (equals++; equals < end && isspace((unsigned char)*equals);)
		equals++;
	for (left = 0; equals + left < end && (quote || equals[left] != '#'); left++)
		if (equals[left] == '"' || equals[left] == '\'')
			quote = quote ? '\0' : equals[left];
	plain_value(equals, left, value, 1024);
	return strchr(field, '.') || strcmp(field, "mixed_precision") == 0;
}

/* "# torchrun --nproc-per-node 8 --nnodes 4", as the writer says how to launch it. */
static void read_launcher(struct arguments *arguments, const char *line, size_t length)
{
	static const char start[] = "# torchrun ";
	long long each, nodes;
	char text[128];

	snprintf(text, sizeof text, "%.*s", length < 120 ? (int)length : 120, line);
	if (strncmp(text, start, sizeof start - 1) == 0 &&
	    sscanf(text, "# torchrun --nproc-per-node %8lld --nnodes %8lld", &each,
		   &nodes) == 2 &&
	    each > 0 && nodes > 0) {
		arguments->per_node = each;
		arguments->nodes = nodes;
	}
}

static bool is_override(const char *word, size_t length)
{
	size_t start = 0, end, dots = 0;

	while (start < length && start < 2 && word[start] == '+')
		start++;
	for (end = start; end < length && (isalnum((unsigned char)word[end]) ||
					   word[end] == '_' || word[end] == '.');
	     end++)
		dots += word[end] == '.';
	if (end == length || word[end] != '=' || !isalpha((unsigned char)word[start]))
		return false;
	return dots > 0 ||
	       (end - start == 15 && memcmp(word + start, "mixed_precision", 15) == 0);
}

bool bridge_is_override(const char *word)
{
	return is_override(word, strlen(word));
}

bool bridge_add_override(struct arguments *arguments, const char *word, int line)
{
	static const char launcher[] = "training."; /* of NeMo's launcher */
	char field[128], value[1024];

	word += strspn(word, "+");
	if (strncmp(word, launcher, sizeof launcher - 1) == 0)
		word += sizeof launcher - 1;
	return !split_line(word, strlen(word), field, value) ||
	       bridge_add_field(arguments, field, value, line, NULL);
}

/* Whether a line is one of a command: it goes on in the next line, or has several
 * words that override. */
static bool is_command(const char *line, size_t length)
{
	size_t start = strspn(line, " \t");
	char quote = '\0';

	while (length > 0 && isspace((unsigned char)line[length - 1]))
		length--;
	if (length > 0 && line[length - 1] == '\\')
		return true;
	for (size_t i = 0; i + 1 < length && (quote || line[i] != '#'); i++) {
		if (line[i] == '"' || line[i] == '\'')
			quote = quote ? '\0' : line[i];
		if (!quote && i > start && isspace((unsigned char)line[i]) &&
		    is_override(line + i + 1, length - i - 1))
			return true;
	}
	return false;
}

bool bridge_looks_like(const char *text, size_t length)
{
	int found = 0;

	for (const char *at = text; at < text + length && found < 2;) {
		const char *end = memchr(at, '\n', (size_t)(text + length - at));
		size_t width = end ? (size_t)(end - at) : (size_t)(text + length - at);
		char field[128], value[1024];

		if (split_line(at, width, field, value) &&
		    (strncmp(field, "model.", 6) == 0 ||
		     strncmp(field, "train.", 6) == 0)) {
			if (is_command(at, width))
				return false;
			found++;
		}
		at += width + 1;
	}
	return found >= 2;
}

bool bridge_add_positions(struct arguments *arguments)
{
	const struct argument *seq = arguments_find(arguments, "seq-length");
	const struct argument *hybrid =
		arguments_find(arguments, "hybrid-layer-pattern");

	if (!arguments_find(arguments, "hidden-size"))
		return true;
	if (hybrid && !arguments_find(arguments, "position-embedding-type") &&
	    !arguments_add(arguments, "position-embedding-type", "none", hybrid->line))
		return false;
	return !seq || arguments_find(arguments, "max-position-embeddings") ||
	       arguments_add(arguments, "max-position-embeddings", seq->value,
			     seq->line);
}

bool arguments_from_bridge(struct arguments *arguments, const char *text, size_t length,
			   struct error *error)
{
	int line = 1;

	for (const char *at = text; at < text + length; line++) {
		const char *end = memchr(at, '\n', (size_t)(text + length - at));
		size_t width = end ? (size_t)(end - at) : (size_t)(text + length - at);
		char field[128], value[1024];

		read_launcher(arguments, at, width);
		if (split_line(at, width, field, value) &&
		    !bridge_add_field(arguments, field, value,
				      place_at(line, (long)strspn(at, " \t") + 1),
				      error))
			return false;
		at += width + 1;
	}
	return bridge_add_positions(arguments) ||
	       error_set(error, arguments->file, line, "more than %d settings",
			 ARGUMENTS_MAX);
}
