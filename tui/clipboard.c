/* clipboard.c - see clipboard.h. OSC 52 is xterm's, ctlseqs "Manipulate Selection
 * Data". */
#include "tui/clipboard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/outlet.h"
#include "tui/terminal.h"

static const char digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static char *encode(char *out, const unsigned char *text, size_t length)
{
	for (size_t i = 0; i < length; i += 3) {
		size_t left = length - i;
		unsigned bits = (unsigned)text[i] << 16;

		if (left > 1)
			bits |= (unsigned)text[i + 1] << 8;
		if (left > 2)
			bits |= text[i + 2];
		*out++ = digits[bits >> 18 & 63];
		*out++ = digits[bits >> 12 & 63];
		*out++ = left > 1 ? digits[bits >> 6 & 63] : '=';
		*out++ = left > 2 ? digits[bits & 63] : '=';
	}
	return out;
}

/* "ESC ] 52 ; c ; base64 BEL", to be freed. NULL: out of memory, or too long. */
static char *clipboard_sequence(const char *text)
{
	static const char start[] = "\033]52;c;";
	size_t length = strlen(text);
	char *sequence, *end;

	if (length > CLIPBOARD_MAX_BYTES)
		return NULL;
	sequence = malloc(sizeof start + (length + 2) / 3 * 4 + 2);
	if (!sequence)
		return NULL;
	strcpy(sequence, start);
	end = encode(sequence + sizeof start - 1, (const unsigned char *)text, length);
	strcpy(end, "\a");
	return sequence;
}

/* Whether a terminal of this type ($TERM) knows the sequence, as far as its name says;
 * inside GNU screen ($STY) nothing comes through. */
static bool clipboard_known(const char *term, const char *screen_session)
{
	/* what these names stand for takes it, whatever their terminfo says */
	static const char *const families[] = { "xterm",     "tmux",    "screen",
						"alacritty", "foot",    "kitty",
						"wezterm",   "ghostty", "st-",
						"rxvt",      "contour", "iterm" };

	if (!term || (screen_session && screen_session[0] != '\0'))
		return false;
	for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
		if (strncmp(term, families[i], strlen(families[i])) == 0)
			return true;
	return false;
}

bool clipboard_copy(const char *text, char *why, size_t size)
{
	bool has = clipboard_known(getenv("TERM"), getenv("STY")) || terminal_has("Ms");
	char *sequence = has ? clipboard_sequence(text) : NULL;
	bool good = sequence && outlet_send(sequence, strlen(sequence));

	if (!has)
		snprintf(why, size, "no clipboard (OSC 52) on this terminal");
	else if (!sequence)
		snprintf(why, size, "%zu bytes are more than a clipboard takes",
			 strlen(text));
	else if (!good)
		snprintf(why, size, "the terminal does not take it");
	free(sequence);
	return good;
}
