/* prompt.c - the line at the bottom that is typed into: a value, a name to find, a
 * file to write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/knob/knob.h"
#include "presets/folder.h"
#include "presets/format_table.h"
#include "presets/kept.h"
#include "tui/explorer.h"
#include "tui/explorer/find.h"
#include "tui/text.h"

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
			 format_table[argument].out.suffix);
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

/* Read as the global batch is, which takes suffixes. */
static unsigned take_micro_batches(struct explorer *explorer)
{
	struct scenario to = explorer->scenario;
	char why[256];

	if (explorer->field.length > 0 &&
	    !knob_parse(&to, knob_find("gbs"), explorer->field.text, why, sizeof why)) {
		explorer_say(explorer, ROLE_BAD, "micro-batches: '%.40s' is no number",
			     explorer->field.text);
		return CHANGED_SCREEN;
	}
	explorer->mode = MODE_NORMAL;
	explorer->message[0] = '\0';
	return explorer->field.length > 0
		       ? knobs_set_micro_batches(explorer, to.plan.global_batch)
		       : CHANGED_SCREEN;
}

static unsigned go_to_match(struct explorer *explorer, int at)
{
	struct found found[MAX_FOUND];
	int count;

	if (explorer->found[0] == '\0') {
		explorer_say(explorer, ROLE_HINT, "nothing to find yet; press / first");
		return CHANGED_SCREEN;
	}
	count = find_all(explorer, explorer->found, found);
	if (count == 0) {
		explorer_say(explorer, ROLE_WARNING, "nothing matches '%s'",
			     explorer->found);
		return CHANGED_SCREEN;
	}
	explorer->found_at = (at % count + count) % count;
	return find_go(explorer, &found[explorer->found_at]);
}

unsigned prompt_find(struct explorer *explorer, int direction)
{
	return go_to_match(explorer, explorer->found_at + direction);
}

/* What the filter says may change what is searched, or only what is shown. */
static unsigned take_filter(struct explorer *explorer)
{
	bool pins = strchr(explorer->filter, '=') != NULL ||
		    strstr(explorer->filter, "research") != NULL;

	snprintf(explorer->filter, sizeof explorer->filter, "%.*s", MAX_FILTER - 1,
		 explorer->field.text);
	pins |= strchr(explorer->filter, '=') != NULL ||
		strstr(explorer->filter, "research") != NULL;
	explorer->mode = MODE_NORMAL;
	explorer->state[VIEW_SEARCH].cursor = explorer->state[VIEW_SEARCH].first = 0;
	if (pins)
		explorer->search_stale = true;
	else
		search_arrange_rows(explorer);
	return CHANGED_SCREEN;
}

/* Beside the table of plans "tp=8 pp=4" is meant for it, whichever pane has the focus.
 */
static unsigned take_find(struct explorer *explorer)
{
	if (find_is_filter(explorer)) {
		explorer->pane = PANE_VIEW;
		return take_filter(explorer);
	}
	snprintf(explorer->found, sizeof explorer->found, "%.63s",
		 explorer->field.text);
	explorer->mode = MODE_NORMAL;
	return explorer->found[0] ? go_to_match(explorer, explorer->prompt_argument)
				  : CHANGED_SCREEN;
}

/* Before another file is overwritten a key is asked for that is not the one that asks.
 */
static bool must_ask(const struct explorer *explorer, const char *path)
{
	bool own =
		explorer->prompt == PROMPT_WRITE && strcmp(path, explorer->file) == 0;

	return !own && access(path, F_OK) == 0;
}

/* A knob that was turned is no assumption any more. */
static void settle_turned(struct explorer *explorer)
{
	const struct scenario *now = &explorer->scenario, *then = &explorer->origin;

	if (!explorer->kept)
		return;
	for (int i = 0; i < knob_count(); i++)
		if (!knob_same(now, then, &knob_table[i]))
			import_settle(explorer->kept, knob_table[i].key);
	if (strcmp(now->cluster.name, then->cluster.name) != 0)
		import_settle(explorer->kept, "cluster");
	if (strcmp(now->stack.name, then->stack.name) != 0)
		import_settle(explorer->kept, "stack");
}

static unsigned write_file(struct explorer *explorer, const char *path)
{
	struct error error = { "" };
	char *text;
	bool good;

	settle_turned(explorer);
	text = explorer->prompt == PROMPT_WRITE
		       ? kept_write(&explorer->scenario, explorer->kept)
		       : preview_write(explorer, explorer->prompt_argument);
	good = text && file_save(path, text, strlen(text), &error);

	free(text);
	if (!good) {
		explorer_say(explorer, ROLE_BAD, "%s",
			     error.text[0] ? error.text : "nothing was written");
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
		     "%s exists; y overwrites it, any other key cancels", path);
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
		case PROMPT_MICRO_BATCHES: return take_micro_batches(explorer);
		case PROMPT_FIND: return take_find(explorer);
		case PROMPT_FILTER: return take_filter(explorer);
		default: return take_file(explorer, false);
		}
	case ACTION_REDRAW: return CHANGED_SCREEN | CHANGED_REDRAW_ALL;
	default:
		if (!field_act(&explorer->field, action))
			return explorer->prompt == PROMPT_FIND
				       ? find_move(explorer, action)
				       : CHANGED_NOTHING;
		if (explorer->prompt == PROMPT_FIND)
			explorer->prompt_argument = 0;
		explorer->message[0] = '\0';
		return CHANGED_SCREEN;
	}
}

/* "Enter finds, Esc cancels": the words can be clicked on. */
static void add_presses(struct canvas *canvas, const char *text, int x, int y)
{
	static const struct {
		const char *word;
		enum action_kind action;
	} keys[] = { { "Enter", ACTION_ENTER }, { "Esc", ACTION_ESCAPE } };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const char *at = strstr(text, keys[i].word);
		int length = at ? (int)strcspn(at, ",") : 0;
		int before = at ? text_width(text) - text_width(at) : 0;

		if (at)
			add_press(canvas, (struct rect){ x + before, y, length, 1 },
				  (struct action){ .kind = keys[i].action });
	}
}

void prompt_draw(const struct explorer *explorer, struct canvas *canvas, int y)
{
	char label[64], name[24], domain[256] = "";
	int used, width;

	switch (explorer->prompt) {
	case PROMPT_VALUE:
		text_squeeze(knob_table[explorer->prompt_argument].label, name,
			     sizeof name);
		snprintf(label, sizeof label, " %s = ", name);
		knob_domain(&knob_table[explorer->prompt_argument], domain,
			    sizeof domain);
		break;
	case PROMPT_MICRO_BATCHES:
		snprintf(label, sizeof label, " micro-batches = ");
		snprintf(domain, sizeof domain, "the global batch follows");
		break;
	case PROMPT_FIND:
		snprintf(label, sizeof label, " find: ");
		snprintf(domain, sizeof domain,
			 "\u2191\u2193 choose, Enter goes there, "
			 "Esc cancels");
		break;
	case PROMPT_FILTER:
		snprintf(label, sizeof label, " plans with: ");
		snprintf(domain, sizeof domain,
			 "as tp=4,8 pp=1..4 bal !full, ?tp=8 against the best");
		break;
	case PROMPT_WRITE:
		snprintf(label, sizeof label, " write to: ");
		snprintf(domain, sizeof domain, "Enter writes, Esc cancels");
		break;
	default:
		snprintf(domain, sizeof domain, "Enter writes, Esc cancels");
		snprintf(label, sizeof label, " export %s to: ",
			 format_table[explorer->prompt_argument].name);
	}
	used = canvas_text(canvas, 0, y, canvas->width, ROLE_KEY, label);
	width = text_width(domain);
	if (width > canvas->width / 2)
		width = canvas->width / 2;
	canvas_phrase(canvas, canvas->width - width - 1, y, width, ROLE_HINT, domain);
	add_presses(canvas, domain, canvas->width - width - 1, y);
	widget_field(canvas, used, y, canvas->width - used - width - 3,
		     &explorer->field, ROLE_VALUE);
}
