/* form.c - one number with the shortest fitting unit, the same everywhere. */
#include "engine/base/form.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A ladder of units: value / factor is shown with the unit of the largest factor
 * that it reaches. */
struct unit {
	double factor;
	const char *name;
};

static const struct unit counts[] = { { 1e12, " T" }, { 1e9, " B" }, { 1e6, " M" },
				      { 1e3, " k" },  { 1, "" },     { 0, NULL } };
static const struct unit bytes[] = { { 1099511627776.0, " TiB" },
				     { 1073741824.0, " GiB" },
				     { 1048576.0, " MiB" },
				     { 1024, " KiB" },
				     { 1, " B" },
				     { 0, NULL } };
static const struct unit traffic[] = { { 1e12, " TB" }, { 1e9, " GB" }, { 1e6, " MB" },
				       { 1e3, " kB" },  { 1, " B" },    { 0, NULL } };
static const struct unit seconds[] = {
	{ 1, " s" }, { 1e-3, " ms" }, { 1e-6, " us" }, { 1e-9, " ns" }, { 0, NULL }
};
static const struct unit flops[] = { { 1e18, " EFLOP" }, { 1e15, " PFLOP" },
				     { 1e12, " TFLOP" }, { 1e9, " GFLOP" },
				     { 1e6, " MFLOP" },  { 1e3, " kFLOP" },
				     { 1, " FLOP" },     { 0, NULL } };
static const struct unit rates[] = { { 1e12, " T tok/s" }, { 1e9, " G tok/s" },
				     { 1e6, " M tok/s" },  { 1e3, " k tok/s" },
				     { 1, " tok/s" },      { 0, NULL } };
static const struct unit energy[] = { { 3.6e15, " TWh" }, { 3.6e12, " GWh" },
				      { 3.6e9, " MWh" },  { 3.6e6, " kWh" },
				      { 3.6e3, " Wh" },   { 0, NULL } };
static const struct unit mass[] = { { 1e12, " Mt" }, { 1e9, " kt" }, { 1e6, " t" },
				    { 1e3, " kg" },  { 1, " g" },    { 0, NULL } };
static const struct unit dates[] = { { 31557600, " years" },
				     { 2 * 86400, " days" },
				     { 3600, " h" },
				     { 60, " min" },
				     { 1, " s" },
				     { 0, NULL } };

/* Decimal point whatever the locale says. */
static size_t put_number(char *out, size_t size, const char *before, double value,
			 int decimals, const char *after)
{
	char number[64];
	int length;

	if (fabs(value) >= 1e9 || decimals > 6)
		snprintf(number, sizeof number, "%.2e", value);
	else
		snprintf(number, sizeof number, "%.*f", decimals, value);
	for (char *c = number; *c; c++)
		if (*c == ',')
			*c = '.';
	/* what rounds to nothing has no sign */
	if (number[0] == '-' && strspn(number + 1, "0.") == strlen(number + 1))
		memmove(number, number + 1, strlen(number));
	length = snprintf(out, size, "%s%s%s%s", number[0] == '-' ? "-" : "", before,
			  number + (number[0] == '-'), after);
	if (size == 0)
		return 0;
	return length < (int)size ? (size_t)length : size - 1;
}

/* Decimals that make three digits. */
static int three(double value)
{
	double size = fabs(value);

	return size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
}

static size_t scale_value(const struct unit *unit, const char *before, double value,
			  char *out, size_t size)
{
	const struct unit *least = unit;
	double share;

	while (least[1].name)
		least++;
	/* what is left of a difference of equals is nothing */
	if (fabs(value) < 0.005 * least->factor) {
		while (unit[1].name && unit->factor != 1)
			unit++;
		return put_number(out, size, before, 0, 0, unit->name);
	}
	/* 999.6 MB reads 1.00 GB: compare what will be printed */
	while (unit[1].name && fabs(value) < unit->factor * 0.9995)
		unit++;
	share = value / unit->factor;
	return put_number(out, size, before, share,
			  unit->factor == 1 && share == floor(share) ? 0 : three(share),
			  unit->name);
}

/* So much in a second. */
static size_t put_rate(const struct unit *unit, double value, char *out, size_t size)
{
	char text[64];
	int length;

	scale_value(unit, "", value, text, sizeof text);
	length = snprintf(out, size, "%s/s", text);
	return size == 0 ? 0 : length < (int)size ? (size_t)length : size - 1;
}

/* Plain up to five digits: counts and rates are compared by eye. */
static size_t put_plain(const struct unit *unit, const char *after, double value,
			int decimals, char *out, size_t size)
{
	if (fabs(value) < 99999.5)
		return put_number(out, size, "", value, decimals, after);
	return scale_value(unit, "", value, out, size);
}

/* 2.50 M reads 2.5 M: what a person typed comes back as typed. */
static size_t trim_zeros(const char *text, char *out, size_t size)
{
	size_t number = strspn(text, "-0123456789."), keep = number;
	int length;

	if (memchr(text, '.', number) && text[number] != 'e') {
		while (text[keep - 1] == '0')
			keep--;
		keep -= text[keep - 1] == '.';
	}
	length = snprintf(out, size, "%.*s%s", (int)keep, text, text + number);
	return size == 0 ? 0 : length < (int)size ? (size_t)length : size - 1;
}

static size_t put_tokens(double value, char *out, size_t size)
{
	char text[64];

	scale_value(counts, "", value, text, sizeof text);
	return trim_zeros(text, out, size);
}

static size_t put_real(double value, char *out, size_t size)
{
	double a = fabs(value);
	int decimals =
		a >= 0.0995 || a == 0 ? three(value) : (int)(2 - floor(log10(a)));
	char text[64];

	if (a >= 99999.5 && a < 1e17)
		return put_tokens(value, out, size);
	put_number(text, sizeof text, "", value, decimals, "");
	return trim_zeros(text, out, size);
}

static size_t put_percent(double share, char *out, size_t size)
{
	double value = share * 100, a = fabs(value);

	return put_number(out, size, "", value,
			  a >= 99.95             ? 0
			  : a >= 0.995 || a == 0 ? 1
						 : 2,
			  " %");
}

size_t form_text(enum form form, double value, char *out, size_t size)
{
	if (!isfinite(value)) {
		snprintf(out, size, "-");
		return size > 1 ? 1 : 0;
	}
	switch (form) {
	case FORM_COUNT:
	case FORM_WORD: return put_plain(counts, "", value, 0, out, size);
	case FORM_REAL: return put_real(value, out, size);
	case FORM_PERCENT: return put_percent(value, out, size);
	case FORM_BYTES: return scale_value(bytes, "", value, out, size);
	case FORM_TRAFFIC: return scale_value(traffic, "", value, out, size);
	case FORM_SECONDS: return scale_value(seconds, "", value, out, size);
	case FORM_TOKENS: return put_tokens(value, out, size);
	case FORM_FLOPS: return scale_value(flops, "", value, out, size);
	case FORM_BANDWIDTH: return put_rate(traffic, value, out, size);
	case FORM_SPEED: return put_rate(flops, value, out, size);
	case FORM_RATE:
		return put_plain(rates, " tok/s", value, three(value), out, size);
	case FORM_DOLLARS: return scale_value(counts, "$", value, out, size);
	case FORM_MASS: return scale_value(mass, "", value, out, size);
	case FORM_ENERGY: return scale_value(energy, "", value, out, size);
	case FORM_DATE:
		if (fabs(value) >= 86400 * 2 && fabs(value) < 31557600)
			return put_number(out, size, "", value / 86400,
					  three(value / 86400), " days");
		return scale_value(dates, "", value, out, size);
	}
	return 0;
}

const char *form_unit(enum form form)
{
	switch (form) {
	case FORM_BYTES:
	case FORM_TRAFFIC: return "bytes";
	case FORM_SECONDS:
	case FORM_DATE: return "seconds";
	case FORM_TOKENS: return "tokens";
	case FORM_FLOPS: return "FLOP";
	case FORM_BANDWIDTH: return "bytes/s";
	case FORM_SPEED: return "FLOP/s";
	case FORM_RATE: return "tokens/s";
	case FORM_DOLLARS: return "dollars";
	case FORM_MASS: return "grams";
	case FORM_ENERGY: return "joules";
	default: return "1";
	}
}
