/* form.h - one number with the shortest fitting unit, the same on every screen. */
#ifndef ENGINE_BASE_FORM_H
#define ENGINE_BASE_FORM_H

#include <stddef.h>

/* One number with the shortest fitting unit, the same on every screen. */
enum form {
	FORM_COUNT,
	FORM_REAL,
	FORM_PERCENT,
	FORM_BYTES,   /* GiB, MiB */
	FORM_TRAFFIC, /* GB, MB: decimal, as networks count */
	FORM_SECONDS,
	FORM_TOKENS, /* 15 T, 8 k */
	FORM_FLOPS,
	FORM_BANDWIDTH, /* GB/s */
	FORM_SPEED,     /* TFLOP/s */
	FORM_RATE,      /* tok/s */
	FORM_DOLLARS,
	FORM_MASS,   /* grams in, kg or t out */
	FORM_ENERGY, /* joules in, kWh or MWh out */
	FORM_DATE,   /* seconds in, days or hours out */
	FORM_WORD    /* the word of the finding's knob with that index */
};
size_t form_text(enum form form, double value, char *out, size_t size);
/* What the value itself counts, before form_text() shortens it: "bytes", "seconds", "1"
 * for a plain number or a share of 1. */
const char *form_unit(enum form form);

#endif
