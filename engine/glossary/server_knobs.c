/* server_knobs.c - what turning a knob of a server does. */
#include "engine/glossary/glossary.h"

const struct glossary_word glossary_server_knobs[] = {
	{ WORD_KNOB, "prompt", NULL,
	  "How many [tokens] the [prompt] of the mean [request] has.",
	  "Longer ones make the first word later and fill the cache. Set what your "
	  "users send." },
	{ WORD_KNOB, "output", NULL,
	  "How many [tokens] the answer to the mean [request] has.",
	  "Longer ones make decoding count for more than reading. Set what your users "
	  "get." },
	{ WORD_KNOB, "concurrency", NULL,
	  "How many [requests] are worked on at once, on all engines together "
	  "([concurrency]).",
	  "More gives more tokens per second and makes each wait longer, until the cache "
	  "is full." },
	{ WORD_KNOB, "request_rate", NULL,
	  "How many [requests] come in a second; how many are there at once follows "
	  "from it ([Poisson arrivals]).",
	  "Turn it up until the wait for the first word breaks its goal: that is what "
	  "the server can take." },
	{ WORD_KNOB, "arrival_scv", NULL,
	  "How unevenly [requests] come: 0 like a clock, 1 at random ([Poisson "
	  "arrivals]), above 1 in bunches.",
	  "Bunches wait for each other: turn it up to see what a busy minute does to "
	  "the first words." },
	{ WORD_KNOB, "length_shape", NULL,
	  "How the lengths of [requests] lie about their mean: evenly on both sides, or "
	  "lognormal, with a few that are very long.",
	  "Few long ones hold up many short ones; logs of real days look lognormal." },
	{ WORD_KNOB, "length_spread", NULL,
	  "How unequal the lengths of [requests] are.",
	  "Unequal ones end at different times, so that joining and leaving evens out." },
	{ WORD_KNOB, "shared_prefix", NULL,
	  "Which share of a [prompt] many [requests] have in common, as the same "
	  "instruction.",
	  "With a cache of prefixes that part is read once only." },
	{ WORD_KNOB, "goal_ttft", NULL,
	  "How long a person may wait for the first [token] ([TTFT]).",
	  "With goals set, goodput says how much the server gives while it keeps them." },
	{ WORD_KNOB, "goal_tpot", NULL,
	  "How long each further [token] may take ([TPOT]).",
	  "With goals set, goodput says how much the server gives while it keeps them." },
	{ WORD_KNOB, "goal_percentile", NULL,
	  "Who has to keep the goals in a search: the [request] in the mean, or 99 of "
	  "100.",
	  "People remember the slow ones: p99 asks for more room, and takes a search "
	  "longer." },
	{ WORD_KNOB, "batching", NULL,
	  "Whether [requests] join and leave at any pass, or a group starts and ends "
	  "together ([continuous batching]).",
	  "Static makes all wait for the longest answer; it is there to compare." },
	{ WORD_KNOB, "chunked_prefill", NULL,
	  "Whether long [prompts] are cut into pieces beside running answers ([chunked "
	  "prefill]).",
	  "On keeps answers flowing; the first word of a long prompt may come a little "
	  "later." },
	{ WORD_KNOB, "host_overlap", NULL,
	  "Whether the host prepares the next pass while the GPU is still busy with this "
	  "one.",
	  "Off, the GPU waits at each pass, the longer the more [requests] are in it. "
	  "Old releases could not, or had to be asked." },
	{ WORD_KNOB, "max_batched_tokens", NULL,
	  "How many [tokens] one pass carries at most.",
	  "Larger passes read prompts faster and make running answers stutter. Watch "
	  "both waits." },
	{ WORD_KNOB, "max_requests", NULL,
	  "How many [requests] one copy runs at most at the same time.",
	  "A cap on the wait for each word; what is above it queues." },
	{ WORD_KNOB, "receive_interval", NULL,
	  "After how many [decode] passes the server looks for new [requests] again.",
	  "Looking seldom spares the processor a little and lets every first word wait "
	  "for half of that." },
	{ WORD_KNOB, "batch_wait", NULL,
	  "How many passes [prompts] wait at most for others, so that they are read together: "
	  "until a pass is full, or every copy of [attention] has one.",
	  "Few full passes disturb running answers less than many small ones; the first "
	  "word comes later." },
	{ WORD_KNOB, "dp_attention", NULL,
	  "How many copies of [attention] one engine has, each with its own [requests] "
	  "([attention data parallelism]).",
	  "It keeps the cache from being held several times; best for models with few "
	  "key heads and many experts." },
	{ WORD_KNOB, "kv_shards", NULL,
	  "How many ranks share out one copy of the [KV cache] along the text.",
	  "For long texts where the heads are too few to split: more room, more "
	  "exchange." },
	{ WORD_KNOB, "kv_precision", NULL,
	  "In which number format the [KV cache] is kept.",
	  "Shorter ones hold twice the requests and are read faster; quality is not "
	  "modelled." },
	{ WORD_KNOB, "kv_block", NULL,
	  "How many [tokens] one page of the [KV cache] holds.",
	  "Smaller pages waste less of the last one." },
	{ WORD_KNOB, "memory_share", NULL,
	  "How much of the memory the server may take, in the meaning of its own "
	  "option.",
	  "More leaves more for requests; too much fails when something else needs "
	  "memory." },
	{ WORD_KNOB, "prefix_cache", NULL,
	  "Whether the [KV cache] of shared beginnings is kept ([prefix cache]).",
	  "On saves reading and memory where requests begin alike." },
	{ WORD_KNOB, "host_kv", NULL,
	  "How much memory of the host keeps [KV cache] that no longer fits on the GPU.",
	  "A history that lies there is copied back in place of read again; the copy "
	  "takes the host's link, which is slow beside the GPU's own memory." },
	{ WORD_KNOB, "host_prefix", NULL,
	  "Which share of a [prompt], behind what all have in common, is found in host "
	  "memory.",
	  "A property of your users, as who comes back to a long talk: measure yours." },
	{ WORD_KNOB, "redundant_experts", NULL,
	  "How many of the busiest [experts] have a second copy.",
	  "It evens out what ranks get to do; each copy takes memory." },
	{ WORD_KNOB, "adapters", NULL,
	  "How many fine-tuned variants ([LoRA]) of the model one server holds at once.",
	  "Each takes memory, and every pass works through those of its requests." },
	{ WORD_KNOB, "adapter_rank", NULL,
	  "How wide the adapters may be that a server has room for.",
	  "Twice the rank is twice the memory and traffic of each adapter." },
	{ WORD_KNOB, "routing_skew", NULL,
	  "How unequal the loads of the [experts] are.",
	  "All ranks wait for the busiest; the more ranks there are, the fewer experts "
	  "even out on each. Spare experts help." },
	{ WORD_KNOB, "speculative", NULL,
	  "Whether several [tokens] are guessed ahead and checked in one pass "
	  "([speculative decoding]).",
	  "It shortens each word's wait on a lightly loaded server. On a full one it "
	  "may cost." },
	{ WORD_KNOB, "draft_tokens", NULL,
	  "How many [tokens] are guessed before each check.",
	  "More pay only while most guesses hold." },
	{ WORD_KNOB, "acceptance", NULL,
	  "Which share of guessed [tokens] turns out right.",
	  "A property of model and text: measure yours." },
	{ WORD_KNOB, "draft_cost", NULL,
	  "How long guessing one [token] takes, over a pass of the large model.",
	  "A cheap guesser may be wrong more often." },
	{ WORD_KNOB, "disaggregated", NULL,
	  "Whether [prefill] has machines of its own ([disaggregation]).",
	  "It keeps answers smooth under long prompts. The split of machines must suit "
	  "the load." },
	{ WORD_KNOB, "prefill_gpus", NULL, "How many [GPUs] only read [prompts].",
	  "Turn it until neither side waits for the other: compare the first word with "
	  "those after it." },
	{ WORD_KNOB, "prefill_tp", NULL,
	  "Into how many parts matrices are cut where [prompts] are read.",
	  "More makes the first word come sooner for each request, fewer gives more "
	  "requests per second." },
	{ WORD_KNOB, "prefill_pp", NULL,
	  "Into how many stages the model is cut where [prompts] are read.",
	  "For models that do not fit otherwise; it delays the first word less than it "
	  "saves memory." },
	{ WORD_KNOB, "prefill_ep", NULL,
	  "How many ranks share out [experts] where [prompts] are read.",
	  "As on the other side: memory against travelling." },
	{ WORD_KNOB, "prefill_dp_attention", NULL,
	  "How many copies of [attention] an engine has that reads [prompts].",
	  "As on the other side: it keeps caches from being held several times." },
	{ 0 },
};
