/* limits.h - the fixed capacities of the engine's value structs.
 *
 * Every struct of the engine is a plain value of stated size, so that an
 * estimate allocates nothing. Readers check against these limits and refuse
 * with a message what does not fit. What the engine itself lists stays below
 * them whatever the scenario (operators of a layer, terms of an explanation),
 * which tests hold; a collective beyond MAX_TRAFFIC counts in the last entry
 * of its dimension, so that sums stay whole.
 */
#ifndef ENGINE_BASE_LIMITS_H
#define ENGINE_BASE_LIMITS_H

enum {
	MAX_NAME = 64,        /* bytes of a preset's name, with the zero */
	MAX_NOTE = 160,       /* bytes of a source or a remark */
	MAX_LAYERS = 1024,    /* layers of a model, MTP layers apart */
	MAX_LAYER_KINDS = 16, /* distinct layer kinds of a model */
	MAX_STAGES = 256,     /* pipeline stages */
	MAX_CHUNKS = 64,      /* virtual stages (model chunks) per rank */
	MAX_VIRTUAL = 1088,   /* stages x chunks of one pipeline */
	MAX_KNOBS = 160,      /* rows of the knob table */
	MAX_RULES = 128,      /* rows of a mode's legality rules */
	MAX_LAYOUT = 512,     /* bytes of a pipeline layout string */
	MAX_FINDINGS = 40,    /* problems or advice of one scenario */
	MAX_TERMS = 10,       /* values in one finding or explanation */
	MAX_OPERATORS = 96,   /* operators and collectives of one layer */
	MAX_TRAFFIC = 48,     /* distinct collectives of one step */
	MAX_VALUES = 24       /* candidate values of a knob's what-if strip */
};

#endif
