/* small.c - a screen that is too small for the explorer: it says so, and keeps the main
 * numbers. */
#include <stdio.h>

#include "tui/explorer.h"
#include "tui/view.h"

void draw_too_small(const struct explorer *explorer, struct canvas *canvas)
{
	bool serves = explorer->scenario.plan.mode == MODE_INFERENCE;
	char text[160];

	canvas_format(canvas, 0, 0, canvas->width, ROLE_WARNING,
		      "%dx%d is too small: at least %dx%d", canvas->width,
		      canvas->height, LEAST_WIDTH, LEAST_HEIGHT);
	snprintf(text, sizeof text, "%s on %lld GPUs", explorer->scenario.model.name,
		 (long long)explorer->scenario.cluster.gpus);
	canvas_text(canvas, 0, 1, canvas->width, ROLE_LABEL, text);
	canvas_text(canvas, 0, 5, canvas->width, ROLE_HINT,
		    explorer->mode == MODE_NORMAL && !view_is_layer(explorer->view)
			    ? "keys work; q quits"
			    : "keys work; Esc goes back");
	if (!explorer->estimate.legal) {
		canvas_text(canvas, 0, 2, canvas->width, ROLE_BAD, "can't run");
		return;
	}
	draw_number(explorer, canvas, 0, 2, canvas->width, "memory", "total_bytes");
	draw_number(explorer, canvas, 0, 3, canvas->width, serves ? "TPOT" : "step",
		    serves ? "tpot_seconds" : "step_seconds");
	draw_number(explorer, canvas, 0, 4, canvas->width, serves ? "TTFT" : "MFU",
		    serves ? "ttft_seconds" : "mfu");
}
