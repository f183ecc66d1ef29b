/* progress.c - a line on a terminal's standard error for a person who waits. */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tui/command.h"

enum { WIDTH = 24, LINE = 78 };

/* Nobody is kept waiting by less, and nobody reads faster. */
static const double first_seconds = 0.2, again_seconds = 0.1;

double progress_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void progress_begin(struct progress *progress)
{
	*progress = (struct progress){ .begun = progress_now() };
	progress->next = progress->begun + first_seconds;
	progress->wanted = isatty(STDERR_FILENO);
}

bool progress_is_due(const struct progress *progress)
{
	return progress->wanted && progress_now() >= progress->next;
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
	progress->next = progress_now() + again_seconds;
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
