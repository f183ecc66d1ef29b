/* shell.h - reading a launch script as words, without ever running it.
 *
 * Understood: comments, quotes, line continuation, NAME=value, NAME=( … ),
 * NAME+=( … ), export, <<WORD, $NAME, ${NAME} with its forms, $((a*b)), $1, shift, set;
 * if, case, for, while, functions, && and || on tests of words and numbers. What only
 * running could tell ($(command), whether a file is there) is not known: a branch that
 * hangs on it is not taken.
 */
#ifndef PRESETS_SCRIPT_SHELL_H
#define PRESETS_SCRIPT_SHELL_H

#include "presets/script/arguments.h"

enum {
	SHELL_MAX_WORDS = 16384,
	SHELL_MAX_VARIABLES = 512,
	SHELL_MAX_DEPTH = 4,
	SHELL_MAX_FRAMES = 64,
	SHELL_MAX_FUNCTIONS = 64,
	SHELL_MAX_ROUNDS = 256,
	SHELL_MAX_DOUBTS = 16
};

struct shell_word {
	const char *text;
	int line;
	bool unknown;        /* some of it only running could tell */
	const char *missing; /* nobody has set this variable, which it was to hold */
};

struct shell_variable {
	const char *name;
	int first, count; /* words in the pool */
	bool fixed;       /* by the caller: assignments don't change it */
	bool array;       /* NAME=( … ) */
};

enum truth { TRUTH_NO, TRUTH_YES, TRUTH_UNKNOWN };

enum frame_kind {
	FRAME_IF,
	FRAME_CASE,
	FRAME_WHILE,
	FRAME_FOR,
	FRAME_GROUP,
	FRAME_DEFINE,
	FRAME_CALL
};

/* One command around the place that is read. */
struct frame {
	enum frame_kind kind;
	bool outer;   /* what stands around it is run */
	bool live;    /* so is what stands here */
	bool taken;   /* one of its branches was */
	bool pattern; /* of a case: patterns are next */
	bool matched;
	bool doubtful; /* what stands here hangs on what only running could tell */
	bool until;
	const char *back; /* where the next round begins, or what a call returns to */
	int line;
	const char *name; /* of the variable of a loop, or the word of a case */
	bool unknown;     /* that word is not known */
	int first, count, round;
	int args, arg; /* of the caller, in the pool */
};

struct shell_function {
	const char *name, *body;
	int line;
	bool called;
};

/* A number that a branch would set which is not taken for want of knowledge. */
struct shell_doubt {
	const char *name;
	int line, depth; /* of the frames around that branch */
};

struct shell;

/* What becomes of a script. Commands and documents return whether to go on; any may be
 * NULL. */
struct shell_visitor {
	void *context;
	/* Before the first command: what is asked of its variables while commands come,
	 * they have as that command finds them. */
	void (*begin)(void *context, const struct shell *shell);
	/* A command's words behind its assignments; they live as long as arguments. */
	bool (*command)(void *context, const struct shell_word *words, int count);
	/* A here-document: the line of script that it hangs on, its body, and the
	 * number of the body's first line. */
	bool (*document)(void *context, const char *head, const char *text, int line);
	/* All variables are known; false is a bound that is reached. */
	bool (*end)(void *context, const struct shell *shell);
	/* A script within another has the variables of that one; NULL: of none. */
	const struct shell *outer;
};

struct shell {
	struct arguments *arguments; /* owns the strings */
	const struct shell_visitor *visitor;
	char delimiter[64]; /* of a here-document that begins with the next line */
	bool plain;         /* its delimiter is quoted: no variables in it */
	const char *start, *at, *stop;
	const char *head; /* of the line that has a here-document */
	int line, depth;
	int variables, words;
	struct shell_variable variable[SHELL_MAX_VARIABLES];
	struct shell_word word[SHELL_MAX_WORDS]; /* of variables, then of the command */
	bool full;                               /* a bound was reached */
	bool done;                               /* the visitor has seen enough */
	int args, arg; /* $1 and on: how many, and where in the pool */
	int frames, rounds, functions;
	struct frame frame[SHELL_MAX_FRAMES];
	struct shell_function function[SHELL_MAX_FUNCTIONS];
	enum truth status; /* of the last command */
	const char *piped; /* what it writes into a pipe, where that is known; NULL */
	bool piped_not;    /* the pipe's outcome is turned round */
	int doubts;
	struct shell_doubt doubt[SHELL_MAX_DOUBTS];
	bool passed;      /* && or || passes the next one over */
	bool took_array;  /* the command that is read sets an array */
	const char *from; /* where the command begins that is read, and its line */
	int from_line;
};

/* Shows each command and here-document of a script to the visitor, in order. False
 * with the error where a bound is reached. */
bool shell_read(struct arguments *arguments, const char *text, size_t length,
		const struct shell_visitor *visitor, struct error *error);
/* Words of a variable, or of an argument by its number; 0 if it is not set. */
int shell_lookup(const struct shell *shell, const char *name, size_t length,
		 const struct shell_word **words);
bool shell_assign(struct shell *shell, const char *name, size_t length, bool append,
		  const struct shell_word *words, int count);
/* A list of words, be it empty. */
void shell_assign_array(struct shell *shell, const char *name, size_t length,
			bool append, const struct shell_word *words, int count);
/* All that another one has; false where a bound is reached. */
bool shell_inherit(struct shell *shell, const struct shell *outer);
/* Whether the caller has set it, whatever the script does. */
bool shell_is_given(const struct shell *shell, const char *name, size_t length);
bool shell_is_array(const struct shell *shell, const char *name, size_t length);
/* The words become $1 and on. */
bool shell_set_args(struct shell *shell, const struct shell_word *words, int count);
/* Integer expression of $((…)): numbers, names, + - * / %, comparisons, && || ! ?:
 * and brackets. */
bool shell_arithmetic(const struct shell *shell, const char *text, size_t length,
		      int64_t *out);

#endif
