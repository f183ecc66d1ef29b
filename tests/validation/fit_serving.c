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
	double low, high, unit; /* SI per unit of the preset; the others in that unit */
	double value, prior;
};

#define A(member) \
	offsetof(struct scenario, cluster.accelerator.calibration.serving.member)
#define S(member) offsetof(struct scenario, stack.serving.member)
#define RATE(gen, key, member, prior, low, high, unit)                      \
	{                                                                   \
		gen, NULL, key, A(member), false, low, high, unit, 0, prior \
	}
#define SHARE(gen, map, word, p, prior, low, high)                        \
	{                                                                 \
		gen, #map, word, A(map[p]), false, low, high, 1, 0, prior \
	}
#define HOST(name, key, member, prior, high, unit)                        \
	{                                                                 \
		name, NULL, key, S(member), true, 0, high, unit, 0, prior \
	}
/* Priors: micro-benchmarks of ai-dynamo/aiconfigurator@095f58a where they are given;
 * the others are plain guesses, the same for all. */
#define RATES(gen, kernel, attention, kv, kv8, reduce, gemm, stream)                   \
	RATE(gen, "kernel_us", kernel_seconds, kernel, 1.5, 8, 1e-6),                  \
		RATE(gen, "small_kernel_us", small_kernel_seconds, 2, 0.8, 4, 1e-6),   \
		RATE(gen, "elementwise_efficiency", elementwise_efficiency, 0.6, 0.3,  \
		     0.95, 1),                                                         \
		RATE(gen, "attention_efficiency", attention_efficiency, attention,     \
		     0.3, 0.8, 1),                                                     \
		RATE(gen, "kv_efficiency", kv_efficiency, kv, 0.5, 0.9, 1),            \
		RATE(gen, "kv_efficiency_fp8", kv_efficiency_fp8, kv8, 0.4, 0.9, 1),   \
		RATE(gen, "decode_us", decode_fixed_seconds, 6, 2, 12, 1e-6),          \
		RATE(gen, "grouped_gemm_efficiency", grouped_gemm_efficiency, 0.6,     \
		     0.2, 1, 1),                                                       \
		RATE(gen, "grouped_stream_efficiency", grouped_stream_efficiency, 0.9, \
		     0.5, 1.1, 1),                                                     \
		RATE(gen, "grouped_us", grouped_fixed_seconds, 12, 2, 60, 1e-6),       \
		RATE(gen, "all_reduce_us", all_reduce_seconds, reduce, 2, 25, 1e-6),   \
		SHARE(gen, gemm_efficiency, "bf16", PRECISION_BF16, gemm, 0.5, 0.9),   \
		SHARE(gen, stream_efficiency, "bf16", PRECISION_BF16, stream, 0.6,     \
		      0.92)
#define NARROW(gen, word, p, gemm, stream)                     \
	SHARE(gen, gemm_efficiency, word, p, gemm, 0.25, 0.8), \
		SHARE(gen, stream_efficiency, word, p, stream, 0.25, 0.92)
#define SERVER(name)                                                                \
	HOST(name, "iteration_us", iteration_seconds, 1000, 6e3, 1e-6),             \
		HOST(name, "request_us", request_seconds, 6, 60, 1e-6),             \
		HOST(name, "prompt_us", prompt_seconds, 5000, 30e3, 1e-6),          \
		HOST(name, "small_kernels", small_kernels, 6, 16, 1),               \
		HOST(name, "quantise_kernels", quantise_kernels, 3, 8, 1),          \
		HOST(name, "prefill_efficiency", prefill_efficiency, 0.9, 1.05, 1), \
		HOST(name, "layer_cpu_us", layer_cpu_seconds, 60, 300, 1e-6)

static struct constant constants[] = {
	RATES("a100", 5.6, 0.65, 0.72, 0.72, 8.4, 0.82, 0.79),
	RATES("h", 3.6, 0.61, 0.80, 0.68, 3.6, 0.79, 0.80),
	RATES("b", 3.0, 0.56, 0.79, 0.74, 5.9, 0.68, 0.71),
	RATES("l40s", 3.4, 0.61, 0.83, 0.73, 3.6, 0.79, 0.81),
	NARROW("h", "fp8", PRECISION_FP8, 0.69, 0.88),
	NARROW("h", "fp8-block", PRECISION_FP8_BLOCK, 0.55, 0.80),
	NARROW("l40s", "fp8", PRECISION_FP8, 0.68, 0.88),
	NARROW("b", "fp8", PRECISION_FP8, 0.58, 0.76),
	NARROW("b", "fp8-block", PRECISION_FP8_BLOCK, 0.57, 0.72),
	NARROW("b", "nvfp4", PRECISION_NVFP4, 0.39, 0.5),
	RATE("h", "latent_efficiency", latent_efficiency, 0.58, 0.3, 0.8, 1),
	RATE("b", "latent_efficiency", latent_efficiency, 0.51, 0.3, 0.8, 1),
	RATE("h", "all_to_all_us", all_to_all_seconds, 38, 10, 100, 1e-6),
	RATE("b", "all_to_all_us", all_to_all_seconds, 38, 10, 100, 1e-6),
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
	double off = log((c->value + 0.02) / (c->prior + 0.02));

	return 0.0012 * fmin(off * off, 9);
}

static void apply(const struct constant *c)
{
	for (int i = 0; i < set.count; i++)
		if (set.run[i].readable && touches(c, &set.run[i].scenario)) {
			*place(c, &set.run[i].scenario) = c->value * c->unit;
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

/* From the priors, so that the answer does not hang on what the presets hold. */
static void start(void)
{
	for (int k = 0; k < CONSTANTS; k++) {
		constants[k].value = constants[k].prior;
		apply(&constants[k]);
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
	snprintf(at, size - (size_t)(at - line), "%.3g%s", c->value, rest);
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
	for (int i = 0; i < set.count; i++)
		predict(i);
	start();
	report(false);
	/* twice: what was stuck behind another constant moves on */
	for (int round = 0; round < 2; round++)
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
		printf("%-14s %s%s%s %.4g (prior %.4g)\n", constants[k].owner,
		       constants[k].map ? constants[k].map : "",
		       constants[k].map ? "." : "", constants[k].key,
		       constants[k].value, constants[k].prior);
	if (write)
		write_all();
	runs_free(&set);
	free(error);
	free(group);
	return 0;
}
