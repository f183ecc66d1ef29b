/* topology.c - ranks on nodes and domains; the groups of one rank lit up. */
#include <stdio.h>
#include <string.h>

#include "tui/views/topology.h"

/* What S chooses: all dimensions at once, or one. */
static const int choices[] = { -1, DIM_TP, DIM_CP, DIM_EP, DIM_DP, DIM_PP };
enum { CHOICES = sizeof choices / sizeof choices[0] };

const enum dimension topology_order[DRAWN_DIMENSIONS] = { DIM_TP, DIM_CP, DIM_EP,
							  DIM_PP, DIM_DP };

int topology_choice(const struct explorer *explorer)
{
	return choices[explorer->state[VIEW_TOPOLOGY].sort % CHOICES];
}

static int64_t at_least_one(int64_t n)
{
	return n < 1 ? 1 : n;
}

int64_t topology_chosen(const struct explorer *explorer)
{
	int64_t rank = explorer->state[VIEW_TOPOLOGY].cursor;

	return rank < explorer->scenario.cluster.gpus ? rank : 0;
}

const struct serve_pool *topology_pool(const struct layout *layout, int64_t rank)
{
	return &layout->pool[layout->pools > 1 && rank >= layout->pool[1].first];
}

int64_t topology_engine(const struct layout *layout, int64_t rank)
{
	const struct serve_pool *pool = topology_pool(layout, rank);
	int64_t engine;

	if (layout->pools == 0)
		return 0; /* all work on one step */
	engine = (rank - pool->first) / pool->engine;
	return engine < pool->engines ? engine : -1;
}

/* What is added to a rank's number inside its mesh. */
static int64_t base_of(const struct layout *layout, int64_t rank)
{
	const struct serve_pool *pool;

	if (layout->pools == 0)
		return 0;
	pool = topology_pool(layout, rank);
	return rank - (rank - pool->first) % pool->engine;
}

int64_t topology_local(const struct layout *layout, int64_t rank)
{
	return rank - base_of(layout, rank);
}

bool topology_is_mirrored(const struct layout *layout, const struct group *group)
{
	return layout->mesh.copies == 2 && group == &layout->mesh.dense_group;
}

/* The stage that holds the same weights lies so many ranks further on. */
static int64_t to_mirror(const struct layout *layout, int64_t rank)
{
	struct coordinates at;

	mesh_coordinates(&layout->mesh, topology_local(layout, rank), &at);
	return (layout->mesh.pp - 1 - 2 * at.pp) * layout->mesh.pp_group.stride;
}

/* Members of a group in one stage. */
static int64_t members(const struct layout *layout, const struct group *group)
{
	int64_t all = at_least_one(group->ranks);

	return topology_is_mirrored(layout, group) ? at_least_one(all / 2) : all;
}

int64_t topology_place(const struct layout *layout, const struct group *group,
		       int64_t rank)
{
	int64_t count = members(layout, group);
	int64_t place =
		topology_local(layout, rank) / at_least_one(group->stride) % count;
	bool second =
		topology_is_mirrored(layout, group) && to_mirror(layout, rank) < 0;

	return second ? count + place : place;
}

int64_t topology_member(const struct layout *layout, const struct group *group,
			int64_t rank, int64_t n)
{
	int64_t count = members(layout, group);
	int64_t place = topology_place(layout, group, rank);

	if (topology_is_mirrored(layout, group) && (n >= count) != (place >= count))
		rank += to_mirror(layout, rank);
	return rank + (n % count - place % count) * group->stride;
}

bool topology_in_use(const struct mesh *mesh, enum dimension dimension)
{
	switch (dimension) {
	case DIM_TP: return mesh->tp > 1;
	case DIM_CP: return mesh->cp > 1;
	case DIM_EP: return mesh->ep > 1;
	case DIM_PP: return mesh->pp > 1;
	default: return mesh->dp * mesh->cp > 1;
	}
}

const struct group *topology_group(const struct mesh *mesh, enum dimension dimension)
{
	switch (dimension) {
	case DIM_TP: return &mesh->tp_group;
	case DIM_CP: return &mesh->cp_group;
	case DIM_EP: return &mesh->ep_group;
	case DIM_PP: return &mesh->pp_group;
	default: return &mesh->dense_group;
	}
}

/* Rows of the rings at the foot. */
static int topology_foot(const struct layout *layout)
{
	int used = 0;

	for (int i = 0; i < DRAWN_DIMENSIONS; i++)
		used += topology_in_use(&layout->mesh, topology_order[i]);
	return 1 + (used > 0 ? 2 * used : 1);
}

/* Ranks beside each other in a box: a row of those that stand close. */
static int ranks_across(int64_t unit, int cell)
{
	int across = unit <= 16 ? 4 : 12;

	if (cell == 1)
		across *= 2;
	return unit < across ? (int)unit : across;
}

/* Boxes of ranks that are so many columns wide. */
static void set_cell(struct layout *out, struct rect rect, int cell)
{
	int frame = cell == 1 ? 3 : 4, most = (rect.width - frame) / cell;

	out->cell = cell;
	out->columns = ranks_across(out->unit, cell);
	/* all of a box has room in the height, if need be in longer rows */
	if (rect.height > 2 && out->unit > (int64_t)out->columns * (rect.height - 2))
		out->columns = (int)((out->unit + rect.height - 3) / (rect.height - 2));
	if (out->columns > most)
		out->columns = most < 1 ? 1 : most;
	out->rows = (int)((out->unit + out->columns - 1) / out->columns);
	out->width = out->columns * cell + frame;
	out->height = out->rows + 2;
	if (out->height > rect.height && rect.height > 3) {
		out->height = rect.height;
		out->rows = rect.height - 2;
	}
	out->across = (int)at_least_one(rect.width / out->width);
	out->shown = (int)at_least_one(rect.height / out->height);
}

static bool have_room(const struct layout *layout)
{
	return layout->units <= (int64_t)layout->across * layout->shown &&
	       layout->unit <= (int64_t)layout->columns * layout->rows;
}

/* Numbers beside the ranks where they have room. Of many nodes the ranks stand close,
 * in so many lines at most: more of them show no more than a count does, and are a
 * thousand bytes over a slow line each time that groups change. */
static void set_cells(struct layout *out, struct rect rect, int most)
{
	enum { MANY = 128, CLOSE = 8 };

	set_cell(out, rect, 8);
	if (have_room(out))
		return;
	set_cell(out, rect, 2);
	if (out->world <= MANY)
		return;
	if (out->unit >= CLOSE)
		set_cell(out, rect, 1);
	if (out->shown > most && most > 0)
		out->shown = most;
}

static void add_unit(struct layout *out, int64_t unit)
{
	int at = out->folded;

	if (unit < 0 || unit >= out->units || out->folded == MOST_FOLDED / 2)
		return;
	for (int i = 0; i < out->folded; i++)
		if (out->fold[i] == unit)
			return;
	for (; at > 0 && out->fold[at - 1] > unit; at--)
		out->fold[at] = out->fold[at - 1];
	out->fold[at] = unit;
	out->folded++;
}

/* A gap between any two that are not neighbours. */
static void add_gaps(struct layout *out)
{
	int64_t units[MOST_FOLDED / 2];
	int count = out->folded;

	memcpy(units, out->fold, (size_t)count * sizeof units[0]);
	out->folded = 0;
	for (int i = 0; i < count; i++) {
		if (i > 0 && units[i] > units[i - 1] + 1)
			out->fold[out->folded++] = -1;
		out->fold[out->folded++] = units[i];
	}
}

/* The box of a member of the rank's group so many boxes away, in one direction. */
static void add_member(struct layout *out, const struct group *g, int64_t rank,
		       int64_t away)
{
	int64_t step = at_least_one(out->unit / at_least_one(g->stride));
	int64_t n = topology_place(out, g, rank) + away * step;

	if (n < 0 || n >= g->ranks)
		return;
	n = topology_member(out, g, rank, n) / out->unit;
	/* what goes on behind the block is alike: there is a gap, never a box */
	if (n == out->behind)
		out->behind++;
	else
		add_unit(out, n);
}

/* One more box may take a gap on both sides. */
static bool is_full(const struct layout *out)
{
	int gaps = 0;

	for (int i = 1; i < out->folded; i++)
		gaps += out->fold[i] > out->fold[i - 1] + 1;
	return out->folded + gaps + 2 > out->across * out->shown ||
	       out->folded == MOST_FOLDED / 2;
}

/* Boxes in a row around that of the rank, from the first on where it is near: whole
 * lines, so that they stay where they are whatever follows. */
static void add_block(struct layout *out, int64_t at, int lines)
{
	int64_t count = (int64_t)out->across * lines, from = at - count / 2;

	if (from + count > out->units)
		from = out->units - count;
	from = from < 0 ? 0 : from;
	for (int64_t n = 0; n < count; n++)
		add_unit(out, from + n);
	out->behind = from + count;
}

/* The boxes around the chosen rank, of its neighbours in each group, and the ends, as
 * far as there is room; false: not all of them have some. */
static bool fold_around(struct layout *out, int64_t rank, int lines)
{
	out->folded = 0;
	add_unit(out, rank / out->unit);
	add_unit(out, 0);
	add_unit(out, out->units - 1);
	add_block(out, rank / out->unit, lines);
	for (int64_t away = 1; away < 64; away++)
		for (int i = 0; i < 2 * DRAWN_DIMENSIONS; i++) {
			enum dimension d = topology_order[i / 2];

			if (is_full(out))
				return false;
			if (topology_in_use(&out->mesh, d))
				add_member(out, topology_group(&out->mesh, d), rank,
					   i % 2 ? -away : away);
		}
	return true;
}

/* Near half of the lines are those around the rank, one more or less does not change
 * that; more where the others have no need of them. */
static void fold(const struct explorer *explorer, struct layout *out)
{
	int64_t rank = topology_chosen(explorer);
	int lines = out->shown - 1, least = lines / 2 > 1 ? lines / 2 : 1;

	while (!fold_around(out, rank, lines) && lines > least)
		lines--;
	add_gaps(out);
}

void topology_lay_out(const struct explorer *explorer, struct rect rect,
		      struct layout *out)
{
	const struct cluster *cluster = &explorer->scenario.cluster;
	struct rect map = rect;

	memset(out, 0, sizeof *out);
	if (explorer->scenario.plan.mode == MODE_INFERENCE)
		out->pools = serve_pools(&explorer->scenario, out->pool);
	if (out->pools > 0)
		out->mesh = topology_pool(out, topology_chosen(explorer))->mesh;
	else
		mesh_build(&explorer->scenario, &out->mesh);
	out->world = cluster->gpus;
	out->per_node = at_least_one(cluster->gpus_per_node);
	out->domain = at_least_one(cluster_domain(cluster));
	out->unit = out->domain > out->per_node ? out->domain : out->per_node;
	if (out->unit > 144)
		out->unit = out->per_node; /* a torus is no box */
	if (out->unit > out->world)
		out->unit = out->world;
	out->units = (out->world + out->unit - 1) / out->unit;
	map.height = rect.height - 1 - topology_foot(out);
	map.width--;
	set_cells(out, map, 3 + rect.height / 80);
	if (!have_room(out))
		fold(explorer, out);
}

/* "engine 1 of 4, " */
static int engine_text(const struct layout *layout, int64_t rank, char *out,
		       size_t size)
{
	const struct serve_pool *pool = topology_pool(layout, rank);

	if (topology_engine(layout, rank) < 0)
		return snprintf(out, size, "idle, no engine is so small; ");
	return snprintf(out, size, "%sengine %lld of %lld, ",
			pool == &layout->pool[1] ? "prefill " : "",
			(long long)topology_engine(layout, rank),
			(long long)pool->engines);
}

static void draw_rank(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect, const struct layout *layout)
{
	struct coordinates c;
	const struct mesh *m = &layout->mesh;
	int64_t rank = topology_chosen(explorer);
	char text[200];
	int used;

	mesh_coordinates(m, topology_local(layout, rank), &c);
	/* the row of the rank shows its node, too */
	used = snprintf(text, sizeof text, "rank %lld", (long long)rank);
	if (rect.width >= 60)
		used += snprintf(text + used, sizeof text - (size_t)used, ", node %lld",
				 (long long)(rank / layout->per_node));
	used += snprintf(text + used, sizeof text - (size_t)used, ": ");
	if (layout->pools > 0)
		used += engine_text(layout, rank, text + used,
				    sizeof text - (size_t)used);
	if (layout->pools > 0 && rect.width < 60 && m->pp == 1)
		used -= 2; /* one stage is none to tell of */
	else
		used += snprintf(text + used, sizeof text - (size_t)used,
				 "stage %lld of %lld", (long long)c.pp,
				 (long long)m->pp);
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
	return explorer->estimate.dp > 0 && explorer->estimate.legal;
}

static struct rect map_rect(struct rect view)
{
	return (struct rect){ view.x, view.y + 1, view.width, view.height - 1 };
}

static void draw_head(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect, const struct layout *layout)
{
	const struct link *link = explorer->scenario.cluster.link;
	int choice = topology_choice(explorer);
	const char *shown =
		choice < 0 ? "all" : dimension_label((enum dimension)choice);
	char domain[48] = "", between[64] = "", text[512];

	if (layout->units > 1)
		snprintf(between, sizeof between, "%s", link[LINK_NETWORK].name);
	/* most domains are nodes */
	if (!topology_has_nodes(layout) && layout->world > 1)
		snprintf(domain, sizeof domain, ", %lld per domain",
			 (long long)layout->domain);
	snprintf(text, sizeof text,
		 "%lld GPU%s, %lld per node%s; lit: %s (S)%s; in a box %s%s%s",
		 (long long)layout->world, layout->world == 1 ? "" : "s",
		 (long long)layout->per_node, domain, shown,
		 layout->pools > 1 ? "; F f prefill" : "", link[LINK_DOMAIN].name,
		 between[0] ? ", between boxes " : "", between);
	/* the title has the counts too, but of domains */
	if (text_width(text) > rect.width)
		snprintf(text, sizeof text,
			 "%s%lld per node%s; lit: %s (S)%s; in a box %s%s%s",
			 layout->world == 1 ? "1 GPU, " : "",
			 (long long)layout->per_node, domain, shown,
			 layout->pools > 1 ? "; F f prefill" : "",
			 link[LINK_DOMAIN].name, between[0] ? ", between " : "",
			 between);
	if (text_width(text) > rect.width)
		snprintf(text, sizeof text, "lit: %s (S)%s; in a box %s%s%s", shown,
			 layout->pools > 1 ? "; F f prefill" : "",
			 link[LINK_DOMAIN].name, between[0] ? ", between " : "",
			 between);
	if (text_width(text) > rect.width)
		snprintf(text, sizeof text, "S: %s; in a box %s%s%s", shown,
			 link[LINK_DOMAIN].name, between[0] ? ", between " : "",
			 between);
	canvas_phrase(canvas, rect.x, rect.y, rect.width, ROLE_LABEL, text);
}

void topology_draw(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect)
{
	struct layout layout;
	struct rect foot = rect;
	int rows;

	if (!has_mesh(explorer)) {
		draw_problems(explorer, canvas, rect);
		return;
	}
	topology_lay_out(explorer, rect, &layout);
	draw_head(explorer, canvas, rect, &layout);
	topology_map(explorer, canvas, map_rect(rect), &layout);
	rows = (int)((layout.folded > 0 ? layout.folded : layout.units) +
		     layout.across - 1) /
	       layout.across;
	rows = rows < layout.shown ? rows : layout.shown;
	foot.y += 1 + rows * layout.height;
	foot.height = rect.y + rect.height - foot.y;
	draw_rank(explorer, canvas, foot, &layout);
	foot.y++;
	foot.height--;
	topology_rings(explorer, canvas, foot, &layout);
}

unsigned topology_act(struct explorer *explorer, struct action action)
{
	struct view_state *state = &explorer->state[VIEW_TOPOLOGY];
	struct layout layout;
	int64_t rank = topology_chosen(explorer);

	if (!has_mesh(explorer))
		return CHANGED_NOTHING;
	topology_lay_out(explorer, explorer->spots->view, &layout);
	switch (action.kind) {
	case ACTION_LEFT: rank -= 1; break;
	case ACTION_RIGHT: rank += 1; break;
	case ACTION_UP: rank -= layout.columns; break;
	case ACTION_DOWN: rank += layout.columns; break;
	case ACTION_PAGE_UP: rank -= layout.unit; break;
	case ACTION_PAGE_DOWN: rank += layout.unit; break;
	case ACTION_HOME: rank = 0; break;
	case ACTION_END: rank = layout.world - 1; break;
	case ACTION_SORT: state->sort = (state->sort + 1) % CHOICES; break;
	case ACTION_CLICK:
		rank = topology_rank_at(explorer, map_rect(explorer->spots->view),
					&layout, action.x, action.y);
		if (rank < 0)
			return CHANGED_NOTHING;
		break;
	default: return CHANGED_NOTHING;
	}
	if (rank >= 0 && rank < layout.world)
		state->cursor = (int)rank;
	return CHANGED_SCREEN;
}
