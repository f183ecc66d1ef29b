/* topology.h - what the view Topology draws from, for its two files. */
#ifndef TUI_VIEWS_TOPOLOGY_H
#define TUI_VIEWS_TOPOLOGY_H

#include "engine/plan/mesh.h"
#include "engine/serve/serve.h"
#include "tui/view.h"

/* The nearer a dimension, the sooner its colour wins where groups overlap. */
enum { DRAWN_DIMENSIONS = 5 };
extern const enum dimension topology_order[DRAWN_DIMENSIONS];

/* Boxes stand for what the fast links join, a node or a domain of several. */
enum { MOST_FOLDED = 96 };
struct layout {
	struct mesh mesh; /* of the chosen rank's engine in mode inference */
	int pools;        /* of a server; 0 in training */
	struct serve_pool pool[2];
	int64_t world, per_node, domain;
	int64_t unit, units; /* ranks of a box, and boxes in all */
	int columns, rows;   /* of ranks in a box */
	int cell;            /* columns of a rank */
	int width, height;   /* of a box with its frame and the link behind it */
	int across, shown;   /* boxes in a line, and lines of boxes on the screen */
	/* Where not all have room: those that matter, in order, -1 for those that are
	 * left out between them; 0: all are there. */
	int folded;
	int64_t fold[MOST_FOLDED];
	int64_t behind; /* the first unit behind those in a row around the rank's */
};
/* Whether the fast domains are nodes, or all that a small job has of one. */
bool topology_has_nodes(const struct layout *layout);

void topology_lay_out(const struct explorer *explorer, struct rect rect,
		      struct layout *out);
int64_t topology_chosen(const struct explorer *explorer);
bool topology_in_use(const struct mesh *mesh, enum dimension dimension);
const struct group *topology_group(const struct mesh *mesh, enum dimension dimension);
/* A rank's number inside its mesh; its engine, -1 if it has none. */
int64_t topology_local(const struct layout *layout, int64_t rank);
int64_t topology_engine(const struct layout *layout, int64_t rank);
const struct serve_pool *topology_pool(const struct layout *layout, int64_t rank);
/* The n-th member of a rank's group, or where the rank stands in it. */
int64_t topology_member(const struct layout *layout, const struct group *group,
			int64_t rank, int64_t n);
int64_t topology_place(const struct layout *layout, const struct group *group,
		       int64_t rank);
/* Half of the members are in the stage that holds the same weights (DualPipe). */
bool topology_is_mirrored(const struct layout *layout, const struct group *group);

/* --- views/topology_map.c --- */

/* The boxes, scrolled to that of the chosen rank. */
void topology_map(const struct explorer *explorer, struct canvas *canvas,
		  struct rect rect, const struct layout *layout);
/* The rank at a place of a map drawn like that, -1: none. */
int64_t topology_rank_at(const struct explorer *explorer, struct rect rect,
			 const struct layout *layout, int x, int y);
/* Groups of the chosen rank as rings, with their bytes at scale. */
void topology_rings(const struct explorer *explorer, struct canvas *canvas,
		    struct rect rect, const struct layout *layout);
/* What S chooses: a dimension, -1 for all. */
int topology_choice(const struct explorer *explorer);

#endif
