/* reply.c - see reply.h. */
#include "tui/reply.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One to four hexadecimal digits (XParseColor's rgb:), as a byte. */
static const char *read_part(const char *at, const char *end, uint32_t *part)
{
	uint32_t value = 0, most = 0;

	for (; at < end && hex_digit(*at) >= 0 && most < 0xffff; at++) {
		value = value * 16 + (uint32_t)hex_digit(*at);
		most = most * 16 + 15;
	}
	if (most == 0)
		return NULL;
	*part = (value * 255 + most / 2) / most;
	return at;
}

/* "rgb:1e1e/1e1e/1e1e", or "rgba:" with a fourth part that says nothing here. */
static void read_paper(const char *at, const char *end, struct reply *reply)
{
	uint32_t part[3];

	at = memchr(at, ':', (size_t)(end - at));
	for (int i = 0; i < 3; i++) {
		if (!at || at >= end || (i > 0 && *at != '/'))
			return;
		at = read_part(at + 1, end, &part[i]);
	}
	if (!at)
		return;
	reply->has_paper = true;
	reply->paper = part[0] << 16 | part[1] << 8 | part[2];
}

/* "ESC [ 9 ; column R" */
static void read_place(const char *at, struct reply *reply)
{
	int column = 0;

	for (; *at >= '0' && *at <= '9' && column < 10000; at++)
		column = column * 10 + *at - '0';
	if (*at != 'R')
		return;
	if (column <= REPLY_REPEATED)
		reply->column = column;
	else
		reply->tabbed = column == REPLY_TABBED;
}

static bool begins(const char *at, size_t left, const char *start)
{
	size_t length = strlen(start);

	return left >= length && memcmp(at, start, length) == 0;
}

/* The length of the answer that begins here; 0: none, or not all of it. */
static size_t answer_length(const char *at, size_t left)
{
	if (begins(at, left, REPLY_FENCE) || begins(at, left, REPLY_PLACE)) {
		for (size_t i = strlen(REPLY_FENCE); i < left; i++)
			if (at[i] >= 0x40 && at[i] <= 0x7e)
				return i + 1;
	} else if (begins(at, left, REPLY_PAPER)) {
		for (size_t i = strlen(REPLY_PAPER); i < left; i++) {
			if (at[i] == '\a')
				return i + 1;
			if (at[i] == '\033')
				return i + 1 < left ? i + 2 : 0;
		}
	}
	return 0;
}

size_t reply_take(char *bytes, size_t length, struct reply *reply)
{
	size_t kept = 0;

	for (size_t i = 0; i < length;) {
		size_t answer = answer_length(bytes + i, length - i);

		if (answer == 0) {
			bytes[kept++] = bytes[i++];
			continue;
		}
		if (bytes[i + 1] == ']')
			read_paper(bytes + i, bytes + i + answer, reply);
		else if (bytes[i + 2] == '?')
			reply->has_fence = true;
		else
			read_place(bytes + i + strlen(REPLY_PLACE), reply);
		i += answer;
	}
	return kept;
}

bool reply_is_partial(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (answer_length(bytes + i, length - i) == 0 &&
		    (begins(bytes + i, length - i, REPLY_PAPER) ||
		     begins(bytes + i, length - i, REPLY_PLACE) ||
		     begins(bytes + i, length - i, REPLY_FENCE)))
			return true;
	return false;
}

static long ms_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (long)(now.tv_sec - start->tv_sec) * 1000 +
	       (now.tv_nsec - start->tv_nsec) / 1000000;
}

size_t reply_wait(char *bytes, size_t room, const sigset_t *mask,
		  const volatile sig_atomic_t *ended, struct reply *reply)
{
	struct timespec start, limit = { 0 };
	size_t length = 0;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (!reply->has_fence && *ended == 0 && length < room) {
		struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
		/* an answer that has begun is worth a little more patience */
		long most = reply_is_partial(bytes, length) ? 4 * REPLY_MS : REPLY_MS;
		long left = most - ms_since(&start);
		ssize_t n;

		if (left <= 0)
			break;
		limit.tv_nsec = left * 1000000L;
		int ready = ppoll(&input, 1, &limit, mask);
		if (ready < 0 && errno == EINTR)
			continue;
		n = ready > 0 ? read(STDIN_FILENO, bytes + length, room - length) : 0;
		if (n <= 0)
			break;
		length = reply_take(bytes, length + (size_t)n, reply);
	}
	return length;
}
