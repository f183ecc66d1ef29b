/* workspace.h - what is open, focused and pinned, kept between sessions.
 *
 * Saved atomically as YAML (format: 1); session.h says in which file. A damaged file is
 * moved aside and said so, never in the way. One of a newer shardscope, or one that
 * can't be read, stays where it is.
 */
#ifndef PRESETS_WORKSPACE_H
#define PRESETS_WORKSPACE_H

#include <stdbool.h>

#include "engine/plan/scenario.h"
#include "presets/error.h"

struct workspace {
	struct scenario scenario;
	bool pinned;
	struct scenario baseline;
	char file[512];      /* scenario file it came from, or empty */
	char knob[MAX_NAME]; /* key of the focused knob */
	char view[MAX_NAME]; /* name of the open view */
	/* of the view beside it, "none", or empty for what suits the open one */
	char beside[MAX_NAME];
	unsigned folded; /* bit per knob group */
};

enum workspace_state {
	WORKSPACE_NONE,    /* there is no file */
	WORKSPACE_READ,    /* out is filled */
	WORKSPACE_DAMAGED, /* moved aside; error says where to */
	WORKSPACE_FOREIGN  /* newer, or not readable: not ours to touch; error says why
			    */
};

enum workspace_state workspace_load(const char *path, struct workspace *out,
				    struct error *error);
bool workspace_save(const char *path, const struct workspace *workspace,
		    struct error *error);

#endif
