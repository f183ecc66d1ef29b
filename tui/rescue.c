/* rescue.c - see rescue.h. */
#include "tui/rescue.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
#define FATAL (sizeof fatal / sizeof fatal[0])

static struct {
	char bytes[512];
	size_t length;
	struct termios line;
	int has_line;
	struct sigaction before[FATAL];
	void *stack; /* a crash may be of the stack itself */
} rescue;

void rescue_now(int file)
{
	ssize_t ignored = write(file, rescue.bytes, rescue.length);

	(void)ignored;
	if (rescue.has_line)
		tcsetattr(STDIN_FILENO, TCSANOW, &rescue.line);
}

/* A terminal that takes nothing does not keep the program. */
static void rescue_at_once(void)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);

	if (flags >= 0)
		fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
	rescue_now(STDOUT_FILENO);
	if (flags >= 0)
		fcntl(STDOUT_FILENO, F_SETFL, flags);
}

static void on_crash(int signal)
{
	rescue_at_once();
	raise(signal); /* SA_RESETHAND: this one kills */
}

static void on_end(int signal)
{
	rescue_at_once();
	_exit(128 + signal);
}

static void end_at_once(bool caught_too)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = on_end }, before;

	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
		if (sigaction(ends[i], NULL, &before) == 0 &&
		    (caught_too || before.sa_handler == SIG_DFL))
			sigaction(ends[i], &action, NULL);
}

void rescue_from_early_ends(void)
{
	end_at_once(false);
}

void rescue_from_ends(void)
{
	end_at_once(true);
}

void rescue_begin(void)
{
	rescue.length = 0;
	rescue.has_line = tcgetattr(STDIN_FILENO, &rescue.line) == 0;
}

void rescue_add_byte(int byte)
{
	if (rescue.length < sizeof rescue.bytes)
		rescue.bytes[rescue.length++] = (char)byte;
}

void rescue_add(const char *bytes)
{
	while (*bytes != '\0')
		rescue_add_byte(*bytes++);
}

void rescue_arm(void)
{
	struct sigaction action = { .sa_handler = on_crash,
				    .sa_flags = (int)(SA_RESETHAND | SA_NODEFER |
						      SA_ONSTACK) };
	stack_t stack = { .ss_size = 64 * 1024 };

	rescue.stack = stack.ss_sp = malloc(stack.ss_size);
	if (stack.ss_sp != NULL)
		sigaltstack(&stack, NULL);
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < FATAL; i++)
		sigaction(fatal[i], &action, &rescue.before[i]);
}

void rescue_disarm(void)
{
	stack_t none = { .ss_flags = SS_DISABLE };

	for (size_t i = 0; i < FATAL; i++)
		sigaction(fatal[i], &rescue.before[i], NULL);
	sigaltstack(&none, NULL);
	free(rescue.stack);
	rescue.stack = NULL;
}
