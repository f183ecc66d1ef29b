/* chart.c - see chart.h. */
#include "presets/serving/chart.h"

#include <string.h>

const char *scalar_of(const struct node *map, const char *key)
{
	const struct node *node =
		map && map->kind == NODE_MAP ? node_get(map, key) : NULL;

	return node && node->kind == NODE_SCALAR ? node->text : NULL;
}

const char *chart_model(const struct node *root)
{
	for (const struct node *one = root->child; one; one = one->next) {
		const struct node *artifacts =
			one->kind == NODE_MAP ? node_get(one, "modelArtifacts") : NULL;
		const char *name = scalar_of(artifacts, "name"),
			   *uri = scalar_of(artifacts, "uri");
		const char *path = uri ? strstr(uri, "://") : NULL;

		if (uri && strncmp(uri, "hf://", 5) == 0)
			return uri + 5;
		if (name || path)
			return name ? name : path + 3;
	}
	return NULL;
}

bool chart_looks_like(const char *text, size_t length)
{
	static const char *const signs[] = { "\napiVersion:",  "\nmodelArtifacts:",
					     "\nservices:",    "containers:",
					     "mainContainer:", "modelSpec:" };

	if (length > 11 && strncmp(text, "apiVersion:", 11) == 0)
		return true;
	for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
		if (memmem(text, length, signs[i], strlen(signs[i])))
			return true;
	return false;
}
