/* model_note.h - what a shipped model says of itself beside its shape. */
#ifndef PRESETS_MODEL_NOTE_H
#define PRESETS_MODEL_NOTE_H

#include "engine/base/limits.h"

/* For lists and tests. */
struct model_note {
	char title[MAX_NOTE], source[MAX_NOTE], also[MAX_NOTE];
	char alike[MAX_NOTE];
	double parameters, active; /* published, elements; 0 = not stated */
	double tolerance;          /* relative */
};

#endif
