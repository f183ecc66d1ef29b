/* nic.c - see nic.h. */
#include "engine/serve/nic.h"

#include <math.h>

/* Of one pass: seconds of its collectives on a rank's NIC, and of the whole. */
struct load {
	double nic, pass;
};

static struct load load_of(const struct work *w, const struct server *server,
			   double requests, double tokens)
{
	double rate = work_nic_rate(w->s);
	const struct timed_pass *pass = work_timed(w, server, requests, tokens);

	return (struct load){ rate > 0 ? pass->network_bytes / rate : 0,
			      pass->seconds };
}

/* Nothing is left to a transfer where collectives never pause: it then takes turns. Of
 * a NIC of 50 GB/s alone, one-sided writes of 256 KiB take 45.0 and Mooncake's 40.7
 * (PaddlePaddle/FastDeploy, cache_manager/transfer_factory/kvcache_transfer,
 * ConnectX-7): nothing is busier than nine tenths. */
static const double most_busy = 0.9;

static double busy(struct load l, double running)
{
	return l.pass > 0 ? fmin(most_busy, l.nic / l.pass * fmin(1, running)) : 0;
}

void nic_contend(const struct work *w, const struct server *decode,
		 const struct server *prefill, struct point *p)
{
	double tokens = fmin(w->prompt, prefill->budget_tokens);
	struct load decodes = load_of(w, decode, p->decoding, 0);
	struct load prompts = load_of(w, prefill, 0, tokens);
	double transfer = p->transfer_seconds;
	double rate = p->requests * server_copies(decode) /
		      (p->ttft_seconds + (w->output - 1) * p->tpot_seconds);
	double at_decode = busy(decodes, 1);
	double at_prompt =
		busy(prompts, rate * p->carrying_seconds / server_copies(prefill));
	double share = fmax(at_decode, at_prompt);

	if (share <= 0)
		return;
	if (transfer >= fmax(decodes.nic, prompts.nic)) {
		p->nic_share = share;
		p->contended_seconds = transfer * share / (1 - share);
	} else {
		double slower = 1 + at_decode * transfer * rate / server_copies(decode);

		p->nic_share = at_prompt;
		p->contended_seconds = transfer * at_prompt;
		p->step_seconds *= slower;
		p->tpot_seconds *= slower;
	}
	p->ttft_seconds += p->contended_seconds;
}

void nic_traffic(const struct server *decode, const struct server *prefill,
		 struct estimate *out)
{
	const struct serving_estimate *v = &out->serving;
	struct work w;
	double each, bytes, seconds;

	if (decode == prefill)
		return;
	work_of(decode->context.scenario, &w);
	each = v->requests_per_second * v->decode_seconds / server_copies(decode);
	bytes = each * work_travelling_bytes(&w, decode, prefill);
	seconds = each * v->transfer_seconds;
	server_add_copy((struct traffic){ .dimension = DIM_PP,
					  .algorithm = ALGORITHM_COUNT,
					  .what = "KV of prompts",
					  .ranks = 2,
					  .link = LINK_NETWORK,
					  .network_bytes = bytes },
			bytes, seconds, out);
}
