/* parallel.c - ways to share work and memory out: terms. */
#include "engine/glossary/glossary.h"

const struct glossary_word glossary_parallel[] = {
	{ WORD_TERM, "data parallelism", "DP,data parallel",
	  "Copies of a model learn from different texts at the same time, and add "
	  "up their [gradients] once per [training step].",
	  "It is the simplest way to use more machines. Each copy must fit in "
	  "memory, and each needs its own part of the batch." },
	{ WORD_TERM, "ZeRO", "zero redundancy optimizer,optimizer sharding",
	  "The copies of [data parallelism] divide what they would otherwise all "
	  "store: first the [optimizer] states, then [gradients], then [weights].",
	  "Its first stage saves most memory for the least slowdown; the third "
	  "sends weights around all the time." },
	{ WORD_TERM, "FSDP", "fully sharded data parallel,ZeRO 3",
	  "The last stage of [ZeRO]: each [rank] keeps only its share of the "
	  "[weights], and gathers those of a [layer] just before it is used.",
	  "It fits large models without splitting them further, as long as the "
	  "links gather faster than the layers compute." },
	{ WORD_TERM, "HSDP", "hybrid sharding",
	  "[FSDP] within smaller groups: each group holds one full set of shards, "
	  "and the groups are copies of each other.",
	  "Shards gathered from near neighbours arrive faster, but each rank "
	  "holds more." },
	{ WORD_TERM, "tensor parallelism", "TP,tensor parallel",
	  "Every [matrix product] of a [layer] is split into parts, and each "
	  "[rank] of a group computes one part. They exchange results several "
	  "times per layer.",
	  "It divides both weights and work, but communicates the most: keep it "
	  "on the fastest links." },
	{ WORD_TERM, "sequence parallelism", "SP,sequence parallel",
	  "The ranks of a [tensor parallelism] group also divide the cheap "
	  "operations between the matrices: there, each keeps only its part of "
	  "the sequence.",
	  "It saves a lot of memory and sends the same number of bytes, so it is "
	  "nearly always worth using." },
	{ WORD_TERM, "context parallelism", "CP,context parallel",
	  "Several [ranks] work on one long [sequence], each on a piece of it. Only "
	  "for the parts where [tokens] look at each other do they exchange anything.",
	  "It is for texts so long that no single rank can hold their activations." },
	{ WORD_TERM, "ring attention", NULL,
	  "A kind of [context parallelism] in which each rank passes the keys and "
	  "values of its part of the text to the next, until they have gone all "
	  "the way round.",
	  "It can be hidden behind computing as long as the pieces are long." },
	{ WORD_TERM, "Ulysses", NULL,
	  "A kind of [context parallelism] in which ranks swap pieces of the text for "
	  "parts of the [layer], so that each sees the whole text for its part.",
	  "It sends less than a ring over many ranks, but needs at least as many "
	  "attention heads as ranks." },
	{ WORD_TERM, "pipeline parallelism", "PP,pipeline parallel",
	  "The [layers] are divided among groups of machines, the stages, like "
	  "stations of an assembly line; each [micro-batch] passes through them "
	  "in turn.",
	  "It sends very little, even over a slow network. But stages wait while it "
	  "fills and drains." },
	{ WORD_TERM, "pipeline stage", "stage",
	  "One station of [pipeline parallelism]: the [layers] that one group of "
	  "machines holds and computes.",
	  "The slowest one sets the pace, the fullest one decides whether it fits." },
	{ WORD_TERM, "virtual stage", "VPP,chunk,virtual pipeline",
	  "A [pipeline stage] may hold several separate pieces of the model "
	  "instead of one; each [micro-batch] then visits it several times.",
	  "The pieces are shorter, so the pipeline fills faster; but data is sent "
	  "on more often." },
	{ WORD_TERM, "pipeline bubble", "bubble",
	  "The time in which a [pipeline stage] has nothing to do: it waits for the "
	  "first work at the start of a step, and for the others at its end.",
	  "More [micro-batches] make it a smaller share of the step; fewer stages "
	  "or shorter pieces make the bubble itself smaller." },
	{ WORD_TERM, "pipeline schedule", NULL,
	  "The order in which a [pipeline stage] runs the forward and backward work of "
	  "its [micro-batches].",
	  "Some wait less, some hold less, some send more; Timeline shows the order as "
	  "it runs." },
	{ WORD_TERM, "zero bubble", NULL,
	  "A family of [pipeline schedules] that split the [backward pass] in two and "
	  "use the half that nobody waits for to fill the gaps.",
	  "They nearly remove the waiting, but need more memory or a relaxed end "
	  "of the step." },
	{ WORD_TERM, "weight gradient", NULL,
	  "The half of the [backward pass] that finds how the [weights] should change. "
	  "Nobody waits for it before the step's end.",
	  "It can be moved to where a stage would wait; that is what the zero-bubble "
	  "schedules do." },
	{ WORD_TERM, "expert parallelism", "EP,expert parallel",
	  "The [experts] of a model are placed on different [ranks]; [tokens] "
	  "travel to the experts chosen for them, and back.",
	  "It divides the largest part of such a model, but every token crosses "
	  "the links twice per layer." },
	{ WORD_TERM, "expert tensor parallelism", "ETP",
	  "[Tensor parallelism] inside an expert: each matrix of an [expert] is cut "
	  "over several ranks.",
	  "Experts are small, so splitting them makes tiny matrices: usually 1 is "
	  "best." },
	{ WORD_TERM, "recomputation", "activation checkpointing,checkpointing",
	  "Discarding what a [layer] computed in the forward direction, and "
	  "computing it again when the [backward pass] needs it.",
	  "It trades time for memory: recomputing whole layers costs up to a "
	  "third more computing, single modules far less." },
	{ WORD_TERM, "offload", "offloading",
	  "Keeping a part of what a [GPU] holds in the memory of its [node], and "
	  "fetching it when it is needed.",
	  "It makes room where nothing else does; the link to the host is slow, "
	  "so watch the exposed time." },
	{ WORD_TERM, "LoRA", "low-rank adaptation,adapter",
	  "Training small extra matrices beside a model whose own [weights] stay "
	  "frozen.",
	  "It needs hardly any gradients and optimizer states, so large models can be "
	  "adapted on few machines." },
	{ WORD_TERM, "packing", "packed document",
	  "Filling a [sequence] with several short texts that do not attend to "
	  "each other.",
	  "Nothing is wasted on padding, and attention is cheaper than for one "
	  "long text." },
	{ WORD_TERM, "strong scaling", NULL,
	  "Using more machines for the same [training step], so that it takes less "
	  "time.",
	  "Each machine has less to do, so waiting and communication take a "
	  "larger share: doubling the machines soon stops doubling the speed." },
	{ WORD_TERM, "weak scaling", NULL,
	  "Using more machines and growing the [global batch] with them, so that each "
	  "has as much to do as before.",
	  "It keeps machines busy, but with a larger batch each text may teach "
	  "the model less." },
	{ WORD_TERM, "load balance", "imbalance",
	  "How evenly work is shared out. Where all have to wait for each other, the "
	  "one with most sets the time.",
	  "Stages with unequal layers and experts with unequal crowds of tokens lose "
	  "time this way." },
	{ 0 },
};
