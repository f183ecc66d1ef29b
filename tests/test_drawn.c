/* test_drawn.c - a layer as boxes and arrows, and the machine as boxes and rings: all
 * of it is there, and it is what the engine says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/train/train.h"
#include "presets/library.h"
#include "tests/support/close.h"
#include "tests/support/stage.h"
#include "tui/views/graph.h"
#include "tui/views/topology.h"

/* Walks from box to box; every operator's name is seen on the way. */
static void check_layer(struct stage *s, const struct graph *graph)
{
	stage_type(s, "g");
	for (int i = 0; i < graph->count; i++) {
		char name[18];

		if (graph->item[i].kind == OPERATOR_COLLECTIVE) {
			snprintf(name, sizeof name, "%s ",
				 dimension_label(graph->item[i].dimension));
		} else {
			snprintf(name, sizeof name, "|%.15s", graph->item[i].name);
			while (s->explorer.state[VIEW_GRAPH].cursor < i)
				stage_type(s, "j");
		}
		stage_shows(s, name);
	}
	assert_true(s->canvas.cursor_x > 0);
}

static void test_every_operator_is_a_box(void **state)
{
	static const char *const plans[] = { "llama3-70b-64-h100",
					     "deepseek-v3-2048-h800",
					     "nemotron-h-56b-6144-h100",
					     "palm-540b-6144-tpuv4" };

	(void)state;
	for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
		struct stage s;
		struct graph graph;
		int parts;

		stage_open(&s, plans[i], i % 2 ? 80 : 120, i % 2 ? 24 : 36);
		parts = s.explorer.scenario.model.kinds + 2;
		stage_type(&s, "5\tS");
		for (int part = 0; part < parts; part++) {
			train_graph(&s.explorer.scenario, part, &graph);
			check_layer(&s, &graph);
			stage_type(&s, "l");
		}
		stage_close(&s);
	}
}

/* The members that a ring names are those that share the group: with DualPipe half of
 * them are in the stage that holds the same weights. */
static void check_members(const struct layout *layout, enum dimension d, int64_t rank)
{
	const struct group *group = topology_group(&layout->mesh, d);
	int64_t last = -1;

	assert_int_equal(topology_member(layout, group, rank,
					 topology_place(layout, group, rank)),
			 rank);
	for (int64_t n = 0; n < group->ranks; n++) {
		int64_t member = topology_member(layout, group, rank, n);

		assert_true(member > last && member < layout->mesh.world);
		assert_true(mesh_shares_group(&layout->mesh, d, rank, member));
		assert_int_equal(topology_place(layout, group, member), n);
		last = member;
	}
}

static void test_rings_name_the_ranks_that_are_lit(void **state)
{
	static const char *const plans[] = { "llama3-70b-64-h100",
					     "deepseek-v3-2048-h800" };
	static const enum dimension drawn[] = { DIM_TP, DIM_EP, DIM_PP, DIM_DP };
	static struct layout layout;

	(void)state;
	for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
		struct stage s;

		stage_open(&s, plans[i], 120, 36);
		mesh_build(&s.explorer.scenario, &layout.mesh);
		for (size_t k = 0; k < sizeof drawn / sizeof drawn[0]; k++)
			for (int64_t rank = 0; rank < layout.mesh.world; rank += 13)
				if (topology_in_use(&layout.mesh, drawn[k]))
					check_members(&layout, drawn[k], rank);
		stage_close(&s);
	}
	struct stage s;
	stage_open(&s, "deepseek-v3-2048-h800", 120, 36);
	stage_type(&s, "6");
	stage_shows(&s, "2 x 128 ranks, 8 per node");
	stage_shows(&s, " more 2047-+");
	stage_close(&s);
}

static void test_experts_take_two_ways(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "deepseek-v3-2048-h800", 120, 72);
	stage_type(&s, "5\tSl");
	stage_shows(&s, "the routed experts");
	stage_shows(&s, "and beside them the shared one");
	stage_shows(&s, "both ways added up");
	stage_shows(&s, "4 experts");
	stage_shows(&s, "EP all-to-all");
	stage_shows(&s, "computed again"); /* selective */
	stage_close(&s);
}

/* What is recomputed as a whole saves nothing inside. */
static void test_recomputation_is_seen(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 60);
	stage_type(&s, "5\tS");
	stage_shows(&s, "saves 224 MiB");
	stage_lacks(&s, "computed again");
	stage_type(&s, "\t/recompute\n=full\n\t");
	stage_shows(&s, "computed again");
	stage_lacks(&s, "saves 224 MiB");
	stage_close(&s);
}

static void test_boxes_are_clicked(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "5\tS");
	for (int y = 5; y < 36; y++) /* below the title */
		for (int x = 34; x < 120; x++) {
			struct action click = { .kind = ACTION_CLICK, .x = x, .y = y };
			char text[8] = "";

			for (int i = 0; i < 7 && x + i < 120; i++)
				text[i] = (char)s.canvas.cell[y * 120 + x + i].code;
			if (strcmp(text, "attenti") != 0)
				continue;
			stage_act(&s, click);
			free(stage_text(&s));
			assert_int_equal(s.canvas.cursor_x, x);
			assert_int_equal(s.canvas.cursor_y, y);
			stage_close(&s);
			return;
		}
	fail_msg("attention is no box");
}

/* The n-th member of a ring shares its group, by the engine's own word. */
static void test_rings_are_groups(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list);

	(void)state;
	for (int i = 0; i < count; i++) {
		struct stage s;
		struct layout layout;
		int64_t world;

		stage_open(&s, list[i].name, 120, 36);
		if (!s.explorer.estimate.legal) {
			stage_close(&s);
			continue;
		}
		world = s.explorer.scenario.cluster.gpus;
		for (int at = 0; at < 4; at++) {
			int64_t rank = at * (world - 1) / 3;

			s.explorer.state[VIEW_TOPOLOGY].cursor = (int)rank;
			topology_lay_out(&s.explorer, (struct rect){ 36, 3, 83, 31 },
					 &layout);
			if (layout.pools > 0 && topology_engine(&layout, rank) < 0)
				continue;
			for (int d = 0; d < DRAWN_DIMENSIONS; d++) {
				const struct group *g =
					topology_group(&layout.mesh, topology_order[d]);
				int64_t local = topology_local(&layout, rank);

				/* two copies of each stage are no ring of one
				 * stride */
				if (!topology_in_use(&layout.mesh, topology_order[d]) ||
				    layout.mesh.copies > 1)
					continue;
				assert_int_equal(
					topology_member(
						&layout, g, rank,
						topology_place(&layout, g, rank)),
					rank);
				for (int64_t n = 0; n < g->ranks; n++) {
					int64_t other =
						topology_member(&layout, g, rank, n);

					assert_true(other >= 0 && other < world);
					if (!mesh_shares_group(
						    &layout.mesh, topology_order[d],
						    local,
						    topology_local(&layout, other)))
						fail_msg("%s: %lld and %lld share no "
							 "%s",
							 list[i].name, (long long)rank,
							 (long long)other,
							 dimension_label(
								 topology_order[d]));
				}
			}
		}
		stage_close(&s);
	}
}

/* Boxes and what is counted between them are the whole machine, whatever its size. */
static void test_no_node_is_lost(void **state)
{
	static const int sizes[][2] = { { 80, 24 }, { 120, 36 }, { 200, 60 } };

	(void)state;
	for (int size = 0; size < 3; size++) {
		struct stage s;
		struct layout layout;
		int64_t last = -1, counted = 0;

		stage_open(&s, "llama3-405b-16k-h100", sizes[size][0], sizes[size][1]);
		stage_type(&s, "6");
		topology_lay_out(&s.explorer, s.explorer.spots->view, &layout);
		assert_int_equal(layout.units, 2048);
		assert_true(layout.folded > 2);
		for (int i = 0; i < layout.folded; i++) {
			if (layout.fold[i] < 0) {
				assert_true(i + 1 < layout.folded);
				counted += layout.fold[i + 1] - last - 1;
				continue;
			}
			assert_true(layout.fold[i] > last);
			last = layout.fold[i];
			counted++;
		}
		assert_int_equal(counted, 2048);
		assert_true(layout.folded <= layout.across * layout.shown);
		stage_shows(&s, " alike");
		stage_close(&s);
	}
}

/* Any rank can be stood on, and is seen. */
static void test_ranks_are_walked_and_clicked(void **state)
{
	static const char *const plans[] = { "llama3-405b-16k-h100",
					     "llama3-70b-64-gb200",
					     "deepseek-v3-352-h800-serve", NULL };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct stage s;
		struct action click = { .kind = ACTION_CLICK };

		stage_open(&s, plans[i], i % 2 ? 80 : 120, i % 2 ? 24 : 36);
		stage_type(&s, "6\tG");
		assert_int_equal(s.explorer.state[VIEW_TOPOLOGY].cursor,
				 s.explorer.scenario.cluster.gpus - 1);
		assert_true(s.canvas.cursor_x > 0);
		stage_type(&s, "g");
		for (int step = 0; step < 70; step++) {
			int cursor = s.explorer.state[VIEW_TOPOLOGY].cursor;

			free(stage_text(&s));
			assert_true(s.canvas.cursor_x > 0);
			click.x = s.canvas.cursor_x;
			click.y = s.canvas.cursor_y;
			stage_type(&s, step % 3 ? "l" : "j");
			/* back to where it was, by its place; folding moves it */
			if (i == 3) {
				stage_act(&s, click);
				assert_int_equal(s.explorer.state[VIEW_TOPOLOGY].cursor,
						 cursor);
				stage_type(&s, step % 3 ? "l" : "j");
			}
		}
		stage_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_operator_is_a_box),
		cmocka_unit_test(test_rings_name_the_ranks_that_are_lit),
		cmocka_unit_test(test_experts_take_two_ways),
		cmocka_unit_test(test_recomputation_is_seen),
		cmocka_unit_test(test_boxes_are_clicked),
		cmocka_unit_test(test_rings_are_groups),
		cmocka_unit_test(test_no_node_is_lost),
		cmocka_unit_test(test_ranks_are_walked_and_clicked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
