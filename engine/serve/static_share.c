/* static_share.c - what a server takes of the memory where nobody says.
 *
 * SGLang, srt/server_args.py, _handle_gpu_memory_settings (the same from v0.5.3 to
 * v0.5.9, sgl-project/sglang pull 10975): by the card so many tokens of a prompt's part
 * and requests that are captured, for which it leaves room. Its graphs of prompts, off
 * by default there, and its models with pictures, which leave more, are not in this.
 */
#include <math.h>
#include <stddef.h>

#include "engine/serve/serve.h"
#include "engine/serve/serve_parts.h"

static const double MIB = 1048576.0, GIB = 1073741824.0;
static const double USUAL = 0.9; /* of a tool that does not reckon */

double server_usual_graphs(const struct scenario *s)
{
	static const struct {
		double gib, few, more; /* below 4 ranks, from there on */
	} cards[] = {
		{ 20, 8, 8 }, { 35, 24, 80 }, { 60, 32, 160 }, { 160, 256, 512 }
	};
	double gib = s->cluster.accelerator.memory_bytes / GIB;

	for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++)
		if (gib < cards[i].gib)
			return s->plan.tp * s->plan.serving.dp_attention < 4
				       ? cards[i].few
				       : cards[i].more;
	return 512;
}

/* Tokens of a prompt's part, of all copies of the attention together; of prompts that
 * pass whole those of a pass. */
static double part_tokens(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;
	double usual = v->chunked_prefill ? server_usual_tokens(s) : 16384;
	double copies = v->chunked_prefill ? (double)v->dp_attention : 1;

	return v->max_batched_tokens > 0 ? (double)v->max_batched_tokens * copies
					 : usual;
}

static double reserved_bytes(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;
	double copies = (double)v->dp_attention, graphs = server_usual_graphs(s);
	double ranks = (double)(s->plan.tp * s->plan.pp) * copies;
	double mib = 512 + 1.5 * fmax(2048, part_tokens(s)) + 2 * graphs + 128 * ranks;

	if (copies > 1)
		mib += (graphs > 300 ? 4.5 : 3) * graphs * copies;
	if (s->cluster.accelerator.usable_bytes > 60 * GIB)
		mib = fmax(mib, 10 * 1024);
	if (v->speculative == SPECULATIVE_DRAFT)
		mib += 6 * 1024;
	if (v->speculative == SPECULATIVE_MTP)
		mib += 2 * 1024;
	return mib * MIB;
}

double server_memory_share(const struct scenario *s)
{
	double whole = s->cluster.accelerator.usable_bytes;

	if (s->plan.serving.memory_share > 0)
		return s->plan.serving.memory_share;
	if (s->stack.serving.share_of != SHARE_STATIC || !(whole > 0))
		return USUAL;
	/* to the thousandth; it can't be less than nothing */
	return fmax(0.001, round(1000 * (whole - reserved_bytes(s)) / whole) / 1000);
}
