/* schema.h - JSON Schemas (draft 2020-12) of what commands print with --json.
 *
 * Knobs and metrics come from their tables; what else there is stands in one list of
 * shapes. Objects of knobs and metrics have no other keys; others may gain some.
 */
#ifndef PRESETS_SCHEMA_H
#define PRESETS_SCHEMA_H

/* The output that the schema is of, by index; NULL beyond the last. */
const char *schema_name(int index);
/* Its text with a newline, to be freed; NULL where there is none of that name, or no
 * memory. */
char *schema_write(const char *name);

#endif
