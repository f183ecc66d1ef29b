/* server.h - servers at random: any model, accelerator and stack that serves. */
#ifndef TESTS_SUPPORT_SERVER_H
#define TESTS_SUPPORT_SERVER_H

#include "engine/estimate/estimate.h"

/* A legal server that has room for its requests, and its estimate; by next() of
 * random.h. Every way of running one comes up: batching, chunks, drafts, pipelines, two
 * pools, measured runs, rates. */
void server_random(struct scenario *out, struct estimate *estimate);
/* The case fails, with the server and what is wrong of it. */
void server_fail(const struct scenario *scenario, const char *what, double is,
		 double wanted);
/* It does where the two differ by more than 1e-9 of what is wanted. */
void server_same(const struct scenario *scenario, const char *what, double is,
		 double wanted);

#endif
