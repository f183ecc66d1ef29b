/* basics.c - what a model, a step and a machine are: terms that all others stand on. */
#include "engine/glossary/glossary.h"

const struct glossary_word glossary_basics[] = {
	{ WORD_TERM, "token", NULL,
	  "A piece of text, usually a word or part of one: the unit that a "
	  "language model reads and writes.",
	  "Nearly everything is counted in them: the length of a text, the work "
	  "in a step, the speed of a machine." },
	{ WORD_TERM, "sequence", "context length",
	  "The run of [tokens] that a model sees together, in training often 4096 "
	  "or 8192 of them. Each token may look at those before it.",
	  "A longer one lets a model use more of a text, but needs more memory "
	  "while it computes." },
	{ WORD_TERM, "GPU", "accelerator,device",
	  "A processor built to multiply large matrices, with fast memory of its "
	  "own. Chips of other makes and names are meant as well.",
	  "Its memory limits what fits; its speed limits how fast a step can be." },
	{ WORD_TERM, "node", "host",
	  "One computer with several [GPUs], often eight. Fast links connect them "
	  "inside it; a slower network connects the computers.",
	  "Groups that communicate most should stay inside one. The Topology view "
	  "shows which GPUs do." },
	{ WORD_TERM, "link", "bandwidth",
	  "What carries bytes between two [GPUs]. It has a speed, in bytes per second, "
	  "and a delay before the first byte arrives.",
	  "A fast one lets traffic hide behind computing; a slow one makes "
	  "everyone wait." },
	{ WORD_TERM, "fast domain", "NVLink,domain",
	  "The [GPUs] connected by the fastest [links]: usually those of one "
	  "[node], sometimes those of a whole rack.",
	  "A group that has to exchange something in every layer should fit into it." },
	{ WORD_TERM, "network", "InfiniBand,Ethernet",
	  "The [links] between [fast domains]. For each [GPU] it is several times "
	  "slower than those inside.",
	  "Watch how many bytes cross it: the same bytes cost several times the "
	  "seconds here." },
	{ WORD_TERM, "rank", NULL,
	  "One process that drives one [GPU]; a job has as many of them as it has "
	  "GPUs.",
	  "A plan says what each of them holds, computes and sends." },
	{ WORD_TERM, "parameter", "weight,weights",
	  "One of the numbers that a model learns. They are stored in large "
	  "matrices; their number is the size of the model.",
	  "Each occupies memory all the time, and training needs several more "
	  "numbers for each of them." },
	{ WORD_TERM, "layer", "block",
	  "One of the similar steps that a [token] passes through in a model, "
	  "each with its own [weights]; large models have about a hundred.",
	  "They run one after the other, so they can be divided among machines "
	  "like the stations of an assembly line." },
	{ WORD_TERM, "matrix product", "GEMM,matmul",
	  "Multiplying two large tables of numbers. Nearly all the computing of a "
	  "model is this.",
	  "[GPUs] are fast at it while both matrices are large; split too finely, "
	  "part of the machine sits idle." },
	{ WORD_TERM, "FLOPs", "FLOP,TFLOP/s,floating-point operations",
	  "Additions and multiplications of numbers: the unit in which computing work "
	  "is counted.",
	  "Work divided by the speed of a machine is the shortest time that a "
	  "step could take." },
	{ WORD_TERM, "forward pass", "forward",
	  "Running a model from its first [layer] to its last, to predict from "
	  "the given [tokens] what comes next.",
	  "It is about a third of the computing in training, and all of it when a "
	  "model answers." },
	{ WORD_TERM, "backward pass", "backward",
	  "Going through the [layers] in reverse after the [forward pass], to find how "
	  "each [weight] should change.",
	  "It takes about twice the work of the forward direction, and needs the "
	  "results computed on the way." },
	{ WORD_TERM, "gradient", NULL,
	  "For each [weight], in which direction and how strongly it should change; "
	  "found by the [backward pass].",
	  "There is one for every weight. All copies of a model must agree on "
	  "their sum before the weights change." },
	{ WORD_TERM, "optimizer", "Adam,AdamW",
	  "The rule that turns [gradients] into new [weights]. The usual one "
	  "keeps two running means and a precise copy of each weight.",
	  "What it keeps is often the largest part of memory, and the first part "
	  "worth sharding." },
	{ WORD_TERM, "activation", "activations",
	  "What a [layer] has computed on the [forward pass] and keeps because the "
	  "[backward pass] will need it.",
	  "It grows with the length of the text and with how many texts are "
	  "processed at once; often it is what does not fit." },
	{ WORD_TERM, "training step", "step",
	  "One round of learning: [forward pass] and [backward pass] over many texts, "
	  "then one change of all [weights].",
	  "A training run is hundreds of thousands of them, so a tenth of a second "
	  "matters." },
	{ WORD_TERM, "global batch", "batch",
	  "All [sequences] that one [training step] learns from, over all [GPUs].",
	  "It is set by the training: twice as large a batch does not learn twice "
	  "as fast. So it often stays the same while machines grow." },
	{ WORD_TERM, "micro-batch", "microbatch",
	  "The few [sequences] that a [GPU] processes at the same time. A [global "
	  "batch] is split into many of them.",
	  "Larger ones use the GPU better but need more memory; many small ones "
	  "keep a pipeline busy." },
	{ WORD_TERM, "gradient accumulation", "accumulation",
	  "Adding up the [gradients] of several [micro-batches] before the [weights] "
	  "change once.",
	  "It allows a large batch on a small machine, and spreads the fixed cost "
	  "of a step." },
	{ WORD_TERM, "vocabulary", NULL,
	  "All [tokens] that a model knows, often 32 thousand to 256 thousand of them.",
	  "A large one makes the first and last parts of a model heavy, and its "
	  "output wide." },
	{ WORD_TERM, "embedding", NULL,
	  "The table that gives each [token] of the [vocabulary] its row of numbers, "
	  "with which a model begins.",
	  "It takes memory but little computing; in a pipeline it makes the first "
	  "stage different." },
	{ WORD_TERM, "LM head", "output layer",
	  "The last [matrix product] of a model: it gives each [token] of the "
	  "[vocabulary] a score for coming next.",
	  "It can be as much work as several layers, and makes the last stage of a "
	  "pipeline slower." },
	{ WORD_TERM, "logits", NULL,
	  "The scores that the [LM head] gives to every possible next [token].",
	  "They are large: for a long text and a large vocabulary they alone can "
	  "briefly take gigabytes." },
	{ WORD_TERM, "loss", "cross-entropy",
	  "How wrong the [logits] were about the [token] that really came next. "
	  "Training makes it smaller.",
	  "Computed step by step, it stores the scores several times; in one "
	  "kernel or in chunks it does not." },
	{ WORD_TERM, "plan", NULL,
	  "How a job is split over machines and run: every degree, batch size and "
	  "switch in the left pane, apart from model, cluster and stack.",
	  "For the same machine a good one can be several times as fast as a bad one "
	  "that also runs." },
	{ WORD_TERM, "scenario", NULL,
	  "A model, a cluster, a software stack and a [plan]: all that an "
	  "estimate needs.",
	  "It is what you open, save to a file, share as a line of text and "
	  "compare." },
	{ WORD_TERM, "knob", NULL,
	  "One setting of a [scenario] that you can change, such as how many ways "
	  "the matrices are split.",
	  "Change one and watch what moves; the page of each knob says what to "
	  "look at." },
	{ WORD_TERM, "stack", NULL,
	  "The software that runs the training or the server. It decides what is "
	  "possible, what overlaps and what is stored.",
	  "The same plan runs differently on another stack: defaults and features "
	  "differ." },
	{ WORD_TERM, "cluster", NULL,
	  "The machines of a job: the kind of [GPU], how many per [node], and the "
	  "[links] between them.",
	  "A plan that is best on one may not even run on another." },
	{ 0 },
};
