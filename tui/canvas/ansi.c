/* ansi.c - a canvas as text with ECMA-48 colours, for a pipe or `less -R`. */
#include "tui/canvas.h"
#include "tui/text.h"

static bool is_same(struct look a, struct look b)
{
	return a.fore == b.fore && a.back == b.back && a.bold == b.bold &&
	       a.reverse == b.reverse && a.underline == b.underline;
}

/* ECMA-48 select graphic rendition; 38;5 and 48;5 are xterm's 256 colours, 38;2 and
 * 48;2 its 24 bits. */
static void add_colour(struct text *out, int base, int colour, bool rgb)
{
	if (colour >= 0 && rgb)
		text_addf(out, ";%d;2;%d;%d;%d", base + 8, colour >> 16 & 255,
			  colour >> 8 & 255, colour & 255);
	else if (colour >= 8)
		text_addf(out, ";%d;5;%d", base + 8, colour);
	else if (colour >= 0)
		text_addf(out, ";%d", base + colour);
}

static void add_look(struct text *out, struct look look, bool rgb)
{
	text_add(out, "\033[0");
	if (look.bold)
		text_add(out, ";1");
	if (look.underline)
		text_add(out, ";4");
	if (look.reverse)
		text_add(out, ";7");
	add_colour(out, 30, look.fore, rgb);
	add_colour(out, 40, look.back, rgb);
	text_add(out, "m");
}

static int used_width(const struct cell *row, int width, enum palette palette)
{
	for (; width > 0 && row[width - 1].code == ' '; width--) {
		struct look look = theme_look(&row[width - 1], palette);
		if (look.back >= 0 || look.reverse || look.underline)
			break;
	}
	return width;
}

char *canvas_to_ansi(const struct canvas *canvas, enum palette palette)
{
	static const struct look plain = { .fore = -1, .back = -1 };
	struct text out = { 0 };

	if (!canvas->colour)
		palette = PALETTE_MONO;
	for (int y = 0; y < canvas->height; y++) {
		const struct cell *row =
			canvas->cell + (size_t)y * (size_t)canvas->width;
		int width = used_width(row, canvas->width, palette);
		struct look now = plain;
		for (int x = 0; x < width; x++) {
			struct look look = theme_look(&row[x], palette);
			if (row[x].code == 0)
				continue;
			if (!is_same(look, now))
				add_look(&out, look, theme_is_rgb(palette));
			now = look;
			text_add_code(&out, row[x].code);
		}
		text_add(&out, is_same(now, plain) ? "\n" : "\033[0m\n");
	}
	return text_take(&out);
}
