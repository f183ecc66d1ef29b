/* stack.h - room for calls, whatever `ulimit -s` or the C library leaves: an estimate
 * keeps its working numbers there, some 200 KiB, the tail of a server twice that. */
#ifndef TUI_STACK_H
#define TUI_STACK_H

#include <pthread.h>

/* Like pthread_create(), with that room. */
int stack_thread(pthread_t *thread, void *(*run)(void *), void *context);
/* The program's own main(): on this stack where that is large enough, else on a thread
 * that takes the signals in its place. Its exit status. */
int stack_main(int (*run)(int argc, char **argv), int argc, char **argv);

#endif
