/* library_stack.c - stacks of the library, as they are or as a release had them; see
 * library.h. */
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/library.h"
#include "presets/library_parts.h"
#include "presets/release.h"
#include "presets/stack_file.h"

bool library_start_serving(struct scenario *scenario, struct error *error)
{
	const struct preset *preset = preset_find(PRESET_STACK, "generic");
	struct scenario other;
	struct document document;
	bool good;

	if (preset && preset->made) {
		memcpy(&scenario->stack.serving, preset->made,
		       sizeof scenario->stack.serving);
		return true;
	}
	scenario_defaults(&other);
	if (!preset_open(PRESET_STACK, "generic", &document, error))
		return false;
	good = stack_read(&document, document.root, &other, NULL, error);
	document_free(&document);
	if (!good)
		return false;
	scenario->stack.serving = other.stack.serving;
	if (preset)
		shelf_keep_made(preset, &other.stack.serving,
				sizeof other.stack.serving);
	return true;
}

static void add_release(char *name, const char *release)
{
	size_t length = strlen(name);

	snprintf(name + length, MAX_NAME - length, "@%s", release);
	error_clean(name);
}

/* As it is now, or as that release had it. */
static bool read_release(const struct document *document, const char *release,
			 struct scenario *scenario, struct error *error)
{
	return stack_read(document, document->root, scenario, NULL, error) &&
	       (!release ||
		release_take_back(document, document->root, release, scenario, error));
}

bool library_stack(struct scenario *scenario, const char *name, struct error *error)
{
	const char *release = release_of(name);
	const struct preset *preset;
	struct document document;
	char before[256];
	bool good;

	if (release) {
		snprintf(before, sizeof before, "%.*s", (int)(release - 1 - name),
			 name);
		name = before;
	}
	preset = preset_find(PRESET_STACK, name);
	if (!preset_open(PRESET_STACK, name, &document, error))
		return false;
	good = library_start_serving(scenario, error) &&
	       read_release(&document, release, scenario, error);
	document_free(&document);
	if (good)
		library_take_name(scenario->stack.name, preset ? preset->name : name);
	if (good && release)
		add_release(scenario->stack.name, release);
	return good;
}

void library_undone(const char *name, char *out, size_t size)
{
	const char *release = release_of(name);
	struct document document;
	struct error ignored;
	char plain[MAX_NAME];

	out[0] = '\0';
	if (!release)
		return;
	snprintf(plain, sizeof plain, "%.*s", (int)(release - 1 - name), name);
	if (!preset_open(PRESET_STACK, plain, &document, &ignored))
		return;
	release_tell(document.root, release, out, size);
	document_free(&document);
}

bool library_change_stack(struct scenario *scenario, const char *name,
			  struct error *error)
{
	struct scenario before, to = *scenario;

	scenario_defaults(&before);
	before.model = scenario->model;
	before.cluster = scenario->cluster;
	if (!library_stack(&before, scenario->stack.name, error)) {
		/* of one that is shipped, defaults would be taken for what was asked */
		if (preset_find(PRESET_STACK, scenario->stack.name))
			return false;
		before.plan = (struct plan){ 0 };
	}
	if (!library_stack(&to, name, error))
		return false;
	for (int i = 0; i < knob_count(); i++) {
		char value[MAX_LAYOUT], why[256];

		if (knob_same(scenario, &before, &knob_table[i]))
			continue;
		knob_print(scenario, &knob_table[i], value, sizeof value);
		knob_parse(&to, &knob_table[i], value, why, sizeof why);
	}
	*scenario = to;
	return true;
}
