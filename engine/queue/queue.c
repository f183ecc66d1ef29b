/* queue.c - see queue.h: who comes when, and which server's passes end next. */
#include "engine/queue/queue.h"

#include <math.h>
#include <string.h>

#include "engine/queue/queue_parts.h"

enum { TELL_EACH = 4096 }; /* requests: some milliseconds */
enum { ENDS_ABREAST = 4 };

/* --- lines --- */

void line_insert(struct line *line, struct request *all, int32_t who, int32_t behind)
{
	int32_t next = behind != NOBODY ? all[behind].next : line->first;

	all[who].before = behind;
	all[who].next = next;
	if (behind != NOBODY)
		all[behind].next = who;
	else
		line->first = who;
	if (next != NOBODY)
		all[next].before = who;
	else
		line->last = who;
	line->count++;
}

void line_add(struct line *line, struct request *all, int32_t who)
{
	line_insert(line, all, who, line->last);
}

void line_drop(struct line *line, struct request *all, int32_t who)
{
	struct request *r = &all[who];

	if (r->before != NOBODY)
		all[r->before].next = r->next;
	else
		line->first = r->next;
	if (r->next != NOBODY)
		all[r->next].before = r->before;
	else
		line->last = r->before;
	line->count--;
}

/* --- what happens to a request --- */

/* When a request has been read and split into tokens: each server's process for that
 * takes one after the other, and they take turns. A static batch is handed over whole:
 * what comes at once is received at once. */
static double received(struct simulation *s, int32_t who, double arrival)
{
	int front = s->fronts > 0 ? s->fronts : s->stations;
	struct station *by = &s->station[who % front];
	bool whole = by->pool->scheduler == SERVE_STATIC;

	if (whole && arrival == by->host_last)
		return by->host_free;
	by->host_last = arrival;
	by->host_free = fmax(by->host_free, arrival) + s->system->host_seconds;
	return by->host_free;
}

/* The next of a closed loop, or of the list, is on its way. */
static void begin_next(struct simulation *s, double now)
{
	int32_t who = s->begun;
	struct request *r = &s->request[who];

	if (who >= s->load->requests)
		return;
	if (s->load->arrivals == ARRIVE_CLOSED)
		r->arrival = now;
	r->ready = received(s, who, r->arrival);
	s->begun++;
	line_add(&s->coming, s->request, who);
}

void simulation_first_token(struct simulation *s, int32_t who, double now)
{
	double goal = s->system->goal_ttft;

	s->request[who].first = now;
	s->late[0] += goal > 0 && now - s->request[who].arrival > goal;
}

void simulation_done(struct simulation *s, int32_t who, double now)
{
	struct request *r = &s->request[who];
	double goal = s->system->goal_tpot;

	r->end = now;
	s->late[1] += goal > 0 && figures_tpot(r) > goal;
	s->done++;
	if (s->load->tell && s->done % TELL_EACH == 0)
		s->load->tell(s->load->listener, s->done);
	if (s->load->arrivals == ARRIVE_CLOSED)
		begin_next(s, now);
}

/* Caches that leave one server share what its network carries: one after the other.
 * The line of what travels is by arrival. */
void simulation_send(struct simulation *s, struct station *from, int32_t who)
{
	struct request *r = &s->request[who];
	double begin = fmax(from->end + from->trail, from->net_free);
	int32_t behind = s->sent.last;

	from->net_free = begin + r->prompt * s->system->send_seconds;
	r->ready = from->net_free + s->system->send_latency;
	/* who decodes makes the first token too, in a pass of its own */
	r->left = 1 + (int32_t)ceil((r->output - 1) / s->system->pool.gain);
	while (behind != NOBODY && s->request[behind].ready > r->ready)
		behind = s->request[behind].before;
	line_insert(&s->sent, s->request, who, behind);
}

void simulation_fetch(struct simulation *s, struct station *to, int32_t who,
		      double tokens, double now)
{
	double seconds = tokens * to->pool->fetch_seconds;
	int32_t behind = s->fetching.last;
	struct request *r = &s->request[who];

	to->link_free = fmax(now, to->link_free) + seconds;
	r->ready = fmax(now, to->link_free - fmin(seconds, to->pool->fetch_hidden));
	r->at = (int32_t)(to - s->station);
	while (behind != NOBODY && s->request[behind].ready > r->ready)
		behind = s->request[behind].before;
	line_insert(&s->fetching, s->request, who, behind);
}

/* --- who goes where --- */

/* Something happens to a station: it may have to plan, and its end to be read anew.
 * Nearly always behind those that were touched before. */
static void touch(struct simulation *s, const struct station *station)
{
	int32_t which = (int32_t)(station - s->station);
	int at = s->touched_count;

	while (at > 0 && s->touched[at - 1] > which)
		at--;
	if (at > 0 && s->touched[at - 1] == which)
		return;
	for (int i = s->touched_count++; i > at; i--)
		s->touched[i] = s->touched[i - 1];
	s->touched[at] = which;
}

static struct station *least_loaded(struct station *from, int count)
{
	struct station *best = from;

	for (int i = 1; i < count; i++)
		if (station_load(&from[i]) < station_load(best))
			best = &from[i];
	return best;
}

/* Tokens of a prompt that lie on the host; at least one is computed. */
static double on_host(const struct station *to, const struct request *r)
{
	double rest = r->prompt - station_cached(to, r);

	return fmax(0, fmin(floor(to->pool->fetched * rest), rest - 1));
}

static void deliver_fetched(struct simulation *s, double now)
{
	while (s->fetching.count > 0 && s->request[s->fetching.first].ready <= now) {
		int32_t who = s->fetching.first;
		struct station *to = &s->station[s->request[who].at];

		line_drop(&s->fetching, s->request, who);
		touch(s, to);
		if (s->request[who].held > 0)
			station_return(to, s, who, now);
		else
			station_take(to, s, who, now);
	}
}

static void deliver_coming(struct simulation *s, double now)
{
	int front = s->fronts > 0 ? s->fronts : s->stations;

	while (s->coming.count > 0 && s->request[s->coming.first].ready <= now) {
		int32_t who = s->coming.first;
		struct request *r = &s->request[who];
		struct station *to = least_loaded(s->station, front);
		double fetched = on_host(to, r);

		line_drop(&s->coming, s->request, who);
		r->cached += (int32_t)fetched;
		r->fill = (int32_t)fmax(1, r->prompt - station_cached(to, r));
		s->out->fetched_tokens += fetched;
		if (fetched > 0)
			simulation_fetch(s, to, who, fetched, now);
		else
			station_take(to, s, who, now);
		touch(s, to);
		if (s->load->arrivals != ARRIVE_CLOSED)
			begin_next(s, now);
	}
}

static void deliver_sent(struct simulation *s, double now)
{
	while (s->sent.count > 0 && s->request[s->sent.first].ready <= now) {
		int32_t who = s->sent.first;
		struct station *to =
			least_loaded(s->station + s->fronts, s->stations - s->fronts);

		line_drop(&s->sent, s->request, who);
		station_take(to, s, who, now);
		touch(s, to);
	}
}

static double next_event(const struct simulation *s)
{
	double least[ENDS_ABREAST] = { INFINITY, INFINITY, INFINITY, INFINITY };
	double next = INFINITY;

	if (s->coming.count > 0)
		next = s->request[s->coming.first].ready;
	if (s->sent.count > 0)
		next = fmin(next, s->request[s->sent.first].ready);
	if (s->fetching.count > 0)
		next = fmin(next, s->request[s->fetching.first].ready);
	/* once an event for each server: no call, and four that do not wait for each
	 * other */
	for (int i = 0; i < s->stations; i += ENDS_ABREAST)
		for (int k = 0; k < ENDS_ABREAST; k++)
			least[k] = s->end[i + k] < least[k] ? s->end[i + k] : least[k];
	return fmin(fmin(least[0], least[1]), fmin(fmin(least[2], least[3]), next));
}

/* Copies of the attention share the experts between them, or wait for each other in
 * collectives: none begins a pass before all are done with theirs, and the fullest says
 * how long it takes. */
static void plan_abreast(struct simulation *s, int first, int end, double now)
{
	double last = -INFINITY;
	int loaded = 0;

	for (int i = first; i < end; i++) {
		if (s->station[i].end < INFINITY)
			return;
		loaded += station_load(&s->station[i]) > 0;
	}
	if (loaded == 0)
		return;
	for (int i = first; i < end; i++) {
		s->station[i].beside = end - first > 1 ? loaded : 0;
		if (station_load(&s->station[i]) > 0)
			station_plan(&s->station[i], s, now);
		if (!isinf(s->station[i].end))
			last = fmax(last, s->station[i].end);
	}
	for (int i = first; i < end; i++)
		if (!isinf(s->station[i].end))
			s->station[i].end = last;
}

/* Engines to which nothing happened have nothing to plan. */
static void plan_touched(struct simulation *s, double now)
{
	for (int i = 0, done = 0; i < s->touched_count; i++) {
		int first = s->station[s->touched[i]].engine;
		int end = first + s->station[first].abreast;

		if (first < done)
			continue;
		plan_abreast(s, first, end, now);
		for (done = first; done < end; done++)
			s->end[done] = s->station[done].end;
	}
	s->touched_count = 0;
}

static void step(struct simulation *s, double now)
{
	for (int i = 0; i < s->stations; i++)
		if (s->end[i] <= now) {
			station_end(&s->station[i], s);
			touch(s, &s->station[i]);
		}
	deliver_sent(s, now);
	deliver_coming(s, now);
	deliver_fetched(s, now);
	plan_touched(s, now);
}

/* --- memory --- */

static int servers(const struct queue_system *system)
{
	return system->pool.servers + system->prompts.servers;
}

/* Requests of a server that decode, at most. Each goes to the server with the fewest,
 * so that none has more than its share of all; but who waits for a copy from the host
 * is counted nowhere. */
static size_t endings(const struct queue_load *load, const struct queue_pool *pool)
{
	int most = load->requests;

	if (load->arrivals == ARRIVE_CLOSED && load->users < most)
		most = load->users;
	if (!pool->swaps && pool->fetched <= 0)
		most = (most + pool->servers - 1) / pool->servers;
	if (pool->most_requests > 0 && pool->most_requests < most)
		most = pool->most_requests;
	return (size_t)most + 1;
}

size_t queue_bytes(const struct queue_load *load, const struct queue_system *system)
{
	size_t n = (size_t)load->requests + 1, stations = (size_t)servers(system);

	return n * (sizeof(struct request) + sizeof(double)) +
	       stations * (sizeof(struct station) + sizeof(double) + sizeof(int32_t) +
			   endings(load, &system->pool) * sizeof(struct ending)) +
	       64 * (stations + 7);
}

/* Stations from this one on that are of one engine. */
static int abreast(const struct queue_pool *pool, int i)
{
	int whole = pool->abreast > 1 ? pool->abreast : 1;
	int left = pool->servers - i;

	return whole < left ? whole : left;
}

static bool open_simulation(struct simulation *s, struct arena *arena)
{
	size_t n = (size_t)s->load->requests + 1;

	s->fronts = s->system->prompts.servers;
	s->stations = servers(s->system);
	s->request = arena_take(arena, n, sizeof *s->request);
	s->station = arena_take(arena, (size_t)s->stations, sizeof *s->station);
	s->end =
		arena_take(arena, (size_t)(s->stations + ENDS_ABREAST), sizeof *s->end);
	s->touched = arena_take(arena, (size_t)s->stations, sizeof *s->touched);
	if (!s->request || !s->station || !s->end || !s->touched)
		return false;
	for (int i = 0; i < s->stations + ENDS_ABREAST; i++)
		s->end[i] = INFINITY;
	for (int i = 0; i < s->stations; i++) {
		bool front = i < s->fronts;
		const struct queue_pool *pool =
			front ? &s->system->prompts : &s->system->pool;
		struct ending *heap = arena_take(
			arena, front ? 1 : endings(s->load, pool), sizeof *heap);

		if (!heap)
			return false;
		station_open(&s->station[i], pool, front, heap);
		s->station[i].abreast = front ? abreast(pool, i) : 1;
		s->station[i].engine =
			front && pool->abreast > 1 ? i - i % pool->abreast : i;
	}
	s->coming = s->sent = s->fetching = (struct line){ NOBODY, NOBODY, 0 };
	return true;
}

static void keep_records(const struct simulation *s, struct queue_record *records)
{
	for (int i = 0; i < s->load->requests; i++) {
		const struct request *r = &s->request[i];

		records[i] = (struct queue_record){ r->arrival, r->first, r->end,
						    r->prompt, r->output };
	}
}

bool queue_run(const struct queue_system *system, const struct queue_load *load,
	       struct arena *arena, struct queue_record *records,
	       struct queue_result *out)
{
	struct simulation s = { .system = system, .load = load, .out = out };
	int together = load->arrivals == ARRIVE_CLOSED ? load->users : 1;
	int most = system->until_missed ? figures_too_many(load->requests)
					: load->requests + 1;
	double *scratch;

	*out = (struct queue_result){ 0 };
	if (load->requests < 1 || !open_simulation(&s, arena))
		return false;
	scratch = arena_take(arena, (size_t)load->requests, sizeof *scratch);
	if (!scratch)
		return false;
	load_draw(load, s.request);
	for (int i = 0; i < together; i++)
		begin_next(&s, 0);
	while (s.done < load->requests) {
		double now = next_event(&s);

		if (isinf(now))
			return false;
		step(&s, now);
		out->missed = s.late[0] >= most || s.late[1] >= most;
		if (out->missed)
			return true;
	}
	if (records)
		keep_records(&s, records);
	figures_sum(&s, scratch);
	return true;
}
