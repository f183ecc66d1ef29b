/* topology_map.c - the machine as boxes of ranks with the links between them, and the
 * groups of one rank as rings. */
#include <stdio.h>
#include <string.h>

#include "tui/views/topology.h"

/* On the colour itself, with the ink that reads on it: reverse would write with that of
 * the paper. */
static void topology_mark(struct canvas *canvas, int x, int y, enum role role)
{
	canvas_put(canvas, x, y, (uint32_t)theme_style(role)->fill, role);
	if (canvas->colour)
		canvas_highlight(canvas, (struct rect){ x, y, 1, 1 }, role, false,
				 false);
}

static bool together(const struct layout *layout, int64_t rank, int64_t other)
{
	int64_t engine = topology_engine(layout, rank);

	return layout->pools == 0 ||
	       (topology_pool(layout, rank) == topology_pool(layout, other) &&
		engine == topology_engine(layout, other) && engine >= 0);
}

/* The dimension whose group holds both ranks, -1 if none that is shown does. */
static int lit(const struct layout *layout, int choice, int64_t rank, int64_t other)
{
	if (!together(layout, rank, other))
		return -1;
	rank = topology_local(layout, rank);
	other = topology_local(layout, other);
	for (int i = 0; i < DRAWN_DIMENSIONS; i++) {
		enum dimension d = topology_order[i];

		if (choice >= 0 && (int)d != choice)
			continue;
		if (topology_in_use(&layout->mesh, d) &&
		    mesh_shares_group(&layout->mesh, d, rank, other))
			return (int)d;
	}
	return -1;
}

/* Engines of a server alternate, so that one sees where they end. */
static uint32_t unlit(const struct canvas *canvas, const struct layout *layout,
		      int64_t rank)
{
	int64_t engine = topology_engine(layout, rank);

	if (layout->pools > 0 && engine < 0)
		return '-';
	if (layout->pools > 0 && topology_pool(layout, rank) == &layout->pool[1])
		return engine % 2 ? 'f' : 'F';
	if (layout->pools > 0 && engine % 2)
		return canvas_glyph(canvas, GLYPH_BULLET);
	return '.'; /* there are hundreds: a byte each */
}

static void draw_cell(const struct explorer *explorer, struct canvas *canvas, int x,
		      int y, const struct layout *layout, int64_t rank)
{
	int64_t chosen = topology_chosen(explorer);
	int dimension = lit(layout, topology_choice(explorer), chosen, rank);

	if (layout->cell > 2) {
		canvas_format(canvas, x, y, layout->cell - 2, ROLE_QUIET, "%*lld",
			      layout->cell - 3, (long long)rank);
		x += layout->cell - 2;
	}
	if (rank == chosen) {
		canvas_put(canvas, x, y, '@', ROLE_VALUE);
		canvas_highlight(canvas, (struct rect){ x, y, 1, 1 }, ROLE_FOCUS, false,
				 true);
		if (explorer->pane == PANE_VIEW)
			canvas_cursor(canvas, x, y);
		return;
	}
	if (dimension < 0)
		canvas_put(canvas, x, y, unlit(canvas, layout, rank), ROLE_QUIET);
	else
		topology_mark(canvas, x, y, dimension_role((enum dimension)dimension));
}

/* Ranks beside each other that are lit for the same are one strip: it is seen at once,
 * and written at once. */
static void join_lit(struct canvas *canvas, int x, int y)
{
	const struct cell *left = canvas_at(canvas, x - 2, y);
	const struct cell *right = canvas_at(canvas, x, y);
	struct cell *between = canvas_at(canvas, x - 1, y);

	if (!left || !right || !between || right->back == ROLE_DEFAULT ||
	    left->code != right->code || left->back != right->back)
		return;
	*between = *right;
	between->code = ' ';
}

static bool holds(const struct layout *layout, int64_t unit, int64_t rank)
{
	return rank / layout->unit == unit;
}

/* The network joins this box to the next. */
static void draw_link(struct canvas *canvas, int x, int y)
{
	canvas_put(canvas, x, y, canvas_glyph(canvas, GLYPH_LINK), ROLE_QUIET);
}

static void draw_box(const struct explorer *explorer, struct canvas *canvas,
		     struct rect r, const struct layout *layout, int64_t unit)
{
	bool here = holds(layout, unit, topology_chosen(explorer));
	bool several = layout->unit > layout->per_node;
	int left = r.x + (layout->cell > 1 ? 2 : 1);
	char name[32];

	widget_frame(canvas, r,
		     !here            ? ROLE_QUIET
		     : canvas->colour ? ROLE_FOCUS
				      : ROLE_VALUE /* reversed lines are a slab */);
	snprintf(name, sizeof name, several ? "domain %lld" : "node %lld",
		 (long long)unit);
	if (text_width(name) > r.width - 2 && !several)
		snprintf(name, sizeof name, "n %lld", (long long)unit);
	canvas_text(canvas, r.x + 1, r.y, r.width - 2, here ? ROLE_VALUE : ROLE_QUIET,
		    name);
	for (int64_t i = 0; i < layout->unit; i++) {
		int64_t rank = unit * layout->unit + i;
		int row = (int)(i / layout->columns),
		    column = (int)(i % layout->columns);

		if (rank >= layout->world || row >= layout->rows)
			break;
		draw_cell(explorer, canvas, left + column * layout->cell, r.y + 1 + row,
			  layout, rank);
		if (column > 0 && layout->cell == 2)
			join_lit(canvas, left + column * layout->cell, r.y + 1 + row);
	}
}

/* Boxes that are left out, as a count between the links. */
static void draw_gap(struct canvas *canvas, struct rect r, int64_t count)
{
	char text[32];
	int width = snprintf(text, sizeof text, "%lld alike", (long long)count);
	int indent = width < r.width;

	if (width > r.width)
		snprintf(text, sizeof text, "%lld", (long long)count);
	canvas_text(canvas, r.x + indent, r.y + r.height / 2, r.width - indent,
		    ROLE_LABEL, text);
}

static int64_t boxes(const struct layout *layout)
{
	return layout->folded > 0 ? layout->folded : layout->units;
}

/* The unit of the n-th box; of a gap -1. */
static int64_t unit_of(const struct layout *layout, int64_t n)
{
	return layout->folded > 0 ? layout->fold[n] : n;
}

static int first_line(const struct explorer *explorer, const struct layout *layout)
{
	int64_t at = topology_chosen(explorer) / layout->unit, n = at;
	int64_t lines = (boxes(layout) + layout->across - 1) / layout->across;

	for (int64_t i = 0; layout->folded > 0 && i < layout->folded; i++)
		if (layout->fold[i] == at)
			n = i;
	return scroll_first(0, (int)(n / layout->across), (int)lines, layout->shown);
}

static struct rect place_of(struct rect rect, const struct layout *layout, int first,
			    int64_t n)
{
	int line = (int)(n / layout->across) - first,
	    column = (int)(n % layout->across);

	return (struct rect){ rect.x + column * layout->width,
			      rect.y + line * layout->height, layout->width - 1,
			      layout->height };
}

void topology_map(const struct explorer *explorer, struct canvas *canvas,
		  struct rect rect, const struct layout *layout)
{
	int first = first_line(explorer, layout);
	int64_t count = boxes(layout), from = (int64_t)first * layout->across;
	int64_t lines = (count + layout->across - 1) / layout->across;

	for (int64_t n = from;
	     n < count && n < from + (int64_t)layout->shown * layout->across; n++) {
		struct rect r = place_of(rect, layout, first, n);
		int64_t unit = unit_of(layout, n);

		if (unit >= 0)
			draw_box(explorer, canvas, r, layout, unit);
		else
			draw_gap(canvas, r,
				 unit_of(layout, n + 1) - unit_of(layout, n - 1) - 1);
		if (n + 1 < count && (n + 1) % layout->across != 0)
			draw_link(canvas, r.x + r.width, r.y + r.height / 2);
	}
	widget_scrollbar(canvas, rect.x + rect.width - 1, rect.y, layout->shown, first,
			 (int)lines);
}

int64_t topology_rank_at(const struct explorer *explorer, struct rect rect,
			 const struct layout *layout, int x, int y)
{
	int first = first_line(explorer, layout), line, column;
	int64_t n, unit, rank;

	if (x < rect.x || y < rect.y || y >= rect.y + layout->shown * layout->height)
		return -1;
	line = (y - rect.y) / layout->height;
	column = (x - rect.x) / layout->width;
	n = (int64_t)(first + line) * layout->across + column;
	if (column >= layout->across || n >= boxes(layout))
		return -1;
	unit = unit_of(layout, n);
	y = (y - rect.y) % layout->height - 1;
	x = (x - rect.x) % layout->width - (layout->cell > 1 ? 2 : 1);
	if (unit < 0 || y < 0 || y >= layout->rows || x < 0 ||
	    x >= layout->columns * layout->cell)
		return -1;
	x /= layout->cell;
	rank = unit * layout->unit + y * layout->columns + x;
	return rank < layout->world && rank < (unit + 1) * layout->unit ? rank : -1;
}

/* --- rings --- */

/* "0-1-2-3= .. 4 more 7": a double line where the network is crossed, folded to the
 * width. */
static void ring_text(const struct canvas *canvas, const struct layout *layout,
		      enum dimension d, int64_t rank, int width, char *out, size_t size)
{
	const struct group *g = topology_group(&layout->mesh, d);
	int64_t all = g->ranks, last = -1, shown;
	bool fancy = canvas_glyph(canvas, GLYPH_MIDDOT) == 0xb7;
	int used = 0, widest;
	char number[24];

	widest = snprintf(number, sizeof number, "%lld",
			  (long long)topology_member(layout, g, rank, g->ranks - 1)) +
		 1;
	shown = width / widest;
	for (int64_t n = 0; n < all && used < (int)size - 32; n++) {
		int64_t member = topology_member(layout, g, rank, n % g->ranks);
		bool crosses =
			last >= 0 && member / layout->unit != last / layout->unit;

		if (all > shown && n == shown - 4) {
			used += snprintf(out + used, size - (size_t)used,
					 " %s %lld more ", fancy ? "\u2026" : "..",
					 (long long)(all - shown + 3));
			n = all - 2;
			last = -1;
			continue;
		}
		if (last >= 0)
			used += snprintf(out + used, size - (size_t)used, "%s",
					 crosses ? fancy ? "\u2550" : "="
					 : fancy ? "\u2500"
						 : "-");
		used += snprintf(out + used, size - (size_t)used, "%lld",
				 (long long)member);
		last = member;
	}
}

static double most_bytes(const struct explorer *explorer)
{
	double most = 0;

	for (int i = 0; i < DRAWN_DIMENSIONS; i++) {
		double bytes = explorer->estimate.cost[topology_order[i]].bytes;

		most = bytes > most ? bytes : most;
	}
	return most;
}

/* Around the text of a ring: its last member sends to its first. */
static void close_ring(struct canvas *canvas, struct rect r, enum role role)
{
	uint32_t across = canvas_glyph(canvas, GLYPH_HORIZONTAL);
	int right = r.x + r.width - 1;

	canvas_put(canvas, r.x, r.y, canvas_glyph(canvas, GLYPH_CORNER_TL), role);
	canvas_put(canvas, r.x + 1, r.y, across, role);
	canvas_put(canvas, right, r.y, canvas_glyph(canvas, GLYPH_CORNER_TR), role);
	canvas_put(canvas, right - 1, r.y, across, role);
	for (int x = r.x + 1; x < right; x++)
		canvas_put(canvas, x, r.y + 1, across, role);
	canvas_put(canvas, r.x, r.y + 1, canvas_glyph(canvas, GLYPH_CORNER_BL), role);
	canvas_put(canvas, right, r.y + 1, canvas_glyph(canvas, GLYPH_CORNER_BR), role);
}

bool topology_has_nodes(const struct layout *layout)
{
	return layout->domain == layout->per_node ||
	       (layout->domain < layout->per_node && layout->domain == layout->world);
}

/* " in one node", ", one per node", ", 8 per domain": most domains are nodes. */
static void place_text(const struct layout *layout, const struct group *g, bool narrow,
		       char *out, size_t size)
{
	const char *place = topology_has_nodes(layout) ? "node" : "domain";

	if (g->per_domain >= g->ranks)
		snprintf(out, size, " in one %s", place);
	else if (g->per_domain == 1 && !narrow)
		snprintf(out, size, ", one per %s", place);
	else
		snprintf(out, size, ", %lld per %s", (long long)g->per_domain, place);
}

/* "TP tensor  8 ranks in one node: NVLink 4", or "TP  8 in one node: NVLink 4". */
static void group_text(const struct explorer *explorer, const struct layout *layout,
		       enum dimension d, bool narrow, char *out, size_t size)
{
	const struct group *g = topology_group(&layout->mesh, d);
	const struct link *link = explorer->scenario.cluster.link;
	bool mirrored = topology_is_mirrored(layout, g);
	char name[12] = " ", where[48];

	if (!narrow)
		snprintf(name, sizeof name, " %-8s", dimension_name(d));
	place_text(layout, g, narrow, where, sizeof where);
	/* the two stages that hold the same weights reduce their gradients together */
	snprintf(out, size, "%s%s %s%lld%s%s: %s", dimension_label(d), name,
		 mirrored ? "2 x " : "",
		 (long long)(mirrored ? g->ranks / 2 : g->ranks),
		 narrow          ? ""
		 : g->ranks == 1 ? " rank"
				 : " ranks",
		 where, link[g->link].name);
}

/* Columns for the bytes of a group and their bar: two fifths, less where the words of
 * one would be cut. */
static int bytes_room(const struct explorer *explorer, const struct layout *layout,
		      int width)
{
	enum { LEAST = 12 };
	int room = width * 2 / 5;

	for (int i = 0; i < DRAWN_DIMENSIONS; i++) {
		enum dimension d = topology_order[i];
		char text[256];

		if (!topology_in_use(&layout->mesh, d))
			continue;
		group_text(explorer, layout, d, true, text, sizeof text);
		if (room > width - 2 - text_width(text))
			room = width - 2 - text_width(text);
	}
	return room < LEAST ? LEAST : room;
}

/* A group in words, what goes over it at scale, and the ring. */
static void draw_ring(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect, const struct layout *layout, enum dimension d)
{
	double bytes = explorer->estimate.cost[d].bytes, most = most_bytes(explorer);
	bool chosen = topology_choice(explorer) == (int)d;
	int room = bytes_room(explorer, layout, rect.width), used;
	int figures = room < rect.width * 2 / 5 ? 8 : 9;
	char text[256] = "", amount[32];

	topology_mark(canvas, rect.x, rect.y, dimension_role(d));
	group_text(explorer, layout, d, rect.width - room <= 46, text, sizeof text);
	/* where it is goes before what it is called */
	if (text_width(text) > rect.width - room - 2)
		group_text(explorer, layout, d, true, text, sizeof text);
	canvas_phrase(canvas, rect.x + 2, rect.y, rect.width - room - 2,
		      chosen ? ROLE_VALUE : ROLE_LABEL, text);
	form_text(FORM_TRAFFIC, bytes, amount, sizeof amount);
	canvas_right(canvas, rect.x + rect.width - room, rect.y, figures, ROLE_VALUE,
		     amount);
	if (bytes > 0 && most > 0)
		widget_bar(canvas, rect.x + rect.width - room + figures + 1, rect.y,
			   room - figures - 2, bytes / most, dimension_role(d));
	ring_text(canvas, layout, d, topology_chosen(explorer), rect.width - 12, text,
		  sizeof text);
	used = canvas_text(canvas, rect.x + 8, rect.y + 1, rect.width - 9, ROLE_LABEL,
			   text);
	if (d != DIM_PP && rect.height > 2)
		close_ring(canvas, (struct rect){ rect.x + 6, rect.y + 1, used + 4, 2 },
			   dimension_role(d));
}

static int in_use(const struct layout *layout)
{
	int used = 0;

	for (int i = 0; i < DRAWN_DIMENSIONS; i++)
		used += topology_in_use(&layout->mesh, topology_order[i]);
	return used;
}

/* What a GPU sends over each kind of link in a step, by dimension. */
static void draw_links(const struct explorer *explorer, struct canvas *canvas,
		       struct rect rect)
{
	const struct estimate *e = &explorer->estimate;
	double far[2] = { 0, 0 };
	struct part part[2][DIM_COUNT];

	for (int d = 0; d < DIM_COUNT; d++) {
		double away = e->cost[d].network_bytes;
		double near = e->cost[d].bytes - away;

		for (int i = 0; i < 2; i++) {
			part[i][d] =
				(struct part){ i ? away : near,
					       dimension_role((enum dimension)d),
					       dimension_label((enum dimension)d) };
			far[i] += d == DIM_HOST ? 0 : part[i][d].value;
		}
		part[0][DIM_HOST].value = 0;
	}
	for (int i = 0; i < 2; i++) {
		char amount[32];
		double most = far[0] > far[1] ? far[0] : far[1];

		form_text(FORM_TRAFFIC, far[i], amount, sizeof amount);
		canvas_format(
			canvas, rect.x, rect.y + i, 24, ROLE_LABEL, "over %s",
			explorer->scenario.cluster.link[i ? LINK_NETWORK : LINK_DOMAIN]
				.name);
		canvas_right(canvas, rect.x + 18, rect.y + i, 9, ROLE_VALUE, amount);
		widget_stack(
			canvas,
			(struct rect){ rect.x + 28, rect.y + i, rect.width - 29, 1 },
			part[i], DIM_COUNT, most, 0);
	}
}

void topology_rings(const struct explorer *explorer, struct canvas *canvas,
		    struct rect rect, const struct layout *layout)
{
	int y = 0, used = in_use(layout), each = used > 0 ? rect.height / used : 2;

	each = each > 4 ? 4 : each < 2 ? 2 : each;
	for (int i = 0; i < DRAWN_DIMENSIONS && y + 2 <= rect.height; i++) {
		if (!topology_in_use(&layout->mesh, topology_order[i]))
			continue;
		draw_ring(explorer, canvas,
			  (struct rect){ rect.x, rect.y + y, rect.width, each }, layout,
			  topology_order[i]);
		y += each;
	}
	if (y == 0)
		canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_LABEL,
			    "One rank: there are no groups.");
	else if (rect.height - y >= 3)
		draw_links(explorer, canvas,
			   (struct rect){ rect.x, rect.y + y, rect.width, 2 });
}
