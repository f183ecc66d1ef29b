/* terms.c - a page for each row of engine/train/terms.h, and the sums of them. */
#include "engine/explain/terms.h"

#include <string.h>

void explain_holding(const struct asked *a, struct holding *out)
{
	const struct whole_step *whole = explain_whole(a);

	holding_begin(&whole->step, out);
	holding_enter(out, a->stage, &whole->load[a->stage].sum,
		      whole->result.in_flight[a->stage]);
}

static double value_of(const struct asked *a, const struct term *term)
{
	struct holding h;

	explain_holding(a, &h);
	h.activations = a->estimate->stage[a->stage].activations_bytes;
	h.buffers = a->estimate->stage[a->stage].buffers_bytes;
	return term->value(&h);
}

static void fill_term(const struct asked *a, struct explanation *out)
{
	out->title = a->term->title;
	out->assumption = a->term->assumption;
	explain_formula(out, a->term->formula);
	for (int i = 0; i < MAX_LINKS && a->term->link[i].key; i++) {
		const struct term_link *link = &a->term->link[i];

		if (link->key[0] == '.')
			explain_from(a, out, link->symbol, link->meaning, "stages.%d%s",
				     a->stage, link->key);
		else
			explain_from(a, out, link->symbol, link->meaning, "%s",
				     link->key);
	}
}

bool explain_term_of_stage(const struct asked *asked, const char *key,
			   struct explain_number *out)
{
	static const struct term *const lists[] = { buffer_terms, framework_terms,
						    update_terms };
	static const struct explain_row row = {
		.source = "a byte count; presets/stacks, with what they cite",
		.fill = fill_term
	};

	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		for (const struct term *term = lists[i]; term->key; term++) {
			if (strcmp(term->key, key) != 0)
				continue;
			out->row = &row;
			out->asked = *asked;
			out->asked.term = term;
			out->form =
				lists[i] == update_terms ? FORM_SECONDS : FORM_BYTES;
			out->value = value_of(asked, term);
			return true;
		}
	return false;
}

void explain_term_sum(const struct asked *a, struct explanation *out,
		      const struct term *term)
{
	for (bool first = true; term->key; term++, first = false) {
		explain_say(out, "%s%s", first ? "" : " + ", term->symbol);
		explain_from(a, out, term->symbol, term->title, "stages.%d.%s",
			     a->stage, term->key);
	}
}
