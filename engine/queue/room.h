/* room.h - how long one waits until there is room, of those that come at a rate.
 *
 * Those that are inside share a server, so that how many end in a second hangs on how
 * many there are. One more at `rate`, one fewer as the server gives: a birth-death
 * chain, exact for arrivals that are Poisson's and where each has its share of the
 * server, whatever its work (Kelly 1979, "Reversibility and Stochastic Networks",
 * section 3.3); with as much for each whoever else is there it is Erlang's. Arrivals
 * that come in clumps are as ones of z at once (Hayward's approximation: Fredericks
 * 1980, "Congestion in Blocking Systems", Bell System Technical Journal 59), with the
 * peakedness z = 1 + (ca^2 - 1) overlap (Eckberg 1983, "Generalized Peakedness of
 * Teletraffic Processes"). The line that forms at a full server has (ca^2 + cs^2) / 2
 * of the length of one with Poisson's arrivals and exponential work (Allen and Cunneen;
 * Allen 1990, "Probability, Statistics and Queueing Theory", section 5.4).
 */
#ifndef ENGINE_QUEUE_ROOM_H
#define ENGINE_QUEUE_ROOM_H

enum { ROOM_RATES = 17 };

struct queue_room {
	double most; /* there is room for so many */
	/* requests that end in a second, with so many inside: the last with all */
	double inside[ROOM_RATES], rate[ROOM_RATES];
	int count;
	double arrival_scv, work_scv; /* squared variations of gaps and of work */
	/* of the works of two requests the shorter one over the mean, in the mean: how
	 * long those that came together are still together */
	double overlap;
};

/* Seconds that one of those who come at a rate waits for room, mean; infinite where a
 * full server gives no more than come. */
double queue_room_wait(const struct queue_room *room, double rate);

#endif
