/* search_answers.c - what else fits: the fewest GPUs, the largest micro-batch, the
 * longest sequence, the largest model. */
#include <stdio.h>

#include "engine/knob/knob.h"
#include "tui/text.h"
#include "tui/views/search_parts.h"

static void value_words(const struct inverse *q, double answer, double parameters,
			char *out, size_t size)
{
	switch (q->kind) {
	case INVERSE_GPUS: snprintf(out, size, "%.0f+", answer); break;
	case INVERSE_MICRO_BATCH: snprintf(out, size, "%.0f", answer); break;
	case INVERSE_SEQUENCE: form_text(FORM_TOKENS, answer, out, size); break;
	default: form_text(FORM_COUNT, parameters, out, size);
	}
}

/* Where there is no room for all words, and where there is for all answers. */
enum { NARROW = 60, WIDE = 150 };

/* What known plans answer, where less known ones answer more. */
static void known_words(const struct inverse *q, int width, char *out, size_t size)
{
	struct model scaled;
	struct model_counts counts = { 0 };
	char value[32];

	out[0] = '\0';
	if (!q->open || q->known == q->answer)
		return;
	if (q->kind == INVERSE_MODEL && q->known > 0 &&
	    model_scale(&q->problem->base.model, q->known, &scaled))
		model_count(&scaled, &counts);
	value_words(q, q->known, counts.total, value, sizeof value);
	snprintf(out, size, width < WIDE ? " (known %s)" : " (known plans: %s)",
		 q->known > 0 ? value : "none");
}

static void answer_words(const struct inverse *q, int width, char *out, size_t size)
{
	char value[32], known[48];

	value_words(q, q->answer, q->parameters, value, sizeof value);
	known_words(q, width, known, sizeof known);
	switch (q->kind) {
	case INVERSE_GPUS: snprintf(out, size, "%s GPUs%s", value, known); break;
	case INVERSE_MICRO_BATCH:
		snprintf(out, size,
			 known[0] && width < NARROW ? "micro-batch %s%s"
						    : "micro-batch up to %s%s",
			 value, known);
		break;
	case INVERSE_SEQUENCE:
		snprintf(out, size, "sequence up to %s%s", value, known);
		break;
	default: snprintf(out, size, "models up to %s%s", value, known);
	}
}

/* The question that is asked now, and what is known of it so far, which only grows:
 * what is tried goes up and down, by halves. */
static void asking_words(const struct inverse *q, char *out, size_t size)
{
	char tokens[32];

	switch (q->kind) {
	case INVERSE_GPUS:
		snprintf(out, size, "trying %.0f GPUs ...", q->value[q->at]);
		break;
	case INVERSE_MICRO_BATCH: snprintf(out, size, "micro-batch ..."); break;
	case INVERSE_SEQUENCE:
		form_text(FORM_TOKENS, q->low < 0 ? 0 : q->value[q->low], tokens,
			  sizeof tokens);
		snprintf(out, size, q->low < 0 ? "sequence ..." : "sequence %s+ ...",
			 tokens);
		break;
	default: snprintf(out, size, "models ...");
	}
}

/* The answers of one of the rows, whole or not at all: what does not fit behind
 * another begins the next row. */
static void draw_row(const struct search *search, struct canvas *canvas,
		     struct rect rect, int wanted)
{
	const char *label = rect.width < NARROW ? "fits " : "fits: ";
	int begin = text_width(label), x = begin, row = 0;

	if (search->phase < SEARCH_ASK || search->result.found == 0)
		return;
	if (wanted == 0)
		canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_LABEL, label);
	for (int i = 0; i < INVERSE_COUNT && row <= wanted; i++) {
		const struct inverse *q = &search->inverse[i];
		char words[112];

		if (q->done && !q->found)
			continue;
		if (q->done)
			answer_words(q, rect.width, words, sizeof words);
		else
			asking_words(q, words, sizeof words);
		if (x > begin && x + text_width(words) > rect.width) {
			x = begin;
			row++;
		}
		if (row == wanted)
			canvas_text(canvas, rect.x + x, rect.y, rect.width - x,
				    q->done ? ROLE_VALUE : ROLE_LABEL, words);
		if (!q->done)
			return;
		x += text_width(words) + 2;
	}
}

void search_draw_answers(const struct explorer *explorer, struct canvas *canvas, int x,
			 int y, int width)
{
	draw_row(explorer->search, canvas, (struct rect){ x, y, width, 1 }, 0);
}

void search_draw_more_answers(const struct explorer *explorer, struct canvas *canvas,
			      int x, int y, int width)
{
	draw_row(explorer->search, canvas, (struct rect){ x, y, width, 1 }, 1);
}

bool search_has_more_answers(const struct explorer *explorer, int width)
{
	const struct search *search = explorer->search;

	return search && search->problem.falls_back && search->problem.trust > 0 &&
	       search->result.found > 0 && width < WIDE;
}
