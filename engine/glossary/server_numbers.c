/* server_numbers.c - what the numbers of a server say. */
#include "engine/glossary/glossary.h"

const struct glossary_word glossary_server_numbers[] = {
	{ WORD_NUMBER, "kv_bytes", NULL,
	  "What the [KV cache] of all running [requests] takes on one [GPU].",
	  "It grows with requests and their lengths; when it is full, others wait." },
	{ WORD_NUMBER, "kv_bytes_per_token", NULL,
	  "What a server keeps of one [token] in all layers ([KV cache]).",
	  "Smaller is more requests at once: shorter formats, and models with fewer "
	  "key heads." },
	{ WORD_NUMBER, "kv_tokens", NULL,
	  "How many [tokens] the [KV cache] has room for.",
	  "Divide it by the length of a request to see how many fit." },
	{ WORD_NUMBER, "host_tokens", NULL,
	  "How many [tokens] of [KV cache] the memory of the hosts has room for.",
	  "What the GPUs let go of stays there until that is full." },
	{ WORD_NUMBER, "headroom_bytes", NULL,
	  "How much memory is left when all asked for is there.",
	  "What is left here could hold more requests." },
	{ WORD_NUMBER, "max_concurrency", NULL,
	  "How many [requests] the [KV cache] has room for at once.",
	  "If more come they wait. More GPUs for the cache, or shorter formats, raise "
	  "it." },
	{ WORD_NUMBER, "ttft_seconds", NULL,
	  "How long the mean [request] waits for its first [token], queueing included "
	  "([TTFT]).",
	  "Long prompts and full servers make it long; prefill machines or more "
	  "splitting shorten it." },
	{ WORD_NUMBER, "tpot_seconds", NULL,
	  "How long each further [token] of an answer takes ([TPOT]).",
	  "Mostly the reading of weights and cache from memory: fewer requests at "
	  "once, or more splitting, shorten it." },
	{ WORD_NUMBER, "ttft_seconds_low", NULL,
	  "The fast end of the range in which four of five measured servers lay around "
	  "such a wait for the first [token].",
	  "This number is hard to foretell; see how wide it is." },
	{ WORD_NUMBER, "ttft_seconds_high", NULL,
	  "The slow end of the range in which four of five measured servers lay around "
	  "such a wait for the first [token].",
	  "Promise this one to those who wait." },
	{ WORD_NUMBER, "tpot_seconds_low", NULL,
	  "The fast end of the range in which four of five measured servers lay around "
	  "such a time of a [token].",
	  "How wide the range is says how far to trust the number." },
	{ WORD_NUMBER, "tpot_seconds_high", NULL,
	  "The slow end of the range in which four of five measured servers lay around "
	  "such a time of a [token].",
	  "Promise this one to those who wait." },
	{ WORD_NUMBER, "prefill_seconds", NULL,
	  "How long reading one [prompt] takes if nothing else runs ([prefill]).",
	  "The shortest possible wait for a first word. More splitting and faster "
	  "formats shorten it." },
	{ WORD_NUMBER, "decode_seconds", NULL,
	  "How long one pass takes that gives each running [request] one more [token] "
	  "([decode]).",
	  "It hardly grows with a few more requests: batching is nearly free until the "
	  "cache outweighs the weights." },
	{ WORD_NUMBER, "mixed_seconds", NULL,
	  "How long a pass takes that reads a piece of a [prompt] beside running "
	  "answers ([chunked prefill]).",
	  "It is what makes answers stutter; a smaller budget of tokens shortens it." },
	{ WORD_NUMBER, "request_seconds", NULL,
	  "How long the mean [request] takes from being sent to its last [token].",
	  "First wait plus all words. For short answers the first matters, for long "
	  "ones the second." },
	{ WORD_NUMBER, "decode_compute_seconds", NULL,
	  "The part of a [decode] pass that goes into computing.",
	  "If it is the largest, more requests at once bring nothing more." },
	{ WORD_NUMBER, "decode_memory_seconds", NULL,
	  "The part of a [decode] pass that goes into reading [weights] and [KV "
	  "cache].",
	  "Usually the largest: shorter formats and more splitting make it smaller." },
	{ WORD_NUMBER, "decode_network_seconds", NULL,
	  "The part of a [decode] pass in which [GPUs] exchange results.",
	  "It grows with splitting; nothing hides it in a server." },
	{ WORD_NUMBER, "decode_overhead_seconds", NULL,
	  "The part of a [decode] pass that neither computes, reads nor sends: "
	  "starting [kernels] and the program around them.",
	  "Recorded graphs make it smaller. It counts most for small models." },
	{ WORD_NUMBER, "prefill_share", NULL,
	  "Which share of the time passes read [prompts].",
	  "Near 1 the server is busy reading: more machines for it, or shorter "
	  "prompts." },
	{ WORD_NUMBER, "output_tokens_per_second", NULL,
	  "How many [tokens] of answers the whole server writes in a second.",
	  "What one is paid for. More requests at once raise it, until their wait "
	  "breaks the goals." },
	{ WORD_NUMBER, "output_tokens_per_second_low", NULL,
	  "The low end of the range in which four of five measured servers lay around "
	  "such an output.",
	  "Size a server with this one." },
	{ WORD_NUMBER, "output_tokens_per_second_high", NULL,
	  "The high end of the range in which four of five measured servers lay around "
	  "such an output.",
	  "How wide the range is says how far to trust the number." },
	{ WORD_NUMBER, "output_tokens_per_second_per_gpu", NULL,
	  "How many [tokens] of answers each [GPU] writes in a second; idle ones and "
	  "those that only read [prompts] count.",
	  "The number to compare servers by: more is cheaper." },
	{ WORD_NUMBER, "output_tokens_per_second_per_user", NULL,
	  "How many [tokens] a second one reader sees.",
	  "The other side of the bargain: more requests at once lower it." },
	{ WORD_NUMBER, "prompt_tokens_per_second", NULL,
	  "How many [tokens] of [prompts] the server takes in a second.",
	  "Compare it with what comes out: it says which side the load is on." },
	{ WORD_NUMBER, "requests_per_second", NULL,
	  "How many [requests] the server finishes in a second.",
	  "If more come than this, the queue grows without end." },
	{ WORD_NUMBER, "running", NULL,
	  "How many [requests] are being worked on, on average.",
	  "More of them share the reading of weights." },
	{ WORD_NUMBER, "waiting", NULL,
	  "How many [requests] stand before the server, for lack of room.",
	  "They add to the wait for the first word. Above 0 the server is full." },
	{ WORD_NUMBER, "goodput_tokens_per_second", NULL,
	  "The most [tokens] a second that come out while both goals for waiting are "
	  "kept ([server goodput]).",
	  "The honest size of a server. Choose splitting and formats by it." },
	{ WORD_NUMBER, "goodput_concurrency", NULL,
	  "At how many [requests] at once this most is reached.",
	  "A server should admit about so many and let others wait." },
	{ WORD_NUMBER, "engines", NULL,
	  "How many copies of the model serve on their own ([inference engine]).",
	  "Few and large answer sooner, many and small give more in all." },
	{ WORD_NUMBER, "prefill_intensity", NULL,
	  "How many [FLOPs] reading prompts does for each byte of memory ([arithmetic "
	  "intensity]).",
	  "It is high: computing is the limit there." },
	{ WORD_NUMBER, "decode_intensity", NULL,
	  "How many [FLOPs] writing answers does for each byte of memory ([arithmetic "
	  "intensity]).",
	  "It is about the number of requests at once: low, so memory is the limit." },
	{ WORD_NUMBER, "dollars_per_million_tokens", NULL,
	  "What a million [tokens] of answers cost at the price that is set; reading "
	  "is paid with them.",
	  "Compare plans and machines by it, with the waits that people accept." },
	{ WORD_NUMBER, "joules_per_token", NULL,
	  "How much energy one [token] of an answer takes.",
	  "More requests at once share the reading, so it falls with load." },
	{ 0 },
};
