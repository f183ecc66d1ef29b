/* lmcache.c - LMCache's own configuration: a cache in host memory behind a server's. */
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/pairs/mapping.h"
#include "presets/serving/serving.h"
#include "presets/serving/tool.h"

/* Keys and defaults: LMCache/LMCache, lmcache/v1/config.py, _CONFIG_DEFINITIONS. */
static const char cpu_key[] = "local_cpu", max_key[] = "max_local_cpu_size";
const char lmcache_file[] = "LMCACHE_CONFIG_FILE";
const char *const lmcache_variables[] = { LMCACHE_KEPT, LMCACHE_SIZE, lmcache_file,
					  NULL };
static const char usual_gib[] = "5";

static const struct mapping rows[] = { { NULL, NULL, NULL, NULL, false } };
static const char *const others[] = { cpu_key, max_key, NULL };

/* GiB of each worker, who runs one rank; nothing is kept there without the switch,
 * whatever the size says. */
bool lmcache_host(const struct mapped *m, const char *kept_key, const char *size_key)
{
	const struct pair *kept = mapped_find(m, kept_key);
	const struct pair *size = mapped_find(m, size_key);
	bool off = kept && !mapped_true(m, kept_key) && strcmp(kept->value, "1") != 0;

	if (!size && !off)
		import_note(m->report, IMPORT_ASSUMED, "host_kv",
			    "%s GiB: %s is not given", usual_gib, size_key);
	import_note(m->report, IMPORT_ASSUMED, "host_prefix",
		    "%g: what is found there is a property of the users",
		    m->out->plan.serving.host_prefix);
	return mapped_set(m, "host_kv",
			  off    ? "0"
			  : size ? size->value
				 : usual_gib,
			  size);
}

bool lmcache_inside(const struct mapped *m)
{
	const struct pair *file = mapped_find(m, lmcache_file);

	if (!file || mapped_find(m, LMCACHE_SIZE))
		return lmcache_host(m, LMCACHE_KEPT, LMCACHE_SIZE);
	import_note(m->report, IMPORT_ASSUMED, "host_kv",
		    "0: %.60s is not opened; import lmcache reads it", file->value);
	return true;
}

bool lmcache_again(struct tool_writer *w, const char *key, const char *own)
{
	double bytes = w->scenario->plan.serving.host_kv_bytes;
	bool kept = false;

	for (int i = 0; i < w->flags->count; i++)
		kept = kept || strcmp(w->flags->item[i].key, key) == 0;
	if (!kept)
		return false;
	write_without(w, bytes > 0 && w->role != ROLE_DECODE ? own : key);
	if (bytes > 0 && w->role != ROLE_DECODE)
		snprintf(w->place + strlen(w->place),
			 sizeof w->place - strlen(w->place),
			 LMCACHE_KEPT "=True " LMCACHE_SIZE "=%.6g ",
			 bytes / 1073741824);
	return true;
}

static bool read_host(const struct mapped *m)
{
	return mapped_set(m, "mode", "inference", NULL) &&
	       lmcache_host(m, cpu_key, max_key);
}

bool lmcache_read(struct scenario *out, const char *file, const char *text,
		  size_t length, struct import_report *report, struct error *error)
{
	static const struct mapped_format format = { "vllm",          rows,
						     others,          NULL,
						     mapped_no_model, read_host };
	struct pairs pairs;

	if (!pairs_from_yaml(&pairs, file, text, length, error))
		return false;
	return mapped_read(out, &format, &pairs, report, error);
}
