/* connectors.c - who takes vLLM's cache elsewhere: one, or several in a list.
 *
 * OffloadingConnector's bytes are those that kv_offloading_size asks for, LMCache's GiB
 * are each rank's (vllm/config/vllm.py, _post_init_kv_transfer_config); MultiConnector
 * (vllm/distributed/kv_transfer/kv_connector/v1/multi_connector.py).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/document.h"
#include "presets/serving/chart.h"
#include "presets/serving/tool.h"

static const char extra_key[] = "kv_connector_extra_config", list_key[] = "connectors";

static bool is_lmcache(const char *connector)
{
	return connector && strncmp(connector, "LMCacheConnector", 16) == 0;
}

static bool offloads(const char *connector)
{
	return connector && (strcmp(connector, "OffloadingConnector") == 0 ||
			     strcmp(connector, "SimpleCPUOffloadConnector") == 0);
}

static bool add(struct pairs *out, const char *key, const char *value)
{
	return pairs_add(out, key, value, 1, NULL);
}

/* What its settings say of the host's memory, in other words. */
static bool add_memory(struct pairs *out, const char *connector,
		       const struct node *extra)
{
	const char *bytes = scalar_of(extra, "cpu_bytes_to_use"),
		   *gib = scalar_of(extra, "lmcache.max_local_cpu_size"),
		   *kept = scalar_of(extra, "lmcache.local_cpu");
	char text[32];

	if (offloads(connector) && bytes) {
		snprintf(text, sizeof text, "%.10g", strtod(bytes, NULL) / 1073741824);
		return add(out, "--kv-offloading-size", text);
	}
	return !is_lmcache(connector) ||
	       ((!gib || add(out, "--LMCACHE_MAX_LOCAL_CPU_SIZE", gib)) &&
		(!kept || add(out, "--LMCACHE_LOCAL_CPU", kept)));
}

/* Settings that nothing else says. */
static bool add_others(struct pairs *out, const char *connector,
		       const struct node *extra)
{
	static const char *const said[] = { "lmcache.max_local_cpu_size",
					    "lmcache.local_cpu", NULL };
	bool good = true;

	for (const struct node *one = extra && extra->kind == NODE_MAP ? extra->child
								       : NULL;
	     one && good; one = one->next) {
		char key[128];

		if (one->kind != NODE_SCALAR ||
		    (is_lmcache(connector) && word_among(one->key, said)))
			continue;
		snprintf(key, sizeof key, "%s.%.64s", extra_key, one->key);
		good = add(out, key, one->text);
	}
	return good;
}

/* One of several; a cache on the host is not whom caches travel with. */
static bool add_connector(struct pairs *out, const struct node *one)
{
	const struct node *extra =
		one->kind == NODE_MAP ? node_get(one, extra_key) : NULL;
	const char *connector = scalar_of(one, "kv_connector");

	if (!connector)
		return true;
	if (is_lmcache(connector) && !add(out, "--connector", "lmcache"))
		return false;
	if (!add_memory(out, connector, extra))
		return false;
	return is_lmcache(connector) || offloads(connector) ||
	       (add(out, "kv_connector", connector) &&
		add_others(out, connector, extra));
}

static bool add_root(struct pairs *out, const struct node *root)
{
	const struct node *extra = node_get(root, extra_key), *list = NULL;
	const char *connector = scalar_of(root, "kv_connector");
	bool good = true;

	if (extra && extra->kind == NODE_MAP)
		list = node_get(extra, list_key);
	list = list && list->kind == NODE_LIST ? list : NULL;
	if (offloads(connector) && scalar_of(extra, "cpu_bytes_to_use"))
		return add_memory(out, connector, extra);
	for (const struct node *one = root->child; one && good; one = one->next)
		if (one->kind == NODE_SCALAR &&
		    !(list && strcmp(one->key, "kv_connector") == 0))
			good = add(out, one->key, one->text);
	good = good && add_memory(out, connector, extra) &&
	       add_others(out, connector, extra);
	for (const struct node *one = list ? list->child : NULL; one && good;
	     one = one->next)
		good = add_connector(out, one);
	return good;
}

bool connectors_read(struct pairs *out, const char *file, const char *json)
{
	struct document document;
	bool good;

	if (!document_parse_json(&document, file, json, strlen(json), false, NULL))
		return false;
	pairs_begin(out, file);
	good = document.root->kind == NODE_MAP && add_root(out, document.root);
	document_free(&document);
	if (!good)
		pairs_free(out);
	return good;
}

static void connectors_write(const struct tool_writer *w, double bytes)
{
	char text[512];

	if (bytes <= 0) {
		write_flag(w, CONNECTORS_FLAG ".kv-connector", "NixlConnector");
		return;
	}
	write_flag(w, CONNECTORS_FLAG ".kv-connector", "MultiConnector");
	snprintf(
		text, sizeof text,
		"{\"%s\": [{\"kv_connector\": \"NixlConnector\", \"kv_role\": "
		"\"kv_both\"}, {\"kv_connector\": \"OffloadingConnector\", \"kv_role\": "
		"\"kv_both\", \"%s\": {\"cpu_bytes_to_use\": %.0f}}]}",
		list_key, extra_key, bytes);
	write_flag(w, CONNECTORS_FLAG ".kv-connector-extra-config", text);
}

/* LMCache inside the ranks, by vLLM's connector or Dynamo's word for it; what
 * LMCacheMPConnector speaks to is a process of its own with its own settings. */
bool vllm_uses_lmcache(const struct pairs *flags)
{
	const struct pair *connector =
		pairs_find(flags, "kv-transfer-config.kv-connector");
	const struct pair *word = pairs_find(flags, "connector");

	return (connector && strncmp(connector->value, "LMCacheConnector", 16) == 0) ||
	       (word && strcmp(word->value, "lmcache") == 0);
}

static bool read_lmcache(const struct mapped *m)
{
	bool good = lmcache_inside(m);

	/* written back, the size is a flag: for the same cache */
	if (good && m->out->plan.serving.host_kv_bytes > 0)
		import_note(m->report, IMPORT_NOT_MODELLED, "kv-offloading-backend",
			    "lmcache");
	return good;
}

/* GiB of all ranks of an engine (vllm/config/cache.py: kv_offloading_size); who hands
 * it on to LMCache keeps it in a process of its own. */
bool vllm_read_host(const struct mapped *m)
{
	const struct pair *from = mapped_find(m, "kv-offloading-size");
	double gib;

	if (!from && vllm_uses_lmcache(m->pairs))
		return read_lmcache(m);
	return read_number(m, "kv-offloading-size", &gib) &&
	       read_host_kv(m,
			    gib * 1073741824 /
				    (double)(m->out->plan.tp * m->out->plan.pp),
			    from);
}

/* In a pool, beside who carries caches to the other. */
void vllm_write_host(const struct tool_writer *w)
{
	const struct plan *plan = &w->scenario->plan;
	double bytes = plan->serving.host_kv_bytes * (double)(plan->tp * plan->pp);
	char text[32];

	if (w->role != ROLE_BOTH)
		connectors_write(w, bytes);
	if (bytes <= 0 || w->role != ROLE_BOTH)
		return;
	snprintf(text, sizeof text, "%.6g", bytes / 1073741824);
	write_flag(w, "kv-offloading-size", text);
	write_default(w, "kv-offloading-backend", "native");
}
