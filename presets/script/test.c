/* test.c - what a test of a launch script comes to, where words and numbers tell. */
#include <stdlib.h>
#include <string.h>

#include "presets/script/words.h"

bool shell_matches(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL; /* the last *, and where it ends */

	while (*text != '\0') {
		if (*pattern == '*') {
			star = pattern++;
			from = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++from;
		} else {
			return false;
		}
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

/* The words of a test, and how far it is read. */
struct test {
	const struct shell_word *word;
	int at, count, depth;
	bool broken;
	bool patterns; /* [[ ]], whose == takes them */
};

static enum truth known(bool value)
{
	return value ? TRUTH_YES : TRUTH_NO;
}

static enum truth opposite(enum truth a)
{
	return a == TRUTH_UNKNOWN ? a : known(a == TRUTH_NO);
}

static enum truth both(enum truth a, enum truth b)
{
	if (a == TRUTH_NO || b == TRUTH_NO)
		return TRUTH_NO;
	return a == TRUTH_YES ? b : a;
}

static const char *peek(const struct test *t)
{
	return t->at < t->count ? t->word[t->at].text : "";
}

static bool is_binary(const char *word)
{
	static const char *const names[] = { "=",   "==",  "!=",  "=~",  "-eq", "-ne",
					     "-lt", "-le", "-gt", "-ge", "<",   ">" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], word) == 0)
			return true;
	return false;
}

static enum truth numbers(const struct shell_word *left, const char *op,
			  const struct shell_word *right)
{
	char *end_left, *end_right;
	long long a = strtoll(left->text, &end_left, 10);
	long long b = strtoll(right->text, &end_right, 10);

	if (left->unknown || right->unknown)
		return TRUTH_UNKNOWN;
	if (end_left == left->text || end_right == right->text || *end_left != '\0' ||
	    *end_right != '\0')
		return TRUTH_NO; /* "integer expression expected" */
	switch (op[1] * 256 + op[2]) {
	case 'e' * 256 + 'q': return known(a == b);
	case 'n' * 256 + 'e': return known(a != b);
	case 'l' * 256 + 't': return known(a < b);
	case 'l' * 256 + 'e': return known(a <= b);
	case 'g' * 256 + 't': return known(a > b);
	default: return known(a >= b);
	}
}

/* ".*base.*" and "base" of =~ are words looked for; other expressions are not read. */
enum truth shell_regular(const char *text, const char *expression)
{
	static const char special[] = "\\^$.*+?()[]{}|";
	char word[256];
	size_t length;

	expression += strncmp(expression, ".*", 2) == 0 ? 2 : 0;
	length = strcspn(expression, special);
	if (length >= sizeof word ||
	    (expression[length] != '\0' && strcmp(expression + length, ".*") != 0))
		return TRUTH_UNKNOWN;
	memcpy(word, expression, length);
	word[length] = '\0';
	return known(strstr(text, word) != NULL);
}

static enum truth compared(const struct test *t, const struct shell_word *left,
			   const char *op, const struct shell_word *right)
{
	enum truth same;

	if (op[0] == '-')
		return numbers(left, op, right);
	if (left->unknown || right->unknown)
		return TRUTH_UNKNOWN;
	if (op[0] == '<')
		return known(strcmp(left->text, right->text) < 0);
	if (op[0] == '>')
		return known(strcmp(left->text, right->text) > 0);
	if (strcmp(op, "=~") == 0)
		return shell_regular(left->text, right->text);
	same = known(t->patterns ? shell_matches(right->text, left->text)
				 : strcmp(left->text, right->text) == 0);
	return op[0] == '!' ? opposite(same) : same;
}

static enum truth either(struct test *t);

static enum truth unary(struct test *t, const char *op)
{
	const struct shell_word *word = &t->word[t->at++];

	if (strcmp(op, "-v") == 0)
		return TRUTH_UNKNOWN;
	if (strcmp(op, "-z") != 0 && strcmp(op, "-n") != 0)
		return TRUTH_UNKNOWN; /* of files */
	if (word->unknown)
		return TRUTH_UNKNOWN;
	return known((word->text[0] == '\0') == (op[1] == 'z'));
}

static const struct shell_word empty = { "", 0, false, NULL };

/* [[ $X == a ]] of an X that is empty: its word is not there. */
static enum truth compare_nothing(struct test *t, const char *op)
{
	if (!t->patterns || t->at + 1 >= t->count) {
		t->broken = !t->patterns;
		t->at = t->patterns ? t->at + 1 : t->count;
		return TRUTH_NO;
	}
	t->at += 2;
	return compared(t, &empty, op, &t->word[t->at - 1]);
}

static enum truth compare(struct test *t, const struct shell_word *left)
{
	const char *op = peek(t);

	t->at++;
	if (t->at >= t->count) { /* [ x = $Y ] of an empty Y */
		t->broken = !t->patterns;
		return compared(t, left, op, &empty);
	}
	t->at++;
	return compared(t, left, op, &t->word[t->at - 1]);
}

static bool joins_tests(const char *word)
{
	return strcmp(word, "-a") == 0 || strcmp(word, "-o") == 0 ||
	       strcmp(word, "&&") == 0 || strcmp(word, "||") == 0;
}

static enum truth primary(struct test *t)
{
	const struct shell_word *left;
	const char *word = peek(t);

	if (t->at >= t->count || ++t->depth > 32) {
		t->broken = true;
		return TRUTH_NO;
	}
	if (strcmp(word, "!") == 0) {
		t->at++;
		return opposite(primary(t));
	}
	if (strcmp(word, "(") == 0) {
		enum truth inner;

		t->at++;
		inner = either(t);
		t->at += strcmp(peek(t), ")") == 0;
		return inner;
	}
	if (is_binary(word) &&
	    !(t->at + 1 < t->count && is_binary(t->word[t->at + 1].text)))
		return compare_nothing(t, word);
	left = &t->word[t->at++];
	if (t->at < t->count && is_binary(peek(t)))
		return compare(t, left);
	if (word[0] == '-' && word[1] != '\0' && word[2] == '\0' && t->at < t->count &&
	    !joins_tests(peek(t)))
		return unary(t, word);
	/* [[ -n $X ]] of an X that is empty */
	if (t->patterns && (strcmp(word, "-n") == 0 || strcmp(word, "-z") == 0))
		return known(word[1] == 'z');
	return left->unknown ? TRUTH_UNKNOWN : known(left->text[0] != '\0');
}

static enum truth all(struct test *t)
{
	enum truth value = primary(t);

	while (t->at < t->count &&
	       (strcmp(peek(t), "-a") == 0 || strcmp(peek(t), "&&") == 0)) {
		t->at++;
		value = both(value, primary(t));
	}
	return value;
}

static enum truth either(struct test *t)
{
	enum truth value = all(t);

	while (t->at < t->count &&
	       (strcmp(peek(t), "-o") == 0 || strcmp(peek(t), "||") == 0)) {
		t->at++;
		value = opposite(both(opposite(value), opposite(all(t))));
	}
	return value;
}

/* Of [ ]: of four words the first of which is "!" the other three are one question
 * (POSIX, test: 4 arguments). */
static enum truth plain(struct test *t)
{
	if (t->count != 4 || strcmp(t->word[0].text, "!") != 0)
		return either(t);
	t->at++;
	return opposite(either(t));
}

bool shell_test(const struct shell *shell, const struct shell_word *words, int count,
		enum truth *out)
{
	static const char *const ends[][2] = { { "[", "]" }, { "[[", "]]" } };
	struct test t = { .word = words + 1, .count = count - 1 };
	const char *name = words[0].text;
	int64_t value;

	if (strcmp(name, "((") == 0) {
		*out = count < 2 || !shell_arithmetic(shell, words[1].text,
						      strlen(words[1].text), &value)
			       ? TRUTH_UNKNOWN
			       : known(value != 0);
		return true;
	}
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		if (strcmp(name, ends[i][0]) != 0)
			continue;
		t.patterns = i == 1;
		if (t.count > 0 && strcmp(words[count - 1].text, ends[i][1]) == 0)
			t.count--;
		if (t.count == 0)
			*out = TRUTH_NO;
		else
			*out = t.patterns ? either(&t) : plain(&t);
		*out = t.broken || t.at < t.count ? TRUTH_NO : *out;
		return true;
	}
	if (strcmp(name, "test") != 0)
		return false;
	*out = t.count > 0 ? plain(&t) : TRUTH_NO;
	*out = t.broken || t.at < t.count ? TRUTH_NO : *out;
	return true;
}
