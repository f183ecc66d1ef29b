/* words.h - a word under construction, and what stands around a command: what the files
 * of this room share. */
#ifndef PRESETS_SCRIPT_WORDS_H
#define PRESETS_SCRIPT_WORDS_H

#include "presets/script/shell.h"

enum { WORD_BYTES = 16384, COMMAND_WORDS = 4096 };

/* A word under construction; an unquoted ${ARRAY[@]} may make several. */
struct builder {
	char text[WORD_BYTES];
	size_t length;
	bool started; /* "" is a word too */
	bool unknown;
	bool lines; /* of a here-document, whose ends of lines part commands */
	const char *missing;
	int line;
};

/* How a command ends. */
enum ending {
	END_LINE, /* newline, ; and & */
	END_AND,
	END_OR,
	END_PIPE,
	END_OPEN,  /* ( */
	END_CLOSE, /* ) */
	END_CASE   /* ;; */
};

struct command {
	int count;
	struct shell_word word[COMMAND_WORDS];
	enum ending ending;
	bool has_here; /* <<< word */
	struct shell_word here;
};

/* The sign of "NAME=value" or "NAME+=value", or NULL. */
const char *shell_assignment(const char *word);
void shell_put(struct shell *shell, struct builder *b, const char *text, size_t length);
void shell_end_word(struct shell *shell, struct builder *b, struct command *command);

/* --- expand.c, braces.c --- */
/* At the character behind the opening sign; each leaves shell->at behind its end. */
void shell_dollar(struct shell *shell, struct builder *b, struct command *command,
		  bool quoted);
void shell_braces(struct shell *shell, struct builder *b, struct command *command,
		  bool quoted);
void shell_double_quoted(struct shell *shell, struct builder *b,
			 struct command *command);
void shell_single_quoted(struct shell *shell, struct builder *b);
/* Never executed: not known. */
void shell_backticks(struct shell *shell, struct builder *b);
/* Words of a variable; where it is not quoted, blanks part them. */
void shell_put_words(struct shell *shell, struct builder *b, struct command *command,
		     const struct shell_word *words, int count, bool quoted,
		     bool array);
/* Those of a variable, which the environment may have where the script has not. */
int shell_value(struct shell *shell, struct builder *b, const char *name, size_t length,
		const struct shell_word **words);
/* Where the bracket that is open at `at` is closed, or NULL. */
const char *shell_closing(const char *at, const char *stop, char open, char close);
/* The body of a here-document, with its variables and without the signs that keep a
 * dollar one, unless `plain`; to be freed. NULL: too large. */
char *shell_expand(struct shell *shell, const char *text, size_t length, bool plain);

/* --- signs.c --- */
/* The command ends at this character; it is passed over. */
enum ending sign_ending(struct shell *shell);
/* "[[ a && b ]]": signs that are words there. Returns whether it is one. */
bool sign_of_test(struct shell *shell, struct builder *b, struct command *command);
/* "(( a > b ))" where a command may begin: two words, the text between as one. */
bool sign_condition(struct shell *shell, struct builder *b, struct command *command);
/* The characters of "<PATH TO …>", which somebody is to fill in; 0 where none begins.
 */
size_t sign_placeholder(const struct shell *shell);
/* ">file", "2>&1", "<file", "<<END" and the like: what a command writes to is no word
 * of it. Returns whether the word behind is to be passed over. */
bool sign_redirection(struct shell *shell, struct command *command);

/* --- heard.c --- */
/* The command `read` at word `at`, with its variables behind, or `printf -v`; false
 * where it is another. */
bool shell_hear(struct shell *shell, const struct command *command, int at);
/* "$(cat <<END", at the bracket: the text that stands there is the word's. False where
 * it is another command. */
bool shell_hear_document(struct shell *shell, struct builder *b);

/* "$(echo $NAME | tr …)", at the bracket: the words of the echo, where what stands
 * behind it only changes the blanks between them. False where it is another command. */
bool shell_hear_echo(struct shell *shell, struct builder *b, struct command *command,
		     bool quoted);

/* "$(expr A + B)", at the bracket: the number, as "$((A + B))" has it. */
bool shell_hear_sum(struct shell *shell, struct builder *b);
/* Words of `eval`, which are read once more: a sign that a backslash kept is a plain
 * one then. Quotes stay, which readers of values take off. */
void shell_unfold(struct shell *shell, struct shell_word *words, int count);

/* --- counted.c --- */
/* "i = 0; i < N; i++" of a loop that is run: its numbers stand in the pool as the words
 * of others do. Where they can't be told, it is read once. */
void shell_count(struct shell *shell, struct frame *frame, const char *text);

/* --- begin.c --- */
/* Arguments and variables that the caller gives, or arguments that the script's own
 * comment says it is called with. */
bool shell_begin(struct shell *shell);
/* Passes a comment over: that of a batch system says how many GPUs there are. */
void shell_comment(struct shell *shell);

/* --- test.c --- */
/* Whether a text matches a pattern of * and ?. */
bool shell_matches(const char *pattern, const char *text);
/* Whether a text has the word that an expression looks for: "base", ".*base.*". */
enum truth shell_regular(const char *text, const char *expression);
/* The truth of "[ … ]", "[[ … ]]", "test …" or "(( … ))". Returns false
 * where the command is none of these. */
bool shell_test(const struct shell *shell, const struct shell_word *words, int count,
		enum truth *out);

/* --- pipe.c --- */
/* What a command that ends with a pipe writes into it is kept, where its words tell. */
void pipe_keep(struct shell *shell, const struct command *command, int first);
/* "grep -q WORD" behind such a command. Returns false where it is another one. */
bool pipe_grep(const struct shell *shell, const struct shell_word *words, int count,
	       enum truth *out);

/* --- doubt.c --- */
/* Of a command that is not run: what it would set, if only running could tell whether
 * it is. */
void doubt_keep(struct shell *shell, const struct command *command, int first);
/* Whoever sets it behind that branch has the last word. */
void doubt_forget(struct shell *shell, const char *name, size_t length);
/* It is used: told in arguments. */
void doubt_tell(struct shell *shell, const char *name, size_t length);

/* --- flow.c --- */
/* Whether what stands here is run. */
bool flow_is_live(const struct shell *shell);
/* Whether a loop's first round is over. */
bool flow_is_repeated(const struct shell *shell);
/* "TP is the first of 8 4 2", of each loop over more than one word, the outer first;
 * false where there is none. */
bool flow_loop(const struct shell *shell, char *out, size_t size);
/* Takes the words that say which commands are run. Returns the first of the words left,
 * which are a plain command. */
int flow_take(struct shell *shell, struct command *command);
/* The innermost loop ends. */
void flow_break(struct shell *shell);
/* A call of one of the script's functions. */
bool flow_call(struct shell *shell, const struct shell_word *words, int count);
/* At the end: functions that nobody has called are read as if somebody had. */
bool flow_call_rest(struct shell *shell);

#endif
