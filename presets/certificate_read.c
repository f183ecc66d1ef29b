/* certificate_read.c - the question and the answer of a certificate; the boxes are read
 * by engine/verify/. It shares nothing with certificate.c, which wrote them. */
#include "presets/certificate_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/scenario_file.h"

struct file {
	const char *name, *at;
	int line;
	struct verify_question *question;
	struct error *error;
};

static bool fail(struct file *file, const char *what)
{
	return error_set(file->error, file->name, file->line, "%s", what);
}

/* What stands on the next line behind this word, as a text of its own. */
static bool take(struct file *file, const char *word, char *out, size_t size)
{
	size_t length = strlen(word), rest = strcspn(file->at, "\n");

	file->line++;
	if (strncmp(file->at, word, length) != 0 || file->at[rest] != '\n' ||
	    rest < length || rest - length >= size)
		return false;
	memcpy(out, file->at + length, rest - length);
	out[rest - length] = '\0';
	file->at += rest + 1;
	return true;
}

static bool read_scenario(struct file *file, int lines)
{
	const char *end = file->at;
	struct verify_question *q = file->question;

	for (int i = 0; i < lines && *end; i++)
		end += strcspn(end, "\n") + (strchr(end, '\n') ? 1 : 0);
	if (!scenario_parse(&q->base, file->name, file->at, (size_t)(end - file->at),
			    NULL, file->error))
		return false;
	file->at = end;
	file->line += lines;
	return true;
}

static bool read_question(struct file *file)
{
	struct verify_question *q = file->question;
	char objective[16], trusted[16], held[32], number[64], lines[16];
	uint64_t rows;
	int trust;

	if (!take(file, "shardscope certificate 1", number, 1))
		return fail(file, "expected 'shardscope certificate 1'");
	if (!take(file, "objective ", objective, sizeof objective) ||
	    !take(file, "reserve ", number, sizeof number) ||
	    !take(file, "trusted ", trusted, sizeof trusted) ||
	    !take(file, "held ", held, sizeof held) ||
	    !take(file, "scenario ", lines, sizeof lines))
		return fail(file,
			    "expected objective, reserve, trusted, held, scenario");
	q->objective = objective_find(objective);
	if (q->objective >= OBJECTIVE_SURE)
		return fail(file, "objective: none that is proved");
	q->reserve = strtod(number, NULL);
	trust = (int)strtol(trusted, NULL, 10);
	rows = strtoull(held, NULL, 16);
	if (!(q->reserve >= 0 && q->reserve < 1) ||
	    !read_scenario(file, (int)strtol(lines, NULL, 10)))
		return file->error->text[0] ? false : fail(file, "reserve: a share");
	q->base.stack.trusted = trust;
	q->base.stack.held = rows;
	return true;
}

static bool add_value(struct verify_axis *axis, struct scenario *scratch, char *text)
{
	char why[128];

	if (axis->count == VERIFY_VALUES ||
	    !knob_parse(scratch, axis->knob, text, why, sizeof why))
		return false;
	axis->value[axis->count] = knob_get(scratch, axis->knob);
	knob_print_value(axis->knob, axis->value[axis->count], axis->name[axis->count],
			 VERIFY_NAME);
	for (int i = 0; i < axis->count; i++)
		if (axis->value[i] == axis->value[axis->count])
			return false;
	return strcmp(axis->name[axis->count++], text) == 0;
}

static bool read_axis(struct file *file, char *text)
{
	struct verify_question *q = file->question;
	struct verify_axis *axis = &q->axis[q->axes];
	struct scenario scratch = q->base;
	char *rest, *key = strtok_r(text, " ", &rest), *value;

	if (!key || q->axes == VERIFY_AXES)
		return fail(file, "expected 'axis KNOB VALUES'");
	*axis = (struct verify_axis){ .knob = knob_find(key) };
	for (int i = 0; i < q->axes; i++)
		if (q->axis[i].knob == axis->knob)
			return fail(file, "an axis twice");
	if (!axis->knob)
		return fail(file, "no knob has this name");
	while ((value = strtok_r(NULL, ",", &rest)))
		if (!add_value(axis, &scratch, value))
			return fail(file, "a value that the knob can't take, or twice");
	q->axes++;
	return axis->count > 0 || fail(file, "an axis without values");
}

static bool read_answer(struct file *file, char *text)
{
	struct verify_question *q = file->question;
	char *rest, *word = strtok_r(text, " ", &rest), *end;
	int known = 0;

	q->answer = INFINITY;
	if (!word || strcmp(word, "none") == 0)
		return word != NULL || fail(file, "expected an answer");
	q->answer = strtod(word, &end);
	for (word = strtok_r(NULL, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		char *value = strchr(word, '=');
		const struct verify_axis *axis = &q->axis[known];
		int at = 0;

		if (!value || known == q->axes)
			return fail(file, "expected 'KNOB=VALUE' for each axis");
		*value++ = '\0';
		while (at < axis->count && strcmp(axis->name[at], value) != 0)
			at++;
		if (strcmp(axis->knob->key, word) != 0 || at == axis->count)
			return fail(file, "the answer is no plan of the space");
		q->best[known++] = (uint8_t)at;
	}
	return (known == q->axes && q->answer > 0) ||
	       fail(file, "expected 'KNOB=VALUE' for each axis");
}

static bool read(struct file *file)
{
	char text[4096];

	if (!read_question(file))
		return false;
	while (strncmp(file->at, "axis ", 5) == 0)
		if (!take(file, "axis ", text, sizeof text) || !read_axis(file, text))
			return file->error->text[0] ? false : fail(file, "too long");
	if (!take(file, "answer ", text, sizeof text) || !read_answer(file, text))
		return file->error->text[0] ? false
					    : fail(file, "expected 'answer ...'");
	if (!take(file, "boxes ", text, sizeof text))
		return fail(file, "expected 'boxes COUNT'");
	file->question->candidates = strtod(text, NULL);
	return true;
}

bool certificate_read(const char *name, const char *text, struct verify_question *out,
		      struct certificate_boxes *boxes, struct error *error)
{
	struct file file = {
		.name = name, .at = text, .question = out, .error = error
	};

	*out = (struct verify_question){ .axes = 0 };
	error->text[0] = '\0';
	if (!read(&file))
		return false;
	boxes->text = file.at;
	boxes->line = file.line + 1;
	return true;
}
