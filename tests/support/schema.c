/* schema.c - see schema.h. */
#include "tests/support/schema.h"

#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

struct checking {
	const cJSON *root;
	char *why;
	size_t size;
};

static bool holds(const struct checking *c, const cJSON *schema, const cJSON *value,
		  const char *path);

static bool wrong(const struct checking *c, const char *path, const char *what,
		  const char *name)
{
	snprintf(c->why, c->size, "%s: %s %s", path[0] ? path : ".", what, name);
	return false;
}

static bool is_type(const cJSON *value, const char *type)
{
	return (strcmp(type, "object") == 0 && cJSON_IsObject(value)) ||
	       (strcmp(type, "array") == 0 && cJSON_IsArray(value)) ||
	       (strcmp(type, "string") == 0 && cJSON_IsString(value)) ||
	       (strcmp(type, "number") == 0 && cJSON_IsNumber(value)) ||
	       (strcmp(type, "boolean") == 0 && cJSON_IsBool(value)) ||
	       (strcmp(type, "null") == 0 && cJSON_IsNull(value));
}

static bool check_type(const struct checking *c, const cJSON *types, const cJSON *value,
		       const char *path)
{
	const cJSON *type;

	if (cJSON_IsString(types))
		return is_type(value, types->valuestring) ||
		       wrong(c, path, "is no", types->valuestring);
	cJSON_ArrayForEach(type,
			   types) if (is_type(value, type->valuestring)) return true;
	return wrong(c, path, "is none of the", "types");
}

static bool check_enum(const struct checking *c, const cJSON *words, const cJSON *value,
		       const char *path)
{
	const cJSON *word;

	cJSON_ArrayForEach(word,
			   words) if (cJSON_Compare(word, value, true)) return true;
	return wrong(c, path, "is no word of the list:",
		     cJSON_IsString(value) ? value->valuestring : "?");
}

static bool check_members(const struct checking *c, const cJSON *schema,
			  const cJSON *value, const char *path)
{
	const cJSON *properties = cJSON_GetObjectItem(schema, "properties");
	const cJSON *others = cJSON_GetObjectItem(schema, "additionalProperties");
	const cJSON *required = cJSON_GetObjectItem(schema, "required"), *item;
	char deeper[512];

	if (!cJSON_IsObject(value))
		return true;
	cJSON_ArrayForEach(item, required)
	{
		if (!cJSON_GetObjectItemCaseSensitive(value, item->valuestring))
			return wrong(c, path, "lacks", item->valuestring);
	}
	cJSON_ArrayForEach(item, value)
	{
		const cJSON *own =
			cJSON_GetObjectItemCaseSensitive(properties, item->string);

		snprintf(deeper, sizeof deeper, "%.400s.%.100s", path, item->string);
		if (!own && cJSON_IsFalse(others))
			return wrong(c, path, "has besides", item->string);
		if (!own && cJSON_IsObject(others))
			own = others;
		if (own && !holds(c, own, item, deeper))
			return false;
	}
	return true;
}

static bool check_items(const struct checking *c, const cJSON *schema,
			const cJSON *value, const char *path)
{
	const cJSON *item;
	char deeper[512];
	int i = 0;

	if (!cJSON_IsArray(value))
		return true;
	cJSON_ArrayForEach(item, value)
	{
		snprintf(deeper, sizeof deeper, "%.400s[%d]", path, i++);
		if (!holds(c, schema, item, deeper))
			return false;
	}
	return true;
}

static bool check_any(const struct checking *c, const cJSON *schemas,
		      const cJSON *value, const char *path)
{
	const cJSON *schema;

	cJSON_ArrayForEach(schema,
			   schemas) if (holds(c, schema, value, path)) return true;
	return false;
}

static bool check_reference(const struct checking *c, const cJSON *schema,
			    const cJSON *value, const char *path)
{
	const cJSON *defs = cJSON_GetObjectItem(c->root, "$defs"), *found;
	const char *name = strrchr(schema->valuestring, '/');

	found = name ? cJSON_GetObjectItemCaseSensitive(defs, name + 1) : NULL;
	return found ? holds(c, found, value, path)
		     : wrong(c, path, "no definition", schema->valuestring);
}

static bool holds(const struct checking *c, const cJSON *schema, const cJSON *value,
		  const char *path)
{
	static const char *const known[] = {
		"type",     "properties", "items",
		"enum",     "anyOf",      "$ref",
		"required", "title",      "additionalProperties",
		"$defs",    "$schema",    "description"
	};
	const cJSON *word;

	cJSON_ArrayForEach(word, schema)
	{
		bool good = false;

		for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
			good = good || strcmp(known[i], word->string) == 0;
		if (!good)
			return wrong(c, path,
				     "the schema has a word that is not known:",
				     word->string);
		if ((strcmp(word->string, "type") == 0 &&
		     !check_type(c, word, value, path)) ||
		    (strcmp(word->string, "enum") == 0 &&
		     !check_enum(c, word, value, path)) ||
		    (strcmp(word->string, "items") == 0 &&
		     !check_items(c, word, value, path)) ||
		    (strcmp(word->string, "anyOf") == 0 &&
		     !check_any(c, word, value, path)) ||
		    (strcmp(word->string, "$ref") == 0 &&
		     !check_reference(c, word, value, path)))
			return false;
	}
	return check_members(c, schema, value, path);
}

bool schema_holds(const cJSON *schema, const cJSON *value, char *why, size_t size)
{
	struct checking c = { schema, why, size };

	why[0] = '\0';
	return holds(&c, schema, value, "");
}
