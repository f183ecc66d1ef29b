/* sglang_host.c - SGLang's caches in host memory: a hierarchy of its own, or LMCache.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/serve/serve.h"
#include "presets/serving/tool.h"

/* LMCache inside the server; beside a hierarchy of SGLang's own it is not asked
 * (srt/mem_cache/registry.py). A daemon of its own has settings of its own. */
bool sglang_uses_lmcache(const struct pairs *flags)
{
	return pairs_find(flags, "enable-lmcache") &&
	       !pairs_find(flags, "enable-hierarchical-cache");
}

static bool read_lmcache(const struct mapped *m)
{
	if (mapped_find(m, LMCACHE_SIZE))
		return lmcache_host(m, LMCACHE_KEPT, LMCACHE_SIZE);
	import_note(m->report, IMPORT_ASSUMED, "host_kv",
		    "0: LMCache's size is no variable here; import lmcache reads its "
		    "file");
	return true;
}

/* GB of each rank, or so many times its cache on the GPU
 * (srt/mem_cache/memory_pool_host.py); for the latter it is filled as on the cluster
 * that is assumed. */
bool sglang_read_host(const struct mapped *m)
{
	const struct pair *from = mapped_find(m, "hicache-size");
	struct estimate *e;
	double gb, ratio;

	if (!mapped_on(m, "enable-hierarchical-cache"))
		return !sglang_uses_lmcache(m->pairs) || read_lmcache(m);
	if (!read_number(m, "hicache-size", &gb) ||
	    !read_number(m, "hicache-ratio", &ratio))
		return false;
	if (gb > 0)
		return read_host_kv(m, gb * 1e9, from);
	ratio = ratio > 0 ? ratio : 2;
	e = calloc(1, sizeof *e);
	if (!e)
		return error_set(m->error, m->pairs->file, 0, "out of memory");
	serve_estimate(m->out, e);
	gb = fmax(0, e->serving.kv_share_bytes) * ratio;
	free(e);
	import_note(m->report, IMPORT_ASSUMED, "host_kv",
		    "%.3g GiB: %g times the KV cache of a GPU on %s", gb / 1073741824,
		    ratio, m->out->cluster.name);
	return read_host_kv(m, gb, mapped_find(m, "hicache-ratio"));
}

void sglang_write_host(const struct tool_writer *w)
{
	double bytes = w->scenario->plan.serving.host_kv_bytes, whole;

	if (bytes <= 0)
		return;
	/* who only decodes keeps no prefixes, and refuses a hierarchy behind them
	 * (srt/server_args.py, handle_pd_disaggregation) */
	if (w->role == ROLE_DECODE)
		return;
	if (!w->scenario->plan.serving.prefix_cache) {
		write_unsaid(w, "host_kv",
			     "%g GiB: behind a radix cache alone, which is off",
			     bytes / 1073741824);
		return;
	}
	whole = fmax(1, round(bytes / 1e9));
	write_flag(w, "enable-hierarchical-cache", "");
	write_count(w, "hicache-size", (int64_t)whole);
}

void sglang_settle_host(struct tool_writer *w)
{
	double bytes = w->scenario->plan.serving.host_kv_bytes;
	double whole = fmax(1, round(bytes / 1e9));

	if (lmcache_again(w, "enable-lmcache", "hicache-size")) {
		write_without(w, "enable-hierarchical-cache");
		return;
	}
	if (bytes > 0 && w->role != ROLE_DECODE &&
	    w->scenario->plan.serving.prefix_cache &&
	    fabs(bytes - whole * 1e9) > 1e-6 * bytes)
		write_unsaid(w, "host_kv", "%g GiB; SGLang has whole GB",
			     bytes / 1073741824);
}
