/* linear_mean.c - what a typed text may mean; see linear_parts.h. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/explain/nearest.h"
#include "engine/knob/knob.h"
#include "tui/explorer.h"
#include "tui/explorer/linear_parts.h"
#include "tui/text.h"
#include "tui/view.h"

enum { ASKED = 128, NEAR = 4 };

/* What can be told of, not what is done or opened. */
static bool is_told(const struct found *found)
{
	return found->kind <= FOUND_NUMBER || found->kind == FOUND_TERM;
}

bool linear_means(struct linear *linear, const char *text, struct found *out)
{
	struct found found[MAX_FOUND];
	int count = find_all(linear->explorer, text, found);

	/* one letter begins too many names */
	if (text[0] == '\0' || text[1] == '\0')
		return false;
	for (int i = 0; i < count; i++)
		if (is_told(&found[i]) &&
		    (found_by_name(&found[i]) || found[i].kind == FOUND_TERM)) {
			*out = found[i];
			return true;
		}
	return false;
}

const struct knob *linear_knob(struct linear *linear, const char *text)
{
	const struct knob *knob = knob_find(text);
	struct found found[MAX_FOUND];
	int count = text[0] && text[1] ? find_all(linear->explorer, text, found) : 0;

	for (int i = 0; i < count && !knob; i++)
		if (found[i].kind == FOUND_KNOB && found_by_own_name(&found[i]) &&
		    !found_is_useless(&found[i]))
			knob = &knob_table[found[i].index];
	return knob;
}

/* Knobs of whose names this is a word, as good a one for each, or that people call so.
 */
static int list_several(struct linear *linear, const char *text,
			const struct knob *out[NEAR])
{
	struct found found[MAX_FOUND];
	int count = 0, all = find_all(linear->explorer, text, found);

	if (knob_find(text) || text[0] == '\0' || (all > 0 && found[0].fit == 0))
		return 0;
	for (int i = 0; i < all && count < NEAR; i++)
		if (found[i].kind == FOUND_KNOB && found_by_name(&found[i]) &&
		    !found_is_useless(&found[i]) &&
		    (found[i].fit == found[0].fit || !found_by_own_name(&found[i])))
			out[count++] = &knob_table[found[i].index];
	return count;
}

bool linear_asks(struct linear *linear, const char *text, const char *value)
{
	const struct knob *several[NEAR];
	int count = list_several(linear, text, several);
	char label[64];

	if (count < 2)
		return false;
	for (int i = 0; i < count; i++) {
		text_squeeze(several[i]->label, label, sizeof label);
		if (i == 0)
			linear_say(linear, "%s may be ", text);
		else
			linear_say(linear, i < count - 1 ? ", " : " or ");
		linear_say(linear, "%s (%s %s)", label, several[i]->key, value);
	}
	linear_say(linear, "\n");
	return true;
}

/* "is a pipeline bubble?" asks for "pipeline bubble". */
static void asked_for(const char *text, char *out, size_t size)
{
	static const char *const fillers[] = { "is ",  "are ", "does ", "do ", "an ",
					       "the ", "a ",   "of ",   "to " };
	size_t length;

	for (size_t i = 0; i < sizeof fillers / sizeof fillers[0]; i++)
		if (strncasecmp(text, fillers[i], strlen(fillers[i])) == 0) {
			text += strlen(fillers[i]);
			i = (size_t)-1;
		}
	snprintf(out, size, "%s", text);
	length = strlen(out);
	while (length > 0 && strchr(" ?.", out[length - 1]))
		out[--length] = '\0';
	if (length > 5 && strcasecmp(out + length - 5, " mean") == 0)
		out[length - 5] = '\0';
}

/* Of a number what it is here, with `deeply` where it comes from. */
static void tell_number(struct linear *linear, const struct metric *metric, bool deeply)
{
	const struct explorer *explorer = linear->explorer;
	const struct glossary_word *word = glossary_find(metric->key);

	if (deeply || !explorer->estimate.legal) {
		linear_say_explanation(linear, metric->key);
		return;
	}
	if (word)
		linear_say_word(linear, word);
	linear_say(linear, "Here %s is ", metric->label);
	linear_say_number(linear, metric, "", "");
	linear_say(linear, "; why %s tells where that comes from.\n", metric->key);
}

static void tell_knob(struct linear *linear, const struct knob *knob)
{
	const struct glossary_word *word = glossary_find(knob->key);
	char label[64], value[64];

	text_squeeze(knob->label, label, sizeof label);
	knob_show(&linear->explorer->scenario, knob, value, sizeof value);
	linear_say(linear, "%s (%s), here %s.\n", label, knob->key, value);
	if (word)
		linear_say_word(linear, word);
}

static int term_index(const char *name)
{
	const struct glossary_word *word = glossary_term(name);
	int i = 0;

	while (glossary_at(i) != word)
		i++;
	return i;
}

/* Which number, knob or term it is: by its key first; a word where its meaning is asked
 * for; else what goes by that name. */
static bool find_asked(struct linear *linear, const char *asked, bool deeply,
		       struct found *out)
{
	const struct metric *metric = metric_find(asked);
	const struct knob *knob = knob_find(asked);
	int mode = linear->explorer->scenario.plan.mode;

	if (metric && metric->modes >> mode & 1)
		*out = (struct found){ FOUND_NUMBER, (int)(metric - metric_table), 0 };
	else if (knob)
		*out = (struct found){ FOUND_KNOB, (int)(knob - knob_table), 0 };
	else if (deeply && linear_means(linear, asked, out))
		return true;
	else if (glossary_term(asked))
		*out = (struct found){ FOUND_TERM, term_index(asked), 0 };
	else
		return linear_means(linear, asked, out);
	return true;
}

void linear_tell(struct linear *linear, const char *text, bool deeply)
{
	const struct explorer *explorer = linear->explorer;
	struct explanation x;
	struct found found;
	char asked[ASKED];

	asked_for(text, asked, sizeof asked);
	if (asked[0] == '\0')
		linear_say(linear, "what about? For example: what bubble, what "
				   "tp, why mfu; numbers lists the numbers\n");
	else if (!find_asked(linear, asked, deeply, &found)) {
		if (explain(&explorer->scenario, &explorer->estimate, asked, &x))
			linear_say_explanation(linear, asked);
		else
			linear_wonder(linear, asked);
	} else if (found.kind == FOUND_TERM)
		linear_say_word(linear, glossary_at(found.index));
	else if (found.kind == FOUND_NUMBER)
		tell_number(linear, &metric_table[found.index], deeply);
	else if (found.kind == FOUND_MICRO_BATCHES)
		linear_say_micro_batches(linear);
	else
		tell_knob(linear, &knob_table[found.index]);
}

static const char *name_of(const struct found *found)
{
	if (found->kind == FOUND_KNOB)
		return knob_table[found->index].key;
	if (found->kind == FOUND_MICRO_BATCHES)
		return "micro-batches";
	if (found->kind == FOUND_NUMBER)
		return metric_table[found->index].key;
	return glossary_at(found->index)->key;
}

/* A word of the label is spelled like it: "tensr" is near "TP  tensor". */
static bool is_misspelled(const char *text, const char *label)
{
	int allowed = strlen(text) < 4 ? 0 : strlen(text) < 8 ? 1 : 2;
	char word[32];

	for (const char *at = label; *at != '\0';) {
		size_t length = strcspn(at, " -/");

		snprintf(word, sizeof word, "%.*s", (int)length, at);
		if (length > 2 && knob_distance(text, word) <= allowed)
			return true;
		at += length + strspn(at + length, " -/");
	}
	return false;
}

static void add_near(const char *out[NEAR], int *count, const char *name)
{
	for (int i = 0; i < *count; i++)
		if (strcmp(out[i], name) == 0)
			return;
	if (*count < NEAR)
		out[(*count)++] = name;
}

/* What says of itself that it does this, what is spelled like the text, and what it is
 * a part of. */
static int near_names(struct linear *linear, const char *text, const char *out[NEAR])
{
	const struct explorer *explorer = linear->explorer;
	const char *spelled = explain_nearest(text);
	struct found found[MAX_FOUND];
	int count = find_all(explorer, text, found), near = 0;

	for (int i = 0; i < linear_word_count(); i++)
		if (strstr(linear_word_at(i)->help, text))
			add_near(out, &near, linear_word_at(i)->word);
	for (int i = 0; i < linear_word_count(); i++)
		if (is_misspelled(text, linear_word_at(i)->word))
			add_near(out, &near, linear_word_at(i)->word);
	for (int i = 0; i < metric_count(); i++)
		if (is_misspelled(text, metric_table[i].group))
			add_near(out, &near, metric_table[i].group);
	if (spelled)
		add_near(out, &near, spelled);
	for (int i = 0; i < knob_count(); i++)
		if (!knob_does_nothing(explorer, &knob_table[i]) &&
		    is_misspelled(text, knob_table[i].label))
			add_near(out, &near, knob_table[i].key);
	for (int i = 0; i < count; i++)
		if (is_told(&found[i]) && !found_is_useless(&found[i]) &&
		    !found_by_help(&found[i]))
			add_near(out, &near, name_of(&found[i]));
	return near;
}

/* A view of the screen by its title, or NULL. */
static const struct view *view_of(const char *line)
{
	for (int i = 0; i < VIEW_COUNT; i++)
		if (strcasecmp(view_table[i].title, line) == 0)
			return &view_table[i];
	return NULL;
}

/* Half of the name of a machine or model opens nothing, but says how. */
static void say_preset(struct linear *linear, const char *text)
{
	struct found found[MAX_FOUND];
	int count = strlen(text) > 2 ? find_all(linear->explorer, text, found) : 0;

	for (int i = 0; i < count; i++)
		if (found[i].kind == FOUND_PRESET) {
			linear_say(linear, "; open %s opens that",
				   picker_preset_name(found[i].index));
			return;
		}
}

void linear_wonder(struct linear *linear, const char *line)
{
	const char *near[NEAR];
	char first[32];
	int count = 0;

	if (view_of(line)) {
		linear_say(linear,
			   "%s is a picture in the full-screen explorer; here "
			   "numbers, why NUMBER and search tell what it shows\n",
			   view_of(line)->title);
		return;
	}
	if (strlen(line) > 2)
		count = near_names(linear, line, near);
	snprintf(first, sizeof first, "%.*s", (int)strcspn(line, " ="), line);
	if (count == 0 && strlen(first) > 2)
		count = near_names(linear, first, near);
	linear_say(linear, "'%s' is not a knob, number or term", line);
	for (int i = 0; i < count; i++)
		linear_say(linear, "%s%s", i == 0 ? "; similar: " : ", ", near[i]);
	if (count == 0)
		say_preset(linear, line);
	linear_say(linear, "; help lists the words\n");
}
