/* graph_picture.c - one layer as it runs on one rank: operators as boxes in the order
 * of the forward, the shapes of what goes from one to the next on the arrows,
 * collectives where they sit, both ways through a mixture of experts, and what the
 * backward finds saved or computes again. */
#include <stdio.h>
#include <string.h>

#include "tui/views/graph.h"

enum { BOX = 19, EDGE = 11, SHORT_EDGE = 9, TALL = 5, MARGIN = 2 };

/* An operator, or the collectives between two of them. */
struct box {
	int first, count;
	bool sends;
	enum graph_branch branch;
};

struct picture_plan {
	const struct graph *graph;
	int count, across; /* boxes, and those in a line */
	int edge;          /* columns between two of them */
	struct box box[MAX_OPERATORS];
	int line[MAX_OPERATORS], column[MAX_OPERATORS];
	int lines;
};

static void add_box(struct picture_plan *p, int at)
{
	const struct graph_operator *op = &p->graph->item[at];
	bool sends = op->kind == OPERATOR_COLLECTIVE;
	struct box *last = p->count > 0 ? &p->box[p->count - 1] : NULL;

	if (last && sends && last->sends && last->branch == op->branch &&
	    p->graph->item[last->first].dimension == op->dimension) {
		last->count++;
		return;
	}
	p->box[p->count++] = (struct box){ at, 1, sends, op->branch };
}

static int boxes_across(int width, int edge)
{
	int across = (width - MARGIN + edge) / (BOX + edge);

	return across < 1 ? 1 : across;
}

/* Lines of boxes; where the ways part and where they meet a new one begins. */
static void plan_picture(const struct graph *graph, int width, struct picture_plan *p)
{
	int column = 0;

	p->graph = graph;
	p->count = p->lines = 0;
	/* two in a line are worth shorter arrows: one is no picture of a layer */
	p->edge = boxes_across(width, EDGE) > 1 ? EDGE : SHORT_EDGE;
	p->across = boxes_across(width, p->edge);
	for (int i = 0; i < graph->count; i++)
		add_box(p, i);
	for (int i = 0; i < p->count; i++) {
		bool parts = i > 0 && p->box[i].branch != p->box[i - 1].branch;

		if (column == p->across || parts) {
			p->lines++;
			column = 0;
		}
		p->line[i] = p->lines;
		p->column[i] = column++;
	}
	p->lines++;
}

static int graph_picture_lines(const struct graph *graph, int width)
{
	struct picture_plan p;

	plan_picture(graph, width, &p);
	return p.lines;
}

int graph_picture_rows(const struct graph *graph, int width)
{
	return graph_picture_lines(graph, width) * (TALL + 1) - 1;
}

int graph_picture_leaves(int height)
{
	return (height + 1) % (TALL + 1);
}

static struct rect place_of(const struct picture_plan *p, struct rect rect, int first,
			    int i)
{
	return (struct rect){ rect.x + MARGIN + p->column[i] * (BOX + p->edge),
			      rect.y + (p->line[i] - first) * (TALL + 1), BOX, TALL };
}

/* "> 557 us < 1.16 ms": forward and backward. */
static void times_text(double forward, double backward, char *out, size_t size)
{
	char there[24] = "", back[24] = "";

	if (forward > 0)
		form_text(FORM_SECONDS, forward, there, sizeof there);
	if (backward > 0)
		form_text(FORM_SECONDS, backward, back, sizeof back);
	snprintf(out, size, "%s%s%s%s%s", there[0] ? "\u2192" : "", there,
		 there[0] && back[0] ? " " : "", back[0] ? "\u2190" : "", back);
}

/* What is there for the backward. */
static void kept_text(const struct graph_operator *op, char *out, size_t size)
{
	char bytes[24];

	form_text(FORM_BYTES, op->held_bytes, bytes, sizeof bytes);
	if (op->again > 0)
		snprintf(out, size, "computed again");
	else if (op->held_bytes > 0)
		snprintf(out, size, "saves %s", bytes);
	else
		out[0] = '\0';
}

static void draw_operator(struct canvas *canvas, struct rect r,
			  const struct graph_operator *op)
{
	char text[64];
	int width = r.width - 2;

	canvas_text(canvas, r.x + 1, r.y + 1, width, ROLE_VALUE, op->name);
	times_text(op->forward_seconds,
		   op->input_grad_seconds + op->weight_grad_seconds, text, sizeof text);
	canvas_text(canvas, r.x + 1, r.y + 2, width, ROLE_LABEL, text);
	kept_text(op, text, sizeof text);
	if (text[0] == '\0' && strcmp(op->name, "residual") == 0)
		snprintf(text, sizeof text, "+ what came in");
	canvas_text(canvas, r.x + 1, r.y + 3, width,
		    op->again > 0 ? ROLE_WARNING : ROLE_HINT, text);
}

static void draw_collectives(struct canvas *canvas, struct rect r,
			     const struct graph_operator *op, int count)
{
	double forward = 0, backward = 0;
	char text[64], bytes[24];
	int width = r.width - 2;
	enum role role = dimension_role(op->dimension);

	for (int i = 0; i < count; i++) {
		forward += op[i].forward_seconds;
		backward += op[i].input_grad_seconds + op[i].weight_grad_seconds;
	}
	form_text(FORM_TRAFFIC, op->payload_bytes, bytes, sizeof bytes);
	canvas_format(canvas, r.x + 1, r.y + 1, width, role, "%s %s",
		      dimension_label(op->dimension), collective_label(op->collective));
	canvas_format(canvas, r.x + 1, r.y + 2, width, ROLE_LABEL, "%lld ranks %s",
		      (long long)op->ranks, bytes);
	times_text(forward, backward, text, sizeof text);
	canvas_text(canvas, r.x + 1, r.y + 3, width, ROLE_LABEL, text);
}

/* What leaves an operator, or enters it. */
static void shape_of(const struct graph_operator *op, bool enters, char *out,
		     size_t size)
{
	double columns = enters && op->inner > 0 && op->kind != OPERATOR_ATTENTION &&
					 op->kind != OPERATOR_SCAN
				 ? op->inner
				 : op->columns;

	if (op->groups > 1)
		snprintf(out, size, "%.0f experts", op->groups);
	else if (op->rows > 0)
		snprintf(out, size, "%.0fx%.0f", op->rows, columns);
	else
		out[0] = '\0';
}

static void edge_text(const struct picture_plan *p, int i, char *out, size_t size)
{
	const struct box *left = &p->box[i], *right = &p->box[i + 1];

	out[0] = '\0';
	if (!left->sends)
		shape_of(&p->graph->item[left->first], false, out, size);
	else if (!right->sends)
		shape_of(&p->graph->item[right->first], true, out, size);
}

static void draw_arrow(struct canvas *canvas, int x, int y, int width)
{
	for (int i = 0; i < width - 1; i++)
		canvas_put(canvas, x + i, y, canvas_glyph(canvas, GLYPH_HORIZONTAL),
			   ROLE_BORDER);
	canvas_put(canvas, x + width - 1, y, canvas_glyph(canvas, GLYPH_RIGHT),
		   ROLE_BORDER);
}

/* A shape over an arrow; "8192x" over it and "16384" under it where it is too short. */
static void draw_shape(struct canvas *canvas, struct rect arrow, const char *text)
{
	const char *times = strchr(text, 'x'), *below = "";
	int above = text_width(text);

	if (above > arrow.width && times) {
		below = times + 1;
		above = (int)(below - text);
	}
	canvas_format(canvas, arrow.x + (arrow.width - above) / 2, arrow.y - 1, above,
		      ROLE_VALUE, "%.*s", above, text);
	canvas_text(canvas, arrow.x + (arrow.width - text_width(below)) / 2,
		    arrow.y + 1, arrow.width, ROLE_VALUE, below);
}

/* To the next box in the line, or out of the line and into the next. */
static void draw_edge(struct canvas *canvas, const struct picture_plan *p, int i,
		      struct rect r)
{
	char text[32];
	bool last = p->line[i] != p->line[i + 1];
	int y = r.y + TALL / 2, x = r.x + r.width;

	edge_text(p, i, text, sizeof text);
	if (last && p->column[i] + 1 == p->across)
		return; /* what is first in a line says what enters it */
	draw_shape(canvas, (struct rect){ x, y, p->edge, 1 }, text);
	if (!last)
		draw_arrow(canvas, x, y, p->edge);
}

/* A line that goes on from the one before, one of two ways, or where they meet. */
static void draw_entry(struct canvas *canvas, const struct picture_plan *p, int i,
		       struct rect r)
{
	enum graph_branch now = p->box[i].branch;
	enum graph_branch before = i > 0 ? p->box[i - 1].branch : BRANCH_NONE;
	int x = r.x - MARGIN, y = r.y + TALL / 2;
	uint32_t corner = canvas_glyph(canvas, GLYPH_CORNER_BL);
	char text[40] = "";

	if (i > 0)
		edge_text(p, i - 1, text, sizeof text);
	if (now != before) {
		corner = canvas_glyph(canvas, now == BRANCH_NONE ? GLYPH_TEE_UP
								 : GLYPH_TEE_RIGHT);
		snprintf(text, sizeof text, "%s",
			 now == BRANCH_ROUTED   ? "the routed experts"
			 : now == BRANCH_SHARED ? "and beside them the shared one"
						: "both ways added up");
	}
	canvas_put(canvas, x, y, i > 0 ? corner : '-', ROLE_BORDER);
	canvas_put(canvas, x + 1, y, canvas_glyph(canvas, GLYPH_RIGHT), ROLE_BORDER);
	if (i > 0)
		canvas_text(canvas, x, r.y - 1, BOX + MARGIN + p->edge, ROLE_LABEL,
			    text);
	for (int up = y - 1; now == BRANCH_SHARED && now != before && up >= r.y; up--)
		canvas_put(canvas, x, up, canvas_glyph(canvas, GLYPH_VERTICAL),
			   ROLE_BORDER);
}

/* The picture with the cursor in it: how many lines are shown, which box it is at;
 * returns the first line. */
static int plan_window(const struct graph *graph, struct rect rect, int cursor,
		       struct picture_plan *p, int *shown, int *at)
{
	*shown = (rect.height + 1) / (TALL + 1);
	*at = 0;
	plan_picture(graph, rect.width, p);
	for (int i = 0; i < p->count; i++)
		if (cursor >= p->box[i].first)
			*at = i;
	return scroll_first(0, p->line[*at], p->lines, *shown < 1 ? 1 : *shown);
}

void graph_picture(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect, const struct graph *graph, int cursor)
{
	struct picture_plan p;
	int shown, at, first = plan_window(graph, rect, cursor, &p, &shown, &at);

	for (int i = 0; i < p.count; i++) {
		const struct box *box = &p.box[i];
		const struct graph_operator *op = &graph->item[box->first];
		struct rect r = place_of(&p, rect, first, i);
		bool here = i == at && explorer->pane == PANE_VIEW;

		if (p.line[i] < first || p.line[i] >= first + shown)
			continue;
		widget_frame(canvas, r,
			     here         ? ROLE_FOCUS
			     : box->sends ? dimension_role(op->dimension)
					  : ROLE_BORDER);
		if (box->sends)
			draw_collectives(canvas, r, op, box->count);
		else
			draw_operator(canvas, r, op);
		if (p.column[i] == 0 && (i == 0 || p.line[i] > first))
			draw_entry(canvas, &p, i, r);
		if (i + 1 < p.count)
			draw_edge(canvas, &p, i, r);
		if (here)
			canvas_cursor(canvas, r.x + 1, r.y + 1);
	}
	widget_scrollbar(canvas, rect.x + rect.width - 1, rect.y, rect.height,
			 first * rect.height / (p.lines > 0 ? p.lines : 1),
			 p.lines > shown ? rect.height * p.lines / shown : rect.height);
}

int graph_picture_at(struct rect rect, const struct graph *graph, int cursor, int x,
		     int y)
{
	struct picture_plan p;
	int shown, at, first = plan_window(graph, rect, cursor, &p, &shown, &at);

	for (int i = 0; i < p.count; i++)
		if (p.line[i] >= first && p.line[i] < first + shown &&
		    rect_holds(place_of(&p, rect, first, i), x, y))
			return p.box[i].first;
	return -1;
}

int graph_picture_step(const struct graph *graph, int width, int cursor,
		       enum action_kind kind)
{
	struct picture_plan p;
	int at = 0, to;

	plan_picture(graph, width, &p);
	for (int i = 0; i < p.count; i++)
		if (cursor >= p.box[i].first)
			at = i;
	to = at + (kind == ACTION_DOWN ? 1 : kind == ACTION_UP ? -1 : 0);
	to = to < 0 ? 0 : to >= p.count ? p.count - 1 : to;
	return p.box[to].first;
}
