/* cluster_file.h - a cluster as YAML: accelerator, links, money, calibration.
 *
 * presets/clusters/README.md explains the keys and units.
 */
#ifndef PRESETS_CLUSTER_FILE_H
#define PRESETS_CLUSTER_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/machine/cluster.h"
#include "presets/document.h"

struct cluster_note {
	char title[MAX_NOTE];
};

bool cluster_read(const struct document *document, const struct node *map,
		  struct cluster *out, struct cluster_note *note, struct error *error);
/* "unknown", "nvidia" ... in the order of enum maker, and NULL. */
const char *const *cluster_maker_words(void);
/* A mapping that cluster_read takes back to an equal cluster. */
void cluster_write(const struct cluster *cluster, FILE *stream);

#endif
