/* flow.c - which commands of a launch script are run: if, case, loops and functions. A
 * condition that is not known counts as false. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "presets/script/words.h"

bool flow_is_live(const struct shell *shell)
{
	return shell->frames == 0 || shell->frame[shell->frames - 1].live;
}

bool flow_is_repeated(const struct shell *shell)
{
	for (int i = 0; i < shell->frames; i++)
		if (shell->frame[i].round > 0)
			return true;
	return false;
}

bool flow_loop(const struct shell *shell, char *out, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < shell->frames; i++) {
		const struct frame *frame = &shell->frame[i];

		if (frame->kind != FRAME_FOR || frame->count < 2 || used >= size)
			continue;
		used += (size_t)snprintf(out + used, size - used,
					 "%s%.30s is the first of", used ? "; " : "",
					 frame->name);
		for (int k = 0; k < frame->count && used < size; k++)
			used += (size_t)snprintf(out + used, size - used, " %.20s",
						 shell->word[frame->first + k].text);
	}
	return used > 0;
}

static struct frame *top(struct shell *shell)
{
	return shell->frames > 0 ? &shell->frame[shell->frames - 1] : NULL;
}

static struct frame *top_of(struct shell *shell, enum frame_kind kind)
{
	struct frame *frame = top(shell);

	return frame && frame->kind == kind ? frame : NULL;
}

static struct frame *push(struct shell *shell, enum frame_kind kind)
{
	bool live = flow_is_live(shell);
	struct frame *frame;

	if (shell->frames == SHELL_MAX_FRAMES) {
		shell->full = true;
		return NULL;
	}
	frame = &shell->frame[shell->frames++];
	*frame = (struct frame){ .kind = kind, .outer = live, .live = live };
	return frame;
}

static void pop(struct shell *shell)
{
	shell->frames -= shell->frames > 0;
}

/* Each takes the words from its own on and returns how many it used; 0 where the word
 * means nothing here. */
struct keyword {
	const char *word;
	int (*take)(struct shell *shell, const struct command *command, int at);
};

static int take_if(struct shell *shell, const struct command *command, int at)
{
	(void)command;
	(void)at;
	shell->status = TRUTH_NO;
	return push(shell, FRAME_IF) ? 1 : 0;
}

static int take_then(struct shell *shell, const struct command *command, int at)
{
	struct frame *frame = top_of(shell, FRAME_IF);

	(void)command;
	(void)at;
	if (!frame)
		return 0;
	frame->live = frame->outer && !frame->taken && shell->status == TRUTH_YES;
	frame->doubtful =
		frame->outer && !frame->taken && shell->status == TRUTH_UNKNOWN;
	frame->taken = frame->taken || frame->live;
	return 1;
}

static int take_else(struct shell *shell, const struct command *command, int at)
{
	struct frame *frame = top_of(shell, FRAME_IF);

	if (!frame)
		return 0;
	frame->live = frame->outer && !frame->taken;
	frame->doubtful = false;
	shell->status = TRUTH_NO;
	if (command->word[at].text[2] == 's') /* else */
		frame->taken = true;
	return 1;
}

static int take_fi(struct shell *shell, const struct command *command, int at)
{
	(void)command;
	(void)at;
	if (!top_of(shell, FRAME_IF))
		return 0;
	pop(shell);
	shell->status = TRUTH_YES;
	return 1;
}

static int take_while(struct shell *shell, const struct command *command, int at)
{
	struct frame *frame = push(shell, FRAME_WHILE);

	if (!frame)
		return 0;
	frame->until = command->word[at].text[0] == 'u';
	frame->back = shell->from;
	frame->line = shell->from_line;
	shell->status = TRUTH_NO;
	return 1;
}

/* The words of a loop stay in the pool, and the variable has the first of them. */
static int take_for(struct shell *shell, const struct command *command, int at)
{
	struct frame *frame = push(shell, FRAME_FOR);
	int first = at + 2, left = command->count - at;
	const struct shell_word *words;

	if (!frame)
		return 0;
	if (left < 2)
		return left;
	if (strcmp(command->word[at + 1].text, "((") == 0) {
		if (left > 2 && frame->outer)
			shell_count(shell, frame, command->word[first].text);
		return left;
	}
	words = &command->word[first];
	frame->count = command->count - first;
	if (frame->count > 0 && strcmp(words[0].text, "in") == 0) {
		words++;
		frame->count--;
	} else {
		words = &shell->word[shell->arg];
		frame->count = shell->args;
	}
	frame->name = command->word[at + 1].text;
	frame->first = shell->words;
	frame->live = frame->outer && frame->count > 0;
	for (int i = 0; i < frame->count; i++) {
		if (shell->words == SHELL_MAX_WORDS) {
			shell->full = true;
			return 0;
		}
		shell->word[shell->words++] = words[i];
	}
	return left;
}

static void begin_round(struct shell *shell, const struct frame *frame)
{
	if (frame->name && frame->live && frame->round < frame->count)
		shell_assign(shell, frame->name, strlen(frame->name), false,
			     &shell->word[frame->first + frame->round], 1);
}

/* "do serve $MODEL": what stands behind the word was read before the variable was set.
 */
static bool read_again(struct shell *shell)
{
	const char *at = shell->from;
	int line = shell->from_line;

	for (; at < shell->stop && (isspace((unsigned char)*at) || *at == ';'); at++)
		line += *at == '\n';
	if (shell->stop - at < 3 || memcmp(at, "do", 2) != 0 ||
	    !isspace((unsigned char)at[2]))
		return false;
	shell->at = at + 2;
	shell->line = line;
	return true;
}

static int take_do(struct shell *shell, const struct command *command, int at)
{
	struct frame *frame = top(shell);

	if (!frame || (frame->kind != FRAME_WHILE && frame->kind != FRAME_FOR))
		return 0;
	if (frame->kind == FRAME_WHILE) {
		frame->live = frame->outer &&
			      shell->status == (frame->until ? TRUTH_NO : TRUTH_YES);
		return 1;
	}
	/* the next round begins behind the line of its "do", with this word again */
	if (frame->round == 0) {
		frame->back = shell->from;
		frame->line = shell->from_line;
	}
	begin_round(shell, frame);
	return at + 1 < command->count && read_again(shell) ? command->count - at : 1;
}

/* Goes back, so often as a script that only waits may want it. */
static bool go(struct shell *shell, const char *to, int line)
{
	if (shell->rounds == SHELL_MAX_ROUNDS)
		return false;
	shell->rounds++;
	shell->at = to;
	shell->line = line;
	return true;
}

void flow_break(struct shell *shell)
{
	int i = shell->frames - 1;

	while (i >= 0 && shell->frame[i].kind != FRAME_WHILE &&
	       shell->frame[i].kind != FRAME_FOR)
		i--;
	for (; i >= 0 && i < shell->frames; i++)
		shell->frame[i].outer = shell->frame[i].live = false;
}

static int take_done(struct shell *shell, const struct command *command, int at)
{
	struct frame *frame = top(shell);

	(void)command;
	(void)at;
	if (!frame || (frame->kind != FRAME_WHILE && frame->kind != FRAME_FOR))
		return 0;
	shell->status = TRUTH_YES;
	if (frame->kind == FRAME_WHILE && frame->live) {
		const char *back = frame->back;
		int line = frame->line;

		pop(shell);
		go(shell, back, line);
	} else if (frame->kind == FRAME_FOR && frame->live && frame->back &&
		   frame->round + 1 < frame->count) {
		frame->round++;
		if (!go(shell, frame->back, frame->line))
			pop(shell);
	} else {
		pop(shell);
	}
	return command->count - at;
}

/* Whether one of the words is a pattern that the case's word matches. */
static void try_patterns(struct frame *frame, const struct shell_word *words, int count)
{
	for (int i = 0; i < count; i++)
		frame->matched =
			frame->matched ||
			(frame->unknown ? strcmp(words[i].text, "*") == 0
					: shell_matches(words[i].text, frame->name));
}

/* In a case, where its patterns stand; they end with their bracket. */
static void take_patterns(struct shell *shell, const struct command *command, int at)
{
	struct frame *frame = top(shell);

	if (!frame)
		return;
	try_patterns(frame, command->word + at, command->count - at);
	if (command->ending != END_CLOSE)
		return;
	frame->live = frame->outer && !frame->taken && frame->matched;
	frame->taken = frame->taken || frame->live;
	frame->pattern = frame->matched = false;
}

static int take_case(struct shell *shell, const struct command *command, int at)
{
	struct frame *frame = push(shell, FRAME_CASE);
	int left = command->count - at, in = 1;

	if (!frame)
		return 0;
	while (in < left && in < 3 && strcmp(command->word[at + in].text, "in") != 0)
		in++;
	frame->pattern = true;
	frame->name = in > 1 ? command->word[at + 1].text : "";
	frame->unknown = in > 1 && command->word[at + 1].unknown;
	if (in + 1 < left)
		take_patterns(shell, command, at + in + 1);
	return left;
}

static int take_esac(struct shell *shell, const struct command *command, int at)
{
	(void)command;
	(void)at;
	if (!top_of(shell, FRAME_CASE))
		return 0;
	pop(shell);
	return 1;
}

static int take_brace(struct shell *shell, const struct command *command, int at)
{
	(void)command;
	(void)at;
	return push(shell, FRAME_GROUP) ? 1 : 0;
}

static void end_call(struct shell *shell, const struct frame *frame)
{
	shell->arg = frame->arg;
	shell->args = frame->args;
	shell->at = frame->back;
	shell->line = frame->line;
}

static int take_close(struct shell *shell, const struct command *command, int at)
{
	struct frame *frame = top(shell), ended;

	if (!frame || (frame->kind != FRAME_GROUP && frame->kind != FRAME_DEFINE &&
		       frame->kind != FRAME_CALL))
		return 0;
	ended = *frame;
	pop(shell);
	if (ended.kind == FRAME_CALL)
		end_call(shell, &ended);
	return ended.kind == FRAME_CALL ? command->count - at : 1;
}

/* "name()" or "function name": what stands behind it up to its brace is kept for the
 * calls. at is behind the name. */
static void define(struct shell *shell, const char *name)
{
	const char *at = shell->at, *stop = shell->stop;
	int line = shell->line;
	struct shell_function *f;

	while (at < stop && (isspace((unsigned char)*at) || *at == '(' || *at == ')')) {
		line += *at == '\n';
		at++;
	}
	if (at == stop || *at != '{' || shell->functions == SHELL_MAX_FUNCTIONS)
		return;
	shell->at = at + 1;
	shell->line = line;
	if (!push(shell, FRAME_DEFINE))
		return;
	f = &shell->function[shell->functions++];
	*f = (struct shell_function){ name, at + 1, line,
				      !shell->frame[shell->frames - 1].outer };
	shell->frame[shell->frames - 1].live = false;
}

static int take_function(struct shell *shell, const struct command *command, int at)
{
	if (command->count < at + 2)
		return 0;
	/* "function name {": the brace is a word of this command */
	if (command->count > at + 2 && strcmp(command->word[at + 2].text, "{") == 0) {
		shell->at = shell->from;
		while (shell->at < shell->stop && *shell->at != '{')
			shell->at++;
		shell->line = shell->from_line;
	}
	define(shell, command->word[at + 1].text);
	return command->count - at;
}

static const struct keyword keywords[] = {
	{ "if", take_if },       { "then", take_then }, { "elif", take_else },
	{ "else", take_else },   { "fi", take_fi },     { "while", take_while },
	{ "until", take_while }, { "for", take_for },   { "do", take_do },
	{ "done", take_done },   { "case", take_case }, { "esac", take_esac },
	{ "{", take_brace },     { "}", take_close },   { "function", take_function },
};

static const struct keyword *find_keyword(const char *word)
{
	for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
		if (strcmp(keywords[i].word, word) == 0)
			return &keywords[i];
	return NULL;
}

/* "name" with "()" behind it. */
static bool takes_definition(struct shell *shell, const struct command *command, int at)
{
	const char *next = shell->at;

	while (next < shell->stop && (*next == ' ' || *next == '\t'))
		next++;
	if (command->count != at + 1 || command->ending != END_OPEN ||
	    next == shell->stop || *next != ')')
		return false;
	define(shell, command->word[at].text);
	return true;
}

int flow_take(struct shell *shell, struct command *command)
{
	struct frame *frame = top_of(shell, FRAME_CASE);
	int at = 0;

	if (frame && frame->pattern &&
	    !(command->count > 0 && strcmp(command->word[0].text, "esac") == 0)) {
		take_patterns(shell, command, 0);
		at = command->count;
	}
	while (at < command->count) {
		const struct keyword *keyword = find_keyword(command->word[at].text);
		int used = keyword ? keyword->take(shell, command, at) : 0;

		if (used == 0)
			break;
		at += used;
	}
	if (at < command->count && takes_definition(shell, command, at))
		at = command->count;
	frame = top_of(shell, FRAME_CASE);
	if (frame && command->ending == END_CASE) {
		/* the branch ends behind the command that stands before the ;; */
		frame->pattern = true;
	}
	return at;
}

static bool enter(struct shell *shell, struct shell_function *function,
		  const struct shell_word *words, int count)
{
	const char *back = shell->at;
	int line = shell->line;
	struct frame *frame;

	function->called = true;
	if (!go(shell, function->body, function->line) ||
	    !(frame = push(shell, FRAME_CALL)))
		return false;
	frame->name = function->name;
	frame->arg = shell->arg;
	frame->args = shell->args;
	frame->back = back;
	frame->line = line;
	return shell_set_args(shell, words, count);
}

/* A function that calls itself ends by what only running tells. */
static bool is_running(const struct shell *shell, const char *function)
{
	for (int i = 0; i < shell->frames; i++)
		if (shell->frame[i].kind == FRAME_CALL &&
		    strcmp(shell->frame[i].name, function) == 0)
			return true;
	return false;
}

bool flow_call(struct shell *shell, const struct shell_word *words, int count)
{
	for (int i = shell->functions - 1; i >= 0; i--)
		if (strcmp(shell->function[i].name, words[0].text) == 0)
			return !is_running(shell, words[0].text) &&
			       enter(shell, &shell->function[i], words + 1, count - 1);
	return false;
}

bool flow_call_rest(struct shell *shell)
{
	for (int i = 0; i < shell->functions; i++)
		if (!shell->function[i].called) {
			shell->frames = 0;
			return enter(shell, &shell->function[i], NULL, 0);
		}
	return false;
}
