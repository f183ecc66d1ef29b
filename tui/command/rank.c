/* rank.c - the leaderboard of a folder of answers; the engine scores each again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/folder.h"
#include "tui/command.h"
#include "tui/command/challenge.h"

enum { MOST_ANSWERS = 1000 };

struct entry {
	char challenge[MAX_NAME], by[MAX_NAME], file[MAX_NAME];
	double score, claim; /* claim negative: none */
	char note[200];
};

struct board {
	const char *folder;
	int count;
	struct entry *entry;
	struct challenge *challenge; /* the one that was judged last, with its best */
	struct planner_found best;
	bool known;
	struct challenge_answer *answer;
};

/* Finds the challenge and its optimum, once for answers that follow each other. */
static bool open_challenge(struct board *board, const char *name, struct error *error)
{
	if (board->known && strcmp(board->challenge->name, name) == 0)
		return true;
	/* an answer names a challenge of this program or its user, never a file */
	board->known = !strchr(name, '/') && !strchr(name, '.') &&
		       challenge_read(board->challenge, name, error) &&
		       challenge_best(&board->challenge->problem, &board->best);
	return board->known;
}

static void judge(struct board *board, struct entry *entry)
{
	struct error error = { "no such challenge" };
	struct verdict verdict;

	if (!open_challenge(board, entry->challenge, &error)) {
		snprintf(entry->note, sizeof entry->note, "%.*s",
			 (int)sizeof entry->note - 1, error.text);
		return;
	}
	verdict_give(board->challenge, &board->best, &board->answer->scenario,
		     &verdict);
	entry->score = verdict.score;
	if (verdict.score <= 0)
		snprintf(entry->note, sizeof entry->note, "%.*s",
			 (int)sizeof entry->note - 1, verdict.why);
	else if (entry->claim >= 0 && entry->claim > verdict.score + 5e-4)
		snprintf(entry->note, sizeof entry->note, "claims %.1f %%",
			 100 * entry->claim);
}

static void take_file(void *context, const char *name)
{
	struct board *board = context;
	struct entry *entry = &board->entry[board->count];
	struct error error = { "" };
	char path[1024];

	if (board->count == MOST_ANSWERS)
		return;
	memset(entry, 0, sizeof *entry);
	entry->claim = -1;
	board->count++;
	snprintf(entry->file, sizeof entry->file, "%.*s", MAX_NAME - 1, name);
	snprintf(path, sizeof path, "%s/%s.yaml", board->folder, name);
	if (!challenge_answer_read(board->answer, path, &error)) {
		strcpy(entry->challenge, board->answer->challenge);
		snprintf(entry->note, sizeof entry->note, "%.*s",
			 (int)sizeof entry->note - 1, error.text);
	} else {
		strcpy(entry->challenge, board->answer->challenge);
		entry->claim = board->answer->claim;
		judge(board, entry);
	}
	strcpy(entry->by, board->answer->by[0] ? board->answer->by : entry->file);
	error_clean(entry->note);
}

/* By challenge, the best first; equals by name. */
static int by_score(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;
	int order = strcmp(left->challenge, right->challenge);

	if (order != 0)
		return order;
	if (left->score != right->score)
		return left->score > right->score ? -1 : 1;
	order = strcmp(left->by, right->by);
	return order != 0 ? order : strcmp(left->file, right->file);
}

static void print_cell(const char *text, bool csv)
{
	if (csv)
		putchar('"');
	for (; *text != '\0'; text++) {
		if (csv && *text == '"')
			putchar('"');
		if (!csv && *text == '|')
			putchar('\\');
		putchar(*text);
	}
	if (csv)
		putchar('"');
}

/* An answer of somebody whose better one stands above. */
static bool is_repeated(const struct board *board, int at)
{
	for (int i = at - 1; i >= 0; i--) {
		const struct entry *before = &board->entry[i];

		if (strcmp(before->challenge, board->entry[at].challenge) != 0)
			return false;
		if (strcmp(before->by, board->entry[at].by) == 0)
			return true;
	}
	return false;
}

static void print_csv(const struct board *board)
{
	puts("challenge,by,score,claimed,file,note");
	for (int i = 0; i < board->count; i++) {
		const struct entry *e = &board->entry[i];

		print_cell(e->challenge, true);
		putchar(',');
		print_cell(e->by, true);
		printf(",%.2f,", 100 * e->score);
		printf(e->claim >= 0 ? "%.2f," : ",", 100 * e->claim);
		print_cell(e->file, true);
		putchar(',');
		print_cell(e->note, true);
		putchar('\n');
	}
}

/* Equal scores share a rank. */
static void print_markdown(const struct board *board)
{
	const struct entry *before = NULL;
	int rank = 0, place = 0;

	for (int i = 0; i < board->count; i++) {
		const struct entry *e = &board->entry[i];

		if (!before || strcmp(before->challenge, e->challenge) != 0) {
			printf("%s## %s\n\n| rank | by | score | note |\n|---:|---|---:|---|\n",
			       before ? "\n" : "",
			       e->challenge[0] ? e->challenge : "no challenge");
			rank = place = 0;
			before = NULL;
		}
		if (is_repeated(board, i))
			continue;
		place++;
		if (!before || before->score != e->score)
			rank = place;
		before = e;
		printf("| %d | ", rank);
		print_cell(e->by, false);
		printf(" | %.1f %% | ", 100 * e->score);
		print_cell(e->note, false);
		puts(" |");
	}
}

static int print_board(const struct board *board, bool csv)
{
	struct error error = { "" };

	if (board->count == 0) {
		error_set(&error, board->folder, 0,
			  "no answers here; expected files NAME.yaml, as challenge "
			  "--answer writes them");
		return command_fail(&error);
	}
	if (csv)
		print_csv(board);
	else
		print_markdown(board);
	return command_finish(STATUS_GOOD);
}

int challenge_rank(const char *folder, bool csv)
{
	struct board board = { .folder = folder };
	struct error error = { "" };
	int status;

	board.entry = calloc(MOST_ANSWERS, sizeof *board.entry);
	board.challenge = malloc(sizeof *board.challenge);
	board.answer = malloc(sizeof *board.answer);
	if (board.entry && board.challenge && board.answer) {
		if (folder_each(folder, take_file, &board)) {
			qsort(board.entry, (size_t)board.count, sizeof *board.entry,
			      by_score);
			status = print_board(&board, csv);
		} else {
			error_set(&error, folder, 0,
				  "%s; expected the folder of the answers",
				  strerror(errno));
			status = command_fail(&error);
		}
	} else {
		status = command_fail(&(struct error){ "out of memory" });
	}
	free(board.entry);
	free(board.challenge);
	free(board.answer);
	return status;
}
