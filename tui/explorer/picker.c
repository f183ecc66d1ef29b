/* picker.c - see picker.h. */
#include "tui/explorer/picker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/folder.h"
#include "presets/formats.h"
#include "presets/share.h"
#include "tui/explorer.h"
#include "tui/explorer/course.h"

static unsigned open_picker(struct explorer *explorer, enum picker_kind kind)
{
	explorer->mode = MODE_PICKER;
	explorer->message[0] = '\0';
	memset(&explorer->picker.filter, 0, sizeof explorer->picker.filter);
	explorer->picker.kind = kind;
	explorer->picker.cursor = explorer->picker.first = 0;
	return CHANGED_SCREEN;
}

static const char *present_name(const struct explorer *explorer, enum preset_kind kind)
{
	switch (kind) {
	case PRESET_MODEL: return explorer->scenario.model.name;
	case PRESET_CLUSTER: return explorer->scenario.cluster.name;
	case PRESET_STACK: return explorer->scenario.stack.name;
	default: return "";
	}
}

unsigned picker_open_presets(struct explorer *explorer, enum preset_kind kind)
{
	const struct preset *list;
	int count = preset_list(kind, &list);

	open_picker(explorer, PICK_PRESET);
	explorer->picker.preset = kind;
	for (int i = 0; i < count; i++)
		if (strcmp(list[i].name, present_name(explorer, kind)) == 0)
			explorer->picker.cursor = i;
	return CHANGED_SCREEN;
}

unsigned picker_open_values(struct explorer *explorer, int knob)
{
	/* it tells what each value costs */
	if (course_hides(explorer) && !course_allows_tricks(explorer))
		return CHANGED_SCREEN;
	open_picker(explorer, PICK_VALUE);
	explorer->picker.knob = knob;
	if (explorer->strip_knob == knob)
		explorer->picker.cursor = explorer->strip.present;
	return CHANGED_SCREEN;
}

unsigned picker_open_formats(struct explorer *explorer)
{
	open_picker(explorer, PICK_FORMAT);
	preview_show(explorer, -1); /* it may be of an earlier plan */
	preview_show(explorer, 0);
	return CHANGED_SCREEN;
}

/* All words of the filter occur in the name or the title. */
static bool passes(const char *filter, const char *name, const char *title,
		   const char *alias)
{
	char words[256], *rest = words, *word;

	snprintf(words, sizeof words, "%s", filter);
	while ((word = strsep(&rest, " ")))
		if (word[0] != '\0' && !strcasestr(name, word) &&
		    !strcasestr(title, word) && !strcasestr(alias, word))
			return false;
	return true;
}

int picker_shown(const struct explorer *explorer, int out[MAX_SHOWN])
{
	const struct picker *p = &explorer->picker;
	const char *filter = p->filter.text;
	const struct preset *list;
	int count = 0, all;

	switch (p->kind) {
	case PICK_PRESET:
		all = preset_list(p->preset, &list);
		for (int i = 0; i < all && count < MAX_SHOWN; i++)
			if (passes(filter, list[i].name, list[i].title, list[i].alias))
				out[count++] = i;
		break;
	case PICK_FORMAT:
		for (int i = 0; i < format_count(); i++)
			if (format_table[i].out.write &&
			    format_suits(&format_table[i], &explorer->scenario, NULL) &&
			    passes(filter, format_table[i].name,
				   format_table[i].out.help, ""))
				out[count++] = i;
		break;
	default:
		for (int i = 0; i < explorer->strip.count; i++) {
			char text[64];

			knob_print_value(&knob_table[p->knob],
					 explorer->strip.item[i].value, text,
					 sizeof text);
			if (passes(filter, text, "", ""))
				out[count++] = i;
		}
	}
	return count;
}

bool picker_is_path(const char *text)
{
	static const char *const endings[] = { ".yaml", ".yml", ".json", ".sh",
					       ".toml", ".py",  ".txt",  ".log" };

	if (strchr(text, '/'))
		return true;
	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
		if (strstr(text, endings[i]))
			return true;
	return false;
}

/* A preset or file of the picker's kind into a copy of the scenario. */
static bool load(const struct explorer *explorer, const char *name, struct scenario *to,
		 struct import_report *report, struct error *error)
{
	int64_t gpus = to->cluster.gpus;

	switch (explorer->picker.preset) {
	case PRESET_MODEL: return library_model(&to->model, name, error);
	case PRESET_CLUSTER:
		if (!library_cluster(&to->cluster, name, error))
			return false;
		to->cluster.gpus = gpus; /* the size of the job is the user's */
		return true;
	case PRESET_STACK: return library_stack(to, name, error);
	default: return format_open(name, to, report, error);
	}
}

void explorer_say_read(struct explorer *explorer, const struct import_report *report)
{
	char summary[320];

	import_summary(report, summary, sizeof summary);
	explorer_say(explorer, ROLE_HINT, "%s; shardscope import %s shows them",
		     summary, report->format);
}

/* A plan or file is open now: what its exports keep, and where `w` writes to. */
static void take_file(struct explorer *explorer, const char *name,
		      struct import_report *report)
{
	bool other = report->format[0] != '\0';

	free(explorer->kept);
	explorer->kept = import_is_kept(report) ? report : NULL;
	snprintf(explorer->file, sizeof explorer->file, "%s",
		 picker_is_path(name) && !other && !share_is(name) ? name : "");
	if (other)
		explorer_say_read(explorer, report);
	if (!explorer->kept)
		free(report);
}

static unsigned take_preset(struct explorer *explorer, const char *name)
{
	struct import_report *report = calloc(1, sizeof *report);
	struct scenario to = explorer->scenario;
	struct error error = { "out of memory" };
	char what[128];
	unsigned changed;

	if (!report || !load(explorer, name, &to, report, &error)) {
		explorer_say(explorer, ROLE_BAD, "%s", error.text);
		free(report);
		return CHANGED_SCREEN;
	}
	explorer->mode = MODE_NORMAL;
	snprintf(what, sizeof what, "opening %s", name);
	changed = explorer_change(explorer, &to, what);
	/* refused, and that was said */
	if (!(changed & CHANGED_SCENARIO)) {
		free(report);
		return changed;
	}
	explorer->origin = to;
	explorer_say(explorer, ROLE_HINT, "opened %s; u goes back", name);
	if (explorer->picker.preset == PRESET_PLAN)
		take_file(explorer, name, report);
	else
		free(report);
	return changed;
}

unsigned picker_take(struct explorer *explorer, enum preset_kind kind, const char *name)
{
	char path[512];

	picker_open_presets(explorer, kind);
	if (preset_find(kind, name))
		return take_preset(explorer, name);
	if (share_is(name))
		return take_preset(explorer, name);
	file_expand(name, path, sizeof path);
	return take_preset(explorer, path);
}

const char *picker_preset_name(int index)
{
	const struct preset *list;

	preset_list((enum preset_kind)(index >> 16), &list);
	return list[index & 0xffff].name;
}

unsigned picker_open_preset(struct explorer *explorer, int kind, int index)
{
	const struct preset *list;

	if (index < 0 || index >= preset_list((enum preset_kind)kind, &list))
		return CHANGED_NOTHING;
	explorer->picker.preset = (enum preset_kind)kind;
	return take_preset(explorer, list[index].name);
}

static unsigned take(struct explorer *explorer)
{
	struct picker *p = &explorer->picker;
	const struct preset *list;
	int index[MAX_SHOWN], count = picker_shown(explorer, index);
	const struct knob *knob;
	char path[512];

	if (p->kind == PICK_PRESET && share_is(p->filter.text)) {
		p->preset = PRESET_PLAN;
		return take_preset(explorer, p->filter.text);
	}
	if (p->kind == PICK_PRESET && picker_is_path(p->filter.text)) {
		file_expand(p->filter.text, path, sizeof path);
		return take_preset(explorer, path);
	}
	if (p->cursor >= count)
		return CHANGED_SCREEN;
	switch (p->kind) {
	case PICK_PRESET:
		preset_list(p->preset, &list);
		return take_preset(explorer, list[index[p->cursor]].name);
	case PICK_FORMAT:
		return prompt_open(explorer, PROMPT_EXPORT, index[p->cursor], NULL);
	default:
		knob = &knob_table[p->knob];
		explorer->mode = MODE_NORMAL;
		if (explorer->strip.item[index[p->cursor]].value ==
		    knob_get(&explorer->scenario, knob))
			return CHANGED_SCREEN;
		return knobs_set(explorer, knob,
				 explorer->strip.item[index[p->cursor]].value);
	}
}

static unsigned click(struct explorer *explorer, struct action action)
{
	struct rect list = explorer->spots->picker;
	int index[MAX_SHOWN], count = picker_shown(explorer, index);
	int row = action.y - list.y +
		  scroll_first(explorer->picker.first, explorer->picker.cursor, count,
			       list.height);

	if (!rect_holds(list, action.x, action.y) || row >= count)
		return CHANGED_NOTHING;
	if (row == explorer->picker.cursor)
		return take(explorer);
	explorer->picker.cursor = row;
	return CHANGED_SCREEN;
}

static unsigned move(struct explorer *explorer, enum action_kind kind)
{
	struct picker *p = &explorer->picker;
	int index[MAX_SHOWN], count = picker_shown(explorer, index);
	int height = explorer->spots->picker.height;

	p->cursor = scroll_move(p->cursor, count, height, kind);
	p->first = scroll_first(p->first, p->cursor, count, height);
	return CHANGED_SCREEN;
}

static unsigned wheel(struct explorer *explorer, struct action action)
{
	bool up = action.argument < 0;

	if (rect_holds(explorer->spots->picker, action.x, action.y))
		return move(explorer, up ? ACTION_UP : ACTION_DOWN);
	if (explorer->picker.kind != PICK_FORMAT ||
	    !rect_holds(explorer->spots->preview, action.x, action.y))
		return CHANGED_NOTHING;
	preview_scroll(explorer, up ? ACTION_PAGE_UP : ACTION_PAGE_DOWN,
		       explorer->spots->preview.height);
	return CHANGED_SCREEN;
}

/* Exports: Tab copies, a page is one of the preview. */
static unsigned act_on_format(struct explorer *explorer, struct action action)
{
	if (action.kind == ACTION_NEXT_PANE || action.kind == ACTION_PREVIOUS_PANE)
		return preview_copy(explorer);
	if (action.kind != ACTION_PAGE_UP && action.kind != ACTION_PAGE_DOWN)
		return CHANGED_NOTHING;
	preview_scroll(explorer, action.kind, explorer->spots->preview.height);
	return CHANGED_SCREEN;
}

/* q closes a list as it closes any layer, unless it is a letter of a value, or may
 * begin a preset's name or a path. No export is called by it. */
static bool is_left_by_q(const struct explorer *explorer)
{
	const struct picker *p = &explorer->picker;
	int index[MAX_SHOWN];

	if (strcmp(p->filter.text, "q") != 0 || p->kind == PICK_PRESET)
		return false;
	return p->kind == PICK_FORMAT || picker_shown(explorer, index) == 0;
}

static unsigned act(struct explorer *explorer, struct action action)
{
	struct picker *p = &explorer->picker;
	unsigned step =
		action.kind == ACTION_PREVIOUS_PANE ? PRESET_OPENED_COUNT - 1 : 1;

	switch (action.kind) {
	case ACTION_ESCAPE:
		explorer->mode = MODE_NORMAL;
		explorer->message[0] = '\0';
		return CHANGED_SCREEN;
	case ACTION_ENTER: return take(explorer);
	case ACTION_UP:
	case ACTION_DOWN:
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN: return move(explorer, action.kind);
	case ACTION_WHEEL: return wheel(explorer, action);
	case ACTION_VIEW: /* a click on the name of a list */
		return picker_open_presets(explorer, (enum preset_kind)action.argument);
	case ACTION_CLICK: return click(explorer, action);
	case ACTION_NEXT_PANE:
	case ACTION_PREVIOUS_PANE:
		if (p->kind == PICK_PRESET)
			picker_open_presets(explorer,
					    (enum preset_kind)((p->preset + step) %
							       PRESET_OPENED_COUNT));
		return CHANGED_SCREEN;
	case ACTION_REDRAW: return CHANGED_SCREEN | CHANGED_REDRAW_ALL;
	default:
		if (!field_act(&p->filter, action))
			return CHANGED_NOTHING;
		p->cursor = p->first = 0;
		explorer->message[0] = '\0';
		if (is_left_by_q(explorer))
			explorer->mode = MODE_NORMAL;
		return CHANGED_SCREEN;
	}
}

unsigned picker_act(struct explorer *explorer, struct action action)
{
	int index[MAX_SHOWN], count;
	unsigned changed = CHANGED_NOTHING;

	if (explorer->picker.kind != PICK_FORMAT)
		return act(explorer, action);
	explorer->message[0] = '\0';
	changed = act_on_format(explorer, action);
	if (changed == CHANGED_NOTHING)
		changed = act(explorer, action);
	if (explorer->mode != MODE_PICKER)
		return changed;
	count = picker_shown(explorer, index);
	preview_show(explorer, explorer->picker.cursor < count
				       ? index[explorer->picker.cursor]
				       : -1);
	return changed;
}
