/* stage.h - an explorer with a canvas of its own: keys in, a screen out. */
#ifndef TESTS_SUPPORT_STAGE_H
#define TESTS_SUPPORT_STAGE_H

#include "tui/explorer.h"

struct stage {
	struct explorer explorer;
	struct canvas canvas;
	bool quit;
	bool patient; /* waits for everything that the view Search asks */
};

/* On a shipped plan, or the built-in start where plan is NULL; ASCII, no colour. */
void stage_open(struct stage *stage, const char *plan, int width, int height);
/* Another scenario, of mode inference, on these presets with "knob=value ...". */
void stage_serve(struct stage *stage, const char *model, const char *cluster,
		 const char *stack, const char *knobs);
void stage_close(struct stage *stage);
/* Keys as a person types them: characters, \n for Enter, \t Tab, \33 Esc. A frame is
 * drawn between any two. */
void stage_type(struct stage *stage, const char *keys);
void stage_key(struct stage *stage, int key);
void stage_act(struct stage *stage, struct action action);
/* Idle work done, drawn, as text; to be freed. */
char *stage_text(struct stage *stage);
/* The screen shows this text; prints the screen if not. */
void stage_shows(struct stage *stage, const char *text);
void stage_lacks(struct stage *stage, const char *text);
/* The screen of a plan behind these keys has all of these texts, up to a NULL. */
void stage_shows_all(const char *plan, const char *keys, int width, int height,
		     const char *const *text);

#endif
