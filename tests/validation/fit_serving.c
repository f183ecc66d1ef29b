/* fit_serving.c - constants of serving kernels and servers, fitted to measured runs.
 *
 *     make fit-serving                          errors and constants
 *     make fit-serving FIT="--write"            and into presets/clusters,
 * presets/stacks make fit-serving FIT="--leave-out NAME"   without a stack or a model,
 * and how that is met
 *
 * Coordinate descent on the capped |log(predicted / measured)| of TPOT, TTFT and
 * throughput: means of each stack, accelerator, model, precision and figure, weighted
 * by the root of their number. A weak pull holds each constant near what
 * micro-benchmarks say, and its bounds are what is physical.
 */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/runs/runs.h"

struct constant {
	const char *owner; /* a stack's name, or the start of accelerators' names */
	const char *map, *key;
	size_t offset;
	bool stack;
	double low, high, unit;
	double value, start;
};

#define A(member) \
	offsetof(struct scenario, cluster.accelerator.calibration.serving.member)
#define S(member) offsetof(struct scenario, stack.serving.member)
#define RATES(gen)                                                                          \
	{                                                                                   \
		gen, NULL, "kernel_us", A(kernel_seconds), false, 1.5e-6, 8e-6, 1e-6,       \
		0,   0                                                                      \
	},                                                                                  \
		{ gen,                                                                      \
		  NULL,                                                                     \
		  "small_kernel_us",                                                        \
		  A(small_kernel_seconds),                                                  \
		  false,                                                                    \
		  0.8e-6,                                                                   \
		  4e-6,                                                                     \
		  1e-6,                                                                     \
		  0,                                                                        \
		  0 },                                                                      \
		{ gen,                                                                      \
		  NULL,                                                                     \
		  "elementwise_efficiency",                                                 \
		  A(elementwise_efficiency),                                                \
		  false,                                                                    \
		  0.3,                                                                      \
		  0.95,                                                                     \
		  1,                                                                        \
		  0,                                                                        \
		  0 },                                                                      \
		{ gen,                                                                      \
		  NULL,                                                                     \
		  "attention_efficiency",                                                   \
		  A(attention_efficiency),                                                  \
		  false,                                                                    \
		  0.3,                                                                      \
		  0.8,                                                                      \
		  1,                                                                        \
		  0,                                                                        \
		  0 },                                                                      \
		{ gen, NULL, "kv_efficiency", A(kv_efficiency), false, 0.5, 0.9, 1, 0, 0 }, \
		{ gen,                                                                      \
		  NULL,                                                                     \
		  "kv_efficiency_fp8",                                                      \
		  A(kv_efficiency_fp8),                                                     \
		  false,                                                                    \
		  0.4,                                                                      \
		  0.9,                                                                      \
		  1,                                                                        \
		  0,                                                                        \
		  0 },                                                                      \
		{ gen,   NULL, "decode_us", A(decode_fixed_seconds),                        \
		  false, 2e-6, 12e-6,       1e-6,                                           \
		  0,     0 },                                                               \
		{ gen,                                                                      \
		  NULL,                                                                     \
		  "grouped_gemm_efficiency",                                                \
		  A(grouped_gemm_efficiency),                                               \
		  false,                                                                    \
		  0.2,                                                                      \
		  1,                                                                        \
		  1,                                                                        \
		  0,                                                                        \
		  0 },                                                                      \
		{ gen,                                                                      \
		  NULL,                                                                     \
		  "grouped_stream_efficiency",                                              \
		  A(grouped_stream_efficiency),                                             \
		  false,                                                                    \
		  0.5,                                                                      \
		  1.1,                                                                      \
		  1,                                                                        \
		  0,                                                                        \
		  0 },                                                                      \
		{ gen,   NULL, "grouped_us", A(grouped_fixed_seconds),                      \
		  false, 2e-6, 60e-6,        1e-6,                                          \
		  0,     0 },                                                               \
		{ gen,   NULL, "all_reduce_us", A(all_reduce_seconds),                      \
		  false, 2e-6, 25e-6,           1e-6,                                       \
		  0,     0 },                                                               \
		{ gen,    "gemm_efficiency",                                                \
		  "bf16", A(gemm_efficiency[PRECISION_BF16]),                               \
		  false,  0.5,                                                              \
		  0.9,    1,                                                                \
		  0,      0 },                                                              \
	{                                                                                   \
		gen, "stream_efficiency", "bf16",                                           \
			A(stream_efficiency[PRECISION_BF16]), false, 0.6, 0.92, 1, 0,       \
			0                                                                   \
	}
#define NARROW(gen, word, p, low, high)                                              \
	{                                                                            \
		gen,   "gemm_efficiency",                                            \
		word,  A(gemm_efficiency[p]),                                        \
		false, low,                                                          \
		0.8,   1,                                                            \
		0,     0                                                             \
	},                                                                           \
	{                                                                            \
		gen, "stream_efficiency", word, A(stream_efficiency[p]), false, low, \
			high, 1, 0, 0                                                \
	}
#define SERVER(name)                                                                        \
	{                                                                                   \
		name, NULL, "iteration_us", S(iteration_seconds), true, 0, 6e-3, 1e-6,      \
		0,    0                                                                     \
	},                                                                                  \
		{ name, NULL, "request_us", S(request_seconds), true, 0, 60e-6, 1e-6,       \
		  0,    0 },                                                                \
		{ name, NULL, "prompt_us", S(prompt_seconds), true, 0, 30e-3, 1e-6, 0, 0 }, \
		{ name, NULL, "small_kernels", S(small_kernels), true, 2, 16, 1, 0, 0 },    \
		{ name, NULL, "quantise_kernels", S(quantise_kernels), true, 0, 8, 1,       \
		  0,    0 },                                                                \
		{ name,                                                                     \
		  NULL,                                                                     \
		  "prefill_efficiency",                                                     \
		  S(prefill_efficiency),                                                    \
		  true,                                                                     \
		  0.5,                                                                      \
		  1.05,                                                                     \
		  1,                                                                        \
		  0,                                                                        \
		  0 },                                                                      \
	{                                                                                   \
		name, NULL, "layer_cpu_us", S(layer_cpu_seconds), true, 5e-6, 300e-6,       \
			1e-6, 0, 0                                                          \
	}

static struct constant constants[] = {
	RATES("a100"),
	RATES("h"),
	RATES("b"),
	RATES("l40s"),
	NARROW("h", "fp8", PRECISION_FP8, 0.45, 0.95),
	NARROW("h", "fp8-block", PRECISION_FP8_BLOCK, 0.3, 0.9),
	NARROW("l40s", "fp8", PRECISION_FP8, 0.45, 0.95),
	NARROW("b", "fp8", PRECISION_FP8, 0.4, 0.9),
	NARROW("b", "fp8-block", PRECISION_FP8_BLOCK, 0.3, 0.9),
	NARROW("b", "nvfp4", PRECISION_NVFP4, 0.25, 0.9),
	{ "h", NULL, "latent_efficiency", A(latent_efficiency), false, 0.3, 0.8, 1, 0,
	  0 },
	{ "b", NULL, "latent_efficiency", A(latent_efficiency), false, 0.3, 0.8, 1, 0,
	  0 },
	{ "h", NULL, "all_to_all_us", A(all_to_all_seconds), false, 10e-6, 100e-6, 1e-6,
	  0, 0 },
	{ "b", NULL, "all_to_all_us", A(all_to_all_seconds), false, 10e-6, 100e-6, 1e-6,
	  0, 0 },
	SERVER("tensorrt-llm"),
	SERVER("vllm"),
	SERVER("sglang"),
	SERVER("lmdeploy"),
};
enum { CONSTANTS = sizeof constants / sizeof constants[0], MAX_GROUPS = 400 };

static struct run_set set;
static struct estimate estimate;
static double (*error)[SCORE_FIGURES];
static int *group; /* of each run */
static const char *left_out = "";

static double *place(const struct constant *c, struct scenario *s)
{
	return (double *)(void *)((char *)s + c->offset);
}

/* H100 and H200, GB200 and B200 share silicon; their names begin alike after g. */
static bool touches(const struct constant *c, const struct scenario *s)
{
	const char *name = s->cluster.accelerator.name;

	if (c->stack)
		return strcmp(s->stack.name, c->owner) == 0;
	if (name[0] == 'g')
		name++;
	return strncmp(name, c->owner, strlen(c->owner)) == 0;
}

static bool is_left_out(const struct scenario *s)
{
	return left_out[0] != '\0' && (strstr(s->model.name, left_out) ||
				       strcmp(s->stack.name, left_out) == 0);
}

static void predict(int i)
{
	struct score_run row;

	for (int f = 0; f < SCORE_FIGURES; f++)
		error[i][f] = NAN;
	if (!set.run[i].readable)
		return;
	run_predict(&set.run[i], &estimate, &row);
	for (int f = 0; f < SCORE_FIGURES; f++)
		if (row.predicted && row.serving[f].scores &&
		    row.serving[f].measured > 0)
			error[i][f] =
				log(row.serving[f].predicted / row.serving[f].measured);
}

static void find_groups(void)
{
	for (int i = 0; i < set.count; i++) {
		const struct scenario *a = &set.run[i].scenario;

		group[i] = i;
		for (int k = 0; k < i; k++) {
			const struct scenario *b = &set.run[k].scenario;

			if (strcmp(a->model.name, b->model.name) == 0 &&
			    strcmp(a->stack.name, b->stack.name) == 0 &&
			    strcmp(a->cluster.name, b->cluster.name) == 0 &&
			    a->plan.precision == b->plan.precision) {
				group[i] = group[k];
				break;
			}
		}
	}
}

static double objective(void)
{
	double *sum = calloc((size_t)set.count * SCORE_FIGURES, sizeof *sum);
	int *n = calloc((size_t)set.count * SCORE_FIGURES, sizeof *n);
	double total = 0, weights = 0;

	for (int i = 0; sum && n && i < set.count; i++)
		for (int f = 0; f < SCORE_FIGURES; f++) {
			double e = fabs(error[i][f]);
			int at = group[i] * SCORE_FIGURES + f;

			if (isnan(e) || is_left_out(&set.run[i].scenario))
				continue;
			sum[at] += fmin(e, 0.35) + 0.05 * fmin(e, 1);
			n[at]++;
		}
	for (int i = 0; sum && n && i < set.count * SCORE_FIGURES; i++)
		if (n[i] > 0) {
			total += sum[i] / n[i] * sqrt(n[i]);
			weights += sqrt(n[i]);
		}
	free(sum);
	free(n);
	return weights > 0 ? total / weights : 0;
}

static double tether(const struct constant *c)
{
	double off = log((c->value + 0.02 * c->unit) / (c->start + 0.02 * c->unit));

	return 0.0012 * fmin(off * off, 9);
}

static void apply(const struct constant *c)
{
	for (int i = 0; i < set.count; i++)
		if (set.run[i].readable && touches(c, &set.run[i].scenario)) {
			*place(c, &set.run[i].scenario) = c->value;
			predict(i);
		}
}

static bool try_value(struct constant *c, double value, double *best)
{
	double old = c->value, now;

	value = fmin(fmax(value, c->low), c->high);
	if (value == old)
		return false;
	c->value = value;
	apply(c);
	now = objective() + tether(c);
	if (now < *best - 1e-6) {
		*best = now;
		return true;
	}
	c->value = old;
	apply(c);
	return false;
}

static void descend(struct constant *c, double step)
{
	double best = objective() + tether(c);
	double up = c->value > 0 ? c->value * (1 + step) : c->high * step / 4;

	if (!try_value(c, up, &best))
		try_value(c, c->value / (1 + step), &best);
}

static void start(void)
{
	for (int k = 0; k < CONSTANTS; k++)
		for (int i = 0; i < set.count; i++)
			if (set.run[i].readable &&
			    touches(&constants[k], &set.run[i].scenario)) {
				constants[k].start = constants[k].value =
					*place(&constants[k], &set.run[i].scenario);
				break;
			}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_line(const char *what, double *values, int n)
{
	if (n == 0)
		return;
	qsort(values, (size_t)n, sizeof *values, compare);
	printf("  %-30s n %4d  median %5.1f %%  p90 %5.1f %%\n", what, n,
	       100 * values[n / 2], 100 * values[(int)(0.9 * (n - 1))]);
}

static void report(bool only_left_out)
{
	static const char *const names[] = { "TPOT", "TTFT", "throughput" };
	double *values = malloc(sizeof *values * ((size_t)set.count + 1));

	printf("objective %.4f%s\n", objective(), only_left_out ? ", left out:" : "");
	for (int f = 0; values && f < SCORE_FIGURES; f++) {
		int n = 0;

		for (int i = 0; i < set.count; i++)
			if (!isnan(error[i][f]) &&
			    (!only_left_out || is_left_out(&set.run[i].scenario)))
				values[n++] = fabs(exp(error[i][f]) - 1);
		print_line(names[f], values, n);
	}
	free(values);
}

/* "  key: value  # remark", or "  map: {..., key: value, ...}", inside serving:. */
static bool rewrite_line(char *line, size_t size, const struct constant *c)
{
	char pattern[96], rest[1024], *at;
	size_t value;

	snprintf(pattern, sizeof pattern, "  %s: ", c->map ? c->map : c->key);
	if (strncmp(line, pattern, strlen(pattern)) != 0)
		return false;
	at = line + strlen(pattern);
	if (c->map) {
		snprintf(pattern, sizeof pattern, "{%s: ", c->key);
		if (!(at = strstr(line, pattern))) {
			snprintf(pattern, sizeof pattern, ", %s: ", c->key);
			at = strstr(line, pattern);
		}
		if (!at)
			return false;
		at += strlen(pattern);
	}
	value = strcspn(at, " ,}\n");
	snprintf(rest, sizeof rest, "%s", at + value);
	snprintf(at, size - (size_t)(at - line), "%.3g%s", c->value / c->unit, rest);
	return true;
}

static bool owns_file(const struct constant *c, const char *path, const char *text)
{
	const char *name = strrchr(path, '/') + 1, *accelerator;

	if (c->stack)
		return strncmp(name, c->owner, strlen(c->owner)) == 0 &&
		       name[strlen(c->owner)] == '.';
	accelerator = strstr(text, "accelerator:\n  name: ");
	if (!accelerator)
		return false;
	accelerator += strlen("accelerator:\n  name: ");
	if (*accelerator == 'g')
		accelerator++;
	return strncmp(accelerator, c->owner, strlen(c->owner)) == 0;
}

static void write_file(const char *path)
{
	static char text[1 << 16];
	char line[2048];
	FILE *in = fopen(path, "r"), *out;
	bool inside = false;
	size_t length;

	if (!in)
		return;
	length = fread(text, 1, sizeof text - 1, in);
	text[length] = '\0';
	rewind(in);
	out = fopen("/tmp/shardscope-fit.yaml", "w");
	while (out && fgets(line, sizeof line, in)) {
		if (line[0] != ' ')
			inside = strncmp(line, "serving:", 8) == 0;
		for (int k = 0; inside && k < CONSTANTS; k++)
			if (owns_file(&constants[k], path, text))
				rewrite_line(line, sizeof line, &constants[k]);
		fputs(line, out);
	}
	fclose(in);
	if (!out || fclose(out) != 0)
		return;
	in = fopen("/tmp/shardscope-fit.yaml", "r");
	out = fopen(path, "w");
	while (in && out && (length = fread(text, 1, sizeof text, in)) > 0)
		fwrite(text, 1, length, out);
	if (in)
		fclose(in);
	if (out)
		fclose(out);
}

static void write_all(void)
{
	glob_t found;

	if (glob("presets/clusters/*.yaml", 0, NULL, &found) == 0) {
		glob("presets/stacks/*.yaml", GLOB_APPEND, NULL, &found);
		for (size_t i = 0; i < found.gl_pathc; i++)
			write_file(found.gl_pathv[i]);
		globfree(&found);
	}
}

int main(int argc, char **argv)
{
	struct error fault;
	glob_t found;
	bool write = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--write") == 0)
			write = true;
		else if (strcmp(argv[i], "--leave-out") == 0 && i + 1 < argc)
			left_out = argv[++i];
	}
	if (glob("tests/validation/inference/*.yaml", 0, NULL, &found) != 0)
		return 2;
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (!runs_read(&set, found.gl_pathv[i], &fault))
			fprintf(stderr, "%s\n", fault.text);
	globfree(&found);
	error = calloc((size_t)set.count + 1, sizeof *error);
	group = calloc((size_t)set.count + 1, sizeof *group);
	if (!error || !group)
		return 2;
	find_groups();
	start();
	for (int i = 0; i < set.count; i++)
		predict(i);
	report(false);
	for (double step = 0.3; step > 0.03; step *= 0.7) {
		for (int k = 0; k < CONSTANTS; k++)
			descend(&constants[k], step);
		printf("step %.3f objective %.4f\n", step, objective());
		fflush(stdout);
	}
	report(false);
	if (left_out[0] != '\0')
		report(true);
	for (int k = 0; k < CONSTANTS; k++)
		printf("%-14s %s%s%s %.4g (was %.4g)\n", constants[k].owner,
		       constants[k].map ? constants[k].map : "",
		       constants[k].map ? "." : "", constants[k].key,
		       constants[k].value / constants[k].unit,
		       constants[k].start / constants[k].unit);
	if (write)
		write_all();
	runs_free(&set);
	free(error);
	free(group);
	return 0;
}
