/* progress.c - a line on a terminal's standard error for a person who waits. */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "tui/clock.h"
#include "tui/command.h"

enum { WIDTH = 24, LINE = 78 };

/* Nobody is kept waiting by less, and nobody reads faster. */
static const double first_seconds = 0.2, again_seconds = 0.1;

void progress_begin(struct progress *progress)
{
	*progress = (struct progress){ .next = clock_seconds() + first_seconds };
	progress->wanted = isatty(STDERR_FILENO);
}

bool progress_is_due(const struct progress *progress)
{
	return progress->wanted && clock_seconds() >= progress->next;
}

void progress_show(struct progress *progress, double share, const char *format, ...)
{
	char bar[WIDTH + 1], text[LINE];
	int full = share > 0 ? (int)(share * WIDTH) : 0;
	va_list args;

	for (int i = 0; i < WIDTH; i++)
		bar[i] = i < full ? '#' : '.';
	bar[WIDTH] = '\0';
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	fprintf(stderr, "\r\033[K[%s] %3.0f %%  %.*s", bar, share * 100,
		LINE - WIDTH - 12, text);
	fflush(stderr);
	progress->shown = true;
	progress->next = clock_seconds() + again_seconds;
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
