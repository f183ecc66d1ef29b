/* program.c - what the real program costs on a terminal of 120x36. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/support/vt.h"

enum { STARTS = 15, PRESSES = 61, COLUMNS = 120, ROWS = 36 };

/* A home that nobody has used, so that every start is the built-in one. */
static struct vt *start(const char *path, const char *home)
{
	const char *const argv[] = { path, NULL };
	char config[160], state[160];

	snprintf(config, sizeof config, "XDG_CONFIG_HOME=%s/config", home);
	snprintf(state, sizeof state, "XDG_STATE_HOME=%s/state", home);
	const struct vt_options options = { .columns = COLUMNS,
					    .rows = ROWS,
					    .env = { config, state } };
	return vt_start(&options, argv);
}

static double cpu_seconds(clockid_t clock)
{
	struct timespec used;

	clock_gettime(clock, &used);
	return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

static double peak_kib(pid_t pid)
{
	char path[64], line[256];
	double kib = 0;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return 0;
	while (fgets(line, sizeof line, file) != NULL)
		if (strncmp(line, "VmHWM:", 6) == 0)
			kib = strtod(line + 6, NULL);
	fclose(file);
	return kib;
}

/* From the start of the process until its first frame is on the screen. */
static void measure_starts(const char *path, const char *home, struct program_cost *out)
{
	double ms[STARTS], bytes[STARTS];

	for (int i = 0; i < STARTS; i++) {
		double begin = bench_now();
		struct vt *vt = start(path, home);
		vt_expect(vt, "Overview");
		ms[i] = (bench_now() - begin) * 1e3;
		vt_expect_asleep(vt);
		bytes[i] = (double)vt->bytes;
		vt_close(vt);
	}
	out->start_ms = bench_median(ms, STARTS);
	out->first_frame_bytes = bench_median(bytes, STARTS);
}

/* A knob goes one value up and down again: each press changes every number. */
static void measure_presses(const char *path, const char *home,
			    struct program_cost *out)
{
	double us[PRESSES], bytes[PRESSES];
	struct vt *vt = start(path, home);
	clockid_t clock;

	vt_expect(vt, "Overview");
	vt_expect_asleep(vt);
	clock_getcpuclockid(vt->pid, &clock);
	for (int i = 0; i < PRESSES; i++) {
		size_t before = vt->bytes;
		double used = cpu_seconds(clock);
		bench_type(vt, i % 2 ? "l" : "h");
		vt_expect_output(vt);
		us[i] = (cpu_seconds(clock) - used) * 1e6;
		vt_expect_asleep(vt);
		bytes[i] = (double)(vt->bytes - before);
	}
	out->frame_us = bench_median(us, PRESSES);
	out->knob_press_bytes = bench_median(bytes, PRESSES);
	out->rss_kib = peak_kib(vt->pid);
	vt_close(vt);
}

/* 256 colours at three sizes, and 24 bits at the middle one. */
static void measure_keys(const char *path, const char *home,
			 struct key_cost out[KEY_COSTS])
{
	static const struct key_cost kinds[KEY_COSTS] = {
		{ .columns = 80, .rows = 24 },
		{ .columns = 120, .rows = 36 },
		{ .columns = 200, .rows = 60 },
		{ .columns = 120, .rows = 36, .rgb = true },
	};

	const char *only = getenv("BENCH_SIZE");

	for (int i = 0; i < KEY_COSTS; i++) {
		char size[32];

		out[i] = kinds[i];
		snprintf(size, sizeof size, "%dx%d", out[i].columns, out[i].rows);
		if (!only || strcmp(only, size) == 0)
			bench_keys(path, home, &out[i]);
	}
}

static bool make_home(const char *path, char *home)
{
	struct stat file;

	if (stat(path, &file) == 0 && mkdtemp(home) != NULL)
		return true;
	fprintf(stderr, "bench: there is no program at %s\n", path);
	return false;
}

static bool remove_home(const char *home)
{
	char command[64];

	snprintf(command, sizeof command, "rm -rf '%s'", home);
	return system(command) == 0;
}

bool bench_program_keys(const char *path, struct key_cost out[KEY_COSTS])
{
	char home[] = "/tmp/shardscope-bench-XXXXXX";

	if (!make_home(path, home))
		return false;
	measure_keys(path, home, out);
	return remove_home(home);
}

bool bench_program(const char *path, struct program_cost *out)
{
	char home[] = "/tmp/shardscope-bench-XXXXXX";
	struct stat file;

	if (!make_home(path, home) || stat(path, &file) != 0)
		return false;
	out->binary_kib = (double)file.st_size / 1024;
	measure_starts(path, home, out);
	measure_presses(path, home, out);
	measure_keys(path, home, out->key);
	return remove_home(home);
}
