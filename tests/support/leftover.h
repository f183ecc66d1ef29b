/* leftover.h - see leftover.c; each test program sweeps as it starts. */
#ifndef TESTS_SUPPORT_LEFTOVER_H
#define TESTS_SUPPORT_LEFTOVER_H

void leftover_sweep(void);

#endif
