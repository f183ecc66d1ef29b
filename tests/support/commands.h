/* commands.h - one of every command, and of every format that is read or written. */
#ifndef TESTS_SUPPORT_COMMANDS_H
#define TESTS_SUPPORT_COMMANDS_H

/* As a shell takes them. Those that are tried most closely stand first. */
extern char *command[];
extern const int tried_count;

/* What they read is put into this empty folder. */
void commands_begin(const char *folder);
void commands_end(void);

#endif
