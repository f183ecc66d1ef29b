/* nemo.c - NeMo's configurations for Megatron (NeMo 1 and 2.0's older ones) as flags.
 *
 * Fields: NVIDIA/NeMo, examples/nlp/language_modeling/conf/megatron_gpt_config.yaml.
 * A value may look up another of the same file, as OmegaConf has it: ${.x} beside it,
 * ${..x} one mapping further out, ${a.b} from the top. Files of NeMo's launcher lie in
 * a group, whose name is the first word of a path from the top: ${peft.model.x}.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/megatron/parts.h"
#include "presets/model_name.h"
#include "presets/pairs/mapping.h"

enum { MAX_LOOKUPS = 8 };

struct nemo {
	struct arguments *arguments;
	const struct node *root, *model;
	char other[80]; /* what makes its network another, "" in a plain one */
	int line;       /* of that */
};

/* Fields that are called otherwise; of a switch the value that sets its flag. */
static const struct {
	const char *field, *value, *flag, *as;
} fields[] = {
	{ "encoder_seq_length", NULL, "seq-length", NULL },
	{ "num_moe_experts", NULL, "num-experts", NULL },
	{ "override_vocab_size", NULL, "padded-vocab-size", NULL },
	{ "qkv_bias", "True", "add-qkv-bias", "" },
	{ "qkv_bias", "true", "add-qkv-bias", "" },
	{ "activations_checkpoint_granularity", NULL, "recompute-granularity", NULL },
	{ "activations_checkpoint_method", NULL, "recompute-method", NULL },
	{ "activations_checkpoint_num_layers", NULL, "recompute-num-layers", NULL },
	{ "activation", "swiglu", "swiglu", "" },
	{ "activation", "fast-swiglu", "swiglu", "" },
	{ "activation", "geglu", "swiglu", "" },
	{ "activation", "fast-geglu", "swiglu", "" },
	{ "activation", "squared-relu", "squared-relu", "" },
	{ "normalization", "rmsnorm", "normalization", "RMSNorm" },
	{ "position_embedding_type", "alibi", "position-embedding-type", "none" },
	{ "bias", "False", "disable-bias-linear", "" },
	{ "bias", "false", "disable-bias-linear", "" },
	{ "share_embeddings_and_output_weights", "False",
	  "untie-embeddings-and-output-weights", "" },
	{ "share_embeddings_and_output_weights", "false",
	  "untie-embeddings-and-output-weights", "" },
	{ "fp8", "True", "fp8-format", "hybrid" },
	{ "fp8", "true", "fp8-format", "hybrid" },
	{ "ub_tp_comm_overlap", "True", "tp-comm-overlap", "" },
	{ "ub_tp_comm_overlap", "true", "tp-comm-overlap", "" },
	{ "gated_linear_unit", "True", "swiglu", "" },
};

static bool is_field(const char *key)
{
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		if (strcmp(fields[i].field, key) == 0)
			return true;
	return false;
}

/* What a member of `map`, which lies in n->model or is it, holds after all lookups;
 * NULL where one leads nowhere, or on and on. */
static const char *value_of(const struct nemo *n, const struct node *map,
			    const struct node *node)
{
	for (int i = 0; node && node->kind == NODE_SCALAR && i < MAX_LOOKUPS; i++) {
		const char *at = node->text;
		char path[128], *rest = path, *word;
		int dots = 0;

		if (strncmp(at, "${", 2) != 0)
			return at;
		for (at += 2; *at == '.'; at++)
			dots++;
		snprintf(path, sizeof path, "%.*s", (int)strcspn(at, "}:"), at);
		if (at[strlen(path)] != '}')
			return NULL;
		if (dots != 1)
			map = dots == 2 && map != n->model ? n->model : n->root;
		node = map;
		while (node && node->kind == NODE_MAP && (word = strsep(&rest, "."))) {
			map = node;
			node = node_get(node, word);
			if (!node && map == n->root && rest)
				node = map;
		}
	}
	return NULL;
}

static const char *member(const struct nemo *n, const struct node *map, const char *key)
{
	const struct node *node =
		map && map->kind == NODE_MAP ? node_get(map, key) : NULL;
	const char *value = node ? value_of(n, map, node) : NULL;

	return value && strcmp(value, "null") != 0 && value[0] != '\0' ? value : NULL;
}

static bool is_true(const char *text)
{
	return text && (strcmp(text, "True") == 0 || strcmp(text, "true") == 0);
}

/* Fields that only another network has, and which one: vision transformers, encoders
 * and models with a head that gives a number have the other fields of a decoder too. */
static const struct {
	const char *field, *what;
} others[] = {
	{ "mamba_ssm_ngroups", NULL },
	{ "hybrid_override_pattern", NULL },
	{ "hybrid_attention_ratio", NULL },
	{ "hyena", NULL },
	{ "retro", NULL },
	{ "encoder", NULL },
	{ "decoder", NULL },
	{ "mm_cfg", NULL },
	{ "vision", NULL },
	{ "vision_pretraining_type", "a vision transformer" },
	{ "patch_dim", "a vision transformer" },
	{ "mcore_bert", "an encoder" },
	{ "bert_binary_head", "an encoder" },
	{ "activations_checkpoint_recurrent", "Griffin" },
	{ "reward_model_type", "a reward model" },
	{ "output_sequence", "a reward model" },
	{ "use_avg_pool", "a reward model" },
};

/* The name of the run, of its folder, of its log. */
static const char *name_with(const struct nemo *n, const char *word)
{
	const char *names[] = { member(n, n->root, "name"),
				member(n, node_get(n->root, "run"), "name"),
				member(n, node_get(n->root, "exp_manager"), "name") };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (names[i] && strstr(names[i], word))
			return names[i];
	return NULL;
}

/* What says that the network is none of attention and MLP in a row, whose fields these
 * are: the fields of another would make it one. */
static void find_other(struct nemo *n)
{
	static const char *const kinds[] = { "mamba", "griffin", "retro", "t5",
					     "bert",  "bart",    "ul2",   "nmt",
					     "clip",  "neva",    "hyena" };
	const struct node *custom = node_get(n->model, "mcore_customization_config");

	n->line = n->model->line;
	/* all that it customises is Falcon's order of parts, which is read */
	for (const struct node *node = custom ? custom->child : NULL; node;
	     node = node->next)
		if (strcmp(node->key, "parallel_attention") != 0 &&
		    strcmp(node->key, "new_decoder_architecture") != 0) {
			snprintf(n->other, sizeof n->other, "%.40s", node->key);
			n->line = node->line;
			return;
		}
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (name_with(n, kinds[i])) {
			snprintf(n->other, sizeof n->other, "%s", kinds[i]);
			return;
		}
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		const struct node *field = node_get(n->model, others[i].field);

		if (!field)
			continue;
		snprintf(n->other, sizeof n->other, "%s%s%s", others[i].field,
			 others[i].what ? " of " : "",
			 others[i].what ? others[i].what : "");
		n->line = field->line;
		return;
	}
}

static bool put(const struct nemo *n, const char *flag, const char *value, int line)
{
	return arguments_add(n->arguments, flag, value, line);
}

static bool add_field(const struct nemo *n, const struct node *node)
{
	const char *value = value_of(n, n->model, node);
	bool good = true;

	if (node->kind != NODE_SCALAR || !value || value[0] == '\0' ||
	    strcmp(value, "null") == 0)
		return true;
	/* fp8_hybrid: True stands in every file, and says how where fp8 is on */
	if (strncmp(node->key, "fp8_", 4) == 0 && !is_true(member(n, n->model, "fp8")))
		return true;
	if (strcmp(node->key, "num_query_groups") == 0)
		good = put(n, "group-query-attention", "", node->line);
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		if (strcmp(fields[i].field, node->key) == 0 &&
		    (!fields[i].value || strcmp(fields[i].value, value) == 0))
			return put(n, fields[i].flag,
				   fields[i].as ? fields[i].as : value, node->line);
	if (strcmp(node->key, "precision") == 0 || strcmp(value, "False") == 0 ||
	    strcmp(value, "false") == 0)
		return good;
	if (is_field(node->key) && strcmp(node->key, "normalization") != 0 &&
	    strcmp(node->key, "position_embedding_type") != 0)
		return good;
	return good && put(n, node->key, is_true(value) ? "" : value, node->line);
}

/* Without its shape the file is one that names its model alone. */
static bool is_shape(const struct node *node)
{
	char flag[64];

	snprintf(flag, sizeof flag, "%s", node->key);
	for (char *at = flag; *at; at++)
		*at = *at == '_' ? '-' : *at;
	return megatron_model_flag(flag);
}

/* Attention beside the MLP, behind one norm unless the architecture is the new one. */
static bool add_order(const struct nemo *n)
{
	const struct node *custom = node_get(n->model, "mcore_customization_config");

	return !is_true(member(n, custom, "parallel_attention")) ||
	       put(n, "parallel-attention",
		   is_true(member(n, custom, "new_decoder_architecture")) ? "two norms"
									  : "one norm",
		   custom->line);
}

static bool add_name(const struct nemo *n)
{
	const struct node *name = node_get(n->root, "name");

	if (n->other[0] == '\0')
		return true;
	return put(n, "nemo-network", n->other, n->line) &&
	       (!name || name->kind != NODE_SCALAR ||
		put(n, "model", name->text, name->line));
}

/* The last part of the checkpoint's path, "…/llama2-7b.nemo", where it is a model's
 * name. */
static const char *restored(const struct nemo *n, char out[MAX_NAME])
{
	const char *path = member(n, n->model, "restore_from_path");
	const char *base = path ? strrchr(path, '/') : NULL, *end;

	base = base ? base + 1 : path;
	end = base ? strstr(base, ".nemo") : NULL;
	if (!end || strstr(path, "${"))
		return NULL;
	snprintf(out, MAX_NAME, "%.*s", (int)(end - base), base);
	return model_name_find(out) ? out : NULL;
}

/* What a file is for that tunes a checkpoint and has no shape: the launcher's name of
 * the model, or the checkpoint's; its sequences are those of its data. */
static bool add_tuned(const struct nemo *n)
{
	const struct node *data = node_get(n->model, "data"),
			  *set = data && data->kind == NODE_MAP
					 ? node_get(data, "train_ds")
					 : NULL;
	const char *length = member(n, set, "max_seq_length");
	const char *name = member(n, node_get(n->root, "run"), "model_train_name");
	char base[MAX_NAME];

	if (!member(n, n->model, "encoder_seq_length") && length &&
	    !put(n, "seq-length", length, set->line))
		return false;
	name = name ? name : restored(n, base);
	return !name || n->other[0] != '\0' || member(n, n->model, "num_layers") ||
	       member(n, n->model, "hidden_size") ||
	       put(n, "model", name, n->model->line);
}

/* 16, "16-mixed", bf16, "bf16-mixed"; 32 has no flag. */
static bool add_precision(const struct nemo *n)
{
	const struct node *trainer = node_get(n->root, "trainer");
	const char *precision = member(n, n->model, "precision");

	if (!precision)
		precision = member(n, trainer, "precision");
	if (!precision)
		return true;
	if (strncmp(precision, "bf16", 4) == 0)
		return put(n, "bf16", "", trainer->line);
	return strncmp(precision, "16", 2) != 0 || put(n, "fp16", "", trainer->line);
}

static bool add_optimizer(const struct nemo *n)
{
	const struct node *optim = node_get(n->model, "optim");
	const char *name = member(n, optim, "name");

	for (const struct node *node = name ? optim->child : NULL; node;
	     node = node->next)
		if (node->kind == NODE_SCALAR && strcmp(node->key, "name") != 0 &&
		    strncmp(node->key, "overlap_", 8) != 0 &&
		    !put(n, node->key, node->text, node->line))
			return false;
	if (!name)
		return true;
	if ((strcmp(name, "distributed_fused_adam") == 0 ||
	     strcmp(name, "mcore_distributed_optim") == 0) &&
	    !put(n, "use-distributed-optimizer", "", optim->line))
		return false;
	if (is_true(member(n, optim, "overlap_grad_sync")) &&
	    !put(n, "overlap-grad-reduce", "", optim->line))
		return false;
	return !is_true(member(n, optim, "overlap_param_sync")) ||
	       put(n, "overlap-param-gather", "", optim->line);
}

/* Which matrices get adapters; without a list those that make queries, keys and values
 * (peft_config.py: target_modules is ["attention_qkv"]). NULL: all. */
static const char *targets_of(const struct node *targets)
{
	const char *word = "qkv";

	for (const struct node *node = targets ? targets->child : NULL; node;
	     node = node->next) {
		if (node->kind != NODE_SCALAR ||
		    strncmp(node->text, "attention", 9) != 0)
			return NULL;
		if (strcmp(node->text, "attention_qkv") != 0)
			word = "attention";
	}
	return word;
}

/* PEFT by its scheme (nemo/collections/nlp/parts/peft_config.py): LoRA of rank 32
 * unless it is said. */
static bool add_adapters(const struct nemo *n, struct error *error)
{
	const struct node *peft = node_get(n->model, "peft"), *lora, *targets;
	const char *scheme = member(n, peft, "peft_scheme"), *rank, *word;

	if (!scheme || strcmp(scheme, "none") == 0)
		return true;
	if (strcmp(scheme, "lora") != 0)
		return error_set(
			error, n->arguments->file, peft->line,
			"peft_scheme '%.40s' is not modelled; lora and none are",
			scheme);
	lora = node_get(peft, "lora_tuning");
	rank = member(n, lora, "adapter_dim");
	targets = lora ? node_get(lora, "target_modules") : NULL;
	word = targets_of(targets);
	return (put(n, "bridge-lora", rank ? rank : "32", peft->line) &&
		(!word || put(n, "bridge-lora-targets", word, peft->line))) ||
	       error_set(error, n->arguments->file, peft->line, "more than %d flags",
			 ARGUMENTS_MAX);
}

/* What is not read is said. */
static void skip_rest(const struct nemo *n)
{
	for (const struct node *node = n->root->child; node; node = node->next)
		if (node != n->model && strcmp(node->key, "trainer") != 0)
			arguments_skip(n->arguments, node, "");
	for (const struct node *node = n->model->child; node; node = node->next)
		if (node->kind == NODE_MAP && strcmp(node->key, "optim") != 0)
			arguments_skip(n->arguments, node, "model");
}

/* The loop of NeMo-Aligner's trainer that is no pre-training and no SFT; NULL. */
static const struct node *loop_of(const struct node *trainer)
{
	static const char *const loops[] = { "ppo",
					     "dpo",
					     "grpo",
					     "spin",
					     "kto",
					     "generation",
					     "rm",
					     "reinforce",
					     "self_rewarding",
					     "knowledge_distillation" };
	const struct node *loop;

	for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++)
		if ((loop = node_get(trainer, loops[i])) && loop->kind == NODE_MAP)
			return loop;
	return NULL;
}

bool nemo_looks_like(const struct node *root)
{
	const struct node *model = node_get(root, "model"),
			  *trainer = node_get(root, "trainer");

	if (!model || model->kind != NODE_MAP || !trainer || trainer->kind != NODE_MAP)
		return false;
	return loop_of(trainer) ||
	       (node_get(model, "micro_batch_size") &&
		(node_get(model, "encoder_seq_length") ||
		 node_get(model, "mcore_gpt") || node_get(model, "megatron_amp_O2") ||
		 (node_get(model, "encoder") && node_get(model, "decoder"))));
}

/* Preferences and distillation hold several models, a reward model another head. */
static bool is_modelled(const struct nemo *n, struct error *error)
{
	const struct node *teacher = node_get(n->model, "kd_teacher_restore_from_path"),
			  *loop = loop_of(node_get(n->root, "trainer"));

	if (teacher)
		return error_set(error, n->arguments->file, teacher->line,
				 "distillation needs more than one model, which is not "
				 "modelled; pre-training and SFT are");
	if (name_with(n, "embedding"))
		return error_set(error, n->arguments->file, n->model->line,
				 "'%.60s' trains embeddings of texts, whose loss is "
				 "not modelled; pre-training and SFT are",
				 name_with(n, "embedding"));
	if (loop && strcmp(loop->key, "rm") == 0)
		return error_set(error, n->arguments->file, loop->line,
				 "a reward model is trained on pairs, which is not "
				 "modelled; pre-training and SFT are");
	return !loop || error_set(error, n->arguments->file, loop->line,
				  "'%.40s' needs more than one model, which is not "
				  "modelled; pre-training and SFT are",
				  loop->key);
}

/* How many nodes there are, its launcher may say. */
static void add_world(const struct nemo *n, const struct node *trainer)
{
	const char *devices = member(n, trainer, "devices"),
		   *nodes = member(n, trainer, "num_nodes");

	if (!devices)
		return;
	n->arguments->per_node = strtoll(devices, NULL, 10);
	n->arguments->nodes = nodes ? strtoll(nodes, NULL, 10) : 0;
}

bool arguments_from_nemo(struct arguments *arguments, const struct node *root,
			 struct error *error)
{
	struct nemo n = { arguments, root, node_get(root, "model"), "", 0 };
	const struct node *trainer = node_get(root, "trainer");
	bool good = true;

	if (!root || !n.model)
		return error_set(error, arguments->file, 0,
				 "no section 'model': not a configuration of NeMo");
	if (!is_modelled(&n, error))
		return false;
	find_other(&n);
	if (!add_adapters(&n, error))
		return false;
	skip_rest(&n);
	good = add_name(&n) && vocab_add_nemo(arguments, n.model);
	for (const struct node *node = n.model->child; node && good; node = node->next)
		good = (n.other[0] != '\0' && is_shape(node)) || add_field(&n, node);
	if (!good || !add_tuned(&n) || !add_order(&n) || !add_precision(&n) ||
	    !add_optimizer(&n))
		return error_set(error, arguments->file, root->line,
				 "more than %d flags", ARGUMENTS_MAX);
	/* a switch of its own turns them on */
	if (!is_true(member(&n, n.model, "cpu_offloading")))
		arguments_drop(arguments, "cpu-offloading-num-layers");
	add_world(&n, trainer);
	return true;
}
