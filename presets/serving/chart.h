/* chart.h - what a file for Kubernetes says as a whole. */
#ifndef PRESETS_SERVING_CHART_H
#define PRESETS_SERVING_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "presets/document.h"
#include "presets/import.h"

/* The text of a mapping's member; NULL where it has none, or one of another kind. */
const char *scalar_of(const struct node *map, const char *key);
/* "hf://Qwen/Qwen3-32B" or "pvc://volume/models/Qwen3-32B" of a chart's modelArtifacts;
 * NULL: it has none. */
const char *chart_model(const struct node *root);
/* The word for what a service of a graph, or a deployment of llm-d's, does; NULL. */
const char *chart_role(const struct node *node);
/* Whether a word is in a text, which may be NULL, in small letters or large. */
bool chart_says(const char *text, const char *word);
/* A pool of llm-d's chart that is not started. */
bool chart_is_off(const struct node *node);
/* Whether anything here only prefills. */
bool chart_has_pools(const struct node *node);
/* The container whose words and environment KServe gives to vLLM; NULL: none. */
const struct node *chart_main(const struct node *workload);
/* What spec.predictor.model of KServe's InferenceService serves by vLLM; NULL where its
 * format is another's. */
const char *chart_served(const struct node *model);
/* Whether a text is a manifest, a chart's values or a graph. */
bool chart_looks_like(const char *text, size_t length);
/* Its documents; what a template leaves to be filled in stands as a word. False with
 * the error, of which NULL takes none. */
bool chart_parse(struct document *out, const char *file, const char *text,
		 size_t length, struct error *error);
/* The cluster that nodes of Google's kind are, by the label that all pods select, which
 * is noted; NULL: they select none that is known, or several. */
const char *chart_cluster(const char *text, size_t length,
			  struct import_report *report);
/* Whether a word of the list, or of the one text, has this in it. */
bool chart_names(const struct node *list, const char *sign);
/* A service of Docker Compose: what it calls command are arguments of the image's own
 * program (compose-spec, "command"). */
bool chart_is_service(const struct node *container);
/* Arguments that only vLLM has, of a patch that leaves the image to another file. */
bool chart_is_vllms(const struct node *args);

#endif
