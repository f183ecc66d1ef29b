/* answers.c - see answers.h. */
#include "presets/answers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "presets/folder.h"
#include "presets/stream.h"

enum { FORMAT = 1 };

/* --- in ---------------------------------------------------------------------- */

struct reading {
	const struct document *document;
	struct error *error;
};

static bool complain(const struct reading *r, const struct node *node, const char *what)
{
	return error_set(r->error, r->document->file, node->line, "%s", what);
}

static bool read_whole(const struct reading *r, const struct node *node, int most,
		       int *out)
{
	int64_t value;

	if (!node_count(r->document, node, &value, r->error))
		return false;
	*out = (int)(value < 0 ? 0 : value > most ? most : value);
	return (value >= 0 && value <= most) || complain(r, node, "out of range");
}

static bool read_turned(const struct reading *r, const struct node *map,
			struct answer *out)
{
	if (map->kind != NODE_MAP)
		return complain(r, map, "turned: expected knobs and values");
	for (const struct node *node = map->child; node; node = node->next) {
		if (out->turns == LESSON_TURNS)
			return complain(r, node, "at most 6 knobs");
		out->turned[out->turns].knob = knob_find(node->key);
		if (!out->turned[out->turns].knob)
			return complain(r, node, "no knob of that name");
		if (!node_text(r->document, node, out->turned[out->turns].value,
			       sizeof out->turned[0].value, r->error))
			return false;
		out->turns++;
	}
	return true;
}

/* "unknown" is no number: it was not known, or the turn was shown. */
static bool read_claim(const struct reading *r, const struct node *node,
		       struct answer *out, double *value)
{
	if (node->kind == NODE_SCALAR && strcmp(node->text, "unknown") == 0) {
		out->unknown = true;
		return true;
	}
	out->tries = out->tries < 1 ? 1 : out->tries;
	return node_number(r->document, node, value, r->error);
}

static bool read_member(const struct reading *r, const struct node *node,
			struct answer *out)
{
	const char *key = node->key;

	if (strcmp(key, "step") == 0)
		return true;
	if (strcmp(key, "first") == 0)
		return read_claim(r, node, out, &out->first);
	if (strcmp(key, "last") == 0) {
		out->tries = 2;
		return read_claim(r, node, out, &out->last);
	}
	if (strcmp(key, "hints") == 0)
		return read_whole(r, node, LESSON_HINTS, &out->hints);
	if (strcmp(key, "why") == 0)
		return read_whole(r, node, LESSON_CHOICES, &out->why);
	if (strcmp(key, "turned") == 0)
		return read_turned(r, node, out);
	/* a score, say: nothing that is claimed so counts */
	return true;
}

static bool read_answer(const struct reading *r, const struct node *map,
			struct answers *out)
{
	const struct node *step;
	struct answer *answer;
	int number;

	step = map->kind == NODE_MAP ? node_get(map, "step") : NULL;
	if (!step)
		return complain(r, map, "an answer has a step: {step: 2, first: 20}");
	if (!read_whole(r, step, LESSON_STEPS, &number))
		return false;
	if (number < 1)
		return complain(r, step, "steps are numbered from 1");
	answer = &out->answer[number - 1];
	if (answer->done)
		return complain(r, step, "this step is answered twice");
	answer->done = true;
	for (const struct node *node = map->child; node; node = node->next)
		if (!read_member(r, node, answer))
			return false;
	if (answer->tries < 2)
		answer->last = answer->first;
	return true;
}

bool answers_from(struct answers *out, const struct document *document,
		  struct error *error)
{
	const struct reading r = { document, error };
	const struct node *root = document->root, *lesson, *seed, *step, *list, *format,
			  *finished;
	int at = 0;

	memset(out, 0, sizeof *out);
	if (root->kind != NODE_MAP || !(format = node_get(root, "format")) ||
	    !(lesson = node_get(root, "lesson")))
		return error_set(error, document->file, 1,
				 "answers have format, lesson and answers");
	if (!read_whole(&r, format, 1 << 20, &at))
		return false;
	if (at != FORMAT)
		return complain(&r, format,
				"this shardscope reads answers of format 1");
	seed = node_get(root, "seed");
	step = node_get(root, "step");
	list = node_get(root, "answers");
	finished = node_get(root, "finished");
	if (!node_text(document, lesson, out->lesson, MAX_NAME, error) ||
	    (seed && !node_text(document, seed, out->seed, MAX_NAME, error)) ||
	    (finished && !node_bool(document, finished, &out->finished, error)))
		return false;
	at = 1;
	if (step && !read_whole(&r, step, LESSON_STEPS, &at))
		return false;
	out->step = at > 0 ? at - 1 : 0;
	if (list && list->kind != NODE_LIST)
		return complain(&r, list, "answers: expected a list");
	for (const struct node *node = list ? list->child : NULL; node;
	     node = node->next)
		if (!read_answer(&r, node, out))
			return false;
	return true;
}

bool answers_read(struct answers *out, const char *path, struct error *error)
{
	struct document document;
	bool good;

	if (!document_read(&document, path, error))
		return false;
	good = answers_from(out, &document, error);
	document_free(&document);
	return good;
}

/* --- out --------------------------------------------------------------------- */

static void put_answer(FILE *stream, const struct answer *answer, int step)
{
	fprintf(stream, "  - {step: %d", step);
	if (answer->tries > 0)
		fprintf(stream, ", first: %.6g", answer->first);
	if (answer->tries > 1)
		fprintf(stream, ", last: %.6g", answer->last);
	else if (answer->tries == 0 && answer->unknown)
		fputs(", first: unknown", stream);
	if (answer->hints > 0)
		fprintf(stream, ", hints: %d", answer->hints);
	if (answer->why > 0)
		fprintf(stream, ", why: %d", answer->why);
	for (int i = 0; i < answer->turns; i++) {
		fprintf(stream, "%s%s: ", i ? ", " : ", turned: {",
			answer->turned[i].knob->key);
		stream_put_quoted(stream, answer->turned[i].value);
	}
	fputs(answer->turns > 0 ? "}}\n" : "}\n", stream);
}

char *answers_write(const struct answers *answers)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	bool any = false;

	if (!stream)
		return NULL;
	fprintf(stream, "format: %d\nlesson: ", FORMAT);
	stream_put_text(stream, answers->lesson);
	if (answers->seed[0] != '\0') {
		fputs("\nseed: ", stream);
		stream_put_quoted(stream, answers->seed);
	}
	fprintf(stream, "\nstep: %d\nfinished: %s\n", answers->step + 1,
		answers->finished ? "true" : "false");
	for (int i = 0; i < LESSON_STEPS; i++) {
		if (!answers->answer[i].done)
			continue;
		if (!any)
			fputs("answers:\n", stream);
		any = true;
		put_answer(stream, &answers->answer[i], i + 1);
	}
	return stream_end(stream, &text);
}

/* --- kept -------------------------------------------------------------------- */

/* A name of a file: what would lead out of the folder is written otherwise. */
static void put_safe(const char *name, char *out, size_t size)
{
	size_t used = 0;

	for (; *name != '\0' && used + 1 < size; name++) {
		char c = *name;
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || c == '-' || c == '_' ||
			     (unsigned char)c >= 0x80;

		out[used++] = plain ? c : '_';
	}
	out[used] = '\0';
}

bool answers_path(const char *lesson, const char *seed, char *out, size_t size)
{
	char safe[MAX_NAME], student[MAX_NAME] = "", name[3 * MAX_NAME];

	put_safe(lesson, safe, sizeof safe);
	if (seed)
		put_safe(seed, student, sizeof student);
	snprintf(name, sizeof name, "lessons/%s%s%s.yaml", student,
		 student[0] ? "." : "", safe);
	return folder_state(out, size, name);
}

static void begin(const char *lesson, const char *seed, struct answers *out)
{
	memset(out, 0, sizeof *out);
	snprintf(out->lesson, sizeof out->lesson, "%s", lesson);
	snprintf(out->seed, sizeof out->seed, "%s", seed ? seed : "");
}

void answers_load(const char *lesson, const char *seed, struct answers *out,
		  struct error *error)
{
	char path[512], aside[540];
	struct error why = { "" };

	error->text[0] = '\0';
	begin(lesson, seed, out);
	if (!answers_path(lesson, seed, path, sizeof path) || access(path, F_OK) != 0)
		return;
	if (answers_read(out, path, &why) && strcmp(out->lesson, lesson) == 0)
		return;
	begin(lesson, seed, out);
	snprintf(aside, sizeof aside, "%s.damaged", path);
	if (rename(path, aside) == 0)
		error_set(error, NULL, 0, "damaged progress moved to %.80s (%.300s)",
			  strrchr(aside, '/') + 1, why.text);
}

bool answers_save(const struct answers *answers, struct error *error)
{
	char path[512], *text;
	bool good;

	if (!answers_path(answers->lesson, answers->seed, path, sizeof path))
		return error_set(error, NULL, 0, "there is no home to keep it in");
	text = answers_write(answers);
	if (!text)
		return error_set(error, NULL, 0, "out of memory");
	good = folder_make(path, error) && file_save(path, text, strlen(text), error);
	free(text);
	return good;
}

bool answers_exist(void)
{
	char path[512];

	return folder_state(path, sizeof path, "lessons") && access(path, F_OK) == 0;
}

/* --- what it earns ------------------------------------------------------------ */

static double points_of_claim(const struct lesson_question *q, const struct answer *a,
			      double right, bool *at_first)
{
	*at_first = a->tries > 0 && lesson_is_right(q, right, a->first);
	if (*at_first)
		return 1;
	/* a second try is for values: among choices it would be a gift */
	return a->tries > 1 && q->ask == LESSON_VALUE &&
			       lesson_is_right(q, right, a->last)
		       ? 0.5
		       : 0;
}

/* Only the knobs that the step unlocks count. */
static double score_goal(const struct lesson_step *step, const struct answer *a,
			 struct lesson_scene *scene)
{
	struct scenario to = scene->before;
	char why[256];

	for (int i = 0; i < a->turns; i++) {
		bool may = false;

		for (int j = 0; j < step->unlocks; j++)
			may |= step->unlock[j] == a->turned[i].knob;
		if (!may || !knob_parse(&to, a->turned[i].knob, a->turned[i].value, why,
					sizeof why))
			return 0;
	}
	lesson_turn_to(scene, &to);
	return lesson_score(step, scene);
}

static double grade_step(const struct lesson_step *step, const struct answer *a,
			 struct lesson_scene *scene, struct grade *out)
{
	struct lesson_fault fault;
	double points = 0, right;
	bool at_first = false;

	if (step->question.ask != LESSON_NOTHING) {
		out->most += 1;
		out->predictions++;
		if (lesson_answer(step, scene, &right, NULL, &fault))
			points += points_of_claim(&step->question, a, right, &at_first);
		out->right_at_first += at_first;
	}
	if (step->reason.right > 0) {
		out->most += 1;
		points += a->why == step->reason.right;
	}
	if (step->goal.text[0] != '\0') {
		out->most += 1;
		points += a->done && !a->unknown ? score_goal(step, a, scene) : 0;
	}
	return points;
}

bool answers_grade(const struct lesson *lesson, const char *seed,
		   const struct answers *answers, struct lesson_scene *scratch,
		   struct grade *out, struct lesson_fault *fault)
{
	struct scenario drawn;

	memset(out, 0, sizeof *out);
	if (!lesson_draw(lesson, seed, scratch, &drawn, NULL, fault))
		return false;
	for (int i = 0; i < lesson->steps; i++) {
		if (!lesson_stage(lesson, i, &drawn, scratch, fault))
			return false;
		out->step[i] =
			grade_step(&lesson->step[i], &answers->answer[i], scratch, out);
		out->points += out->step[i];
	}
	return true;
}
