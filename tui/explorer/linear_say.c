/* linear_say.c - what is said of results, knobs and numbers; see linear_parts.h. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/glossary/glossary.h"
#include "engine/knob/knob.h"
#include "tui/explorer.h"
#include "tui/explorer/contest.h"
#include "tui/explorer/course.h"
#include "tui/explorer/linear_parts.h"
#include "tui/text.h"
#include "tui/view.h"

static void put_character(const struct linear *linear, uint32_t code)
{
	char bytes[4];

	code = theme_substitute(linear->glyphs, code);
	fwrite(bytes, 1, text_encode(code, bytes), linear->out);
}

static int word_width(const char *text)
{
	int width = 0;

	while (*text != '\0' && *text != ' ' && *text != '\n')
		width += text_code_width(text_decode(&text));
	return width;
}

/* Blanks wait for the word behind them: where that has no room, it begins a line. */
static void put_blanks(const struct linear *linear, struct linear_line *line,
		       const char *word)
{
	if (line->column > 0 && line->width > 0 && line->blanks > 0 &&
	    line->column + line->blanks + word_width(word) > line->width) {
		fputc('\n', linear->out);
		line->column = line->blanks = 0;
	}
	line->column += line->blanks;
	for (; line->blanks > 0; line->blanks--)
		fputc(' ', linear->out);
}

void linear_put(struct linear *linear, const char *text)
{
	struct linear_line *line = &linear->line;

	while (*text != '\0') {
		uint32_t code;

		if (*text == ' ') {
			line->blanks++;
			text++;
			continue;
		}
		if (*text == '\n') {
			line->column = line->blanks = 0;
			fputc(*text++, linear->out);
			continue;
		}
		put_blanks(linear, line, text);
		code = text_decode(&text);
		line->column += text_code_width(code);
		put_character(linear, code);
	}
}

void linear_say(struct linear *linear, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	linear_put(linear, text);
}

/* "-4.5%" as "down 4.5 %", "+1.2 pt" as "up 1.2 points", "x12" as "12 times". */
static void spoken_change(const char *change, char *out, size_t size)
{
	char *unit;
	double value = strtod(change + (change[0] == 'x'), &unit);

	if (change[0] == '\0' || unit == change)
		snprintf(out, size, "%s%s", change[0] ? ", " : "", change);
	else if (change[0] == 'x')
		snprintf(out, size, ", %g times as much", value);
	else
		snprintf(out, size, ", %s %g %s", value < 0 ? "down" : "up",
			 fabs(value), strstr(unit, "pt") ? "points" : "%");
}

void linear_say_number(struct linear *linear, const struct metric *metric,
		       const char *before, const char *unit)
{
	const struct explorer *explorer = linear->explorer;
	char value[64], change[32], spoken[48];
	enum role role;

	form_text(metric->form, metric_get(&explorer->estimate, metric), value,
		  sizeof value);
	change_text(explorer, metric->key, change, sizeof change, &role);
	spoken_change(change, spoken, sizeof spoken);
	linear_say(linear, "%s%s%s%s", before, value, unit, spoken);
}

/* Its nearest values without those that break another rule. */
static void keep_legal(const struct explorer *explorer, int at, struct finding *out)
{
	const struct finding *finding = &explorer->estimate.problems.item[at];

	*out = *finding;
	out->nearest_count = 0;
	for (int i = 0; i < finding->nearest_count; i++)
		if (explorer->mend[at][i].legal)
			out->nearest[out->nearest_count++] = finding->nearest[i];
}

void linear_say_problems(struct linear *linear)
{
	const struct explorer *explorer = linear->explorer;
	const struct findings *problems = &explorer->estimate.problems;
	const struct whatif_way *way = &explorer->way;
	char text[320], remedy[128];
	struct finding finding;

	for (int i = 0; i < problems->count; i++) {
		finding_text(&problems->item[i], text, sizeof text);
		linear_say(linear, "  %s", text);
		keep_legal(explorer, i, &finding);
		if (finding_remedy(&finding, remedy, sizeof remedy) > 0)
			linear_say(linear, "; try %s", remedy);
		linear_say(linear, "\n");
	}
	for (int i = 0; i < way->turns; i++) {
		knob_print_value(way->turn[i].knob, way->turn[i].value, remedy,
				 sizeof remedy);
		linear_say(linear, "%s%s %s%s", i == 0 ? "  try " : ", ",
			   way->turn[i].knob->key, remedy,
			   i + 1 < way->turns ? ""
			   : way->turns > 1   ? " together\n"
					      : "\n");
	}
}

/* "863 tok/s per GPU, down 4.5 %. Fits, 48 GiB." */
static void say_score(struct linear *linear)
{
	char text[64];

	contest_title(linear->explorer, text, sizeof text);
	if (text[0] != '\0')
		linear_say(linear, "%c%s.\n", text[0] - 'a' + 'A', text + 1);
}

/* What the knob was turned for, where that is not the rate: "Cost $128 k, up 33.8 %."
 */
static void say_turned_for(struct linear *linear)
{
	const struct explorer *explorer = linear->explorer;
	const struct knob *knob = explorer_knob(explorer);
	const struct metric *metric =
		knob ? whatif_metric(&explorer->scenario, knob) : NULL;
	char change[32], start[64];
	enum role role;

	if (!metric || metric->form == FORM_RATE || !has_numbers(explorer))
		return;
	change_text(explorer, metric->key, change, sizeof change, &role);
	if (change[0] == '\0')
		return;
	snprintf(start, sizeof start, " %c%s ",
		 toupper((unsigned char)metric->label[0]), metric->label + 1);
	linear_say_number(linear, metric, start, "");
	linear_say(linear, ".");
}

void linear_say_result(struct linear *linear)
{
	const struct explorer *explorer = linear->explorer;
	const struct estimate *e = &explorer->estimate;
	bool serves = explorer->scenario.plan.mode == MODE_INFERENCE;
	const char *rate = serves ? "output_tokens_per_second_per_gpu"
				  : "tokens_per_second_per_gpu";

	if (!e->legal) {
		linear_say(linear, "This plan can't run.\n");
		linear_say_problems(linear);
		say_score(linear);
		return;
	}
	if (has_numbers(explorer))
		linear_say_number(linear, metric_find(rate), "", " per GPU");
	else
		linear_say(linear, "No request fits beside the weights");
	if (serves && has_numbers(explorer))
		linear_say_number(linear, metric_find("tpot_seconds"), ". TPOT ", "");
	linear_say_number(linear, metric_find("total_bytes"),
			  e->fits     ? ". Fits, "
			  : e->unsure ? ". Unsure whether it fits, "
				      : ". Does not fit, ",
			  "");
	linear_say(linear, ".");
	say_turned_for(linear);
	linear_say(linear, "\n");
	if (!e->fits)
		linear_say_problems(linear);
	say_score(linear);
}

void linear_say_message(struct linear *linear)
{
	struct explorer *explorer = linear->explorer;

	if (explorer->message[0] != '\0')
		linear_say(linear, "%s\n", explorer->message);
	explorer->message[0] = '\0';
}

/* What the knob moves, at one of its values. */
static void say_moved(struct linear *linear, const struct whatif_value *v)
{
	enum form form = linear->explorer->strip.metric->form;
	char text[32];

	form_text(form, v->moved, text, sizeof text);
	if (form == FORM_RATE)
		linear_say(linear, "%.0f", v->moved);
	else
		linear_say(linear, "%s", text);
}

/* "4 does not fit, 8 903, 16 731 tok/s per GPU." */
static void say_values(struct linear *linear, const struct knob *knob)
{
	const struct explorer *explorer = linear->explorer;
	char value[64];

	for (int i = 0; i < explorer->strip.count; i++) {
		const struct whatif_value *v = &explorer->strip.item[i];

		knob_print_value(knob, v->value, value, sizeof value);
		linear_say(linear, "%s%s ", i > 0 ? ", " : "  ", value);
		if (!v->legal || !v->fits)
			linear_say(linear, v->legal ? "does not fit" : "illegal");
		else
			say_moved(linear, v);
	}
	linear_say(linear, explorer->strip.metric->form == FORM_RATE
				   ? " tok/s per GPU\n"
				   : "\n");
}

static bool any_runs(const struct whatif *strip)
{
	for (int i = 0; i < strip->count; i++)
		if (strip->item[i].legal)
			return true;
	return false;
}

static void say_still(struct linear *linear, const struct knob *knob)
{
	const char *why = glossary_still(knob->key);

	if (why && whatif_alike(&linear->explorer->strip))
		linear_say(linear, "  All values give the same. %s\n", why);
}

/* "TP tensor 8. What it is for." */
void linear_say_knob(struct linear *linear, const struct knob *knob)
{
	struct explorer *explorer = linear->explorer;
	char label[64], value[64];

	text_squeeze(knob->label, label, sizeof label);
	knob_show(&explorer->scenario, knob, value, sizeof value);
	linear_say(linear, "%s %s. %s\n", label, value, knob->help);
	if (knob_does_nothing(explorer, knob)) {
		linear_say(linear, "  It %s.\n", knob_does_nothing(explorer, knob));
		return;
	}
	knobs_focus(explorer, knob);
	explorer_update(explorer);
	if (course_hides(explorer) || explorer->strip.count == 0)
		return;
	if (any_runs(&explorer->strip)) {
		say_values(linear, knob);
		say_still(linear, knob);
	} else
		linear_say(linear,
			   "  No value of this knob alone makes the plan run.\n");
}

void linear_say_micro_batches(struct linear *linear)
{
	const struct explorer *explorer = linear->explorer;

	if (explorer->estimate.micro_batches == 0) {
		linear_say_result(linear);
		return;
	}
	linear_say(linear,
		   "micro-batches %lld per pipeline, of a global batch of %lld.\n",
		   (long long)explorer->estimate.micro_batches,
		   (long long)explorer->scenario.plan.global_batch);
}

/* What it means, and why one would look at it. */
void linear_say_word(struct linear *linear, const struct glossary_word *word)
{
	char means[GLOSSARY_MAX_TEXT], why[GLOSSARY_MAX_TEXT];

	glossary_plain(word->means, means, sizeof means);
	glossary_plain(word->why, why, sizeof why);
	linear_say(linear, "%s\n%s\n", means, why);
}

static void say_terms(struct linear *linear, const struct explanation_term *terms,
		      int count)
{
	char value[64];

	for (int i = 0; i < count; i++) {
		form_text(terms[i].form, terms[i].value, value, sizeof value);
		linear_say(linear, "  %s is %s, %s\n", terms[i].symbol, value,
			   terms[i].meaning);
	}
}

void linear_say_explanation(struct linear *linear, const char *key)
{
	const struct explorer *explorer = linear->explorer;
	struct explanation x;
	char value[64];

	if (!explorer->estimate.legal) {
		linear_say_result(linear);
		return;
	}
	if (!explain(&explorer->scenario, &explorer->estimate, key, &x)) {
		linear_say(linear, "there is nothing to explain of '%s'\n", key);
		return;
	}
	form_text(x.form, x.value, value, sizeof value);
	if (x.word)
		linear_say_word(linear, x.word);
	linear_say(linear, "%s: %s = %s\n", x.title, x.formula, value);
	say_terms(linear, x.term, x.terms);
	if (x.besides > 0)
		linear_say(linear, "To compare with:\n");
	say_terms(linear, x.beside, x.besides);
	linear_say(linear, "%s\n", x.assumption);
	linear_say(linear, "Source: %s\n", x.source);
}
