/* host.c - see host.h. */
#include "engine/serve/host.h"

#include <math.h>

double server_reloaded_tokens(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;
	double rest = (double)v->prompt_len - server_cached_tokens(s);

	if (v->host_kv_bytes <= 0 || !v->prefix_cache)
		return 0;
	return fmax(0, fmin(floor(v->host_prefix * rest), rest - 1));
}

double host_copy_seconds(const struct server *server, double tokens)
{
	double rate = cluster_host_rate(&server->context.scenario->cluster);

	if (rate <= 0 || tokens <= 0)
		return 0;
	return server_request_bytes(&server->context, tokens) / rate;
}

double host_hidden(const struct scenario *s, double copy, double prefill)
{
	double layers = (double)s->model.layers;

	if (!s->stack.serving.loads_by_layer)
		return 0;
	return fmin(copy, prefill) * (layers - 1) / layers;
}

void host_wait(const struct work *w, const struct server *prefill, double requests,
	       struct point *out)
{
	double tokens = server_reloaded_tokens(w->s);
	double copy = host_copy_seconds(prefill, tokens), away, stays;

	out->load_seconds = 0;
	if (copy <= 0)
		return;
	away = out->ttft_seconds + (w->output - 1) * out->tpot_seconds;
	stays = work_stay(requests, copy, away);
	out->load_seconds = stays - host_hidden(w->s, copy, out->prefill_seconds);
	out->ttft_seconds += out->load_seconds;
}

static void add(const char *what, double bytes, double seconds, struct estimate *out)
{
	struct traffic copy = { .dimension = DIM_HOST, .what = what, .ranks = 1 };

	if (bytes > 0)
		server_add_copy(copy, bytes, seconds, out);
}

void host_traffic(const struct server *decode, const struct server *prefill,
		  struct estimate *out)
{
	const struct scenario *s = decode->context.scenario;
	const struct serving_plan *v = &s->plan.serving;
	double copied = server_reloaded_tokens(s), made;
	double copies = server_copies(prefill);
	double each =
		out->serving.requests_per_second * out->serving.decode_seconds / copies;

	if (v->host_kv_bytes <= 0)
		return;
	if (copied > 0)
		add("KV cache from the host",
		    each * server_request_bytes(&prefill->context, copied),
		    each * host_copy_seconds(prefill, copied), out);
	made = (double)(v->prompt_len + v->output_len) - server_cached_tokens(s) -
	       copied;
	add("KV cache to the host",
	    each * server_request_bytes(&prefill->context, made),
	    each * host_copy_seconds(prefill, made), out);
}
