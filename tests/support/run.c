/* run.c - see run.h. */
#include "tests/support/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/close.h"

enum { ROOM = 4 << 20 };

const char *run_program(void)
{
	const char *program = getenv("SHARDSCOPE");

	return program && program[0] ? program : "./shardscope";
}

static char *read_and_remove(const char *path)
{
	char *text = calloc(1, ROOM);
	FILE *file = fopen(path, "r");

	assert_non_null(text);
	assert_non_null(file);
	assert_true(fread(text, 1, ROOM - 1, file) < ROOM - 1);
	fclose(file);
	unlink(path);
	return text;
}

struct ran run(const char *arguments)
{
	char command[4096], out[64], err[64];
	struct ran ran;
	int status;

	snprintf(out, sizeof out, "/tmp/shardscope-out-%d", (int)getpid());
	snprintf(err, sizeof err, "/tmp/shardscope-err-%d", (int)getpid());
	snprintf(command, sizeof command,
		 "XDG_CONFIG_HOME=" NO_HOME " XDG_STATE_HOME=" NO_HOME " "
		 "LC_ALL=C.UTF-8 %s < /dev/null %s > %s 2> %s",
		 run_program(), arguments, out, err);
	status = system(command);
	ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	ran.out = read_and_remove(out);
	ran.err = read_and_remove(err);
	return ran;
}

void ran_cut_clock(struct ran *ran)
{
	static const char *const clocks[] = { "\"proof\"", " boxes, " };

	for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
		char *clock = strstr(ran->out, clocks[i]);

		if (clock)
			*clock = '\0';
	}
}

void ran_free(struct ran *ran)
{
	free(ran->out);
	free(ran->err);
}

void run_check(const char *arguments, int status, const char *out, const char *err)
{
	struct ran ran = run(arguments);

	if (ran.status != status || (out && !strstr(ran.out, out)) ||
	    (err && !strstr(ran.err, err)))
		fail_msg("%s: status %d\n%s\n%s", arguments, ran.status, ran.out,
			 ran.err);
	ran_free(&ran);
}
