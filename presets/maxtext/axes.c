/* axes.c - see axes.h. Rules: MaxText's src/maxtext/configs/base.yml and
 * max_utils.fill_unspecified_mesh_axes() (AI-Hypercomputer/maxtext@e591f30cb). */
#include "presets/maxtext/axes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AXIS_KEYS = 6 };

/* Each axis is what ici_ (inside a slice) times dcn_ (between slices) say. */
static const struct axis {
	const char *keys[AXIS_KEYS];
} axes[] = {
	{ { "data", "diloco" } },
	{ { "fsdp", "fsdp_transpose" } },
	{ { "tensor", "tensor_sequence", "tensor_transpose", "autoregressive" } },
	{ { "context", "sequence", "context_autoregressive", "context_usp_ulysses" } },
	{ { "pipeline" } },
	{ { "expert" } },
};

enum {
	AXIS_DATA,
	AXIS_FSDP,
	AXIS_TENSOR,
	AXIS_CONTEXT,
	AXIS_PIPELINE,
	AXIS_EXPERT,
	AXIS_COUNT
};

/* Chips as xpk calls them, and folders of MaxText. The number behind the name counts
 * cores, or chips by their torus (docs.cloud.google.com/tpu/docs: v4, v5p, v6e, tpu7x);
 * two devices of JAX share a chip of tpu7x. */
static const struct device {
	const char *name, *folder, *cluster;
	int cores, devices; /* counted for a chip */
} devices[] = {
	{ "tpu7x-", "/tpu7x/", "tpu-v7x", 1, 2 },
	{ "v6e-", "/v6e/", "tpu-v6e", 1, 1 },
	{ "v5p-", "/v5p/", "tpu-v5p", 2, 1 },
	{ "v4-", "/v4/", "tpu-v4", 2, 1 },
};

/* What xpk is told of; NULL: nothing, or of no TPU. */
static const struct device *device_of(const struct mapped *m)
{
	const struct pair *device = pairs_find(m->pairs, "device");

	for (size_t i = 0; device && i < sizeof devices / sizeof devices[0]; i++)
		if (strncmp(device->value, devices[i].name, strlen(devices[i].name)) ==
		    0)
			return &devices[i];
	return NULL;
}

/* "tpu7x-4x4x8": the chips of all slices, 0 where the name does not tell. */
static int64_t chips_of(const struct mapped *m)
{
	const struct device *device = device_of(m);
	int64_t chips = 1, slices = 1;
	const char *at;
	char *end;

	if (!device || !mapped_count(m, "slices", &slices))
		return 0;
	at = pairs_find(m->pairs, "device")->value + strlen(device->name);
	for (; *at != '\0'; at = *end == 'x' ? end + 1 : end) {
		long long side = strtoll(at, &end, 10);

		if (end == at || side < 1 || (*end != '\0' && *end != 'x') ||
		    __builtin_mul_overflow(chips, side, &chips))
			return 0;
	}
	chips /= device->cores;
	return slices < 1 || __builtin_mul_overflow(chips, slices, &chips) ? 0 : chips;
}

int64_t maxtext_devices(const struct mapped *m)
{
	const struct device *device = device_of(m);

	return device && m->out->cluster.gpus == chips_of(m) ? device->devices : 1;
}

/* What the ici_ axes leave of a slice, which is a node where there are GPUs; 0: not
 * known. */
static int64_t slice_left(const struct mapped *m)
{
	int64_t left = m->out->cluster.gpus_per_node;

	if (strncmp(m->out->cluster.name, "tpu", 3) == 0)
		return 0;
	for (int i = 0; i < AXIS_COUNT; i++)
		for (int k = 0; k < AXIS_KEYS && axes[i].keys[k]; k++) {
			char key[64];
			int64_t value = 1;

			snprintf(key, sizeof key, "ici_%s_parallelism",
				 axes[i].keys[k]);
			if (!mapped_count(m, key, &value) || value < 2)
				continue;
			left = left % value == 0 ? left / value : 0;
		}
	return left;
}

/* One key of an axis whose -1 has to be a number: what is left of a node. */
static bool fill_key(const struct mapped *m, const char *key, int64_t *value)
{
	int64_t left = strncmp(key, "ici_", 4) == 0 ? slice_left(m) : 0;

	if (left < 1)
		return error_set(m->error, m->pairs->file, mapped_find(m, key)->line,
				 "%s is -1, what is left of the machines, which the "
				 "file does not say; expected a number",
				 key);
	import_note(m->report, IMPORT_ASSUMED, key, "%lld, what is left of a node",
		    (long long)left);
	*value = left;
	return true;
}

/* Product of an axis; -1 in any of its keys leaves it to the machines: *open. */
static bool read_axis(const struct mapped *m, const struct axis *axis, int64_t *out,
		      bool *open)
{
	static const char *const levels[] = { "ici_", "dcn_" };
	char key[64];

	*out = 1;
	*open = false;
	for (int i = 0; i < 12; i++) {
		const char *name = axis->keys[i / 2];
		int64_t value = 1;

		if (!name)
			break;
		snprintf(key, sizeof key, "%s%s_parallelism", levels[i % 2], name);
		if (!mapped_count(m, key, &value))
			return false;
		if (value < 0 && axis > &axes[AXIS_FSDP] && !fill_key(m, key, &value))
			return false;
		*open = *open || value < 0;
		if (value > 1 && __builtin_mul_overflow(*out, value, out))
			return error_set(m->error, m->pairs->file, 1,
					 "%s and what stands beside it are too many",
					 key);
	}
	return true;
}

/* The chips that xpk is told of, where the model fits between them: axes may be open,
 * or count devices of which several share a chip. */
static int64_t world_of(const struct mapped *m, const int64_t *axis, int64_t world)
{
	const struct device *device = device_of(m);
	int64_t chips = chips_of(m);
	int64_t model = m->out->plan.tp * m->out->plan.cp * m->out->plan.pp;
	bool shared = device && device->devices > 1 && world == device->devices * chips;

	if (chips < 1 || (world > 0 && !shared) || chips % model != 0 ||
	    chips % axis[AXIS_EXPERT] != 0)
		return world;
	if (device->devices > 1 && model * axis[AXIS_EXPERT] > 1)
		import_note(m->report, IMPORT_APPROXIMATE, "device",
			    "axes count %d devices a chip; of tensor, context, "
			    "pipeline and expert each is counted as a chip",
			    device->devices);
	return chips;
}

/* Copies of the weights: what data has, or is left for it by an axis of shards that is
 * said. An open axis of shards takes what is left of a slice, and data the slices. */
static bool set_group(const struct mapped *m, const int64_t *axis, const bool *open,
		      int64_t world)
{
	int64_t shards = axis[AXIS_FSDP], copies = axis[AXIS_DATA], slices = 1;
	int64_t left = world * maxtext_devices(m);
	const struct pair *said = mapped_find(m, "dcn_data_parallelism");

	for (int i = 0; i < AXIS_COUNT; i++)
		left = left % axis[i] == 0 ? left / axis[i] : 1;
	if (!mapped_count(m, "slices", &slices))
		return false;
	if (open[AXIS_FSDP] || !mapped_find(m, "ici_fsdp_parallelism")) {
		bool apart =
			slices > 1 && left % slices == 0 && (!said || open[AXIS_DATA]);

		copies *= apart ? slices : 1;
		shards *= apart ? left / slices : left;
	} else if (open[AXIS_DATA]) {
		copies *= left;
	}
	return copies < 2 || shards < 2 ||
	       mapped_set_count(m, "zero_group",
				shards * axis[AXIS_CONTEXT] * axis[AXIS_EXPERT] /
					maxtext_devices(m),
				NULL);
}

/* fsdp shards weights, and so do context and expert (the rule of `embed` in base.yml);
 * data only the batch. Without a word of either fsdp takes what is left of a slice,
 * data the slices. */
static bool set_degrees(const struct mapped *m, const int64_t *axis, const bool *open)
{
	bool said = mapped_find(m, "ici_fsdp_parallelism") != NULL;
	bool sharded = axis[AXIS_FSDP] * axis[AXIS_CONTEXT] * axis[AXIS_EXPERT] > 1 ||
		       open[AXIS_FSDP] || !said;
	int64_t world = axis[AXIS_DATA], least;

	for (int i = AXIS_FSDP; i < AXIS_COUNT; i++)
		if (__builtin_mul_overflow(world, axis[i], &world))
			world = INT64_MAX;
	if (!mapped_set_count(m, "tp", axis[AXIS_TENSOR], NULL) ||
	    !mapped_set_count(m, "cp", axis[AXIS_CONTEXT], NULL) ||
	    !mapped_set_count(m, "pp", axis[AXIS_PIPELINE], NULL) ||
	    !mapped_set_count(m, "ep", axis[AXIS_EXPERT], NULL) ||
	    !mapped_set(m, "zero", sharded ? "3" : "0", NULL))
		return false;
	least = world / maxtext_devices(m);
	if (open[AXIS_DATA] || open[AXIS_FSDP] || !said)
		world = 0;
	world = world_of(m, axis, world);
	/* -1 beside axes that take more than a node: it gets one at least */
	if (world < 1 && least > m->out->cluster.gpus_per_node) {
		world = least;
		import_note(m->report, IMPORT_ASSUMED, "gpus", "%lld",
			    (long long)world);
	}
	if (!mapped_set_world(m, world, mapped_find(m, "ici_fsdp_parallelism")))
		return false;
	return world < 1 || !sharded || set_group(m, axis, open, world);
}

bool maxtext_degrees(const struct mapped *m)
{
	int64_t axis[AXIS_COUNT];
	bool open[AXIS_COUNT];

	for (int i = 0; i < AXIS_COUNT; i++)
		if (!read_axis(m, &axes[i], &axis[i], &open[i]))
			return false;
	return set_degrees(m, axis, open);
}

const char *maxtext_chip(const struct mapped *m)
{
	const struct pair *device = mapped_find(m, "device");

	for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
		if (device ? strncmp(device->value, devices[i].name,
				     strlen(devices[i].name)) == 0
			   : strstr(m->pairs->file, devices[i].folder) != NULL)
			return devices[i].cluster;
	return NULL;
}
