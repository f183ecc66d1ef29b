/* serving_constants.c - see serving_constants.h. */
#include "tests/validation/serving_constants.h"
#include "presets/release.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

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
#define RATES(gen, kernel, attention, kv, kv8, gemm, stream)                          \
	RATE(gen, "kernel_us", kernel_seconds, kernel, 1.5, 8, 1e-6),                 \
		RATE(gen, "small_kernel_us", small_kernel_seconds, 2, 0.8, 4, 1e-6),  \
		RATE(gen, "elementwise_efficiency", elementwise_efficiency, 0.6, 0.3, \
		     0.95, 1),                                                        \
		RATE(gen, "attention_efficiency", attention_efficiency, attention,    \
		     0.3, 0.8, 1),                                                    \
		RATE(gen, "kv_efficiency", kv_efficiency, kv, 0.5, 0.97, 1),          \
		RATE(gen, "kv_efficiency_fp8", kv_efficiency_fp8, kv8, 0.4, 0.97, 1), \
		RATE(gen, "decode_us", decode_fixed_seconds, 6, 2, 12, 1e-6),         \
		RATE(gen, "grouped_stream_efficiency", grouped_stream_efficiency,     \
		     0.95, 0.5, 1.2, 1),                                              \
		RATE(gen, "grouped_us", grouped_fixed_seconds, 12, 2, 60, 1e-6),      \
		SHARE(gen, gemm_efficiency, "bf16", PRECISION_BF16, gemm, 0.5, 0.97), \
		SHARE(gen, stream_efficiency, "bf16", PRECISION_BF16, stream, 0.6,    \
		      0.97)
#define NARROW(gen, word, p, gemm, stream)                      \
	SHARE(gen, gemm_efficiency, word, p, gemm, 0.25, 0.97), \
		SHARE(gen, stream_efficiency, word, p, stream, 0.25, 0.97)
/* Priors: the same micro-benchmarks, mixtures on one rank with routing of power-law
 * 1.01 (TensorRT-LLM 1.0 to 1.2, vLLM 0.14 to 0.19, SGLang 0.5.9). */
#define GROUPED(gen, word, p, prior) \
	SHARE(gen, grouped_gemm_efficiency, word, p, prior, 0.1, 1.2)
#define SERVER(name)                                                                \
	HOST(name, "iteration_us", iteration_seconds, 1000, 6e3, 1e-6),             \
		HOST(name, "request_us", request_seconds, 6, 60, 1e-6),             \
		HOST(name, "prompt_us", prompt_seconds, 5000, 30e3, 1e-6),          \
		HOST(name, "small_kernels", small_kernels, 6, 16, 1),               \
		HOST(name, "quantise_kernels", quantise_kernels, 3, 8, 1),          \
		HOST(name, "prefill_efficiency", prefill_efficiency, 0.9, 1.05, 1), \
		HOST(name, "layer_cpu_us", layer_cpu_seconds, 60, 300, 1e-6)

struct serving_constant serving_constants[] = {
	RATES("a100", 5.6, 0.65, 0.72, 0.72, 0.82, 0.79),
	RATES("h", 3.6, 0.61, 0.80, 0.68, 0.79, 0.80),
	RATES("b", 3.0, 0.56, 0.79, 0.74, 0.68, 0.71),
	RATES("l40s", 3.4, 0.61, 0.83, 0.73, 0.79, 0.81),
	NARROW("h", "fp8", PRECISION_FP8, 0.69, 0.88),
	NARROW("h", "fp8-block", PRECISION_FP8_BLOCK, 0.55, 0.80),
	NARROW("l40s", "fp8", PRECISION_FP8, 0.68, 0.88),
	NARROW("b", "fp8", PRECISION_FP8, 0.58, 0.76),
	NARROW("b", "fp8-block", PRECISION_FP8_BLOCK, 0.57, 0.72),
	NARROW("b", "nvfp4", PRECISION_NVFP4, 0.39, 0.5),
	GROUPED("a100", "bf16", PRECISION_BF16, 0.57),
	GROUPED("h", "bf16", PRECISION_BF16, 0.85),
	GROUPED("h", "fp8", PRECISION_FP8, 0.63),
	GROUPED("h", "fp8-block", PRECISION_FP8_BLOCK, 0.46),
	GROUPED("h", "mxfp4", PRECISION_MXFP4, 0.53),
	GROUPED("b", "fp8-block", PRECISION_FP8_BLOCK, 0.47),
	GROUPED("b", "nvfp4", PRECISION_NVFP4, 0.53),
	GROUPED("b", "mxfp4", PRECISION_MXFP4, 0.45),
	GROUPED("l40s", "bf16", PRECISION_BF16, 0.6),
	RATE("h", "latent_efficiency", latent_efficiency, 0.58, 0.3, 0.8, 1),
	RATE("b", "latent_efficiency", latent_efficiency, 0.51, 0.3, 0.8, 1),
	RATE("h", "all_to_all_us", all_to_all_seconds, 38, 10, 100, 1e-6),
	RATE("b", "all_to_all_us", all_to_all_seconds, 38, 10, 100, 1e-6),
	SERVER("tensorrt-llm"),
	SERVER("vllm"),
	SERVER("sglang"),
	SERVER("lmdeploy"),
};
const int serving_constant_count =
	(int)(sizeof serving_constants / sizeof serving_constants[0]);

void serving_constant_set(const struct serving_constant *c, struct scenario *s)
{
	*(double *)(void *)((char *)s + c->offset) = c->value * c->unit;
}

/* H100 and H200, GB200 and B200 share silicon; their names begin alike after g. */
bool serving_constant_touches(const struct serving_constant *c,
			      const struct scenario *s)
{
	const char *name = s->cluster.accelerator.name;

	if (c->stack)
		return release_same_stack(s->stack.name, c->owner);
	if (name[0] == 'g')
		name++;
	return strncmp(name, c->owner, strlen(c->owner)) == 0;
}

/* "  key: value  # remark", or "  map: {..., key: value, ...}", inside serving:. */
static bool rewrite_line(char *line, size_t size, const struct serving_constant *c)
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

static bool owns_file(const struct serving_constant *c, const char *path,
		      const char *text)
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

static void rewrite(FILE *in, FILE *out, const char *path, const char *text)
{
	bool inside = false;
	char line[2048];

	while (fgets(line, sizeof line, in)) {
		if (line[0] != ' ')
			inside = strncmp(line, "serving:", 8) == 0;
		for (int k = 0; inside && k < serving_constant_count; k++)
			if (owns_file(&serving_constants[k], path, text))
				rewrite_line(line, sizeof line, &serving_constants[k]);
		fputs(line, out);
	}
}

/* Beside the file and then in its place, so that it is never there by half. */
static bool write_file(const char *path)
{
	static char text[1 << 16];
	char beside[512];
	FILE *in = fopen(path, "r"), *out;
	size_t length;
	bool good;

	snprintf(beside, sizeof beside, "%s.new", path);
	out = in ? fopen(beside, "w") : NULL;
	if (!out) {
		perror(in ? beside : path);
		if (in)
			fclose(in);
		return false;
	}
	length = fread(text, 1, sizeof text - 1, in);
	text[length] = '\0';
	rewind(in);
	rewrite(in, out, path, text);
	good = !ferror(in) && !ferror(out);
	fclose(in);
	good = fclose(out) == 0 && good;
	if (good && rename(beside, path) == 0)
		return true;
	perror(path);
	remove(beside);
	return false;
}

bool serving_constants_write(void)
{
	bool good = true;
	glob_t found;

	if (glob("presets/clusters/*.yaml", 0, NULL, &found) != 0) {
		fputs("fit: no presets/clusters here\n", stderr);
		return false;
	}
	glob("presets/stacks/*.yaml", GLOB_APPEND, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		good &= write_file(found.gl_pathv[i]);
	globfree(&found);
	return good;
}
