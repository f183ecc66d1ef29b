/* parallel.c - ways to share work and memory out: terms. */
#include "engine/glossary/glossary.h"

const struct glossary_word glossary_parallel[] = {
	{ WORD_TERM, "data parallelism", "DP,data parallel",
	  "Copies of a model learn from different texts at the same time, and agree on "
	  "the sum of their [gradients] once a [training step].",
	  "It is the simplest way to use more machines. Each copy must fit, and each "
	  "needs texts of its own." },
	{ WORD_TERM, "ZeRO", "zero redundancy optimizer,optimizer sharding",
	  "The copies of [data parallelism] share out what they would all hold alike: "
	  "first what the [optimizer] keeps, then [gradients], then [weights].",
	  "It saves most memory for least slowdown at its first stage; the third sends "
	  "weights around all the time." },
	{ WORD_TERM, "FSDP", "fully sharded data parallel,ZeRO 3",
	  "The last stage of [ZeRO]: each [rank] keeps only its share of the "
	  "[weights], and gathers those of a [layer] just before it is used.",
	  "It fits large models without splitting them further, if the links gather "
	  "faster than the layers compute." },
	{ WORD_TERM, "HSDP", "hybrid sharding",
	  "[FSDP] inside smaller groups: each group has all the shares once, and the "
	  "groups are copies of each other.",
	  "Shares gathered from near neighbours come faster; each rank holds more." },
	{ WORD_TERM, "tensor parallelism", "TP,tensor parallel",
	  "Every [matrix product] of a [layer] is cut into parts, and a group of "
	  "[ranks] computes one part each. They exchange results several times a "
	  "layer.",
	  "It divides weights and work at once, but talks most of all: keep it on the "
	  "fastest links." },
	{ WORD_TERM, "sequence parallelism", "SP,sequence parallel",
	  "The ranks of a [tensor parallelism] group also share out the cheap parts "
	  "between the matrices: each keeps only its piece of the text there.",
	  "It saves much memory and sends the same bytes, so it is nearly always worth "
	  "it." },
	{ WORD_TERM, "context parallelism", "CP,context parallel",
	  "Several [ranks] work on one long [sequence], each on a piece of it. Only "
	  "for the parts where [tokens] look at each other do they exchange anything.",
	  "It is for texts so long that no single rank can hold what they leave "
	  "behind." },
	{ WORD_TERM, "ring attention", NULL,
	  "A kind of [context parallelism] in which every rank passes what its piece "
	  "of the text offers on to the next one, until it has gone round.",
	  "It can be hidden behind computing while the pieces are long." },
	{ WORD_TERM, "Ulysses", NULL,
	  "A kind of [context parallelism] in which ranks swap pieces of the text for "
	  "parts of the [layer], so that each sees the whole text for its part.",
	  "It sends less than the ring with many ranks, but needs as many parts as "
	  "ranks." },
	{ WORD_TERM, "pipeline parallelism", "PP,pipeline parallel",
	  "The [layers] are dealt out to groups of machines, the stages, like stations "
	  "of a workshop; each [micro-batch] goes through one after the other.",
	  "It sends very little, even over a slow network. But stages wait while it "
	  "fills and drains." },
	{ WORD_TERM, "pipeline stage", "stage",
	  "One station of [pipeline parallelism]: the [layers] that one group of "
	  "machines holds and computes.",
	  "The slowest one sets the pace, the fullest one decides whether it fits." },
	{ WORD_TERM, "virtual stage", "VPP,chunk,virtual pipeline",
	  "A [pipeline stage] may hold several separate pieces of the model instead of "
	  "one, and each [micro-batch] visits it several times.",
	  "The pieces are shorter, so the pipeline fills faster; but work is handed on "
	  "more often." },
	{ WORD_TERM, "pipeline bubble", "bubble",
	  "The time in which a [pipeline stage] has nothing to do: it waits for the "
	  "first work at the start of a step, and for the others at its end.",
	  "More [micro-batches] make it a smaller share of the step; fewer stages or "
	  "shorter pieces make it smaller in itself." },
	{ WORD_TERM, "pipeline schedule", NULL,
	  "The order in which a [pipeline stage] runs the forward and backward work of "
	  "its [micro-batches].",
	  "Some wait less, some hold less, some send more; Timeline shows the order as "
	  "it runs." },
	{ WORD_TERM, "zero bubble", NULL,
	  "A family of [pipeline schedules] that split the [backward pass] in two and "
	  "use the half that nobody waits for to fill the gaps.",
	  "They nearly remove waiting, and hold more or need a looser end of the step." },
	{ WORD_TERM, "weight gradient", NULL,
	  "The half of the [backward pass] that finds how the [weights] should change. "
	  "Nobody waits for it before the step's end.",
	  "It can be moved to where a stage would wait; that is what the zero-bubble "
	  "schedules do." },
	{ WORD_TERM, "expert parallelism", "EP,expert parallel",
	  "The [experts] of a model lie on different [ranks], and [tokens] travel to "
	  "those that they are sent to and back.",
	  "It divides the largest part of such a model, but every token crosses links "
	  "twice a layer." },
	{ WORD_TERM, "expert tensor parallelism", "ETP",
	  "[Tensor parallelism] inside an expert: each matrix of an [expert] is cut "
	  "over several ranks.",
	  "Experts are small, so cutting them makes small pieces: mostly 1 is best." },
	{ WORD_TERM, "recomputation", "activation checkpointing,checkpointing",
	  "Throwing away what a [layer] computed on the way forward, and computing it "
	  "again when the [backward pass] needs it.",
	  "It buys memory with time: whole layers again cost up to a third more "
	  "computing, single parts far less." },
	{ WORD_TERM, "offload", "offloading",
	  "Keeping a part of what a [GPU] holds in the memory of its [node], and "
	  "fetching it when it is needed.",
	  "It makes room where nothing else does; the way to the host is slow, so "
	  "watch what it exposes." },
	{ WORD_TERM, "LoRA", "low-rank adaptation,adapter",
	  "Training small extra matrices beside a model whose own [weights] stay as "
	  "they are.",
	  "It needs hardly any gradients and optimizer states, so large models can be "
	  "adapted on few machines." },
	{ WORD_TERM, "packing", "packed document",
	  "Filling a [sequence] with several short texts that do not look at each "
	  "other.",
	  "No place is lost to padding, and the work of looking back is less than for "
	  "one long text." },
	{ WORD_TERM, "strong scaling", NULL,
	  "Using more machines for the same [training step], so that it takes less "
	  "time.",
	  "Each machine has less to do, so waiting and sending become a larger share: "
	  "twice the machines never give twice the speed for long." },
	{ WORD_TERM, "weak scaling", NULL,
	  "Using more machines and growing the [global batch] with them, so that each "
	  "has as much to do as before.",
	  "It keeps machines busy, but a larger batch may not teach as much for each "
	  "text." },
	{ WORD_TERM, "load balance", "imbalance",
	  "How evenly work is shared out. Where all have to wait for each other, the "
	  "one with most sets the time.",
	  "Stages with unequal layers and experts with unequal crowds of tokens lose "
	  "time this way." },
	{ 0 },
};
