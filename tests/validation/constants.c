/* constants.c - see constants.h. */
#include "tests/validation/constants.h"
#include "presets/release.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(member)          offsetof(struct scenario, member)
#define CALIBRATION(member) AT(cluster.accelerator.calibration.member)
#define PLATEAU(chip, word, precision, most)                                   \
	{                                                                      \
		.owner = chip, .key = "gemm_efficiency." word,                 \
		.offset = CALIBRATION(gemm_efficiency[precision]), .low = 0.2, \
		.high = most, .unit = 1                                        \
	}
#define GEMM(chip, word, precision) PLATEAU(chip, word, precision, 0.95)
#define ATTENTION(chip, word, kernel)                                            \
	{                                                                        \
		.owner = chip, .key = "attention_efficiency." word,              \
		.offset = CALIBRATION(attention_efficiency[kernel]), .low = 0.1, \
		.high = 0.66, .unit = 1                                          \
	}
#define CHIP(chip, name, member, least, most, scale)                              \
	{                                                                         \
		.owner = chip, .key = name, .offset = CALIBRATION(member),        \
		.low = (least) * (scale), .high = (most) * (scale), .unit = scale \
	}
#define LINK(chip, name, level, least, most)                                  \
	{                                                                     \
		.owner = chip, .key = name ".efficiency",                     \
		.offset = AT(cluster.link[level].efficiency), .low = (least), \
		.high = (most), .unit = 1                                     \
	}
#define STACK(name, word, member, least, most, scale, is_share)                        \
	{                                                                              \
		.owner = name, .key = word, .offset = AT(stack.member), .stack = true, \
		.share = is_share, .low = (least) * (scale), .high = (most) * (scale), \
		.unit = scale                                                          \
	}
#define KERNELS(chip)                                                     \
	CHIP(chip, "memory_efficiency", memory_efficiency, 0.4, 0.95, 1), \
		CHIP(chip, "kernel_us", kernel_seconds, 1, 12, 1e-6),     \
		CHIP(chip, "tail_share", tail_share, 0.05, 1, 1),         \
		CHIP(chip, "step_ms", step_seconds, 0.5, 60, 1e-3)
#define LINKS(chip)                                                  \
	CHIP(chip, "collective_share", collective_share, 0.4, 1, 1), \
		LINK(chip, "network", LINK_NETWORK, 0.3, 1)
#define COMMON_CHIP(chip) KERNELS(chip), LINKS(chip)
/* clang-format off */
#define BASE_STACK(name)                                                                  \
	STACK(name, "kernel_gap_us", kernel_gap_seconds, 0.5, 150, 1e-6, false),            \
	STACK(name, "dp_overlap", dp_overlap, 0, 1, 1, true),                             \
	STACK(name, "tp_grad_overlap", tp_grad_overlap, 0, 1, 1, true),                   \
	STACK(name, "network_efficiency", network_efficiency, 0.1, 1, 1, false),            \
	STACK(name, "layer_step_us", layer_step_seconds, 10, 20000, 1e-6, false)
#define COMMON_STACK(name)                                                                \
	BASE_STACK(name),                                                                 \
	STACK(name, "sync_calls_per_layer", sync_calls_per_layer, 0.03, 60, 1, false)
/* clang-format on */

struct constant constants[] = {
	GEMM("ampere", "bf16", PRECISION_BF16),
	ATTENTION("ampere", "unfused", ATTENTION_UNFUSED),
	ATTENTION("ampere", "fused-softmax", ATTENTION_FUSED_SOFTMAX),
	ATTENTION("ampere", "flash1", ATTENTION_FLASH1),
	CHIP("ampere", "narrow_head_efficiency", narrow_head_efficiency, 0.5, 1, 1),
	CHIP("ampere", "unaligned_efficiency", unaligned_efficiency, 0.3, 1, 1),
	COMMON_CHIP("ampere"),
	GEMM("hopper", "bf16", PRECISION_BF16),
	/* large fp8 GEMMs reach 0.61 to 0.69 alone (ai-dynamo/aiconfigurator): not
	 * fitted, for runs ask for more than that */
	ATTENTION("hopper", "flash1", ATTENTION_FLASH1),
	/* its other flash kernels follow its GEMMs, as those of ampere and blackwell */
	COMMON_CHIP("hopper"),
	GEMM("blackwell", "bf16", PRECISION_BF16),
	GEMM("blackwell", "fp8", PRECISION_FP8),
	GEMM("blackwell", "mxfp8", PRECISION_MXFP8),
	GEMM("blackwell", "nvfp4", PRECISION_NVFP4),
	LINKS("blackwell"),
	KERNELS("any-blackwell"),
	GEMM("blackwell-ultra", "bf16", PRECISION_BF16),
	GEMM("blackwell-ultra", "fp8", PRECISION_FP8),
	GEMM("blackwell-ultra", "mxfp8", PRECISION_MXFP8),
	GEMM("blackwell-ultra", "nvfp4", PRECISION_NVFP4),
	LINKS("blackwell-ultra"),
	GEMM("volta", "fp16", PRECISION_FP16),
	GEMM("ascend", "bf16", PRECISION_BF16),
	ATTENTION("ascend", "flash2", ATTENTION_FLASH2),
	CHIP("ascend", "memory_efficiency", memory_efficiency, 0.2, 0.95, 1),
	CHIP("ascend", "kernel_us", kernel_seconds, 1, 100, 1e-6),
	CHIP("ascend", "tail_share", tail_share, 0.05, 1, 1),
	LINK("ascend", "domain", LINK_DOMAIN, 0.3, 0.9),
	COMMON_STACK("megatron-core"),
	STACK("megatron-core", "tp_overlap", tp_overlap, 0, 1, 1, true),
	/* its gradients are one buffer, its norms and activations fused */
	BASE_STACK("megatron-lm-2021"),
	COMMON_STACK("megatron-deepspeed"),
	COMMON_STACK("nanotron"),
	STACK("nanotron", "operator_launches", operator_launches, 2, 60, 1, false),
	COMMON_STACK("fsdp"),
	COMMON_STACK("torchtitan"),
	STACK("torchtitan", "tp_overlap", tp_overlap, 0, 1, 1, true),
	COMMON_STACK("internevo"),
	COMMON_STACK("aleph-alpha-scaling"),
	COMMON_STACK("zero-bubble"),
	COMMON_STACK("mindspeed"),
};

const int constant_count = (int)(sizeof constants / sizeof constants[0]);

/* Accelerators of one generation, by the beginning of their names. */
static const struct generation {
	const char *name, *prefix;
} generations[] = {
	{ "volta", "v100" },
	{ "ampere", "a100" },
	{ "hopper", "h100" },
	{ "hopper", "h200" },
	{ "hopper", "h800" },
	{ "hopper", "gh200" },
	{ "blackwell", "b200" },
	{ "blackwell", "gb200" },
	{ "ascend", "ascend" },
	{ "any-blackwell", "b200" },
	{ "any-blackwell", "gb200" },
	{ "any-blackwell", "b300" },
	{ "any-blackwell", "gb300" },
	{ "blackwell-ultra", "b300" },
	{ "blackwell-ultra", "gb300" },
};

static bool is_generation(const char *generation, const char *accelerator)
{
	for (size_t i = 0; i < sizeof generations / sizeof generations[0]; i++)
		if (strcmp(generations[i].name, generation) == 0 &&
		    strncmp(accelerator, generations[i].prefix,
			    strlen(generations[i].prefix)) == 0)
			return true;
	return false;
}

struct named {
	const char *owner, *key;
};

/* Constants that come to a bound where they are fitted: InternEvo's optimizer takes 20
 * ms of CPU a layer, more than any count of its calls explains; what DeepSpeed's fork
 * of BLOOM does between kernels is not published. */
static const struct named held_back[] = { { "internevo", "layer_step_us" },
					  { "megatron-deepspeed", "kernel_gap_us" } };

/* What a stack's source says, so that no run need tell: a column-parallel layer adds up
 * its input's gradient when both gradients are there (bigscience-workshop/
 * Megatron-DeepSpeed@119a0d2, megatron/mpu/layers.py; Aleph-Alpha/scaling@01b9d21,
 * src/scaling/core/nn/linear/column_parallel_linear.py). */
static const struct named in_source[] = { { "megatron-deepspeed", "tp_grad_overlap" },
					  { "aleph-alpha-scaling",
					    "tp_grad_overlap" } };

static bool is_named(const struct constant *c, const struct named *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(c->owner, list[i].owner) == 0 &&
		    strcmp(c->key, list[i].key) == 0)
			return true;
	return false;
}

void constants_hold(void)
{
	for (int k = 0; k < constant_count; k++) {
		struct constant *c = &constants[k];

		c->known =
			is_named(c, in_source, sizeof in_source / sizeof in_source[0]);
		c->held |= c->known || is_named(c, held_back,
						sizeof held_back / sizeof held_back[0]);
	}
}

bool constant_touches(const struct constant *c, const struct scenario *s)
{
	return c->stack ? release_same_stack(c->owner, s->stack.name)
			: is_generation(c->owner, s->cluster.accelerator.name);
}

bool constant_on_bound(const struct constant *c, double value)
{
	double slack = 0.002 * (c->high - c->low);
	bool low = value <= c->low + slack && !(c->low == 0 && c->high == 1);
	bool high = value >= c->high - slack && !(c->high == 1 && c->unit == 1);

	return low || high;
}

double constant_get(const struct constant *c, const struct scenario *s)
{
	return *(const double *)((const char *)s + c->offset);
}

/* What moves with a GEMM's rate. fp16 runs on the silicon of bf16. Flash attention
 * keeps in a step what GEMMs keep there of what they reach alone, for clocks and memory
 * are shared. Alone GEMMs in bf16 reach .81 of the peak on A100, .785 on H100 and H200,
 * .668 on B200 and GB200 (ai-dynamo/aiconfigurator@095f58a, the middle of its
 * backends); flash attention of causal sequences .66 on A100 and .57 on Blackwell (the
 * same); on H100 the second generation .349 and cuDNN's kernels, which Transformer
 * Engine runs, .556 (FlashAttention-3, arXiv 2407.08608, figure 5, causal, heads of
 * 128). */
#define GEMMS CALIBRATION(gemm_efficiency[PRECISION_BF16])
#define FLASH(n)                         \
	"attention_efficiency.flash" #n, \
		CALIBRATION(attention_efficiency[ATTENTION_FLASH##n])
static const struct follower {
	const char *owner; /* NULL: all */
	size_t leader;
	const char *key;
	size_t offset;
	double ratio;
} followers[] = {
	{ NULL, GEMMS, "gemm_efficiency.fp16",
	  CALIBRATION(gemm_efficiency[PRECISION_FP16]), 1 },
	{ "ampere", GEMMS, FLASH(2), .66 / .81 },
	{ "ampere", GEMMS, FLASH(3), .66 / .81 },
	{ "hopper", GEMMS, FLASH(2), .349 / .785 },
	{ "hopper", GEMMS, FLASH(3), .556 / .785 },
	{ "blackwell", GEMMS, FLASH(3), .57 / .668 },
	{ "blackwell-ultra", GEMMS, FLASH(3), .57 / .668 },
	{ "ascend", CALIBRATION(attention_efficiency[ATTENTION_FLASH2]), FLASH(3), 1 },
};

enum { FOLLOWERS = sizeof followers / sizeof followers[0] };

static bool follows(const struct follower *f, const struct constant *c)
{
	return c->offset == f->leader && (!f->owner || strcmp(f->owner, c->owner) == 0);
}

void constant_set(const struct constant *c, struct scenario *s, double value)
{
	*(double *)((char *)s + c->offset) = value;
	for (int i = 0; i < FOLLOWERS; i++)
		if (follows(&followers[i], c))
			*(double *)((char *)s + followers[i].offset) =
				value * followers[i].ratio;
}

/* Where the value of key stands in text, or NULL. */
static char *find_value(char *text, const char *key)
{
	char first[64], *dot, *at;
	size_t length;

	snprintf(first, sizeof first, "%s", key);
	dot = strchr(first, '.');
	if (dot)
		*dot++ = '\0';
	length = strlen(first);
	for (at = strstr(text, first); at; at = strstr(at + 1, first))
		if (at[length] == ':' && (at == text || strchr("\n ", at[-1])))
			break;
	if (!at)
		return NULL;
	at += length + 1;
	if (dot) {
		char *end = strpbrk(at, "}\n"), pattern[64];

		snprintf(pattern, sizeof pattern, "%s:", dot);
		at = strstr(at, pattern);
		if (!at || !end || at > end)
			return NULL;
		at += strlen(pattern);
	}
	return at + strspn(at, " ");
}

static bool write_value(const char *path, const char *key, double value)
{
	static char text[1 << 16];
	FILE *file = fopen(path, "r");
	size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
	char *at;

	if (file)
		fclose(file);
	text[n] = '\0';
	at = find_value(text, key);
	if (!at)
		return true; /* this file takes the default */
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		return false;
	}
	fprintf(file, "%.*s%.3g%s", (int)(at - text), text, value,
		at + strspn(at, "0123456789.eE+-"));
	return fclose(file) == 0;
}

/* The accelerator's name as its file states it. */
static bool file_has(const char *path, const struct constant *c)
{
	char line[256], name[64];
	bool inside = false, found = false;
	FILE *file = fopen(path, "r");

	while (file && !found && fgets(line, sizeof line, file)) {
		inside |= strncmp(line, "accelerator:", 12) == 0;
		found = inside && sscanf(line, " name: %63s", name) == 1;
	}
	if (file)
		fclose(file);
	return found && is_generation(c->owner, name);
}

static bool write_constant(const struct constant *c, const char *path)
{
	double value = c->value / c->unit;

	if (!write_value(path, c->key, value))
		return false;
	for (int i = 0; i < FOLLOWERS; i++)
		if (follows(&followers[i], c) &&
		    !write_value(path, followers[i].key, value * followers[i].ratio))
			return false;
	return true;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double constants_middle(const struct constant *constant)
{
	double value[64];
	int n = 0;

	for (int k = 0; k < constant_count && n < 64; k++) {
		const struct constant *c = &constants[k];

		if (c->stack && c->found && !c->unseen && c->offset == constant->offset)
			value[n++] = c->value;
	}
	if (n == 0)
		return constant->value;
	qsort(value, (size_t)n, sizeof *value, compare);
	return (value[(n - 1) / 2] + value[n / 2]) / 2;
}

/* Of the kernels of servers, which are fitted to micro-benchmarks and to servers; 0
 * where they have no such number. */
static double benchmarked(const struct constant *c, const struct scenario *s)
{
	const struct serving_calibration *k =
		&s->cluster.accelerator.calibration.serving;

	for (int p = 0; p < PRECISION_COUNT; p++)
		if (c->offset ==
		    CALIBRATION(gemm_efficiency[0]) + (size_t)p * sizeof(double))
			return k->gemm_efficiency[p];
	if (c->offset == CALIBRATION(attention_efficiency[ATTENTION_FLASH2]) ||
	    c->offset == CALIBRATION(attention_efficiency[ATTENTION_FLASH3]))
		return k->attention_efficiency;
	if (c->offset == CALIBRATION(memory_efficiency))
		return k->elementwise_efficiency;
	return c->offset == CALIBRATION(kernel_seconds) ? k->kernel_seconds : 0;
}

static double among_others(const struct constant *constant)
{
	double value[64];
	int n = 0;

	for (int k = 0; k < constant_count && n < 64; k++) {
		const struct constant *c = &constants[k];

		if (c->found && c->offset == constant->offset &&
		    strcmp(c->owner, constant->owner) != 0)
			value[n++] = c->start;
	}
	if (n == 0)
		return constant->share ? (constant->low + constant->high) / 2
				       : sqrt(constant->low * constant->high);
	qsort(value, (size_t)n, sizeof *value, compare);
	return (value[(n - 1) / 2] + value[n / 2]) / 2;
}

double constants_neutral(const struct constant *constant,
			 const struct scenario *scenario)
{
	double known = constant->stack ? 0 : benchmarked(constant, scenario);

	return fmin(fmax(known > 0 ? known : among_others(constant), constant->low),
		    constant->high);
}

/* Each key once, as the first stack has it. */
static bool write_generic(const struct constant *c)
{
	for (const struct constant *other = constants; other < c; other++)
		if (other->stack && other->offset == c->offset)
			return true;
	return write_value("presets/stacks/generic.yaml", c->key,
			   constants_middle(c) / c->unit);
}

bool constants_write(void)
{
	glob_t files;
	bool good = true;

	if (glob("presets/clusters/*.yaml", 0, NULL, &files) != 0) {
		fputs("fit: no presets/clusters here\n", stderr);
		return false;
	}
	for (int k = 0; k < constant_count; k++) {
		const struct constant *c = &constants[k];
		char path[256];

		if (!c->found)
			continue;
		if (c->stack) {
			snprintf(path, sizeof path, "presets/stacks/%s.yaml", c->owner);
			good &= write_constant(c, path) && write_generic(c);
			continue;
		}
		for (size_t i = 0; i < files.gl_pathc; i++)
			if (file_has(files.gl_pathv[i], c))
				good &= write_constant(c, files.gl_pathv[i]);
	}
	globfree(&files);
	return good;
}
