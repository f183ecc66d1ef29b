/* text.c - see text.h. */
#include "tui/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct range {
	uint32_t first, last;
};

/* Characters that join the one before or take no column: Unicode 15 general
 * categories Mn, Me and Cf of the scripts that names are written in. */
static const struct range zero_width[] = {
	{ 0x00ad, 0x00ad }, { 0x0300, 0x036f },   { 0x0483, 0x0489 },
	{ 0x0591, 0x05bd }, { 0x0600, 0x0605 },   { 0x0610, 0x061a },
	{ 0x061c, 0x061c }, { 0x064b, 0x065f },   { 0x06d6, 0x06e4 },
	{ 0x0900, 0x0902 }, { 0x093a, 0x093a },   { 0x0941, 0x0948 },
	{ 0x0e31, 0x0e31 }, { 0x0e34, 0x0e3a },   { 0x0e47, 0x0e4e },
	{ 0x1160, 0x11ff }, { 0x180b, 0x180f },   { 0x1ab0, 0x1aff },
	{ 0x1dc0, 0x1dff }, { 0x200b, 0x200f },   { 0x2028, 0x202e },
	{ 0x2060, 0x206f }, { 0x20d0, 0x20f0 },   { 0x3099, 0x309a },
	{ 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },   { 0xfeff, 0xfeff },
	{ 0xfff9, 0xfffb }, { 0x1f3fb, 0x1f3ff }, { 0xe0000, 0xe0fff },
};

/* East Asian Width W and F (Unicode Standard Annex 11), in round ranges. */
static const struct range wide[] = {
	{ 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2329, 0x232a },
	{ 0x23e9, 0x23ec },   { 0x2e80, 0x303e },   { 0x3041, 0x33ff },
	{ 0x3400, 0x4dbf },   { 0x4e00, 0x9fff },   { 0xa000, 0xa4cf },
	{ 0xa960, 0xa97f },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },
	{ 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },
	{ 0x17000, 0x18cff }, { 0x1b000, 0x1b2ff }, { 0x1f300, 0x1f64f },
	{ 0x1f680, 0x1f6ff }, { 0x1f900, 0x1faff }, { 0x20000, 0x3fffd },
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* The ranges rise. */
static bool is_in(uint32_t code, const struct range *range, size_t count)
{
	for (size_t i = 0; i < count && code >= range[i].first; i++)
		if (code <= range[i].last)
			return true;
	return false;
}

int text_code_width(uint32_t code)
{
	/* lines, blocks and braille, of which every picture is made, are narrow */
	if (code < 0x1100 || (code >= 0x2400 && code < 0x2e80))
		return 1;
	return is_in(code, wide, LENGTH(wide)) ? 2 : 1;
}

/* The bytes that follow a lead byte, and the least code of that length; overlong
 * forms, surrogates and codes beyond U+10FFFF are not UTF-8 (RFC 3629). */
static int sequence_length(unsigned char lead, uint32_t *bits, uint32_t *least)
{
	if (lead >= 0xc2 && lead <= 0xdf)
		return *bits = lead & 0x1fu, *least = 0x80, 2;
	if ((lead & 0xf0) == 0xe0)
		return *bits = lead & 0x0fu, *least = 0x800, 3;
	if (lead >= 0xf0 && lead <= 0xf4)
		return *bits = lead & 0x07u, *least = 0x10000, 4;
	return 0;
}

static uint32_t decode_long(const char **text)
{
	const unsigned char *byte = (const unsigned char *)*text;
	uint32_t code, least;
	int length = sequence_length(byte[0], &code, &least);

	(*text)++;
	if (length == 0)
		return '?';
	for (int i = 1; i < length; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return '?';
		code = code << 6 | (byte[i] & 0x3fu);
	}
	if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return '?';
	*text += length - 1;
	if (code < 0xa0 || is_in(code, zero_width, LENGTH(zero_width)))
		return '?';
	return code;
}

uint32_t text_decode(const char **text)
{
	unsigned char byte = (unsigned char)**text;

	if (byte == 0)
		return 0;
	if (byte >= 0x80)
		return decode_long(text);
	(*text)++;
	return byte < 0x20 || byte == 0x7f ? '?' : byte;
}

size_t text_encode(uint32_t code, char out[4])
{
	static const unsigned char lead[5] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = length - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (code & 0x3f));
		code >>= 6;
	}
	out[0] = (char)(lead[length] | code);
	return length;
}

static void text_append(struct text *text, const char *bytes, size_t length)
{
	if (text->failed)
		return;
	if (text->length + length + 1 > text->capacity) {
		size_t capacity = (text->length + length + 1) * 2;
		char *data = realloc(text->data, capacity);
		if (data == NULL) {
			text->failed = true;
			return;
		}
		text->data = data;
		text->capacity = capacity;
	}
	memcpy(text->data + text->length, bytes, length);
	text->length += length;
	text->data[text->length] = '\0';
}

void text_add(struct text *text, const char *string)
{
	text_append(text, string, strlen(string));
}

void text_add_code(struct text *text, uint32_t code)
{
	char bytes[4];

	text_append(text, bytes, text_encode(code, bytes));
}

void text_addf(struct text *text, const char *format, ...)
{
	char line[256];
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= sizeof line)
		text->failed = true;
	else
		text_append(text, line, (size_t)length);
}

char *text_take(struct text *text)
{
	if (!text->failed)
		text_append(text, "", 0);
	if (text->failed) {
		free(text->data);
		text->data = NULL;
	}
	char *data = text->data;
	*text = (struct text){ 0 };
	return data;
}

void text_squeeze(const char *label, char *out, size_t size)
{
	size_t used = 0;

	for (; *label != '\0' && used + 1 < size; label++)
		if (*label != ' ' || (used > 0 && out[used - 1] != ' '))
			out[used++] = *label;
	out[used] = '\0';
}
