/* worker.c - see worker.h. */
#include "tui/worker.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tui/clock.h"
#include "tui/stack.h"

enum { MAX_THREADS = 32 };

/* What is done within a frame is not worth the threads. */
static const double frame_seconds = 0.016;
/* How often the clock is asked. */
static const double chunk_seconds = 0.0005;

struct part {
	struct worker *worker;
	struct planner *planner;
	pthread_t thread; /* of all but the first */
	int chunk;        /* estimates between two looks at the clock */
	bool done;
};

struct worker {
	struct planner_result result;
	bool any;    /* the first plan ends it */
	int allowed; /* threads, the caller's among them; 1 once they are made */
	int threads; /* made */
	double alone_seconds;
	int parts; /* of the search; the first one is the caller's */
	struct part part[MAX_THREADS];

	/* what threads wait for, under the lock */
	pthread_mutex_t lock;
	pthread_cond_t begin, end;
	int slice, busy; /* number of the slice; threads still at it */
	bool quit;
	double until; /* end of the slice */
};

static void run_part(struct part *part, double until)
{
	double now = clock_seconds();

	while (!part->done && now < until) {
		double begun = now;

		part->done = !planner_step(part->planner, part->chunk);
		now = clock_seconds();
		if (now - begun < chunk_seconds / 2 && part->chunk < 1 << 20)
			part->chunk *= 2;
		else if (now - begun > chunk_seconds * 2 && part->chunk > 1)
			part->chunk /= 2;
	}
}

static void *thread_run(void *context)
{
	struct part *part = context;
	struct worker *worker = part->worker;
	int slice = 0;

	pthread_mutex_lock(&worker->lock);
	for (;;) {
		double until;

		while (worker->slice == slice && !worker->quit)
			pthread_cond_wait(&worker->begin, &worker->lock);
		if (worker->quit)
			break;
		slice = worker->slice;
		until = worker->until;
		pthread_mutex_unlock(&worker->lock);
		run_part(part, until);
		pthread_mutex_lock(&worker->lock);
		if (--worker->busy == 0)
			pthread_cond_signal(&worker->end);
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

static int processors(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count < 1 ? 1 : count > MAX_THREADS ? MAX_THREADS : (int)count;
}

struct worker *worker_start(const struct planner_problem *problem, int threads)
{
	struct worker *worker = calloc(1, sizeof *worker);

	if (!worker)
		return NULL;
	worker->part[0] = (struct part){ .worker = worker,
					 .planner = planner_start(problem),
					 .chunk = 16 };
	if (!worker->part[0].planner) {
		free(worker);
		return NULL;
	}
	worker->parts = 1;
	worker->any = problem->any;
	worker->allowed =
		threads > 0 && threads <= MAX_THREADS ? threads : processors();
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->begin, NULL);
	pthread_cond_init(&worker->end, NULL);
	return worker;
}

void worker_lessen(struct worker *worker, double reserve)
{
	memset(&worker->result, 0, sizeof worker->result);
	for (int i = 0; i < worker->parts; i++) {
		planner_lessen(worker->part[i].planner, reserve);
		worker->part[i].done = false;
	}
}

void worker_free(struct worker *worker)
{
	if (!worker)
		return;
	pthread_mutex_lock(&worker->lock);
	worker->quit = true;
	pthread_cond_broadcast(&worker->begin);
	pthread_mutex_unlock(&worker->lock);
	for (int i = worker->threads; i > 0; i--)
		pthread_join(worker->part[i].thread, NULL);
	for (int i = worker->parts - 1; i >= 0; i--)
		planner_free(worker->part[i].planner);
	pthread_cond_destroy(&worker->begin);
	pthread_cond_destroy(&worker->end);
	pthread_mutex_destroy(&worker->lock);
	free(worker);
}

/* Shares the rest over threads; with fewer, or none, where the system has no more. */
static void split(struct worker *worker)
{
	struct planner *planner[MAX_THREADS];
	sigset_t all, before;
	int made;

	/* signals are the terminal's, and that is the first thread's */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 1; i < worker->allowed; i++) {
		worker->part[i] = (struct part){ .worker = worker, .done = true };
		if (stack_thread(&worker->part[i].thread, thread_run,
				 &worker->part[i]) != 0)
			break;
		worker->threads = i;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	made = planner_split(worker->part[0].planner, planner, worker->threads);
	for (int i = 1; i <= made; i++) {
		worker->part[i].planner = planner[i - 1];
		worker->part[i].chunk = worker->part[0].chunk;
		worker->part[i].done = false;
	}
	worker->parts = made + 1;
	worker->allowed = 1;
}

/* All that the parts know; and each learns how good a plan must be. */
static void merge(struct worker *worker)
{
	struct planner_result *result = &worker->result;

	memset(result, 0, sizeof *result);
	result->done = true;
	result->progress = 1;
	for (int i = 0; i < worker->parts; i++)
		planner_merge(worker->part[i].planner, result);
	if (worker->any && result->found > 0)
		result->done = true;
	if (result->done)
		result->progress = 1;
	for (int i = 0; i < worker->parts; i++)
		planner_expect(worker->part[i].planner, result);
}

bool worker_step(struct worker *worker, double seconds)
{
	double begun = clock_seconds();

	if (worker->result.done || worker->result.failed)
		return false;
	if (worker->allowed > 1 && worker->alone_seconds >= frame_seconds)
		split(worker);
	if (worker->threads > 0) {
		pthread_mutex_lock(&worker->lock);
		worker->until = begun + seconds;
		worker->busy = worker->threads;
		worker->slice++;
		pthread_cond_broadcast(&worker->begin);
		pthread_mutex_unlock(&worker->lock);
	}
	run_part(&worker->part[0], begun + seconds);
	if (worker->threads > 0) {
		pthread_mutex_lock(&worker->lock);
		while (worker->busy > 0)
			pthread_cond_wait(&worker->end, &worker->lock);
		pthread_mutex_unlock(&worker->lock);
	} else {
		worker->alone_seconds += clock_seconds() - begun;
	}
	merge(worker);
	return !worker->result.done && !worker->result.failed;
}

const struct planner_result *worker_result(const struct worker *worker)
{
	return &worker->result;
}

const struct planner *worker_planner(const struct worker *worker)
{
	return worker->part[0].planner;
}
