/* classic.h - generators that make whole lists; only table.c and classic.c include it.
 */
#ifndef ENGINE_SCHEDULE_CLASSIC_H
#define ENGINE_SCHEDULE_CLASSIC_H

#include "engine/schedule/schedule.h"

bool generate_gpipe(const struct schedule_request *request, struct schedule *out);
bool generate_1f1b(const struct schedule_request *request, struct schedule *out);
bool generate_interleaved(const struct schedule_request *request, struct schedule *out);
bool generate_breadth_first(const struct schedule_request *request,
			    struct schedule *out);

#endif
