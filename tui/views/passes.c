/* passes.c - what fills a server's passes: operators along time, decoding beside
 * prompts, and how often a pass carries them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/serve/serve.h"
#include "tui/view.h"

enum { MOST_ZOOM = 10, MAX_NAMES = 96, LABEL = 9 };

static const char *const lane_names[LANE_COUNT] = { "decode", "mixed", "prompt" };

static enum role role_of(enum serve_filling kind)
{
	static const enum role roles[FILLING_COUNT] = {
		[FILLING_COMPUTE] = ROLE_COMPUTE, [FILLING_MEMORY] = ROLE_RECOMPUTE,
		[FILLING_TP] = ROLE_TP,           [FILLING_CP] = ROLE_CP,
		[FILLING_EP] = ROLE_EP,           [FILLING_PP] = ROLE_PP,
		[FILLING_HOST] = ROLE_HOST,       [FILLING_REST] = ROLE_BUBBLE,
	};

	return (unsigned)kind < FILLING_COUNT ? roles[kind] : ROLE_DEFAULT;
}

/* Every name once, as it comes in the passes. */
struct names {
	int count;
	const char *item[MAX_NAMES];
	const struct serve_lanes *lanes;
};

static void add_name(struct names *names, const char *name)
{
	for (int i = 0; i < names->count; i++)
		if (strcmp(names->item[i], name) == 0)
			return;
	if (names->count < MAX_NAMES)
		names->item[names->count++] = name;
}

static void list_names(const struct serve_lanes *lanes, struct names *out)
{
	out->count = 0;
	out->lanes = lanes;
	for (int l = 0; l < LANE_COUNT; l++)
		for (int i = 0; i < lanes->lane[l].count; i++)
			add_name(out, lanes->lane[l].item[i].name);
}

static const char *chosen(const struct explorer *explorer, const struct names *names)
{
	int at = explorer->state[VIEW_TIMELINE].cursor;

	if (explorer->pane != PANE_VIEW || names->count == 0)
		return NULL;
	return names->item[at < names->count ? at : names->count - 1];
}

static double axis_end(const struct explorer *explorer, const struct serve_lanes *lanes)
{
	int zoom = explorer->state[VIEW_TIMELINE].zoom;
	double most = 0;

	for (int l = 0; l < LANE_COUNT; l++)
		most = fmax(most, lanes->lane[l].seconds);
	return most / (double)(1 << (zoom < 0           ? 0
				     : zoom > MOST_ZOOM ? MOST_ZOOM
							: zoom));
}

/* The operator under the cursor stands out in all passes. */
static void draw_lane(struct canvas *canvas, struct rect rect,
		      const struct serve_lane *lane, double end, const char *lit)
{
	struct span span[MAX_FILLINGS];
	double at = 0;

	for (int i = 0; i < lane->count; i++) {
		bool here = lit && strcmp(lane->item[i].name, lit) == 0;

		span[i] = (struct span){ at, at + lane->item[i].seconds,
					 here ? ROLE_CRITICAL
					      : role_of(lane->item[i].kind),
					 lane->item[i].name };
		at = span[i].end;
	}
	canvas->coarse = true;
	widget_spans(canvas, rect, span, lane->count, 0, end);
	canvas->coarse = false;
}

static void draw_lanes(const struct explorer *explorer, struct canvas *canvas,
		       struct rect rect, const struct names *names, int tall)
{
	const struct serve_lanes *lanes = names->lanes;
	double end = axis_end(explorer, lanes);
	char to[32];

	for (int l = 0; l < LANE_COUNT; l++) {
		int y = rect.y + l * tall;
		char seconds[32];

		form_text(FORM_SECONDS, lanes->lane[l].seconds, seconds,
			  sizeof seconds);
		canvas_text(canvas, rect.x, y, LABEL - 1, ROLE_LABEL, lane_names[l]);
		if (tall > 1)
			canvas_text(canvas, rect.x, y + 1, LABEL - 1, ROLE_VALUE,
				    lanes->lane[l].count ? seconds : "none");
		draw_lane(canvas,
			  (struct rect){ rect.x + LABEL, y, rect.width - LABEL - 1,
					 tall > 2 ? 2 : tall },
			  &lanes->lane[l], end, chosen(explorer, names));
	}
	form_text(FORM_SECONDS, end, to, sizeof to);
	canvas_text(canvas, rect.x + LABEL, rect.y + LANE_COUNT * tall, 2, ROLE_LABEL,
		    "0");
	canvas_right(canvas, rect.x, rect.y + LANE_COUNT * tall, rect.width - 1,
		     ROLE_LABEL, to);
}

/* The first passes of a round, prompts dealt out evenly. */
static void draw_rhythm(struct canvas *canvas, struct rect rect,
			const struct serve_lanes *lanes)
{
	enum { PASSES = 48 };
	const struct serve_lane *decode = &lanes->lane[LANE_DECODE];
	const struct serve_lane *mixed = &lanes->lane[LANE_MIXED];
	double share = lanes->mixed_share, at = 0, end;
	const struct part key[] = { { 1, ROLE_DECODE, "decode" },
				    { 1, ROLE_MIXED, "mixed" } };
	struct span span[PASSES];
	int count = 0;

	end = 16 * (decode->seconds * (1 - share) + mixed->seconds * share);
	for (; count < PASSES && at < end; count++) {
		bool prompts = floor((count + 1) * share) > floor(count * share);
		double seconds = prompts ? mixed->seconds : decode->seconds;

		span[count] = (struct span){ at, fmin(end, at + seconds),
					     prompts     ? ROLE_MIXED
					     : count % 2 ? ROLE_DECODE_ALT
							 : ROLE_DECODE,
					     prompts ? "prompts" : "decode" };
		at += seconds;
	}
	canvas_text(canvas, rect.x, rect.y, LABEL - 1, ROLE_LABEL, "passes");
	/* above them, between the ends of the lanes' axis */
	widget_legend(
		canvas,
		(struct rect){ rect.x + LABEL + 3, rect.y - 1, rect.width - 24, 1 },
		key, 2);
	canvas->coarse = true;
	widget_spans(canvas,
		     (struct rect){ rect.x + LABEL, rect.y, rect.width - LABEL - 1,
				    rect.height },
		     span, count, 0, end);
	canvas->coarse = false;
}

/* Sets of requests that follow each other through the stages. */
static void draw_stages(struct canvas *canvas, struct rect rect,
			const struct serve_lanes *lanes)
{
	enum { SHOWN = 24 };
	double each = lanes->lane[LANE_DECODE].stage_seconds;
	int rows = lanes->stages < rect.height ? lanes->stages : rect.height;
	double end = each * (lanes->stages * 2 + 1);

	for (int stage = 0; stage < rows && each > 0; stage++) {
		struct span span[SHOWN];
		char label[SHOWN][12];
		int count = 0;

		for (int i = 0; i < SHOWN && (stage + i) * each < end; i++) {
			snprintf(label[i], sizeof label[i], "%d", i % lanes->stages);
			span[count++] = (struct span){
				(stage + i) * each, fmin(end, (stage + i + 1) * each),
				i % lanes->stages % 2 ? ROLE_DECODE_ALT : ROLE_DECODE,
				label[i]
			};
		}
		canvas_format(canvas, rect.x, rect.y + stage, LABEL - 1, ROLE_LABEL,
			      "stage %d", stage);
		widget_spans(canvas,
			     (struct rect){ rect.x + LABEL, rect.y + stage,
					    rect.width - LABEL - 1, 1 },
			     span, count, 0, end);
	}
}

enum column { COLUMN_NAME, COLUMN_DECODE, COLUMN_MIXED, COLUMN_PROMPT, COLUMN_OF };

static const struct table_column columns[] = {
	{ "what", 18, false, 0 }, { "decode", 8, true, 0 },   { "mixed", 8, true, 0 },
	{ "prompt", 8, true, 1 }, { "of mixed", 8, true, 2 },
};

static double seconds_of(const struct serve_lane *lane, const char *name)
{
	for (int i = 0; i < lane->count; i++)
		if (strcmp(lane->item[i].name, name) == 0)
			return lane->item[i].seconds;
	return 0;
}

/* Collectives have the colour of their dimension; the others are too dark for words. */
static enum role role_named(const struct serve_lanes *lanes, const char *name)
{
	for (int l = 0; l < LANE_COUNT; l++)
		for (int i = 0; i < lanes->lane[l].count; i++) {
			enum serve_filling kind = lanes->lane[l].item[i].kind;

			if (strcmp(lanes->lane[l].item[i].name, name) != 0)
				continue;
			return kind >= FILLING_TP && kind <= FILLING_PP ? role_of(kind)
									: ROLE_DEFAULT;
		}
	return ROLE_DEFAULT;
}

static void cell(const void *context, int row, int column, struct table_cell *out)
{
	const struct names *names = context;
	const struct serve_lane *lane = names->lanes->lane;
	const char *name = names->item[row];
	double value = 0;

	out->text[0] = '\0';
	out->role = ROLE_VALUE;
	switch (column) {
	case COLUMN_NAME:
		out->role = role_named(names->lanes, name);
		snprintf(out->text, sizeof out->text, "%s", name);
		return;
	case COLUMN_OF:
		if (lane[LANE_MIXED].seconds > 0)
			value = seconds_of(&lane[LANE_MIXED], name) /
				lane[LANE_MIXED].seconds;
		if (value > 0)
			form_text(FORM_PERCENT, value, out->text, sizeof out->text);
		return;
	default: value = seconds_of(&lane[column - COLUMN_DECODE], name);
	}
	if (value > 0)
		form_text(FORM_SECONDS, value, out->text, sizeof out->text);
}

static bool has_kind(const struct serve_lanes *lanes, enum serve_filling kind)
{
	for (int l = 0; l < LANE_COUNT; l++)
		for (int i = 0; i < lanes->lane[l].count; i++)
			if (lanes->lane[l].item[i].kind == kind)
				return true;
	return false;
}

static void draw_head(struct canvas *canvas, struct rect rect,
		      const struct serve_lanes *lanes)
{
	static const char *const labels[FILLING_COUNT] = {
		[FILLING_COMPUTE] = "bound by computing",
		[FILLING_MEMORY] = "by memory",
		[FILLING_TP] = "TP",
		[FILLING_CP] = "CP",
		[FILLING_EP] = "EP",
		[FILLING_PP] = "PP",
		[FILLING_HOST] = "host",
		[FILLING_REST] = "lost",
	};
	struct part parts[FILLING_COUNT];
	const struct serve_lane *mixed = &lanes->lane[LANE_MIXED];
	char every[96] = "no pass carries prompts beside decoding requests";
	bool narrow = rect.width < 72;

	if (lanes->mixed_share > 0 && !narrow)
		snprintf(every, sizeof every,
			 "%.3g %% of passes carry %.0f prompt tokens",
			 lanes->mixed_share * 100, mixed->prompt_tokens);
	else if (narrow)
		snprintf(every, sizeof every, "%.3g %% of passes with prompts",
			 lanes->mixed_share * 100);
	canvas_format(canvas, rect.x, rect.y, rect.width, ROLE_TITLE,
		      "%.4g requests decode; %s", lanes->lane[LANE_DECODE].requests,
		      every);
	for (int k = 0; k < FILLING_COUNT; k++)
		parts[k] = (struct part){ has_kind(lanes, (enum serve_filling)k),
					  role_of((enum serve_filling)k), labels[k] };
	widget_legend(canvas, (struct rect){ rect.x, rect.y + 1, rect.width, 1 }, parts,
		      FILLING_COUNT);
}

/* Rows of one lane, and above the table. */
static int lane_rows(int height)
{
	return height < 24 ? 1 : height < 40 ? 2 : 3;
}

static int head_rows(const struct serve_lanes *lanes, int height)
{
	int rows = 2 + LANE_COUNT * lane_rows(height) + 1;

	if (lanes->mixed_share > 0 && height < 24)
		rows++;
	if (lanes->stages > 1 && height >= 24)
		rows += (lanes->stages < 8 ? lanes->stages : 8) + 1;
	return rows;
}

/* Rows of the rhythm below the table, where there is room: a table above which rows
 * came and went would stand elsewhere after a turn. */
static int foot_rows(const struct serve_lanes *lanes, int height)
{
	return lanes->mixed_share > 0 && height >= 24 ? 3 : 0;
}

/* Two of them, under the legend, at the foot or where the table ends before. */
static struct rect below_table(struct rect view, int y, int names)
{
	int last = view.y + view.height - 2, end = y + 1 + names + 1;

	return (struct rect){ view.x, end < last ? end : last, view.width, 2 };
}

void passes_draw(const struct explorer *explorer, struct canvas *canvas,
		 struct rect rect)
{
	const struct view_state *state = &explorer->state[VIEW_TIMELINE];
	struct serve_lanes lanes;
	struct names names;
	int tall = lane_rows(rect.height), y = rect.y + 2, foot;
	struct table table = { .column = columns,
			       .columns = COLUMN_OF + 1,
			       .grows = COLUMN_NAME,
			       .grown = 28,
			       .first = state->first,
			       .focused = explorer->pane == PANE_VIEW,
			       .sorted_by = -1,
			       .context = &names,
			       .cell = cell };

	if (!serve_lanes(&explorer->scenario, &lanes)) {
		draw_problems(explorer, canvas, rect);
		return;
	}
	list_names(&lanes, &names);
	foot = foot_rows(&lanes, rect.height);
	draw_head(canvas, rect, &lanes);
	draw_lanes(explorer, canvas, (struct rect){ rect.x, y, rect.width, 1 }, &names,
		   tall);
	y += LANE_COUNT * tall + 1;
	if (lanes.mixed_share > 0 && foot == 0)
		draw_rhythm(canvas, (struct rect){ rect.x, y++, rect.width, 1 },
			    &lanes);
	if (lanes.stages > 1 && rect.height >= 24)
		draw_stages(canvas, (struct rect){ rect.x, y, rect.width, 8 }, &lanes);
	y = rect.y + head_rows(&lanes, rect.height);
	if (foot > 0)
		draw_rhythm(canvas, below_table(rect, y, names.count), &lanes);
	table.rows = names.count;
	table.cursor = state->cursor < names.count ? state->cursor : names.count - 1;
	widget_table(
		canvas,
		(struct rect){ rect.x, y, rect.width, rect.y + rect.height - foot - y },
		&table);
}

unsigned passes_act(struct explorer *explorer, struct action action)
{
	struct view_state *state = &explorer->state[VIEW_TIMELINE];
	struct rect view = explorer->spots->view;
	struct serve_lanes lanes;
	struct names names;
	int head, height, moved;

	if (!serve_lanes(&explorer->scenario, &lanes))
		return CHANGED_NOTHING;
	list_names(&lanes, &names);
	head = head_rows(&lanes, view.height);
	height = view.height - head - foot_rows(&lanes, view.height) - 1;
	switch (action.kind) {
	case ACTION_ZOOM_IN:
		state->zoom += state->zoom < MOST_ZOOM;
		return CHANGED_SCREEN;
	case ACTION_ZOOM_OUT: state->zoom -= state->zoom > 0; return CHANGED_SCREEN;
	case ACTION_ENTER: return explorer_explain(explorer, "mixed_seconds");
	case ACTION_LEFT:
	case ACTION_RIGHT: return CHANGED_SCREEN;
	case ACTION_CLICK:
		state->first =
			scroll_first(state->first, state->cursor, names.count, height);
		moved = state->first + action.y - view.y - head - 1;
		if (action.y < view.y + head + 1 || action.y > view.y + head + height ||
		    moved >= names.count)
			return CHANGED_NOTHING;
		state->cursor = moved;
		return CHANGED_SCREEN;
	default: break;
	}
	moved = scroll_move(state->cursor, names.count, height, action.kind);
	if (moved == state->cursor && action.kind != ACTION_UP &&
	    action.kind != ACTION_DOWN)
		return CHANGED_NOTHING;
	state->cursor = moved;
	state->first = scroll_first(state->first, moved, names.count, height);
	return CHANGED_SCREEN;
}
