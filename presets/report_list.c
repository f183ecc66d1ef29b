/* report_list.c - see report_list.h. */
#include "presets/report_list.h"

#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

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

char *report_presets(enum preset_kind kind)
{
	const struct preset *list;
	int count = preset_list(kind, &list);
	cJSON *root = cJSON_CreateObject(), *presets;

	cJSON_AddStringToObject(root, "kind", preset_kind_label(kind));
	presets = cJSON_AddArrayToObject(root, "presets");
	for (int i = 0; i < count; i++) {
		cJSON *object = cJSON_CreateObject();

		cJSON_AddStringToObject(object, "name", list[i].name);
		cJSON_AddStringToObject(object, "title", list[i].title);
		add_names(object, "also", list[i].also);
		if (list[i].alias[0] != '\0')
			cJSON_AddStringToObject(object, "hf_id", list[i].alias);
		else
			cJSON_AddNullToObject(object, "hf_id");
		cJSON_AddItemToArray(presets, object);
	}
	return report_print(root, false);
}
