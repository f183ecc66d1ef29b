/* arguments.c - see arguments.h: telling the forms apart, and the two plain ones. */
#include "presets/megatron/arguments.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/pairs/mapping.h"

struct text_block {
	struct text_block *next;
	char text[];
};

const char *arguments_keep(struct arguments *arguments, const char *text, size_t length)
{
	struct text_block *block;

	if (arguments->bytes + length > ARGUMENTS_MAX_BYTES)
		return NULL;
	block = malloc(sizeof *block + length + 1);
	if (!block)
		return NULL;
	memcpy(block->text, text, length);
	block->text[length] = '\0';
	error_clean(block->text);
	block->next = arguments->blocks;
	arguments->blocks = block;
	arguments->bytes += length + 1;
	return block->text;
}

void arguments_free(struct arguments *arguments)
{
	while (arguments->blocks) {
		struct text_block *next = arguments->blocks->next;

		free(arguments->blocks);
		arguments->blocks = next;
	}
	free(arguments->item);
	memset(arguments, 0, sizeof *arguments);
}

static bool grow(struct arguments *arguments)
{
	int capacity = arguments->capacity ? 2 * arguments->capacity : 64;
	struct argument *item;

	if (arguments->count < arguments->capacity)
		return true;
	if (arguments->count >= ARGUMENTS_MAX)
		return false;
	item = realloc(arguments->item, (size_t)capacity * sizeof *item);
	if (!item)
		return false;
	arguments->item = item;
	arguments->capacity = capacity;
	return true;
}

bool arguments_add(struct arguments *arguments, const char *name, const char *value,
		   int line)
{
	char clean[128];
	size_t length = 0;

	while (*name == '-')
		name++;
	if (strrchr(name, '.')) /* NeMo: trainer.strategy.tensor_model_parallel_size */
		name = strrchr(name, '.') + 1;
	for (; name[length] != '\0' && length < sizeof clean - 1; length++)
		clean[length] = name[length] == '_' ? '-' : name[length];
	clean[length] = '\0';
	if (!grow(arguments))
		return false;
	struct argument *item = &arguments->item[arguments->count];

	item->name = arguments_keep(arguments, clean, length);
	item->value = arguments_keep(arguments, value, strlen(value));
	item->line = line;
	if (!item->name || !item->value)
		return false;
	arguments->count++;
	return true;
}

const struct argument *arguments_find(const struct arguments *arguments,
				      const char *name)
{
	for (int i = arguments->count - 1; i >= 0; i--)
		if (strcmp(arguments->item[i].name, name) == 0)
			return &arguments->item[i];
	return NULL;
}

/* What run_recipe.py of Megatron-Bridge calls them; -et is its older name. */
static const struct {
	const char *word, *flag;
} short_flags[] = {
	{ "-tp", "tensor-model-parallel-size" },
	{ "-pp", "pipeline-model-parallel-size" },
	{ "-vp", "virtual-pipeline-model-parallel-size" },
	{ "-cp", "context-parallel-size" },
	{ "-ep", "expert-model-parallel-size" },
	{ "-etp", "expert-tensor-parallel-size" },
	{ "-et", "expert-tensor-parallel-size" },
	{ "-mb", "micro-batch-size" },
	{ "-gb", "global-batch-size" },
	{ "-sl", "seq-length" },
};

/* The flag of a word, or NULL. */
static const char *flag_of(const char *word)
{
	if (word[0] == '-' && word[1] == '-' && isalpha((unsigned char)word[2]))
		return word;
	for (size_t i = 0; i < sizeof short_flags / sizeof short_flags[0]; i++)
		if (strcmp(short_flags[i].word, word) == 0)
			return short_flags[i].flag;
	return NULL;
}

/* Values up to the next flag, joined by spaces. Returns how many were used. */
static int join_values(const struct shell_word *words, int count, char *out,
		       size_t size)
{
	int used = 0;
	size_t length = 0;

	out[0] = '\0';
	while (used < count && !flag_of(words[used].text) &&
	       !bridge_is_override(words[used].text)) {
		length += (size_t)snprintf(out + length, size - length, "%s%s",
					   used ? " " : "", words[used].text);
		used++;
		if (length >= size)
			length = size - 1;
	}
	return used;
}

bool arguments_add_words(struct arguments *arguments, const struct shell_word *words,
			 int count)
{
	for (int i = 0; i < count; i++) {
		const char *flag = flag_of(words[i].text), *equals;
		char name[128], value[4096];
		int line = words[i].line;

		if (!flag && bridge_is_override(words[i].text) &&
		    !bridge_add_override(arguments, words[i].text, line))
			return false;
		if (!flag)
			continue;
		equals = strchr(flag, '=');
		snprintf(name, sizeof name, "%.*s",
			 equals ? (int)(equals - flag) : (int)sizeof name - 1, flag);

		if (equals)
			snprintf(value, sizeof value, "%s", equals + 1);
		else
			i += join_values(words + i + 1, count - i - 1, value,
					 sizeof value);
		if (!arguments_add(arguments, name, value, line))
			return false;
	}
	return true;
}

/* "  tensor_model_parallel_size ...... 4": Megatron's own print at start. Lines of
 * a log may carry a prefix such as "0: ". */
static bool printed_line(const char *line, size_t length, char name[128],
			 char value[512])
{
	const char *dots = NULL;

	for (size_t i = 0; i + 4 < length && !dots; i++)
		if (memcmp(line + i, " ....", 5) == 0 ||
		    memcmp(line + i, " ... ", 5) == 0)
			dots = line + i;
	if (!dots)
		return false;
	const char *end = dots, *start = dots, *right = dots;

	while (start > line && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
		start--;
	while (right < line + length && (*right == ' ' || *right == '.'))
		right++;
	if (start == end || end - start > 127 || right == line + length)
		return false;
	snprintf(name, 128, "%.*s", (int)(end - start), start);
	snprintf(value, 512, "%.*s", (int)(line + length - right), right);
	for (size_t n = strlen(value); n > 0 && isspace((unsigned char)value[n - 1]);
	     n--)
		value[n - 1] = '\0';
	return true;
}

/* None and False stand for an absent flag, but for what a flag switches off. */
static bool add_printed(struct arguments *arguments, const char *name,
			const char *value, int line)
{
	static const char *const off[][2] = {
		{ "add_bias_linear", "disable-bias-linear" },
		{ "overlap_p2p_comm", "no-overlap-p2p-communication" },
	};

	if (strcmp(value, "None") == 0)
		return true;
	if (strcmp(value, "False") != 0)
		return arguments_add(arguments, name,
				     strcmp(value, "True") == 0 ? "" : value, line);
	for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
		if (strcmp(off[i][0], name) == 0)
			return arguments_add(arguments, off[i][1], "", line);
	return true;
}

static bool from_printed(struct arguments *arguments, const char *text, size_t length)
{
	int line = 1;

	for (const char *at = text; at < text + length; line++) {
		const char *end = memchr(at, '\n', (size_t)(text + length - at));
		size_t width = end ? (size_t)(end - at) : (size_t)(text + length - at);
		char name[128], value[512];

		if (printed_line(at, width, name, value)) {
			const char *found = memmem(at, width, name, strlen(name));

			if (!add_printed(arguments, name, value,
					 place_at(line, found - at + 1)))
				return false;
		}
		at += width + 1;
	}
	return true;
}

static bool looks_printed(const char *text, size_t length)
{
	int found = 0;

	for (const char *at = text; at < text + length && found < 5;) {
		const char *end = memchr(at, '\n', (size_t)(text + length - at));
		size_t width = end ? (size_t)(end - at) : (size_t)(text + length - at);
		char name[128], value[512];

		found += printed_line(at, width, name, value);
		at += width + 1;
	}
	return found >= 5;
}

enum { LOOKED_UP = 4096 };

/* "${NAME:word}", as Primus writes what a variable of the shell may change: the word,
 * and what stands around it. False where it is none. */
static bool take_default(const char *text, char *out, size_t size)
{
	const char *open = strstr(text, "${"), *colon = open ? strchr(open, ':') : NULL;
	const char *close = colon ? strchr(colon, '}') : NULL;

	if (!close || strchr(close, '$'))
		return false;
	snprintf(out, size, "%.*s%.*s%s", (int)(open - text), text,
		 (int)(close - colon - 1), colon + 1, close + 1);
	return true;
}

static bool is_true(const char *text)
{
	return strcmp(text, "true") == 0 || strcmp(text, "True") == 0;
}

/* "[a b c]" and YAML lists become words; true becomes a bare switch. */
static bool add_member(struct arguments *arguments, const struct node *node)
{
	char value[4096] = "";
	size_t length = 0;

	if (node->kind == NODE_SCALAR && !node->quoted &&
	    (strcmp(node->text, "null") == 0 || strcmp(node->text, "~") == 0))
		return true;

	if (node->kind == NODE_SCALAR) {
		if (strcmp(node->text, "false") == 0 ||
		    strcmp(node->text, "False") == 0)
			return true;
		if (!take_default(node->text, value, sizeof value))
			snprintf(value, sizeof value, "%s",
				 is_true(node->text) ? "" : node->text);
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
	return arguments_add(arguments, node->key, value, node->line);
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
	if (node->kind == NODE_MAP && !is_section(node->key)) {
		arguments_skip(arguments, node, "");
		return true;
	}
	if (node->kind == NODE_MAP)
		return add_section(arguments, node, "");
	if (strcmp(node->key, "mixed_precision") == 0)
		return add_section(arguments, node, "");
	return add_member(arguments, node);
}

/* Primus: modules.pre_trainer names a file of the model and overrides Megatron's flags.
 * The mapping that does, or NULL. */
static const struct node *find_trainer(const struct node *root)
{
	const struct node *modules = node_get(root, "modules");
	const struct node *node =
		modules && modules->kind == NODE_MAP ? modules->child : NULL;

	for (; node; node = node->next)
		if (node_get(node, "overrides") && node_get(node, "framework"))
			return node;
	return NULL;
}

/* "llama3.1_8B.yaml" is a file of Primus, named by its model. */
static bool add_trainer(struct arguments *arguments, const struct node *trainer)
{
	const struct node *model = node_get(trainer, "model");
	const struct node *overrides = node_get(trainer, "overrides");
	char name[128] = "";
	size_t length;

	if (model && model->kind == NODE_SCALAR &&
	    !take_default(model->text, name, sizeof name))
		snprintf(name, sizeof name, "%.127s", model->text);
	length = strlen(name);
	if (length > 5 && strcmp(name + length - 5, ".yaml") == 0)
		name[length - 5] = '\0';
	if (name[0] != '\0' &&
	    !arguments_add(arguments, "primus-model", name, model->line))
		return false;
	for (const struct node *node = overrides->child; node; node = node->next)
		if (node->kind == NODE_MAP)
			arguments_skip(arguments, node, "overrides");
		else if (!add_member(arguments, node))
			return false;
	for (const struct node *node = trainer->child; node; node = node->next)
		if (node != overrides && node != model)
			arguments_skip(arguments, node, trainer->key);
	return true;
}

static bool from_yaml(struct arguments *arguments, const char *text, size_t length,
		      struct error *error)
{
	struct document document;
	const struct argument *each, *nodes;
	const struct node *map, *trainer;
	bool good = true;

	if (!document_parse_repeats(&document, arguments->file, text, length, error))
		return false;
	if (nemo_looks_like(document.root)) {
		good = arguments_from_nemo(arguments, document.root, error);
		document_free(&document);
		return good;
	}
	trainer = find_trainer(document.root);
	if (trainer && !add_trainer(arguments, trainer))
		good = error_set(error, arguments->file, trainer->line,
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

/* A YAML file has a line that begins with a key and a colon; a script has flags
 * followed by blanks. */
static bool looks_yaml(const char *text, size_t length)
{
	const char *at = text, *stop = text + length;

	while (at < stop) {
		const char *end = memchr(at, '\n', (size_t)(stop - at));
		const char *word = at;

		end = end ? end : stop;
		while (word < end && (*word == ' ' || *word == '\t'))
			word++;
		if (word < end && *word != '#' && *word != '\n') {
			const char *name = word;

			while (word < end &&
			       (isalnum((unsigned char)*word) || *word == '-' ||
				*word == '_' || *word == '.'))
				word++;
			return word > name && word < end && *word == ':' &&
			       (word + 1 == end || isspace((unsigned char)word[1]));
		}
		at = end + 1;
	}
	return false;
}

void arguments_take_world(struct arguments *arguments)
{
	if (arguments->nodes > 0 && arguments->per_node > 0 &&
	    __builtin_mul_overflow(arguments->nodes, arguments->per_node,
				   &arguments->world))
		arguments->world = INT64_MAX; /* no machine has so many */
}

bool arguments_read(struct arguments *out, const char *file, const char *text,
		    size_t length, struct error *error)
{
	bool good;

	memset(out, 0, sizeof *out);
	snprintf(out->file, sizeof out->file, "%s", file);
	error_clean(out->file);
	if (looks_printed(text, length))
		good = from_printed(out, text, length) ||
		       error_set(error, out->file, 0, "more than %d flags",
				 ARGUMENTS_MAX);
	else if (bridge_looks_like(text, length))
		good = arguments_from_bridge(out, text, length, error);
	else if (looks_yaml(text, length))
		good = from_yaml(out, text, length, error);
	else
		good = arguments_from_shell(out, text, length, error);
	if (good && out->count == 0)
		good = error_set(error, out->file, 1,
				 "no flags found; expected a torchrun command line, a "
				 "script with --flags, MODEL_ARGS in YAML, or the "
				 "arguments that Megatron prints at start");
	if (good && out->world == 0)
		arguments_take_world(out);
	if (!good)
		arguments_free(out);
	return good;
}
