/* serving.c - servers: terms. */
#include "engine/glossary/glossary.h"

const struct glossary_word glossary_serving[] = {
	{ WORD_TERM, "serving", "inference",
	  "Running a trained model so that it answers people, many at a time.",
	  "What matters is not a step but how long each person waits and how many can "
	  "be served." },
	{ WORD_TERM, "request", NULL,
	  "One question to a served model: a prompt that it reads and an answer that "
	  "it writes.",
	  "Their lengths decide whether reading or writing sets the pace." },
	{ WORD_TERM, "prompt", NULL,
	  "The [tokens] that a [request] gives a model to read before it begins to "
	  "answer.",
	  "Long ones take computing before the first word of the answer, and "
	  "memory until the last." },
	{ WORD_TERM, "prefill", NULL,
	  "Reading the whole [prompt] of a [request] at once, before the first word of "
	  "the answer.",
	  "It is limited by computing, and decides how long a user waits for the "
	  "answer to begin." },
	{ WORD_TERM, "decode", "decoding",
	  "Writing an answer one [token] at a time; for each token all [weights] "
	  "are read once more.",
	  "It is limited by reading memory: serving many requests together costs "
	  "little more than serving one." },
	{ WORD_TERM, "KV cache", "cache",
	  "What a served model stores of every [token] so far, so that it need "
	  "not process the text again for each new word.",
	  "It grows with every token of every request. When it is full, others wait." },
	{ WORD_TERM, "TTFT", "time to first token",
	  "How long a [request] waits from being sent until its first [token]: "
	  "queueing and [prefill].",
	  "Long prompts and crowded servers make it long." },
	{ WORD_TERM, "TPOT", "time per output token,inter-token latency",
	  "How long each further [token] of an answer takes, once the answer has "
	  "begun.",
	  "A person reads a handful of words per second: answers that come faster than "
	  "that feel immediate." },
	{ WORD_TERM, "continuous batching", NULL,
	  "Letting [requests] join and leave between any two passes, instead of "
	  "waiting until a whole group is done.",
	  "The machine stays busy although answers differ in length." },
	{ WORD_TERM, "chunked prefill", NULL,
	  "Cutting long [prompts] into pieces that run beside the requests being "
	  "answered.",
	  "Nobody's answer halts while another's long prompt is read." },
	{ WORD_TERM, "server goodput", NULL,
	  "The output of a server while its [requests] meet their goals for the "
	  "first token and for those after it.",
	  "Beyond it a server produces more, but users wait too long." },
	{ WORD_TERM, "knee", "knee of the curve",
	  "The number of [requests] at once from which more of them slow everyone down "
	  "and hardly raise the server's output.",
	  "A server is best loaded near it: with fewer it idles, with more people wait." },
	{ WORD_TERM, "concurrency", NULL,
	  "How many [requests] are being worked on at the same time.",
	  "More of them use the machine better but make each one slower." },
	{ WORD_TERM, "speculative decoding", "speculation,draft",
	  "Guessing several [tokens] ahead cheaply, and letting the large model check "
	  "them in one pass.",
	  "It shortens the wait for each word while the machine has computing to "
	  "spare." },
	{ WORD_TERM, "disaggregation", "disaggregated serving",
	  "Running [prefill] and [decode] on separate machines, and sending the "
	  "[KV cache] from one to the other.",
	  "Neither disturbs the other, but the split must suit the lengths of "
	  "requests." },
	{ WORD_TERM, "prefix cache", NULL,
	  "Keeping the [KV cache] of beginnings that many [requests] share, such "
	  "as a long instruction.",
	  "What is found there need not be computed again." },
	{ WORD_TERM, "inference engine", "engine",
	  "One copy of a served model on its own group of [GPUs]; a server may have "
	  "several.",
	  "Many small ones produce more in total; a few large ones answer each "
	  "request sooner." },
	{ WORD_TERM, "attention data parallelism", "DP attention",
	  "Copies of the [attention] part inside one [engine], each with its own "
	  "[requests]; the experts are shared.",
	  "What is stored for requests is not held several times, as it would be "
	  "with split matrices." },
	{ WORD_TERM, "Poisson arrivals", "request rate,open loop",
	  "[Requests] that arrive at random and independently of each other, as "
	  "from many people.",
	  "Queues grow long before a server is fully busy." },
	{ 0 },
};
