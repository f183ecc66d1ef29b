/* nemo2_recipe.c - the recipes of NeMo 2 themselves as flags: `def
 * pretrain_recipe(...)` beside `def trainer(tensor_parallelism: int = 4, ...)`
 * (NVIDIA/NeMo, nemo/collections/llm/recipes). What their parameters have without a
 * caller is read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/megatron/forms.h"
#include "presets/python/scanner.h"

static const char recipe_start[] = "\ndef pretrain_recipe(";

bool nemo2_recipe_looks_like(const char *text)
{
	return strstr(text, "nemo.collections") &&
	       (strstr(text, recipe_start) || strstr(text, "\ndef finetune_recipe("));
}

/* A function at the left edge, to the next thing that stands there. */
static bool piece_of(const char *text, size_t length, const char *start,
		     struct piece *out)
{
	const char *at = strstr(text, start), *stop = text + length;

	if (!at)
		return false;
	*out = (struct piece){ at + 1, stop, 1 };
	for (const char *c = text; c <= at; c++)
		out->line += *c == '\n';
	for (const char *c = strchr(at + 1, '\n'); c; c = strchr(c + 1, '\n'))
		if (strncmp(c, "\ndef ", 5) == 0 || strncmp(c, "\n@", 2) == 0) {
			out->stop = c + 1;
			break;
		}
	return true;
}

static bool ends_in(const char *text, const char *ending)
{
	size_t length = strlen(text), tail = strlen(ending);

	return length >= tail && strcmp(text + length - tail, ending) == 0 &&
	       (length == tail || text[length - tail - 1] == '.');
}

/* Which function makes the trainer: "trainer" of its own file. */
static bool note_assigned(struct python *p, const char *key, const char *name, int line)
{
	return !ends_in(key, "trainer") || python_set(p, " trainer", name, line);
}

static bool read_piece(struct pairs *pairs, const char *text, const struct piece *piece,
		       struct error *error)
{
	struct python p = {
		.pairs = pairs, .start = text, .error = error, .assigned = note_assigned
	};

	return python_read(&p, piece);
}

/* Parameters of the function that makes the trainer or the recipe, and what they are.
 */
static const struct {
	const char *key, *flag;
} degrees[] = {
	{ "trainer.tensor_parallelism", "tensor-model-parallel-size" },
	{ "trainer.pipeline_parallelism", "pipeline-model-parallel-size" },
	{ "trainer.virtual_pipeline_parallelism",
	  "virtual-pipeline-model-parallel-size" },
	{ "trainer.context_parallelism", "context-parallel-size" },
	{ "trainer.expert_parallelism", "expert-model-parallel-size" },
	{ "trainer.expert_model_parallelism", "expert-model-parallel-size" },
	{ "trainer.expert_tensor_parallelism", "expert-tensor-parallel-size" },
	{ "trainer.sequence_parallelism", "sequence-parallel" },
	{ "trainer.num_nodes", "nnodes" },
	{ "trainer.num_gpus_per_node", "nproc-per-node" },
	{ "data.seq_length", "seq-length" },
	{ "data.global_batch_size", "global-batch-size" },
	{ "data.micro_batch_size", "micro-batch-size" },
};

struct nemo2_recipe {
	struct arguments *arguments;
	struct pairs recipe, trainer; /* of the two functions */
	struct error *error;
};

/* By the last words of its key, of values that name another pair that one's. */
static const struct pair *find(const struct pairs *pairs, const char *key)
{
	const struct pair *found = NULL;

	for (int i = 0; i < pairs->count && !found; i++)
		if (ends_in(pairs->item[i].key, key))
			found = &pairs->item[i];
	for (int i = 0; found && i < 4; i++) {
		const struct pair *next = pairs_find(pairs, found->value);

		if (!next || next == found)
			break;
		found = next;
	}
	return found;
}

static bool put(const struct nemo2_recipe *n, const char *flag, const char *value,
		int line)
{
	return arguments_add(n->arguments, flag, value, line) ||
	       error_set(n->error, n->arguments->file, line, "more than %d settings",
			 ARGUMENTS_MAX);
}

/* What the recipe tells its trainer, else the trainer's own default. */
static bool add_degree(const struct nemo2_recipe *n, const char *key, const char *flag)
{
	const char *parameter = strchr(key, '.') + 1;
	const struct pair *pair = find(&n->recipe, key);
	const char *value;

	if (!pair && strncmp(key, "trainer.", 8) == 0)
		pair = find(&n->trainer, parameter);
	value = pair ? pair->value : "None";
	if (strcmp(value, "None") == 0 || strcmp(value, "false") == 0)
		return true;
	if (strcmp(value, "true") != 0 && value[strspn(value, "0123456789")] != '\0')
		return error_set(n->error, n->arguments->file, pair->line,
				 "%.60s comes from %.60s, which this file does not set",
				 parameter, value);
	return put(n, flag, strcmp(value, "true") == 0 ? "" : value, pair->line);
}

/* "llama3_8b_64k" is that model on longer sequences; two are called by their experts.
 */
static const char *model_word(char *name)
{
	char *tail = strrchr(name, '_');

	if (strcmp(name, "llama4_e16") == 0)
		return "llama4_scout";
	if (strcmp(name, "llama4_e128") == 0)
		return "llama4_maverick";
	if (tail && tail[1] != '\0') {
		size_t digits = strspn(tail + 1, "0123456789");

		if (digits > 0 && strcmp(tail + 1 + digits, "k") == 0)
			*tail = '\0';
	}
	return name;
}

/* What its trainers have in common. */
static bool add_habits(const struct nemo2_recipe *n, const char *text, int line)
{
	const struct pair *precision = find(&n->recipe, "precision");
	bool half = precision && strncmp(precision->value, "16", 2) == 0;

	return put(n, half ? "fp16" : "bf16", "", line) &&
	       put(n, "use-distributed-optimizer", "", line) &&
	       (!strstr(text, "overlap_grad_reduce=True") ||
		put(n, "overlap-grad-reduce", "", line)) &&
	       (!strstr(text, "overlap_param_gather=True") ||
		put(n, "overlap-param-gather", "", line));
}

/* The recipe's own words for its model: NAME = "llama3_8b". */
static bool add_model(const struct nemo2_recipe *n, const char *text)
{
	const char *at = strstr(text, "\nNAME = \"");
	size_t length = at ? strcspn(at + 9, "\"\n") : 0;
	char name[64];
	int line = 2;

	if (length == 0 || length >= sizeof name)
		return error_set(n->error, n->arguments->file, 1,
				 "no NAME = \"...\" says which model the recipe is of; "
				 "--model NAME or --model config.json does");
	for (const char *c = text; c < at; c++)
		line += *c == '\n';
	snprintf(name, sizeof name, "%.*s", (int)length, at + 9);
	return put(n, "recipe", model_word(name), line) && add_habits(n, text, line);
}

/* A trainer of another file whose parameters are not all given has defaults that do
 * not stand here. */
static bool check_trainer(const struct nemo2_recipe *n)
{
	const struct pair *made = pairs_find(&n->recipe, " trainer");

	if (n->trainer.count > 0 || find(&n->recipe, "trainer.tensor_parallelism"))
		return true;
	return error_set(n->error, n->arguments->file, made ? made->line : 1,
			 "its degrees are those of %.60s, which stands elsewhere",
			 made ? made->value : "a trainer");
}

static int64_t number(const struct arguments *a, const char *flag)
{
	const struct argument *found = arguments_find(a, flag);
	long long value = found ? strtoll(found->value, NULL, 10) : 1;

	return value > 0 && value < 1 << 20 ? value : 1;
}

/* One node is what the caller is to change where the degrees want more. */
static void add_world(struct arguments *a)
{
	int64_t ranks = number(a, "tensor-model-parallel-size") *
			number(a, "pipeline-model-parallel-size");
	int64_t each = number(a, "nproc-per-node"), nodes = number(a, "nnodes");

	if (ranks * number(a, "context-parallel-size") > each * nodes ||
	    number(a, "pipeline-model-parallel-size") *
			    number(a, "expert-model-parallel-size") >
		    each * nodes) {
		arguments_drop(a, "nnodes");
		arguments_drop(a, "nproc-per-node");
		return;
	}
	a->per_node = each;
	a->nodes = nodes;
}

static bool add_all(const struct nemo2_recipe *n, const char *text)
{
	struct arguments *a = n->arguments;

	if (!check_trainer(n) || !add_model(n, text))
		return false;
	for (size_t i = 0; i < sizeof degrees / sizeof degrees[0]; i++)
		if (!add_degree(n, degrees[i].key, degrees[i].flag))
			return false;
	if (!arguments_find(a, "global-batch-size") || !arguments_find(a, "seq-length"))
		return error_set(n->error, a->file, 1,
				 "pretrain_recipe() does not say its batch and length");
	add_world(a);
	return true;
}

bool arguments_from_nemo2_recipe(struct arguments *arguments, const char *text,
				 size_t length, struct error *error)
{
	struct nemo2_recipe n = { .arguments = arguments, .error = error };
	struct piece recipe, trainer;
	bool own = piece_of(text, length, "\ndef trainer(", &trainer), good;
	const struct pair *made;

	if (!piece_of(text, length, recipe_start, &recipe))
		return error_set(error, arguments->file, 1,
				 "of NeMo's recipes pretrain_recipe() is read; what "
				 "finetune_recipe() sets hangs on its caller");
	pairs_begin(&n.recipe, arguments->file);
	pairs_begin(&n.trainer, arguments->file);
	good = read_piece(&n.recipe, text, &recipe, error);
	made = good ? pairs_find(&n.recipe, " trainer") : NULL;
	if (good && own && made && strcmp(made->value, "trainer") == 0)
		good = read_piece(&n.trainer, text, &trainer, error);
	good = good && add_all(&n, text);
	pairs_free(&n.recipe);
	pairs_free(&n.trainer);
	return good;
}
