/* dimension.c - their names. */
#include "engine/plan/dimension.h"

static const struct {
	const char *key, *label, *name;
} dimensions[DIM_COUNT] = {
	[DIM_TP] = { "tp", "TP", "tensor" }, [DIM_CP] = { "cp", "CP", "context" },
	[DIM_EP] = { "ep", "EP", "expert" }, [DIM_PP] = { "pp", "PP", "pipeline" },
	[DIM_DP] = { "dp", "DP", "data" },   [DIM_HOST] = { "host", "host", "host" },
};

const char *dimension_key(enum dimension dimension)
{
	return (unsigned)dimension < DIM_COUNT ? dimensions[dimension].key : "";
}

const char *dimension_label(enum dimension dimension)
{
	return (unsigned)dimension < DIM_COUNT ? dimensions[dimension].label : "";
}

const char *dimension_name(enum dimension dimension)
{
	return (unsigned)dimension < DIM_COUNT ? dimensions[dimension].name : "";
}
