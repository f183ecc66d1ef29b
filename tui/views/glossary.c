/* glossary.c - what the words of the field mean, in the order of the alphabet. */
#include <stdlib.h>
#include <strings.h>

#include "tui/view.h"

enum { MOST_TERMS = 400 };

static int by_name(const void *a, const void *b)
{
	const struct glossary_word *const *left = a, *const *right = b;

	return strcasecmp((*left)->key, (*right)->key);
}

static int list_terms(const struct glossary_word *terms[MOST_TERMS])
{
	int count = 0;

	for (int i = 0; i < glossary_count() && count < MOST_TERMS; i++)
		if (glossary_at(i)->kind <= WORD_SCHEDULE)
			terms[count++] = glossary_at(i);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): these are pointers */
	qsort(terms, (size_t)count, sizeof terms[0], by_name);
	return count;
}

static int draw_word(struct canvas *canvas, struct rect rect,
		     const struct glossary_word *word)
{
	char plain[GLOSSARY_MAX_TEXT];
	int top = rect.y;

	canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_KEY, word->key);
	if (word->also)
		canvas_right(canvas, rect.x, rect.y, rect.width, ROLE_QUIET,
			     word->also);
	rect.y++;
	rect.x += 2;
	rect.width -= 2;
	glossary_plain(word->means, plain, sizeof plain);
	rect.y += widget_prose(canvas, rect, 0, ROLE_DEFAULT, plain);
	glossary_plain(word->why, plain, sizeof plain);
	rect.y += widget_prose(canvas, rect, 0, ROLE_LABEL, plain);
	return rect.y + 1 - top;
}

void glossary_draw(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect)
{
	enum { LONG = 10000 };
	const struct glossary_word *terms[MOST_TERMS];
	int count = list_terms(terms);
	int top = rect.y - explorer->state[VIEW_GLOSSARY].first;

	rect = (struct rect){ rect.x, top, rect.width - 2, LONG };
	for (int i = 0; i < count; i++)
		rect.y += draw_word(canvas, rect, terms[i]);
	end_text(explorer, canvas, VIEW_GLOSSARY, rect.y - top - 1);
}

unsigned glossary_act(struct explorer *explorer, struct action action)
{
	return scroll_text(explorer, action);
}
