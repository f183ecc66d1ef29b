/* python.c - torchtitan's newer form as the keys of its TOML: `Trainer.Config(...)` in
 * Python, settings `config.parallelism.x = 8`, and words `--parallelism.x 8` of a
 * command. Read, never run: literals and their products, nothing else.
 *
 * Keys: torchtitan/config/configs.py. Batches are counted in tokens since 2026-08.
 */
#include "presets/torchtitan/python.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/python/neighbour.h"
#include "presets/python/scanner.h"

/* "qwen3_14b": a configuration of torchtitan's own, by its model and flavor. */
static bool is_flavored(const char *name)
{
	const char *behind;
	const char *family = torchtitan_family(name, &behind);

	return family && strncmp(name, family, strlen(family)) == 0 && *behind == '_' &&
	       !strchr(name, '.') && !strstr(name, "registry") &&
	       !strstr(name, "special") && !strstr(name, "loader");
}

/* --- newer keys as the older ones --- */

static long long count_of(const struct python *p, const char *key, long long absent)
{
	const struct pair *pair = pairs_find(p->pairs, key);
	char *end;
	long long value = pair ? strtoll(pair->value, &end, 10) : absent;

	return pair && (*end != '\0' || value < 1 || value > INT64_C(1) << 50) ? 0
									       : value;
}

static bool set_count(struct python *p, const char *key, long long value,
		      const char *from)
{
	const struct pair *pair = pairs_find(p->pairs, from);
	char text[24];

	snprintf(text, sizeof text, "%lld", value);
	return python_set(p, key, text, pair ? pair->line : 0);
}

/* Tokens become sequences. */
static bool translate_batch(struct python *p)
{
	static const char micro[] = "training.num_tokens_per_microbatch_per_dp_rank",
			  step[] = "training.num_tokens_per_train_step",
			  length[] = "training.max_context_length",
			  parts[] = "parallelism.num_pp_microbatches";
	/* configs.py: 16384 tokens of a length of 2048, where either is stated alone */
	bool counted = pairs_find(p->pairs, micro) || pairs_find(p->pairs, length);
	long long context = count_of(p, length, counted ? 2048 : 0),
		  tokens = count_of(p, micro, counted ? 16384 : 0);
	long long all = count_of(p, step, 0), chunks = count_of(p, parts, 1);
	long long each = context > 0 && tokens >= context ? tokens / context : 1;

	if (pairs_find(p->pairs, micro) && tokens < 1)
		return error_set(p->error, p->pairs->file,
				 pairs_find(p->pairs, micro)->line,
				 "%s is '%.40s'; expected a whole number", micro,
				 pairs_find(p->pairs, micro)->value);
	if (pairs_find(p->pairs, "training.local_batch_size"))
		tokens = 0;
	if (context > 0 && !set_count(p, "training.seq_len", context, length))
		return false;
	if (tokens < 1 || context < 1)
		return true;
	if (count_of(p, "parallelism.pipeline_parallel_degree", 1) > 1 &&
	    !set_count(p, "parallelism.pipeline_parallel_microbatch_size", each, micro))
		return false;
	chunks = chunks < 1 ? 1 : chunks;
	if (__builtin_mul_overflow(each, chunks, &chunks))
		chunks = each;
	if (!set_count(p, "training.local_batch_size", chunks, micro))
		return false;
	return all < context ||
	       set_count(p, "training.global_batch_size", all / context, step);
}

static bool translate_recompute(struct python *p)
{
	const struct pair *call = pairs_find(p->pairs, "activation_checkpoint");
	int line = call ? call->line : 0;

	if (!call)
		return true;
	if (strstr(call->value, "SelectiveAC"))
		return python_set(p, "activation_checkpoint.mode", "selective", line) &&
		       python_set(p, "activation_checkpoint.selective_ac_option", "op",
				  line);
	if (strstr(call->value, "FullAC"))
		return python_set(p, "activation_checkpoint.mode", "full", line);
	return strcmp(call->value, "None") != 0 ||
	       python_set(p, "activation_checkpoint.mode", "none", line);
}

/* Functions are called after model and flavor: llama3_70b. The one that is called to
 * begin with says more than the one that is written, and the folder of the file what
 * neither does. A flavor that is stated is that one; of a name the words behind it are
 * the function's. */
static bool translate_model(struct python *p)
{
	const struct pair *module = pairs_find(p->pairs, "module"),
			  *config = pairs_find(p->pairs, "config"),
			  *def = pairs_find(p->pairs, "def"),
			  *base = pairs_find(p->pairs, "elsewhere"),
			  *flavor = pairs_find(p->pairs, "model_spec.argument");
	const char *behind = "", *family = NULL;
	const struct flavor *row;
	int line;

	base = base ? base : pairs_find(p->pairs, "base");
	if (config || base)
		def = config ? config : base;
	if (!flavor)
		flavor = pairs_find(p->pairs, "model.argument");
	line = flavor ? flavor->line : def ? def->line : 1;
	if (def)
		family = torchtitan_family(def->value, &behind);
	if (module)
		family = module->value;
	else if (!family && flavor)
		family = torchtitan_family(p->pairs->file, &behind);
	if (family && !python_set(p, "model.name", family, line))
		return false;
	if (flavor)
		return python_set(p, "model.flavor", flavor->value, line);
	if (!family || *behind != '_' || strstr(behind, "registry"))
		return true;
	row = torchtitan_flavor(family, behind + 1, true);
	return python_set(p, "model.flavor", row ? row->flavor : behind + 1, line);
}

static bool is_defined(const struct python *p, const char *name)
{
	char head[2 * PAIRS_MAX_KEY];

	snprintf(head, sizeof head, "def %.120s(", name);
	return strstr(p->start, head) != NULL;
}

/* What the configuration starts from stands in another file. */
static bool note_base(struct python *p)
{
	const struct pair *base = pairs_find(p->pairs, "base");

	return !base || pairs_find(p->pairs, "elsewhere") ||
	       is_defined(p, base->value) ||
	       python_set(p, "elsewhere", base->value, base->line);
}

/* Calls that say something by their name. */
static bool note_call(struct python *p, const char *name, int line)
{
	/* to_graph_trainer_config(qwen3_14b(), ...) starts from that one */
	if (is_flavored(name) &&
	    (!python_set(p, "base", name, line) ||
	     (!is_defined(p, name) && !python_set(p, "elsewhere", name, line))))
		return false;
	return (!strstr(name, "Trainer") || python_set(p, "trainer", name, line)) &&
	       (!strstr(name, "Float8") ||
		python_set(p, "model.converters", "float8", line)) &&
	       (!strstr(name, "MX") || python_set(p, "model.converters", "mx", line)) &&
	       (!strstr(name, "NVFP4") ||
		python_set(p, "model.converters", "nvfp4", line));
}

/* Only of these keys does what is called say something. Another network has none of
 * the transforms of the one before. */
static bool note_class(struct python *p, const char *key, const char *name, int line)
{
	struct pairs *pairs = p->pairs;

	if (is_flavored(name) && !is_defined(p, name) &&
	    !python_set(p, "elsewhere", name, line))
		return false;
	if (strcmp(key, "model_spec") == 0)
		for (int i = pairs->count - 1; i >= 0; i--)
			if (strcmp(pairs->item[i].key, "model.converters") == 0 ||
			    strncmp(pairs->item[i].key, "model_spec.", 11) == 0)
				pairs->item[i] = pairs->item[--pairs->count];
	return strcmp(key, "activation_checkpoint") != 0 ||
	       python_set(p, key, name, line);
}

bool torchtitan_is_python(const char *text)
{
	static const char *const signs[] = { "Trainer.Config(", "ParallelismConfig(",
					     "TrainingConfig(", "config.parallelism.",
					     "--parallelism.",  "--training.",
					     "\ndef ",          "Trainer.Config:" };

	for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
		if (strstr(text, signs[i]))
			return true;
	return false;
}

/* A file, and what of it is asked for. */
struct source {
	const char *file, *text;
	size_t length;
	const char *function; /* NULL: the only one */
};

/* The pieces of one file behind what the pairs hold already. */
static bool read_file(struct python *p, const struct source *source)
{
	struct registry pieces;
	bool good;

	p->start = source->text;
	good = registry_choose(&pieces, p->pairs->file, source->text, source->length,
			       source->function, p->error);
	for (int i = 0; good && i < pieces.count; i++)
		good = python_read(p, &pieces.piece[i]);
	p->stop = source->text + source->length;
	return good && note_base(p);
}

static void drop(struct pairs *pairs, const char *key)
{
	for (int i = pairs->count - 1; i >= 0; i--)
		if (strcmp(pairs->item[i].key, key) == 0) {
			pairs->count--;
			memmove(&pairs->item[i], &pairs->item[i + 1],
				(size_t)(pairs->count - i) * sizeof pairs->item[0]);
		}
}

/* What it starts from in a file beside this one comes before its own, however often
 * that starts from a further one. Errors of those name the call in this file. */
static bool read_with_base(struct python *p, const struct source *source, int depth)
{
	char path[NEIGHBOUR_MAX_PATH], name[PAIRS_MAX_KEY], file[sizeof p->pairs->file];
	const struct pair *elsewhere;
	struct source base = { path, NULL, 0, name };
	struct error *error = p->error;
	char *text;
	int line;
	bool good = read_file(p, source), whole;

	elsewhere = good ? pairs_find(p->pairs, "elsewhere") : NULL;
	if (!elsewhere || depth == 0)
		return good;
	snprintf(name, sizeof name, "%s", elsewhere->value);
	line = elsewhere->line;
	text = neighbour_read(source->file, source->text, name, path, &base.length);
	if (!text)
		return true;
	base.text = text;
	memcpy(file, p->pairs->file, sizeof file);
	pairs_free(p->pairs);
	pairs_begin(p->pairs, file);
	p->error =
		NULL; /* a file beside that can't be read is as one that is not there */
	whole = read_with_base(p, &base, depth - 1) &&
		!pairs_find(p->pairs, "elsewhere");
	for (int i = 0; i < p->pairs->count && whole; i++)
		p->pairs->item[i].line = line;
	if (!whole) {
		pairs_free(p->pairs);
		pairs_begin(p->pairs, file);
	}
	p->error = error;
	free(text);
	good = read_file(p, source);
	if (whole)
		drop(p->pairs, "elsewhere");
	return good;
}

bool pairs_from_python(struct pairs *out, const char *file, const char *text,
		       size_t length, const char *function, struct error *error)
{
	enum { MOST_FILES = 4 };
	struct source source = { file, text, length, function };
	struct python p = {
		.pairs = out, .error = error, .call = note_call, .assigned = note_class
	};

	pairs_begin(out, file);
	if (read_with_base(&p, &source, MOST_FILES) && translate_batch(&p) &&
	    translate_recompute(&p) && translate_model(&p))
		return true;
	pairs_free(out);
	return false;
}
