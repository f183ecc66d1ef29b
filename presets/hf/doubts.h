/* doubts.h - what of a config.json can't be modelled: refused, or said to be
 * approximate.
 */
#ifndef PRESETS_HF_DOUBTS_H
#define PRESETS_HF_DOUBTS_H

#include "presets/hf/reader.h"

/* False, with the reason, for kinds of networks that nothing here is like. */
bool hf_can_read(struct hf_reader *reader, const char *model_type);
/* Costs are approximate by this key: in the report and in model->approximate, once. */
void hf_approximate(struct hf_reader *reader, struct model *model, const char *key,
		    const char *why);
/* Once the shapes are read: why costs are approximate, in the report and in
 * model->approximate. root is the whole file. */
void hf_note_doubts(struct hf_reader *reader, const struct node *root,
		    const char *model_type, struct model *model);

#endif
