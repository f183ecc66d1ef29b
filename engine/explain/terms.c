/* terms.c - a page for each row of engine/train/terms.h, and the sums of them. */
#include "engine/explain/terms.h"

#include <stdio.h>

#include "engine/train/terms.h"

/* The asked stage as the estimate had it. */
static void enter(const struct asked *a, struct holding *h)
{
	const struct step *step = explain_step(a);

	holding_begin(step, h);
	holding_enter(h, &step->sum[a->stage]);
	h->activations = a->estimate->stage[a->stage].activations_bytes;
	h->buffers = a->estimate->stage[a->stage].buffers_bytes;
}

struct term_link {
	const char *symbol, *key, *meaning;
};

static void add_links(const struct asked *a, struct explanation *out,
		      const struct term_link *link, int count)
{
	for (int i = 0; i < count; i++, link++) {
		if (link->key[0] == '.')
			explain_from(a, out, link->symbol, link->meaning, "stages.%d%s",
				     a->stage, link->key);
		else
			explain_from(a, out, link->symbol, link->meaning, "%s",
				     link->key);
	}
}

#define LINK(symbol, value, key, meaning) \
	{                                 \
#symbol, key, meaning     \
	}
#define TERM_PAGE(name, sign, title, about, expression, ...)                     \
	static double name(const struct asked *a)                                \
	{                                                                        \
		struct holding h;                                                \
                                                                                 \
		enter(a, &h);                                                    \
		return name##_term(&h);                                          \
	}                                                                        \
	static void name##_links(const struct asked *a, struct explanation *out) \
	{                                                                        \
		static const struct term_link link[] = { __VA_ARGS__ };          \
                                                                                 \
		add_links(a, out, link, (int)(sizeof link / sizeof link[0]));    \
	}

BUFFER_TERMS(TERM_PAGE, LINK)
FRAMEWORK_TERMS(TERM_PAGE, LINK)
UPDATE_TERMS(TERM_PAGE, LINK)

static const char source[] = "engine/train/terms.h";

#define NODE(key_of, unit, name, title_of, about, expression) \
	{ .row.key = key_of,                                  \
	  .row.title = title_of,                              \
	  .row.formula = #expression,                         \
	  .row.assumption = about,                            \
	  .row.source = source,                               \
	  .row.fill = name##_links,                           \
	  .form = unit,                                       \
	  .value = name },
#define BYTES(name, sign, title, about, expression, ...) \
	NODE(#name "_bytes", FORM_BYTES, name, title, about, expression)
#define SECONDS(name, sign, title, about, expression, ...) \
	NODE(#name "_seconds", FORM_SECONDS, name, title, about, expression)

const struct explain_node explain_terms[] = {
	BUFFER_TERMS(BYTES, LINK) FRAMEWORK_TERMS(BYTES, LINK)
		UPDATE_TERMS(SECONDS, LINK){ .row.key = NULL },
};

static void add_row(const struct asked *a, struct explanation *out, const char *symbol,
		    const char *title, const char *key, bool first)
{
	explain_say(out, "%s%s", first ? "" : " + ", symbol);
	explain_from(a, out, symbol, title, "stages.%d.%s", a->stage, key);
}

#define ADD(unit, name, sign, title)                     \
	add_row(a, out, sign, title, #name unit, first); \
	first = false;
#define ADD_BYTES(name, sign, title, ...)   ADD("_bytes", name, sign, title)
#define ADD_SECONDS(name, sign, title, ...) ADD("_seconds", name, sign, title)

void explain_buffers(const struct asked *a, struct explanation *out)
{
	bool first = true;

	BUFFER_TERMS(ADD_BYTES, LINK)
}

void explain_framework(const struct asked *a, struct explanation *out)
{
	bool first = true;

	FRAMEWORK_TERMS(ADD_BYTES, LINK)
}

void explain_update(const struct asked *a, struct explanation *out)
{
	bool first = true;

	UPDATE_TERMS(ADD_SECONDS, LINK)
}
