/* sheet.c - hand-outs of a lesson: for each seed its numbers, its screens, its
 * questions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/lesson_file.h"
#include "presets/report.h"
#include "presets/scenario_file.h"
#include "presets/stream.h"
#include "tui/command.h"
#include "tui/command/lesson.h"
#include "tui/explorer.h"
#include "tui/explorer/course.h"

enum { WIDTH = 100, HEIGHT = 26, MOST_BYTES = 1 << 20 };

struct sheet {
	const struct lesson_asked *asked;
	struct explorer *explorer;
	struct course_block *block;
	struct canvas canvas;
	int words; /* of the glossary that its texts link to */
	const struct glossary_word *word[GLOSSARY_MAX_LINKS];
};

/* --- marks ------------------------------------------------------------------- */

static void put_escaped(const struct sheet *sheet, const char *text)
{
	for (; *text != '\0'; text++) {
		if (sheet->asked->html && *text == '<')
			fputs("&lt;", stdout);
		else if (sheet->asked->html && *text == '&')
			fputs("&amp;", stdout);
		else
			putchar(*text);
	}
}

static void put_heading(const struct sheet *sheet, int level, const char *text)
{
	if (sheet->asked->html)
		printf("<h%d>", level);
	else
		printf("%.*s ", level, "######");
	put_escaped(sheet, text);
	if (sheet->asked->html)
		printf("</h%d>\n", level);
	else
		puts("\n");
}

static void put_paragraph(const struct sheet *sheet, const char *text)
{
	fputs(sheet->asked->html ? "<p>" : "", stdout);
	put_escaped(sheet, text);
	fputs(sheet->asked->html ? "</p>\n" : "\n\n", stdout);
}

static void put_block(const struct sheet *sheet, const char *language, const char *text)
{
	if (sheet->asked->html)
		fputs("<pre>", stdout);
	else
		printf("```%s\n", language);
	put_escaped(sheet, text);
	puts(sheet->asked->html ? "</pre>" : "```\n");
}

static void put_blocks(struct sheet *sheet)
{
	int count = course_blocks(sheet->explorer, sheet->block);

	char plain[sizeof sheet->block[0].text];

	for (int i = 0; i < count; i++) {
		glossary_plain(sheet->block[i].text, plain, sizeof plain);
		put_paragraph(sheet, plain);
		sheet->words =
			glossary_links(sheet->block[i].text, sheet->word, sheet->words);
	}
}

/* --- a step ------------------------------------------------------------------ */

static void put_screen(struct sheet *sheet)
{
	char *text;

	while (explorer_idle(sheet->explorer)) {
	}
	explorer_draw(sheet->explorer, &sheet->canvas);
	text = sheet->asked->html ? canvas_to_svg(&sheet->canvas, true)
				  : canvas_to_text(&sheet->canvas);
	if (!text || sheet->canvas.lacks)
		report_falls_short();
	if (text && sheet->asked->html)
		puts(text);
	else if (text)
		put_block(sheet, "text", text);
	free(text);
}

/* The answers' part of a step, where they are asked for. */
static void put_answers(struct sheet *sheet, int step)
{
	const struct lesson_step *s = &sheet->explorer->course->lesson.step[step];

	if (!sheet->asked->answers)
		return;
	course_go_to(sheet->explorer, step, COURSE_REVEAL);
	put_paragraph(sheet, "Answer:");
	put_blocks(sheet);
	if (s->reason.right == 0 && s->runs == 0)
		return;
	course_go_to(sheet->explorer, step, COURSE_BECAUSE);
	put_blocks(sheet);
}

static void put_step(struct sheet *sheet, int step)
{
	const struct lesson_step *s = &sheet->explorer->course->lesson.step[step];
	bool goal = s->goal.text[0] != '\0', asks = s->question.ask != LESSON_NOTHING;
	char title[48];

	snprintf(title, sizeof title, "Step %d", step + 1);
	put_heading(sheet, 2, title);
	course_go_to(sheet->explorer, step, goal ? COURSE_TURN : COURSE_LOOK);
	put_blocks(sheet);
	put_screen(sheet);
	if (asks) {
		course_go_to(sheet->explorer, step, COURSE_ASK);
		put_blocks(sheet);
	}
	if ((asks || goal) && !sheet->asked->answers)
		put_paragraph(sheet, asks ? "Your answer: ____________"
					  : "Your values: ____________");
	put_answers(sheet, step);
}

/* Behind all predictions: why it grew says that it grows. */
static void put_reasons(struct sheet *sheet)
{
	const struct lesson *lesson = &sheet->explorer->course->lesson;
	char title[64];

	put_heading(sheet, 2, "When all is predicted and turned: why?");
	for (int i = 0; i < lesson->steps; i++) {
		if (lesson->step[i].reason.right == 0)
			continue;
		snprintf(title, sizeof title, "Step %d", i + 1);
		put_paragraph(sheet, title);
		course_go_to(sheet->explorer, i, COURSE_WHY);
		put_blocks(sheet);
		put_paragraph(sheet, "Why: ____________");
	}
}

/* What the words mean that the texts link to. */
static void put_words(struct sheet *sheet)
{
	char means[GLOSSARY_MAX_TEXT], line[2 * GLOSSARY_MAX_TEXT];

	if (sheet->words == 0)
		return;
	put_heading(sheet, 2, "Words");
	for (int i = 0; i < sheet->words; i++) {
		glossary_plain(sheet->word[i]->means, means, sizeof means);
		snprintf(line, sizeof line, "%s: %s", sheet->word[i]->key, means);
		put_paragraph(sheet, line);
	}
}

/* What is to be handed in, to be filled in. */
static void put_form(const struct sheet *sheet, const char *seed)
{
	const struct lesson *lesson = &sheet->explorer->course->lesson;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream) {
		report_falls_short();
		return;
	}
	fprintf(stream, "format: 1\nlesson: %s\nseed: ", lesson->name);
	stream_put_quoted(stream, seed);
	fputs("\nanswers:\n", stream);
	for (int i = 0; i < lesson->steps; i++) {
		const struct lesson_step *s = &lesson->step[i];

		if (s->question.ask != LESSON_NOTHING)
			fprintf(stream, "  - {step: %d, first: unknown%s}\n", i + 1,
				s->reason.right > 0 ? ", why: 0" : "");
		else if (s->goal.text[0] != '\0')
			fprintf(stream, "  - {step: %d, turned: {%s: 0}}\n", i + 1,
				s->unlock[0]->key);
	}
	if (stream_end(stream, &text))
		put_block(sheet, "yaml", text);
	else
		report_falls_short();
	free(text);
}

static bool put_student(struct sheet *sheet, const char *seed, struct error *error)
{
	char title[2 * LESSON_CHOICE];

	if (!course_open(sheet->explorer, sheet->asked->operand[1], seed, error))
		return false;
	sheet->explorer->course->silent = true;
	sheet->words = 0;
	snprintf(title, sizeof title, "%s: %s", sheet->explorer->course->lesson.title,
		 seed);
	put_heading(sheet, 1, title);
	for (int i = 0; i < sheet->explorer->course->lesson.steps; i++)
		put_step(sheet, i);
	if (!sheet->asked->answers) {
		put_reasons(sheet);
		put_words(sheet);
		snprintf(title, sizeof title,
			 "Hand in, as %s.yaml: the numbers of choices, values in the "
			 "units that are asked for.",
			 seed);
		put_paragraph(sheet, title);
		put_form(sheet, seed);
	}
	if (sheet->asked->html)
		puts("<div style=\"page-break-after: always\"></div>");
	course_leave(sheet->explorer);
	return true;
}

/* --- the command ------------------------------------------------------------- */

/* One a line; blank lines and those that begin with # are nobody. */
static bool each_student(struct sheet *sheet, char *text, struct error *error)
{
	char *line, *rest = text;
	bool good = true, any = false;

	while (good && (line = strsep(&rest, "\n"))) {
		line += strspn(line, " \t");
		for (size_t end = strlen(line);
		     end > 0 && strchr(" \t\r", line[end - 1]);)
			line[--end] = '\0';
		if (line[0] == '\0' || line[0] == '#')
			continue;
		any = true;
		error_clean(line);
		good = strlen(line) < MAX_NAME
			       ? put_student(sheet, line, error)
			       : error_set(error, sheet->asked->seeds, 0,
					   "a name has at most %d bytes", MAX_NAME - 1);
	}
	return good && (any || error_set(error, sheet->asked->seeds, 0,
					 "holds no name; one per line"));
}

static bool print_sheets(struct sheet *sheet, struct error *error)
{
	size_t length;
	char *text = stream_read_file(sheet->asked->seeds, MOST_BYTES, &length, error);
	bool good;

	if (!text)
		return false;
	if (sheet->asked->html)
		puts("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>shardscope</title>");
	good = each_student(sheet, text, error);
	free(text);
	return good;
}

int lesson_sheet(const struct lesson_asked *asked)
{
	struct sheet sheet = { .asked = asked };
	struct scenario *start = malloc(sizeof *start);
	struct error error = { "" };
	bool good = false;

	sheet.explorer = malloc(sizeof *sheet.explorer);
	sheet.block = calloc(MOST_BLOCKS, sizeof *sheet.block);
	if (!asked->seeds)
		error_set(&error, NULL, 0, "sheet needs --seeds FILE, a name a line");
	else if (start && sheet.explorer && sheet.block &&
		 scenario_start(start, &error) &&
		 explorer_init(sheet.explorer, start)) {
		good = canvas_init(&sheet.canvas, WIDTH, HEIGHT, GLYPHS_FULL,
				   asked->html) &&
		       print_sheets(&sheet, &error);
		canvas_free(&sheet.canvas);
		explorer_free(sheet.explorer);
	}
	free(sheet.block);
	free(sheet.explorer);
	free(start);
	return good ? command_finish(STATUS_GOOD) : command_fail(&error);
}
