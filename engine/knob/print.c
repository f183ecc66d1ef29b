/* print.c - a value as text: for files and for the screen. */
#include "engine/base/form.h"
#include "engine/knob/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

size_t knob_decimal(double value, double scale, double stored, char *out, size_t size)
{
	char text[40];
	const char *end;

	if (value == floor(value) && fabs(value) < 1e15) {
		snprintf(text, sizeof text, "%.0f", value);
		if (knob_scan(text, &end) * scale == stored)
			return (size_t)snprintf(out, size, "%s", text);
	}
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, value);
		for (char *c = text; *c; c++)
			if (*c == ',')
				*c = '.';
		if (knob_scan(text, &end) * scale == stored)
			break;
	}
	return (size_t)snprintf(out, size, "%s", text);
}

static size_t copy_number(const char *text, char *out, size_t size)
{
	size_t length = strlen(text);

	if (size == 0)
		return 0;
	if (length >= size)
		length = size - 1;
	memcpy(out, text, length);
	out[length] = '\0';
	return length;
}

static size_t print_set(const struct knob *knob, uint64_t bits, char *out, size_t size)
{
	size_t used = 0;

	if (bits == 0)
		return copy_number(knob->zero, out, size);
	for (int i = 0; knob->words[i]; i++) {
		if (!(bits >> i & 1))
			continue;
		if (used > 0)
			used += copy_number("+", out + used, size - used);
		used += copy_number(knob->words[i], out + used, size - used);
	}
	return used;
}

static const char *word_of(const struct knob *knob, double value)
{
	if (knob->type == KNOB_BOOL)
		return value != 0 ? "on" : "off";
	if (!(value >= 0 && value <= knob->max))
		return "?";
	return knob->words[(int)value];
}

static double stored(const struct scenario *scenario, const struct knob *knob)
{
	const void *at = (const char *)scenario + knob->offset;

	return knob->type == KNOB_REAL ? *(const double *)at : knob_get(scenario, knob);
}

static size_t print_number(const struct knob *knob, double value, double exact,
			   char *out, size_t size)
{
	char number[40];

	if (knob->zero && value == 0)
		return copy_number(knob->zero, out, size);
	knob_decimal(value, knob->scale, exact, number, sizeof number);
	return copy_number(number, out, size);
}

size_t knob_print_value(const struct knob *knob, double value, char *out, size_t size)
{
	switch (knob->type) {
	case KNOB_TEXT: return copy_number("", out, size);
	case KNOB_SET: return print_set(knob, (uint64_t)value, out, size);
	case KNOB_BOOL:
	case KNOB_WORD: return copy_number(word_of(knob, value), out, size);
	case KNOB_INT:
	case KNOB_REAL: break;
	}
	return print_number(knob, value, value * knob->scale, out, size);
}

size_t knob_print(const struct scenario *scenario, const struct knob *knob, char *out,
		  size_t size)
{
	const char *text = knob_get_text(scenario, knob);
	double value = knob_get(scenario, knob);

	if (knob->type == KNOB_TEXT)
		return copy_number(*text ? text : knob->zero, out, size);
	if (knob->type == KNOB_REAL)
		return print_number(knob, value, stored(scenario, knob), out, size);
	return knob_print_value(knob, value, out, size);
}

/* What "auto" stands for, 0 if it has no one number. */
static double meant(const struct scenario *scenario, const struct knob *knob)
{
	if (strcmp(knob->key, "etp") == 0)
		return (double)scenario_etp(scenario);
	if (strcmp(knob->key, "micro_batch_group") == 0)
		return (double)scenario->plan.pp;
	if (strcmp(knob->key, "zero_group") == 0)
		return (double)(scenario_dp(scenario) * scenario->plan.cp);
	return 0;
}

size_t knob_show(const struct scenario *scenario, const struct knob *knob, char *out,
		 size_t size)
{
	double value = knob_get(scenario, knob);
	char text[64];

	if (knob->type == KNOB_REAL && !(knob->zero && value == 0))
		form_text(strcmp(knob->unit, "tokens") == 0 ? FORM_TOKENS : FORM_REAL,
			  value, text, sizeof text);
	else if (knob->type == KNOB_INT && value == 0 && knob->zero &&
		 meant(scenario, knob) > 0)
		snprintf(text, sizeof text, "%.0f (%s)", meant(scenario, knob),
			 knob->zero);
	else if (knob->type == KNOB_INT && value >= 16384 && fmod(value, 1024) == 0)
		snprintf(text, sizeof text, "%.0f Ki", value / 1024);
	else
		return knob_print(scenario, knob, out, size);
	return copy_number(text, out, size);
}

void knob_domain(const struct knob *knob, char *out, size_t size)
{
	char low[40], high[40];
	size_t used = 0;

	if (size > 0)
		out[0] = '\0';
	for (int i = 0; knob->words && knob->words[i]; i++) {
		if (i > 0)
			used += copy_number(knob->type == KNOB_SET ? "+" : ", ",
					    out + used, size - used);
		used += copy_number(knob->words[i], out + used, size - used);
	}
	if (knob->words)
		return;
	if (knob->type == KNOB_TEXT || knob->type == KNOB_BOOL) {
		copy_number(knob->type == KNOB_TEXT ? "text" : "on, off", out, size);
		return;
	}
	knob_decimal(knob->min, 1, knob->min, low, sizeof low);
	knob_decimal(knob->max, 1, knob->max, high, sizeof high);
	snprintf(out, size, "%s to %s%s%s%s%s", low, high, knob->unit[0] ? " " : "",
		 knob->unit, knob->zero ? ", " : "", knob->zero ? knob->zero : "");
}
