/* rules.h - what the files of advice share: moves that are tried, and notes.
 *
 * A move names a knob and the values worth trying; it becomes advice only with the
 * effect that an estimate of it shows. A note only looks at what is there.
 */
#ifndef ENGINE_ADVICE_RULES_H
#define ENGINE_ADVICE_RULES_H

#include "engine/advice/advice.h"
#include "engine/knob/knob.h"

struct situation {
	const struct scenario *scenario;
	const struct estimate *estimate;
	const struct plan *plan;
	const struct model *model;
	int64_t domain; /* GPUs of a fast domain */
	int64_t etp;
	bool moe;
};

enum aim {
	AIM_SPEED,
	AIM_MEMORY, /* asked for only where the plan does not fit */
	AIM_ROOM    /* memory at hardly any price, where it does */
};

enum trial {
	TRIAL_VALUE, /* the value itself */
	TRIAL_UP,    /* the knob's next value up, and the one after */
	TRIAL_DOWN,
	TRIAL_ABOVE, /* all candidate values above the present one */
	TRIAL_ADD    /* the words of the value beside those of the set */
};

struct move {
	/* {0:word} value, {1:percent} gain in tokens/s, {2:bytes} memory after the
	 * change, {3:percent} share of the capacity, {4:percent} bubble after it */
	struct rule rule;
	enum aim aim;
	const char *knob;
	enum trial trial;
	double value;
	bool (*worth)(const struct situation *now);
	/* another knob that has to be turned first, or NULL */
	const char *first_knob;
	double first_value;
};

/* How a rule's text ends: what the change gives. */
#define FASTER  "{0:word}, {1:+percent} tok/s, {2:bytes}"
#define SMALLER "{0:word}, {2:bytes} ({3:percent}), {1:+percent} tok/s"

/* For moves that are worth trying in any situation. */
bool advice_always(const struct situation *now);

struct note {
	struct rule rule;
	const char *knob; /* where to turn, or NULL */
	bool (*holds)(const struct situation *now, double value[MAX_TERMS]);
};

extern const struct move advice_moves[];
int advice_move_count(void);
/* All notes: those of notes.c, then those of machine.c. */
int advice_note_count(void);
const struct note *advice_note(int index);
extern const struct note advice_machine_notes[];
int advice_machine_note_count(void);

/* The same for mode inference (serving.c). */
extern const struct move advice_serving_moves[];
int advice_serving_move_count(void);
extern const struct note advice_serving_notes[];
int advice_serving_note_count(void);

/* A condition on the situation `now`, by a name of its own. */
#define WHEN(name, condition)                         \
	static bool name(const struct situation *now) \
	{                                             \
		return condition;                     \
	}

#endif
