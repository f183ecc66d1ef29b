/* paste.h - bracketed paste: text between ESC [200~ and ESC [201~ (xterm, ctlseqs). */
#ifndef TUI_PASTE_H
#define TUI_PASTE_H

#include <stdbool.h>
#include <stddef.h>

/* More than any field takes is counted, not kept. */
enum { PASTE_KEPT = 4096 };

struct paste {
	size_t bytes; /* that were pasted */
	char text[PASTE_KEPT + 1];
	int matched; /* of the mark that ends it */
	bool ended;
};

/* Zero it first. Takes bytes up to the end of the paste; returns how many it took. */
size_t paste_take(struct paste *paste, const char *bytes, size_t length);

#endif
