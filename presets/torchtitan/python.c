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

#include "presets/torchtitan/registry.h"

enum { MAX_CALLS = 32 };

struct python {
	struct pairs *pairs;
	const char *start, *at, *stop;
	int line;
	struct error *error;
	char prefix[PAIRS_MAX_KEY]; /* "parallelism." inside parallelism=...( */
	size_t length[MAX_CALLS];   /* of the prefix outside each open bracket */
	int depth;
};

static int place(const struct python *p)
{
	return pairs_place(p->start, p->at, p->line);
}

static void skip_blanks(struct python *p, bool lines)
{
	while (p->at < p->stop) {
		if (*p->at == '#')
			while (p->at < p->stop && *p->at != '\n')
				p->at++;
		else if (*p->at == '\\' && p->at + 1 < p->stop && p->at[1] == '\n')
			p->at++;
		else if (*p->at == ' ' || *p->at == '\t' || *p->at == '\r' ||
			 (*p->at == '\n' && (lines || p->at[-1] == '\\'))) {
			p->line += *p->at == '\n';
			p->at++;
		} else {
			return;
		}
	}
}

/* The same key later in the file wins. */
static bool set(struct python *p, const char *key, const char *value, int line)
{
	struct pairs *pairs = p->pairs;

	if (!pairs_add(pairs, key, value, line, p->error))
		return false;
	for (int i = 0; i + 1 < pairs->count; i++)
		if (strcmp(pairs->item[i].key, key) == 0) {
			pairs->item[i] = pairs->item[--pairs->count];
			break;
		}
	return true;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* "a.b.c", with dashes where it is a flag. */
static void read_name(struct python *p, bool flag, char *out, size_t size)
{
	size_t used = 0;

	while (p->at < p->stop && (is_name(*p->at) || (flag && *p->at == '-'))) {
		char c = *p->at++;

		if (used < size - 1)
			out[used++] = c == '-' ? '_' : c;
	}
	out[used] = '\0';
}

static void read_string(struct python *p, char *out, size_t size)
{
	char quote = *p->at++;
	bool triple = p->stop - p->at >= 2 && p->at[0] == quote && p->at[1] == quote;
	size_t used = 0;

	p->at += triple ? 2 : 0;
	while (p->at < p->stop) {
		char c = *p->at++;

		if (c == quote &&
		    (!triple || (p->stop - p->at >= 2 && p->at[0] == quote &&
				 p->at[1] == quote))) {
			p->at += triple ? 2 : 0;
			break;
		}
		p->line += c == '\n';
		if (c == '\n' && !triple)
			break;
		if (c == '\\' && p->at < p->stop)
			c = *p->at++;
		if (used < size - 1)
			out[used++] = c;
	}
	out[used] = '\0';
}

/* "8 * 2048" and "1_000" become a number; what is none stays text. */
static void multiply(char *text, size_t size)
{
	long long product = 1;
	char plain[64];
	size_t used = 0;

	for (const char *c = text; *c != '\0'; c++) {
		if (*c == '_' || *c == ' ')
			continue;
		if (used == sizeof plain - 1)
			return;
		plain[used++] = *c;
	}
	plain[used] = '\0';
	for (const char *at = plain;;) {
		char *end;
		long long factor = strtoll(at, &end, 10);

		if (end == at || (*end != '*' && *end != '\0') ||
		    __builtin_mul_overflow(product, factor, &product))
			return;
		if (*end == '\0')
			break;
		at = end + 1;
	}
	snprintf(text, size, "%lld", product);
}

/* Up to a comma, a bracket that closes, or the end of a line outside brackets. */
static void read_literal(struct python *p, char *out, size_t size)
{
	size_t used = 0;

	while (p->at < p->stop && !strchr(",)]}#\n", *p->at)) {
		char c = *p->at++;

		if (used < size - 1)
			out[used++] = c;
	}
	while (used > 0 && isspace((unsigned char)out[used - 1]))
		used--;
	out[used] = '\0';
	multiply(out, size);
	if (strcmp(out, "True") == 0)
		snprintf(out, size, "true");
	if (strcmp(out, "False") == 0)
		snprintf(out, size, "false");
}

static bool open_bracket(struct python *p, const char *section)
{
	size_t used = strlen(p->prefix);

	if (p->depth == MAX_CALLS)
		return error_set(p->error, p->pairs->file, place(p),
				 "brackets deeper than %d levels", MAX_CALLS);
	p->length[p->depth++] = used;
	if (section[0] != '\0')
		snprintf(p->prefix + used, sizeof p->prefix - used, "%s.", section);
	p->at++;
	return true;
}

static void close_bracket(struct python *p)
{
	if (p->depth > 0)
		p->prefix[p->length[--p->depth]] = '\0';
	p->at++;
}

/* Outside brackets the configuration's own variable comes first: config.training.x. */
static const char *own_key(const struct python *p, const char *name)
{
	static const char *const variables[] = { "config.", "cfg.", "c." };

	for (size_t i = 0; p->depth == 0 && i < 3; i++)
		if (strncmp(name, variables[i], strlen(variables[i])) == 0)
			return name + strlen(variables[i]);
	return name;
}

static bool is_own(const char *name)
{
	return strcmp(name, "config") == 0 || strcmp(name, "cfg") == 0 ||
	       strcmp(name, "c") == 0;
}

/* What stands behind "name =": a string, a literal, or a call, whose own arguments are
 * read next under this name. */
static bool read_value(struct python *p, const char *name)
{
	char key[2 * PAIRS_MAX_KEY], value[512] = "";
	int line = place(p);

	snprintf(key, sizeof key, "%s%s", p->prefix, own_key(p, name));
	skip_blanks(p, p->depth > 0);
	if (p->at == p->stop)
		return true;
	if (*p->at == '"' || *p->at == '\'') {
		read_string(p, value, sizeof value);
		return set(p, key, value, line);
	}
	if (isalpha((unsigned char)*p->at)) {
		const char *from = p->at;

		read_name(p, false, value, sizeof value);
		if (p->at < p->stop && *p->at == '(') {
			if (p->depth == 0 && is_own(name) &&
			    !set(p, "base", value, line))
				return false;
			if (strlen(value) > 7 &&
			    strcmp(value + strlen(value) - 7, ".Config") == 0)
				value[strlen(value) - 7] = '\0';
			/* only of this one does the class say something */
			return (strcmp(key, "activation_checkpoint") != 0 ||
				set(p, key, value, line)) &&
			       open_bracket(p, own_key(p, name));
		}
		p->at = from;
	}
	if (*p->at == '[' || *p->at == '{')
		return open_bracket(p, own_key(p, name));
	read_literal(p, value, sizeof value);
	return value[0] == '\0' || set(p, key, value, line);
}

/* "--training.seq_len 8192", "--training.seq-len=8192", "--compile.enable". */
static bool read_flag(struct python *p)
{
	char name[PAIRS_MAX_KEY], value[512] = "true";
	int line = place(p);

	p->at += 2;
	read_name(p, true, name, sizeof name);
	if (p->at < p->stop && *p->at == '=')
		p->at++;
	else
		skip_blanks(p, false);
	if (p->at < p->stop && (*p->at == '"' || *p->at == '\'')) {
		read_string(p, value, sizeof value);
	} else if (p->at < p->stop && *p->at != '\n' &&
		   (*p->at != '-' ||
		    (p->at + 1 < p->stop && isdigit((unsigned char)p->at[1])))) {
		size_t used = 0;

		for (; p->at < p->stop && !isspace((unsigned char)*p->at); p->at++)
			if (used < sizeof value - 1)
				value[used++] = *p->at;
		value[used] = '\0';
	}
	if (strcmp(value, "True") == 0 || strcmp(value, "False") == 0)
		value[0] = (char)tolower((unsigned char)value[0]);
	return name[0] == '\0' || set(p, name, value, line);
}

/* "qwen3_14b": a configuration of torchtitan's own, by its model and flavor. */
static bool is_flavored(const char *name)
{
	for (const struct flavor *row = torchtitan_flavors; row->model; row++) {
		size_t length = strlen(row->name);

		if (strncmp(name, row->name, length) == 0 && name[length] == '_' &&
		    !strchr(name, '.') && !strstr(name, "registry"))
			return true;
	}
	return false;
}

/* A name: of a function, of an argument with its value, of a call, or nothing here. */
static bool read_word(struct python *p)
{
	char name[PAIRS_MAX_KEY];
	int line = place(p);

	read_name(p, false, name, sizeof name);
	if (strcmp(name, "def") == 0) {
		skip_blanks(p, false);
		read_name(p, false, name, sizeof name);
		return set(p, "def", name, line);
	}
	skip_blanks(p, false);
	if (p->at < p->stop && *p->at == '(') {
		/* to_graph_trainer_config(qwen3_14b(), ...) starts from that one */
		if (is_flavored(name) && !set(p, "base", name, line))
			return false;
		if (strstr(name, "Trainer") && !set(p, "trainer", name, line))
			return false;
		if (strstr(name, "Float8") &&
		    !set(p, "model.converters", "float8", line))
			return false;
		if (strstr(name, "MX") && !set(p, "model.converters", "mx", line))
			return false;
		return open_bracket(p, "");
	}
	if (p->stop - p->at < 2 || *p->at != '=' || p->at[1] == '=')
		return true;
	p->at++;
	return read_value(p, name);
}

static bool read_all(struct python *p)
{
	char text[512];

	while (p->at < p->stop) {
		char c = *p->at;

		if (c == '"' || c == '\'') {
			char key[PAIRS_MAX_KEY + 8];
			int line = place(p);

			/* model_registry("70B") */
			read_string(p, text, sizeof text);
			snprintf(key, sizeof key, "%sargument", p->prefix);
			if (p->prefix[0] != '\0' && !set(p, key, text, line))
				return false;
		} else if (c == '-' && p->stop - p->at > 2 && p->at[1] == '-' &&
			   isalpha((unsigned char)p->at[2])) {
			if (!read_flag(p))
				return false;
		} else if (isalpha((unsigned char)c) || c == '_') {
			if (!read_word(p))
				return false;
		} else if (c == '(' || c == '[' || c == '{') {
			if (!open_bracket(p, ""))
				return false;
		} else if (c == ')' || c == ']' || c == '}') {
			close_bracket(p);
		} else if (c == '#') {
			skip_blanks(p, false);
		} else {
			p->line += c == '\n';
			p->at++;
		}
	}
	return true;
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
	return set(p, key, text, pair ? pair->line : 0);
}

/* Tokens become sequences. */
static bool translate_batch(struct python *p)
{
	static const char micro[] = "training.num_tokens_per_microbatch_per_dp_rank",
			  step[] = "training.num_tokens_per_train_step",
			  length[] = "training.max_context_length",
			  parts[] = "parallelism.num_pp_microbatches";
	long long context = count_of(p, length, 0), tokens = count_of(p, micro, 0);
	long long all = count_of(p, step, 0), chunks = count_of(p, parts, 1);
	long long each = context > 0 && tokens >= context ? tokens / context : 1;

	if (pairs_find(p->pairs, micro) && tokens < 1)
		return error_set(p->error, p->pairs->file,
				 pairs_find(p->pairs, micro)->line,
				 "%s is '%.40s'; expected a whole number", micro,
				 pairs_find(p->pairs, micro)->value);
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
		return set(p, "activation_checkpoint.mode", "selective", line) &&
		       set(p, "activation_checkpoint.selective_ac_option", "op", line);
	if (strstr(call->value, "FullAC"))
		return set(p, "activation_checkpoint.mode", "full", line);
	return strcmp(call->value, "None") != 0 ||
	       set(p, "activation_checkpoint.mode", "none", line);
}

/* "30B-A3B" of the flavor qwen3_30b_a3b. */
static bool same_flavor(const char *name, const char *flavor)
{
	while (*name != '\0' &&
	       (tolower((unsigned char)*name) == tolower((unsigned char)*flavor) ||
		(*name == '_' && *flavor == '-'))) {
		name++;
		flavor++;
	}
	return *name == *flavor;
}

/* Functions are called after model and flavor: llama3_70b. The one that is called to
 * begin with says more than the one that is written. */
static bool translate_model(struct python *p)
{
	const struct pair *module = pairs_find(p->pairs, "module"),
			  *config = pairs_find(p->pairs, "config"),
			  *def = pairs_find(p->pairs, "def"),
			  *base = pairs_find(p->pairs, "base"),
			  *flavor = pairs_find(p->pairs, "model_spec.argument");
	const char *other = NULL;
	bool known = false;
	char name[64];

	if (config || base)
		def = config ? config : base;
	if (!flavor)
		flavor = pairs_find(p->pairs, "model.argument");
	if (module && !set(p, "model.name", module->value, module->line))
		return false;
	if (flavor && !set(p, "model.flavor", flavor->value, flavor->line))
		return false;
	for (const struct flavor *row = torchtitan_flavors; def && row->model; row++) {
		size_t length = strlen(row->name);
		const char *at = strstr(def->value, row->name);

		if (!at || at[length] != '_' || (at > def->value && at[-1] != '_'))
			continue;
		snprintf(name, sizeof name, "%s", row->name);
		if (!module && !set(p, "model.name", name, def->line))
			return false;
		if (flavor)
			continue;
		other = other ? other : at + length + 1;
		known = known || same_flavor(at + length + 1, row->flavor);
		if (same_flavor(at + length + 1, row->flavor) &&
		    !set(p, "model.flavor", row->flavor, def->line))
			return false;
	}
	/* a flavor that the library lacks, as "debugmodel" */
	if (other && !known && !strstr(other, "registry"))
		return set(p, "model.flavor", other, def->line);
	return true;
}

/* What the configuration starts from stands in another file. */
static bool note_base(struct python *p)
{
	const struct pair *base = pairs_find(p->pairs, "base");
	char head[2 * PAIRS_MAX_KEY];

	if (!base)
		return true;
	snprintf(head, sizeof head, "def %.120s(", base->value);
	return memmem(p->start, (size_t)(p->stop - p->start), head, strlen(head)) ||
	       set(p, "elsewhere", base->value, base->line);
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

bool pairs_from_python(struct pairs *out, const char *file, const char *text,
		       size_t length, const char *function, struct error *error)
{
	struct registry pieces;
	struct python p = { .pairs = out,
			    .start = text,
			    .at = text,
			    .stop = text + length,
			    .line = 1,
			    .error = error };

	bool good;

	pairs_begin(out, file);
	good = registry_choose(&pieces, out->file, text, length, function, error);
	for (int i = 0; good && i < pieces.count; i++) {
		p.at = pieces.piece[i].at;
		p.stop = pieces.piece[i].stop;
		p.line = pieces.piece[i].line;
		p.prefix[0] = '\0';
		p.depth = 0;
		good = read_all(&p);
	}
	p.stop = text + length;
	if (good && note_base(&p) && translate_batch(&p) && translate_recompute(&p) &&
	    translate_model(&p))
		return true;
	pairs_free(out);
	return false;
}
