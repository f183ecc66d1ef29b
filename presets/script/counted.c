/* counted.c - `for ((i = 0; i < N; i++))`: the numbers that its variable has, round by
 * round, where they can be told before the first. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "presets/script/words.h"

/* The three parts of the text, and what the variable is called. */
struct count {
	const char *part[3];
	size_t length[3];
	const char *name;
	size_t name_length;
};

static const char *pass_blanks(const char *at, const char *stop)
{
	while (at < stop && isspace((unsigned char)*at))
		at++;
	return at;
}

static size_t name_at(const char *at, const char *stop)
{
	size_t length = 0;

	while (at + length < stop &&
	       (isalpha((unsigned char)at[length]) || at[length] == '_' ||
		(length > 0 && isdigit((unsigned char)at[length]))))
		length++;
	return length;
}

static bool part(const char *text, struct count *out)
{
	for (int i = 0; i < 3; i++) {
		size_t length = strcspn(text, ";");

		if ((text[length] == '\0') != (i == 2))
			return false;
		out->part[i] = text;
		out->length[i] = length;
		text += length + (i < 2);
	}
	return true;
}

/* "i = 0": whose number the loop is about. */
static bool begin(const struct shell *shell, struct count *c, int64_t *value)
{
	const char *stop = c->part[0] + c->length[0];
	const char *at = pass_blanks(c->part[0], stop);

	c->name = at;
	c->name_length = name_at(at, stop);
	at = pass_blanks(at + c->name_length, stop);
	if (c->name_length == 0 || stop - at < 2 || at[0] != '=' || at[1] == '=')
		return false;
	return shell_arithmetic(shell, at + 1, (size_t)(stop - at - 1), value);
}

/* By how much "i++", "--i" or "i += 2" changes it; 0: by none of these. */
static int64_t step_of(const struct shell *shell, const struct count *c)
{
	const char *stop = c->part[2] + c->length[2];
	const char *at = pass_blanks(c->part[2], stop);
	char sign = at < stop ? *at : '\0';
	bool first = (sign == '+' || sign == '-') && stop - at > 2 && at[1] == sign;
	int64_t by = 1;

	at += first ? 2 : 0;
	if (name_at(at, stop) != c->name_length ||
	    memcmp(at, c->name, c->name_length) != 0)
		return 0;
	at = pass_blanks(at + c->name_length, stop);
	if (!first) {
		sign = at < stop ? *at : '\0';
		if (stop - at < 2 || (sign != '+' && sign != '-') ||
		    (at[1] != sign && at[1] != '='))
			return 0;
		if (at[1] == '=' &&
		    !shell_arithmetic(shell, at + 2, (size_t)(stop - at - 2), &by))
			return 0;
		at = at[1] == '=' ? stop : pass_blanks(at + 2, stop);
	}
	return at != stop || by < 1 || by > 1 << 20 ? 0 : sign == '-' ? -by : by;
}

/* Sets the variable, whose value the condition is about. */
static const char *set(struct shell *shell, const struct count *c, int64_t value)
{
	char text[24];
	int length = snprintf(text, sizeof text, "%lld", (long long)value);
	struct shell_word word = { arguments_keep(shell->arguments, text,
						  (size_t)length),
				   shell->line, false, NULL };

	if (!word.text ||
	    !shell_assign(shell, c->name, c->name_length, false, &word, 1))
		shell->full = true;
	return word.text;
}

/* The numbers up to the one that ends the loop; -1 where they can't be told, or are
 * more than there may be rounds. */
static int count_up(struct shell *shell, const struct count *c, int64_t value,
		    int64_t step, struct shell_word words[SHELL_MAX_ROUNDS])
{
	int64_t goes_on;

	for (int count = 0;; value += step) {
		const char *number = set(shell, c, value);

		if (!number ||
		    !shell_arithmetic(shell, c->part[1], c->length[1], &goes_on))
			return -1;
		if (!goes_on)
			return count;
		if (count == SHELL_MAX_ROUNDS)
			return -1;
		words[count++] =
			(struct shell_word){ number, shell->line, false, NULL };
	}
}

void shell_count(struct shell *shell, struct frame *frame, const char *text)
{
	struct shell_word words[SHELL_MAX_ROUNDS];
	struct count c;
	int64_t value, step;
	int count;

	if (!part(text, &c) || !begin(shell, &c, &value) ||
	    (step = step_of(shell, &c)) == 0 ||
	    (count = count_up(shell, &c, value, step, words)) < 0)
		return;
	frame->name = arguments_keep(shell->arguments, c.name, c.name_length);
	frame->first = shell->words;
	frame->count = count;
	frame->live = count > 0;
	shell->full =
		shell->full || !frame->name || shell->words + count > SHELL_MAX_WORDS;
	for (int i = 0; i < count && !shell->full; i++)
		shell->word[shell->words++] = words[i];
}
