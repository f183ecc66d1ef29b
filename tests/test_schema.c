/* test_schema.c - every kind of --json against its schema. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "presets/lesson_file.h"
#include "presets/library.h"
#include "presets/schema.h"
#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tests/support/schema.h"

static cJSON *schema_of(const char *name)
{
	char *text = schema_write(name);
	cJSON *schema = text ? cJSON_Parse(text) : NULL;

	if (!schema)
		fail_msg("no schema of %s", name);
	free(text);
	return schema;
}

/* What a command line prints, against the schema of its first word; each line of
 * sweep. */
static void check(const char *command)
{
	char name[32], why[512];
	struct ran ran = run(command);
	char *rest = ran.out, *text;
	cJSON *schema;

	snprintf(name, sizeof name, "%.*s", (int)strcspn(command, " "), command);
	schema = schema_of(name);
	if (ran.status > 1)
		fail_msg("%s: exit %d, %s", command, ran.status, ran.err);
	while ((text = strcmp(name, "sweep") == 0 ? strsep(&rest, "\n") : rest)) {
		cJSON *value = text[0] != '\0' ? cJSON_Parse(text) : NULL;

		if (text[0] != '\0' && !schema_holds(schema, value, why, sizeof why))
			fail_msg("%s: %s", command, value ? why : "no JSON");
		cJSON_Delete(value);
		rest = text == rest ? NULL : rest;
	}
	ran_free(&ran);
	cJSON_Delete(schema);
}

static void test_commands(void **state)
{
	static const char *const commands[] = {
		"eval llama3-70b-64-h100 --json",
		"eval llama3-70b-64-h100 --tp 6 --json",
		"eval llama3-70b-64-h100 --tp 4 --json",
		"eval deepseek-v3-1024-h100 --json",
		"eval llama3.1-70b-4-h100-serve --json",
		"eval deepseek-v3-8-h200-serve --json",
		"eval --model llama3-8b --gpus 8 --json",
		"check llama3-70b-64-h100 --json",
		"check llama3-70b-64-h100 --pp 3 --json",
		"check llama3.1-70b-4-h100-serve --tp 3 --json",
		"sweep --model llama3-8b --gpus 8 --vary tp=1,2,3 --json",
		"search llama3-70b-64-h100 --tp 8 --pp 4 --top 2 --json",
		"search llama3-70b-64-h100 --vpp 1,2 --top 1 --why --json",
		"search llama3-70b-64-h100 --tp 8 --pp 4 --top 2 --robust --json",
		"search llama3-70b-64-h100 --tp 8 --pp 4 --top 1 --pareto memory --json",
		"search llama3.1-70b-4-h100-serve --top 2 --json",
		"search --model llama3.1-405b --gpus 8 --top 1 --json",
		"explain mfu llama3-70b-64-h100 --json",
		"explain total_bytes llama3-70b-64-h100 --json",
		"explain ttft_seconds llama3.1-70b-4-h100-serve --json",
		"explain tp llama3-70b-64-h100 --json",
		"compare llama3-70b-64-h100 llama3-405b-16k-h100 --json",
		"compare llama3-70b-64-h100 tp=4 tp=3 --json",
		"list models --json",
		"list --json clusters",
		"list plans --json",
		"list stacks --json",
		"list challenges --json",
		"list rules --json",
		"validate tests/validation/torchtitan.yaml --json",
		"validate tests/validation/inference/open_loop.yaml --json",
	};

	(void)state;
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
		check(commands[i]);
}

static bool takes(const char *schema_name, const char *text, char *why)
{
	cJSON *schema = schema_of(schema_name), *value = cJSON_Parse(text);
	bool good = schema_holds(schema, value, why, 256);

	assert_non_null(value);
	cJSON_Delete(value);
	cJSON_Delete(schema);
	return good;
}

/* A file as JSON: what is not quoted and reads as a number or a yes is one. */
static cJSON *json_of(const struct node *node)
{
	cJSON *out;
	char *end;
	double number;

	if (node->kind == NODE_SCALAR) {
		number = strtod(node->text, &end);
		if (!node->quoted && node->text[0] != '\0' && *end == '\0')
			return cJSON_CreateNumber(number);
		if (!node->quoted && strcmp(node->text, "yes") == 0)
			return cJSON_CreateTrue();
		return cJSON_CreateString(node->text);
	}
	out = node->kind == NODE_MAP ? cJSON_CreateObject() : cJSON_CreateArray();
	for (const struct node *child = node->child; child; child = child->next)
		if (node->kind == NODE_MAP)
			cJSON_AddItemToObject(out, child->key, json_of(child));
		else
			cJSON_AddItemToArray(out, json_of(child));
	return out;
}

/* An editor that knows the schema of a lesson has nothing to say of those that ship,
 * and something of a key that is none. */
static void test_lessons(void **state)
{
	char names[64][MAX_NAME], why[512];
	int count = lesson_names(names, 64);
	cJSON *schema = schema_of("lesson"), *value;

	(void)state;
	assert_true(count >= 16);
	for (int i = 0; i < count; i++) {
		struct document document;
		struct error error;

		assert_true(preset_open(PRESET_LESSON, names[i], &document, &error));
		value = json_of(document.root);
		if (!schema_holds(schema, value, why, sizeof why))
			fail_msg("%s: %s", names[i], why);
		cJSON_AddStringToObject(value, "steps_", "none");
		assert_false(schema_holds(schema, value, why, sizeof why));
		cJSON_Delete(value);
		document_free(&document);
	}
	cJSON_Delete(schema);
}

/* What is not so is seen. */
static void test_wrong(void **state)
{
	static const char good[] = "{\"kind\": \"models\", \"presets\": [{\"name\": "
				   "\"a\", \"title\": \"b\", \"also\": [\"c\"], "
				   "\"hf_id\": null}]}";
	static const struct {
		const char *from, *to, *says;
	} spoiled[] = {
		{ "\"kind\": \"models\", ", "", "lacks kind" },
		{ "\"a\"", "1", ".presets[0].name: is no string" },
		{ "[\"c\"]", "[3]", ".presets[0].also[0]: is no string" },
		{ "null", "4", "is none of the types" },
		{ "\"also\"", "\"more\": 1, \"also\"", "has besides more" },
	};
	char text[256], why[256];

	(void)state;
	assert_true(takes("list", good, why));
	for (size_t i = 0; i < sizeof spoiled / sizeof spoiled[0]; i++) {
		const char *at = strstr(good, spoiled[i].from);

		snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good,
			 spoiled[i].to, at + strlen(spoiled[i].from));
		assert_false(takes("list", text, why));
		if (!strstr(why, spoiled[i].says))
			fail_msg("'%s' does not say %s", why, spoiled[i].says);
	}
	assert_null(schema_write("nothing"));
}

/* The command prints each, and names them where there is none. */
static void test_command(void **state)
{
	char line[64];

	(void)state;
	for (int i = 0; schema_name(i); i++) {
		char *text = schema_write(schema_name(i));
		struct ran ran;

		snprintf(line, sizeof line, "schema %s", schema_name(i));
		ran = run(line);
		assert_int_equal(ran.status, 0);
		assert_string_equal(ran.out, text);
		ran_free(&ran);
		free(text);
	}
	run_check("schema nothing", 2, NULL, "expected one of eval");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_lessons),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
