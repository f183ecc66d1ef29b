/* schedules.c - orders of work on a pipeline. */
#include "engine/glossary/glossary.h"

const struct glossary_word glossary_schedules[] = {
	{ WORD_SCHEDULE, "gpipe", NULL,
	  "All [forward passes] of a step first, then all [backward passes], over the "
	  "stages of a pipeline.",
	  "It is simple, but every stage holds what all micro-batches left behind." },
	{ WORD_SCHEDULE, "1f1b", "one forward one backward",
	  "A stage runs one [backward pass] after each [forward pass] as soon as it "
	  "can.",
	  "It waits as long as the simplest order, but holds no more micro-batches "
	  "than there are stages." },
	{ WORD_SCHEDULE, "interleaved", "interleaved 1f1b",
	  "Each stage holds several pieces of the model, its [virtual stages], and "
	  "switches between them.",
	  "The pipeline bubble becomes smaller by as many times as there are pieces; "
	  "transfers grow as much." },
	{ WORD_SCHEDULE, "breadth-first", NULL,
	  "Each piece of a stage runs all [micro-batches] before the next piece "
	  "begins.",
	  "Gathered weights are used for many micro-batches; more of what they left "
	  "has to be held." },
	{ WORD_SCHEDULE, "zb-h1", NULL,
	  "A [zero bubble] order that holds no more than [one forward, one "
	  "backward|1f1b] does.",
	  "With passes of equal length it leaves a third of the waiting, for the same "
	  "memory." },
	{ WORD_SCHEDULE, "zb-h2", NULL,
	  "A [zero bubble] order that begins more [micro-batches] early, so that "
	  "stages hardly wait.",
	  "Stages hold up to twice as much; the step's end must not be a barrier." },
	{ WORD_SCHEDULE, "zb-1p", NULL,
	  "A [zero bubble] order fitted to the times of this plan, holding as much as "
	  "[one forward, one backward|1f1b] does.",
	  "It suits stages whose work is not equal." },
	{ WORD_SCHEDULE, "zb-2p", NULL,
	  "A [zero bubble] order fitted to the times of this plan, with up to twice "
	  "that memory.",
	  "It removes nearly all waiting where memory is there." },
	{ WORD_SCHEDULE, "zb-v", NULL,
	  "A [zero bubble] order in which each stage holds two pieces, laid out like "
	  "the letter V.",
	  "Waiting nearly goes, and the first stage holds no more than the last." },
	{ WORD_SCHEDULE, "v-half", NULL,
	  "A V-shaped [pipeline schedule] that holds about half of what [one forward, "
	  "one backward|1f1b] holds.",
	  "It gives up some speed for memory." },
	{ WORD_SCHEDULE, "v-min", NULL,
	  "A V-shaped [pipeline schedule] that holds the least, about a third.",
	  "It is for models that fit in no other way." },
	{ WORD_SCHEDULE, "dualpipe", NULL,
	  "Work enters the pipeline from both ends, so that the sending of one "
	  "direction hides behind the computing of the other.",
	  "It was made for experts on many machines; it keeps each weight twice." },
	{ WORD_SCHEDULE, "dualpipev", NULL,
	  "The two directions of dualpipe folded into one V, so that each [weight] "
	  "lies only once.",
	  "It has the same overlap with half the copies." },
	{ WORD_SCHEDULE, "chimera", NULL,
	  "Two pipelines in opposite directions share the same machines and fill each "
	  "other's [bubble].",
	  "It halves the waiting with few micro-batches, and keeps each weight twice." },
	{ WORD_SCHEDULE, "hanayo", NULL,
	  "A wave runs back and forth through the [pipeline stages], each of which "
	  "holds several pieces.",
	  "More waves wait less and send more." },
	{ 0 },
};
