/* sgr.c - see sgr.h. */
#include "tui/sgr.h"

#include <stdint.h>
#include <stdio.h>

/* --- the table of 256 colours -------------------------------------------------- */

/* One of the six levels of its cube; -1: none of them. */
static int level_of(int byte)
{
	if (byte == 0)
		return 0;
	return byte >= 95 && (byte - 55) % 40 == 0 ? (byte - 55) / 40 : -1;
}

/* Where the table has exactly this colour; -1: nowhere. Its first 22 places are other
 * colours on many a terminal: the user's own, by name or by a theme. */
static int place_of(int rgb)
{
	enum { CUBE = 16, GREYS = 232, LEAST = 22 };
	int red = rgb >> 16 & 255, green = rgb >> 8 & 255, blue = rgb & 255, place;
	int r = level_of(red), g = level_of(green), b = level_of(blue);

	if (red == green && green == blue && red >= 8 && red <= 238 && red % 10 == 8)
		return GREYS + (red - 8) / 10;
	if (r < 0 || g < 0 || b < 0)
		return -1;
	place = CUBE + 36 * r + 6 * g + b;
	return place < LEAST ? -1 : place;
}

/* --- one colour ---------------------------------------------------------------- */

static int add_colour(char *out, size_t size, int colour, bool back, bool rgb)
{
	int base = back ? 40 : 30, place = rgb ? place_of(colour) : colour;

	if (colour < 0)
		return snprintf(out, size, "%d;", base + 9);
	if (place < 0)
		return snprintf(out, size, "%d;2;%d;%d;%d;", base + 8,
				colour >> 16 & 255, colour >> 8 & 255, colour & 255);
	if (place < 8)
		return snprintf(out, size, "%d;", base + place);
	return snprintf(out, size, "%d;5;%d;", base + 8, place);
}

static int digits(int number)
{
	return number < 10 ? 1 : number < 100 ? 2 : 3;
}

/* Bytes of add_colour(). */
static int count_colour(int colour, bool rgb)
{
	int place = rgb ? place_of(colour) : colour;

	if (colour < 0)
		return 3;
	if (place < 0)
		return 8 + digits(colour >> 16 & 255) + digits(colour >> 8 & 255) +
		       digits(colour & 255);
	return place < 8 ? 3 : 6 + digits(place);
}

/* --- all that changes ---------------------------------------------------------- */

int sgr_changes(char *out, size_t size, struct look from, struct look to, bool rgb)
{
	int used = 0;

	out[0] = '\0';
	if (from.bold != to.bold)
		used += snprintf(out + used, size - (size_t)used,
				 to.bold ? "1;" : "22;");
	if (from.underline != to.underline)
		used += snprintf(out + used, size - (size_t)used,
				 to.underline ? "4;" : "24;");
	if (from.reverse != to.reverse)
		used += snprintf(out + used, size - (size_t)used,
				 to.reverse ? "7;" : "27;");
	if (from.fore != to.fore)
		used += add_colour(out + used, size - (size_t)used, to.fore, false,
				   rgb);
	if (from.back != to.back)
		used += add_colour(out + used, size - (size_t)used, to.back, true, rgb);
	return used;
}

int sgr_length(struct look from, struct look to, bool rgb)
{
	int bytes = 0;

	if (from.bold != to.bold)
		bytes += to.bold ? 2 : 3;
	if (from.underline != to.underline)
		bytes += to.underline ? 2 : 3;
	if (from.reverse != to.reverse)
		bytes += to.reverse ? 2 : 3;
	if (from.fore != to.fore)
		bytes += count_colour(to.fore, rgb);
	if (from.back != to.back)
		bytes += count_colour(to.back, rgb);
	return bytes;
}
