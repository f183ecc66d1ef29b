/* accuracy_file.c - see accuracy_file.h. */
#include "presets/accuracy_file.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "presets/data.h"
#include "presets/fields.h"

#define A(member) \
	offsetof(struct accuracy, member), sizeof(((struct accuracy *)0)->member)
#define NUMBER(key, member)                           \
	{                                             \
		key, FIELD_NUMBER, A(member), 0, NULL \
	}
#define RANGE(word, kind)                                        \
	NUMBER("step." word ".low", time[kind].low),             \
		NUMBER("step." word ".high", time[kind].high),   \
		NUMBER("memory." word ".low", memory[kind].low), \
		NUMBER("memory." word ".high", memory[kind].high)

#define SERVING(word, i)                                              \
	NUMBER("serving." word ".tpot", serving[i].tpot),             \
		NUMBER("serving." word ".ttft", serving[i].ttft),     \
		NUMBER("serving." word ".rate", serving[i].rate),     \
		NUMBER("serving." word ".loaded", serving[i].loaded), \
		NUMBER("serving." word ".pools", serving[i].pools),   \
		NUMBER("serving." word ".unfitted", serving[i].unfitted)

static const char *const words[RUN_KINDS] = {
	[RUN_DENSE] = "dense",       [RUN_EXPERTS] = "experts",
	[RUN_ADAPTERS] = "adapters", [RUN_UNMEASURED] = "unmeasured",
	[RUN_TORUS] = "torus",
};

static const struct field serving_fields[] = {
	SERVING("dense", 0),
	SERVING("experts", 1),
	NUMBER("drafts.mtp", drafts.mtp),
	NUMBER("drafts.model", drafts.model),
	NUMBER("drafts.reuse", drafts.reuse),
};

static const struct field fields[] = {
	RANGE("dense", RUN_DENSE),
	RANGE("experts", RUN_EXPERTS),
	RANGE("adapters", RUN_ADAPTERS),
	RANGE("unmeasured", RUN_UNMEASURED),
	RANGE("torus", RUN_TORUS),
	NUMBER("fit.steepness", fit.steepness),
	NUMBER("fit.middle", fit.middle),
	NUMBER("fit.tenth_beyond", fit.tenth_beyond),
	NUMBER("fit.surely", fit.surely),
	NUMBER("beyond.gpus", beyond.gpus),
	NUMBER("beyond.factor", beyond.factor),
	NUMBER("calibration.compute", prior.compute),
	NUMBER("calibration.network", prior.network),
	NUMBER("calibration.host", prior.host),
	NUMBER("calibration.noise", prior.noise),
	NUMBER("calibration.expert_noise", prior.expert_noise),
	NUMBER("calibration.noise_runs", prior.noise_runs),
};

const char *accuracy_kind_word(enum run_kind kind)
{
	return words[kind];
}

/* Read a mapping; false with error filled. */
static bool accuracy_read(const struct document *document, struct accuracy *out,
			  struct error *error)
{
	struct accuracy read = { 0 };

	if (!fields_read(document, document->root, fields,
			 (int)(sizeof fields / sizeof fields[0]), &read, NULL, error))
		return false;
	for (int k = 0; k < RUN_KINDS; k++) {
		const struct spread *both[] = { &read.time[k], &read.memory[k] };

		for (int i = 0; i < 2; i++)
			if (!(both[i]->low > 0) || both[i]->low > both[i]->high)
				return error_set(error, document->file, 0,
						 "%s of %s: expected low above 0 and "
						 "high above low",
						 i ? "memory" : "step", words[k]);
	}
	if (!(read.fit.steepness > 0) || !(read.fit.tenth_beyond > 1) ||
	    !(read.fit.surely > 0.5 && read.fit.surely < 1) ||
	    !(read.beyond.factor >= 1))
		return error_set(error, document->file, 0,
				 "expected fit.steepness above 0, fit.tenth_beyond "
				 "above 1, fit.surely between 0.5 and 1 and "
				 "beyond.factor from 1 on");
	*out = read;
	return true;
}

/* The same of servers: fills their part of out alone. */
static bool accuracy_read_serving(const struct document *document, struct accuracy *out,
				  struct error *error)
{
	struct accuracy read = { 0 };

	if (!fields_read(document, document->root, serving_fields,
			 (int)(sizeof serving_fields / sizeof serving_fields[0]), &read,
			 NULL, error))
		return false;
	for (int i = 0; i < 2; i++) {
		const struct serve_spread *s = &read.serving[i];
		const double all[] = { s->tpot,   s->ttft,  s->rate,
				       s->loaded, s->pools, s->unfitted };

		for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
			if (!(all[k] >= 1))
				return error_set(error, document->file, 0,
						 "%s: expected factors from 1 on",
						 i ? "experts" : "dense");
		out->serving[i] = *s;
	}
	out->drafts = read.drafts;
	return true;
}

/* One of the two files by its name. */
static bool read_shipped_file(const char *name, struct accuracy *out)
{
	struct document document;
	struct error error;

	for (const struct preset_file *f = presets_data; f->kind; f++) {
		bool good, serving = strcmp(name, "serving") == 0;

		if (strcmp(f->kind, "accuracy") != 0 || strcmp(f->name, name) != 0)
			continue;
		if (!document_parse(&document, f->name, (const char *)f->text,
				    f->length, &error))
			return false;
		good = serving ? accuracy_read_serving(&document, out, &error)
			       : accuracy_read(&document, out, &error);
		document_free(&document);
		return good;
	}
	return false;
}

static bool read_shipped(struct accuracy *out)
{
	return read_shipped_file("training", out) && read_shipped_file("serving", out);
}

/* Tried again where memory ran out: an explorer goes on. */
const struct accuracy *accuracy_shipped(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct accuracy shipped;
	static bool whole;
	bool now;

	pthread_mutex_lock(&lock);
	now = whole = whole || read_shipped(&shipped);
	pthread_mutex_unlock(&lock);
	return now ? &shipped : NULL;
}
