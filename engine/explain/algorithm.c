/* algorithm.c - what a call of Traffic takes by each algorithm. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "engine/collective/seconds.h"
#include "engine/explain/row.h"

static void find_carrier(const struct asked *a, struct fabric *fabric,
			 struct group *group)
{
	const struct traffic *t = explain_traffic_row(a);

	collective_fabric(a->scenario, NULL, fabric);
	*group = (struct group){ .ranks = t->ranks,
				 .stride = t->stride,
				 .per_domain = t->ranks_per_domain,
				 .link = t->link };
}

bool explain_account(const struct asked *a, enum algorithm algorithm,
		     struct account *out)
{
	const struct traffic *t = explain_traffic_row(a);
	struct message message = { t->kind, t->call_bytes, t->remote_bytes };
	struct fabric fabric;
	struct group group;

	if (t->dimension == DIM_HOST || t->kind == COLLECTIVE_COPY)
		return false;
	find_carrier(a, &fabric, &group);
	return account_find(&fabric, &group, &message, algorithm, out);
}

bool explain_offers(const struct asked *a, enum algorithm algorithm)
{
	struct fabric fabric;
	struct group group;

	find_carrier(a, &fabric, &group);
	return collective_offers(&fabric, &group, explain_traffic_row(a)->call_bytes,
				 algorithm);
}

/* --- of one algorithm --- */

static struct account account_of(const struct asked *a)
{
	struct account account = { 0 };

	explain_account(a, a->algorithm, &account);
	return account;
}

VALUE(waiting, account_of(a).waiting)
VALUE(moving, account_of(a).moving)
VALUE(near_steps, account_of(a).work.near_steps)
VALUE(far_steps, account_of(a).work.far_steps)
VALUE(near_bytes, account_of(a).work.near_bytes)
VALUE(far_bytes, account_of(a).work.far_bytes)
VALUE(peers, account_of(a).work.peers)
VALUE(peer_bytes, account_of(a).work.peer_bytes)
VALUE(own_bytes, account_of(a).work.own_bytes)
VALUE(sent_bytes, account_of(a).work.sent_bytes)
VALUE(left_bytes, account_of(a).work.left_bytes)
VALUE(start, account_of(a).pace.start)
VALUE(near_rate, account_of(a).pace.near_rate)
VALUE(peer_rate, account_of(a).pace.peer_rate)
VALUE(far_rate, account_of(a).pace.far_rate)
VALUE(copy_rate, account_of(a).pace.copy_rate)
VALUE(far_share, account_of(a).pace.far_share)
VALUE(ranks, account_of(a).call.p)
VALUE(inside, account_of(a).call.g)
VALUE(domains, account_of(a).call.N)
VALUE(ways, account_of(a).call.f)
VALUE(switch_adds, account_of(a).call.s)
VALUE(axes, account_of(a).call.A)
VALUE(used_axes, account_of(a).call.U)
VALUE(axis_hops, account_of(a).call.H)
VALUE(longest_axis, account_of(a).call.D)
VALUE(spare_lines, account_of(a).call.spare)
VALUE(line_sharers, account_of(a).call.over)

VALUE(seconds, waiting(a) + moving(a))
VALUE(up, lg_up(ranks(a)))
VALUE(down, lg_down(ranks(a)))
VALUE(up_inside, lg_up(inside(a)))
VALUE(up_domains, lg_up(domains(a)))

/* A term if the formula has it; `member` behind "traffic.3.by.ring.". */
static void used(const struct asked *a, struct explanation *out, const char *symbol,
		 const char *meaning, const char *member)
{
	char row[EXPLAIN_MAX_KEY];

	if (formula_uses(out->formula, symbol))
		explain_from(a, out, symbol, meaning, "%s.by.%s.%s",
			     explain_traffic_name(a, row), algorithm_name(a->algorithm),
			     member);
}

static void constant(const struct asked *a, struct explanation *out, const char *symbol,
		     const char *meaning, const char *key)
{
	if (formula_uses(out->formula, symbol))
		explain_from(a, out, symbol, meaning, "%s", key);
}

/* "cluster.ll_share" of the protocol that is quickest. */
static void add_measured(const struct asked *a, struct explanation *out,
			 const char *symbol, const char *meaning, const char *member)
{
#define WORD(word, t, p) [TRANSPORT_##t][PROTOCOL_##p] = word,
	static const char *const words[TRANSPORT_COUNT][PROTOCOL_COUNT] = {
		MEASURED_PROTOCOLS(WORD)
	};
#undef WORD
	struct pace pace = account_of(a).pace;

	if (pace.measured && formula_uses(out->formula, symbol))
		explain_from(a, out, symbol, meaning, "cluster.%s_%s",
			     words[pace.transport][pace.protocol], member);
}

static void second_terms(const struct asked *a, struct explanation *out)
{
	out->source = algorithm_source(a->algorithm);
	used(a, out, "waiting", "steps that wait for each other", "waiting_seconds");
	used(a, out, "moving", "bytes at their rates", "moving_seconds");
}

static void waiting_terms(const struct asked *a, struct explanation *out)
{
	struct account account = account_of(a);
	const struct protocol *row = NULL;

	/* of a pace that nobody measured there is no row */
	if (account.pace.measured)
		row = &a->scenario->cluster.accelerator.transports
			       .row[account.pace.transport][account.pace.protocol];
	if (row && account.pace.peer > 0)
		explain_formula(out, waiting_text);
	else
		explain_say(out, "start + near_steps * hop + far_steps * far_hop");
	used(a, out, "start", "until the kernel runs and has met its peers",
	     "start_seconds");
	used(a, out, "near_steps", "steps inside the domain", "near_steps");
	if (row && row->hop_seconds > 0)
		add_measured(a, out, "hop", "each of them", "hop_seconds");
	else
		constant(a, out, "hop", "each of them",
			 "cluster.domain_latency_seconds");
	used(a, out, "far_steps", "steps across the network", "far_steps");
	constant(a, out, "far_hop", "each of them", "cluster.network_latency_seconds");
	used(a, out, "peers", "that are addressed at once", "peers");
	if (formula_uses(out->formula, "peer"))
		add_measured(a, out, "peer", "each of them", "peer_seconds");
}

static void moving_terms(const struct asked *a, struct explanation *out)
{
	explain_formula(out, account_of(a).unit->in_turn ? in_turn_text : at_once_text);
	used(a, out, "near_bytes", "at the rate inside the domain", "near_bytes");
	used(a, out, "near_rate", "bytes per second inside", "near_rate");
	used(a, out, "peer_bytes", "of them, to one peer", "peer_bytes");
	used(a, out, "peer_rate", "bytes per second to one peer", "peer_rate");
	used(a, out, "far_bytes", "at the rate of the network's port", "far_bytes");
	used(a, out, "far_rate", "bytes per second across", "far_rate");
	used(a, out, "own_bytes", "copied from the input to the result", "own_bytes");
	used(a, out, "copy_rate", "bytes per second of a copy, 0 = any", "copy_rate");
}

static void start_terms(const struct asked *a, struct explanation *out)
{
	if (account_of(a).pace.measured) {
		explain_say(out, "start");
		add_measured(a, out, "start", "of the protocol", "start_seconds");
	} else if (account_of(a).unit->transport == TRANSPORT_DISPATCH &&
		   a->scenario->plan.mode == MODE_INFERENCE &&
		   a->scenario->cluster.accelerator.calibration.serving
				   .all_to_all_seconds > 0) {
		explain_say(out, "start");
		constant(a, out, "start", "of the dispatcher",
			 "cluster.serving_all_to_all_seconds");
	} else {
		explain_formula(out, unmeasured_start_text);
		constant(a, out, "steps", "inside the domain, as usual",
			 "habits.unmeasured_hops");
		constant(a, out, "hop", "a step inside the domain",
			 "cluster.domain_latency_seconds");
	}
}

static void say_times(struct explanation *out, const char *factor)
{
	char stated[FORMULA_MAX_TEXT];

	if (strcmp(out->formula, "0") == 0)
		return;
	snprintf(stated, sizeof stated, "%s", out->formula);
	out->formula[0] = '\0';
	explain_say(out, "%s * (%s)", factor, stated);
}

/* What the work of the unit is made of, by its own text. */
static void work_terms(const struct asked *a, struct explanation *out,
		       const char *member)
{
	char row[EXPLAIN_MAX_KEY];

	explain_traffic_name(a, row);
	unit_formula(account_of(a).unit, explain_traffic_row(a)->kind, member,
		     out->formula);
	if (spare_lines(a) > 1 && strcmp(member, "near_bytes") == 0)
		say_times(out, "spare");
	if (line_sharers(a) > 1 && strcmp(member, "far_bytes") == 0)
		say_times(out, "over");
	out->source = algorithm_source(a->algorithm);
	if (formula_uses(out->formula, "n"))
		explain_from(a, out, "n", "payload", "%s.call_bytes", row);
	if (formula_uses(out->formula, "r"))
		explain_from(a, out, "r", "of it, what leaves the domain",
			     "%s.remote_bytes", row);
	used(a, out, "p", "ranks", "ranks");
	used(a, out, "g", "of them in a domain", "domain_ranks");
	used(a, out, "N", "domains", "domains");
	used(a, out, "f", "2 there and back, 1 one way", "ways");
	used(a, out, "s", "1 where the domain's switch adds up", "switch_adds");
	used(a, out, "A", "axes of the torus, at least 1", "axes");
	used(a, out, "U",
	     "axes that the group lies along, a line half, shared with those between",
	     "used_axes");
	used(a, out, "H", "hops along these to the farthest", "axis_hops");
	used(a, out, "D", "ranks along the longest, of a line twice", "longest_axis");
	used(a, out, "spare", "lines of a rank over those that carry this",
	     "spare_lines");
	used(a, out, "over", "calls that share a line above a leaf", "line_sharers");
	used(a, out, "L", "lg p, rounded up", "lg_ranks_up");
	used(a, out, "l", "lg p, rounded down", "lg_ranks_down");
	used(a, out, "G", "lg g, rounded up", "lg_domain_ranks");
	used(a, out, "M", "lg N, rounded up", "lg_domains");
}

#define WORK_TERMS(member)                                                         \
	static void member##_terms(const struct asked *a, struct explanation *out) \
	{                                                                          \
		work_terms(a, out, #member);                                       \
	}

WORK_TERMS(near_steps)
WORK_TERMS(far_steps)
WORK_TERMS(near_bytes)
WORK_TERMS(far_bytes)
WORK_TERMS(peers)
WORK_TERMS(peer_bytes)
WORK_TERMS(own_bytes)

static void sent_bytes_terms(const struct asked *a, struct explanation *out)
{
	work_terms(a, out, "sent_bytes");
	if (out->terms > 0)
		return;
	out->formula[0] = '\0';
	explain_say(out, "near_bytes%s + far_bytes%s",
		    spare_lines(a) > 1 ? " / spare" : "",
		    line_sharers(a) > 1 ? " / over" : "");
	used(a, out, "near_bytes", "inside the domain", "near_bytes");
	used(a, out, "spare", "lines of a rank over those that carry this",
	     "spare_lines");
	used(a, out, "far_bytes", "across the network", "far_bytes");
	used(a, out, "over", "calls that share a line above a leaf", "line_sharers");
}

static void left_bytes_terms(const struct asked *a, struct explanation *out)
{
	char text[FORMULA_MAX_TEXT];

	unit_formula(account_of(a).unit, explain_traffic_row(a)->kind, "left_bytes",
		     text);
	if (strcmp(text, "0") != 0) {
		work_terms(a, out, "left_bytes");
		return;
	}
	explain_say(out, line_sharers(a) > 1 ? "far_bytes / over" : "far_bytes");
	used(a, out, "far_bytes", "across the network", "far_bytes");
	used(a, out, "over", "calls that share a line above a leaf", "line_sharers");
}

/* What the line gives: B e d. */
static void line_terms(const struct asked *a, struct explanation *out, bool near)
{
	const struct cluster *c = &a->scenario->cluster;
	const struct link *link = &c->link[near ? LINK_DOMAIN : LINK_NETWORK];
	double software = near ? c->accelerator.calibration.collective_share
			       : a->scenario->stack.network_efficiency;
	bool trains = a->scenario->plan.mode == MODE_TRAINING;
	double slowdown = c->accelerator.calibration.network_scale;
	bool calibrated = trains && slowdown > 0 && slowdown != 1;

	explain_say(out, calibrated ? "B * min(1, 1" : "B");
	explain_from(a, out, "B", "of the line, each way",
		     near ? "cluster.domain_bytes_per_second"
			  : "cluster.network_bytes_per_second");
	if (link->efficiency > 0) {
		explain_say(out, " * e");
		explain_from(a, out, "e", "measured share of it",
			     near ? "cluster.domain_efficiency"
				  : "cluster.network_efficiency");
	}
	if (trains && software > 0) {
		explain_say(out, " * d");
		explain_from(a, out, "d", "what the software makes of that",
			     near ? "cluster.collective_share"
				  : "stack.network_efficiency");
	}
	if (calibrated) {
		explain_say(out, " / n)");
		explain_from(a, out, "n", "slower than predicted (calibrate)",
			     "network_scale");
	}
}

/* B e d share, without what is 1 there. */
static void rate_terms(const struct asked *a, struct explanation *out, bool near,
		       const char *share)
{
	line_terms(a, out, near);
	if (share) {
		explain_say(out, " * share");
		if (near)
			add_measured(a, out, "share", "of it, in the protocol", share);
		else
			used(a, out, "share", "payload of what travels", share);
	}
}

FILL(near_rate_terms,
     rate_terms(a, out, true, account_of(a).pace.measured ? "share" : NULL))

static void peer_rate_terms(const struct asked *a, struct explanation *out)
{
	struct pace pace = account_of(a).pace;
	const struct protocol *row;

	if (!pace.measured) {
		rate_terms(a, out, true, NULL);
		return;
	}
	row = &a->scenario->cluster.accelerator.transports
		       .row[pace.transport][pace.protocol];
	rate_terms(a, out, true, row->peer_share > 0 ? "peer_share" : "share");
}

FILL(far_rate_terms, rate_terms(a, out, false, "far_share"))

static void copy_rate_terms(const struct asked *a, struct explanation *out)
{
	if (account_of(a).pace.copy_rate > 0) {
		rate_terms(a, out, true, NULL);
		explain_say(out, " * copy");
		constant(a, out, "copy", "a copy over that", "cluster.copy_share");
	} else {
		explain_say(out, "0");
	}
}

#undef NODE_SOURCE
#define NODE_SOURCE EXPLAIN_LINK_SOURCE
#define WORK_NODE(member, words, unit) \
	NODE(#member, words, unit, member, member##_terms, NULL, by_unit)
#define FACT(name, words, of) \
	NODE(name, words, FORM_COUNT, of, NULL, EXPLAIN_COUNTED, of_group)

static const char by_unit[] = "As the algorithm states it.";
static const char of_group[] = "Of the group, as the plan places it on the machine.";
static const char protocol[] = "In the protocol that is quickest for so many bytes.";

const struct explain_node explain_algorithm[] = {
	NODE("seconds", "A call by this algorithm", FORM_SECONDS, seconds, second_terms,
	     "waiting + moving", protocol),
	NODE("waiting_seconds", "Waiting of a call", FORM_SECONDS, waiting,
	     waiting_terms, NULL, protocol),
	NODE("moving_seconds", "Moving the bytes of a call", FORM_SECONDS, moving,
	     moving_terms, NULL, protocol),
	NODE("start_seconds", "Start of a call", FORM_SECONDS, start, start_terms, NULL,
	     protocol),
	WORK_NODE(near_steps, "Steps inside the domain", FORM_REAL),
	WORK_NODE(far_steps, "Steps across the network", FORM_REAL),
	WORK_NODE(near_bytes, "Bytes at the rate inside the domain", FORM_TRAFFIC),
	WORK_NODE(far_bytes, "Bytes at the rate of the network's port", FORM_TRAFFIC),
	WORK_NODE(peers, "Peers that are addressed at once", FORM_REAL),
	WORK_NODE(peer_bytes, "Bytes to one peer", FORM_TRAFFIC),
	WORK_NODE(own_bytes, "Bytes copied from the input to the result", FORM_TRAFFIC),
	WORK_NODE(sent_bytes, "Bytes that a rank sends", FORM_TRAFFIC),
	WORK_NODE(left_bytes, "Of them across the network, mean of the ranks",
		  FORM_TRAFFIC),
	NODE("near_rate", "Bytes per second inside the domain", FORM_BANDWIDTH,
	     near_rate, near_rate_terms, NULL, protocol),
	NODE("peer_rate", "Bytes per second to one peer", FORM_BANDWIDTH, peer_rate,
	     peer_rate_terms, NULL, protocol),
	NODE("far_rate", "Bytes per second across the network", FORM_BANDWIDTH,
	     far_rate, far_rate_terms, NULL, protocol),
	NODE("copy_rate", "Bytes per second of a copy", FORM_BANDWIDTH, copy_rate,
	     copy_rate_terms, NULL, protocol),
	NODE("far_share", "Payload of what travels", FORM_PERCENT, far_share, NULL,
	     EXPLAIN_COUNTED,
	     "4 of 8 bytes in LL, 120 of 128 in LL128 (NCCL device.h)."),
	FACT("ranks", "Ranks of the group", ranks),
	FACT("domain_ranks", "Ranks of it in a domain", inside),
	FACT("domains", "Domains of it", domains),
	FACT("ways", "There and back, or one way", ways),
	FACT("switch_adds", "Whether the domain's switch adds up", switch_adds),
	FACT("axes", "Axes of the torus", axes),
	FACT("used_axes", "Axes that the group lies along, a line half", used_axes),
	FACT("axis_hops", "Hops along its axes to the farthest", axis_hops),
	FACT("longest_axis", "Ranks along its longest axis, of a line twice",
	     longest_axis),
	FACT("spare_lines", "Lines of a rank over those that carry the call",
	     spare_lines),
	FACT("line_sharers", "Calls that share a line above a leaf", line_sharers),
	FACT("lg_ranks_up", "lg of the ranks, rounded up", up),
	FACT("lg_ranks_down", "lg of the ranks, rounded down", down),
	FACT("lg_domain_ranks", "lg of the ranks in a domain, rounded up", up_inside),
	FACT("lg_domains", "lg of the domains, rounded up", up_domains),
	{ .row.key = NULL },
};
