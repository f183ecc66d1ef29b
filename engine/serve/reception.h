/* reception.h - requests are read and split into tokens one after the other, by a
 * process of each copy of the attention that takes prompts; seconds of one are the
 * stack's (prompt_us). A server gives no more than it receives. A static batch is
 * handed over whole.
 */
#ifndef ENGINE_SERVE_RECEPTION_H
#define ENGINE_SERVE_RECEPTION_H

#include "engine/serve/work.h"

/* Adds what one of n customers of so many processes waits until it is its turn to a
 * point's received_seconds and TTFT, which has its own reception already. In a closed
 * loop prompts come out no faster than they are received, where `ahead` of them would
 * wait less for each other behind that, and n go round in no less than n receptions;
 * what comes at a rate meets a queue (work_stay()). */
void reception_wait(const struct work *work, double n, double processes,
		    struct point *out);
/* Requests a second that so many processes receive; infinite where that takes nothing.
 */
double reception_rate(const struct work *work, double processes);

#endif
