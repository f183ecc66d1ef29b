/* keys.c - what a key costs on a real terminal: every shipped plan, every view, turning
 * and moving, with and without a pinned plan, at three sizes and with 24-bit colours.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "presets/library.h"
#include "tests/bench/bench.h"
#include "tests/support/vt.h"

/* Turned and moved in both panes, pinned and turned again; then back to where it was.
 */
static const char *const keys[] = { "h", "l", "l", "h", "j", "j", "h", "l",
				    "u", "k", "k", "p", "h", "l", "p", "\t",
				    "j", "l", "k", "h", ".", "\t" };
enum { KEYS = sizeof keys / sizeof keys[0], VIEWS = 8, WAIT_MS = 5000 };

struct meter {
	double us, bytes, writes;
	bool saved; /* the workspace was written meanwhile, once a second */
};

/* Every value of one kind, to be put in order. */
struct series {
	double *value;
	int count, room;
};

static void append(struct series *series, double value)
{
	if (series->count == series->room) {
		int room = series->room > 0 ? 2 * series->room : 4096;
		double *grown = realloc(series->value, (size_t)room * sizeof *grown);

		if (!grown)
			return;
		series->value = grown;
		series->room = room;
	}
	series->value[series->count++] = value;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double percentile(struct series *series, double part)
{
	if (series->count == 0)
		return 0;
	qsort(series->value, (size_t)series->count, sizeof *series->value, compare);
	return series->value[(int)(part * (series->count - 1))];
}

static double cpu_seconds(const struct vt *vt)
{
	struct timespec used = { 0 };
	clockid_t clock;

	if (clock_getcpuclockid(vt->pid, &clock) == 0)
		clock_gettime(clock, &used);
	return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

/* A count of /proc/PID/io. */
static long counted(const struct vt *vt, const char *name)
{
	char path[64], line[128];
	long value = -1;

	snprintf(path, sizeof path, "/proc/%d/io", (int)vt->pid);
	FILE *file = fopen(path, "r");
	while (file && value < 0 && fgets(line, sizeof line, file))
		if (strncmp(line, name, strlen(name)) == 0)
			value = strtol(line + strlen(name), NULL, 10);
	if (file)
		fclose(file);
	return value;
}

void bench_type(struct vt *vt, const char *key)
{
	long reads = counted(vt, "syscr: ");
	double end = bench_now() + WAIT_MS * 1e-3;

	vt_type(vt, key);
	while (counted(vt, "syscr: ") == reads && bench_now() < end)
		poll(&(struct pollfd){ .fd = vt->fd, .events = POLLIN }, 1, 1);
}

static struct meter press(struct vt *vt, const char *key)
{
	size_t bytes = vt->bytes;
	long writes = vt_writes(vt), written = counted(vt, "wchar: ");
	double used = cpu_seconds(vt);
	struct meter meter = { 0 };

	bench_type(vt, key);
	vt_expect_idle(vt);
	meter.us = (cpu_seconds(vt) - used) * 1e6;
	meter.bytes = (double)(vt->bytes - bytes);
	meter.writes = (double)(vt_writes(vt) - writes);
	meter.saved = counted(vt, "wchar: ") - written != (long)meter.bytes;
	/* the read that was seen may have been one of the save */
	if (meter.saved)
		vt_expect_asleep(vt);
	return meter;
}

static void keep(double *worst, char *at, double value, const char *where)
{
	if (value <= *worst)
		return;
	*worst = value;
	strcpy(at, where);
}

struct walk {
	struct key_cost *cost;
	struct series us, bytes, writes;
	const char *plan;
	int view;
};

static void note(struct walk *walk, const struct meter *meter, int key)
{
	struct key_cost *cost = walk->cost;
	char where[sizeof cost->bytes_at];

	if (getenv("BENCH_KEYS"))
		fprintf(stderr,
			"%dx%d%s %s view %d key %d %.0f bytes %.0f us %.0f "
			"writes%s\n",
			cost->columns, cost->rows, cost->rgb ? " rgb" : "", walk->plan,
			walk->view, key, meter->bytes, meter->us, meter->writes,
			meter->saved ? " saved" : "");
	/* what a save costs is no matter of the key */
	if (meter->saved)
		return;
	snprintf(where, sizeof where, "%.48s, view %d, key %d (%s)", walk->plan,
		 walk->view, key, keys[key][0] == '\t' ? "Tab" : keys[key]);
	keep(&cost->bytes, cost->bytes_at, meter->bytes, where);
	keep(&cost->us, cost->us_at, meter->us, where);
	keep(&cost->writes, cost->writes_at, meter->writes, where);
	append(&walk->bytes, meter->bytes);
	append(&walk->us, meter->us);
	append(&walk->writes, meter->writes);
	cost->presses++;
}

/* What opens and closes: the view, the help over it, the list of plans, the line that
 * looks for something. */
static void open_all(struct walk *walk, struct vt *vt, const char *view)
{
	const char *const opens[] = { view, "?", "?", "o", "\33", "/", "\33" };
	struct key_cost *cost = walk->cost;

	for (size_t i = 0; i < sizeof opens / sizeof opens[0]; i++) {
		char where[sizeof cost->opened_at];
		size_t bytes = vt->bytes;

		bench_type(vt, opens[i]);
		/* it may be the start of another key: the program waits for the rest */
		if (opens[i][0] == 27)
			vt_expect_output(vt);
		vt_expect_asleep(vt);
		snprintf(where, sizeof where, "%.48s, view %d, %s", walk->plan,
			 walk->view, opens[i][0] == 27 ? "Esc" : opens[i]);
		keep(&cost->opened, cost->opened_at, (double)(vt->bytes - bytes),
		     where);
	}
}

static void measure_plan(const char *path, const char *home, struct walk *walk)
{
	const char *const argv[] = { path, walk->plan, NULL };
	char config[160], state[160];
	struct vt *vt;

	snprintf(config, sizeof config, "XDG_CONFIG_HOME=%s/config", home);
	snprintf(state, sizeof state, "XDG_STATE_HOME=%s/state", home);
	const struct vt_options options = {
		.columns = walk->cost->columns,
		.rows = walk->cost->rows,
		.env = { config, state, "COLORFGBG=15;0",
			 walk->cost->rgb ? "COLORTERM=truecolor" : NULL }
	};
	vt = vt_start(&options, argv);
	vt_expect(vt, "q quit");
	vt_expect_asleep(vt);
	for (int view = 1; view <= VIEWS; view++) {
		char name[2] = { (char)('0' + view), '\0' };

		if (view == 7)
			continue; /* a search is no key */
		walk->view = view;
		open_all(walk, vt, name);
		for (int i = 0; i < KEYS; i++) {
			struct meter meter = press(vt, keys[i]);

			note(walk, &meter, i);
		}
	}
	vt_close(vt);
}

void bench_keys(const char *path, const char *home, struct key_cost *out)
{
	struct walk walk = { .cost = out };
	const char *only = getenv("BENCH_PLAN");
	const struct preset *plan;
	int count = preset_list(PRESET_PLAN, &plan);

	for (int i = 0; i < count; i++) {
		walk.plan = plan[i].name;
		if (!only || strcmp(only, walk.plan) == 0)
			measure_plan(path, home, &walk);
	}
	out->bytes_p99 = percentile(&walk.bytes, 0.99);
	out->us_p50 = percentile(&walk.us, 0.5);
	out->us_p99 = percentile(&walk.us, 0.99);
	out->writes_p99 = percentile(&walk.writes, 0.99);
	free(walk.bytes.value);
	free(walk.us.value);
	free(walk.writes.value);
}
