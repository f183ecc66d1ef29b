/* session.c - see session.h. */
#include "presets/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "presets/folder.h"

static bool name_file(int number, const char *suffix, char *out, size_t size)
{
	char name[32];

	if (number == 1)
		snprintf(name, sizeof name, "workspace%s", suffix);
	else
		snprintf(name, sizeof name, "workspace-%d%s", number, suffix);
	return folder_state(out, size, name);
}

enum hold { HOLD_TAKEN, HOLD_OTHER, HOLD_NONE };

/* The lock stays when the explorer ends, as a file of no bytes: to remove it would let
 * two hold locks on two files of one name. A home without room for locks has none. */
static enum hold hold(struct session *session, bool make)
{
	char path[512];
	struct error ignored;

	session->lock = -1;
	if (!name_file(session->number, ".lock", path, sizeof path) ||
	    (make && !folder_make(path, &ignored)))
		return HOLD_NONE;
	session->lock = open(
		path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (make ? O_CREAT : 0), 0600);
	if (session->lock < 0)
		return HOLD_NONE;
	if (flock(session->lock, LOCK_EX | LOCK_NB) == 0)
		return HOLD_TAKEN;
	int problem = errno;
	close(session->lock);
	session->lock = -1;
	return problem == EWOULDBLOCK ? HOLD_OTHER : HOLD_NONE;
}

void session_leave(struct session *session)
{
	if (session->lock >= 0)
		close(session->lock);
	session->lock = -1;
}

static bool is_free(int number)
{
	struct session other = { .number = number };
	bool is = hold(&other, false) != HOLD_OTHER;

	session_leave(&other);
	return is;
}

int session_other(const struct session *session)
{
	char path[512];

	for (int i = 1; i <= MAX_SESSIONS; i++)
		if (i != session->number && name_file(i, ".yaml", path, sizeof path) &&
		    access(path, R_OK) == 0 && is_free(i))
			return i;
	return 0;
}

/* Of this number; NONE if another explorer has it, or its file is not ours. */
static enum hold try_session(struct session *session, int number, struct workspace *out,
			     enum workspace_state *state, struct error *error)
{
	enum hold held;

	error->text[0] = '\0';
	session->number = number;
	session->lock = -1;
	session->path[0] = '\0';
	*state = WORKSPACE_NONE;
	if (!name_file(number, ".yaml", session->path, sizeof session->path))
		return HOLD_TAKEN;
	held = hold(session, true);
	if (held == HOLD_OTHER) {
		error_set(error, NULL, 0,
			  "another explorer keeps session %d of this home", number);
		return HOLD_OTHER;
	}
	if (held == HOLD_TAKEN)
		file_sweep(session->path);
	*state = workspace_load(session->path, out, error);
	if (*state != WORKSPACE_FOREIGN)
		return HOLD_TAKEN;
	session_leave(session);
	return HOLD_NONE;
}

static void say_instead(int number, enum hold why, const struct error *first,
			struct error *error)
{
	if (why == HOLD_OTHER)
		error_set(error, NULL, 0, "%.400s; this one is kept as session %d",
			  first->text, number);
	else
		error_set(error, NULL, 0, "this is session %d; %.400s stays as it is",
			  number, first->text);
}

bool session_take(struct session *session, int wanted, struct workspace *out,
		  enum workspace_state *state, struct error *error)
{
	int from = wanted > 0 ? wanted : 1, to = wanted > 0 ? wanted : MAX_SESSIONS;
	enum hold got = HOLD_TAKEN, why = HOLD_TAKEN;
	struct error first = { "" };

	for (int number = from; number <= to; number++) {
		got = try_session(session, number, out, state, error);
		if (got == HOLD_TAKEN)
			break;
		if (why == HOLD_TAKEN) {
			why = got;
			first = *error;
		}
	}
	if (got == HOLD_TAKEN && why != HOLD_TAKEN)
		say_instead(session->number, why, &first, error);
	if (got == HOLD_TAKEN)
		return true;
	*error = first;
	*session = (struct session){ .lock = -1 };
	*state = WORKSPACE_NONE;
	return false;
}
