/* seconds.c - see seconds.h. */
#include "engine/collective/seconds.h"

#include <math.h>

/* Of what LL and LL128 send over the network so much is payload: 4 of 8 bytes, 120 of
 * 128 (NCCL src/include/device.h). */
static const double payload_share[PROTOCOL_COUNT] = { 0.5, 120.0 / 128, 1 };

/* software: what it makes of the line's measured share. */
static double line_rate(const struct fabric *fabric, const struct link *link,
			double software, double share)
{
	double reached = link->efficiency > 0 ? link->efficiency : 1;
	double rate;

	if (fabric->slowdown != 1) {
		reached = calibrated_share_value(reached, software, fabric->slowdown);
		software = 1;
	}
	rate = rate_value(link->bytes_per_second, reached, software, share);
	return rate > 0 ? rate : 1;
}

static void set_pace(const struct fabric *fabric, const struct protocol *protocol,
		     double far_share, struct pace *out)
{
	const struct cluster *c = fabric->cluster;
	const struct link *near = &c->link[LINK_DOMAIN], *far = &c->link[LINK_NETWORK];
	double near_share = fabric->domain_share;
	double to_peer =
		protocol->peer_share > 0 ? protocol->peer_share : protocol->share;
	double copy = c->accelerator.transports.copy_share;

	out->start = protocol->start_seconds;
	out->hop = protocol->hop_seconds > 0 ? protocol->hop_seconds
					     : near->latency_seconds;
	out->far_hop = far->latency_seconds;
	out->peer = protocol->peer_seconds;
	out->far_share = far_share;
	out->near_rate = line_rate(fabric, near, near_share, protocol->share);
	out->peer_rate = line_rate(fabric, near, near_share, to_peer);
	out->far_rate = line_rate(fabric, far, fabric->network_share, far_share);
	out->copy_rate = copy > 0 ? line_rate(fabric, near, near_share, copy) : 0;
}

/* A transport without protocols of its own has those of rings. */
static enum transport protocols_of(const struct transports *all,
				   enum transport transport)
{
	if (transport == TRANSPORT_DISPATCH)
		transport = TRANSPORT_EXCHANGE;
	return all->row[transport][PROTOCOL_SIMPLE].share > 0 ? transport
							      : TRANSPORT_RING;
}

static void find_paces(const struct fabric *fabric, enum transport transport,
		       struct paces *out)
{
	const struct transports *all = &fabric->cluster->accelerator.transports;
	const struct link *near = &fabric->cluster->link[LINK_DOMAIN];
	struct protocol plain = {
		.start_seconds = unmeasured_start_value(fabric->start_steps,
							near->latency_seconds),
		.share = 1,
	};
	bool own =
		transport == TRANSPORT_DISPATCH && fabric->dispatch_start_seconds > 0;

	out->count = 0;
	transport = protocols_of(all, transport);
	for (int i = 0; i < PROTOCOL_COUNT && !own; i++) {
		const struct protocol *row = &all->row[transport][i];
		struct pace *pace = &out->of[out->count];

		if (!(row->share > 0))
			continue;
		pace->measured = true;
		pace->transport = transport;
		pace->protocol = (enum protocol_name)i;
		set_pace(fabric, row, payload_share[i], pace);
		out->count++;
	}
	if (out->count > 0)
		return;
	if (own)
		plain.start_seconds = fabric->dispatch_start_seconds;
	out->of[0].measured = false;
	set_pace(fabric, &plain, 1, &out->of[0]);
	out->count = 1;
}

const struct paces *paces_find(const struct fabric *fabric, enum transport transport,
			       struct paces *room)
{
	struct collective_choices *kept = fabric->choices;
	unsigned place = (unsigned)transport;

	if (kept && (kept->paced >> place & 1))
		return &kept->paces[place];
	if (kept) {
		room = &kept->paces[place];
		kept->paced |= 1u << place;
	}
	find_paces(fabric, transport, room);
	return room;
}

bool account_find(const struct fabric *fabric, const struct group *group,
		  const struct message *message, enum algorithm algorithm,
		  struct account *out)
{
	const struct unit *unit = unit_of(algorithm);
	const struct paces *paces;
	double least = INFINITY;
	struct paces room;

	if (!unit || group->ranks < 2)
		return false;
	call_find(fabric, group, message->kind, message->bytes, message->remote_bytes,
		  &out->call);
	out->call.exchange = unit->exchange;
	if (!unit_applies(unit, &out->call))
		return false;
	out->unit = unit;
	unit_does(unit, &out->call, &out->work);
	paces = paces_find(fabric, unit->transport, &room);
	for (int i = 0; i < paces->count; i++) {
		double waiting = work_waiting(&out->work, &paces->of[i]);
		double moving = work_moving(unit, &out->work, &paces->of[i]);

		if (waiting + moving >= least)
			continue;
		least = waiting + moving;
		out->pace = paces->of[i];
		out->waiting = waiting;
		out->moving = moving;
	}
	return true;
}
