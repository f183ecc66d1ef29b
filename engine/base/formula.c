/* formula.c - reads and computes a formula in one pass; see formula.h. */
#include "engine/base/formula.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

struct reader {
	const char *text, *at;
	const struct formula_symbol *symbols;
	int count, depth;
	const struct formula_names *names; /* instead of symbols; may be NULL */
	struct formula_fault *fault;
	bool failed;
};

static double read_whole(struct reader *r);

static double fail(struct reader *r, const char *reason)
{
	if (!r->failed && r->fault) {
		r->fault->reason = reason;
		r->fault->at = (int)(r->at - r->text);
	}
	r->failed = true;
	return 0;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void skip_blanks(struct reader *r)
{
	while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n')
		r->at++;
}

static bool take(struct reader *r, const char *sign)
{
	size_t length = strlen(sign);

	skip_blanks(r);
	if (strncmp(r->at, sign, length) != 0)
		return false;
	r->at += length;
	return true;
}

static double read_digits(struct reader *r, double value, int *places)
{
	while (is_digit(*r->at)) {
		value = value * 10 + (*r->at++ - '0');
		*places += 1;
	}
	return value;
}

/* 12, 0.5, 1e-6: as C writes them, whatever the locale's decimal sign. */
static double read_number(struct reader *r)
{
	int whole = 0, behind = 0, places = 0;
	double value = read_digits(r, 0, &whole), power;

	if (*r->at == '.') {
		r->at++;
		value = read_digits(r, value, &behind);
	}
	if (whole + behind == 0)
		return fail(r, "expected a number, a symbol or (");
	if (*r->at == 'e' || *r->at == 'E') {
		bool down = r->at[1] == '-';

		r->at += 1 + (down || r->at[1] == '+');
		power = read_digits(r, 0, &places);
		if (places == 0)
			return fail(r, "expected the digits of a power of ten");
		return value * pow(10, (down ? -power : power) - behind);
	}
	return value / pow(10, behind);
}

static bool is_name(const struct reader *r)
{
	return is_letter(r->at[0]) || is_digit(r->at[0]) ||
	       (r->names && r->at[0] == '.' &&
		(is_letter(r->at[1]) || is_digit(r->at[1])));
}

/* A name, cut off where it is longer than any may be. */
static void read_name(struct reader *r, char name[FORMULA_MAX_NAME + 1])
{
	int length = 0, most = r->names ? FORMULA_MAX_NAME : FORMULA_MAX_SYMBOL;

	while (is_name(r)) {
		if (length < most)
			name[length++] = *r->at;
		else
			fail(r, r->names ? "a name has at most 63 letters"
					 : "a symbol has at most 31 letters");
		r->at++;
	}
	name[length] = '\0';
}

static double read_symbol(struct reader *r, const char *name)
{
	double value;

	if (r->names && r->names->find(r->names->context, name, &value))
		return value;
	for (int i = 0; i < r->count; i++)
		if (strcmp(r->symbols[i].name, name) == 0)
			return r->symbols[i].value;
	r->at -= strlen(name);
	return fail(r, "no such symbol");
}

enum { MAX_ARGUMENTS = 8 };

struct function {
	const char *name;
	int least, most; /* arguments */
	double (*call)(const double *argument, int count);
};

static double call_min(const double *argument, int count)
{
	double value = argument[0];

	for (int i = 1; i < count; i++)
		value = lesser(value, argument[i]);
	return value;
}

static double call_max(const double *argument, int count)
{
	double value = argument[0];

	for (int i = 1; i < count; i++)
		value = larger(value, argument[i]);
	return value;
}

static double call_ceil(const double *argument, int count)
{
	(void)count;
	return ceil(argument[0]);
}

static double call_floor(const double *argument, int count)
{
	(void)count;
	return floor(argument[0]);
}

static double call_sqrt(const double *argument, int count)
{
	(void)count;
	return sqrt(argument[0]);
}

static double call_exp(const double *argument, int count)
{
	(void)count;
	return exp(argument[0]);
}

static double call_ln(const double *argument, int count)
{
	(void)count;
	return log(argument[0]);
}

static double call_if(const double *argument, int count)
{
	(void)count;
	return argument[0] != 0 ? argument[1] : argument[2];
}

static const struct function functions[] = {
	{ "min", 2, MAX_ARGUMENTS, call_min },
	{ "max", 2, MAX_ARGUMENTS, call_max },
	{ "ceil", 1, 1, call_ceil },
	{ "floor", 1, 1, call_floor },
	{ "sqrt", 1, 1, call_sqrt },
	{ "exp", 1, 1, call_exp },
	{ "ln", 1, 1, call_ln },
	{ "if", 3, 3, call_if },
};

static const struct function *find_function(const char *name)
{
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
		if (strcmp(functions[i].name, name) == 0)
			return &functions[i];
	return NULL;
}

static double read_call(struct reader *r, const char *name)
{
	const struct function *function = find_function(name);
	double argument[MAX_ARGUMENTS] = { 0 };
	int count = 0;

	if (!function)
		return fail(r, "no such function; there are min, max, ceil, floor, "
			       "sqrt, exp, ln and if");
	do {
		double value = read_whole(r);

		if (count == function->most)
			return fail(r, "too many arguments");
		argument[count++] = value;
	} while (!r->failed && take(r, ","));
	if (!r->failed && !take(r, ")"))
		return fail(r, "expected , or )");
	if (!r->failed && count < function->least)
		return fail(r, "too few arguments");
	return r->failed ? 0 : function->call(argument, count);
}

static double read_primary(struct reader *r)
{
	char name[FORMULA_MAX_NAME + 1];
	double value;

	skip_blanks(r);
	if (is_letter(*r->at)) {
		read_name(r, name);
		if (r->failed)
			return 0;
		return take(r, "(") ? read_call(r, name) : read_symbol(r, name);
	}
	if (!take(r, "("))
		return read_number(r);
	value = read_whole(r);
	if (!r->failed && !take(r, ")"))
		return fail(r, "expected )");
	return value;
}

static double read_signed(struct reader *r)
{
	bool minus = false;

	while (take(r, "-"))
		minus = !minus;
	return minus ? -read_primary(r) : read_primary(r);
}

static double read_product(struct reader *r)
{
	double value = read_signed(r);

	while (!r->failed) {
		if (take(r, "*"))
			value *= read_signed(r);
		else if (take(r, "/"))
			value /= read_signed(r);
		else
			break;
	}
	return value;
}

static double read_sum(struct reader *r)
{
	double value = read_product(r);

	while (!r->failed) {
		if (take(r, "+"))
			value += read_product(r);
		else if (take(r, "-"))
			value -= read_product(r);
		else
			break;
	}
	return value;
}

static double read_comparison(struct reader *r)
{
	double value = read_sum(r);

	if (r->failed)
		return value;
	/* the longer sign first */
	if (take(r, "<="))
		return value <= read_sum(r);
	if (take(r, ">="))
		return value >= read_sum(r);
	if (take(r, "=="))
		return value == read_sum(r);
	if (take(r, "!="))
		return value != read_sum(r);
	if (take(r, "<"))
		return value < read_sum(r);
	if (take(r, ">"))
		return value > read_sum(r);
	return value;
}

/* Where names are looked up `and` and `or` are no names. */
static bool take_join(struct reader *r, const char *word)
{
	size_t length = strlen(word);

	skip_blanks(r);
	if (!r->names || strncmp(r->at, word, length) != 0 ||
	    is_letter(r->at[length]) || is_digit(r->at[length]))
		return false;
	r->at += length;
	return true;
}

static double read_both(struct reader *r)
{
	double value = read_comparison(r);

	while (!r->failed && take_join(r, "and")) {
		double other = read_comparison(r);

		value = value != 0 && other != 0;
	}
	return value;
}

static double read_whole(struct reader *r)
{
	double value;

	if (++r->depth > FORMULA_MAX_DEPTH)
		return fail(r, "nested deeper than 32 levels");
	value = read_both(r);
	while (!r->failed && take_join(r, "or")) {
		double other = read_both(r);

		value = value != 0 || other != 0;
	}
	r->depth--;
	return value;
}

static bool read_all(struct reader *r, double *value)
{
	*value = read_whole(r);
	skip_blanks(r);
	if (!r->failed && *r->at != '\0')
		fail(r, "expected an operator");
	if (!r->failed && !isfinite(*value))
		fail(r, "the result is not finite");
	return !r->failed;
}

bool formula_evaluate(const char *text, const struct formula_symbol *symbols, int count,
		      double *value, struct formula_fault *fault)
{
	struct reader r = { .text = text,
			    .at = text,
			    .symbols = symbols,
			    .count = count,
			    .fault = fault };

	return read_all(&r, value);
}

bool formula_compute(const char *text, const struct formula_names *names, double *value,
		     struct formula_fault *fault)
{
	struct reader r = { .text = text, .at = text, .names = names, .fault = fault };

	return read_all(&r, value);
}

/* Length of the name or number that stands here, 0 if neither does. */
static size_t word_length(const char *text)
{
	size_t length = 0;

	while (is_letter(text[length]) || is_digit(text[length]))
		length++;
	return length;
}

bool formula_uses(const char *text, const char *symbol)
{
	size_t wanted = strlen(symbol);

	while (*text) {
		size_t length = word_length(text);

		if (length == wanted && strncmp(text, symbol, length) == 0)
			return true;
		text += length > 0 ? length : 1;
	}
	return false;
}

/* How many characters of the text belong together: a word, <= and the like, or one. */
static size_t token_length(const char *text)
{
	size_t length = word_length(text);

	/* the sign of a power of ten: 1e-9 */
	if (length > 1 && is_digit(text[0]) && text[length - 1] == 'e' &&
	    strchr("+-", text[length]) && is_digit(text[length + 1]))
		length += 1 + word_length(text + length + 1);
	if (length > 0)
		return length;
	return strchr("<>=!", *text) && text[1] == '=' ? 2 : 1;
}

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(text, word, length) == 0;
}

struct writer {
	char *out;
	size_t used;
	bool fits;
};

static void put(struct writer *w, const char *text, size_t length)
{
	if (w->used + length >= FORMULA_MAX_TEXT) {
		w->fits = false;
		return;
	}
	memcpy(w->out + w->used, text, length);
	w->used += length;
	w->out[w->used] = '\0';
}

/* Blanks stand around what joins two values, and behind commas; nowhere else, however
 * the source file was formatted. */
bool formula_words(const char *text, char out[FORMULA_MAX_TEXT])
{
	struct writer w = { out, 0, true };
	bool value = false; /* stands before this */

	out[0] = '\0';
	while (*text) {
		size_t length = token_length(text);
		bool joins = value && strchr("+-*/<>=!", *text);

		if (strchr(" \t\n", *text)) {
			text++;
			continue;
		}
		put(&w, " ", joins);
		if (is_word(text, length, "either"))
			put(&w, "if", 2);
		else
			put(&w, text, length);
		put(&w, " ", joins || *text == ',');
		value = *text == ')' || word_length(text) > 0 || *text == '.';
		text += length;
	}
	return w.fits;
}
