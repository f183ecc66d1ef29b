/* split_layout.c - Megatron's pipeline layout string: E embedding, t layer, m MTP
 * layer, L head and loss, '|' between stages, "x*n" and "(...)*n" repeat, commas
 * and blanks only for the eye (megatron/training/arguments.py,
 * --pipeline-model-parallel-layout). */
#include "engine/plan/split_layout.h"

#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 4, MAX_STEPS = 20000, MAX_REPEAT = 10000 };

struct parser {
	const char *text;
	int at, steps;
	int from; /* where what is being read begins: a symbol, a bracket, a number */
	struct layout *out;
	char *why;
	int size;
};

static bool fail(struct parser *p, const char *what)
{
	p->out->fault = p->from + 1;
	snprintf(p->why, (size_t)p->size, "%s at character %d", what, p->from + 1);
	return false;
}

static bool put_single(struct parser *p, int16_t *stage, const char *twice)
{
	if (*stage >= 0)
		return fail(p, twice);
	*stage = (int16_t)(p->out->stages - 1);
	return true;
}

static bool put_mtp(struct parser *p)
{
	struct layout *out = p->out;

	if (out->mtp_stage >= 0 && out->mtp_stage != out->stages - 1)
		return fail(p, "MTP layers (m) on two stages");
	out->mtp_stage = (int16_t)(out->stages - 1);
	out->mtp_layers++;
	return true;
}

static bool put_symbol(struct parser *p, char symbol)
{
	struct layout *out = p->out;

	if (++p->steps > MAX_STEPS)
		return fail(p, "too many layers and stages");
	if (out->head_stage >= 0)
		return fail(p, "something follows the loss (L)");
	switch (symbol) {
	case '|':
		if (out->stages == MAX_VIRTUAL)
			return fail(p, "too many stages");
		out->layers[out->stages++] = 0;
		return true;
	case 't':
		if (out->mtp_stage >= 0)
			return fail(p, "a layer (t) follows an MTP layer (m)");
		if (++out->total > MAX_LAYERS)
			return fail(p, "too many layers");
		out->layers[out->stages - 1]++;
		return true;
	case 'E':
		if (out->total > 0 || out->stages > 1)
			return fail(p, "the embedding (E) is not first");
		return put_single(p, &out->embedding_stage, "a second embedding (E)");
	case 'm': return put_mtp(p);
	default: return put_single(p, &out->head_stage, "a second loss (L)");
	}
}

static void skip_blanks(struct parser *p)
{
	while (p->text[p->at] == ',' || p->text[p->at] == ' ')
		p->at++;
}

/* Read "*n" if it is there; 0 with the reason set on a bad count. */
static int read_repeat(struct parser *p)
{
	int count = 0, digits = 0, from = p->from;

	skip_blanks(p);
	if (p->text[p->at] != '*')
		return 1;
	p->at++;
	skip_blanks(p);
	p->from = p->at;
	for (; p->text[p->at] >= '0' && p->text[p->at] <= '9'; p->at++, digits++)
		if (count <= MAX_REPEAT)
			count = count * 10 + (p->text[p->at] - '0');
	if (digits == 0 || count == 0 || count > MAX_REPEAT) {
		fail(p, digits == 0  ? "a number is missing behind *"
			: count == 0 ? "repeated 0 times"
				     : "repeated too often");
		return 0;
	}
	p->from = from;
	return count;
}

/* strchr() would do, but this runs inside every estimate. */
static bool is_symbol(char c)
{
	return c == 't' || c == '|' || c == 'E' || c == 'm' || c == 'L';
}

static bool parse_symbol(struct parser *p)
{
	char symbol = p->text[p->at];
	int count;

	if (!is_symbol(symbol))
		return fail(p, "not one of E t m L | ( ) * and a number");
	p->at++;
	/* mostly another symbol follows */
	if (p->text[p->at] == 't' || p->text[p->at] == '|')
		return put_symbol(p, symbol);
	count = read_repeat(p);
	for (int i = 0; i < count; i++)
		if (!put_symbol(p, symbol))
			return false;
	return count > 0;
}

/* A bracket that is open: where its inside starts and how often it still runs,
 * -1 until the count behind it has been read. */
struct bracket {
	int start, left;
};

static bool close_bracket(struct parser *p, struct bracket *open, int *depth)
{
	struct bracket *b;
	int count;

	if (*depth == 0)
		return fail(p, "a bracket closes that was not opened");
	b = &open[*depth - 1];
	p->at++;
	count = read_repeat(p);
	if (count == 0)
		return false;
	if (b->left < 0)
		b->left = count;
	if (++p->steps > MAX_STEPS)
		return fail(p, "too many layers and stages");
	if (--b->left > 0)
		p->at = b->start;
	else
		--*depth;
	return true;
}

static bool parse_layout(struct parser *p)
{
	struct bracket open[MAX_DEPTH];
	int depth = 0;

	for (skip_blanks(p); p->text[p->at]; skip_blanks(p)) {
		char symbol = p->text[p->at];

		p->from = p->at;
		if (symbol == '(') {
			if (depth == MAX_DEPTH)
				return fail(p, "brackets nested too deep");
			open[depth++] = (struct bracket){ ++p->at, -1 };
		} else if (symbol == ')') {
			if (!close_bracket(p, open, &depth))
				return false;
		} else if (!parse_symbol(p)) {
			return false;
		}
	}
	p->from = p->at;
	if (depth > 0)
		return fail(p, "a bracket is not closed");
	return true;
}

bool layout_parse(const char *text, struct layout *out, char *why, int size)
{
	struct parser p = { .text = text, .out = out, .why = why, .size = size };

	out->stages = 1;
	out->layers[0] = 0;
	out->total = out->mtp_layers = out->fault = 0;
	out->embedding_stage = out->head_stage = out->mtp_stage = -1;
	if (size > 0)
		why[0] = '\0';
	if (!parse_layout(&p))
		return false;
	if (out->embedding_stage < 0)
		return fail(&p, "the embedding (E) is missing");
	if (out->head_stage < 0)
		return fail(&p, "the loss (L) is missing");
	return true;
}

int split_parse_layout(const char *layout, int16_t *counts, char *why, int size)
{
	struct layout parsed;

	if (!layout_parse(layout, &parsed, why, size))
		return -1;
	memcpy(counts, parsed.layers, (size_t)parsed.stages * sizeof *counts);
	return parsed.stages;
}

void split_layout_facts(const char *layout, struct layout_facts *out)
{
	struct layout parsed;
	bool read = layout_parse(layout, &parsed, NULL, 0);

	out->stages = read ? parsed.stages : -1;
	out->layers = parsed.total;
	out->fault = parsed.fault;
}

struct writer {
	char *out;
	int size, used;
};

static void write_text(struct writer *w, const char *text)
{
	int length = (int)strlen(text);

	if (w->used + length < w->size)
		memcpy(w->out + w->used, text, (size_t)length + 1);
	w->used += length;
}

static void write_repeated(struct writer *w, const char *what, int count)
{
	char text[32];

	if (count > 1)
		snprintf(text, sizeof text, "%s*%d", what, count);
	else
		snprintf(text, sizeof text, "%s", count == 1 ? what : "");
	write_text(w, text);
}

/* A stage of layers alone. The last one is none: the head is there. */
static bool plain(const struct split *split, int k)
{
	return k != split->embedding_stage && k != split->head_stage &&
	       k != split->mtp_stage;
}

static int layers_of(const struct split *split, int k)
{
	return split->first[k + 1] - split->first[k];
}

/* Equal plain stages from k on as "(t*2|)*n"; returns how many. */
static int write_run(struct writer *w, const struct split *split, int k)
{
	int n = 1;

	while (plain(split, k + n) && layers_of(split, k + n) == layers_of(split, k))
		n++;
	if (n > 1)
		write_text(w, "(");
	write_repeated(w, "t", layers_of(split, k));
	write_text(w, n > 1 ? "|)" : "|");
	if (n > 1) {
		char text[16];

		snprintf(text, sizeof text, "*%d,", n);
		write_text(w, text);
	}
	return n;
}

static void write_special(struct writer *w, const struct scenario *scenario,
			  const struct split *split, int k)
{
	if (k == split->embedding_stage)
		write_text(w, "E");
	write_repeated(w, "t", layers_of(split, k));
	if (k == split->mtp_stage)
		write_repeated(w, "m", (int)scenario->model.mtp_layers);
	write_text(w, k == split->head_stage ? "L" : "");
	write_text(w, k + 1 < split->virtual_stages ? "|" : "");
}

bool split_layout(const struct scenario *scenario, const struct split *split, char *out,
		  int size)
{
	struct writer w = { .out = out, .size = size };

	if (size < 1)
		return false;
	out[0] = '\0';
	for (int k = 0; k < split->virtual_stages;) {
		if (plain(split, k)) {
			k += write_run(&w, split, k);
		} else {
			write_special(&w, scenario, split, k);
			k++;
		}
	}
	if (w.used < size)
		return true;
	out[0] = '\0';
	return false;
}
