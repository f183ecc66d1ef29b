/* dimension.c - their names. */
#include "engine/plan/dimension.h"

static const struct {
	const char *key, *label;
} dimensions[DIM_COUNT] = {
	[DIM_TP] = { "tp", "TP" }, [DIM_CP] = { "cp", "CP" },
	[DIM_EP] = { "ep", "EP" }, [DIM_PP] = { "pp", "PP" },
	[DIM_DP] = { "dp", "DP" }, [DIM_HOST] = { "host", "host" },
};

const char *dimension_key(enum dimension dimension)
{
	return (unsigned)dimension < DIM_COUNT ? dimensions[dimension].key : "";
}

const char *dimension_label(enum dimension dimension)
{
	return (unsigned)dimension < DIM_COUNT ? dimensions[dimension].label : "";
}
