/* run.h - run the built program and look at what it says. */
#ifndef TESTS_SUPPORT_RUN_H
#define TESTS_SUPPORT_RUN_H

#include <stdbool.h>

/* A home that is none and that nobody can make, root neither: what stands before it is
 * no folder. */
#define NO_HOME "/dev/null/home"

struct ran {
	int status; /* exit status, or 128 + signal */
	char *out, *err;
};

/* $SHARDSCOPE or ./shardscope, with a home that nobody has used; arguments as a shell
 * takes them. Free with ran_free(). */
struct ran run(const char *arguments);
/* Runs it, and fails the test unless it ends with this status and says these; NULL:
 * whatever. */
void run_check(const char *arguments, int status, const char *out, const char *err);
void ran_free(struct ran *ran);
/* Cuts off the only number that differs between two runs: how long a search, or the
 * reading of its proof, took. */
void ran_cut_clock(struct ran *ran);
const char *run_program(void);

#endif
