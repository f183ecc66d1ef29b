/* prompt.c - the line at the bottom that is typed into: a value, a name to find, a
 * file to write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "engine/knob.h"
#include "presets/folder.h"
#include "presets/kept.h"
#include "tui/explorer.h"
#include "tui/explorer/export.h"

unsigned prompt_open(struct explorer *explorer, enum prompt_kind kind, int argument,
		     const char *text)
{
	char name[160], value[sizeof explorer->field.text];

	explorer->mode = MODE_PROMPT;
	explorer->prompt = kind;
	explorer->prompt_argument = argument;
	explorer->asking = false;
	explorer->message[0] = '\0';
	if (kind == PROMPT_WRITE && text[0] == '\0') {
		snprintf(name, sizeof name, "%s-%lld.yaml",
			 explorer->scenario.model.name,
			 (long long)explorer->scenario.cluster.gpus);
		text = name;
	} else if (kind == PROMPT_EXPORT) {
		snprintf(name, sizeof name, "%s-%lld.%s", explorer->scenario.model.name,
			 (long long)explorer->scenario.cluster.gpus,
			 export_table[argument].suffix);
		text = name;
	} else if (kind == PROMPT_VALUE && !text &&
		   knob_table[argument].type >= KNOB_SET) {
		knob_print(&explorer->scenario, &knob_table[argument], value,
			   sizeof value);
		text = value;
	}
	field_set(&explorer->field, text ? text : "");
	return CHANGED_SCREEN;
}

static unsigned take_value(struct explorer *explorer)
{
	const struct knob *knob = &knob_table[explorer->prompt_argument];
	struct scenario to = explorer->scenario;
	char why[256], what[128], after[64];

	if (explorer->field.length == 0) {
		explorer->mode = MODE_NORMAL;
		return CHANGED_SCREEN;
	}
	if (!knob_parse(&to, knob, explorer->field.text, why, sizeof why)) {
		explorer_say(explorer, ROLE_BAD, "%s", why);
		return CHANGED_SCREEN;
	}
	explorer->mode = MODE_NORMAL;
	explorer->message[0] = '\0';
	if (knob_same(&to, &explorer->scenario, knob))
		return CHANGED_SCREEN;
	knobs_begin(explorer, &to);
	knob_print(&to, knob, after, sizeof after);
	snprintf(what, sizeof what, "%s to %s", knob->key, after);
	return explorer_change(explorer, &to, what);
}

static bool matches(const struct knob *knob, const char *text)
{
	return strcasestr(knob->key, text) || strcasestr(knob->label, text) ||
	       (knob->alias && strcasestr(knob->alias, text)) ||
	       strcasestr(knob->help, text);
}

/* Names come before what only the help mentions. */
static const struct knob *find(const struct explorer *explorer, int direction)
{
	const struct knob *now = explorer_knob(explorer);
	int count = knob_count(), at = now ? (int)(now - knob_table) : -1;

	if (direction == 0) {
		for (int i = 0; i < count; i++)
			if (strncasecmp(knob_table[i].key, explorer->found,
					strlen(explorer->found)) == 0)
				return &knob_table[i];
		direction = 1;
		at = -1;
	}
	for (int i = 1; i <= count; i++) {
		int n = (at + direction * i + 2 * count) % count;

		if (matches(&knob_table[n], explorer->found))
			return &knob_table[n];
	}
	return NULL;
}

unsigned prompt_find(struct explorer *explorer, int direction)
{
	const struct knob *knob;

	if (explorer->found[0] == '\0') {
		explorer_say(explorer, ROLE_HINT, "nothing to find; press /");
		return CHANGED_SCREEN;
	}
	knob = find(explorer, direction);
	if (!knob) {
		explorer_say(explorer, ROLE_WARNING, "no knob matches '%s'",
			     explorer->found);
		return CHANGED_SCREEN;
	}
	explorer->pane = PANE_KNOBS;
	knobs_focus(explorer, knob);
	explorer_say(explorer, ROLE_HINT, "%s: %s", knob->key, knob->help);
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}

static unsigned take_find(struct explorer *explorer)
{
	snprintf(explorer->found, sizeof explorer->found, "%.63s",
		 explorer->field.text);
	explorer->mode = MODE_NORMAL;
	return explorer->found[0] ? prompt_find(explorer, 0) : CHANGED_SCREEN;
}

/* What the filter says may change what is searched, or only what is shown. */
static unsigned take_filter(struct explorer *explorer)
{
	bool pins = strchr(explorer->filter, '=') != NULL;

	snprintf(explorer->filter, sizeof explorer->filter, "%.*s", MAX_FILTER - 1,
		 explorer->field.text);
	pins |= strchr(explorer->filter, '=') != NULL;
	explorer->mode = MODE_NORMAL;
	explorer->state[VIEW_SEARCH].cursor = explorer->state[VIEW_SEARCH].first = 0;
	if (pins)
		explorer->search_stale = true;
	else
		search_arrange_rows(explorer);
	return CHANGED_SCREEN;
}

/* Before another file is overwritten a key is asked for that is not the one that asks.
 */
static bool must_ask(const struct explorer *explorer, const char *path)
{
	bool own =
		explorer->prompt == PROMPT_WRITE && strcmp(path, explorer->file) == 0;

	return !own && access(path, F_OK) == 0;
}

static unsigned write_file(struct explorer *explorer, const char *path)
{
	struct error error = { "" };
	char *text = explorer->prompt == PROMPT_WRITE
			     ? kept_write(&explorer->scenario, explorer->kept)
			     : preview_write(explorer, explorer->prompt_argument);
	bool good = text && file_save(path, text, strlen(text), &error);

	free(text);
	if (!good) {
		explorer_say(explorer, ROLE_BAD, "%s",
			     error.text[0] ? error.text : "nothing could be written");
		return CHANGED_SCREEN;
	}
	explorer->mode = MODE_NORMAL;
	if (explorer->prompt == PROMPT_WRITE)
		snprintf(explorer->file, sizeof explorer->file, "%s", path);
	explorer_say(explorer, ROLE_GOOD, "written: %s", path);
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}

static unsigned take_file(struct explorer *explorer, bool sure)
{
	char path[512];

	if (explorer->field.length == 0) {
		explorer->mode = MODE_NORMAL;
		return CHANGED_SCREEN;
	}
	if (!file_expand(explorer->field.text, path, sizeof path)) {
		explorer_say(explorer, ROLE_BAD, "the name is too long");
		return CHANGED_SCREEN;
	}
	if (sure || !must_ask(explorer, path))
		return write_file(explorer, path);
	explorer->asking = true;
	explorer_say(explorer, ROLE_WARNING,
		     "%s exists; y overwrites it, any other key does not", path);
	return CHANGED_SCREEN;
}

/* y, and nothing else. */
static unsigned answer(struct explorer *explorer, struct action action)
{
	explorer->asking = false;
	explorer->message[0] = '\0';
	if (action.kind == ACTION_TEXT && action.argument == 'y')
		return take_file(explorer, true);
	return CHANGED_SCREEN;
}

unsigned prompt_act(struct explorer *explorer, struct action action)
{
	if (explorer->asking && action.kind != ACTION_REDRAW)
		return answer(explorer, action);
	switch (action.kind) {
	case ACTION_ESCAPE:
		explorer->mode = MODE_NORMAL;
		explorer->message[0] = '\0';
		return CHANGED_SCREEN;
	case ACTION_ENTER:
		switch (explorer->prompt) {
		case PROMPT_VALUE: return take_value(explorer);
		case PROMPT_FIND: return take_find(explorer);
		case PROMPT_FILTER: return take_filter(explorer);
		default: return take_file(explorer, false);
		}
	case ACTION_REDRAW: return CHANGED_SCREEN | CHANGED_REDRAW_ALL;
	default:
		if (!field_act(&explorer->field, action))
			return CHANGED_NOTHING;
		explorer->message[0] = '\0';
		return CHANGED_SCREEN;
	}
}

void prompt_draw(const struct explorer *explorer, struct canvas *canvas, int y)
{
	char label[64], domain[256] = "";
	int used, width;

	switch (explorer->prompt) {
	case PROMPT_VALUE:
		snprintf(label, sizeof label,
			 " %s = ", knob_table[explorer->prompt_argument].key);
		knob_domain(&knob_table[explorer->prompt_argument], domain,
			    sizeof domain);
		break;
	case PROMPT_FIND:
		snprintf(label, sizeof label, " find a knob: ");
		snprintf(domain, sizeof domain, "Enter finds, Esc cancels");
		break;
	case PROMPT_FILTER:
		snprintf(label, sizeof label, " plans with: ");
		snprintf(domain, sizeof domain, "as tp=4,8 pp=1..4 bal !full");
		break;
	case PROMPT_WRITE:
		snprintf(label, sizeof label, " write to: ");
		snprintf(domain, sizeof domain, "Enter writes, Esc cancels");
		break;
	default:
		snprintf(domain, sizeof domain, "Enter writes, Esc cancels");
		snprintf(label, sizeof label, " export %s to: ",
			 export_table[explorer->prompt_argument].name);
	}
	used = canvas_text(canvas, 0, y, canvas->width, ROLE_KEY, label);
	width = text_width(domain);
	if (width > canvas->width / 2)
		width = canvas->width / 2;
	canvas_text(canvas, canvas->width - width - 1, y, width, ROLE_HINT, domain);
	widget_field(canvas, used, y, canvas->width - used - width - 3,
		     &explorer->field, ROLE_VALUE);
}
