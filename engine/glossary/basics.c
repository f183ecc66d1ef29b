/* basics.c - what a model, a step and a machine are: terms that all others stand on. */
#include "engine/glossary/glossary.h"

const struct glossary_word glossary_basics[] = {
	{ WORD_TERM, "token", NULL,
	  "A piece of text, a word or a part of one: what a language model reads and "
	  "writes one after the other.",
	  "Nearly everything is counted in them: the length of a text, the work of a "
	  "step, what a machine gets done in a second." },
	{ WORD_TERM, "sequence", "context length",
	  "The row of [tokens] that a model sees together, in training often 4096 or "
	  "8192 of them. Each may look at those before it.",
	  "Longer ones let a model use more of a text, and make it keep more while it "
	  "computes." },
	{ WORD_TERM, "GPU", "accelerator,device",
	  "A processor made to multiply large tables of numbers, with fast memory of "
	  "its own. Other makes and names are meant as well.",
	  "Its memory decides what fits, its speed how long a step takes at least." },
	{ WORD_TERM, "node", "host",
	  "One computer with several [GPUs], often eight: fast links join them inside, "
	  "a slower network joins computers.",
	  "What talks most should stay inside one. Topology shows who shares one with "
	  "whom." },
	{ WORD_TERM, "link", "bandwidth",
	  "What carries bytes between two [GPUs]. It has a speed, in bytes per second, "
	  "and a delay before the first byte arrives.",
	  "A fast one hides what a plan sends; a slow one makes everybody wait." },
	{ WORD_TERM, "fast domain", "NVLink,domain",
	  "The [GPUs] that are joined by the fastest [links] there are: mostly those "
	  "of one [node], sometimes those of a whole rack.",
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
	  "One of the numbers that a model learns. They stand in large tables; a model "
	  "is as large as they are many.",
	  "Each lies in some memory all the time, and in training it brings several "
	  "numbers more along." },
	{ WORD_TERM, "layer", "block",
	  "One of the steps of the same build that a [token] goes through in a model, "
	  "each with [weights] of its own; large models have about a hundred.",
	  "They come one after the other, so they can be shared out like the stations "
	  "of a workshop." },
	{ WORD_TERM, "matrix product", "GEMM,matmul",
	  "Multiplying two large tables of numbers. Nearly all the computing of a "
	  "model is this.",
	  "[GPUs] are fast at it while both tables are large; cut too finely, the "
	  "machine idles in parts." },
	{ WORD_TERM, "FLOPs", "FLOP,TFLOP/s,floating-point operations",
	  "Additions and multiplications of numbers: the unit in which computing work "
	  "is counted.",
	  "Work divided by the speed of a machine says how fast a step could be at "
	  "best." },
	{ WORD_TERM, "forward pass", "forward",
	  "Running a model from its first [layer] to its last, to get from given "
	  "[tokens] what it expects next.",
	  "It is about a third of the computing of training, and all of it when a "
	  "model answers." },
	{ WORD_TERM, "backward pass", "backward",
	  "Going through the [layers] in reverse after the [forward pass], to find how "
	  "each [weight] should change.",
	  "It takes about twice the work of the way there, and needs what was computed "
	  "on that way." },
	{ WORD_TERM, "gradient", NULL,
	  "For each [weight], in which direction and how strongly it should change; "
	  "found by the [backward pass].",
	  "There are as many as weights. All copies of a model have to agree on their "
	  "sum before it learns." },
	{ WORD_TERM, "optimizer", "Adam,AdamW",
	  "The rule that turns [gradients] into new [weights]. The usual one keeps two "
	  "running means and an exact copy of each weight.",
	  "What it keeps is often the largest part of the memory, and the first that "
	  "is worth sharing out." },
	{ WORD_TERM, "activation", "activations",
	  "What a [layer] has computed on the [forward pass] and keeps because the "
	  "[backward pass] will need it.",
	  "It grows with the length of the text and with how many are worked on at "
	  "once: often what does not fit." },
	{ WORD_TERM, "training step", "step",
	  "One round of learning: [forward pass] and [backward pass] over many texts, "
	  "then one change of all [weights].",
	  "A training run is hundreds of thousands of them, so a tenth of a second "
	  "matters." },
	{ WORD_TERM, "global batch", "batch",
	  "All [sequences] that one [training step] learns from, on all [GPUs] "
	  "together.",
	  "It belongs to the training: twice as many in a step does not teach twice as "
	  "fast. So it often stands still while machines grow." },
	{ WORD_TERM, "micro-batch", "microbatch",
	  "The few [sequences] that a [GPU] works on at the same time. A [global "
	  "batch] is gone through in many of them.",
	  "Larger ones use the machine better and hold more; many small ones keep a "
	  "pipeline busy." },
	{ WORD_TERM, "gradient accumulation", "accumulation",
	  "Adding up the [gradients] of several [micro-batches] before the [weights] "
	  "change once.",
	  "It reaches a large batch on a small machine, and spreads what a step costs "
	  "once." },
	{ WORD_TERM, "vocabulary", NULL,
	  "All [tokens] that a model knows, often 32 thousand to 256 thousand of them.",
	  "A large one makes the first and the last part of a model heavy, and what it "
	  "puts out wide." },
	{ WORD_TERM, "embedding", NULL,
	  "The table that gives each [token] of the [vocabulary] its row of numbers, "
	  "with which a model begins.",
	  "It is memory without much computing; on a pipeline it makes the first stage "
	  "different." },
	{ WORD_TERM, "LM head", "output layer",
	  "The last [matrix product] of a model: it gives each [token] of the "
	  "[vocabulary] a score for coming next.",
	  "It can be as much work as several layers, and makes the last stage of a "
	  "pipeline slower." },
	{ WORD_TERM, "logits", NULL,
	  "The scores that the [LM head] gives to every possible next [token].",
	  "They are wide: for a long text and a large vocabulary they alone can fill "
	  "gigabytes for a moment." },
	{ WORD_TERM, "loss", "cross-entropy",
	  "How wrong the [logits] were about the [token] that really came next. "
	  "Training makes it smaller.",
	  "Computed step by step it holds the scores several times; in one kernel or "
	  "in pieces it does not." },
	{ WORD_TERM, "plan", NULL,
	  "How a job is split over machines and run: every degree, batch and switch of "
	  "the left pane but model, machine and software.",
	  "For the same machine a good one can be several times as fast as a bad one "
	  "that also runs." },
	{ WORD_TERM, "scenario", NULL,
	  "A model, a cluster, a software and a [plan]: all that an estimate needs to "
	  "know.",
	  "It is what is opened, written to a file, shared as a line and compared." },
	{ WORD_TERM, "knob", NULL,
	  "One thing of a [scenario] that a person can turn, as how many ways the "
	  "matrices are split.",
	  "Turn one and watch what moves; the page of each says what to look at." },
	{ WORD_TERM, "stack", NULL,
	  "The software that runs the training or the server. It decides what is "
	  "possible, what is hidden and what is kept.",
	  "The same plan is not the same on another one: defaults and abilities "
	  "differ." },
	{ WORD_TERM, "cluster", NULL,
	  "The machines of a job: what kind of [GPU], how many in a [node], and the "
	  "[links] between them.",
	  "A plan that is best on one may not even run on another." },
	{ 0 },
};
