/* session.h - which file keeps what an explorer shows.
 *
 * Several explorers may run in one home. Each keeps a session of its own: session 1 in
 * $XDG_STATE_HOME/shardscope/workspace.yaml, session N in workspace-N.yaml, with a lock
 * (flock) beside it for as long as the explorer runs. A new explorer takes the first
 * that no other holds; so two that are closed are both found again when two are opened.
 */
#ifndef PRESETS_SESSION_H
#define PRESETS_SESSION_H

#include "presets/workspace.h"

enum { MAX_SESSIONS = 99 };

struct session {
	int number;     /* from 1; 0: none is kept */
	int lock;       /* file descriptor, -1: there is none to lock */
	char path[512]; /* of the workspace file; empty: there is no home */
};

/* Takes session `wanted`, or with 0 the first that is free and can be read, and loads
 * it into out. error->text tells a person what is unusual: which session this is and
 * why, what was damaged; or nothing. False if the wanted one can't be had: error says
 * why. */
bool session_take(struct session *session, int wanted, struct workspace *out,
		  enum workspace_state *state, struct error *error);
/* The lowest other session that has a file and that no explorer holds; 0: none. */
int session_other(const struct session *session);
void session_leave(struct session *session);

#endif
