/* test_mesh.c - which members of a group sit in one domain, where groups and domains do
 * not divide each other. */
#include "engine/collective/unit.h"
#include "engine/machine/cluster.h"
#include "engine/plan/mesh.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static void begin(struct scenario *s, const char *gpus)
{
	struct error error;

	assert_true(scenario_blank(s, "qwen3-30b-a3b", "gb200-nvl72", "megatron-core",
				   &error));
	case_set(s, "gpus", gpus);
}

/* Racks of 72 give 64 each where the job is a multiple of that and not of 72: NVIDIA's
 * recipes take 128, 256 and 512 of them. */
static void test_what_a_rack_gives(void **state)
{
	static const struct {
		const char *gpus;
		int64_t domain;
	} rows[] = {
		{ "16", 16 },   { "64", 64 },  { "72", 72 },    { "128", 64 },
		{ "144", 72 },  { "256", 64 }, { "576", 72 },   { "136", 68 },
		{ "1024", 64 }, { "100", 72 }, { "10000", 72 },
	};
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		begin(&s, rows[i].gpus);
		assert_int_equal(cluster_domain(&s.cluster), rows[i].domain);
	}
	begin(&s, "128");
	case_set(&s, "nvlink_domain", "8"); /* a single node has none to spare */
	case_set(&s, "gpus_per_node", "8");
	case_set(&s, "gpus", "12");
	assert_int_equal(cluster_domain(&s.cluster), 8);
	/* PaLM's two pods of 4096 chips */
	case_set(&s, "nvlink_domain", "4096");
	case_set(&s, "gpus", "6144");
	s.cluster.torus = true;
	assert_int_equal(cluster_domain(&s.cluster), 3072);
	case_set(&s, "gpus", "4099");
	assert_int_equal(cluster_domain(&s.cluster), 4096);
}

/* 16 ranks on racks of 72: four groups lie in the first, the fifth half in each. */
static void test_groups_across_a_border(void **state)
{
	static const struct {
		const char *gpus, *knob, *ranks;
		int64_t together;
		enum link_level link;
	} rows[] = {
		{ "144", "ep", "8", 8, LINK_DOMAIN },
		{ "144", "ep", "16", 8, LINK_NETWORK },
		{ "144", "ep", "48", 24, LINK_NETWORK },
		{ "72", "ep", "24", 24, LINK_DOMAIN },
		{ "64", "ep", "16", 16, LINK_DOMAIN },
		{ "128", "ep", "64", 64, LINK_DOMAIN }, /* of 64 in each rack */
		{ "576", "ep", "64", 32, LINK_NETWORK },
		{ "576", "ep", "144", 72, LINK_NETWORK },
		{ "144", "tp", "16", 8, LINK_NETWORK },
	};
	struct scenario s;
	struct mesh mesh;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct group *group =
			rows[i].knob[0] == 'e' ? &mesh.ep_group : &mesh.tp_group;

		begin(&s, rows[i].gpus);
		case_set(&s, rows[i].knob, rows[i].ranks);
		mesh_build(&s, &mesh);
		assert_int_equal(group->per_domain, rows[i].together);
		assert_int_equal(group->link, rows[i].link);
	}
}

/* A V100 of a DGX-1 has six lines of 25 GB/s, to four of the seven others: two ranks
 * share one of them, four have three each, eight all; a message takes one. */
static void test_a_dgx1_has_no_switch(void **state)
{
	static const double lines[][2] = { { 2, 1 }, { 4, 3 }, { 8, 6 } };
	struct error error;
	struct scenario s;
	struct fabric fabric;
	struct mesh mesh;
	struct call call;

	(void)state;
	assert_true(scenario_blank(&s, "megatron-3.6b", "dgx-v100", "generic", &error));
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		s.cluster.gpus = 8;
		s.plan.tp = (int64_t)lines[i][0];
		mesh_build(&s, &mesh);
		collective_fabric(&s, NULL, &fabric);
		call_find(&fabric, &mesh.tp_group, COLLECTIVE_ALL_REDUCE, 1e6, 0,
			  &call);
		assert_close(call.spare, 6 / lines[i][1], 1e-12);
		call_find(&fabric, &mesh.tp_group, COLLECTIVE_SEND, 1e6, 0, &call);
		assert_close(call.spare, 6, 1e-12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_a_rack_gives),
		cmocka_unit_test(test_groups_across_a_border),
		cmocka_unit_test(test_a_dgx1_has_no_switch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
