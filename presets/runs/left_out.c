/* left_out.c - see left_out.h. */
#include "presets/runs/left_out.h"

#include <stdlib.h>
#include <string.h>

#include "engine/score/score.h"

enum { MAX_KIND = 40 };

static const char header[] = "source,kind,runs,median,p90";

enum { KINDS = LEFT_SERVING + SCORE_FIGURES * (1 + SCORE_KINDS) };

/* "tpot", and of servers of a kind "tpot of pipelines". */
static const char *word(int kind, char text[MAX_KIND])
{
	int of = (kind - LEFT_SERVING) / SCORE_FIGURES;
	const char *figure;

	if (kind < LEFT_SERVING)
		return kind == LEFT_EXPERTS ? "experts" : "dense";
	figure = score_words[(kind - LEFT_SERVING) % SCORE_FIGURES].use;
	if (of == 0)
		return figure;
	snprintf(text, MAX_KIND, "%s of %s", figure, score_kinds[of - 1]);
	return text;
}

static bool read_row(const char *line, struct left_out *out)
{
	char kind[MAX_KIND], text[MAX_KIND], end;

	if (sscanf(line, "%63[^,],%39[^,],%d,%lf,%lf%c", out->source, kind, &out->runs,
		   &out->median, &out->p90, &end) < 5)
		return false;
	out->kind = 0;
	while (out->kind < KINDS && strcmp(kind, word(out->kind, text)) != 0)
		out->kind++;
	return out->kind < KINDS && out->runs > 0 && out->median >= 0 &&
	       out->p90 >= out->median;
}

bool left_outs_read(struct left_outs *out, const char *path, struct error *error)
{
	FILE *file = fopen(path, "r");
	char line[256];
	int number = 0;
	bool good = true;

	if (!file)
		return error_set(error, path, 0, "can't be read");
	while (good && fgets(line, sizeof line, file)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (number++ == 0)
			good = strcmp(line, header) == 0;
		else
			good = out->count < MAX_LEFT_OUT &&
			       read_row(line, &out->row[out->count++]);
	}
	fclose(file);
	if (good && number > 0)
		return true;
	return error_set(error, path, number, "expected %s",
			 number < 2 ? header : "such a row, as make fit writes it");
}

void left_outs_write(const struct left_outs *all, FILE *stream)
{
	char text[MAX_KIND];

	fprintf(stream, "%s\n", header);
	for (int i = 0; i < all->count; i++)
		fprintf(stream, "%s,%s,%d,%.4f,%.4f\n", all->row[i].source,
			word(all->row[i].kind, text), all->row[i].runs,
			all->row[i].median, all->row[i].p90);
}

const struct left_out *left_outs_find(const struct left_outs *all, const char *source,
				      int kind)
{
	for (int i = 0; i < all->count; i++)
		if (all->row[i].kind == kind && strcmp(all->row[i].source, source) == 0)
			return &all->row[i];
	return NULL;
}

bool left_outs_total(const struct left_outs *all, int kind, struct left_out *out)
{
	double median[MAX_LEFT_OUT], p90[MAX_LEFT_OUT];
	int n = 0;

	*out = (struct left_out){ .source = "total", .kind = kind };
	for (int i = 0; i < all->count; i++)
		if (all->row[i].kind == kind) {
			out->runs += all->row[i].runs;
			median[n] = all->row[i].median;
			p90[n++] = all->row[i].p90;
		}
	out->median = score_quantile(median, n, 0.5);
	out->p90 = score_quantile(p90, n, 0.5);
	return n > 0;
}
