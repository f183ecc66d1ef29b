/* finding.c - problems and advice as text. */
#include "engine/knob/finding.h"

#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"

struct text {
	char *out;
	size_t size, used;
};

static void add(struct text *text, const char *what, size_t length)
{
	if (text->size == 0)
		return;
	if (length > text->size - 1 - text->used)
		length = text->size - 1 - text->used;
	memcpy(text->out + text->used, what, length);
	text->used += length;
	text->out[text->used] = '\0';
}

static bool form_named(const char *name, size_t length, enum form *form)
{
	static const char *const names[] = {
		[FORM_COUNT] = "count",         [FORM_REAL] = "real",
		[FORM_PERCENT] = "percent",     [FORM_BYTES] = "bytes",
		[FORM_TRAFFIC] = "traffic",     [FORM_SECONDS] = "seconds",
		[FORM_TOKENS] = "tokens",       [FORM_FLOPS] = "flops",
		[FORM_BANDWIDTH] = "bandwidth", [FORM_SPEED] = "speed",
		[FORM_RATE] = "rate",           [FORM_DOLLARS] = "dollars",
		[FORM_MASS] = "mass",           [FORM_ENERGY] = "energy",
		[FORM_DATE] = "date",           [FORM_WORD] = "word",
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strncmp(names[i], name, length) == 0 && !names[i][length]) {
			*form = (enum form)i;
			return true;
		}
	return false;
}

static void add_value(struct text *text, const struct finding *finding, int index,
		      enum form form)
{
	const struct knob *knob = finding->knob ? knob_find(finding->knob) : NULL;
	char value[64];

	if (index < 0 || index >= MAX_TERMS)
		return;
	if (form == FORM_WORD && knob)
		knob_print_value(knob, finding->value[index], value, sizeof value);
	else
		form_text(form, finding->value[index], value, sizeof value);
	add(text, value, strlen(value));
}

/* One placeholder, "{n}", "{n:form}" or "{n:+form}" (a gain has its sign); returns its
 * length, 0 if it is none. */
static size_t add_placeholder(struct text *text, const struct finding *finding,
			      const char *at)
{
	size_t length = strcspn(at, "}");
	enum form form = FORM_COUNT;
	size_t sign = length > 3 && at[3] == '+';

	if (at[length] != '}' || at[1] < '0' || at[1] > '9')
		return 0;
	if (at[2] == ':' ? !form_named(at + 3 + sign, length - 3 - sign, &form)
			 : length != 2)
		return 0;
	if (sign && at[1] - '0' < MAX_TERMS && finding->value[at[1] - '0'] > 0)
		add(text, "+", 1);
	add_value(text, finding, at[1] - '0', form);
	return length + 1;
}

size_t finding_text(const struct finding *finding, char *out, size_t size)
{
	struct text text = { .out = out, .size = size };

	if (size > 0)
		out[0] = '\0';
	if (!finding->rule)
		return 0;
	for (const char *at = finding->rule->text; *at;) {
		size_t plain = strcspn(at, "{"), placeholder;

		add(&text, at, plain);
		at += plain;
		if (!*at)
			break;
		placeholder = add_placeholder(&text, finding, at);
		if (placeholder == 0)
			add(&text, at, 1);
		at += placeholder > 0 ? placeholder : 1;
	}
	return text.used;
}

/* "TP  tensor" as "TP tensor". */
static void add_label(struct text *text, const char *label)
{
	for (; *label; label++)
		if (label[0] != ' ' || label[1] != ' ')
			add(text, label, 1);
}

static size_t write_remedy(const struct finding *finding, bool label, char *out,
			   size_t size)
{
	struct text text = { .out = out, .size = size };
	const struct knob *knob = finding->knob ? knob_find(finding->knob) : NULL;
	char value[64];

	if (size > 0)
		out[0] = '\0';
	if (!knob || finding->nearest_count < 1)
		return 0;
	if (label)
		add_label(&text, knob->label);
	else
		add(&text, knob->key, strlen(knob->key));
	for (int i = 0; i < finding->nearest_count; i++) {
		const char *between = i == 0                           ? " "
				      : i + 1 < finding->nearest_count ? ", "
								       : " or ";

		knob_print_value(knob, finding->nearest[i], value, sizeof value);
		add(&text, between, strlen(between));
		add(&text, value, strlen(value));
	}
	return text.used;
}

size_t finding_remedy(const struct finding *finding, char *out, size_t size)
{
	return write_remedy(finding, false, out, size);
}

size_t finding_offer(const struct finding *finding, char *out, size_t size)
{
	return write_remedy(finding, true, out, size);
}

size_t rule_source(const struct rule *rule, char *out, size_t size)
{
	const char *source = rule->source ? rule->source : "", *tool = "";
	int length;

	if (strncmp(source, "M ", 2) == 0)
		tool = "Megatron-LM";
	else if (strncmp(source, "B ", 2) == 0)
		tool = "Megatron-Bridge";
	length = snprintf(out, size, "%s%s", tool, tool[0] ? source + 1 : source);
	return length < 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
}

const char *severity_label(enum severity severity)
{
	static const char *const labels[] = { "error", "warning", "hint" };

	return (unsigned)severity < SEVERITY_COUNT ? labels[severity] : "";
}
