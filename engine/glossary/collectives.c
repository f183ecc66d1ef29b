/* collectives.c - exchanges in which a group of ranks takes part. */
#include "engine/glossary/glossary.h"

const struct glossary_word glossary_collectives[] = {
	{ WORD_COLLECTIVE, "all-reduce", NULL,
	  "Every [rank] has a table of numbers, and afterwards all have the sum of all "
	  "tables.",
	  "Copies of a model add up their gradients this way. It sends about "
	  "twice the table, however many take part." },
	{ WORD_COLLECTIVE, "all-gather", NULL,
	  "Every [rank] has a piece, and afterwards all have all pieces.",
	  "This is how sharded weights come together before they are used." },
	{ WORD_COLLECTIVE, "reduce-scatter", NULL,
	  "Every [rank] has a table, and afterwards each has the sum of all tables for "
	  "its own piece.",
	  "It is the first half of a full sum, and enough where each rank only "
	  "goes on with its own piece." },
	{ WORD_COLLECTIVE, "all-to-all", NULL,
	  "Every [rank] sends a different piece to every other one, as in sorting "
	  "mail.",
	  "Tokens reach their experts this way. It crosses every link, so slow "
	  "ones hurt." },
	{ WORD_COLLECTIVE, "send", "point to point,p2p",
	  "One [rank] hands something to one other.",
	  "Pipeline stages pass on their results this way: few bytes, and only "
	  "between neighbours." },
	{ WORD_COLLECTIVE, "broadcast", NULL,
	  "One [rank] has something, and afterwards all have it.",
	  "It is rare inside a step; most starts and settings use it." },
	{ WORD_COLLECTIVE, "host copy", "copy",
	  "Moving bytes between a [GPU] and the memory of its [node].",
	  "This is the price of offloading." },
	{ 0 },
};
