/* main.c - prints every measurement as one JSON object. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/bench/bench.h"

enum { CASES = 16, SCHEDULES = 32 };

double bench_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double bench_cpu(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *value, int count)
{
	qsort(value, (size_t)count, sizeof *value, compare);
	return count % 2 ? value[count / 2]
			 : (value[count / 2 - 1] + value[count / 2]) / 2;
}

static void print_engine(const struct estimate_time *time, int count)
{
	double slowest = 0;

	for (int i = 0; i < count; i++)
		slowest = time[i].ns > slowest ? time[i].ns : slowest;
	printf("{\"estimate_ns\": %.0f, \"estimates_per_second\": %.0f, \"estimates\": "
	       "[",
	       slowest, 1e9 / slowest);
	for (int i = 0; i < count; i++)
		printf("%s{\"name\": \"%s\", \"ns\": %.0f}", i > 0 ? ", " : "",
		       time[i].name, time[i].ns);
	printf("]");
}

static void print_schedules(const struct schedule_time *time, int count)
{
	printf(", \"schedules\": [");
	for (int i = 0; i < count; i++)
		printf("%s{\"name\": \"%s\", \"chunks\": %d, \"pipeline_ns\": %.0f, "
		       "\"pipeline_ns_64\": %.0f, \"pipeline_ns_128\": %.0f, "
		       "\"whole_ns\": %.0f}",
		       i > 0 ? ", " : "", time[i].name, time[i].chunks,
		       time[i].seconds[2] * 1e9, time[i].seconds[0] * 1e9,
		       time[i].seconds[1] * 1e9, time[i].whole_seconds * 1e9);
	printf("]");
}

static void print_search(const struct search_time *search, int count)
{
	printf(", \"search\": [");
	for (int i = 0; i < count; i++)
		printf("%s{\"name\": \"%s\", \"candidates\": %.0f, \"%s\": %.4g}",
		       i > 0 ? ", " : "", search[i].name, search[i].candidates,
		       search[i].estimated ? "estimated_seconds" : "seconds",
		       search[i].seconds);
	printf("]");
}

static void print_proofs(const struct proof_time *time, int count)
{
	printf(", \"proofs\": [");
	for (int i = 0; i < count; i++)
		printf("%s{\"name\": \"%s\", \"search_ms\": %.1f, \"proof_ms\": %.1f, "
		       "\"verify_ms\": %.1f}",
		       i > 0 ? ", " : "", time[i].name, time[i].search * 1e3,
		       time[i].proof * 1e3, time[i].verify * 1e3);
	printf("], \"compare_us\": %.1f", bench_compare() * 1e6);
}

static void print_simulations(const struct simulation_time *time, int count)
{
	printf(", \"simulation\": [");
	for (int i = 0; i < count; i++)
		printf("%s{\"name\": \"%s\", \"requests\": %d, \"ms\": %.1f}",
		       i > 0 ? ", " : "", time[i].name, time[i].requests,
		       time[i].seconds * 1e3);
	printf("]");
}

static void print_keys(const struct key_cost key[KEY_COSTS])
{
	printf("\"keys\": [");
	for (int i = 0; i < KEY_COSTS; i++, key++)
		printf("%s{\"columns\": %d, \"rows\": %d, \"colours\": %d, \"presses\": "
		       "%d, \"bytes\": %.0f, \"bytes_at\": \"%s\", \"bytes_p99\": %.0f, "
		       "\"us\": %.0f, \"us_at\": \"%s\", \"us_p99\": %.0f, \"us_p50\": "
		       "%.0f, \"writes\": %.0f, \"writes_at\": \"%s\", \"writes_p99\": "
		       "%.0f, \"opened_bytes\": %.0f, \"opened_at\": \"%s\"}",
		       i > 0 ? ", " : "", key->columns, key->rows,
		       key->rgb ? 1 << 24 : 256, key->presses, key->bytes,
		       key->bytes_at, key->bytes_p99, key->us, key->us_at, key->us_p99,
		       key->us_p50, key->writes, key->writes_at, key->writes_p99,
		       key->opened, key->opened_at);
	printf("]");
}

static void print_program(const struct program_cost *cost)
{
	printf(", ");
	print_keys(cost->key);
	printf(", \"frame_us\": %.0f, \"knob_press_bytes\": %.0f, "
	       "\"first_frame_bytes\": %.0f, \"start_ms\": %.1f, \"rss_kib\": %.0f, "
	       "\"binary_kib\": %.0f}\n",
	       cost->frame_us, cost->knob_press_bytes, cost->first_frame_bytes,
	       cost->start_ms, cost->rss_kib, cost->binary_kib);
}

static const char *program_path(void)
{
	const char *path = getenv("SHARDSCOPE");

	return path != NULL ? path : "./shardscope";
}

static int keys_alone(void)
{
	struct key_cost key[KEY_COSTS];

	if (!bench_program_keys(program_path(), key))
		return 1;
	printf("{");
	print_keys(key);
	printf("}\n");
	return 0;
}

int main(int argc, char **argv)
{
	struct estimate_time time[CASES];
	struct schedule_time schedule[SCHEDULES];
	struct search_time search[CASES];
	struct simulation_time simulation[CASES];
	struct proof_time proof[CASES];
	struct program_cost cost;

	if (argc > 1 && strcmp(argv[1], "keys") == 0)
		return keys_alone();
	if (argc > 1 && strcmp(argv[1], "engine") == 0) {
		print_engine(time, bench_engine(time, CASES));
		print_schedules(schedule, bench_schedules(schedule, SCHEDULES));
		print_search(search, bench_search(search, CASES));
		printf("}\n");
		return 0;
	}
	int count = bench_engine(time, CASES), searches = bench_search(search, CASES);
	int schedules = bench_schedules(schedule, SCHEDULES);
	int simulations = bench_simulation(simulation, CASES);
	int proofs = bench_proofs(proof, CASES);

	if (count == 0 || searches == 0 || schedules == 0 || simulations == 0 ||
	    proofs == 0 || !bench_program(program_path(), &cost))
		return 1;
	print_engine(time, count);
	print_schedules(schedule, schedules);
	print_search(search, searches);
	print_proofs(proof, proofs);
	print_simulations(simulation, simulations);
	print_program(&cost);
	return 0;
}
