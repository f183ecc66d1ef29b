/* demo.h - a small client of the event loop, to test the terminal without the
 * explorer: a list of knobs, a stacked bar, a text field, and ways to crash. */
#ifndef TESTS_SUPPORT_DEMO_H
#define TESTS_SUPPORT_DEMO_H

/* Runs on this process's terminal; arguments as "--colour=always" or
 * "--ascii". Returns the exit status. */
int demo_main(int argc, char **argv);

#endif
