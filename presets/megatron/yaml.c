/* yaml.c - flags as keys of YAML: MODEL_ARGS, sections, files of Primus and NeMo. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/megatron/forms.h"
#include "presets/megatron/parts.h"
#include "presets/pairs/mapping.h"
#include "presets/primus/primus.h"

/* "${NAME}" alone: what is given for it, else the flag waits for somebody to. */
static bool add_variable(struct arguments *arguments, const struct node *node)
{
	const char *name = node->text + 2;
	size_t length = strcspn(name, "}");
	const char *value = given_value(arguments->given, name, length);
	struct argument *item;

	if (!arguments_add(arguments, node->key, value ? value : "", node->line))
		return false;
	item = &arguments->item[arguments->count - 1];
	item->missing = value ? NULL : arguments_keep(arguments, name, length);
	return true;
}

static bool is_variable(const char *text)
{
	size_t length = strlen(text);

	return length > 3 && strncmp(text, "${", 2) == 0 &&
	       (isalpha((unsigned char)text[2]) || text[2] == '_') &&
	       strspn(text + 2, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				"0123456789_") == length - 3 &&
	       text[length - 1] == '}';
}

static bool is_true(const char *text)
{
	return strcmp(text, "true") == 0 || strcmp(text, "True") == 0;
}

/* Hydra takes 'null' in quotes for nothing, too. */
static bool says_nothing(const char *text, bool quoted)
{
	return strcmp(text, "null") == 0 || strcmp(text, "false") == 0 ||
	       strcmp(text, "False") == 0 || (!quoted && strcmp(text, "~") == 0);
}

/* "[a b c]" and YAML lists become words; true becomes a bare switch. */
bool arguments_add_member(struct arguments *arguments, const struct node *node)
{
	char value[4096] = "";
	size_t length = 0;

	if (node->kind == NODE_SCALAR && is_variable(node->text))
		return add_variable(arguments, node);
	if (node->kind == NODE_SCALAR) {
		if (!primus_default(node->text, arguments->given, value, sizeof value))
			snprintf(value, sizeof value, "%s", node->text);
		if (says_nothing(value, node->quoted))
			return true;
		if (is_true(value))
			value[0] = '\0';
		length = strlen(value);
		/* a bracketed word list, but not a Python expression such as ([0]*3) */
		if (value[0] == '[' && value[length - 1] == ']' &&
		    !strchr(value, '*')) {
			memmove(value, value + 1, length);
			value[length - 2] = '\0';
		}
	}
	for (const struct node *item = node->kind == NODE_LIST ? node->child : NULL;
	     item; item = item->next) {
		if (item->kind != NODE_SCALAR || length >= sizeof value - 1)
			continue;
		length += (size_t)snprintf(value + length, sizeof value - length,
					   "%s%s", length ? " " : "", item->text);
	}
	if (!arguments_add(arguments, node->key, value, node->line))
		return false;
	if (strcmp(value, "0") == 0 &&
	    megatron_is_switch(arguments->item[arguments->count - 1].name))
		arguments->count--;
	return true;
}

static bool is_section(const char *key)
{
	static const char *const sections[] = {
		"model", "train", "ddp",     "optimizer", "comm_overlap",
		"dist",  "rng",   "dataset", "trainer",   NULL,
	};

	return word_among(key, sections);
}

/* "model: {tensor_model_parallel_size: 8}" as the override of that name, which is what
 * files of Megatron-Bridge and NeMo mean. Depth is bounded by the document's. */
static bool add_section(struct arguments *arguments, const struct node *node,
			const char *prefix)
{
	char word[1200];
	size_t used;

	used = (size_t)snprintf(word, sizeof word, "%s%s%.120s", prefix,
				prefix[0] ? "." : "", node->key);
	if (node->kind == NODE_MAP) {
		for (const struct node *child = node->child; child; child = child->next)
			if (used > 120 || !add_section(arguments, child, word))
				return used > 120;
		return true;
	}
	used += (size_t)snprintf(word + used, sizeof word - used, "=%s",
				 node->kind == NODE_LIST ? "[" : node->text);
	for (const struct node *item = node->child; item; item = item->next)
		if (item->kind == NODE_SCALAR && used < sizeof word - 2)
			used += (size_t)snprintf(word + used, sizeof word - used,
						 "%s%s", item == node->child ? "" : ",",
						 item->text);
	if (node->kind == NODE_LIST && used < sizeof word - 1)
		strcpy(word + used, "]");
	return bridge_add_override(arguments, word, node->line);
}

void arguments_skip(struct arguments *arguments, const struct node *node,
		    const char *prefix)
{
	char key[128];

	snprintf(key, sizeof key, "%s%s%.60s", prefix, prefix[0] ? "." : "", node->key);
	if (node->kind == NODE_MAP) {
		for (const struct node *child = node->child; child; child = child->next)
			arguments_skip(arguments, child, key);
		return;
	}
	if (arguments->skipped_count == ARGUMENTS_SKIPPED) {
		arguments->skipped_more++;
		return;
	}
	struct argument *item = &arguments->skipped[arguments->skipped_count];

	item->name = arguments_keep(arguments, key, strlen(key));
	item->value = node->kind == NODE_SCALAR ? arguments_keep(arguments, node->text,
								 strlen(node->text))
						: "(list)";
	item->line = node->line;
	if (item->name && item->value)
		arguments->skipped_count++;
}

/* A member of the file; other mappings say nothing of the training. */
static bool add_top(struct arguments *arguments, const struct node *node)
{
	const struct node *from =
		node->kind == NODE_MAP ? node_get(node, "pretrained_checkpoint") : NULL;

	if (node->kind == NODE_MAP && !is_section(node->key)) {
		arguments_skip(arguments, node, "");
		return !from || from->kind != NODE_SCALAR ||
		       arguments_add_member(arguments, from);
	}
	if (node->kind == NODE_MAP)
		return add_section(arguments, node, "");
	if (strcmp(node->key, "mixed_precision") == 0)
		return add_section(arguments, node, "");
	return arguments_add_member(arguments, node);
}

static const char *text_of(const struct node *map, const char *key)
{
	const struct node *node =
		map && map->kind == NODE_MAP ? node_get(map, key) : NULL;

	return node && node->kind == NODE_SCALAR ? node->text : NULL;
}

/* LoRA of Primus, of rank 32 unless it is said: `peft` in front of Megatron-Bridge
 * (peft_dim), `lora` in front of Megatron-LM (primus/configs/modules). */
static bool add_adapters(struct arguments *arguments, const struct node *overrides)
{
	const struct node *lora = node_get(overrides, "lora");
	const char *scheme = text_of(overrides, "peft"),
		   *enabled = text_of(lora, "enabled"), *rank = NULL;

	if (scheme && strcmp(scheme, "lora") == 0)
		rank = text_of(overrides, "peft_dim");
	else if (enabled && strcmp(enabled, "true") == 0)
		rank = text_of(lora, "dim");
	else
		return true;
	return arguments_add(arguments, "bridge-lora", rank ? rank : "32",
			     overrides->line);
}

static bool is_on(const struct node *overrides, const char *key)
{
	const char *text = text_of(overrides, key);

	return text && is_true(text);
}

/* What stands behind the overrides: the first row of a key is its own. FSDP shards in
 * the optimizer's place. */
static bool add_settings(struct arguments *arguments, const struct node *trainer,
			 const struct node *overrides)
{
	const char *config = text_of(trainer, "config"),
		   *framework = text_of(trainer, "framework");
	bool fsdp = is_on(overrides, "use_torch_fsdp2") ||
		    is_on(overrides, "use_custom_fsdp") ||
		    is_on(overrides, "use_megatron_fsdp");
	const struct primus_setting *row;
	char said[256] = "";
	size_t used = 0;

	for (size_t i = 0; (row = primus_setting(i)); i++) {
		if (!framework || strcmp(row->framework, framework) != 0 ||
		    (row->of && (!config || strcmp(row->of, config) != 0)) ||
		    node_get(overrides, row->key) || strstr(said, row->key) ||
		    (fsdp && strcmp(row->key, "use_distributed_optimizer") == 0))
			continue;
		if (!arguments_add(arguments, row->key,
				   strcmp(row->value, "true") == 0 ? "" : row->value,
				   trainer->line))
			return false;
		used += (size_t)snprintf(said + used, sizeof said - used, "%s%s %s",
					 used ? ", " : "", row->key, row->value);
	}
	return used == 0 ||
	       arguments_add(arguments, "primus-settings", said, trainer->line);
}

/* Switches of the shape that the model's file may have on: off here, they make another
 * network. */
static bool add_off(struct arguments *arguments, const struct node *node)
{
	static const char *const switches[] = { "multi_latent_attention", "swiglu",
						"untie_embeddings_and_output_weights",
						NULL };

	return !word_among(node->key, switches) || !says_nothing(node->text, false) ||
	       arguments_add(arguments, "primus-off", node->key, node->line);
}

/* "llama3.1_8B.yaml" is a file of Primus, named by its model. */
static bool add_trainer(struct arguments *arguments, const struct node *trainer)
{
	const struct node *model = node_get(trainer, "model");
	const struct node *overrides = node_get(trainer, "overrides");
	char name[128];

	primus_model(trainer, arguments->given, name, sizeof name);
	if (name[0] != '\0' &&
	    !arguments_add(arguments, "primus-model", name, model->line))
		return false;
	if (!overrides || !add_adapters(arguments, overrides) ||
	    !add_settings(arguments, trainer, overrides))
		return false;
	for (const struct node *node = overrides ? overrides->child : NULL; node;
	     node = node->next)
		if (node->kind == NODE_MAP)
			arguments_skip(arguments, node, "overrides");
		else if (!arguments_add_member(arguments, node) ||
			 (node->kind == NODE_SCALAR && !add_off(arguments, node)))
			return false;
	for (const struct node *node = trainer->child; node; node = node->next)
		if (node != overrides && node != model)
			arguments_skip(arguments, node, trainer->key);
	return true;
}

/* Hydra's list of files that are laid beside this one; "- train: 16b" is that of the
 * flags. NULL: it has some of its own, or names none. */
static const struct node *flags_elsewhere(const struct node *root)
{
	const struct node *list = node_get(root, "defaults"), *train = NULL;

	if (!list || list->kind != NODE_LIST || node_get(root, "model"))
		return NULL;
	for (const struct node *node = list->child; node && !train; node = node->next)
		train = node->kind == NODE_MAP ? node_get(node, "train") : NULL;
	return train && train->kind == NODE_SCALAR ? train : NULL;
}

/* Files that are no training by themselves: of another machine, or the rest of a file
 * that they extend. With the error. */
static bool is_incomplete(const struct arguments *arguments, const struct node *root,
			  const struct node *trainer, struct error *error)
{
	const struct node *from = node_get(root, "extends");
	const struct node *first = from && from->child ? from->child : from;
	const struct node *framework = trainer ? node_get(trainer, "framework") : NULL;
	const struct node *ours = node_get(root, "MODEL_ARGS");
	const struct node *other = flags_elsewhere(root);

	if (other)
		return !error_set(error, arguments->file, other->line,
				  "its flags stand in train/%.60s.yaml beside it: give "
				  "that file",
				  other->text);
	if (node_get(node_get(root, "model"), "teacher"))
		return !error_set(error, arguments->file, root->line,
				  "distillation, which needs a teacher beside the "
				  "model, is not modelled; pre-training and SFT are");
	if (node_get(root, "distributed_strategy") && node_get(root, "exp_manager"))
		return !error_set(
			error, arguments->file, root->line,
			"a file of neuronx-distributed-training, for Trainium, of "
			"which there is no cluster; Megatron's and NeMo's are read");
	/* the defaults of Megatron would stand where its keys are not known */
	if (framework && framework->kind == NODE_SCALAR &&
	    strncmp(framework->text, "megatron", 8) != 0) {
		bool known = strcmp(framework->text, "torchtitan") == 0 ||
			     strcmp(framework->text, "maxtext") == 0;

		return !error_set(error, arguments->file, framework->line,
				  "Primus runs '%.40s' with these overrides, whose "
				  "keys are not Megatron's; %s%s",
				  framework->text,
				  known ? "import it as "
					: "of its files those with framework: "
					  "megatron, torchtitan or maxtext are read",
				  known ? framework->text : "");
	}
	/* NeMo 2: of what recipe, with what activations and precision, is not said */
	for (const struct node *node = ours ? ours->child : NULL; node;
	     node = node->next)
		if (node->key && strncmp(node->key, "model.config.", 13) == 0)
			return !error_set(error, arguments->file, node->line,
					  "%.40s changes a recipe of NeMo 2 that the "
					  "file does not name, and that sets what it "
					  "leaves out; give the command or the recipe",
					  node->key);
	/* Primus: the rest of what it says stands in the file that it extends */
	if (!from || (trainer && node_get(trainer, "model")))
		return false;
	return !error_set(error, arguments->file, from->line,
			  "it extends %.80s, which is not opened, with its model and "
			  "what else it says; give that file",
			  first->kind == NODE_SCALAR ? first->text : "another file");
}

/* Overrides of a recipe of Megatron-Bridge that a command names: "--config-file". What
 * they leave out is the recipe's; peft: is LoRA (peft/lora.py: dim). */
static bool add_bridge(struct arguments *arguments, const struct node *root)
{
	const struct node *train = node_get(root, "train"),
			  *peft = node_get(root, "peft"), *rank;
	bool adapts = peft && peft->kind == NODE_MAP;

	if (!train || train->kind != NODE_MAP)
		return true;
	rank = adapts ? node_get(peft, "dim") : NULL;
	if (adapts &&
	    !arguments_add(arguments, "bridge-lora",
			   rank && rank->kind == NODE_SCALAR ? rank->text : "32",
			   peft->line))
		return false;
	return arguments_add(arguments, "bridge-overrides",
			     "the recipe under this file", train->line);
}

bool arguments_from_yaml(struct arguments *arguments, const char *text, size_t length,
			 struct error *error)
{
	struct document document;
	const struct argument *each, *nodes;
	const struct node *map, *trainer;
	bool good = true;

	if (!document_parse_repeats(&document, arguments->file, text, length, error))
		return false;
	if (nemo_looks_like(document.root) || flagscale_looks_like(document.root)) {
		good = nemo_looks_like(document.root)
			       ? arguments_from_nemo(arguments, document.root, error)
			       : arguments_from_flagscale(arguments, document.root,
							  error);
		document_free(&document);
		return good;
	}
	trainer = primus_trainer(document.root);
	if (is_incomplete(arguments, document.root, trainer, error)) {
		document_free(&document);
		return false;
	}
	if (trainer ? !add_trainer(arguments, trainer)
		    : !add_bridge(arguments, document.root))
		good = error_set(error, arguments->file, trainer->line,
				 "more than %d flags", ARGUMENTS_MAX);
	if (good && swift_looks_like(document.root))
		good = swift_add_file(arguments, document.root) ||
		       error_set(error, arguments->file, document.root->line,
				 "more than %d flags", ARGUMENTS_MAX);
	map = node_get(document.root, "MODEL_ARGS");
	if (!map || map->kind != NODE_MAP)
		map = document.root;
	for (const struct node *node = document.root->child;
	     node && map != document.root; node = node->next)
		if (node != map)
			arguments_skip(arguments, node, "");
	for (const struct node *node = map->child; node && good; node = node->next)
		good = (trainer && strcmp(node->key, "modules") == 0) ||
		       add_top(arguments, node) ||
		       error_set(error, arguments->file, node->line,
				 "more than %d flags", ARGUMENTS_MAX);
	document_free(&document);
	each = arguments_find(arguments, "nproc-per-node");
	nodes = arguments_find(arguments, "nnodes");
	if (good && each) {
		arguments->per_node = strtoll(each->value, NULL, 10);
		arguments->nodes = nodes ? strtoll(nodes->value, NULL, 10) : 1;
	}
	return good;
}
