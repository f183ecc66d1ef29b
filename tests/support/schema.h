/* schema.h - whether JSON is what a JSON Schema says, as far as ours go. */
#ifndef TESTS_SUPPORT_SCHEMA_H
#define TESTS_SUPPORT_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

struct cJSON;

/* type, properties, required, additionalProperties, items, enum, anyOf and $ref to
 * $defs; any other word of a schema fails. What is wrong and where stands in why. */
bool schema_holds(const struct cJSON *schema, const struct cJSON *value, char *why,
		  size_t size);

#endif
