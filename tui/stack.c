/* stack.c - see stack.h. */
#include "tui/stack.h"

#include <signal.h>
#include <sys/resource.h>

static const size_t thread_bytes = (size_t)8 << 20; /* taken as far as it is used */
static const rlim_t least_bytes = (rlim_t)2 << 20;

struct whole {
	int (*run)(int argc, char **argv);
	int argc;
	char **argv;
	sigset_t mask;
	int status;
};

int stack_thread(pthread_t *thread, void *(*run)(void *), void *context)
{
	pthread_attr_t attributes;
	int error = pthread_attr_init(&attributes);

	if (error != 0)
		return error;
	error = pthread_attr_setstacksize(&attributes, thread_bytes);
	if (error == 0)
		error = pthread_create(thread, &attributes, run, context);
	pthread_attr_destroy(&attributes);
	return error;
}

static void *run_whole(void *context)
{
	struct whole *whole = context;

	pthread_sigmask(SIG_SETMASK, &whole->mask, NULL);
	whole->status = whole->run(whole->argc, whole->argv);
	return NULL;
}

int stack_main(int (*run)(int argc, char **argv), int argc, char **argv)
{
	struct whole whole = { .run = run, .argc = argc, .argv = argv };
	struct rlimit limit;
	pthread_t thread;
	sigset_t all;

	if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= least_bytes)
		return run(argc, argv);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &whole.mask);
	if (stack_thread(&thread, run_whole, &whole) != 0) {
		pthread_sigmask(SIG_SETMASK, &whole.mask, NULL);
		return run(argc, argv);
	}
	pthread_join(thread, NULL);
	return whole.status;
}
