/* report_search.c - what a search found, as JSON; see report.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "presets/report.h"

/* A plan with its estimate, made anew: the search keeps only what ranks it. */
static cJSON *found_object(const struct planner_problem *problem,
			   const struct planner_found *found)
{
	struct scenario *s = malloc(sizeof *s);
	struct estimate *e = malloc(sizeof *e);
	cJSON *object = NULL;

	if (s && e) {
		planner_scenario(problem, found, s);
		scenario_estimate(s, e);
		object = report_object(s, e);
		cJSON_AddNumberToObject(object, "score", found->score);
	}
	free(s);
	free(e);
	return object;
}

static void add_pruned(cJSON *root, const struct planner_counts *c)
{
	cJSON *pruned = cJSON_AddObjectToObject(root, "pruned");
	cJSON *rejected;

	cJSON_AddNumberToObject(pruned, "undivided", c->undivided);
	cJSON_AddNumberToObject(pruned, "repeated", c->repeated);
	cJSON_AddNumberToObject(pruned, "rule", c->unruly);
	cJSON_AddNumberToObject(pruned, "bound", c->bounded);
	cJSON_AddNumberToObject(pruned, "states", c->too_large);
	cJSON_AddNumberToObject(pruned, "dominated", c->dominated);
	cJSON_AddNumberToObject(root, "candidates", c->candidates);
	rejected = cJSON_AddObjectToObject(root, "rejected");
	cJSON_AddNumberToObject(rejected, "illegal", c->illegal);
	cJSON_AddNumberToObject(rejected, "memory", c->out_of_memory);
}

char *report_search(const struct planner_problem *problem,
		    const struct planner_result *result, double seconds)
{
	cJSON *root = cJSON_CreateObject(), *top;
	char *text, *line;

	if (result->found > 0)
		cJSON_AddItemToObject(root, "best",
				      found_object(problem, &result->top[0]));
	else
		cJSON_AddNullToObject(root, "best");
	top = cJSON_AddArrayToObject(root, "top");
	for (int i = 0; i < result->found; i++)
		cJSON_AddItemToArray(top, found_object(problem, &result->top[i]));
	if (result->found == 0 && result->has_nearest)
		cJSON_AddItemToObject(root, "nearest",
				      found_object(problem, &result->nearest));
	cJSON_AddStringToObject(root, "objective", objective_word(problem->objective));
	cJSON_AddNumberToObject(root, "explored", result->counts.explored);
	add_pruned(root, &result->counts);
	cJSON_AddStringToObject(root, "proof",
				problem->exhaustive ? "exhaustive" : "bounds");
	cJSON_AddNumberToObject(root, "seconds", seconds);
	text = cJSON_Print(root);
	cJSON_Delete(root);
	line = text ? malloc(strlen(text) + 2) : NULL;
	if (line)
		sprintf(line, "%s\n", text);
	free(text);
	return line;
}
