/* bench.h - what `make bench` measures. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdbool.h>

struct estimate_time {
	const char *name;
	double ns; /* median */
};

/* Times train_estimate() on each case; returns how many, 0 after an error that
 * was printed. */
int bench_engine(struct estimate_time *out, int most);

struct schedule_time {
	const char *name;
	int chunks;
	double seconds[3];    /* pipeline_step(): 16 stages x 64, 128, 256 */
	double whole_seconds; /* all of 256 micro-batches simulated */
};

/* Times the pipeline phase of each schedule with uneven stages (medians); returns how
 * many, fewer after an error that was printed. */
int bench_schedules(struct schedule_time *out, int most);

struct search_time {
	const char *name;
	double candidates, seconds; /* median */
	bool estimated;             /* seconds: it was left before it was done */
};

/* Finds the best plans of each space; returns how many, 0 after an error. */
int bench_search(struct search_time *out, int most);

struct proof_time {
	const char *name;
	double search, proof, verify; /* seconds, medians */
};

/* Searches each space for ten ideas as the command does, writes the proof and checks
 * it; returns how many, 0 after an error. */
int bench_proofs(struct proof_time *out, int most);
/* Seconds of two plans' estimates and what lies between them: `compare`, and why not in
 * the Search view; NAN after an error. */
double bench_compare(void);

struct simulation_time {
	const char *name;
	int requests;
	double seconds; /* median */
};

/* Simulates servers request by request; returns how many, 0 after an error that was
 * printed. */
int bench_simulation(struct simulation_time *out, int most);

/* What one key costs at this size until the program sleeps again: the worst, at which
 * plan, view and key, and what 99 of 100 stay under. */
struct key_cost {
	int columns, rows;
	bool rgb; /* 24-bit colours */
	int presses;
	double bytes, us, writes;
	char bytes_at[96], us_at[96], writes_at[96];
	double bytes_p99, us_p99, writes_p99, us_p50;
	double opened; /* the most bytes of a view, help, list or line that opens */
	char opened_at[96];
};
enum { KEY_COSTS = 4 };

struct vt;
/* Types a key and waits until the program has read it. Under load a terminal hands keys
 * on so late that the program seems to be at rest before it has seen one; two that it
 * reads together may change nothing, and nothing would be sent. */
void bench_type(struct vt *vt, const char *key);

/* Presses keys in every view of every shipped plan; BENCH_PLAN= in one alone. */
void bench_keys(const char *path, const char *home, struct key_cost *out);

struct program_cost {
	struct key_cost key[KEY_COSTS];
	double frame_us, knob_press_bytes, first_frame_bytes, start_ms; /* medians */
	double rss_kib, binary_kib;
};

/* Runs the program at path on a pty. False after an error that was printed. */
bool bench_program(const char *path, struct program_cost *out);
/* The keys alone. */
bool bench_program_keys(const char *path, struct key_cost out[KEY_COSTS]);

/* Monotonic time in seconds; processor time of this process, which others on the
 * machine don't lengthen. */
double bench_now(void);
double bench_cpu(void);
/* Sorts value and returns its median. */
double bench_median(double *value, int count);

#endif
