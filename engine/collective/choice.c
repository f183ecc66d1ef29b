/* choice.c - which algorithm runs: the quickest that the software has, or the pin. */
#include <math.h>

#include "engine/collective/seconds.h"

/* The algorithms of each software, as bits: a plan's collectives are asked for often.
 */
#define BIT_OF(NAME, library, has) \
	(((has) & (library)) != 0 ? 1u << ALGORITHM_##NAME : 0u)
#define OF_NCCL(NAME, id, word, has)     | BIT_OF(NAME, LIBRARY_NCCL, has)
#define OF_VLLM(NAME, id, word, has)     | BIT_OF(NAME, LIBRARY_VLLM, has)
#define OF_TENSORRT(NAME, id, word, has) | BIT_OF(NAME, LIBRARY_TENSORRT, has)
#define OF_TORUS(NAME, id, word, has)    | BIT_OF(NAME, LIBRARY_TORUS, has)

static unsigned offered(const struct fabric *fabric, bool torus)
{
	if (torus)
		return 0u COLLECTIVE_UNITS(OF_TORUS);
	return (0u COLLECTIVE_UNITS(OF_NCCL)) |
	       (fabric->kernels == REDUCES_VLLM ? 0u COLLECTIVE_UNITS(OF_VLLM) : 0u) |
	       (fabric->kernels == REDUCES_TENSORRT ? 0u COLLECTIVE_UNITS(OF_TENSORRT)
						    : 0u);
}

bool collective_offers(const struct fabric *fabric, const struct group *group,
		       double payload_bytes, enum algorithm algorithm)
{
	const struct unit *unit = unit_of(algorithm);
	bool torus = fabric->cluster->torus && group->link == LINK_DOMAIN;

	return unit && (offered(fabric, torus) >> algorithm & 1) &&
	       (!unit->taken || unit->taken(payload_bytes, (double)group->ranks));
}

static bool is_slower(const struct choice_line *line, const struct choice_line *than)
{
	return !than->ruled && line->waiting >= than->waiting &&
	       line->moving >= than->moving;
}

/* The line after the last: it stays unless another is quicker for all sizes. */
static void keep_line(struct collective_choice *out)
{
	const struct choice_line *line = &out->line[out->count];

	for (int i = 0; i < out->count; i++)
		if (is_slower(line, &out->line[i]))
			return;
	if (out->count < CHOICE_LINES - 1)
		out->count++;
}

/* A line for each protocol; the call is of one byte and the unit applies. */
static void add_lines(const struct fabric *fabric, const struct call *call,
		      enum algorithm algorithm, struct collective_choice *out)
{
	const struct unit *unit = units[algorithm];
	const struct paces *paces;
	struct paces room;
	struct unit_work work;

	unit_does(unit, call, &work);
	paces = paces_find(fabric, unit->transport, &room);
	for (int i = 0; i < paces->count; i++) {
		struct choice_line *line = &out->line[out->count];

		line->waiting = work_waiting(&work, &paces->of[i]);
		line->moving = work_moving(unit, &work, &paces->of[i]);
		line->sent = work.sent_bytes;
		line->network = work.left_bytes;
		line->algorithm = algorithm;
		line->ruled = unit->taken && !out->pinned && !fabric->any_size;
		keep_line(out);
	}
}

/* What is asked of a group, whatever the size. */
struct question {
	enum collective_kind kind;
	enum exchange exchange;
	double remote_share;
};

static void find_lines(const struct fabric *fabric, const struct group *group,
		       const struct question *question, struct collective_choice *out)
{
	struct call call;

	call_find(fabric, group, question->kind, 1, question->remote_share, &call);
	call.exchange = question->exchange;
	out->count = 0;
	out->pinned = fabric->pin != ALGORITHM_AUTO &&
		      unit_applies(units[fabric->pin], &call);
	if (out->pinned) {
		add_lines(fabric, &call, fabric->pin, out);
		return;
	}
	for (unsigned has = offered(fabric, call.axes > 0); has; has &= has - 1) {
		enum algorithm algorithm = (enum algorithm)__builtin_ctz(has);

		if (unit_applies(units[algorithm], &call))
			add_lines(fabric, &call, algorithm, out);
	}
}

static uint64_t who_asks(const struct group *group)
{
	return (uint64_t)group->ranks << 32 | (uint64_t)group->stride;
}

static uint64_t what_is_asked(const struct group *group,
			      const struct question *question)
{
	return (uint64_t)group->per_domain << 32 | (uint64_t)group->link << 16 |
	       (uint64_t)question->kind << 8 | (uint64_t)question->exchange;
}

/* The last place is used again where all are taken. */
static struct collective_choice *keep_choice(const struct fabric *fabric,
					     const struct group *group,
					     const struct question *question)
{
	struct collective_choices *kept = fabric->choices;
	struct collective_choice *out;

	kept->count += kept->count < MAX_CHOICES;
	out = &kept->of[kept->count - 1];
	out->who = who_asks(group);
	out->what = what_is_asked(group, question);
	out->remote_share = question->remote_share;
	out->answer.call_bytes = 0;
	find_lines(fabric, group, question, out);
	return out;
}

static struct collective_choice *find_choice(const struct fabric *fabric,
					     const struct group *group,
					     const struct question *question)
{
	struct collective_choices *kept = fabric->choices;
	uint64_t who = who_asks(group), what = what_is_asked(group, question);

	for (int i = 0; i < kept->count; i++)
		if (kept->of[i].what == what && kept->of[i].who == who &&
		    kept->of[i].remote_share == question->remote_share)
			return &kept->of[i];
	return keep_choice(fabric, group, question);
}

/* The quickest line for the bytes of the call. */
static void take_line(const struct collective_choice *choice, const struct group *group,
		      struct collective *out)
{
	const struct choice_line *best = NULL;
	double bytes = out->call_bytes, least = INFINITY;

	for (int i = 0; i < choice->count; i++) {
		const struct choice_line *line = &choice->line[i];
		double seconds = line->waiting + line->moving * bytes;

		if (seconds >= least ||
		    (line->ruled &&
		     !units[line->algorithm]->taken(bytes, (double)group->ranks)))
			continue;
		best = line;
		least = seconds;
	}
	out->seconds = least;
	if (!best)
		return;
	out->sent_bytes = best->sent * bytes;
	out->network_bytes = best->network * bytes;
	out->algorithm = best->algorithm;
}

static bool nothing_moves(const struct group *group, double bytes,
			  struct collective *out)
{
	if (group->ranks > 1 && bytes > 0)
		return false;
	*out = (struct collective){ .pieces = 1, .call_bytes = bytes };
	return true;
}

static void choose_anew(const struct fabric *fabric, const struct group *group,
			const struct question *question, struct collective *out)
{
	struct collective_choice room;

	find_lines(fabric, group, question, &room);
	take_line(&room, group, out);
}

static void choose_kept(const struct fabric *fabric, const struct group *group,
			const struct question *question, double bytes,
			struct collective *out)
{
	struct collective_choice *kept = NULL;

	if (fabric->choices) {
		kept = find_choice(fabric, group, question);
		/* layers are alike, so that the last call comes again */
		if (kept->answer.call_bytes == bytes) {
			*out = kept->answer;
			return;
		}
	}
	*out = (struct collective){ .pieces = 1,
				    .call_bytes = bytes,
				    .remote_bytes = question->remote_share * bytes };
	if (!kept) {
		choose_anew(fabric, group, question, out);
		return;
	}
	take_line(kept, group, out);
	kept->answer = *out;
}

void collective_cost(const struct fabric *fabric, const struct group *group,
		     enum collective_kind kind, double payload_bytes,
		     struct collective *out)
{
	struct question question = { kind, EXCHANGE_PLAIN, 0 };

	if (nothing_moves(group, payload_bytes, out))
		return;
	if (kind == COLLECTIVE_ALL_TO_ALL)
		question.remote_share = collective_remote_bytes(group, 1);
	choose_kept(fabric, group, &question, payload_bytes, out);
}

void collective_dispatch(const struct fabric *fabric, const struct group *group,
			 enum exchange exchange, double payload_bytes,
			 double remote_bytes, struct collective *out)
{
	struct question question = { COLLECTIVE_ALL_TO_ALL, exchange, 0 };

	if (nothing_moves(group, payload_bytes, out))
		return;
	question.remote_share = remote_bytes / payload_bytes;
	choose_kept(fabric, group, &question, payload_bytes, out);
}

bool collective_by(const struct fabric *fabric, const struct group *group,
		   const struct message *message, enum algorithm algorithm,
		   struct collective *out)
{
	const struct unit *unit = unit_of(algorithm);
	struct collective_choice choice = { .pinned = true };
	struct call call;

	if (nothing_moves(group, message->bytes, out) || !unit)
		return false;
	*out = (struct collective){ .pieces = 1,
				    .call_bytes = message->bytes,
				    .remote_bytes = message->remote_bytes };
	call_find(fabric, group, message->kind, 1,
		  message->remote_bytes / message->bytes, &call);
	call.exchange = unit->exchange;
	if (!unit_applies(unit, &call))
		return false;
	add_lines(fabric, &call, algorithm, &choice);
	take_line(&choice, group, out);
	return true;
}
