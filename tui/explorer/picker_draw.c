/* picker_draw.c - the list over the screen as it looks; see picker.h. */
#include <stdio.h>

#include "engine/knob/knob.h"
#include "engine/rules/ability.h"
#include "presets/formats.h"
#include "presets/share.h"
#include "tui/explorer.h"
#include "tui/explorer/picker.h"

static void draw_preset(const struct explorer *explorer, struct canvas *canvas,
			struct rect line, int index)
{
	const struct preset *list;
	int name = 0, count = preset_list(explorer->picker.preset, &list);

	for (int i = 0; i < count; i++)
		if (text_width(list[i].name) > name)
			name = text_width(list[i].name);
	if (name > line.width / 2)
		name = line.width / 2;
	canvas_text(canvas, line.x, line.y, name, ROLE_VALUE, list[index].name);
	canvas_text(canvas, line.x + name + 2, line.y, line.width - name - 2,
		    ROLE_LABEL, list[index].title);
}

/* What the stack has not for this value: it is estimated all the same. */
static void draw_lack(const struct explorer *explorer, struct canvas *canvas,
		      struct rect line, int index)
{
	const struct whatif_value *v = &explorer->strip.item[index];
	struct lack lack = { .row = v->lacks,
			     .knob = &knob_table[explorer->picker.knob],
			     .value = v->value };
	char text[256];

	lack_text(&explorer->scenario, &lack, text, sizeof text);
	canvas_text(canvas, line.x + 56, line.y, line.width - 56, ROLE_WARNING, text);
}

/* The column at which a text begins: so far to the left of the usual one as it needs to
 * be whole. */
static int whole_from(int usual, int least, int width, const char *text)
{
	int at = width - text_width(text);

	return at >= usual ? usual : at > least ? at : least;
}

static void draw_value(const struct explorer *explorer, struct canvas *canvas,
		       struct rect line, int index)
{
	const struct knob *knob = &knob_table[explorer->picker.knob];
	const struct whatif_value *v = &explorer->strip.item[index];
	char value[64], step[32], memory[32], text[256];
	int at;

	knob_print_value(knob, v->value, value, sizeof value);
	canvas_text(canvas, line.x, line.y, 16, ROLE_VALUE, value);
	if (!v->legal) {
		finding_text(&v->problem, text, sizeof text);
		at = whole_from(17, text_width(value) + 1, line.width, text);
		canvas_text(canvas, line.x + at, line.y, line.width - at, ROLE_BAD,
			    text);
		return;
	}
	form_text(FORM_SECONDS, v->step_seconds, step, sizeof step);
	form_text(FORM_BYTES, v->memory_bytes, memory, sizeof memory);
	canvas_right(canvas, line.x + 16, line.y, 9, ROLE_VALUE, step);
	canvas_right(canvas, line.x + 26, line.y, 10, ROLE_VALUE, memory);
	snprintf(text, sizeof text, "%.0f tok/s/GPU", v->tokens_per_second_per_gpu);
	canvas_text(canvas, line.x + 38, line.y, line.width - 38,
		    v->fits                     ? ROLE_GOOD
		    : explorer->estimate.unsure ? ROLE_WARNING
						: ROLE_BAD,
		    v->fits                     ? text
		    : explorer->estimate.unsure ? "may not fit"
						: "does not fit");
	if (v->lacks)
		draw_lack(explorer, canvas, line, index);
}

static void draw_line(const struct explorer *explorer, struct canvas *canvas,
		      struct rect line, int index)
{
	int name = line.width > 74 ? 17 : 12;

	switch (explorer->picker.kind) {
	case PICK_PRESET: draw_preset(explorer, canvas, line, index); break;
	case PICK_VALUE: draw_value(explorer, canvas, line, index); break;
	default:
		canvas_text(canvas, line.x, line.y, name, ROLE_VALUE,
			    format_table[index].name);
		canvas_text(canvas, line.x + name + 1, line.y, line.width - name - 1,
			    ROLE_LABEL, format_table[index].out.help);
	}
}

/* What the knob means, and its one line where there is no more room. */
static int draw_meaning(const struct knob *knob, struct canvas *canvas, struct rect in)
{
	const struct glossary_word *word = glossary_find(knob->key);
	int most = canvas->height < 22 ? 2 : 5, rows;
	char means[GLOSSARY_MAX_TEXT];

	in.height = most;
	if (!word || most < 3) {
		widget_prose(canvas, in, 0, ROLE_HINT, knob->help);
		return 2;
	}
	glossary_plain(word->means, means, sizeof means);
	rows = widget_prose(canvas, in, 0, ROLE_HINT, means);
	return rows < 2 ? 2 : rows > most ? most : rows;
}

/* Returns the rows above the list. */
static int draw_head(const struct explorer *explorer, struct canvas *canvas,
		     struct rect in)
{
	const struct picker *p = &explorer->picker;
	int x = in.x;

	if (p->kind == PICK_VALUE)
		return draw_meaning(&knob_table[p->knob], canvas, in);
	if (p->kind == PICK_FORMAT) {
		canvas_text(canvas, x, in.y, in.width, ROLE_HINT,
			    "Enter saves to a file  Tab "
			    "copies to the clipboard  PgUp PgDn scroll");
		return 2;
	}
	for (int i = 0; i < PRESET_OPENED_COUNT; i++) {
		const char *label = preset_kind_label((enum preset_kind)i);
		struct rect tab = { x, in.y, text_width(label), 1 };

		canvas_text(canvas, x, in.y, in.x + in.width - x, ROLE_LABEL, label);
		add_press(canvas, tab,
			  (struct action){ .kind = ACTION_VIEW, .argument = i });
		if (i == (int)p->preset)
			canvas_highlight(canvas, tab, ROLE_FOCUS, false, true);
		x += tab.width + 2;
	}
	canvas_text(canvas, x, in.y, in.x + in.width - x, ROLE_QUIET, "Tab: next");
	return 2;
}

static const char *empty_text(const struct picker *p)
{
	if (p->kind == PICK_PRESET && share_is(p->filter.text))
		return "Enter opens this shared scenario";
	if (p->kind == PICK_PRESET && picker_is_path(p->filter.text))
		return "Enter opens this file";
	if (p->kind == PICK_PRESET)
		return "nothing matches here; Tab: next list; or type a path";
	return p->kind == PICK_VALUE
		       ? "no value matches; = on the knob lets you type one"
		       : "no format matches";
}

/* Beside the list where there is room, else below it. */
static void split_preview(struct rect *list, struct rect *preview, int count)
{
	int rows = list->height > 20 ? 11 : list->height / 2;

	*preview = *list;
	if (list->width >= 90) {
		/* whole sentences where an export has room beside them all the same */
		list->width =
			list->width >= 140 ? list->width / 2 + 4 : list->width * 2 / 5;
		preview->x += list->width + 1;
		preview->width -= list->width + 1;
	} else {
		list->height = count < 3 ? 3 : count < rows ? count : rows;
		preview->y += list->height + 1;
		preview->height -= list->height + 1;
	}
}

/* As high as all its lines need, and no higher than two thirds of the screen, or half
 * where there are dozens of them to scroll and filter: what it hides is drawn again
 * when it closes. An export shows its text beside the list. */
static int box_height(const struct explorer *explorer, const struct canvas *canvas)
{
	enum { AROUND = 9, LEAST = 14 };
	const struct picker *p = &explorer->picker;
	const struct preset *list;
	bool values = p->kind == PICK_VALUE;
	int all = canvas->height - 4, lines, most, wanted;

	if (p->kind == PICK_FORMAT || all <= LEAST)
		return all;
	lines = values ? explorer->strip.count : preset_list(p->preset, &list);
	most = values ? canvas->height * 2 / 3 : canvas->height / 2 + 2;
	wanted = lines + AROUND < most ? lines + AROUND : most;
	return wanted < LEAST ? LEAST : wanted < all ? wanted : all;
}

static struct rect box_of(const struct explorer *explorer, const struct canvas *canvas)
{
	int most = explorer->picker.kind == PICK_FORMAT ? 160 : 100;
	int width = canvas->width > most + 4 ? most : canvas->width - 4;
	int height = box_height(explorer, canvas);

	return (struct rect){ (canvas->width - width) / 2,
			      (canvas->height - height) / 2, width, height };
}

static void draw_rows(const struct explorer *explorer, struct canvas *canvas,
		      struct rect list, const int *index, int count)
{
	const struct picker *p = &explorer->picker;
	int first = scroll_first(p->first, p->cursor, count, list.height);

	if (count == 0)
		canvas_text(canvas, list.x, list.y, list.width, ROLE_HINT,
			    empty_text(p));
	for (int i = 0; i < list.height && first + i < count; i++) {
		struct rect line = { list.x, list.y + i, list.width - 2, 1 };

		draw_line(explorer, canvas, line, index[first + i]);
		if (first + i == p->cursor)
			canvas_highlight(canvas, line, ROLE_FOCUS, false, true);
	}
	widget_scrollbar(canvas, list.x + list.width - 1, list.y, list.height, first,
			 count);
}

/* The whole sentence of the chosen format above a list that cuts it. */
static void draw_chosen(const struct explorer *explorer, struct canvas *canvas,
			struct rect in, const int *index, int count)
{
	const struct picker *p = &explorer->picker;

	if (p->cursor < 0 || p->cursor >= count)
		return;
	canvas_format(canvas, in.x, in.y + 1, in.width, ROLE_LABEL, "%s: %s",
		      format_table[index[p->cursor]].name,
		      format_table[index[p->cursor]].out.help);
}

void picker_draw(const struct explorer *explorer, struct canvas *canvas)
{
	const struct picker *p = &explorer->picker;
	int index[MAX_SHOWN], count = picker_shown(explorer, index);
	struct rect in = widget_box(canvas, box_of(explorer, canvas),
				    p->kind == PICK_VALUE    ? knob_table[p->knob].label
				    : p->kind == PICK_FORMAT ? "export"
							     : "open");
	int head = draw_head(explorer, canvas, in);
	struct rect list = { in.x, in.y + head, in.width, in.height - head - 2 };
	struct rect preview;

	if (p->kind == PICK_FORMAT) {
		split_preview(&list, &preview, count);
		canvas->spots->preview = preview;
		preview_draw(explorer, canvas, preview);
		if (list.width < in.width * 9 / 20)
			draw_chosen(explorer, canvas, in, index, count);
	}
	canvas->spots->picker = list;
	draw_rows(explorer, canvas, list, index, count);
	if (explorer->message[0] != '\0')
		canvas_text(canvas, in.x, in.y + in.height - 2, in.width,
			    explorer->message_role, explorer->message);
	canvas_text(canvas, in.x, in.y + in.height - 1, 8, ROLE_KEY, "filter:");
	widget_field(canvas, in.x + 8, in.y + in.height - 1, in.width - 8, &p->filter,
		     ROLE_VALUE);
}
