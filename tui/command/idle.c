/* idle.c - see idle.h. */
#include "tui/command/idle.h"

#include <stdio.h>
#include <string.h>

#include "presets/kept.h"
#include "presets/library.h"

/* Whether a finding is about the knob, which says more. */
static bool is_named(const struct findings *problems, const struct knob *knob)
{
	for (int i = 0; i < problems->count; i++)
		if (problems->item[i].knob &&
		    strcmp(problems->item[i].knob, knob->key) == 0)
			return true;
	return false;
}

/* Whether it moves nothing here, as fsdp_prefetch without FSDP, and says another thing
 * than what is so anyway. */
static bool is_idle(const struct scenario *s, const struct scenario *usual,
		    const struct findings *problems, const struct knob *knob)
{
	return !knob_applies(s, knob) && !knob_same(s, usual, knob) &&
	       !is_named(problems, knob);
}

static bool is_given(const struct idle_of *said, const struct knob *knob)
{
	for (int i = 0; i < said->givens; i++)
		if (said->given[i] == knob)
			return true;
	return false;
}

int idle_list(const struct idle_of *said, const struct scenario *s,
	      const struct findings *problems, const struct knob *idle[MAX_GIVEN])
{
	const struct knob *key[MAX_GIVEN];
	struct scenario usual = *s;
	struct error why;
	int count = 0, keys = 0;

	/* a file that has the stack in full says what this has anyway */
	scenario_defaults(&usual);
	library_stack(&usual, s->stack.name, &why);
	for (int i = 0; i < said->givens; i++)
		if (is_idle(s, &usual, problems, said->given[i]))
			idle[count++] = said->given[i];
	if (said->file[0] != '\0')
		keys = kept_knobs(said->file, key, MAX_GIVEN);
	for (int i = 0; i < keys && count < MAX_GIVEN; i++)
		if (!is_given(said, key[i]) && is_idle(s, &usual, problems, key[i]))
			idle[count++] = key[i];
	return count;
}

void idle_note(struct idle_of *said, const struct knob *knob)
{
	if (said->givens < MAX_GIVEN)
		said->given[said->givens++] = knob;
}

void idle_print(const struct idle_of *said, const struct scenario *s,
		const struct findings *problems)
{
	const struct knob *idle[MAX_GIVEN];
	int count = idle_list(said, s, problems, idle);

	for (int i = 0; i < count; i++)
		printf("%s%s",
		       i > 0 ? ", " : "given, but without effect in this plan: ",
		       idle[i]->key);
	if (count > 0)
		putchar('\n');
}
