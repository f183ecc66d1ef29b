/* transport.h - what moving a collective's bytes takes on an accelerator, measured.
 *
 * A library has several ways to run the same steps, called protocols: NCCL's LL sends a
 * flag with every 4 bytes (a quick start at a low rate), LL128 with every 120, Simple
 * moves large pieces behind fences (a slow start at the full rate). Each is a start, a
 * hop and a share of the domain's plateau (efficiency x bandwidth); the quickest runs.
 */
#ifndef ENGINE_MACHINE_TRANSPORT_H
#define ENGINE_MACHINE_TRANSPORT_H

enum protocol_name { PROTOCOL_LL, PROTOCOL_LL128, PROTOCOL_SIMPLE, PROTOCOL_COUNT };

struct protocol {
	double start_seconds; /* until the kernel runs and has met its peers */
	double hop_seconds;   /* of a step inside the domain; 0 = the link's latency */
	double peer_seconds;  /* for each peer that it reads or writes at once */
	double share;         /* of the domain's plateau; 0 = there is no such way */
	double peer_share;    /* of the plateau towards one peer; 0 = all of it */
};

enum transport {
	TRANSPORT_RING,     /* rings and trees: kernels that pass on */
	TRANSPORT_EXCHANGE, /* sends to all peers at once */
	TRANSPORT_SWITCH,   /* loads and stores that the domain's switch adds up */
	TRANSPORT_ONE_SHOT, /* a server's kernel: every rank reads all others */
	TRANSPORT_TWO_SHOT, /* the same in two halves */
	TRANSPORT_LAMPORT,  /* every rank writes to all others, flags in the data */
	TRANSPORT_DISPATCH, /* tokens to their experts */
	TRANSPORT_COUNT
};

/* Those of which a cluster's file may state constants, by the word that begins their
 * names there. */
#define MEASURED_PROTOCOLS(X)           \
	X("ll", RING, LL)               \
	X("ll128", RING, LL128)         \
	X("simple", RING, SIMPLE)       \
	X("exchange_ll", EXCHANGE, LL)  \
	X("exchange", EXCHANGE, SIMPLE) \
	X("switch", SWITCH, SIMPLE)     \
	X("one_shot", ONE_SHOT, SIMPLE) \
	X("two_shot", TWO_SHOT, SIMPLE) \
	X("lamport", LAMPORT, SIMPLE)

struct transports {
	struct protocol row[TRANSPORT_COUNT][PROTOCOL_COUNT];
	double copy_share; /* rate of the copy of a rank's own piece over the plateau;
			      0 = costs nothing */
};

#endif
