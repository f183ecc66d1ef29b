/* lanes.c - what fills the passes of a server. */
#include <math.h>
#include <string.h>

#include "engine/rules/legality.h"
#include "engine/serve/host.h"
#include "engine/serve/serve.h"
#include "engine/serve/serve_parts.h"

static void add(struct serve_lane *lane, const char *name, enum serve_filling kind,
		double seconds)
{
	if (lane->count == MAX_FILLINGS || !(seconds > 0))
		return;
	lane->item[lane->count].name = name;
	lane->item[lane->count].kind = kind;
	lane->item[lane->count++].seconds = seconds;
}

static enum serve_filling of_dimension(enum dimension dimension)
{
	switch (dimension) {
	case DIM_CP: return FILLING_CP;
	case DIM_EP: return FILLING_EP;
	case DIM_PP: return FILLING_PP;
	default: return FILLING_TP;
	}
}

static void fill(const struct serve_context *context, const struct batch *batch,
		 double most, struct serve_lane *out)
{
	double named = 0, scale = context->scenario->cluster.scale;
	struct pass pass;

	serve_pass(context, batch, true, &pass);
	/* fewer requests than stages fill fewer micro-batches */
	out->requests = fmin(most, batch->requests * context->shape.pp);
	out->prompt_tokens = batch->prompt_tokens;
	out->seconds = pass.seconds * scale;
	out->stage_seconds = pass.stage_seconds * scale;
	for (int i = 0; i < pass.operators; i++) {
		const struct pass_operator *op = &pass.operator[i];

		add(out, op->name,
		    op->compute_seconds > op->memory_seconds ? FILLING_COMPUTE
							     : FILLING_MEMORY,
		    op->seconds * scale);
	}
	for (int i = 0; i < pass.traffic_count; i++)
		add(out, pass.traffic[i].what, of_dimension(pass.traffic[i].dimension),
		    pass.traffic[i].total_seconds * scale);
	add(out, "host", FILLING_HOST, pass.host_seconds * scale);
	for (int i = 0; i < out->count; i++)
		named += out->item[i].seconds;
	/* below that it is rounding */
	if (out->seconds - named > 1e-6 * out->seconds)
		add(out, "rates not reached", FILLING_REST, out->seconds - named);
}

bool serve_lanes(const struct scenario *s, struct serve_lanes *out)
{
	struct serving_run run;
	struct batch batch;
	struct point p;
	double each;

	memset(out, 0, sizeof *out);
	if (scenario_check(s, NULL) != 0 || !run_open(s, &run))
		return false;
	run_room(&run);
	if (run.room < 1)
		return false;
	run_working(&run, s, run_in_flight(&run, s, run_asked(&run, s)), &p);
	each = p.decoding;
	out->stages = (int)run.decode.context.shape.pp;
	run_decode_batch(&run, each, &batch);
	fill(&run.decode.context, &batch, each, &out->lane[LANE_DECODE]);
	if (!run.apart)
		out->mixed_share = steady_mixed(&run.decode, &p, &batch);
	if (out->mixed_share > 0)
		fill(&run.decode.context, &batch, each, &out->lane[LANE_MIXED]);
	run_prompt_batch(&run, &batch);
	fill(&run_prompts(&run)->context, &batch, each, &out->lane[LANE_PROMPT]);
	return true;
}

double run_prompt_parts(const struct serving_run *run, struct batch *whole,
			struct batch *rest)
{
	const struct server *server = run_prompts(run);
	double budget = server->budget_tokens, passes;
	struct work w;

	work_of(run->decode.context.scenario, &w);
	w.copies = run->apart ? 1 : 0;
	passes = floor(w.prompt / budget);
	work_batch(&w, server, 0, passes > 0 ? budget : 0, whole);
	work_batch(&w, server, 0, w.prompt - passes * budget, rest);
	whole->prompt_context =
		work_part(&w, server, 0, passes * budget).prompt_context;
	rest->prompt_context =
		work_part(&w, server, passes * budget, w.prompt - passes * budget)
			.prompt_context;
	return passes;
}

double run_travelling_bytes(const struct serving_run *run)
{
	struct work w;

	if (!run->apart)
		return 0;
	work_of(run->decode.context.scenario, &w);
	return work_travelling_bytes(&w, &run->decode, &run->prefill);
}

double run_reloaded_bytes(const struct serving_run *run)
{
	double tokens = server_reloaded_tokens(run->decode.context.scenario);

	return tokens > 0 ? server_request_bytes(&run_prompts(run)->context, tokens)
			  : 0;
}
