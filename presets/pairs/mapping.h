/* mapping.h - one table between a file's keys and the knobs, for reading and writing.
 *
 * A format is its rows plus two functions for what needs more than one key.
 */
#ifndef PRESETS_PAIRS_MAPPING_H
#define PRESETS_PAIRS_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/plan/scenario.h"
#include "presets/export.h"
#include "presets/import.h"
#include "presets/pairs/pairs.h"

struct mapping {
	const char *key, *knob;
	/* "theirs=ours" parted by blanks, the first of ours is the one written; NULL:
	 * the knob's own spelling */
	const char *words;
	/* Our value where the key is absent; NULL: as the stack has it. */
	const char *absent;
	bool text; /* quoted when written */
};

struct mapped {
	const struct pairs *pairs;
	struct scenario *out;
	struct import_report *report;
	struct error *error;
};

/* Our word for theirs (length bytes), and the first of theirs for ours, by the words of
 * a row; false where there is none. */
bool mapping_ours(const char *words, const char *theirs, size_t length, char out[32]);
bool mapping_theirs(const char *words, const char *ours, char out[32]);

/* Every row; ends with a row of key NULL. "auto" counts as absent, and is noted. */
bool mapping_read(const struct mapped *m, const struct mapping *rows);
/* The pair of a key, unless it says "auto". */
const struct pair *mapped_find(const struct mapped *m, const char *key);
bool mapped_is(const struct mapped *m, const char *key, const char *value);
bool mapped_true(const struct mapped *m, const char *key);
/* A switch: the flag alone, or true. */
bool mapped_on(const struct mapped *m, const char *key);
/* A whole number from -1 on; *out stays where the key is absent. */
bool mapped_count(const struct mapped *m, const char *key, int64_t *out);
/* Set a knob; `from` says where in errors, and may be NULL. */
bool mapped_set(const struct mapped *m, const char *knob, const char *value,
		const struct pair *from);
/* The weights rest in 16 bits: they are what is stepped, and Adam's moments are made
 * like them (torch.optim and optax make states of a parameter's format). */
bool mapped_set_pure(const struct mapped *m, const struct pair *from);
bool mapped_set_count(const struct mapped *m, const char *knob, int64_t value,
		      const struct pair *from);
/* ZeRO-Infinity, arXiv 2104.07857: DeepSpeed's offload_param. */
#define PARAMETERS_STAY "parameters that the file offloads are counted on the GPU"
/* The model's costs are approximate, for this reason. */
void mapped_approximate(const struct mapped *m, const char *key, const char *why);
/* The machines: world where it is known (0 = not), else one node, else the least. */
bool mapped_set_world(const struct mapped *m, int64_t world, const struct pair *from);

/* A model, dgx-h100 and this stack with its defaults. */
bool mapped_begin(struct scenario *out, const char *stack, struct error *error);

/* A format whose keys are rows, and what needs more than one key. */
struct mapped_format {
	const char *stack;
	const struct mapping *rows;
	/* keys that are no rows but understood, each list ending with NULL; shape_keys
	 * may be NULL */
	const char *const *others, *const *shape_keys;
	bool (*read_model)(const struct mapped *m); /* before the rows */
	bool (*read_rest)(const struct mapped *m);  /* after them */
};

/* The scenario that a file's pairs mean, on dgx-h100; takes the pairs over. False with
 * the error, *out unchanged. */
bool mapped_read(struct scenario *out, const struct mapped_format *format,
		 struct pairs *pairs, struct import_report *report,
		 struct error *error);
/* The model of that name ("" for none), which `from` gives; see import_model(). */
bool mapped_model(const struct mapped *m, const char *name, const struct pair *from);
/* The model of a format that has no keys for one: the caller's. */
bool mapped_no_model(const struct mapped *m);

/* --- writing --- */

struct entry {
	char key[PAIRS_MAX_KEY], value[512];
	bool text;
};

enum { MAX_ENTRIES = 128 };

struct entries {
	int count;
	struct entry item[MAX_ENTRIES];
};

void entries_add(struct entries *entries, const char *key, const char *value,
		 bool text);
void entries_add_count(struct entries *entries, const char *key, int64_t value);
/* All rows whose knob applies, where not `all` only those that differ from the value of
 * an absent key; a word that the target lacks is said in out. */
void entries_add_rows(struct entries *entries, const struct scenario *scenario,
		      const struct mapping *rows, bool all, struct export_out *out);
void entries_write_yaml(const struct entries *entries, FILE *stream);
void entries_write_json(const struct entries *entries, FILE *stream);
void entries_write_toml(const struct entries *entries, FILE *stream);
/* A whole file with a head of comments: add fills the entries, and says in out what has
 * no key. To be freed; NULL: out of memory. */
char *entries_export(const struct scenario *scenario,
		     void (*add)(struct entries *entries,
				 const struct scenario *scenario,
				 struct export_out *out),
		     void (*write)(const struct entries *entries, FILE *stream));
/* Whether a list that ends with NULL has this word; words may be NULL. */
bool word_among(const char *word, const char *const *words);
/* Whether a row has this knob. */
bool mapping_has(const struct mapping *rows, const char *knob);

#endif
