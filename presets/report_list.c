/* report_list.c - see report_list.h. */
#include "presets/report_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "engine/advice/advice.h"
#include "presets/challenge_file.h"
#include "presets/report.h"

/* Names parted by blanks. */
static void add_names(cJSON *object, const char *key, const char *names)
{
	cJSON *list = cJSON_AddArrayToObject(object, key);

	while (names && *(names += strspn(names, " ")) != '\0') {
		char name[256];
		size_t length = strcspn(names, " ");

		snprintf(name, sizeof name, "%.*s", (int)length, names);
		cJSON_AddItemToArray(list, cJSON_CreateString(name));
		names += length;
	}
}

static cJSON *begin_row(cJSON *rows, const char *name, const char *title)
{
	cJSON *row = cJSON_CreateObject();

	cJSON_AddStringToObject(row, "name", name);
	cJSON_AddStringToObject(row, "title", title);
	cJSON_AddItemToArray(rows, row);
	return row;
}

char *report_presets(enum preset_kind kind)
{
	const struct preset *list;
	int count = preset_list(kind, &list);
	cJSON *root = cJSON_CreateObject(), *presets;

	cJSON_AddStringToObject(root, "kind", preset_kind_label(kind));
	presets = cJSON_AddArrayToObject(root, "presets");
	for (int i = 0; i < count; i++) {
		cJSON *row = begin_row(presets, list[i].name, list[i].title);

		add_names(row, "also", list[i].also);
		if (list[i].alias[0] != '\0')
			cJSON_AddStringToObject(row, "hf_id", list[i].alias);
		else
			cJSON_AddNullToObject(row, "hf_id");
	}
	return report_print(root, false);
}

char *report_challenges(void)
{
	char names[CHALLENGE_MOST][MAX_NAME];
	int count = challenge_names(names);
	struct challenge *c = malloc(sizeof *c);
	cJSON *root = c ? cJSON_CreateObject() : NULL, *challenges;

	if (!c)
		return NULL;
	cJSON_AddStringToObject(root, "kind", "challenges");
	challenges = cJSON_AddArrayToObject(root, "presets");
	for (int i = 0; i < count; i++) {
		struct error error = { "" };
		bool good = challenge_read(c, names[i], &error);
		cJSON *row =
			begin_row(challenges, names[i], good ? c->title : error.text);

		add_names(row, "also", NULL);
		cJSON_AddNullToObject(row, "hf_id");
	}
	free(c);
	return report_print(root, false);
}

char *report_rules(void)
{
	cJSON *root = cJSON_CreateObject(), *rules;
	const struct rule *rule;

	cJSON_AddStringToObject(root, "kind", "rules");
	rules = cJSON_AddArrayToObject(root, "presets");
	for (int i = 0; (rule = rule_at(i)); i++) {
		cJSON *row = begin_row(rules, rule->code, rule->text);
		char source[MAX_NOTE + 16];

		rule_source(rule, source, sizeof source);
		add_names(row, "also", NULL);
		cJSON_AddNullToObject(row, "hf_id");
		cJSON_AddStringToObject(row, "severity",
					severity_label(rule->severity));
		cJSON_AddStringToObject(row, "source", source);
	}
	return report_print(root, false);
}
