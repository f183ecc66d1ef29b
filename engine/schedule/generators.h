/* generators.h - the generators, one per schedule; only table.c and they include
 * it. A generator fills empty lists that have room for every item. */
#ifndef ENGINE_SCHEDULE_GENERATORS_H
#define ENGINE_SCHEDULE_GENERATORS_H

#include "engine/schedule/schedule.h"

bool generate_gpipe(const struct schedule_request *request, struct schedule *out);
bool generate_1f1b(const struct schedule_request *request, struct schedule *out);
bool generate_interleaved(const struct schedule_request *request, struct schedule *out);
bool generate_breadth_first(const struct schedule_request *request,
			    struct schedule *out);
bool generate_zb_h1(const struct schedule_request *request, struct schedule *out);
bool generate_zb_h2(const struct schedule_request *request, struct schedule *out);
bool generate_zb_1p(const struct schedule_request *request, struct schedule *out);
bool generate_zb_2p(const struct schedule_request *request, struct schedule *out);
bool generate_zb_v(const struct schedule_request *request, struct schedule *out);
bool generate_v_half(const struct schedule_request *request, struct schedule *out);
bool generate_v_min(const struct schedule_request *request, struct schedule *out);
bool generate_dualpipe(const struct schedule_request *request, struct schedule *out);
bool generate_dualpipev(const struct schedule_request *request, struct schedule *out);
bool generate_chimera(const struct schedule_request *request, struct schedule *out);
bool generate_hanayo(const struct schedule_request *request, struct schedule *out);

#endif
