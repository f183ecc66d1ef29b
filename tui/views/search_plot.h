/* search_plot.h - the scatter of the view Search. */
#ifndef TUI_VIEWS_SEARCH_PLOT_H
#define TUI_VIEWS_SEARCH_PLOT_H

#include "tui/explorer.h"

/* Throughput against memory, or against GPUs: the front as a line, found plans as dots,
 * the plan under the cursor, the open plan and the pinned one as marks. */
void search_draw_plot(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect);

#endif
