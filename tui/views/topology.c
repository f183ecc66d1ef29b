/* topology.c - ranks on nodes and domains; the groups of one rank lit up. */
#include <stdio.h>
#include <string.h>

#include "engine/plan/mesh.h"
#include "engine/serve/serve.h"
#include "tui/view.h"

enum { CELL = 2, MARGIN = 8, FOOT = 8, MAX_LINE = 512 };

/* What S chooses: all dimensions at once, or one. */
static const int choices[] = { -1, DIM_TP, DIM_CP, DIM_EP, DIM_DP, DIM_PP };
enum { CHOICES = sizeof choices / sizeof choices[0] };

/* The nearer a dimension, the sooner its colour wins where groups overlap. */
static const enum dimension order[] = { DIM_TP, DIM_CP, DIM_EP, DIM_PP, DIM_DP };

struct layout {
	struct mesh mesh; /* of the chosen rank's engine in mode inference */
	int pools;        /* of a server; 0 in training */
	struct serve_pool pool[2];
	int64_t world, per_node, per_line, lines, domain;
	int shown; /* lines of ranks on the screen */
};

static int64_t at_least_one(int64_t n)
{
	return n < 1 ? 1 : n;
}

/* As few nodes in a line as the height allows, a power of two of them: groups then
 * stand below each other. */
static int64_t nodes_in_line(int64_t nodes, int64_t most, int64_t lines)
{
	int64_t count = 1;

	while (count * 2 <= most && count * lines < nodes)
		count *= 2;
	return count * lines < nodes ? most : count;
}

static int64_t chosen(const struct explorer *explorer)
{
	int64_t rank = explorer->state[VIEW_TOPOLOGY].cursor;

	return rank < explorer->scenario.cluster.gpus ? rank : 0;
}

/* The pool that a GPU of a server belongs to. */
static const struct serve_pool *pool_of(const struct layout *layout, int64_t rank)
{
	return &layout->pool[layout->pools > 1 && rank >= layout->pool[1].first];
}

/* Its engine among those of the pool; -1: it has none and stays idle. */
static int64_t engine_of(const struct layout *layout, int64_t rank)
{
	const struct serve_pool *pool = pool_of(layout, rank);
	int64_t engine = (rank - pool->first) / pool->engine;

	return engine < pool->engines ? engine : -1;
}

/* A rank's number inside its mesh. */
static int64_t local(const struct layout *layout, int64_t rank)
{
	const struct serve_pool *pool;

	if (layout->pools == 0)
		return rank;
	pool = pool_of(layout, rank);
	return (rank - pool->first) % pool->engine;
}

static bool together(const struct layout *layout, int64_t rank, int64_t other)
{
	return layout->pools == 0 ||
	       (pool_of(layout, rank) == pool_of(layout, other) &&
		engine_of(layout, rank) == engine_of(layout, other) &&
		engine_of(layout, rank) >= 0);
}

static void lay_out(const struct explorer *explorer, struct rect rect,
		    struct layout *out)
{
	const struct cluster *cluster = &explorer->scenario.cluster;
	int64_t room = at_least_one((rect.width - MARGIN) / CELL);
	int64_t nodes;

	out->pools = 0;
	if (explorer->scenario.plan.mode == MODE_INFERENCE)
		out->pools = serve_pools(&explorer->scenario, out->pool);
	if (out->pools > 0)
		out->mesh = pool_of(out, chosen(explorer))->mesh;
	else
		mesh_build(&explorer->scenario, &out->mesh);
	out->world = cluster->gpus;
	out->per_node = at_least_one(cluster->gpus_per_node);
	out->domain = at_least_one(cluster_domain(cluster));
	out->shown = rect.height - FOOT - 1;
	/* a column between nodes; nodes that are wider than a line are broken */
	nodes = (rect.width - MARGIN) / (out->per_node * CELL + 1);
	if (nodes < 1)
		out->per_line = out->per_node < room ? out->per_node : room;
	else
		out->per_line =
			out->per_node *
			nodes_in_line((out->world + out->per_node - 1) / out->per_node,
				      nodes, at_least_one(out->shown));
	out->lines = (out->world + out->per_line - 1) / out->per_line;
}

static bool in_use(const struct mesh *mesh, enum dimension dimension)
{
	switch (dimension) {
	case DIM_TP: return mesh->tp > 1;
	case DIM_CP: return mesh->cp > 1;
	case DIM_EP: return mesh->ep > 1;
	case DIM_PP: return mesh->pp > 1;
	default: return mesh->dp * mesh->cp > 1;
	}
}

/* The dimension whose group holds both ranks, -1 if none that is shown does. */
static int lit(const struct layout *layout, int choice, int64_t rank, int64_t other)
{
	if (!together(layout, rank, other))
		return -1;
	rank = local(layout, rank);
	other = local(layout, other);
	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		if (choice >= 0 && (int)order[i] != choice)
			continue;
		if (in_use(&layout->mesh, order[i]) &&
		    mesh_shares_group(&layout->mesh, order[i], rank, other))
			return (int)order[i];
	}
	return -1;
}

/* A letter on its colour: nobody has to tell two colours apart. */
static void draw_mark(struct canvas *canvas, int x, int y, enum role role)
{
	canvas_put(canvas, x, y, (uint32_t)theme_style(role)->fill, role);
	if (canvas->colour)
		canvas_highlight(canvas, (struct rect){ x, y, 1, 1 }, ROLE_DEFAULT,
				 true, false);
}

/* Engines of a server alternate, so that one sees where they end. */
static uint32_t unlit(const struct canvas *canvas, const struct layout *layout,
		      int64_t rank)
{
	if (layout->pools > 0 && engine_of(layout, rank) < 0)
		return '-';
	if (layout->pools > 0 && pool_of(layout, rank) == &layout->pool[1])
		return engine_of(layout, rank) % 2 ? 'f' : 'F';
	if (layout->pools > 0 && engine_of(layout, rank) % 2)
		return canvas_glyph(canvas, GLYPH_BULLET);
	return canvas_glyph(canvas, GLYPH_MIDDOT);
}

static void draw_cell(const struct explorer *explorer, struct canvas *canvas, int x,
		      int y, const struct layout *layout, int64_t rank)
{
	int choice = choices[explorer->state[VIEW_TOPOLOGY].sort % CHOICES];
	int dimension = lit(layout, choice, chosen(explorer), rank);
	enum role role =
		dimension < 0 ? ROLE_FREE : dimension_role((enum dimension)dimension);

	if (rank == chosen(explorer)) {
		canvas_put(canvas, x, y, '@', ROLE_VALUE);
		canvas_highlight(canvas, (struct rect){ x, y, 1, 1 }, ROLE_FOCUS, false,
				 true);
		if (explorer->pane == PANE_VIEW)
			canvas_cursor(canvas, x, y);
		return;
	}
	if (dimension < 0)
		canvas_put(canvas, x, y, unlit(canvas, layout, rank), role);
	else
		draw_mark(canvas, x, y, role);
}

static void draw_line(const struct explorer *explorer, struct canvas *canvas, int x,
		      int y, const struct layout *layout, int64_t first)
{
	canvas_format(canvas, x, y, MARGIN - 1, ROLE_LABEL, "%6lld", (long long)first);
	x += MARGIN;
	for (int64_t i = 0; i < layout->per_line && first + i < layout->world; i++) {
		int64_t rank = first + i;

		if (i > 0 && rank % layout->per_node == 0) {
			canvas_put(canvas, x - 1, y,
				   rank % layout->domain == 0
					   ? canvas_glyph(canvas, GLYPH_VERTICAL)
					   : ' ',
				   ROLE_BORDER);
			x++;
		}
		draw_cell(explorer, canvas, x, y, layout, rank);
		x += CELL;
	}
}

static const struct group *group_of(const struct mesh *mesh, enum dimension dimension)
{
	switch (dimension) {
	case DIM_TP: return &mesh->tp_group;
	case DIM_CP: return &mesh->cp_group;
	case DIM_EP: return &mesh->ep_group;
	case DIM_PP: return &mesh->pp_group;
	default: return &mesh->dense_group;
	}
}

/* "TP  8 ranks, 8 in a domain, NVLink" for each dimension in use. */
static void draw_groups(const struct explorer *explorer, struct canvas *canvas,
			struct rect rect, const struct layout *layout)
{
	const struct link *link = explorer->scenario.cluster.link;
	int choice = choices[explorer->state[VIEW_TOPOLOGY].sort % CHOICES];
	int y = 0;

	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		const struct group *group = group_of(&layout->mesh, order[i]);
		enum role role = dimension_role(order[i]);

		if (!in_use(&layout->mesh, order[i]))
			continue;
		draw_mark(canvas, rect.x, rect.y + y, role);
		canvas_format(canvas, rect.x + 2, rect.y + y, rect.width - 2,
			      choice == (int)order[i] ? ROLE_VALUE : ROLE_LABEL,
			      "%s  %lld ranks, %lld apart, %lld in a domain: %s",
			      dimension_label(order[i]), (long long)group->ranks,
			      (long long)group->stride, (long long)group->per_domain,
			      link[group->link].name);
		y++;
	}
	if (y == 0)
		canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_LABEL,
			    "One rank: it has no group.");
}

/* "engine 1 of 4, " */
static int engine_text(const struct layout *layout, int64_t rank, char *out,
		       size_t size)
{
	const struct serve_pool *pool = pool_of(layout, rank);

	if (engine_of(layout, rank) < 0)
		return snprintf(out, size, "idle, no engine is so small; ");
	return snprintf(out, size, "%sengine %lld of %lld, ",
			pool == &layout->pool[1] ? "prefill " : "",
			(long long)engine_of(layout, rank), (long long)pool->engines);
}

static void draw_rank(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect, const struct layout *layout)
{
	struct coordinates c;
	const struct mesh *m = &layout->mesh;
	int64_t rank = chosen(explorer);
	char text[200];
	int used;

	mesh_coordinates(m, local(layout, rank), &c);
	/* the row of the rank shows its node, too */
	used = snprintf(text, sizeof text, "rank %lld", (long long)rank);
	if (rect.width >= 60)
		used += snprintf(text + used, sizeof text - (size_t)used, ", node %lld",
				 (long long)(rank / layout->per_node));
	used += snprintf(text + used, sizeof text - (size_t)used, ": ");
	if (layout->pools > 0)
		used += engine_text(layout, rank, text + used,
				    sizeof text - (size_t)used);
	used += snprintf(text + used, sizeof text - (size_t)used, "stage %lld of %lld",
			 (long long)c.pp, (long long)m->pp);
	if (m->tp > 1)
		used += snprintf(text + used, sizeof text - (size_t)used, ", TP %lld",
				 (long long)c.tp);
	if (m->cp > 1)
		used += snprintf(text + used, sizeof text - (size_t)used, ", CP %lld",
				 (long long)c.cp);
	if (m->dp > 1)
		used += snprintf(text + used, sizeof text - (size_t)used, ", DP %lld",
				 (long long)c.dp);
	if (m->ep > 1)
		snprintf(text + used, sizeof text - (size_t)used, ", EP %lld",
			 (long long)c.ep);
	canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_VALUE, text);
}

static bool has_mesh(const struct explorer *explorer)
{
	return explorer->estimate.dp > 0 &&
	       (explorer->scenario.plan.mode == MODE_TRAINING ||
		explorer->estimate.legal);
}

void topology_draw(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect)
{
	const struct view_state *state = &explorer->state[VIEW_TOPOLOGY];
	int choice = choices[state->sort % CHOICES];
	struct layout layout;
	int first;
	char domain[32] = "";

	if (!has_mesh(explorer)) {
		draw_problems(explorer, canvas, rect);
		return;
	}
	lay_out(explorer, rect, &layout);
	/* most domains are nodes */
	if (layout.domain != layout.per_node)
		snprintf(domain, sizeof domain, ", %lld a domain",
			 (long long)layout.domain);
	canvas_format(canvas, rect.x, rect.y, rect.width, ROLE_LABEL,
		      "%lld GPU%s, %lld a node%s; lit: %s (S)%s",
		      (long long)layout.world, layout.world == 1 ? "" : "s",
		      (long long)layout.per_node, domain,
		      choice < 0 ? "all" : dimension_label((enum dimension)choice),
		      layout.pools > 1 ? "; F f prefill" : "");
	first = scroll_first(state->first, (int)(chosen(explorer) / layout.per_line),
			     (int)layout.lines, layout.shown);
	for (int i = 0; i < layout.shown && first + i < layout.lines; i++)
		draw_line(explorer, canvas, rect.x, rect.y + 1 + i, &layout,
			  (first + i) * layout.per_line);
	widget_scrollbar(canvas, rect.x + rect.width - 1, rect.y + 1, layout.shown,
			 first, (int)layout.lines);
	rect.y += rect.height - FOOT + 1;
	rect.height = FOOT;
	draw_rank(explorer, canvas, rect, &layout);
	rect.y++;
	draw_groups(explorer, canvas, rect, &layout);
}

/* The rank at a place on the screen, -1 if there is none. */
static int64_t rank_at(const struct explorer *explorer, const struct layout *layout,
		       int x, int y)
{
	struct rect view = explorer->spots->view;
	int64_t line = explorer->state[VIEW_TOPOLOGY].first + y - view.y - 1;
	int64_t at = x - view.x - MARGIN, node = layout->per_node * CELL + 1;
	int64_t rank;

	if (at < 0 || line < 0 || y < view.y + 1 || y > view.y + layout->shown)
		return -1;
	if (layout->per_line % layout->per_node == 0)
		rank = at / node * layout->per_node + at % node / CELL;
	else
		rank = at / CELL;
	if (rank >= layout->per_line)
		return -1;
	rank += line * layout->per_line;
	return rank < layout->world ? rank : -1;
}

unsigned topology_act(struct explorer *explorer, struct action action)
{
	struct view_state *state = &explorer->state[VIEW_TOPOLOGY];
	struct layout layout;
	int64_t rank = chosen(explorer), page;

	if (!has_mesh(explorer))
		return CHANGED_NOTHING;
	lay_out(explorer, explorer->spots->view, &layout);
	page = layout.per_line * (layout.shown > 1 ? layout.shown - 1 : 1);
	switch (action.kind) {
	case ACTION_LEFT: rank -= 1; break;
	case ACTION_RIGHT: rank += 1; break;
	case ACTION_UP: rank -= layout.per_line; break;
	case ACTION_DOWN: rank += layout.per_line; break;
	case ACTION_PAGE_UP: rank -= page; break;
	case ACTION_PAGE_DOWN: rank += page; break;
	case ACTION_HOME: rank = 0; break;
	case ACTION_END: rank = layout.world - 1; break;
	case ACTION_SORT: state->sort = (state->sort + 1) % CHOICES; break;
	case ACTION_CLICK:
		rank = rank_at(explorer, &layout, action.x, action.y);
		if (rank < 0)
			return CHANGED_NOTHING;
		break;
	default: return CHANGED_NOTHING;
	}
	if (rank >= 0 && rank < layout.world)
		state->cursor = (int)rank;
	state->first =
		scroll_first(state->first, (int)(state->cursor / layout.per_line),
			     (int)layout.lines, layout.shown);
	return CHANGED_SCREEN;
}
