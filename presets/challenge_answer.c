/* challenge_answer.c - what is handed in for a challenge, and what is kept of one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/predict/predict.h"
#include "presets/challenge_file.h"
#include "presets/document.h"
#include "presets/folder.h"
#include "presets/scenario_file.h"
#include "presets/share.h"
#include "presets/stream.h"

static bool read_scenario(struct challenge_answer *out, const struct document *document,
			  const struct node *node, struct error *error)
{
	struct error why = { "" };

	if (node && node->kind == NODE_MAP)
		return scenario_from(&out->scenario, document, node, NULL, error);
	if (!node || node->kind != NODE_SCALAR || !share_is(node->text))
		return error_set(error, document->file, node ? node->line : 1,
				 "scenario: expected a line of share, s1:..., or a "
				 "mapping");
	return share_read(&out->scenario, node->text, NULL, &why) ||
	       error_set(error, document->file, node->line, "scenario: %s", why.text);
}

static bool read_all(struct challenge_answer *out, const struct document *document,
		     struct error *error)
{
	const struct node *root = document->root, *name = node_get(root, "challenge"),
			  *by = node_get(root, "by"), *score = node_get(root, "score");
	double claim = -100;

	if (root->kind != NODE_MAP || !name)
		return error_set(error, document->file, root->line,
				 "expected an answer: format, challenge, by, scenario");
	if (!node_text(document, name, out->challenge, sizeof out->challenge, error) ||
	    (by && !node_text(document, by, out->by, sizeof out->by, error)) ||
	    (score && !node_number(document, score, &claim, error)))
		return false;
	out->claim = claim / 100;
	return read_scenario(out, document, node_get(root, "scenario"), error);
}

bool challenge_answer_read(struct challenge_answer *out, const char *path,
			   struct error *error)
{
	struct document document;
	bool good;

	memset(out, 0, sizeof *out);
	if (!document_read(&document, path, error))
		return false;
	good = read_all(out, &document, error);
	document_free(&document);
	return good;
}

char *challenge_answer_write(const struct challenge_answer *answer, struct error *error)
{
	char *line = share_write(&answer->scenario, NULL, error), *text = NULL;
	size_t size = 0;
	FILE *stream = line ? open_memstream(&text, &size) : NULL;

	if (stream) {
		fputs("format: 1\nchallenge: ", stream);
		stream_put_text(stream, answer->challenge);
		if (answer->by[0] != '\0') {
			fputs("\nby: ", stream);
			stream_put_text(stream, answer->by);
		}
		fprintf(stream, "\nscenario: \"%s\"\n", line);
		if (answer->claim >= 0)
			fprintf(stream, "score: %.4g\n", 100 * answer->claim);
	}
	free(line);
	return stream ? stream_end(stream, &text) : NULL;
}

bool challenge_kept_path(const char *name, char *out, size_t size)
{
	char rest[MAX_NAME + 32];

	snprintf(rest, sizeof rest, "challenge-answers/%.*s.yaml", MAX_NAME - 1, name);
	return !strchr(name, '/') && folder_state(out, size, rest) && out[0] != '\0';
}

bool challenge_kept_scenario(const struct challenge *c, struct scenario *out)
{
	struct challenge_answer *answer = calloc(1, sizeof *answer);
	char path[512];
	bool good = answer && challenge_kept_path(c->name, path, sizeof path) &&
		    challenge_answer_read(answer, path, NULL) &&
		    strcmp(answer->challenge, c->name) == 0;

	if (good)
		*out = answer->scenario;
	free(answer);
	return good;
}

double challenge_kept(const struct challenge *c, const struct planner_found *best)
{
	struct scenario *s = malloc(sizeof *s);
	struct estimate *e = malloc(sizeof *e);
	double score = 0;

	if (s && e && challenge_kept_scenario(c, s)) {
		scenario_estimate(s, e);
		score = challenge_score(&c->problem, best, s, e);
	}
	free(s);
	free(e);
	return score;
}

/* What is there and can't be read stays, under another name. */
static void move_aside(const char *path)
{
	char aside[600];
	struct challenge_answer *answer = calloc(1, sizeof *answer);

	if (answer && access(path, F_OK) == 0 &&
	    !challenge_answer_read(answer, path, NULL)) {
		for (int i = 0; i < 100; i++) {
			snprintf(aside, sizeof aside, "%s.damaged.%d", path, i);
			if (access(aside, F_OK) != 0)
				break;
		}
		rename(path, aside);
	}
	free(answer);
}

bool challenge_keep(const struct challenge *c, const struct planner_found *best,
		    const struct scenario *scenario, double score, struct error *error)
{
	struct challenge_answer *answer;
	char path[512], *text;
	bool good;

	if (!challenge_kept_path(c->name, path, sizeof path) ||
	    score <= challenge_kept(c, best))
		return true;
	answer = calloc(1, sizeof *answer);
	if (!answer)
		return error_set(error, NULL, 0, "out of memory");
	strcpy(answer->challenge, c->name);
	answer->scenario = *scenario;
	answer->claim = score;
	text = challenge_answer_write(answer, error);
	free(answer);
	move_aside(path);
	good = text && folder_make(path, error) &&
	       file_save(path, text, strlen(text), error);
	free(text);
	return good;
}
