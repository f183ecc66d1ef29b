/* linear_lesson.c - a lesson as a conversation; see linear.h. */
#include <stdlib.h>
#include <string.h>

#include "tui/explorer.h"
#include "tui/explorer/course.h"
#include "tui/explorer/linear.h"

static void say(struct linear *linear, const char *first, const char *second,
		const char *third)
{
	linear_put(linear, first);
	linear_put(linear, second);
	linear_put(linear, third);
}

/* What a lesson has to say now; the last of it alone where the rest was said before. */
void linear_lesson_say(struct linear *linear, bool last)
{
	struct explorer *explorer = linear->explorer;
	struct course_block *block = calloc(MOST_BLOCKS, sizeof *block);
	char title[256];
	int count;

	if (!block) {
		linear_put(linear, "out of memory; show repeats it\n");
		return;
	}
	course_title(explorer, title, sizeof title);
	if (!last)
		say(linear, "[", title, "]\n");
	count = course_blocks(explorer, block);
	for (int i = last && count > 0 ? count - 1 : 0; i < count; i++) {
		char plain[sizeof block[i].text];

		glossary_plain(block[i].text, plain, sizeof plain);
		say(linear, plain, "\n", "");
	}
	free(block);
}

/* The list, or the lesson of that name or number. */
void linear_lesson_open(struct linear *linear, const char *name)
{
	struct explorer *explorer = linear->explorer;
	struct error error = { "" };

	if (!course_open(explorer, name[0] ? name : NULL, NULL, &error))
		say(linear, error.text, "\n", "");
	else
		linear_lesson_say(linear, false);
}

static void do_next(struct linear *linear, const char *rest)
{
	(void)rest;
	course_next(linear->explorer);
}

static void do_back(struct linear *linear, const char *rest)
{
	(void)rest;
	course_back(linear->explorer);
}

static void do_hint(struct linear *linear, const char *rest)
{
	(void)rest;
	course_hint(linear->explorer);
}

static void do_show_me(struct linear *linear, const char *rest)
{
	(void)rest;
	linear_changed(linear, course_show(linear->explorer));
}

static void do_leave(struct linear *linear, const char *rest)
{
	(void)rest;
	course_leave(linear->explorer);
}

/* What the words mean that stand there. */
static void do_words(struct linear *linear, const char *rest)
{
	const struct glossary_word *words[GLOSSARY_MAX_LINKS];
	int count = course_words(linear->explorer, words);
	char means[GLOSSARY_MAX_TEXT];

	(void)rest;
	if (count == 0)
		explorer_say(linear->explorer, ROLE_HINT, "no terms are linked here");
	for (int i = 0; i < count; i++) {
		glossary_plain(words[i]->means, means, sizeof means);
		say(linear, words[i]->key, ": ", means);
		linear_put(linear, "\n");
	}
}

/* Words of a lesson, while one is open. */
static const struct word {
	const char *word, *key, *help;
	void (*run)(struct linear *linear, const char *rest);
} words[] = {
	{ "next", "n", "go on (an empty line does the same)", do_next },
	{ "hint", "H", "a hint", do_hint },
	{ "words", "W", "what the terms in this text mean", do_words },
	{ "x", NULL, "show me: make the change for me", do_show_me },
	{ "back", "b", "back to the text of this step, or to the previous step",
	  do_back },
	{ "leave", "q", "leave the lesson; your place is kept", do_leave },
};
enum { WORDS = sizeof words / sizeof words[0] };

void linear_lesson_help(struct linear *linear)
{
	for (size_t i = 0; i < WORDS; i++) {
		say(linear, "  ", words[i].word, words[i].key ? " or " : "");
		say(linear, words[i].key ? words[i].key : "", ": ", words[i].help);
		linear_put(linear, "\n");
	}
}

/* An answer, a number of the list, an empty line or a word of the lesson. False if it
 * is none of them. */
static bool speak(struct linear *linear, const char *line)
{
	struct course *c = linear->explorer->course;
	bool asks = c->phase == COURSE_ASK || c->phase == COURSE_WHY;

	for (size_t i = 0; i < WORDS; i++)
		if (strcmp(line, words[i].word) == 0 ||
		    (words[i].key && strcmp(line, words[i].key) == 0)) {
			words[i].run(linear, "");
			return true;
		}
	if (c->phase == COURSE_LIST && atoi(line) > 0) {
		linear_lesson_open(linear, line);
		return true;
	}
	if (line[0] == '\0')
		course_next(linear->explorer);
	else if (asks && strchr("0123456789.-", line[0]))
		course_answer(linear->explorer, line);
	else
		return false;
	return true;
}

/* The same, and what the lesson says to it if it has gone on. */
bool linear_lesson_take(struct linear *linear, const char *line)
{
	struct explorer *explorer = linear->explorer;
	struct course *c = explorer->course;
	bool listed = c && c->phase == COURSE_LIST;
	int phase = c ? (int)c->phase : -1, step = c ? c->step : 0;

	if (!c || !speak(linear, line))
		return false;
	if (explorer->course && !(listed && atoi(line) > 0)) {
		bool same = (int)c->phase == phase && c->step == step;

		if (!same || explorer->message[0] == '\0')
			linear_lesson_say(linear, same);
	}
	return true;
}
