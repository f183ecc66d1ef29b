/* keys.c - what a key costs in every view of every kind of plan, on a real terminal:
 * the worst of all. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/support/vt.h"

/* Turned and moved in both panes; then back to where it was. */
static const char *const keys[] = { "h", "l", "j", "k", "u", "\t",
				    "j", "l", "k", "h", ".", "\t" };
enum { KEYS = sizeof keys / sizeof keys[0], VIEWS = 8, FRAME_MS = 50 };

static const char *const plans[] = { "llama3-70b-64-h100", "llama3-405b-16k-h100",
				     "deepseek-v3-2048-h800",
				     "llama3.1-70b-4-h100-serve" };
enum { PLANS = sizeof plans / sizeof plans[0] };

struct meter {
	double us;
	size_t bytes;
	long writes;
};

static void keep_worst(struct key_cost *worst, const struct meter *meter,
		       const char *plan, int view, const char *key)
{
	char where[sizeof worst->bytes_at];

	snprintf(where, sizeof where, "%s, view %d, %s", plan, view,
		 key[0] == '\t' ? "Tab" : key);
	if ((double)meter->bytes > worst->bytes) {
		worst->bytes = (double)meter->bytes;
		strcpy(worst->bytes_at, where);
	}
	if (meter->us > worst->us) {
		worst->us = meter->us;
		strcpy(worst->us_at, where);
	}
	if ((double)meter->writes > worst->writes)
		worst->writes = (double)meter->writes;
}

static double cpu_seconds(const struct vt *vt)
{
	struct timespec used = { 0 };
	clockid_t clock;

	if (clock_getcpuclockid(vt->pid, &clock) == 0)
		clock_gettime(clock, &used);
	return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

/* Processor time up to the frame; bytes and writes until the program sleeps again, with
 * what follows the frame. */
static struct meter press(struct vt *vt, const char *key)
{
	size_t bytes = vt->bytes;
	long writes = vt_writes(vt);
	double used = cpu_seconds(vt);
	struct pollfd frame = { .fd = vt->fd, .events = POLLIN };
	struct meter meter;

	vt_type(vt, key);
	/* its frame, if it has one */
	poll(&frame, 1, FRAME_MS);
	meter.us = (cpu_seconds(vt) - used) * 1e6;
	vt_expect_asleep(vt);
	meter.bytes = vt->bytes - bytes;
	meter.writes = vt_writes(vt) - writes;
	return meter;
}

static void measure_plan(const char *path, const char *home, const char *plan,
			 struct key_cost *worst)
{
	const char *const argv[] = { path, plan, NULL };
	char config[160], state[160];
	struct vt *vt;

	snprintf(config, sizeof config, "XDG_CONFIG_HOME=%s/config", home);
	snprintf(state, sizeof state, "XDG_STATE_HOME=%s/state", home);
	const struct vt_options options = { .columns = worst->columns,
					    .rows = worst->rows,
					    .env = { config, state,
						     "COLORFGBG=15;0" } };
	vt = vt_start(&options, argv);
	vt_expect(vt, "q quit");
	vt_expect_asleep(vt);
	for (int view = 1; view <= VIEWS; view++) {
		char name[2] = { (char)('0' + view), '\0' };

		if (view == 7)
			continue; /* a search is no key */
		vt_type(vt, name);
		vt_expect_asleep(vt);
		for (int i = 0; i < KEYS; i++) {
			struct meter meter = press(vt, keys[i]);

			if (getenv("BENCH_KEYS"))
				fprintf(stderr,
					"%dx%d %s view %d key %d %zu bytes %.0f us %ld writes\n",
					worst->columns, worst->rows, plan, view, i,
					meter.bytes, meter.us, meter.writes);
			keep_worst(worst, &meter, plan, view, keys[i]);
		}
	}
	vt_close(vt);
}

void bench_keys(const char *path, const char *home, struct key_cost *out)
{
	for (int i = 0; i < PLANS; i++)
		measure_plan(path, home, plans[i], out);
}
