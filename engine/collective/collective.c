/* collective.c - see collective.h: what a group finds, and names. */
#include "engine/collective/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct unit *const units[ALGORITHM_COUNT] = {
#define ROW(NAME, id, word, has) [ALGORITHM_##NAME] = &unit_##id,
	COLLECTIVE_UNITS(ROW)
#undef ROW
};

void collective_fabric(const struct scenario *scenario,
		       struct collective_choices *choices, struct fabric *out)
{
	const struct calibration *c = &scenario->cluster.accelerator.calibration;
	bool serves = scenario->plan.mode == MODE_INFERENCE;
	double network = scenario->stack.network_efficiency,
	       domain = c->collective_share;

	*out = (struct fabric){
		.cluster = &scenario->cluster,
		.network_share = !serves && network > 0 ? network : 1,
		.domain_share = !serves && domain > 0 ? domain : 1,
		.slowdown = !serves && c->network_scale > 0 ? c->network_scale : 1,
		.start_steps = scenario->stack.habits.unmeasured_hops,
		.pin = (enum algorithm)scenario->plan.collective,
		.kernels = serves ? scenario->stack.serving.kernels : REDUCES_NCCL,
		.dispatch_start_seconds = serves ? c->serving.all_to_all_seconds : 0,
		.choices = choices,
	};
	if (choices) {
		choices->count = 0;
		choices->paced = 0;
	}
}

void collective_of_any_size(struct fabric *fabric)
{
	fabric->any_size = true;
	if (fabric->choices)
		fabric->choices->count = 0;
}

/* Whether an axis of which so many ranks of `side` are filled is a ring. Slices below
 * a block (4 x 4 x 4, or 16 x 16) are meshes. Optical switches close any multiple of
 * four, as a slice of three axes is asked for; a 16 x 16 is fixed, and a part of its
 * axis is a line (Google Cloud TPU v4 and v6e; jax-ml scaling book, "How to Think About
 * TPUs"). */
static bool closes(const struct call *call, double chips, double reach, double filled,
		   double side)
{
	double block = call->axes > 2 ? 64 : 256;
	double whole = call->axes > 2 ? 4 : side;

	return chips >= block && (fmod(filled, whole) == 0 || reach >= chips);
}

/* The side, a power of two, of the smallest torus that has so many chips. */
static double side_of(int axes, double chips)
{
	double side = 1;

	while (pow(side, axes) < chips && side < 4096)
		side *= 2;
	return side;
}

/* Along one axis a ring has two ways, a line one, and from its end all hops. Between
 * two members lie those of all groups inside the stride: so many hops, and so many
 * groups that send over each line. */
static void lie_along(double along, double apart, bool ring, struct call *out)
{
	if (along < 2)
		return;
	out->H += apart * (ring ? floor(along / 2) : along - 1);
	out->U += (ring ? 1 : 0.5) / apart;
	out->D = larger(out->D, apart * (ring ? along : 2 * along));
}

/* Ranks of the group along each axis of a torus of blocks: 4 x 4 x 4 where there are
 * three axes (Jouppi et al. 2023, section 2.2), 16 x 16 where there are two, cubes of
 * powers of two above that. Groups inside this one's stride fill the axes before. */
static void lay_on_axes(const struct fabric *fabric, const struct group *group,
			struct call *out)
{
	double ranks = (double)group->ranks;
	double before = group->stride > 1 ? (double)group->stride : 1;
	double reach = ranks * before, side;
	double chips = (double)cluster_domain(fabric->cluster);

	out->axes =
		(int)lesser(MAX_AXES, larger(1, (double)fabric->cluster->torus_axes));
	out->A = out->axes;
	side = side_of(out->axes,
		       larger(reach, lesser(chips, out->axes > 2 ? 64 : 256)));
	for (int i = 0; i < out->axes; i++) {
		double filled = lesser(side, before);
		double room = i + 1 < out->axes ? floor(side / filled) : ranks;
		double along = larger(1, lesser(room, ranks));

		before = ceil(before / filled);
		ranks = ceil(ranks / along);
		lie_along(along, filled,
			  closes(out, chips, reach, filled * along, side), out);
	}
}

/* Lines of a member over those that carry a call. Of a torus a message takes one of two
 * on each axis; of a mesh a group has as many as members beside one. */
static double lines_spare(const struct cluster *c, const struct call *call)
{
	double lines = (double)c->link[LINK_DOMAIN].lines;
	double used = call->kind == COLLECTIVE_SEND ? 1 : call->g - 1;

	if (call->axes > 0)
		return call->kind == COLLECTIVE_SEND ? 2 * call->A : 1;
	return used >= 1 && lines > used ? lines / used : 1;
}

/* Calls that share a line above a leaf. As many lines lead out of a leaf as it has
 * members, over what it is oversubscribed. Each ring crosses its border once, of a
 * group one beside each of its members in a domain; of an exchange all that leaves the
 * leaf does, of a row of messages those at the border. */
static double beyond_leaf(const struct cluster *c, const struct group *group,
			  const struct call *call)
{
	const struct link *upper = &c->link[LINK_UPPER];
	double stride = larger(1, (double)group->stride),
	       over = upper->oversubscription;
	double inside = lesser(floor((double)upper->span / stride), call->p), share;

	if (group->link != LINK_UPPER || !(over > 1) || inside >= call->p)
		return 1;
	inside = larger(1, inside);
	share = larger(1, call->g) / inside;
	if (call->kind == COLLECTIVE_ALL_TO_ALL)
		share = (call->p - inside) / larger(1, call->p - call->g);
	if (call->kind == COLLECTIVE_SEND)
		share = 1 / inside;
	return larger(1, over * share);
}

void call_find(const struct fabric *fabric, const struct group *group,
	       enum collective_kind kind, double n, double r, struct call *out)
{
	const struct cluster *c = fabric->cluster;
	bool adds =
		c->link[LINK_DOMAIN].in_network_reduction ||
		c->accelerator.transports.row[TRANSPORT_SWITCH][PROTOCOL_SIMPLE].share >
			0;

	*out = (struct call){
		.kind = kind,
		.n = n,
		.r = group->link == LINK_DOMAIN ? 0 : r,
		.p = (double)group->ranks,
		.g = (double)group->per_domain,
		.f = kind == COLLECTIVE_ALL_REDUCE ? 2 : 1,
		.s = adds && group->per_domain > 2,
		.network_adds = c->link[LINK_NETWORK].in_network_reduction,
		.A = 1,
		.D = 1,
	};
	out->N = group->link == LINK_DOMAIN ? 1 : ceil(out->p / out->g);
	if (c->torus && group->link == LINK_DOMAIN)
		lay_on_axes(fabric, group, out);
	out->spare = lines_spare(c, out);
	out->over = beyond_leaf(c, group, out);
}

void unit_formula(const struct unit *unit, enum collective_kind kind,
		  const char *member, char out[FORMULA_MAX_TEXT])
{
	const char *text = unit->work[kind] ? unit->work[kind]->text : "";
	char start[40], piece[FORMULA_MAX_TEXT];
	const char *from, *to;

	snprintf(start, sizeof start, ".%s = ", member);
	from = strstr(text, start);
	snprintf(out, FORMULA_MAX_TEXT, "0");
	if (!from)
		return;
	from += strlen(start);
	to = strstr(from, ", .");
	snprintf(piece, sizeof piece, "%.*s", to ? (int)(to - from) : (int)strlen(from),
		 from);
	formula_words(piece, out);
}

double collective_remote_bytes(const struct group *group, double payload_bytes)
{
	return payload_bytes * (double)(group->ranks - group->per_domain) /
	       (double)group->ranks;
}

/* Of so many equal parts of the experts those that any of `chosen` random ones is in.
 */
static double parts_hit(double parts, double chosen, double experts)
{
	double missed = 1, elsewhere = experts - experts / parts;

	for (int i = 0; i < (int)chosen && missed > 0; i++)
		missed *= larger(0, elsewhere - i) / (experts - i);
	return parts * (1 - missed);
}

double collective_rank_copies(const struct group *group, double chosen, double experts)
{
	return parts_hit((double)group->ranks, chosen, experts);
}

double collective_remote_copies(const struct group *group, double chosen,
				double experts, bool once, double limit)
{
	double domains = ceil((double)group->ranks / (double)group->per_domain);
	double copies = chosen;

	if (domains <= 1)
		return 0;
	if (once) {
		copies = parts_hit(domains, chosen, experts);
		if (limit > 0)
			copies = lesser(copies, limit);
	}
	return copies * (domains - 1) / domains;
}

/* --- names ----------------------------------------------------------------- */

const char *collective_label(enum collective_kind kind)
{
	static const char *const labels[COLLECTIVE_COUNT] = {
		[COLLECTIVE_ALL_REDUCE] = "all-reduce",
		[COLLECTIVE_ALL_GATHER] = "all-gather",
		[COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
		[COLLECTIVE_ALL_TO_ALL] = "all-to-all",
		[COLLECTIVE_SEND] = "send",
		[COLLECTIVE_BROADCAST] = "broadcast",
		[COLLECTIVE_COPY] = "copy",
	};

	return (unsigned)kind < COLLECTIVE_COUNT ? labels[kind] : "";
}

const char *algorithm_name(enum algorithm algorithm)
{
	static const char *const names[] = {
		"auto",
#define WORD(NAME, id, word, has) word,
		COLLECTIVE_UNITS(WORD)
#undef WORD
			"several",
	};

	return (unsigned)algorithm <= ALGORITHM_COUNT ? names[algorithm] : "";
}

const char *algorithm_source(enum algorithm algorithm)
{
	const struct unit *unit = unit_of(algorithm);

	return unit ? unit->source : "";
}
