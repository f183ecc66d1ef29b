/* outlet.c - see outlet.h. */
#include "tui/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static struct {
	int file;
	bool own;  /* opened anew; else standard output */
	int flags; /* that standard output goes back to, -1: none */
	const sigset_t *mask;
	const volatile sig_atomic_t *ended;
} outlet;

static bool is_this_terminal(int file)
{
	struct stat one, other;

	return fstat(file, &one) == 0 && fstat(STDOUT_FILENO, &other) == 0 &&
	       one.st_rdev == other.st_rdev;
}

/* Opened anew, so that O_NONBLOCK is ours alone: the shell shares standard output. */
void outlet_open(const sigset_t *mask, const volatile sig_atomic_t *ended)
{
	const char *name = ttyname(STDOUT_FILENO);
	int file = name ? open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;

	outlet.mask = mask;
	outlet.ended = ended;
	outlet.flags = -1;
	outlet.own = file >= 0 && is_this_terminal(file);
	outlet.file = outlet.own ? file : STDOUT_FILENO;
	if (file >= 0 && !outlet.own)
		close(file);
}

void outlet_close(void)
{
	if (outlet.own)
		close(outlet.file);
	else if (outlet.flags >= 0)
		fcntl(outlet.file, F_SETFL, outlet.flags);
	outlet.own = false;
	outlet.file = STDOUT_FILENO;
}

bool outlet_takes(void)
{
	struct pollfd output = { .fd = outlet.file, .events = POLLOUT };

	return poll(&output, 1, 0) > 0 && (output.revents & POLLOUT);
}

/* Standard output that could not be opened anew is shared with others: it does not wait
 * for as long as this writes, and no longer. Returns the flags to go back to. */
static int stop_waiting(void)
{
	int flags = outlet.own ? -1 : fcntl(outlet.file, F_GETFL);

	if (flags >= 0)
		fcntl(outlet.file, F_SETFL, flags | O_NONBLOCK);
	return flags;
}

int outlet_drop(void)
{
	tcflush(outlet.file, TCOFLUSH);
	outlet.flags = stop_waiting(); /* for a last word */
	return outlet.file;
}

static bool wait_for_room(void)
{
	struct pollfd output = { .fd = outlet.file, .events = POLLOUT };

	while (*outlet.ended == 0) {
		int ready = ppoll(&output, 1, NULL, outlet.mask);

		if (ready > 0)
			return (output.revents & POLLOUT) != 0;
		if (ready < 0 && errno != EINTR)
			return false;
	}
	return false;
}

bool outlet_send(const char *bytes, size_t length)
{
	int flags = stop_waiting();
	bool good = true;

	while (length > 0 && good) {
		ssize_t n = write(outlet.file, bytes, length);

		if (n > 0) {
			bytes += n;
			length -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			good = wait_for_room();
		} else {
			good = n < 0 && errno == EINTR;
		}
	}
	if (flags >= 0)
		fcntl(outlet.file, F_SETFL, flags);
	return good;
}
