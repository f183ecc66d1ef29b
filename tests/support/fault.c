/* fault.c - see fault.h. */
#include "tests/support/fault.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/close.h"

enum { ROOM = 1 << 20, MOST_TOLD = 40 };

char fault_home[] = "/tmp/shardscope-faults-XXXXXX";
char fault_program[1024], fault_mark[128];
static int complaints;

bool fault_was_marked(void)
{
	return unlink(fault_mark) == 0;
}

bool fault_is_all(void)
{
	const char *all = getenv("FAULTS");

	return all && strcmp(all, "all") == 0;
}

const char *fault_places(void)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/places", fault_home);
	return path;
}

struct fault_turns fault_turns(const char *call, bool later, int few, int last)
{
	struct fault_turns turns = { .later = later && fault_is_all(), .stride = 1 };
	long places = 0, n, nth;
	unsigned long long way;

	if (strcmp(call, "malloc") != 0)
		return turns;
	turns.places = fopen(fault_places(), "r");
	assert_non_null(turns.places);
	while (fscanf(turns.places, "%ld %ld %llx", &n, &nth, &way) == 3)
		places += nth == 1;
	assert_true(places > 0);
	rewind(turns.places);
	if (!fault_is_all() && places > few)
		turns.stride = places / few;
	turns.ending = places - last;
	return turns;
}

static bool is_new(struct fault_ways *ways, unsigned long long way)
{
	size_t at = (way ^ way >> 32) % FAULT_WAYS;

	while (ways->hash[at] != 0 && ways->hash[at] != way)
		at = (at + 1) % FAULT_WAYS;
	if (ways->hash[at] == way)
		return false;
	ways->hash[at] = way;
	return true;
}

long fault_next(struct fault_turns *turns, bool failed)
{
	long place, nth;
	unsigned long long way;

	if (!turns->places)
		return failed ? ++turns->n : 0;
	while (fscanf(turns->places, "%ld %ld %llx", &place, &nth, &way) == 3) {
		long n = turns->n;

		turns->n += nth == 1;
		if (turns->ways && fault_is_all() && nth == 1 &&
		    !is_new(turns->ways, way))
			continue;
		if (nth == 1 ? n % turns->stride == 0 || n >= turns->ending
			     : turns->later)
			return place;
	}
	fclose(turns->places);
	return 0;
}

struct ran fault_run(const char *arguments, const char *fault)
{
	struct ran ran;

	setenv("FAULT", fault, 1);
	ran = run(arguments);
	unsetenv("FAULT");
	ran_cut_clock(&ran);
	return ran;
}

struct ran fault_run_noting(const char *arguments)
{
	struct ran ran;

	setenv("FAULT_PLACES", fault_places(), 1);
	ran = fault_run(arguments, "malloc:0");
	unsetenv("FAULT_PLACES");
	return ran;
}

void fault_complain(const char *format, ...)
{
	va_list args;

	if (complaints++ >= MOST_TOLD)
		return;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	puts("");
	fflush(stdout);
}

void fault_check(void)
{
	int count = complaints;

	complaints = 0;
	if (count > 0)
		fail_msg("%d calls that failed were not borne well", count);
}

char *fault_read(const char *path)
{
	char *text = calloc(1, ROOM);
	FILE *file = fopen(path, "r");

	assert_non_null(text);
	if (file) {
		assert_true(fread(text, 1, ROOM - 1, file) < ROOM - 1);
		fclose(file);
	}
	return text;
}

void fault_write(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

int fault_begin(void **state)
{
	char self[400];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	(void)state;
	assert_true(length > 0);
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	assert_non_null(mkdtemp(fault_home));
	snprintf(fault_mark, sizeof fault_mark, "%s/failed", fault_home);
	snprintf(fault_program, sizeof fault_program,
		 "env LD_PRELOAD=%s/../fault.so %s", self, run_program());
	setenv("SHARDSCOPE", fault_program, 1);
	setenv("FAULT_MARK", fault_mark, 1);
	return 0;
}

int fault_end(void **state)
{
	char command[160];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", fault_home);
	return system(command);
}
