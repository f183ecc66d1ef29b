/* collectives.c - exchanges in which a group of ranks takes part. */
#include "engine/glossary/glossary.h"

const struct glossary_word glossary_collectives[] = {
	{ WORD_COLLECTIVE, "all-reduce", NULL,
	  "Every [rank] has a table of numbers, and afterwards all have the sum of all "
	  "tables.",
	  "Copies of a model agree on gradients this way. It sends about twice the "
	  "table, however many take part." },
	{ WORD_COLLECTIVE, "all-gather", NULL,
	  "Every [rank] has a piece, and afterwards all have all pieces.",
	  "It is how shared-out weights come together before they are used." },
	{ WORD_COLLECTIVE, "reduce-scatter", NULL,
	  "Every [rank] has a table, and afterwards each has the sum of all tables for "
	  "its own piece.",
	  "It is the first half of a full sum, and enough where each rank goes on with "
	  "its piece alone." },
	{ WORD_COLLECTIVE, "all-to-all", NULL,
	  "Every [rank] sends a different piece to every other one, as letters are "
	  "sorted.",
	  "Tokens find their experts this way. It crosses every link there is, so far "
	  "ones hurt." },
	{ WORD_COLLECTIVE, "send", "point to point,p2p",
	  "One [rank] hands something to one other.",
	  "Pipeline stages pass on what they have computed this way: little, and "
	  "between neighbours only." },
	{ WORD_COLLECTIVE, "broadcast", NULL,
	  "One [rank] has something, and afterwards all have it.",
	  "It is rare inside a step; most starts and settings use it." },
	{ WORD_COLLECTIVE, "host copy", "copy",
	  "Moving bytes between a [GPU] and the memory of its [node].",
	  "Offload pays for its room with it." },
	{ 0 },
};
