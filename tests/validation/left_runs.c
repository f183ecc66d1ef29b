/* left_runs.c - see left_runs.h. */
#include "tests/validation/left_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/accuracy_file.h"

static const char header[] = "source,kind,id,left_out,shipped";

bool left_runs_add(struct left_runs *all, const struct left_run *run)
{
	if (all->count == all->room) {
		int room = all->room > 0 ? 2 * all->room : 256;
		struct left_run *more = realloc(all->run, sizeof *more * (size_t)room);

		if (!more)
			return false;
		all->run = more;
		all->room = room;
	}
	all->run[all->count++] = *run;
	return true;
}

void left_runs_free(struct left_runs *all)
{
	free(all->run);
	*all = (struct left_runs){ 0 };
}

static bool read_line(const char *line, struct left_run *out)
{
	char kind[32], end;

	if (sscanf(line, "%63[^,],%31[^,],%127[^,],%lf,%lf%c", out->source, kind,
		   out->id, &out->error, &out->shipped, &end) != 5)
		return false;
	out->kind = 0;
	while (out->kind < RUN_KINDS &&
	       strcmp(kind, accuracy_kind_word((enum run_kind)out->kind)) != 0)
		out->kind++;
	return out->kind < RUN_KINDS;
}

bool left_runs_read(struct left_runs *all, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[512];
	int number = 0;
	bool good = file != NULL;

	while (good && fgets(line, sizeof line, file)) {
		struct left_run run;

		line[strcspn(line, "\r\n")] = '\0';
		good = number++ == 0
			       ? strcmp(line, header) == 0
			       : read_line(line, &run) && left_runs_add(all, &run);
	}
	if (file)
		fclose(file);
	if (!good)
		fprintf(stderr, "%s:%d: expected %s, as make left-out writes it\n",
			path, number, header);
	return good;
}

bool left_runs_write(const struct left_runs *all, const char *path)
{
	FILE *file = fopen(path, "w");

	if (file) {
		fprintf(file, "%s\n", header);
		for (int i = 0; i < all->count; i++)
			fprintf(file, "%s,%s,%s,%.5f,%.5f\n", all->run[i].source,
				accuracy_kind_word((enum run_kind)all->run[i].kind),
				all->run[i].id, all->run[i].error, all->run[i].shipped);
	}
	if (file && fclose(file) == 0)
		return true;
	perror(path);
	return false;
}

/* The first run of the same source. */
static int part_of(const struct left_runs *all, int i)
{
	int k = 0;

	while (strcmp(all->run[k].source, all->run[i].source) != 0)
		k++;
	return k;
}

bool left_runs_learn(const struct left_runs *all, int kind, const double *moved,
		     struct learned *out, double *held)
{
	struct left_out_runs heap = { 0 };
	bool good = ranges_room(&heap, all->count);

	for (int i = 0; good && i < all->count; i++)
		if (all->run[i].kind == kind)
			ranges_add(&heap, part_of(all, i),
				   -all->run[i].error - (moved ? moved[i] : 0));
	good = good && ranges_learn(&heap, -1, out);
	*held = good ? ranges_held(&heap) : 0;
	ranges_free(&heap);
	return good;
}

/* The line of that kind below "step:", or NULL. */
static char *find_line(char *text, const char *kind)
{
	char start[40], *step = strstr(text, "\nstep:\n");

	snprintf(start, sizeof start, "\n  %s: {", kind);
	step = step ? strstr(step, start) : NULL;
	return step ? step + 1 : NULL;
}

static bool put_range(const struct left_runs *all, int kind, char *text, size_t size)
{
	const char *word = accuracy_kind_word((enum run_kind)kind);
	char *line = find_line(text, word), fresh[256], *rest;
	struct learned range;
	double held;
	int runs = 0;

	if (!line || !left_runs_learn(all, kind, NULL, &range, &held))
		return false;
	for (int i = 0; i < all->count; i++)
		runs += all->run[i].kind == kind;
	snprintf(
		fresh, sizeof fresh,
		"  %s: {low: %.3f, high: %.3f}  # %d runs of %d sources; ranges learned "
		"on all others held %.0f %% of each",
		word, exp(range.low), exp(range.high), runs, range.parts, 100 * held);
	rest = strdup(line + strcspn(line, "\n"));
	if (!rest || (size_t)(line - text) + strlen(fresh) + strlen(rest) + 1 > size) {
		free(rest);
		return false;
	}
	memcpy(line, fresh, strlen(fresh));
	strcpy(line + strlen(fresh), rest);
	free(rest);
	return true;
}

bool left_runs_ship(const struct left_runs *all, const char *path)
{
	static char text[1 << 16];
	FILE *file = fopen(path, "r");
	size_t n = file ? fread(text, 1, sizeof text - 1024, file) : 0;
	bool good;

	text[n] = '\0';
	if (file)
		fclose(file);
	good = n > 0 && put_range(all, RUN_DENSE, text, sizeof text) &&
	       put_range(all, RUN_EXPERTS, text, sizeof text);
	file = good ? fopen(path, "w") : NULL;
	if (file) {
		good = fputs(text, file) >= 0;
		good = fclose(file) == 0 && good;
	}
	if (!file || !good)
		fprintf(stderr, "%s: no ranges of dense models and mixtures written\n",
			path);
	return file && good;
}
