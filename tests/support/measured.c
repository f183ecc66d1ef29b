/* measured.c - see measured.h. */
#include "tests/support/measured.h"

#include <glob.h>
#include <string.h>

#include "tests/support/close.h"

struct run_set measured_set;
struct run_scores measured_scores;

int measured_read(const char *pattern)
{
	struct error error = { "" };
	glob_t files;
	bool good = true;

	if (glob(pattern, 0, NULL, &files) != 0)
		return -1;
	for (size_t i = 0; good && i < files.gl_pathc; i++)
		good = runs_read(&measured_set, files.gl_pathv[i], &error);
	globfree(&files);
	return good && runs_score(&measured_set, &measured_scores) ? 0 : -1;
}

int measured_forget(void **state)
{
	(void)state;
	run_scores_free(&measured_scores);
	runs_free(&measured_set);
	return 0;
}

const struct score *measured_source(const char *name)
{
	for (int k = 0; k < measured_set.sources; k++)
		if (strcmp(measured_set.source[k], name) == 0)
			return &measured_scores.source[k];
	fail_msg("no source %s", name);
	return NULL;
}

void measured_check(int sources, int runs)
{
	int faults = 0;

	for (int i = 0; i < measured_set.faults; i++) {
		/* what a file leaves out and the library knows is said, and no fault */
		if (strstr(measured_set.fault[i].text, "is taken from the library's"))
			continue;
		print_error("%s\n", measured_set.fault[i].text);
		faults++;
	}
	assert_int_equal(faults, 0);
	assert_int_equal(measured_set.sources, sources);
	assert_int_equal(measured_set.count, runs);
}
