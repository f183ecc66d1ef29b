/* paste.c - see paste.h. */
#include "tui/paste.h"

static const char mark[] = "\033[201~";
enum { MARK = sizeof mark - 1 };

static void keep(struct paste *paste, char byte)
{
	if (paste->bytes < PASTE_KEPT)
		paste->text[paste->bytes] = byte == '\0' ? ' ' : byte;
	paste->bytes++;
}

/* What began like the mark and was none is text. */
static void keep_matched(struct paste *paste)
{
	for (int i = 0; i < paste->matched; i++)
		keep(paste, mark[i]);
	paste->matched = 0;
}

size_t paste_take(struct paste *paste, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] != mark[paste->matched])
			keep_matched(paste);
		if (bytes[i] == mark[paste->matched])
			paste->matched++;
		else
			keep(paste, bytes[i]);
		if (paste->matched == MARK) {
			paste->matched = 0;
			paste->ended = true;
			return i + 1;
		}
	}
	return length;
}
