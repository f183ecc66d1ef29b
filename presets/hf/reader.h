/* reader.h - looking keys up in a config.json, and noting what was understood. */
#ifndef PRESETS_HF_READER_H
#define PRESETS_HF_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/model/model.h"
#include "presets/document.h"
#include "presets/hf/family.h"
#include "presets/import.h"

enum { MAX_TAKEN = 96 };

struct hf_reader {
	const struct document *document;
	const struct node *config; /* the text part of a multimodal model */
	const struct family *family;
	struct import_report *report;
	struct error *error;
	bool failed; /* error is filled; later look-ups return defaults */
	int taken_count;
	const struct node *taken[MAX_TAKEN];
};

/* The first of the keys (separated by spaces) that is there and not null. */
const struct node *hf_get(struct hf_reader *reader, const char *keys);
bool hf_has(struct hf_reader *reader, const char *keys);
/* Value of the first key that is there, or fallback. A value of another type, or
 * outside 0 to 2^40, fails the reader. */
int64_t hf_count(struct hf_reader *reader, const char *keys, int64_t fallback);
/* The same of any number. */
double hf_number(struct hf_reader *reader, const char *keys, double fallback);
/* The same as a count, but its absence fails the reader. */
int64_t hf_need(struct hf_reader *reader, const char *keys);
/* The same where the family's class has a usual value, which is noted as assumed; 0 is
 * none. */
int64_t hf_need_or(struct hf_reader *reader, const char *keys, int64_t usual);
bool hf_bool(struct hf_reader *reader, const char *keys, bool fallback);
/* Copies the text, or leaves out empty. */
void hf_text(struct hf_reader *reader, const char *keys, char *out, size_t size);
/* Item i of a list of scalars, NULL beyond its end. */
const struct node *hf_item(const struct node *list, int64_t i);
/* Whether a list of integers holds value. */
bool hf_list_holds(const struct node *list, int64_t value);
/* Whether nothing has looked at this key, though it may say something of the shape. */
bool hf_is_left(const struct hf_reader *reader, const struct node *node);
/* The family of that model_type, or of the class that had the name before. */
const struct family *hf_family(const struct hf_reader *reader, const char *model_type);
/* A family that the table lacks, whose file has GPT-2's word for its activation, and
 * one without a gate. */
bool hf_is_like_gpt2(const struct hf_reader *reader);
/* What the family's class assumes, as bits (family.h); of none 0. */
unsigned hf_traits(const struct hf_reader *reader);
/* A family of state-space layers alone. */
bool hf_is_mamba(const struct hf_reader *reader);
/* Note every key of the config that nothing has looked at. */
void hf_note_rest(struct hf_reader *reader);

#endif
