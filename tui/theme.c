/* theme.c - see theme.h. The palette follows Okabe and Ito (2008), "Color
 * Universal Design", with lightness alternating along each bar; tests/test_theme.c
 * checks contrast and simulated colour blindness. */
#include "tui/theme.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>

#include "tui/canvas.h"

/* clang-format off */
static const struct role_style style[ROLE_COUNT] = {
	/*                       name             8  256  dark      light */
	[ROLE_DEFAULT]       = { "default",      -1,  -1, 0xd7dce4, 0x1f2328, .fill = ' ' },
	[ROLE_TITLE]         = { "title",        -1,  32, 0x5fafff, 0x005faf, .bold8 = 1, .mono_bold = 1, .bold = 1, .fill = ' ' },
	[ROLE_LABEL]         = { "label",        -1,  -1, 0xc3cad4, 0x3d444d, .fill = ' ' },
	[ROLE_VALUE]         = { "value",        -1,  -1, 0xffffff, 0x0d1117, .bold8 = 1, .mono_bold = 1, .bold = 1, .fill = ' ' },
	[ROLE_KEY]           = { "key",          -1,  30, 0x5fd7d7, 0x005f5f, .bold8 = 1, .mono_bold = 1, .bold = 1, .fill = ' ' },
	[ROLE_FOCUS]         = { "focus",         6,  31, 0x5fafd7, 0x0b63b5, .mono_reverse = 1, .fill = ' ' },
	[ROLE_BORDER]        = { "border",       -1, 244, 0x767676, 0x8a8a8a, .fill = ' ' },
	[ROLE_QUIET]         = { "quiet",        -1, 244, 0xa8a8a8, 0x6c6c6c, .fill = ' ' },
	[ROLE_GOOD]          = { "good",          2,  29, 0x5fd7af, 0x00704f, .fill = ' ' },
	[ROLE_BAD]           = { "bad",           1, 166, 0xff875f, 0xa82a00, .bold8 = 1, .mono_bold = 1, .bold = 1, .fill = '!' },
	[ROLE_WARNING]       = { "warning",       5, 136, 0xffd75f, 0x7d5200, .mono_bold = 1, .fill = '!' },
	[ROLE_HINT]          = { "hint",         -1,  68, 0xafafff, 0x3f51b5, .fill = ' ' },
	[ROLE_DELTA_BETTER]  = { "better",        2,  29, 0x5fd7af, 0x00704f, .fill = ' ' },
	[ROLE_DELTA_WORSE]   = { "worse",         1, 166, 0xff875f, 0xa82a00, .mono_bold = 1, .fill = ' ' },
	[ROLE_WEIGHTS]       = { "weights",       4,  25, 0x2c74c4, 0x005faf, .fill = '#' },
	[ROLE_GRADIENTS]     = { "gradients",     6, 110, 0xafd7ff, 0x7dbcec, .fill = '=' },
	[ROLE_OPTIMIZER]     = { "optimizer",     1, 130, 0xc25a17, 0xb04a00, .fill = '+' },
	[ROLE_ACTIVATIONS]   = { "activations",   3, 178, 0xf2b93d, 0xe9aa1c, .fill = ':' },
	[ROLE_BUFFERS]       = { "buffers",       5, 125, 0xb82e78, 0xa01660, .fill = '&' },
	[ROLE_FRAMEWORK]     = { "framework",     2, 248, 0xbcbcbc, 0xafafaf, .fill = '%' },
	[ROLE_KV]            = { "KV cache",      1, 130, 0xc25a17, 0xb04a00, .fill = 'k' },
	[ROLE_FREE]          = { "free",         -1, 244, 0x767676, 0x9e9e9e, .fill = ' ' },
	[ROLE_COMPUTE]       = { "compute",       4,  25, 0x2c74c4, 0x005faf, .fill = '#' },
	[ROLE_RECOMPUTE]     = { "recompute",     6,  68, 0x7fa6e8, 0x5f87d7, .fill = 'r' },
	[ROLE_BUBBLE]        = { "bubble",        7, 245, 0x767676, 0xbcbcbc, .fill = '_' },
	[ROLE_STEP]          = { "optimizer step", 2, 107, 0xafd787, 0x87af5f, .fill = 'o' },
	[ROLE_TP]            = { "TP",            5, 175, 0xd787af, 0xcf6fa3, .fill = 't' },
	[ROLE_CP]            = { "CP",            2,  79, 0x5fd7af, 0x2fb48a, .fill = 'c' },
	[ROLE_EP]            = { "EP",            6, 117, 0x87d7ff, 0x57b9e6, .fill = 'e' },
	[ROLE_PP]            = { "PP",            3, 178, 0xf2b93d, 0xe9aa1c, .fill = 'p' },
	[ROLE_DP]            = { "DP",            1, 130, 0xc25a17, 0xb04a00, .fill = 'd' },
	[ROLE_HOST]          = { "host",          7,  95, 0x6b4040, 0x6b4a4a, .fill = 'h' },
	[ROLE_FORWARD]       = { "forward",       4,  25, 0x2c74c4, 0x005faf, .fill = 'F' },
	[ROLE_FORWARD_ALT]   = { "forward",       6,  68, 0x6aa5e6, 0x4f92d9, .fill = 'f' },
	[ROLE_BACKWARD]      = { "backward",      2,  72, 0x4fb592, 0x2f9c78, .fill = 'B' },
	[ROLE_BACKWARD_ALT]  = { "backward",      2, 115, 0x9ae0c6, 0x74c7a9, .fill = 'b', .bold8 = 1 },
	[ROLE_WGRAD]         = { "weight gradient", 3, 172, 0xd98a1f, 0xc97a10, .fill = 'W' },
	[ROLE_WGRAD_ALT]     = { "weight gradient", 3, 221, 0xf6cf78, 0xeabc55, .fill = 'w', .bold8 = 1 },
	[ROLE_DECODE]        = { "decode",        4,  25, 0x2c74c4, 0x005faf, .fill = 'D' },
	[ROLE_DECODE_ALT]    = { "decode",        6,  68, 0x6aa5e6, 0x4f92d9, .fill = 'd' },
	[ROLE_MIXED]         = { "mixed",         3, 172, 0xd98a1f, 0xc97a10, .fill = 'M' },
	[ROLE_AGAIN]         = { "recompute",     5,  99, 0x875fff, 0x6a3fd8, .fill = 'r' },
	[ROLE_TRANSFER]      = { "transfer",      1, 124, 0xd02848, 0xb81c3c, .fill = '>' },
	[ROLE_IDLE]          = { "idle",         -1, 244, 0x767676, 0x9e9e9e, .fill = '.' },
	[ROLE_PAUSE]         = { "idle",          7, 240, 0x5c6675, 0xd7d7d7, .fill = '.' },
	[ROLE_CRITICAL]      = { "critical path", 1, 166, 0xff875f, 0xa82a00, .bold8 = 1, .mono_underline = 1, .bold = 1, .fill = '!' },
};

static const uint32_t glyph_table[GLYPH_COUNT][GLYPHS_COUNT] = {
	/*                       ASCII  basic   full */
	[GLYPH_HORIZONTAL]   = { '-',  0x2500, 0x2500 },
	[GLYPH_VERTICAL]     = { '|',  0x2502, 0x2502 },
	[GLYPH_TEE_DOWN]     = { '+',  0x252c, 0x252c },
	[GLYPH_TEE_UP]       = { '+',  0x2534, 0x2534 },
	[GLYPH_TEE_RIGHT]    = { '+',  0x251c, 0x251c },
	[GLYPH_TEE_LEFT]     = { '+',  0x2524, 0x2524 },
	[GLYPH_CROSS]        = { '+',  0x253c, 0x253c },
	[GLYPH_CORNER_TL]    = { '+',  0x250c, 0x256d },
	[GLYPH_CORNER_TR]    = { '+',  0x2510, 0x256e },
	[GLYPH_CORNER_BL]    = { '+',  0x2514, 0x2570 },
	[GLYPH_CORNER_BR]    = { '+',  0x2518, 0x256f },
	[GLYPH_FULL_BLOCK]   = { '#',  0x2588, 0x2588 },
	[GLYPH_SHADE]        = { ':',  0x2591, 0x2591 },
	[GLYPH_UP]           = { '^',  0x25b2, 0x25b2 },
	[GLYPH_DOWN]         = { 'v',  0x25bc, 0x25bc },
	[GLYPH_LEFT]         = { '<',  0x25c4, 0x25c2 },
	[GLYPH_RIGHT]        = { '>',  0x25ba, 0x25b8 },
	[GLYPH_BULLET]       = { '*',  0x2022, 0x2022 },
	[GLYPH_ELLIPSIS]     = { '~',  '~',    0x2026 },
	[GLYPH_OPEN]         = { '-',  0x25bc, 0x25be },
	[GLYPH_FOLDED]       = { '+',  0x25ba, 0x25b8 },
	[GLYPH_CHECK]        = { 'y',  0x221a, 0x2713 },
	[GLYPH_FAIL]         = { 'x',  'x',    0x2717 },
	[GLYPH_MARK]         = { '*',  0x25a0, 0x25cf },
	[GLYPH_TIMES]        = { 'x',  'x',    0x00d7 },
	[GLYPH_MIDDOT]       = { '.',  0x00b7, 0x00b7 },
	[GLYPH_FREE]         = { '-',  0x00b7, 0x00b7 },
	[GLYPH_LINK]         = { '=',  0x2550, 0x2550 },
	[GLYPH_LIMIT]        = { '|',  0x2502, 0x2503 },
};

/* Characters that a text may hold and that have no glyph of their own. */
static const struct {
	uint32_t code, basic, ascii;
} substitute_table[] = {
	{ 0x2190, 0x2190, '<' }, { 0x2191, 0x2191, '^' }, { 0x2192, 0x2192, '>' },
	{ 0x2193, 0x2193, 'v' }, { 0x2194, 0x2194, '-' }, { 0x2013, '-', '-' },
	{ 0x2014, '-', '-' },    { 0x2018, '\'', '\'' },  { 0x2019, '\'', '\'' },
	{ 0x201c, '"', '"' },    { 0x201d, '"', '"' },    { 0x2212, '-', '-' },
	{ 0x2248, 0x2248, '~' }, { 0x2260, '!', '!' },    { 0x2264, 0x2264, '<' },
	{ 0x2265, 0x2265, '>' }, { 0x00b5, 0x00b5, 'u' }, { 0x03bc, 0x00b5, 'u' },
	{ 0x00b1, 0x00b1, '~' }, { 0x00b2, 0x00b2, '2' }, { 0x0394, 'd', 'd' },
	{ 0x2592, 0x2592, ':' }, { 0x2593, 0x2593, '#' }, { 0x2580, 0x2580, '"' },
	{ 0x2584, 0x2584, '_' }, { 0x258c, 0x258c, '|' }, { 0x2590, 0x2590, '|' },
	{ 0x00a0, ' ', ' ' },    { 0x00b0, 0x00b0, 'o' },
};
/* clang-format on */

const struct role_style *theme_style(enum role role)
{
	return &style[role < ROLE_COUNT ? role : ROLE_DEFAULT];
}

uint32_t theme_glyph(enum glyph_level level, enum glyph glyph)
{
	return glyph_table[glyph][level];
}

uint32_t theme_substitute(enum glyph_level level, uint32_t code)
{
	if (code < 0x7f || level == GLYPHS_FULL)
		return code;
	for (size_t i = 0; i < GLYPH_COUNT; i++)
		for (enum glyph_level from = level; from < GLYPHS_COUNT; from++)
			if (glyph_table[i][from] == code)
				return glyph_table[i][level];
	for (size_t i = 0; i < sizeof substitute_table / sizeof substitute_table[0];
	     i++)
		if (substitute_table[i].code == code)
			return level == GLYPHS_ASCII ? substitute_table[i].ascii
						     : substitute_table[i].basic;
	/* A console font has Latin letters, but neither braille nor Han. */
	return level == GLYPHS_BASIC && code < 0x180 ? code : '?';
}

uint32_t theme_rgb256(int index)
{
	static const unsigned char level[6] = { 0, 95, 135, 175, 215, 255 };
	unsigned i = (unsigned)index;

	if (i >= 232)
		return (8 + 10 * (i - 232)) * 0x010101u;
	i -= 16;
	return (uint32_t)level[i / 36 % 6] << 16 | (uint32_t)level[i / 6 % 6] << 8 |
	       level[i % 6];
}

static double linear(uint32_t byte)
{
	double part = (byte & 255) / 255.0;

	return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4);
}

double theme_luminance(uint32_t rgb)
{
	return 0.2126 * linear(rgb >> 16) + 0.7152 * linear(rgb >> 8) +
	       0.0722 * linear(rgb);
}

static int square_distance(uint32_t a, uint32_t b)
{
	int sum = 0;

	for (int shift = 0; shift <= 16; shift += 8) {
		int difference = (int)(a >> shift & 255) - (int)(b >> shift & 255);
		sum += difference * difference;
	}
	return sum;
}

static int nearest256(uint32_t rgb)
{
	int best = 16;

	for (int i = 17; i < 256; i++)
		if (square_distance(theme_rgb256(i), rgb) <
		    square_distance(theme_rgb256(best), rgb))
			best = i;
	return best;
}

enum palette theme_palette(int colours, enum background background)
{
	if (colours < 256)
		return colours < 8 ? PALETTE_MONO : PALETTE_8;
	if (background == BACKGROUND_UNKNOWN)
		return PALETTE_256;
	if (colours == 256)
		return background == BACKGROUND_DARK ? PALETTE_256_DARK
						     : PALETTE_256_LIGHT;
	return background == BACKGROUND_DARK ? PALETTE_RGB_DARK : PALETTE_RGB_LIGHT;
}

bool theme_is_rgb(enum palette palette)
{
	return palette == PALETTE_RGB_DARK || palette == PALETTE_RGB_LIGHT;
}

enum background theme_background(uint32_t rgb)
{
	return theme_luminance(rgb) < 0.179 ? BACKGROUND_DARK : BACKGROUND_LIGHT;
}

/* Asked for every cell of a frame, worked out once for each role; one thread draws. */
static int known256(const struct role_style *s, bool light)
{
	static int known[ROLE_COUNT][2];
	int *colour = &known[s - style][light];

	if (*colour == 0)
		*colour = nearest256(light ? s->rgb_light : s->rgb_dark);
	return *colour;
}

int theme_colour(enum role role, enum palette palette)
{
	const struct role_style *s = theme_style(role);

	switch (palette) {
	case PALETTE_8: return s->colour8;
	case PALETTE_256: return s->colour256;
	case PALETTE_256_DARK: return s->colour256 < 0 ? -1 : known256(s, false);
	case PALETTE_256_LIGHT: return s->colour256 < 0 ? -1 : known256(s, true);
	case PALETTE_RGB_DARK: return s->colour256 < 0 ? -1 : (int)s->rgb_dark;
	case PALETTE_RGB_LIGHT: return s->colour256 < 0 ? -1 : (int)s->rgb_light;
	case PALETTE_MONO:
	case PALETTE_COUNT: break;
	}
	return -1;
}

/* Powers, asked for every painted cell: worked out once for each role. */
static bool is_dark(enum role role, enum palette palette, uint32_t rgb)
{
	enum { UNKNOWN, BRIGHT, DARK };
	static uint8_t known[ROLE_COUNT][PALETTE_COUNT];
	uint8_t *dark = &known[role][palette];

	if (*dark == UNKNOWN)
		*dark = theme_background(rgb) == BACKGROUND_DARK ? DARK : BRIGHT;
	return *dark == DARK;
}

int theme_ink(enum role back, enum palette palette)
{
	int colour = theme_colour(back, palette);
	bool white;

	if (colour < 0)
		return -1;
	if (palette == PALETTE_8)
		white = colour == 1 || colour == 4 || colour == 5;
	else
		white = is_dark(back, palette,
				theme_is_rgb(palette) ? (uint32_t)colour
						      : theme_rgb256(colour));
	if (palette == PALETTE_8)
		return white ? 7 : 0;
	if (theme_is_rgb(palette))
		return white ? 0xffffff : 0x000000;
	return white ? 231 : 16;
}

static double contrast(uint32_t a, uint32_t b)
{
	double x = theme_luminance(a) + 0.05, y = theme_luminance(b) + 0.05;

	return x > y ? x / y : y / x;
}

/* On black, two usual dark greys and Solarized's; on white and Solarized's. */
static bool reads(uint32_t rgb, bool light)
{
	static const uint32_t paper[2][4] = {
		{ 0x000000, 0x1e1e1e, 0x282c34, 0x002b36 },
		{ 0xffffff, 0xffffff, 0xfdf6e3, 0xfdf6e3 },
	};

	for (int i = 0; i < 4; i++)
		if (contrast(rgb, paper[light][i]) < 4.5)
			return false;
	return true;
}

/* `part` of so many parts of the way to black or white. */
static uint32_t shade(uint32_t rgb, bool light, int part, int parts)
{
	uint32_t mixed = 0;

	for (int shift = 0; shift <= 16; shift += 8) {
		int from = (int)(rgb >> shift & 255), to = light ? 0 : 255;

		mixed |= (uint32_t)(from + (to - from) * part / parts) << shift;
	}
	return mixed;
}

/* What is bright enough for a bar may be too pale for a word: the same colour, as much
 * darker or lighter as it takes to be read where the background is known. */
static int text_colour(enum role role, enum palette palette)
{
	enum { PARTS = 32 };
	bool light = palette == PALETTE_256_LIGHT || palette == PALETTE_RGB_LIGHT;
	int colour = theme_colour(role, palette), found = colour;
	uint32_t rgb;

	if (colour < 0 || palette < PALETTE_256_DARK)
		return colour;
	rgb = theme_is_rgb(palette) ? (uint32_t)colour : theme_rgb256(colour);
	for (int part = 1; part <= PARTS; part++) {
		if (reads(theme_is_rgb(palette) ? (uint32_t)found : theme_rgb256(found),
			  light))
			return found;
		found = (int)shade(rgb, light, part, PARTS);
		if (!theme_is_rgb(palette))
			found = nearest256((uint32_t)found);
	}
	return found;
}

static bool is_letter(uint32_t code)
{
	return code < 0x80 && isalnum((int)code);
}

static bool is_block(uint32_t code)
{
	return code >= 0x2580 && code <= 0x259f;
}

static struct look look_mono(const struct cell *cell)
{
	const struct role_style *s = theme_style((enum role)cell->fore);
	bool painted = cell->back != ROLE_DEFAULT || s->mono_reverse;

	/* a full block that is reversed is a hole: blocks are seen as they are */
	if (is_block(cell->code))
		painted = false;
	return (struct look){ .fore = -1,
			      .back = -1,
			      .bold = cell->bold || s->mono_bold,
			      .underline = cell->underline || s->mono_underline,
			      .reverse = cell->reverse || painted };
}

/* What theme_look() asks of a role, worked out once for each palette: a frame asks for
 * thousands of cells. One thread draws. */
struct paint_pot {
	int colour, ink, text;
	bool bold;
};

static const struct paint_pot *pots_of(enum palette palette)
{
	static struct paint_pot pot[PALETTE_COUNT][ROLE_COUNT];
	static bool mixed[PALETTE_COUNT];

	for (int role = 0; role < ROLE_COUNT && !mixed[palette]; role++)
		pot[palette][role] = (struct paint_pot){
			.colour = theme_colour((enum role)role, palette),
			.ink = theme_ink((enum role)role, palette),
			.text = text_colour((enum role)role, palette),
			/* Bold brightens 8 colours: wanted for text, not for a block */
			.bold = style[role].bold ||
				(palette == PALETTE_8 && style[role].bold8)
		};
	mixed[palette] = true;
	return pot[palette];
}

struct look theme_look(const struct cell *cell, enum palette palette)
{
	const struct paint_pot *pot, *fore;
	bool painted = cell->back != ROLE_DEFAULT && !is_block(cell->code);

	if (palette == PALETTE_MONO)
		return look_mono(cell);
	pot = pots_of(palette);
	fore = &pot[cell->fore < ROLE_COUNT ? cell->fore : ROLE_DEFAULT];
	return (struct look){
		.fore = painted && pot[cell->back].colour >= 0    ? pot[cell->back].ink
			: is_letter(cell->code) && !cell->reverse ? fore->text
								  : fore->colour,
		.back = cell->back == ROLE_DEFAULT ? -1 : pot[cell->back].colour,
		.bold = cell->bold || fore->bold,
		.reverse = cell->reverse,
		.underline = cell->underline
	};
}
