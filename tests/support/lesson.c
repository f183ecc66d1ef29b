/* lesson.c - see lesson.h. */
#include "tests/support/lesson.h"

#include <stdio.h>

#include "tests/support/run.h"

struct vt *lesson_open(const char *home, const char *name,
		       const struct opening *opening)
{
	const char *const argv[] = { run_program(), "learn",
				     name,          opening->seed ? "--seed" : NULL,
				     opening->seed, NULL };
	static char config[96], state[96];

	snprintf(config, sizeof config, "XDG_CONFIG_HOME=%s/config", home);
	snprintf(state, sizeof state, "XDG_STATE_HOME=%s/state", home);
	const struct vt_options options = { .columns = opening->columns,
					    .rows = opening->rows,
					    .term = opening->term,
					    .locale = opening->locale,
					    .env = { config, state } };
	return vt_start(&options, argv);
}
