/* constants.h - numbers of a preset; its file says where each comes from. */
#ifndef ENGINE_EXPLAIN_CONSTANTS_H
#define ENGINE_EXPLAIN_CONSTANTS_H

#include "engine/base/form.h"
#include "engine/plan/scenario.h"

enum constant_type { CONSTANT_REAL, CONSTANT_WHOLE, CONSTANT_FLAG };

struct constant {
	const char *key, *title;
	enum form form;
	enum constant_type type;
	size_t offset;
};

/* One for each word of a knob. */
struct constant_array {
	const char *key, *title;
	enum form form;
	const char *knob;
	size_t offset;
};

/* Each ends with a row whose key is NULL: of a scenario, of a struct layer_kind, of a
 * scenario again. */
extern const struct constant explain_constants[], explain_kind_constants[];
extern const struct constant_array explain_arrays[];

#endif
