/* scenario_open.c - a scenario by what somebody calls it: a plan, a file or a line. */
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "presets/share.h"

static const char start_plan[] = "llama3-70b-64-h100";

bool scenario_read(struct scenario *out, const char *name, struct scenario_note *note,
		   struct error *error)
{
	struct document document;
	bool good;

	if (share_is(name)) {
		if (note)
			*note = (struct scenario_note){ .title = "" };
		return share_read(out, name, NULL, error);
	}
	if (!preset_open(PRESET_PLAN, name, &document, error))
		return false;
	good = scenario_from(out, &document, document.root, note, error);
	document_free(&document);
	return good;
}

bool scenario_start(struct scenario *out, struct error *error)
{
	return scenario_read(out, start_plan, NULL, error);
}
