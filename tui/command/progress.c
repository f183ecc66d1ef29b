/* progress.c - how far long work is, on standard error for a person who waits. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/form.h"
#include "tui/clock.h"
#include "tui/command.h"

enum { WIDTH = 24, LINE = 78, TAIL = 32 };

/* Nobody is kept waiting by less, and nobody reads faster; a log wants few lines. */
static const double first_seconds = 0.2, again_seconds = 0.1, line_seconds = 5;
/* What is to go is told once it can be: a share of so much, after so long. */
static const double told_share = 0.005, told_seconds = 2;

void progress_begin(struct progress *progress)
{
	double now = clock_seconds();

	*progress = (struct progress){ .begun = now, .wanted = true };
	progress->terminal = isatty(STDERR_FILENO);
	progress->next = now + (progress->terminal ? first_seconds : line_seconds);
}

void progress_again(struct progress *progress)
{
	progress->begun = clock_seconds();
	progress->share = 0;
}

bool progress_is_due(const struct progress *progress)
{
	return progress->wanted && clock_seconds() >= progress->next;
}

static void describe_rest(double share, double seconds, char out[TAIL])
{
	char text[TAIL];

	out[0] = '\0';
	if (share < 0) {
		form_text(FORM_SECONDS, floor(seconds), text, sizeof text);
		snprintf(out, TAIL, ", %.16s so far", text);
	} else if (share >= told_share && seconds >= told_seconds) {
		form_text(FORM_SECONDS, round(seconds * (1 - share) / share), text,
			  sizeof text);
		snprintf(out, TAIL, ", about %.16s to go", text);
	}
}

/* In one write, so that nobody sees half a line. */
static void draw_bar(double share, const char *text, const char *rest)
{
	char bar[WIDTH + 1], line[2 * LINE] = "";
	int full = (int)(share * WIDTH), room = LINE;

	for (int i = 0; i < WIDTH; i++)
		bar[i] = i < full ? '#' : '.';
	bar[WIDTH] = '\0';
	if (share >= 0)
		room -= snprintf(line, sizeof line, "[%s] %3.0f %%  ", bar,
				 floor(share * 100));
	/* whole or not at all */
	if ((int)(strlen(text) + strlen(rest)) > room)
		rest = "";
	fprintf(stderr, "\r\033[K%s%.*s%s", line, room, text, rest);
	fflush(stderr);
}

void progress_show(struct progress *progress, double share, const char *format, ...)
{
	char text[LINE], rest[TAIL];
	double now = clock_seconds();
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (share >= 0)
		share = progress->share = fmin(fmax(share, progress->share), 1);
	describe_rest(share, now - progress->begun, rest);
	if (progress->terminal)
		draw_bar(share, text, rest);
	else if (share >= 0)
		fprintf(stderr, "shardscope: %.0f %%, %s%s\n", floor(share * 100), text,
			rest);
	else
		fprintf(stderr, "shardscope: %s%s\n", text, rest);
	progress->shown = progress->terminal;
	progress->next = now + (progress->terminal ? again_seconds : line_seconds);
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
