/* test_collectives.c - algorithms of collectives: seconds by hand, bytes by law. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/advice/advice.h"
#include "engine/collective/seconds.h"
#include "engine/estimate/estimate.h"
#include "engine/knob/knob.h"
#include "engine/train/train.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static const double KiB64 = 65536, GiB1 = 1073741824;

/* A domain and a network that reach their lines' rates, with no start: plain
 * alpha-beta. */
static void plain(struct cluster *out, double near_us, double near_rate, double far_us,
		  double far_rate)
{
	memset(out, 0, sizeof *out);
	out->gpus = 4096;
	out->link[LINK_DOMAIN] = (struct link){ .span = 4096,
						.bytes_per_second = near_rate,
						.efficiency = 1,
						.latency_seconds = near_us * 1e-6 };
	out->link[LINK_NETWORK] = (struct link){ .bytes_per_second = far_rate,
						 .efficiency = 1,
						 .latency_seconds = far_us * 1e-6 };
	out->link[LINK_UPPER].oversubscription = 1;
	for (int i = 0; i < TRANSPORT_COUNT; i++)
		out->accelerator.transports.row[i][PROTOCOL_SIMPLE].share = 1;
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

static struct fabric carrier(const struct cluster *cluster)
{
	return (struct fabric){ .cluster = cluster,
				.network_share = 1,
				.domain_share = 1 };
}

/* One call by that algorithm; an all-to-all as a library does it. */
static bool by(const struct fabric *fabric, const struct group *group,
	       enum collective_kind kind, double bytes, enum algorithm algorithm,
	       struct collective *out)
{
	struct message message = { kind, bytes, collective_remote_bytes(group, bytes) };

	return collective_by(fabric, group, &message, algorithm, out);
}

struct example {
	enum algorithm algorithm;
	enum collective_kind kind;
	double small, large; /* microseconds of 64 KiB and 1 GiB */
};

static void check_examples(const struct cluster *cluster, const struct group *group,
			   const struct example *example, size_t count)
{
	struct fabric fabric = carrier(cluster);
	struct collective cost;

	for (size_t i = 0; i < count; i++) {
		const struct example *e = &example[i];

		assert_true(by(&fabric, group, e->kind, KiB64, e->algorithm, &cost));
		if (fabs(cost.seconds * 1e6 - e->small) > 0.00051)
			fail_msg("%s of 64 KiB: %.4f us, by hand %.3f",
				 algorithm_name(e->algorithm), cost.seconds * 1e6,
				 e->small);
		assert_true(by(&fabric, group, e->kind, GiB1, e->algorithm, &cost));
		if (fabs(cost.seconds * 1e6 - e->large) > 0.00051)
			fail_msg("%s of 1 GiB: %.4f us, by hand %.3f",
				 algorithm_name(e->algorithm), cost.seconds * 1e6,
				 e->large);
		assert_int_equal(cost.algorithm, e->algorithm);
	}
}
#define CHECK(cluster, group, list) \
	check_examples(cluster, group, list, sizeof(list) / sizeof(list)[0])

#define AR  COLLECTIVE_ALL_REDUCE
#define AG  COLLECTIVE_ALL_GATHER
#define RS  COLLECTIVE_REDUCE_SCATTER
#define A2A COLLECTIVE_ALL_TO_ALL
#define BC  COLLECTIVE_BROADCAST

/* 8 ranks, 1 us, 400 GB/s: ring AR 14 us + 1.75 n / 400e9, and so on. */
static void test_eight_ranks_by_hand(void **state)
{
	static const struct example domain[] = {
		{ ALGORITHM_RING, AR, 14.287, 4711.620 },
		{ ALGORITHM_RING, AG, 7.143, 2355.810 },
		{ ALGORITHM_RING, RS, 7.143, 2355.810 },
		{ ALGORITHM_HALVING_DOUBLING, AG, 3.143, 2351.810 },
		{ ALGORITHM_HALVING_DOUBLING, RS, 3.143, 2351.810 },
		{ ALGORITHM_BRUCK, AG, 3.143, 2351.810 },
		{ ALGORITHM_DOUBLING, AR, 3.492, 8056.064 },
		{ ALGORITHM_HALVING_DOUBLING, AR, 6.287, 4703.620 },
		{ ALGORITHM_ONE_SHOT, AR, 2.147, 18791.482 },
		{ ALGORITHM_TWO_SHOT, AR, 2.287, 4699.620 },
		{ ALGORITHM_NVLS, AR, 2.184, 3021.899 },
		{ ALGORITHM_DIRECT, A2A, 1.143, 2349.810 },
		{ ALGORITHM_DISPATCH, A2A, 1.143, 2349.810 },
		{ ALGORITHM_STRAIGHT, A2A, 1.143, 2349.810 },
		{ ALGORITHM_PAIRWISE, A2A, 7.143, 2355.810 },
		{ ALGORITHM_BRUCK, A2A, 3.246, 4029.532 },
		{ ALGORITHM_BINOMIAL, BC, 3.492, 8056.064 },
		{ ALGORITHM_SCATTER_GATHER, BC, 10.287, 4707.620 },
		{ ALGORITHM_SEND, COLLECTIVE_SEND, 1.164, 2685.355 },
	};
	static const struct example nodes[] = {
		{ ALGORITHM_TREE, AR, 6.328, 5374.709 },
	};
	struct group inside = members(8, 8), apart = members(8, 1);
	struct cluster cluster;

	(void)state;
	plain(&cluster, 1, 400e9, 1, 400e9);
	CHECK(&cluster, &inside, domain);
	CHECK(&cluster, &apart, nodes);
}

/* 72 ranks of one domain, 1 us, 720 GB/s; 72 is no power of two. */
static void test_a_rack_by_hand(void **state)
{
	static const struct example rack[] = {
		{ ALGORITHM_RING, AR, 142.180, 3083.191 },
		{ ALGORITHM_RING, AG, 71.090, 1541.595 },
		{ ALGORITHM_BRUCK, AG, 7.090, 1477.595 },
		{ ALGORITHM_ONE_SHOT, AR, 7.463, 105883.874 },
		{ ALGORITHM_TWO_SHOT, AR, 2.180, 2943.191 },
		{ ALGORITHM_NVLS, AR, 2.092, 1514.021 },
		{ ALGORITHM_DOUBLING, AR, 8.728, 11938.465 },
		{ ALGORITHM_HALVING_DOUBLING, AR, 14.362, 5937.807 },
		{ ALGORITHM_DIRECT, A2A, 1.090, 1471.595 },
		{ ALGORITHM_BRUCK, A2A, 7.319, 5226.578 },
	};
	struct group group = members(72, 72);
	struct cluster cluster;
	struct fabric fabric;
	struct collective cost;

	(void)state;
	plain(&cluster, 1, 720e9, 1, 720e9);
	CHECK(&cluster, &group, rack);
	/* halves of it need a power of two */
	fabric = carrier(&cluster);
	assert_false(by(&fabric, &group, AG, KiB64, ALGORITHM_HALVING_DOUBLING, &cost));
}

/* 64 ranks in 8 nodes, 1 us and 400 GB/s inside, 5 us and 50 GB/s a rank across. */
static void test_nodes_by_hand(void **state)
{
	static const struct example across[] = {
		{ ALGORITHM_RING, AR, 182.323, 5466.823 },
		{ ALGORITHM_RING, AG, 91.161, 2733.412 },
		{ ALGORITHM_HIERARCHICAL, AR, 84.573, 9479.241 },
		{ ALGORITHM_HIERARCHICAL_HALVING, AR, 44.573, 9439.241 },
		{ ALGORITHM_HIERARCHICAL_HALVING, AG, 22.287, 4719.620 },
		{ ALGORITHM_TREE, AR, 44.328, 5412.709 },
		{ ALGORITHM_SHARP, AR, 12.184, 3031.899 },
		{ ALGORITHM_PAIRWISE, A2A, 288.147, 19077.482 },
		/* to each domain once and then inside, or straight to the rank */
		{ ALGORITHM_DISPATCH, A2A, 7.147, 18796.482 },
		{ ALGORITHM_STRAIGHT, A2A, 6.147, 18795.482 },
		{ ALGORITHM_HIERARCHICAL, A2A, 43.290, 21181.292 },
		{ ALGORITHM_BRUCK, A2A, 33.932, 64454.509 },
	};
	struct group group = members(64, 8);
	struct cluster cluster;

	(void)state;
	plain(&cluster, 1, 400e9, 5, 50e9);
	cluster.link[LINK_NETWORK].in_network_reduction = true;
	CHECK(&cluster, &group, across);
}

/* A network that is built for so much less above its leaves takes so much longer there,
 * and nowhere else. */
static void test_oversubscribed_switches(void **state)
{
	static const double over[] = { 0, 0.5, 1, 1.25, 1.5, 2, 2.5, 4 };
	struct group above = members(64, 1), below = above;
	struct collective cost, even;
	struct cluster cluster;
	struct fabric fabric;

	(void)state;
	above.link = LINK_UPPER;
	plain(&cluster, 0, 400e9, 0, 50e9);
	fabric = carrier(&cluster);
	for (size_t i = 0; i < sizeof over / sizeof over[0]; i++) {
		cluster.link[LINK_UPPER].oversubscription = over[i];
		assert_true(by(&fabric, &above, AG, GiB1, ALGORITHM_RING, &cost));
		assert_true(by(&fabric, &below, AG, GiB1, ALGORITHM_RING, &even));
		assert_close(even.seconds, 63.0 / 64 * GiB1 / 50e9, 1e-12);
		assert_close(cost.seconds, fmax(1, over[i]) * even.seconds, 1e-12);
	}
}

/* A leaf of 32 has as many lines down and an eighth of them up. Eight rings of a group
 * of 64 cross its border, or one of each of eight groups; of an exchange 32 of the 56
 * parts that leave a domain; every message where each goes to another leaf. */
static void test_what_crosses_a_leaf(void **state)
{
	static const struct {
		int64_t ranks, per_domain, stride;
		enum collective_kind kind;
		enum algorithm algorithm;
		double slower;
	} rows[] = {
		{ 64, 8, 1, AG, ALGORITHM_RING, 2 },
		{ 64, 8, 1, AR, ALGORITHM_RING, 2 },
		{ 64, 1, 8, AG, ALGORITHM_RING, 2 },
		{ 64, 1, 32, AG, ALGORITHM_RING, 8 },
		{ 64, 8, 1, A2A, ALGORITHM_DIRECT, 8 * 32.0 / 56 },
		{ 64, 1, 32, COLLECTIVE_SEND, ALGORITHM_SEND, 8 },
		{ 64, 1, 8, COLLECTIVE_SEND, ALGORITHM_SEND, 2 },
		{ 4, 1, 8, AG, ALGORITHM_RING, 1 }, /* stays in one */
	};
	struct collective cost, even;
	struct cluster cluster;
	struct fabric fabric;

	(void)state;
	plain(&cluster, 0, 4000e9, 0, 50e9);
	cluster.link[LINK_UPPER].span = 32;
	fabric = carrier(&cluster);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct group group = members(rows[i].ranks, rows[i].per_domain);

		group.stride = rows[i].stride;
		cluster.link[LINK_UPPER].oversubscription = 8;
		assert_true(by(&fabric, &group, rows[i].kind, GiB1, rows[i].algorithm,
			       &even));
		group.link = LINK_UPPER;
		assert_true(by(&fabric, &group, rows[i].kind, GiB1, rows[i].algorithm,
			       &cost));
		assert_close(cost.seconds, rows[i].slower * even.seconds, 1e-12);
		assert_close(cost.sent_bytes, even.sent_bytes, 0);
		assert_close(cost.network_bytes, even.network_bytes, 0);
	}
}

/* DeepEP across two nodes: a token crosses once, and is passed on inside to each rank
 * that needs it, so that all copies but a member's own travel inside somewhere. */
static void test_dispatch_by_hand(void **state)
{
	struct group two = members(16, 8), apart = members(16, 1);
	struct collective cost;
	struct cluster cluster;
	struct fabric fabric;
	struct message message = { A2A, GiB1, GiB1 / 16 };

	(void)state;
	plain(&cluster, 0, 400e9, 0, 50e9);
	fabric = carrier(&cluster);
	assert_true(collective_by(&fabric, &two, &message, ALGORITHM_DISPATCH, &cost));
	assert_close(cost.seconds, GiB1 * 7 / 8 / 400e9, 1e-12);
	assert_close(cost.sent_bytes, GiB1 * (7.0 / 8 + 1.0 / 16), 1e-12);
	assert_close(cost.network_bytes, GiB1 / 16, 1e-12);
	/* a node of one passes nothing on */
	assert_true(
		collective_by(&fabric, &apart, &message, ALGORITHM_DISPATCH, &cost));
	assert_close(cost.seconds, GiB1 / 16 / 50e9, 1e-12);
	assert_close(cost.sent_bytes, GiB1 / 16, 1e-12);
}

/* 4 x 4 x 4 with 90 GB/s a link and direction: 540 GB/s of a chip's six. */
static void test_torus_by_hand(void **state)
{
	static const struct example axis[] = {
		{ ALGORITHM_TORUS, AG, 2.273, 4475.924 },
	};
	static const struct example cube[] = {
		{ ALGORITHM_TORUS, AG, 6.119, 1963.342 },
		{ ALGORITHM_TORUS, AR, 12.239, 3926.684 },
		{ ALGORITHM_TORUS, A2A, 6.364, 5971.232 },
		/* Hamiltonian: the links of one axis at a time */
		{ ALGORITHM_RING, AR, 126.717, 11870.051 },
		/* one link of six */
		{ ALGORITHM_SEND, COLLECTIVE_SEND, 1.728, 11931.465 },
	};
	struct group four = members(4, 4), all = members(64, 64);
	struct group pods = members(128, 64), first = members(2, 2), second = first;
	struct cluster cluster;
	struct fabric fabric;
	struct collective cost;

	(void)state;
	plain(&cluster, 1, 540e9, 10, 10e9);
	cluster.torus = true;
	cluster.torus_axes = 3;
	CHECK(&cluster, &four, axis);
	CHECK(&cluster, &all, cube);
	/* Of 0 - 1 - 2 - 3 - 0 two neighbours have a line of the axis, and 0 and 2 both
	 * ways, which 1 and 3 use too. */
	fabric = carrier(&cluster);
	assert_true(by(&fabric, &first, AG, GiB1, ALGORITHM_TORUS, &cost));
	assert_close(cost.seconds, GiB1 / 2 / 90e9, 1e-3);
	second.stride = 2;
	assert_true(by(&fabric, &second, AG, GiB1, ALGORITHM_TORUS, &cost));
	assert_close(cost.seconds, GiB1 / 2 / 90e9, 1e-3);
	/* a switch's algorithms don't know a torus's links */
	fabric = carrier(&cluster);
	assert_false(by(&fabric, &all, AR, KiB64, ALGORITHM_TWO_SHOT, &cost));
	collective_cost(&fabric, &all, AR, GiB1, &cost);
	assert_int_equal(cost.algorithm, ALGORITHM_TORUS);
	/* nor does a torus reach into another pod */
	assert_false(by(&fabric, &pods, AR, KiB64, ALGORITHM_TORUS, &cost));
	/* no torus, no torus's algorithm */
	cluster.torus = false;
	assert_false(by(&fabric, &all, AR, KiB64, ALGORITHM_TORUS, &cost));
}

/* 8 x 8 chips of a v6e, four lines of 90 GB/s each: no axis of 8 is a ring. Who sits at
 * the end of one has a line of it; the corner two. */
static void test_a_mesh_of_chips_by_hand(void **state)
{
	struct group row = members(8, 8), all = members(64, 64), two = members(2, 2);
	struct cluster cluster;
	struct fabric fabric;
	struct collective cost;

	(void)state;
	plain(&cluster, 0, 360e9, 0, 10e9);
	cluster.torus = true;
	cluster.torus_axes = 2;
	cluster.gpus = 64;
	fabric = carrier(&cluster);
	assert_true(by(&fabric, &two, AG, GiB1, ALGORITHM_TORUS, &cost));
	assert_close(cost.seconds, GiB1 / 2 / 90e9, 1e-12);
	assert_true(by(&fabric, &row, AG, GiB1, ALGORITHM_TORUS, &cost));
	assert_close(cost.seconds, GiB1 * 7 / 8 / 90e9, 1e-12);
	assert_true(by(&fabric, &all, AG, GiB1, ALGORITHM_TORUS, &cost));
	assert_close(cost.seconds, GiB1 * 63 / 64 / 180e9, 1e-12);
	/* 32 send half of theirs through the middle, over 8 lines */
	assert_true(by(&fabric, &all, A2A, GiB1, ALGORITHM_TORUS, &cost));
	assert_close(cost.seconds, 32 * GiB1 / 2 / (8 * 90e9), 1e-12);
	/* 16 x 16 close */
	cluster.gpus = 256;
	all = members(256, 256);
	assert_true(by(&fabric, &all, AG, GiB1, ALGORITHM_TORUS, &cost));
	assert_close(cost.seconds, GiB1 * 255 / 256 / 360e9, 1e-12);
	/* four of three axes go all round, two of them do not */
	cluster.torus_axes = 3;
	row = members(4, 4);
	assert_true(by(&fabric, &row, AG, GiB1, ALGORITHM_TORUS, &cost));
	assert_close(cost.seconds, GiB1 * 3 / 4 / (2 * 60e9), 1e-12);
	assert_true(by(&fabric, &two, AG, GiB1, ALGORITHM_TORUS, &cost));
	assert_close(cost.seconds, GiB1 / 2 / 60e9, 1e-12);
}

/* Eight with a line of 64 GB/s to each other, 448 GB/s together: a group has the lines
 * among its own, a message one of them. */
static void test_mesh_by_hand(void **state)
{
	static const struct example pair[] = {
		{ ALGORITHM_RING, AG, 1.512, 8389.608 },
		{ ALGORITHM_ONE_SHOT, AR, 2.024, 16778.216 },
	};
	static const struct example half[] = {
		{ ALGORITHM_RING, AG, 3.256, 4197.304 },
		{ ALGORITHM_DIRECT, A2A, 1.256, 4195.304 },
		{ ALGORITHM_SEND, COLLECTIVE_SEND, 2.024, 16778.216 },
	};
	static const struct example whole[] = {
		{ ALGORITHM_RING, AG, 7.128, 2104.152 },
		{ ALGORITHM_SEND, COLLECTIVE_SEND, 2.024, 16778.216 },
	};
	/* of two in each domain the way inside is the longer one, by rings side by side
	 */
	static const struct example pairs[] = {
		{ ALGORITHM_HIERARCHICAL, AG, 2.553, 9061.697 },
	};
	struct group two = members(2, 2), four = members(4, 4), eight = members(8, 8);
	struct group far = members(4, 2);
	struct cluster cluster;

	(void)state;
	plain(&cluster, 1, 448e9, 1, 400e9);
	cluster.link[LINK_DOMAIN].lines = 7;
	CHECK(&cluster, &two, pair);
	CHECK(&cluster, &four, half);
	CHECK(&cluster, &eight, whole);
	CHECK(&cluster, &far, pairs);
}

/* Of eight in two domains who pass on around a ring two send across, at whose pace all
 * go. */
static void test_a_ring_crosses_at_its_borders(void **state)
{
	struct group group = members(8, 4);
	struct cluster cluster;
	struct fabric fabric = carrier(&cluster);
	struct collective cost;

	(void)state;
	plain(&cluster, 1, 400e9, 5, 50e9);
	collective_cost(&fabric, &group, COLLECTIVE_SEND, 1e9, &cost);
	assert_close(cost.sent_bytes, 1e9, 1e-12);
	assert_close(cost.network_bytes, 1e9 * 2 / 8, 1e-12);
	assert_close(cost.seconds, 1e9 / 50e9 + 5e-6, 1e-12);
}

/* A line of which nobody says what share is reached gives what it has. */
static void test_lines_without_efficiency(void **state)
{
	struct group group = members(64, 8);
	struct cluster cluster;
	struct fabric fabric;
	struct collective stated, silent;

	(void)state;
	plain(&cluster, 1, 400e9, 5, 50e9);
	fabric = carrier(&cluster);
	collective_cost(&fabric, &group, AR, GiB1, &stated);
	cluster.link[LINK_DOMAIN].efficiency = cluster.link[LINK_NETWORK].efficiency =
		0;
	collective_cost(&fabric, &group, AR, GiB1, &silent);
	assert_close(silent.seconds, stated.seconds, 1e-12);
}

/* Every algorithm sends at least the lower bound (Chan et al. 2007, section 2), takes
 * at least one step and its bytes at the best rate, and is no slower for less. */
static void test_no_algorithm_beats_the_bounds(void **state)
{
	struct cluster cluster;
	struct fabric fabric;
	struct collective cost, more;
	uint64_t draw = seed_or(7);

	(void)state;
	for (int n = 0; n < 400; n++) {
		int64_t inside, domains;
		struct group group;
		double bytes, p, least;

		draw = draw * 6364136223846793005u + 1442695040888963407u;
		inside = 1 + (int64_t)(draw >> 40) % 16;
		domains = 1 + (int64_t)(draw >> 50) % 12;
		if (inside * domains < 2)
			continue;
		group = members(inside * domains, inside);
		p = (double)group.ranks;
		bytes = ldexp(1, 8 + (int)((draw >> 33) % 24));
		plain(&cluster, 1, 400e9, 5, 50e9);
		cluster.link[LINK_NETWORK].in_network_reduction = draw >> 60 & 1;
		fabric = carrier(&cluster);
		for (int a = 1; a < ALGORITHM_COUNT; a++)
			for (int k = AR; k <= COLLECTIVE_BROADCAST; k++) {
				if (!by(&fabric, &group, (enum collective_kind)k, bytes,
					(enum algorithm)a, &cost))
					continue;
				least = k == COLLECTIVE_SEND || k == BC
						? bytes
						: (p - 1) / p * bytes;
				/* switches copy and add: what a rank sends is less */
				if (a == ALGORITHM_NVLS || a == ALGORITHM_SHARP ||
				    a == ALGORITHM_NVLS_TREE)
					least = bytes / p;
				else if (k == AR)
					least *= 2;
				if (cost.sent_bytes < least * (1 - 1e-12))
					fail_msg("%s of %s sends %g of %g bytes",
						 algorithm_name((enum algorithm)a),
						 collective_label(
							 (enum collective_kind)k),
						 cost.sent_bytes, least);
				/* dealt out in a tree, and gathered by all */
				if (a == ALGORITHM_SCATTER_GATHER)
					assert_close(cost.sent_bytes,
						     2 * (p - 1) / p * bytes, 1e-12);
				assert_true(cost.network_bytes <=
					    cost.sent_bytes * (1 + 1e-12));
				assert_true((cost.network_bytes > 0) == (domains > 1));
				assert_true(cost.seconds >= 1e-6);
				by(&fabric, &group, (enum collective_kind)k, 2 * bytes,
				   (enum algorithm)a, &more);
				assert_true(more.seconds > cost.seconds);
				assert_close(more.sent_bytes, 2 * cost.sent_bytes,
					     1e-12);
			}
	}
}

/* With switches inside, an all-reduce across is one step to the switch and one from it,
 * whatever the domain and however many there are: so much longer is it with a
 * microsecond more a step. */
static void test_two_steps_to_switches_and_back(void **state)
{
	(void)state;
	for (int64_t inside = 3; inside <= 12; inside *= 2)
		for (int64_t domains = 2; domains <= 16; domains *= 2) {
			struct group group = members(inside * domains, inside);
			struct collective quick, slow;

			for (int us = 1; us <= 2; us++) {
				struct cluster cluster;
				struct fabric fabric;

				plain(&cluster, us, 400e9, 5, 50e9);
				cluster.link[LINK_DOMAIN].in_network_reduction = true;
				fabric = carrier(&cluster);
				assert_true(by(&fabric, &group, AR, 1 << 20,
					       ALGORITHM_NVLS_TREE,
					       us > 1 ? &slow : &quick));
			}
			assert_close(slow.seconds - quick.seconds, 2e-6, 1e-6);
		}
}

static const char *const members_of_work[] = {
	"near_steps", "far_steps", "near_bytes", "far_bytes", "peers",
	"peer_bytes", "own_bytes", "sent_bytes", "left_bytes"
};

/* What Explain prints of a unit, computed, is what the estimate takes. */
static void check_text(const struct account *a)
{
	const struct call *c = &a->call;
	const struct unit_work *w = &a->work;
	const double values[] = { w->near_steps, w->far_steps,  w->near_bytes,
				  w->far_bytes,  w->peers,      w->peer_bytes,
				  w->own_bytes,  w->sent_bytes, w->left_bytes };
	const struct formula_symbol symbols[] = {
		{ "n", c->n },          { "r", c->r },        { "p", c->p },
		{ "g", c->g },          { "N", c->N },        { "f", c->f },
		{ "s", c->s },          { "A", c->A },        { "U", c->U },
		{ "H", c->H },          { "D", c->D },        { "L", lg_up(c->p) },
		{ "l", lg_down(c->p) }, { "G", lg_up(c->g) }, { "M", lg_up(c->N) },
	};
	char text[FORMULA_MAX_TEXT];
	double value;

	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		unit_formula(a->unit, c->kind, members_of_work[i], text);
		if (!formula_evaluate(text, symbols,
				      (int)(sizeof symbols / sizeof symbols[0]), &value,
				      NULL))
			fail_msg("no formula: %s", text);
		/* not stated: near and far */
		if (i == 7 && strcmp(text, "0") == 0)
			value = w->near_bytes / c->spare + w->far_bytes;
		if (i == 8 && strcmp(text, "0") == 0)
			value = w->far_bytes;
		if (i == 2)
			value *= c->spare;
		assert_close(value, values[i], 1e-12);
	}
}

static struct group some_group(uint64_t *draw)
{
	int64_t inside, domains;

	*draw = *draw * 6364136223846793005u + 1442695040888963407u;
	inside = 1 + (int64_t)(*draw >> 40) % 16;
	domains = 1 + (int64_t)(*draw >> 50) % 12;
	return members(inside * domains, inside);
}

static void test_texts_are_what_is_computed(void **state)
{
	int checked[ALGORITHM_COUNT] = { 0 };
	struct cluster cluster;
	struct account account;
	uint64_t draw = seed_or(3);

	(void)state;
	for (int n = 0; n < 300; n++) {
		struct group group = some_group(&draw);
		struct fabric fabric;

		plain(&cluster, 1, 400e9, 5, 50e9);
		cluster.link[LINK_NETWORK].in_network_reduction = true;
		cluster.torus = n % 3 == 0;
		cluster.torus_axes = 3;
		cluster.link[LINK_DOMAIN].lines = n % 2 ? 15 : 0;
		fabric = carrier(&cluster);
		for (int a = 1; a < ALGORITHM_COUNT; a++)
			for (int k = AR; k <= BC; k++) {
				struct message message = { (enum collective_kind)k, 3e6,
							   collective_remote_bytes(
								   &group, 3e6) };

				if (!account_find(&fabric, &group, &message,
						  (enum algorithm)a, &account))
					continue;
				check_text(&account);
				checked[a]++;
			}
	}
	for (int a = 1; a < ALGORITHM_COUNT; a++)
		assert_true(checked[a] > 0);
}

static void assert_same(const struct collective *a, const struct collective *b)
{
	assert_true(a->seconds == b->seconds && a->sent_bytes == b->sent_bytes &&
		    a->network_bytes == b->network_bytes &&
		    a->remote_bytes == b->remote_bytes);
	assert_int_equal(a->algorithm, b->algorithm);
}

/* What is kept of a group gives what each call would work out, though there is room for
 * a dozen groups only. */
static void test_kept_choices_change_nothing(void **state)
{
	static struct collective_choices choices;
	struct cluster cluster;
	uint64_t draw = seed_or(11);

	(void)state;
	plain(&cluster, 1, 400e9, 5, 50e9);
	cluster.accelerator.transports.row[TRANSPORT_RING][PROTOCOL_LL] =
		(struct protocol){ .start_seconds = 1e-6, .share = 0.4 };
	for (int n = 0; n < 2000; n++) {
		struct group group = some_group(&draw);
		struct fabric kept = carrier(&cluster), anew = kept;
		enum collective_kind kind = (enum collective_kind)((draw >> 20) % 6);
		double bytes = ldexp(1, 8 + (int)((draw >> 33) % 24));
		struct collective a, b;

		kept.choices = &choices;
		kept.kernels = anew.kernels = REDUCES_VLLM;
		collective_cost(&kept, &group, kind, bytes, &a);
		collective_cost(&anew, &group, kind, bytes, &b);
		assert_same(&a, &b);
		if (kind != A2A || group.ranks < 2)
			continue;
		collective_dispatch(&kept, &group, EXCHANGE_ONCE, bytes, bytes / 3, &a);
		collective_dispatch(&anew, &group, EXCHANGE_ONCE, bytes, bytes / 3, &b);
		assert_same(&a, &b);
	}
	assert_int_equal(choices.count, MAX_CHOICES);
}

/* Auto is the quickest of what the software has; a pin is taken where it applies. */
static void test_the_quickest_runs_and_a_pin_holds(void **state)
{
	struct group group = members(64, 8), inside = members(8, 8);
	struct cluster cluster;
	struct fabric fabric;
	struct collective chosen, one;

	(void)state;
	plain(&cluster, 1, 400e9, 5, 50e9);
	fabric = carrier(&cluster);
	for (double bytes = 1e3; bytes < 1e10; bytes *= 10) {
		collective_cost(&fabric, &group, AR, bytes, &chosen);
		for (int a = 1; a < ALGORITHM_COUNT; a++)
			if (collective_offers(&fabric, &group, bytes,
					      (enum algorithm)a) &&
			    by(&fabric, &group, AR, bytes, (enum algorithm)a, &one))
				assert_true(chosen.seconds <= one.seconds);
	}
	fabric.pin = ALGORITHM_HIERARCHICAL;
	collective_cost(&fabric, &group, AR, 1e6, &chosen);
	assert_int_equal(chosen.algorithm, ALGORITHM_HIERARCHICAL);
	/* inside one domain there is no hierarchy */
	collective_cost(&fabric, &inside, AR, 1e6, &chosen);
	assert_int_not_equal(chosen.algorithm, ALGORITHM_HIERARCHICAL);
	assert_true(chosen.seconds > 0 && isfinite(chosen.seconds));
	/* vLLM's own border of 8 ranks is 256 KiB */
	fabric = carrier(&cluster);
	fabric.kernels = REDUCES_VLLM;
	cluster.accelerator.transports.row[TRANSPORT_SWITCH][PROTOCOL_SIMPLE].share = 0;
	collective_cost(&fabric, &inside, AR, 65536, &chosen);
	assert_int_equal(chosen.algorithm, ALGORITHM_ONE_SHOT);
	collective_cost(&fabric, &inside, AR, 1 << 20, &chosen);
	assert_int_equal(chosen.algorithm, ALGORITHM_TWO_SHOT);
	collective_cost(&fabric, &inside, AR, 1 << 24, &chosen);
	assert_int_equal(chosen.algorithm, ALGORITHM_RING);
}

/* The knob pins what an estimate runs, and its rows name it. */
static void test_an_estimate_names_its_algorithms(void **state)
{
	struct estimate *ring = calloc(1, sizeof *ring),
			*tree = calloc(1, sizeof *tree);
	struct scenario s;
	bool named = false;

	(void)state;
	case_dense(&s);
	case_set(&s, "zero", "0");
	case_set(&s, "gpus", "256");
	case_set(&s, "collective", "ring");
	train_estimate(&s, ring);
	case_set(&s, "collective", "hierarchical-halving");
	case_set(&s, "tp", "2");
	train_estimate(&s, tree);
	for (int i = 0; i < ring->traffic_count; i++)
		if (ring->traffic[i].kind <= RS)
			assert_int_equal(ring->traffic[i].algorithm, ALGORITHM_RING);
		else
			assert_int_equal(ring->traffic[i].algorithm, ALGORITHM_SEND);
	for (int i = 0; i < tree->traffic_count; i++)
		named |= tree->traffic[i].algorithm == ALGORITHM_HIERARCHICAL_HALVING;
	assert_true(named);
	free(ring);
	free(tree);
}

static const struct finding *find_note(const struct estimate *e)
{
	for (int i = 0; i < e->problems.count; i++)
		if (strcmp(e->problems.item[i].rule->code, "X26") == 0)
			return &e->problems.item[i];
	return NULL;
}

/* A pin that nothing can run is said, with some that run. */
static void test_a_pin_that_runs_nowhere_is_said(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	const struct finding *note;
	struct scenario s;
	int listed = 0;

	(void)state;
	case_dense(&s);
	case_set(&s, "collective", "ring");
	train_estimate(&s, e);
	assert_null(find_note(e));
	case_set(&s, "collective", "torus"); /* on a switch */
	train_estimate(&s, e);
	note = find_note(e);
	assert_non_null(note);
	assert_string_equal(note->knob, "collective");
	assert_true(note->nearest_count > 1);
	for (int i = 0; i < note->nearest_count; i++) {
		s.plan.collective = (int)note->nearest[i];
		train_estimate(&s, e);
		assert_null(find_note(e));
		case_set(&s, "collective", "torus");
		train_estimate(&s, e);
	}
	for (int i = 0; rule_at(i); i++)
		listed += rule_at(i) == find_note(e)->rule;
	assert_int_equal(listed, 1);
	free(e);
}

/* Every member of a group is put on its chip, and the places along each axis are
 * counted: where a group lies on a torus is how far it reaches along its axes. */
static void count_axes(int axes, int64_t ranks, int64_t stride, struct call *out)
{
	int64_t side = axes > 2 ? 4 : 16, area = 0;

	for (; area < ranks * stride; side *= 2) {
		area = side;
		for (int i = 1; i < axes; i++)
			area *= side;
		if (area >= ranks * stride)
			break;
	}
	*out = (struct call){ .D = 1 };
	for (int64_t axis = 0, below = 1; axis < axes; axis++, below *= side) {
		bool there[4096] = { false }, ring;
		int64_t along = 0, end = 0, apart = 0;

		for (int64_t i = 0; i < ranks; i++) {
			int64_t at = i * stride / below % side;

			along += !there[at];
			there[at] = true;
		}
		/* to the next member, over lines of the groups that begin between */
		for (int64_t at = 1; at < side && apart == 0; at++)
			apart = there[at] ? at : 0;
		/* a ring where the group, or those inside its stride, go all round */
		for (int64_t i = 0; i < ranks * stride; i++)
			end = i / below % side > end ? i / below % side : end;
		ring = (end + 1) % (axes > 2 ? 4 : side) == 0 || ranks * stride == 4096;
		if (along < 2)
			continue;
		out->H += (double)(apart * (ring ? along / 2 : along - 1));
		out->U += (ring ? 1 : 0.5) / (double)apart;
		out->D = fmax(out->D, (double)(apart * (ring ? along : 2 * along)));
	}
}

static void test_groups_lie_on_their_chips(void **state)
{
	struct cluster cluster;
	struct fabric fabric = carrier(&cluster);

	(void)state;
	plain(&cluster, 1, 1e11, 1, 1e10);
	cluster.torus = true;
	for (int axes = 2; axes <= 3; axes++)
		for (int64_t ranks = 2; ranks <= 1024; ranks *= 2)
			for (int64_t stride = 1; ranks * stride <= 4096; stride *= 2) {
				struct group group = members(ranks, ranks);
				struct call is, counted;

				group.stride = stride;
				cluster.torus_axes = axes;
				call_find(&fabric, &group, COLLECTIVE_ALL_REDUCE, 1, 0,
					  &is);
				count_axes(axes, ranks, stride, &counted);
				assert_close(is.H, counted.H, 0);
				assert_close(is.U, counted.U, 0);
				assert_close(is.D, counted.D, 0);
			}
}

/* Who is n lines at most from the first, along so many axes of a mesh, is one of as
 * many as a box of these edges holds, and of the even one at most: no member is without
 * a place, however unevenly the stride fills an axis. */
static void test_every_member_has_a_place(void **state)
{
	struct cluster cluster;
	struct fabric fabric = carrier(&cluster);
	int odd = 0;

	(void)state;
	plain(&cluster, 1, 1e11, 1, 1e10);
	cluster.torus = true;
	cluster.gpus = 48;
	for (int axes = 1; axes <= 3; axes++)
		for (int64_t ranks = 2; ranks <= 48; ranks++)
			for (int64_t stride = 1; stride <= 24; stride++) {
				struct group group = members(ranks, ranks);
				struct call call;
				double used;

				group.stride = stride;
				cluster.torus_axes = axes;
				call_find(&fabric, &group, COLLECTIVE_ALL_REDUCE, 1, 0,
					  &call);
				/* a line is half; of axes with gaps not all is known */
				used = fmod(2 * call.U, 1) == 0 ? 2 * call.U : axes;
				odd += used < axes && stride % 2 == 1 && stride > 1;
				if (used >= 1)
					assert_true(pow(1 + call.H / used, used) >=
						    (double)ranks * (1 - 1e-12));
			}
	assert_true(odd > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_steps_to_switches_and_back),
		cmocka_unit_test(test_eight_ranks_by_hand),
		cmocka_unit_test(test_a_rack_by_hand),
		cmocka_unit_test(test_nodes_by_hand),
		cmocka_unit_test(test_oversubscribed_switches),
		cmocka_unit_test(test_what_crosses_a_leaf),
		cmocka_unit_test(test_dispatch_by_hand),
		cmocka_unit_test(test_torus_by_hand),
		cmocka_unit_test(test_a_mesh_of_chips_by_hand),
		cmocka_unit_test(test_mesh_by_hand),
		cmocka_unit_test(test_a_ring_crosses_at_its_borders),
		cmocka_unit_test(test_groups_lie_on_their_chips),
		cmocka_unit_test(test_lines_without_efficiency),
		cmocka_unit_test(test_no_algorithm_beats_the_bounds),
		cmocka_unit_test(test_texts_are_what_is_computed),
		cmocka_unit_test(test_kept_choices_change_nothing),
		cmocka_unit_test(test_the_quickest_runs_and_a_pin_holds),
		cmocka_unit_test(test_a_pin_that_runs_nowhere_is_said),
		cmocka_unit_test(test_an_estimate_names_its_algorithms),
		cmocka_unit_test(test_every_member_has_a_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
