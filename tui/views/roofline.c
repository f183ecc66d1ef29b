/* roofline.c - the operators of a server's passes under the roof of one accelerator. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/serve/serve.h"
#include "tui/view.h"

enum { MOST = 48 };

enum column {
	COLUMN_LETTER,
	COLUMN_NAME,
	COLUMN_SHARE,
	COLUMN_SECONDS,
	COLUMN_KERNELS,
	COLUMN_FLOPS,
	COLUMN_BYTES,
	COLUMN_INTENSITY,
	COLUMN_REACHED,
	COLUMNS
};

static const struct table_column columns[COLUMNS] = {
	{ "", 1, false, 0 },       { "operator", 18, false, 0 },
	{ "share", 6, true, 0 },   { "time", 8, true, 0 },
	{ "kernels", 7, true, 5 }, { "FLOPs", 12, true, 4 },
	{ "bytes", 8, true, 3 },   { "FLOP/B", 7, true, 1 },
	{ "FLOP/s", 13, true, 2 },
};

/* One pass and its operators, longest first. */
struct shown {
	bool prefill;
	int count;
	double seconds; /* of all of them */
	struct serve_operator item[MOST];
};

static void make(const struct explorer *explorer, bool prefill, struct shown *out)
{
	out->prefill = prefill;
	out->count = serve_operators(&explorer->scenario, prefill, out->item, MOST);
	out->seconds = 0;
	for (int i = 0; i < out->count; i++)
		out->seconds += out->item[i].seconds;
}

static bool prefill_is_chosen(const struct explorer *explorer)
{
	return explorer->state[VIEW_GRAPH].choice % 2 == 1;
}

static bool has_place(const struct serve_operator *op)
{
	return !op->network && op->flops > 0 && op->bytes > 0 && op->seconds > 0;
}

static char letter(int row)
{
	return (char)(row < 26 ? 'a' + row : '.');
}

static void form_cell(struct table_cell *out, enum form form, double value)
{
	if (!(value > 0))
		return;
	out->role = ROLE_VALUE;
	form_text(form, value, out->text, sizeof out->text);
}

static void cell(const void *context, int row, int column, struct table_cell *out)
{
	const struct shown *shown = context;
	const struct serve_operator *op = &shown->item[row];

	out->text[0] = '\0';
	out->role = op->network ? ROLE_TP : ROLE_DEFAULT;
	switch (column) {
	case COLUMN_LETTER:
		out->role = ROLE_KEY;
		if (has_place(op))
			snprintf(out->text, sizeof out->text, "%c", letter(row));
		break;
	case COLUMN_NAME: snprintf(out->text, sizeof out->text, "%s", op->name); break;
	case COLUMN_SHARE:
		form_cell(out, FORM_PERCENT,
			  shown->seconds > 0 ? op->seconds / shown->seconds : 0);
		break;
	case COLUMN_SECONDS: form_cell(out, FORM_SECONDS, op->seconds); break;
	case COLUMN_KERNELS: form_cell(out, FORM_COUNT, round(op->kernels)); break;
	case COLUMN_FLOPS: form_cell(out, FORM_FLOPS, op->flops); break;
	case COLUMN_BYTES: form_cell(out, FORM_TRAFFIC, op->bytes); break;
	case COLUMN_INTENSITY:
		if (op->bytes > 0)
			form_cell(out, FORM_REAL, op->flops / op->bytes);
		break;
	default:
		if (op->seconds > 0)
			form_cell(out, FORM_FLOPS, op->flops / op->seconds);
	}
}

/* Axes that hold the roof's ridge and every operator of both passes, whole decades. */
static void axes_of(const struct shown pass[2], const struct serve_roofline *roof,
		    struct axis *x, struct axis *y)
{
	double ridge = roof->flops_per_second / roof->bytes_per_second;
	double left = ridge, right = ridge, low = roof->flops_per_second;

	for (int p = 0; p < 2; p++)
		for (int i = 0; i < pass[p].count; i++) {
			const struct serve_operator *op = &pass[p].item[i];

			if (!has_place(op))
				continue;
			left = fmin(left, op->flops / op->bytes);
			right = fmax(right, op->flops / op->bytes);
			low = fmin(low, op->flops / op->seconds);
		}
	*x = (struct axis){ pow(10, floor(log10(left))),
			    pow(10, ceil(log10(right) + 0.2)), true, FORM_REAL, NULL };
	*y = (struct axis){ pow(10, floor(log10(low))), roof->flops_per_second * 2,
			    true, FORM_FLOPS, NULL };
}

static void draw_roof(struct plot *plot, const struct serve_roofline *roof)
{
	double ridge = roof->flops_per_second / roof->bytes_per_second;
	double left = fmax(plot->x.min, plot->y.min / roof->bytes_per_second);

	plot_line(plot, left, left * roof->bytes_per_second, ridge,
		  roof->flops_per_second, ROLE_WARNING);
	plot_line(plot, ridge, roof->flops_per_second, plot->x.max,
		  roof->flops_per_second, ROLE_WARNING);
}

static void draw_points(const struct explorer *explorer, struct plot *plot,
			const struct shown *other, const struct shown *shown)
{
	const struct serving_estimate *v = &explorer->estimate.serving;
	int cursor = explorer->state[VIEW_GRAPH].cursor;

	for (int i = 0; i < other->count; i++)
		if (has_place(&other->item[i]))
			plot_dot(plot, other->item[i].flops / other->item[i].bytes,
				 other->item[i].flops / other->item[i].seconds,
				 ROLE_BORDER);
	for (int i = shown->count - 1; i >= 0; i--) {
		const struct serve_operator *op = &shown->item[i];

		if (has_place(op))
			plot_mark(plot, op->flops / op->bytes, op->flops / op->seconds,
				  (uint32_t)letter(i),
				  i == cursor ? ROLE_BAD : ROLE_KEY);
	}
	plot_mark(plot, v->decode_intensity, v->decode_flops_per_second, 'D',
		  ROLE_VALUE);
	plot_mark(plot, v->prefill_intensity, v->prefill_flops_per_second, 'P',
		  ROLE_VALUE);
}

static void draw_plot(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect, const struct shown pass[2])
{
	bool prefill = prefill_is_chosen(explorer);
	struct serve_roofline roof;
	struct axis x, y;
	struct plot plot;

	serve_roofline(&explorer->scenario, &roof);
	if (!(roof.bytes_per_second > 0) || !(roof.flops_per_second > 0))
		return;
	axes_of(pass, &roof, &x, &y);
	if (rect.height >= 14)
		x.title = "FLOPs per byte of memory traffic";
	if (rect.height >= 14)
		y.title = "FLOP/s of a GPU";
	if (!plot_begin(&plot, canvas, rect, x, y))
		return;
	if (rect.height >= 14)
		canvas_right(canvas, rect.x + 16, rect.y, rect.width - 17, ROLE_LABEL,
			     rect.width > 88
				     ? "line: the most that a GPU can do  letters: "
				       "rows below  dots: the other pass"
				     : "line: the GPU's limit  dots: the other pass");
	draw_roof(&plot, &roof);
	draw_points(explorer, &plot, &pass[!prefill], &pass[prefill]);
}

/* What D and P on the plot are, in the longest words that there is room for. */
static void draw_intensities(struct canvas *canvas, int x, int y, int width,
			     const struct serving_estimate *v)
{
	char text[4][96];
	double d = v->decode_intensity, p = v->prefill_intensity;

	snprintf(text[0], sizeof text[0], "D decode %.4g FLOP/B  P prefill %.4g FLOP/B",
		 d, p);
	snprintf(text[1], sizeof text[1], "D decode %.4g FLOP/B  P prefill %.4g", d, p);
	snprintf(text[2], sizeof text[2], "D %.4g  P %.4g FLOP/B", d, p);
	snprintf(text[3], sizeof text[3], "D %.3g P %.4g", d, p);
	for (int i = 0; i < 4; i++) {
		if (text_width(text[i]) > width)
			continue;
		canvas_text(canvas, x, y, width, ROLE_LABEL, text[i]);
		return;
	}
}

/* "< one decode pass: 20.9 ms >", and what the letters are. */
static void draw_head(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect, const struct shown *shown)
{
	const struct serving_estimate *v = &explorer->estimate.serving;
	char seconds[32];
	int x = rect.x;

	form_text(FORM_SECONDS, shown->seconds, seconds, sizeof seconds);
	if (shown->prefill)
		canvas_put(canvas, x, rect.y, canvas_glyph(canvas, GLYPH_LEFT),
			   ROLE_KEY);
	x += 2;
	x += canvas_format(canvas, x, rect.y, rect.width - 2, ROLE_TITLE,
			   shown->prefill ? "kernels of a pass over a prompt: %s"
					  : "kernels of a decode pass: %s",
			   seconds);
	if (!shown->prefill)
		canvas_put(canvas, x + 1, rect.y, canvas_glyph(canvas, GLYPH_RIGHT),
			   ROLE_KEY);
	x += 3;
	draw_intensities(canvas, x, rect.y, rect.x + rect.width - x, v);
}

static int plot_height(int height)
{
	return height < 24 ? height / 2 : height * 11 / 20;
}

void roofline_draw(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect)
{
	const struct view_state *state = &explorer->state[VIEW_GRAPH];
	struct shown pass[2];
	struct table table = { .column = columns,
			       .columns = COLUMNS,
			       .grows = COLUMN_NAME,
			       .grown = 28,
			       .cursor = state->cursor,
			       .first = state->first,
			       .focused = explorer->pane == PANE_VIEW,
			       .sorted_by = COLUMN_SHARE,
			       .cell = cell };
	int tall = plot_height(rect.height);

	make(explorer, false, &pass[0]);
	make(explorer, true, &pass[1]);
	table.context = &pass[prefill_is_chosen(explorer)];
	table.rows = pass[prefill_is_chosen(explorer)].count;
	if (table.cursor >= table.rows)
		table.cursor = table.rows - 1;
	draw_head(explorer, canvas, rect, table.context);
	draw_plot(explorer, canvas,
		  (struct rect){ rect.x, rect.y + 1, rect.width, tall }, pass);
	widget_table(canvas,
		     (struct rect){ rect.x, rect.y + 1 + tall, rect.width,
				    rect.height - 1 - tall },
		     &table);
}

unsigned roofline_act(struct explorer *explorer, struct action action)
{
	struct view_state *state = &explorer->state[VIEW_GRAPH];
	struct rect view = explorer->spots->view;
	int tall = plot_height(view.height), height = view.height - 2 - tall, moved;
	struct shown shown;

	if (action.kind == ACTION_LEFT || action.kind == ACTION_RIGHT) {
		state->choice = action.kind == ACTION_RIGHT;
		state->cursor = state->first = 0;
		return CHANGED_SCREEN;
	}
	make(explorer, prefill_is_chosen(explorer), &shown);
	if (action.kind == ACTION_CLICK) {
		state->first =
			scroll_first(state->first, state->cursor, shown.count, height);
		moved = state->first + action.y - view.y - tall - 2;
		if (action.y < view.y + tall + 2 || moved >= shown.count)
			return CHANGED_NOTHING;
		state->cursor = moved;
		return CHANGED_SCREEN;
	}
	moved = scroll_move(state->cursor, shown.count, height, action.kind);
	if (moved == state->cursor && action.kind != ACTION_UP &&
	    action.kind != ACTION_DOWN)
		return CHANGED_NOTHING;
	state->cursor = moved;
	state->first = scroll_first(state->first, moved, shown.count, height);
	return CHANGED_SCREEN;
}
