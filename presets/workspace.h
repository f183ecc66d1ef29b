/* workspace.h - what is open, focused and pinned, kept between sessions.
 *
 * Saved atomically as YAML in $XDG_STATE_HOME/shardscope/workspace.yaml
 * (format: 1). A damaged file is moved aside and said so, never in the way.
 */
#ifndef PRESETS_WORKSPACE_H
#define PRESETS_WORKSPACE_H

#include <stdbool.h>

#include "engine/scenario.h"
#include "presets/error.h"

struct workspace {
	struct scenario scenario;
	bool pinned;
	struct scenario baseline;
	char file[512];      /* scenario file it came from, or empty */
	char knob[MAX_NAME]; /* key of the focused knob */
	char view[MAX_NAME]; /* name of the open view */
	unsigned folded;     /* bit per knob group */
};

/* True if a workspace was read. False without error->text: there is none;
 * with it: what was wrong and where the file was moved. */
bool workspace_load(struct workspace *out, struct error *error);
bool workspace_save(const struct workspace *workspace, struct error *error);

#endif
