/* loop.c - see loop.h. */
#include "tui/loop.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

enum {
	SAVE_AFTER_MS = 1000, /* a killed program loses no more than this */
	OWED_MS = 100,        /* until a frame is tried again ... */
	OWED_MOST = 10,       /* ... so often */
	BATCH = 1000          /* events before a frame, however fast they come */
};

struct loop {
	const struct loop_client *client;
	struct canvas canvas;
	bool more;                  /* work for idle() is left */
	int owed;                   /* memory ran out for so many frames in a row */
	bool dirty;                 /* something is to be saved ... */
	long long save_at;          /* ... at this time, ms */
	long long tick_at;          /* the next ACTION_TICK; 0: none is due */
	struct terminal_event held; /* EVENT_NONE: none */
	bool quit;
	int status;
};

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct action action_of(const struct loop *loop,
			       const struct terminal_event *event)
{
	const struct loop_client *client = loop->client;
	struct action action = { .kind = ACTION_NONE,
				 .argument = event->argument,
				 .x = event->x,
				 .y = event->y };

	if (event->kind == EVENT_KEY)
		return key_action(event->key, client->is_typing(client->context));
	if (event->kind == EVENT_CLICK)
		action.kind = ACTION_CLICK;
	if (event->kind == EVENT_WHEEL)
		action.kind = ACTION_WHEEL;
	return action;
}

/* What the terminal itself has to do with an action; the client sees it too. */
static unsigned act_on_terminal(struct action action)
{
	if (action.kind == ACTION_MOUSE)
		terminal_set_mouse(!terminal_has_mouse());
	if (action.kind == ACTION_REDRAW)
		terminal_redraw();
	return action.kind == ACTION_REDRAW ? CHANGED_SCREEN : CHANGED_NOTHING;
}

static unsigned handle(struct loop *loop, const struct terminal_event *event)
{
	const struct loop_client *client = loop->client;

	/* a terminal that shrank and grew again has lost what it showed */
	if (event->kind == EVENT_RESIZE)
		return CHANGED_SCREEN | CHANGED_REDRAW_ALL;
	if (event->kind == EVENT_SIGNAL || event->kind == EVENT_LOST) {
		loop->quit = true;
		loop->status =
			128 + (event->kind == EVENT_SIGNAL ? event->argument : SIGHUP);
		return CHANGED_NOTHING;
	}
	if (event->kind == EVENT_PASTE)
		return client->paste ? client->paste(client->context, terminal_pasted(),
						     (size_t)event->argument)
				     : CHANGED_NOTHING;
	struct action action = action_of(loop, event);
	if (action.kind == ACTION_NONE)
		return CHANGED_NOTHING;
	unsigned changed = act_on_terminal(action);
	changed |= client->act(client->context, action);
	if (changed & CHANGED_QUIT)
		loop->quit = true;
	return changed;
}

static int every_ms(const struct loop *loop)
{
	const struct loop_client *client = loop->client;

	return client->every_ms != NULL ? client->every_ms(client->context) : 0;
}

static int wait_ms(struct loop *loop)
{
	int every = every_ms(loop);
	long long until;

	if (every <= 0)
		loop->tick_at = 0;
	else if (loop->tick_at == 0 || loop->tick_at > now_ms() + every)
		loop->tick_at = now_ms() + every;
	if (loop->owed > 0)
		return OWED_MS;
	if (loop->more || terminal_is_behind())
		return 0;
	if (!loop->dirty && loop->tick_at == 0)
		return -1;
	until = loop->dirty ? loop->save_at : loop->tick_at;
	if (loop->tick_at != 0 && loop->tick_at < until)
		until = loop->tick_at;
	until -= now_ms();
	return until < 0 ? 0 : (int)until;
}

/* What plays goes on. A terminal that is slow gets fewer frames, not a queue. */
static unsigned tick(struct loop *loop)
{
	const struct loop_client *client = loop->client;

	if (loop->tick_at == 0 || loop->quit || now_ms() < loop->tick_at)
		return CHANGED_NOTHING;
	loop->tick_at = 0;
	return client->act(client->context, (struct action){ .kind = ACTION_TICK });
}

static struct terminal_event next_event(struct loop *loop, int wait)
{
	struct terminal_event event = loop->held;

	loop->held.kind = EVENT_NONE;
	return event.kind != EVENT_NONE ? event : terminal_read(wait);
}

/* Waits for one event and takes all that are there already; but a click means what it
 * was aimed at, so what came before it is drawn first. */
static unsigned take_events(struct loop *loop)
{
	struct terminal_event event = next_event(loop, wait_ms(loop));
	unsigned changed = CHANGED_NOTHING;

	for (int i = 0; event.kind != EVENT_NONE && !loop->quit; i++) {
		if (event.kind == EVENT_CLICK && changed != CHANGED_NOTHING) {
			loop->held = event;
			break;
		}
		changed |= handle(loop, &event);
		if (i == BATCH)
			break;
		event = terminal_read(0);
	}
	return changed;
}

static unsigned do_idle_work(struct loop *loop)
{
	const struct loop_client *client = loop->client;
	unsigned changed = CHANGED_NOTHING;

	if (loop->more && !loop->quit) {
		loop->more = false;
		changed = client->idle(client->context, &loop->more);
	}
	if (loop->dirty && (loop->quit || now_ms() >= loop->save_at)) {
		loop->dirty = false;
		changed |= client->save(client->context) &
			   ~(unsigned)(CHANGED_SETTINGS | CHANGED_SCENARIO);
	}
	return changed;
}

static void note_changes(struct loop *loop, unsigned changed)
{
	if ((changed & (CHANGED_SCENARIO | CHANGED_SETTINGS)) && !loop->dirty) {
		loop->dirty = true;
		loop->save_at = now_ms() + SAVE_AFTER_MS;
	}
	if (changed != CHANGED_NOTHING && loop->client->idle != NULL)
		loop->more = true;
}

static bool show(struct loop *loop)
{
	if (!terminal_show(&loop->canvas))
		loop->owed++;
	else /* a part of it lacks: tried again, but one can work with the rest */
		loop->owed = loop->canvas.lacks && loop->owed < OWED_MOST - 1
				     ? loop->owed + 1
				     : 0;
	return loop->owed < OWED_MOST;
}

static bool draw(struct loop *loop, unsigned changed)
{
	const struct loop_client *client = loop->client;

	if (changed & CHANGED_REDRAW_ALL)
		terminal_redraw();
	if (!terminal_fit(&loop->canvas))
		return false;
	client->draw(client->context, &loop->canvas);
	return show(loop);
}

static void end_unless(struct loop *loop, bool shown)
{
	if (shown)
		return;
	loop->status = 1;
	loop->quit = true;
}

/* What a frame had no room for follows while no key waits: of keys that come faster
 * than a line carries their pictures only the last one's is sent whole. */
static void run(struct loop *loop)
{
	const struct loop_client *client = loop->client;
	unsigned changed = CHANGED_SCREEN;
	bool idle = false;

	for (;;) {
		if (changed != CHANGED_NOTHING && client->update != NULL && !idle)
			changed |= client->update(client->context, changed);
		if (!idle)
			note_changes(loop, changed);
		if (changed != CHANGED_NOTHING && !loop->quit)
			end_unless(loop, draw(loop, changed));
		if (loop->quit)
			break;
		changed = take_events(loop);
		changed |= tick(loop);
		if (loop->owed > 0)
			changed |= CHANGED_SCREEN;
		idle = changed == CHANGED_NOTHING && !loop->quit;
		if (idle && terminal_is_behind())
			end_unless(loop, show(loop));
		else if (idle)
			changed = do_idle_work(loop);
	}
	do_idle_work(loop);
}

int loop_run(const struct loop_client *client, const struct terminal_options *options,
	     struct error *error)
{
	struct loop loop = { .client = client };

	if (!terminal_open(options, error))
		return 2;
	run(&loop);
	terminal_close();
	if (loop.status == 1)
		fputs("shardscope: out of memory\n", stderr);
	canvas_free(&loop.canvas);
	return loop.status;
}
