/* test_collective_choice.c - who may run which algorithm, what of a call leaves the
 * domain, and the protocols of the network: counted by hand. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/collective/seconds.h"
#include "presets/library.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static struct cluster cluster;

/* 2 us and 400 GB/s inside, 5 us and 50 GB/s between domains, without protocols. */
static void make_cluster(void)
{
	memset(&cluster, 0, sizeof cluster);
	cluster.gpus = 4096;
	cluster.link[LINK_DOMAIN] = (struct link){ .span = 4096,
						   .bytes_per_second = 400e9,
						   .efficiency = 1,
						   .latency_seconds = 2e-6 };
	cluster.link[LINK_NETWORK] = (struct link){ .bytes_per_second = 50e9,
						    .efficiency = 1,
						    .latency_seconds = 5e-6 };
	cluster.link[LINK_UPPER].oversubscription = 1;
}

static struct group members(int64_t ranks, int64_t per_domain)
{
	return (struct group){ .ranks = ranks,
			       .stride = 1,
			       .per_domain = per_domain,
			       .per_node = per_domain,
			       .link = per_domain < ranks ? LINK_NETWORK : LINK_DOMAIN,
			       .beside = 1 };
}

static struct fabric carrier(void)
{
	return (struct fabric){ .cluster = &cluster,
				.start_steps = 6,
				.network_share = 1,
				.domain_share = 1 };
}

/* The column of units.h: NCCL's everywhere, a server's kernels beside them, those of a
 * torus there alone, and the rest where a plan pins them. */
static void test_each_library_offers_its_own(void **state)
{
	static const struct {
		enum algorithm algorithm;
		bool nccl, vllm, tensorrt, torus;
	} rows[] = {
		{ ALGORITHM_RING, true, true, true, false },
		{ ALGORITHM_TREE, true, true, true, false },
		{ ALGORITHM_NVLS, true, true, true, false },
		{ ALGORITHM_SHARP, true, true, true, false },
		{ ALGORITHM_DIRECT, true, true, true, false },
		{ ALGORITHM_DISPATCH, true, true, true, true },
		{ ALGORITHM_SEND, true, true, true, true },
		{ ALGORITHM_TORUS, false, false, false, true },
		{ ALGORITHM_HIERARCHICAL, false, false, false, false },
		{ ALGORITHM_DOUBLING, false, false, false, false },
		{ ALGORITHM_BRUCK, false, false, false, false },
		{ ALGORITHM_PAIRWISE, false, false, false, false },
		{ ALGORITHM_BINOMIAL, false, false, false, false },
	};
	struct fabric fabric = carrier();
	struct group group = members(8, 8);
	const double bytes = 65536;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		enum algorithm a = rows[i].algorithm;

		fabric.kernels = 0;
		assert_int_equal(collective_offers(&fabric, &group, bytes, a),
				 rows[i].nccl);
		fabric.kernels = REDUCES_VLLM;
		assert_int_equal(collective_offers(&fabric, &group, bytes, a),
				 rows[i].vllm);
		fabric.kernels = REDUCES_TENSORRT;
		assert_int_equal(collective_offers(&fabric, &group, bytes, a),
				 rows[i].tensorrt);
		cluster.torus = true;
		fabric.kernels = 0;
		assert_int_equal(collective_offers(&fabric, &group, bytes, a),
				 rows[i].torus);
		cluster.torus = false;
	}
	assert_false(collective_offers(&fabric, &group, bytes, ALGORITHM_AUTO));
	assert_false(collective_offers(&fabric, &group, bytes, ALGORITHM_COUNT));
	fabric.kernels = 0;
	assert_false(collective_offers(&fabric, &group, bytes, ALGORITHM_ONE_SHOT));
	assert_false(collective_offers(&fabric, &group, bytes, ALGORITHM_LAMPORT));
	fabric.kernels = REDUCES_VLLM;
	assert_true(collective_offers(&fabric, &group, bytes, ALGORITHM_ONE_SHOT));
	assert_false(collective_offers(&fabric, &group, bytes, ALGORITHM_LAMPORT));
	fabric.kernels = REDUCES_TENSORRT;
	assert_true(collective_offers(&fabric, &group, bytes, ALGORITHM_LAMPORT));
	assert_false(collective_offers(&fabric, &group, bytes, ALGORITHM_ONE_SHOT));
}

/* Of 16 ranks in domains of 4 an all-to-all keeps 3 of 15 pieces in the domain; the
 * rest leaves it. Said of each call, kept or not, whatever its size. */
static void test_what_leaves_the_domain(void **state)
{
	static struct collective_choices kept;
	struct fabric fabric = carrier();
	struct group group = members(16, 4), inside = members(8, 8);
	struct collective out;

	(void)state;
	for (int pass = 0; pass < 2; pass++) {
		fabric.choices = pass ? &kept : NULL;
		for (double bytes = 1 << 20; bytes <= 1 << 24; bytes *= 4) {
			collective_cost(&fabric, &group, COLLECTIVE_ALL_TO_ALL, bytes,
					&out);
			assert_close(out.remote_bytes, bytes * 12 / 16, 1e-12);
			assert_close(out.call_bytes, bytes, 0);
			assert_close(out.sent_bytes, bytes * 15 / 16, 1e-12);
			assert_close(out.network_bytes, bytes * 12 / 16, 1e-12);
			collective_cost(&fabric, &group, COLLECTIVE_ALL_REDUCE, bytes,
					&out);
			assert_true(out.remote_bytes == 0);
			collective_cost(&fabric, &inside, COLLECTIVE_ALL_TO_ALL, bytes,
					&out);
			assert_true(out.remote_bytes == 0 && out.network_bytes == 0);
			assert_close(out.sent_bytes, bytes * 7 / 8, 1e-12);
			collective_dispatch(&fabric, &group, EXCHANGE_PLAIN, bytes,
					    bytes / 2, &out);
			assert_close(out.remote_bytes, bytes / 2, 1e-12);
		}
	}
}

/* Two-shot is for large calls, and quicker than one-shot for a small one where links
 * are slow: a bound on any size takes it, though a call was priced before by the rule.
 */
static void test_any_size_forgets_the_rule(void **state)
{
	static struct collective_choices kept;
	struct group group = members(8, 8);
	struct fabric fabric = carrier();
	double bytes = 128 << 10;
	struct collective ruled, any;

	(void)state;
	cluster.link[LINK_DOMAIN].bytes_per_second = 1e9;
	fabric.kernels = REDUCES_VLLM;
	fabric.choices = &kept;
	collective_cost(&fabric, &group, COLLECTIVE_ALL_REDUCE, bytes, &ruled);
	assert_int_not_equal(ruled.algorithm, ALGORITHM_TWO_SHOT);
	collective_of_any_size(&fabric);
	collective_cost(&fabric, &group, COLLECTIVE_ALL_REDUCE, bytes, &any);
	assert_int_equal(any.algorithm, ALGORITHM_TWO_SHOT);
	assert_true(any.seconds < ruled.seconds);
	make_cluster();
}

static bool runs(const struct fabric *fabric, int64_t ranks, int64_t per_domain,
		 enum collective_kind kind, enum algorithm algorithm,
		 struct collective *out)
{
	struct group group = members(ranks, per_domain);
	struct message message = { kind, 1 << 20,
				   collective_remote_bytes(&group, 1 << 20) };

	return collective_by(fabric, &group, &message, algorithm, out);
}

/* Rails need two domains with two members each, and no more. */
static void test_where_rails_run(void **state)
{
	struct fabric fabric = carrier();
	struct collective out;

	(void)state;
	assert_true(runs(&fabric, 4, 2, COLLECTIVE_ALL_REDUCE, ALGORITHM_HIERARCHICAL,
			 &out));
	/* 2 (g - 1) hops inside, 2 (N - 1) between; 2 (g - 1) / g n inside and then
	 * 2 (N - 1) / N n / g between; the start of what nobody measured is six hops */
	assert_close(out.seconds,
		     6 * 2e-6 + 2 * 2e-6 + 2 * 5e-6 + (1 << 20) / 400e9 +
			     (1 << 20) / 2 / 50e9,
		     1e-12);
	assert_true(runs(&fabric, 4, 2, COLLECTIVE_ALL_GATHER, ALGORITHM_HIERARCHICAL,
			 &out));
	assert_close(out.seconds,
		     6 * 2e-6 + 2e-6 + 5e-6 + (1 << 20) / 2 / 400e9 +
			     (1 << 20) / 4 / 50e9,
		     1e-12);
	assert_true(runs(&fabric, 6, 2, COLLECTIVE_ALL_REDUCE, ALGORITHM_HIERARCHICAL,
			 &out));
	assert_false(runs(&fabric, 4, 4, COLLECTIVE_ALL_REDUCE, ALGORITHM_HIERARCHICAL,
			  &out));
	assert_false(runs(&fabric, 4, 1, COLLECTIVE_ALL_REDUCE, ALGORITHM_HIERARCHICAL,
			  &out));
	assert_false(
		runs(&fabric, 4, 2, COLLECTIVE_SEND, ALGORITHM_HIERARCHICAL, &out));
}

/* LL carries 4 payload bytes of 8 over the network, LL128 120 of 128; inside the domain
 * the measured share says it. */
static void test_protocols_by_hand(void **state)
{
	static const struct {
		enum protocol_name protocol;
		double far_share;
	} rows[] = { { PROTOCOL_LL, 0.5 },
		     { PROTOCOL_LL128, 120.0 / 128 },
		     { PROTOCOL_SIMPLE, 1 } };
	struct fabric fabric = carrier();
	struct group group = members(2, 1), pair = members(2, 2);
	const double bytes = 1 << 20;
	struct message message = { COLLECTIVE_ALL_GATHER, bytes, 0 };
	struct account account;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		make_cluster();
		cluster.accelerator.transports.row[TRANSPORT_RING][PROTOCOL_SIMPLE]
			.share = i == 2 ? 0.8 : 0;
		cluster.accelerator.transports.row[TRANSPORT_RING][rows[i].protocol] =
			(struct protocol){ .start_seconds = 7e-6,
					   .hop_seconds = 3e-6,
					   .share = 0.8 };
		if (i < 2) /* a transport is measured where its Simple is */
			cluster.accelerator.transports
				.row[TRANSPORT_RING][PROTOCOL_SIMPLE] =
				(struct protocol){ .start_seconds = 1, .share = 0.8 };
		assert_true(account_find(&fabric, &group, &message, ALGORITHM_RING,
					 &account));
		assert_int_equal(account.pace.protocol, rows[i].protocol);
		assert_true(account.pace.measured);
		assert_close(account.pace.far_rate, 50e9 * rows[i].far_share, 1e-12);
		assert_close(account.pace.near_rate, 400e9 * 0.8, 1e-12);
		assert_close(account.waiting, 7e-6 + 5e-6, 1e-12);
		assert_close(account.moving, bytes / 2 / (50e9 * rows[i].far_share),
			     1e-12);
		assert_true(account_find(&fabric, &pair, &message, ALGORITHM_RING,
					 &account));
		assert_close(account.waiting, 7e-6 + 3e-6, 1e-12);
		assert_close(account.moving, bytes / 2 / (400e9 * 0.8), 1e-12);
	}
	make_cluster();
	assert_true(account_find(&fabric, &pair, &message, ALGORITHM_RING, &account));
	assert_false(account.pace.measured);
	assert_close(account.pace.start, 6 * 2e-6, 1e-12);
}

/* Of several protocols the one that ends first, with its own seconds: against each
 * alone. */
static void test_the_fastest_protocol_is_taken(void **state)
{
	struct fabric fabric = carrier();
	int taken[PROTOCOL_COUNT] = { 0 };

	(void)state;
	seed = 621;
	for (int round = 0; round < 600; round++) {
		int64_t ranks = 2 << next(5), inside = 1 << next(4);
		struct group group = members(ranks, inside);
		struct message message = { COLLECTIVE_ALL_REDUCE,
					   exp2((double)next(30)), 0 };
		struct protocol row[PROTOCOL_COUNT];
		struct account all, alone, best = { .waiting = INFINITY };

		for (int i = 0; i < PROTOCOL_COUNT; i++)
			row[i] = (struct protocol){
				.start_seconds = 1e-6 * (double)(1 + next(20)),
				.hop_seconds = 1e-6 * (double)(1 + next(9)),
				.share = 0.1 * (double)(1 + next(9)),
			};
		for (int i = 0; i < PROTOCOL_COUNT; i++) {
			make_cluster();
			cluster.accelerator.transports.row[TRANSPORT_RING][i] = row[i];
			assert_true(account_find(&fabric, &group, &message,
						 ALGORITHM_RING, &alone));
			assert_int_equal(alone.pace.protocol, i);
			if (alone.waiting + alone.moving < best.waiting + best.moving)
				best = alone;
		}
		make_cluster();
		memcpy(cluster.accelerator.transports.row[TRANSPORT_RING], row,
		       sizeof row);
		assert_true(
			account_find(&fabric, &group, &message, ALGORITHM_RING, &all));
		assert_int_equal(all.pace.protocol, best.pace.protocol);
		assert_true(all.waiting == best.waiting && all.moving == best.moving);
		taken[all.pace.protocol]++;
	}
	for (int i = 0; i < PROTOCOL_COUNT; i++)
		assert_true(taken[i] > 20);
}

/* A tree is over domains: there have to be two. */
static void test_trees_cross_domains(void **state)
{
	struct fabric fabric = carrier();
	struct message message = { COLLECTIVE_ALL_REDUCE, 1e6, 0 };
	struct account account;

	(void)state;
	for (int domains = 1; domains <= 4; domains++) {
		struct group group = members(4 * domains, 4);

		assert_int_equal(account_find(&fabric, &group, &message, ALGORITHM_TREE,
					      &account),
				 domains > 1);
	}
}

/* A switch adds up for three ranks or more; for two there is nothing to save. */
static void test_where_a_switch_adds(void **state)
{
	static const struct {
		int64_t per_domain;
		double s;
	} rows[] = { { 1, 0 }, { 2, 0 }, { 3, 1 }, { 8, 1 } };
	struct fabric fabric = carrier();
	struct call call;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct group group = members(24, rows[i].per_domain);

		cluster.link[LINK_DOMAIN].in_network_reduction = false;
		call_find(&fabric, &group, COLLECTIVE_ALL_REDUCE, 1, 0, &call);
		assert_true(call.s == 0);
		cluster.link[LINK_DOMAIN].in_network_reduction = true;
		call_find(&fabric, &group, COLLECTIVE_ALL_REDUCE, 1, 0, &call);
		assert_true(call.s == rows[i].s);
		/* constants of the switch say that there is one */
		cluster.link[LINK_DOMAIN].in_network_reduction = false;
		cluster.accelerator.transports.row[TRANSPORT_SWITCH][PROTOCOL_SIMPLE]
			.share = 0.5;
		call_find(&fabric, &group, COLLECTIVE_ALL_REDUCE, 1, 0, &call);
		assert_true(call.s == rows[i].s);
		cluster.accelerator.transports.row[TRANSPORT_SWITCH][PROTOCOL_SIMPLE]
			.share = 0;
	}
}

/* A transport that nobody measured there has the constants of rings. */
static void test_what_was_not_measured_runs_like_rings(void **state)
{
	struct fabric fabric = carrier();
	struct group pair = members(2, 2);
	struct message message = { COLLECTIVE_ALL_TO_ALL, 1 << 20, 0 };
	struct account account;

	(void)state;
	cluster.accelerator.transports.row[TRANSPORT_RING][PROTOCOL_SIMPLE] =
		(struct protocol){ .start_seconds = 4e-6, .share = 0.8 };
	assert_true(account_find(&fabric, &pair, &message, ALGORITHM_DIRECT, &account));
	assert_true(account.pace.measured);
	assert_int_equal(account.pace.transport, TRANSPORT_RING);
	assert_close(account.pace.start, 4e-6, 0);
	cluster.accelerator.transports.row[TRANSPORT_EXCHANGE][PROTOCOL_SIMPLE] =
		(struct protocol){ .start_seconds = 6e-6, .share = 0.7 };
	assert_true(account_find(&fabric, &pair, &message, ALGORITHM_DIRECT, &account));
	assert_int_equal(account.pace.transport, TRANSPORT_EXCHANGE);
	assert_close(account.pace.start, 6e-6, 0);
}

/* Above the leaf switches the port is shared by as many as they are oversubscribed. */
static void test_oversubscription_divides_the_port(void **state)
{
	struct fabric fabric = carrier();
	struct group group = members(2, 1);
	struct message message = { COLLECTIVE_ALL_GATHER, 1 << 20, 1 << 20 };
	struct account below, above;

	(void)state;
	cluster.link[LINK_UPPER].oversubscription = 4;
	assert_true(account_find(&fabric, &group, &message, ALGORITHM_RING, &below));
	group.link = LINK_UPPER;
	assert_true(account_find(&fabric, &group, &message, ALGORITHM_RING, &above));
	assert_close(below.moving * 4, above.moving, 1e-12);
	assert_close(below.waiting, above.waiting, 1e-12);
	cluster.link[LINK_UPPER].oversubscription = 1;
}

/* One rank, no bytes, or no algorithm: nothing runs, and nobody asks a unit. */
static void test_where_nothing_moves(void **state)
{
	struct fabric fabric = carrier();
	struct group alone = members(1, 1), group = members(8, 8);
	struct message message = { COLLECTIVE_ALL_REDUCE, 1 << 20, 0 },
		       empty = { COLLECTIVE_ALL_REDUCE, 0, 0 };
	struct collective out;

	(void)state;
	assert_false(collective_by(&fabric, &alone, &message, ALGORITHM_RING, &out));
	assert_true(out.seconds == 0 && out.sent_bytes == 0);
	assert_false(collective_by(&fabric, &group, &empty, ALGORITHM_RING, &out));
	assert_true(out.seconds == 0 && out.call_bytes == 0);
	assert_false(collective_by(&fabric, &group, &message, ALGORITHM_AUTO, &out));
	assert_false(collective_by(&fabric, &group, &message, ALGORITHM_COUNT, &out));
	assert_true(collective_by(&fabric, &group, &message, ALGORITHM_RING, &out));
	collective_cost(&fabric, &alone, COLLECTIVE_ALL_REDUCE, 1 << 20, &out);
	assert_true(out.seconds == 0 && out.pieces == 1);
}

/* Of a torus of two axes 256 ranks fill 16 x 16, and one more needs 32 x 32. */
static void test_the_side_of_a_torus(void **state)
{
	struct fabric fabric = carrier();
	struct group group = members(256, 256);
	struct call call;

	(void)state;
	cluster.torus = true;
	cluster.torus_axes = 2;
	call_find(&fabric, &group, COLLECTIVE_ALL_REDUCE, 1, 0, &call);
	assert_int_equal(call.axes, 2);
	assert_close(call.D, 16, 0);
	assert_close(call.U, 2, 0);
	group = members(512, 512);
	call_find(&fabric, &group, COLLECTIVE_ALL_REDUCE, 1, 0, &call);
	assert_close(call.D, 32, 0);
	group = members(16, 16);
	call_find(&fabric, &group, COLLECTIVE_ALL_REDUCE, 1, 0, &call);
	assert_close(call.D, 16, 0);
	assert_close(call.U, 1, 0);
	/* of one axis, too, a message takes the shorter of two ways, a ring both */
	cluster.torus_axes = 1;
	cluster.link[LINK_DOMAIN].lines = 6;
	call_find(&fabric, &group, COLLECTIVE_SEND, 1, 0, &call);
	assert_close(call.spare, 2, 0);
	call_find(&fabric, &group, COLLECTIVE_ALL_REDUCE, 1, 0, &call);
	assert_close(call.spare, 1, 0);
}

/* Members that lie apart on a torus of cubes of 4, one by one: how many there are along
 * each axis, and how far apart. Of groups that fill a side and of such that fit. */
static void test_members_along_each_axis(void **state)
{
	struct fabric fabric = carrier();

	(void)state;
	cluster.torus = true;
	cluster.torus_axes = 3;
	for (int64_t stride = 1; stride <= 32; stride *= 2) {
		for (int64_t ranks = 2; ranks * stride <= 64; ranks *= 2) {
			struct group group = members(ranks, ranks);
			struct call call;
			double hops = 0, most = 0, use = 0;

			for (int64_t one = 1; one < 64; one *= 4) {
				bool at[4] = { false };
				int along = 0, first = -1, apart = 0, each;

				for (int64_t m = 0; m < ranks; m++)
					at[m * stride / one % 4] = true;
				for (int i = 0; i < 4; i++) {
					along += at[i];
					apart = at[i] && first == 0 && apart == 0
							? i
							: apart;
					first = at[i] && first < 0 ? i : first;
				}
				if (along < 2)
					continue;
				/* a ring goes both ways, a line to its other end */
				each = along * apart == 4 ? along / 2 : along - 1;
				hops += apart * each;
				most = fmax(most, apart * along *
							  (along * apart == 4 ? 1 : 2));
				use += (along * apart == 4 ? 1 : 0.5) / apart;
			}
			group.stride = stride;
			call_find(&fabric, &group, COLLECTIVE_ALL_REDUCE, 1, 0, &call);
			assert_close(call.H, hops, 0);
			assert_close(call.D, most, 0);
			assert_close(call.U, use, 1e-12);
		}
	}
}

/* Groups of three leave a place of a side of four, in which no fourth one begins: what
 * stands beside them lies as beside groups of four. So of any that don't fill a side.
 */
static void test_places_that_are_left_on_a_torus(void **state)
{
	static const struct {
		int64_t stride, whole, most;
	} rows[] = { { 3, 4, 16 }, { 5, 8, 8 },  { 6, 8, 8 },
		     { 7, 8, 8 },  { 9, 12, 4 }, { 13, 16, 4 } };
	struct fabric fabric = carrier();

	(void)state;
	cluster.torus = true;
	cluster.torus_axes = 3;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		for (int64_t ranks = 2; ranks <= rows[i].most; ranks *= 2) {
			struct group some = members(ranks, ranks), all = some;
			struct call beside, alone;

			some.stride = rows[i].stride;
			all.stride = rows[i].whole;
			call_find(&fabric, &some, COLLECTIVE_ALL_REDUCE, 1, 0, &beside);
			call_find(&fabric, &all, COLLECTIVE_ALL_REDUCE, 1, 0, &alone);
			assert_close(beside.H, alone.H, 0);
			assert_close(beside.U, alone.U, 0);
			assert_close(beside.D, alone.D, 0);
		}
	}
}

enum { MEASURED = 1024 };

/* A row of tests/validation/collectives: how far the prediction is off. */
static double error_of_row(char *line)
{
	struct cluster measured;
	struct error error;
	struct scenario s;
	struct fabric fabric;
	struct collective cost;
	enum collective_kind kind = 0;
	char name[40], label[40];
	double bytes, us;
	long long ranks;

	assert_int_equal(sscanf(line, "%39[^,],nccl,%39[^,],%lld,1,%lf,%lf", name,
				label, &ranks, &bytes, &us),
			 5);
	assert_true(library_cluster(&measured, name, &error));
	while (strcmp(collective_label(kind), label) != 0)
		kind++;
	memset(&s, 0, sizeof s);
	s.cluster = measured;
	s.plan.mode = MODE_INFERENCE; /* which no share of a training step slows */
	s.cluster.accelerator.calibration.network_scale = 1;
	collective_fabric(&s, NULL, &fabric);
	collective_cost(&fabric,
			&(struct group){ .ranks = ranks,
					 .stride = 1,
					 .per_domain = ranks,
					 .per_node = ranks,
					 .link = LINK_DOMAIN,
					 .beside = 1 },
			kind, bytes, &cost);
	return fabs(cost.seconds / (us * 1e-6) - 1);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* All rows of nccl-tests on one node, as an estimate would price them: half of them
 * within 6 %, nine of ten within 20 %. */
static void test_measured_ones(void **state)
{
	FILE *file = fopen("tests/validation/collectives/nccl_tests.csv", "r");
	static double error[MEASURED];
	char line[512];
	int rows = 0;

	(void)state;
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof line, file));
	while (fgets(line, sizeof line, file) && rows < MEASURED)
		error[rows++] = error_of_row(line);
	fclose(file);
	assert_true(rows >= 684);
	qsort(error, (size_t)rows, sizeof error[0], by_size);
	assert_true(error[rows / 2] < 0.06);
	assert_true(error[rows * 9 / 10] < 0.2);
}

static int begin(void **state)
{
	(void)state;
	make_cluster();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_each_library_offers_its_own, begin),
		cmocka_unit_test_setup(test_what_leaves_the_domain, begin),
		cmocka_unit_test_setup(test_any_size_forgets_the_rule, begin),
		cmocka_unit_test_setup(test_where_rails_run, begin),
		cmocka_unit_test_setup(test_protocols_by_hand, begin),
		cmocka_unit_test_setup(test_the_fastest_protocol_is_taken, begin),
		cmocka_unit_test_setup(test_trees_cross_domains, begin),
		cmocka_unit_test_setup(test_oversubscription_divides_the_port, begin),
		cmocka_unit_test_setup(test_where_a_switch_adds, begin),
		cmocka_unit_test_setup(test_what_was_not_measured_runs_like_rings,
				       begin),
		cmocka_unit_test_setup(test_where_nothing_moves, begin),
		cmocka_unit_test_setup(test_the_side_of_a_torus, begin),
		cmocka_unit_test_setup(test_members_along_each_axis, begin),
		cmocka_unit_test_setup(test_places_that_are_left_on_a_torus, begin),
		cmocka_unit_test(test_measured_ones),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
