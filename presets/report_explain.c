/* report_explain.c - where a number comes from, as JSON; see report.h. */
#include <math.h>

#include <cjson/cJSON.h>

#include "engine/base/formula.h"
#include "presets/report.h"

static void add_text(cJSON *object, const char *key, const char *text)
{
	if (text)
		cJSON_AddStringToObject(object, key, text);
	else
		cJSON_AddNullToObject(object, key);
}

static void add_value(cJSON *object, enum form form, double value)
{
	if (isfinite(value))
		cJSON_AddNumberToObject(object, "value", value);
	else
		cJSON_AddNullToObject(object, "value");
	cJSON_AddStringToObject(object, "unit", form_unit(form));
}

static void add_terms(cJSON *object, const char *name,
		      const struct explanation_term *terms, int count)
{
	cJSON *list = cJSON_AddArrayToObject(object, name);

	for (int i = 0; i < count; i++) {
		const struct explanation_term *term = &terms[i];
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "symbol", term->symbol);
		add_value(item, term->form, term->value);
		cJSON_AddStringToObject(item, "meaning", term->meaning);
		if (term->key[0])
			cJSON_AddStringToObject(item, "key", term->key);
		cJSON_AddItemToArray(list, item);
	}
}

static void add_plain(cJSON *object, const char *key, const char *text)
{
	char plain[GLOSSARY_MAX_TEXT];

	if (text)
		glossary_plain(text, plain, sizeof plain);
	add_text(object, key, text ? plain : NULL);
}

/* What it means, why one would turn it, and the terms that these two speak of. */
static void add_words(cJSON *object, const struct glossary_word *word)
{
	const struct glossary_word *links[GLOSSARY_MAX_LINKS];
	int count = word ? word_links(word, links) : 0;
	cJSON *list;

	add_plain(object, "means", word ? word->means : NULL);
	add_plain(object, "why", word ? word->why : NULL);
	list = cJSON_AddArrayToObject(object, "words");
	for (int i = 0; i < count; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(links[i]->key));
}

/* No number: the keys of one are there, without a value. */
char *report_word(const struct glossary_word *word)
{
	cJSON *root = cJSON_CreateObject();

	cJSON_AddStringToObject(root, "key", word->key);
	cJSON_AddStringToObject(root, "title", word->key);
	cJSON_AddNullToObject(root, "value");
	cJSON_AddStringToObject(root, "unit", "");
	cJSON_AddNullToObject(root, "formula");
	cJSON_AddArrayToObject(root, "terms");
	cJSON_AddNullToObject(root, "assumption");
	cJSON_AddNullToObject(root, "source");
	add_words(root, word);
	return report_print(root, false);
}

char *report_explanation(const char *key, const struct explanation *x,
			 const struct start *start, const struct scenario *s)
{
	cJSON *root = cJSON_CreateObject();

	cJSON_AddStringToObject(root, "key", key);
	cJSON_AddStringToObject(root, "title", x->title);
	add_value(root, x->form, x->value);
	add_text(root, "formula", x->computes ? x->formula : NULL);
	add_terms(root, "terms", x->term, x->terms);
	if (x->besides > 0)
		add_terms(root, "beside", x->beside, x->besides);
	add_text(root, "assumption", x->assumption);
	add_text(root, "source", x->source);
	add_words(root, x->word);
	report_start(root, start, s);
	return report_print(root, false);
}
