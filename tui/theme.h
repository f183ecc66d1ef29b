/* theme.h - roles, colours and glyphs: three tables, three levels each. */
#ifndef TUI_THEME_H
#define TUI_THEME_H

#include <stdbool.h>
#include <stdint.h>

/* What a cell means. The table in theme.c gives each role its mono attributes,
 * its 8-colour and its 256-colour value, and its RGB for SVG. Parts of a bar
 * differ in lightness and in fill letter, not in hue alone. */
enum role {
	ROLE_DEFAULT,
	ROLE_TITLE,
	ROLE_LABEL, /* quiet text that names a number */
	ROLE_VALUE,
	ROLE_KEY, /* a key to press */
	ROLE_FOCUS,
	ROLE_BORDER,
	ROLE_QUIET, /* text that means little here */
	ROLE_GOOD,
	ROLE_BAD,
	ROLE_WARNING,
	ROLE_HINT,
	ROLE_DELTA_BETTER,
	ROLE_DELTA_WORSE,
	ROLE_WEIGHTS, /* memory parts */
	ROLE_GRADIENTS,
	ROLE_OPTIMIZER,
	ROLE_ACTIVATIONS,
	ROLE_BUFFERS,
	ROLE_FRAMEWORK,
	ROLE_KV, /* of a server, in the place of the optimizer */
	ROLE_FREE,
	ROLE_COMPUTE, /* time parts */
	ROLE_RECOMPUTE,
	ROLE_BUBBLE,
	ROLE_STEP, /* optimizer step */
	ROLE_TP,
	ROLE_CP,
	ROLE_EP,
	ROLE_PP,
	ROLE_DP,
	ROLE_HOST,
	ROLE_FORWARD, /* timeline */
	ROLE_FORWARD_ALT,
	ROLE_BACKWARD,
	ROLE_BACKWARD_ALT,
	ROLE_WGRAD,
	ROLE_WGRAD_ALT,
	ROLE_DECODE, /* passes of a server */
	ROLE_DECODE_ALT,
	ROLE_MIXED,
	ROLE_AGAIN, /* forwards that a backward computes again */
	ROLE_TRANSFER,
	ROLE_IDLE,
	ROLE_CRITICAL,
	ROLE_PAUSE, /* idle time of a lane, painted where there are colours */
	ROLE_COUNT
};

enum glyph_level {
	GLYPHS_ASCII, /* any locale */
	GLYPHS_BASIC, /* TERM=linux: CP437 blocks and single lines */
	GLYPHS_FULL,  /* eighth blocks and braille */
	GLYPHS_COUNT
};

enum glyph {
	GLYPH_HORIZONTAL,
	GLYPH_VERTICAL,
	GLYPH_TEE_DOWN, /* where lines meet */
	GLYPH_TEE_UP,
	GLYPH_TEE_RIGHT,
	GLYPH_TEE_LEFT,
	GLYPH_CROSS,
	GLYPH_CORNER_TL,
	GLYPH_CORNER_TR,
	GLYPH_CORNER_BL,
	GLYPH_CORNER_BR,
	GLYPH_FULL_BLOCK,
	GLYPH_SHADE,
	GLYPH_UP,
	GLYPH_DOWN,
	GLYPH_LEFT,
	GLYPH_RIGHT,
	GLYPH_BULLET,
	GLYPH_ELLIPSIS,
	GLYPH_OPEN, /* an unfolded group */
	GLYPH_FOLDED,
	GLYPH_CHECK,
	GLYPH_FAIL,
	GLYPH_MARK,
	GLYPH_TIMES,
	GLYPH_MIDDOT,
	GLYPH_FREE,  /* what a bar leaves free; idle time has the dot */
	GLYPH_LINK,  /* of a network, between boxes */
	GLYPH_LIMIT, /* a capacity line */
	GLYPH_COUNT
};

struct role_style {
	const char *name;
	int colour8, colour256;       /* -1 = the terminal's default */
	uint32_t rgb_dark, rgb_light; /* on a dark and on a light background */
	unsigned bold8 : 1, mono_bold : 1, mono_reverse : 1, mono_underline : 1;
	unsigned bold : 1; /* with colours too */
	char fill;         /* letter of a mono or ASCII bar */
};

/* How many colours there are and on what background. The plain 8 and 256 are
 * readable on both a dark and a light background. */
enum palette {
	PALETTE_MONO,
	PALETTE_8,
	PALETTE_256,
	PALETTE_256_DARK, /* the background is known */
	PALETTE_256_LIGHT,
	PALETTE_RGB_DARK, /* 0xRRGGBB, of terminals with 24 bits and of pictures */
	PALETTE_RGB_LIGHT,
	PALETTE_COUNT
};

/* What the terminal writes on. */
enum background { BACKGROUND_UNKNOWN, BACKGROUND_DARK, BACKGROUND_LIGHT };

/* How a cell looks: colours as indices or RGB, -1 = the terminal's default. */
struct look {
	int fore, back;
	bool bold, reverse, underline;
};

const struct role_style *theme_style(enum role role);
/* For so many colours on this background. What is readable on both has 256 of them at
 * most: 24 bits are for a background that is known. */
enum palette theme_palette(int colours, enum background background);
bool theme_is_rgb(enum palette palette);
/* Whether black or white reads better on it. */
enum background theme_background(uint32_t rgb);
uint32_t theme_glyph(enum glyph_level level, enum glyph glyph);
/* The nearest character that the level has; '?' if there is none. */
uint32_t theme_substitute(enum glyph_level level, uint32_t code);
/* The colour of a role, -1 for the terminal's default. */
int theme_colour(enum role role, enum palette palette);
/* Black or white, whichever reads better on the colour of the role. */
int theme_ink(enum role back, enum palette palette);
/* Text over a painted background takes that background's ink; block elements
 * keep their own colour, so that two colours can meet inside a cell. Letters in the
 * colour of a bar are as much darker or lighter as it takes to read them: 4.5:1. */
struct cell;
struct look theme_look(const struct cell *cell, enum palette palette);
/* 0xRRGGBB of xterm's colour 16..255. */
uint32_t theme_rgb256(int index);
/* WCAG 2 relative luminance of 0xRRGGBB, 0..1. */
double theme_luminance(uint32_t rgb);

#endif
