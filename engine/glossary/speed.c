/* speed.c - time, bytes and how well a machine is used: terms. */
#include "engine/glossary/glossary.h"

const struct glossary_word glossary_speed[] = {
	{ WORD_TERM, "throughput", NULL,
	  "How many [tokens] a job gets through in a second, on all machines or for "
	  "each [GPU].",
	  "It is what to compare plans by when they do the same work: more is sooner "
	  "done and cheaper." },
	{ WORD_TERM, "roofline", "compute-bound,memory-bound",
	  "The rule that a piece of work takes at least the time of its computing and "
	  "at least the time of its reading and writing, whichever is longer.",
	  "It says what would help: a faster processor or a faster memory." },
	{ WORD_TERM, "arithmetic intensity", "intensity",
	  "How many [FLOPs] a piece of work does for each byte that it reads or "
	  "writes.",
	  "Little means that memory is the limit, much that computing is; batching "
	  "more raises it." },
	{ WORD_TERM, "kernel", NULL,
	  "One program that a [GPU] runs at a time, as a [matrix product]. Each has to "
	  "be started by the computer around it.",
	  "Many small ones lose time in starting and in writing what the next one "
	  "reads again." },
	{ WORD_TERM, "fused kernel", "fusion",
	  "Several small pieces of work put into one [kernel], so that what is between "
	  "them is never written to memory.",
	  "It saves time and memory wherever work is small; the result is the same." },
	{ WORD_TERM, "CUDA graph", NULL,
	  "A recorded row of [kernels] that is started as one, instead of one by one.",
	  "It helps where kernels are so short that starting them takes as long as "
	  "running them." },
	{ WORD_TERM, "compilation", "torch.compile",
	  "Letting a compiler turn the model into fewer and better [kernels] before it "
	  "runs.",
	  "It saves small work between the matrices; the first steps take long." },
	{ WORD_TERM, "attention", NULL,
	  "The part of a [layer] in which each [token] looks at the others of its "
	  "[sequence] and takes from them what it needs.",
	  "Its work grows with the square of the length, so in long texts it outweighs "
	  "all else." },
	{ WORD_TERM, "flash attention", NULL,
	  "An [attention] [kernel] that works in small tiles and never writes the "
	  "table of all pairs of [tokens] to memory.",
	  "It is faster, and what other kernels would have to keep for the way back is "
	  "never there." },
	{ WORD_TERM, "mixed precision", NULL,
	  "Computing in narrow number formats where it does no harm, and keeping "
	  "precise ones where small changes add up.",
	  "Narrow numbers are faster to multiply and to send, and take less "
	  "memory; watch whether training stays stable." },
	{ WORD_TERM, "bf16", "bfloat16,fp16,half precision",
	  "A number in 16 bits instead of 32: the usual format for the large [matrix "
	  "products] of training.",
	  "Speeds of machines are usually compared in this format." },
	{ WORD_TERM, "fp8", "mxfp8,nvfp4,mxfp4,fp4,int8",
	  "Numbers in 8 bits or fewer, with shared scaling factors that give them "
	  "enough range.",
	  "They can double the speed of matrix products, but not of the rest; the "
	  "gain shrinks where other things limit the speed." },
	{ WORD_TERM, "collective", "collective communication",
	  "A communication step in which a whole group of [ranks] takes part at "
	  "once, such as adding up what each of them has.",
	  "The Traffic view lists them all with their bytes and times." },
	{ WORD_TERM, "payload", NULL,
	  "The size of the data that is exchanged, before the algorithm sends "
	  "some of it more than once.",
	  "Compare it with the bytes sent: a sum over many ranks sends nearly "
	  "twice its payload." },
	{ WORD_TERM, "ring", "ring algorithm",
	  "Running a [collective] by passing pieces round from neighbour to "
	  "neighbour. Every link is fully used, but it takes as many steps as "
	  "there are members.",
	  "It is best for large messages; for small ones its many steps cost more "
	  "than the bytes." },
	{ WORD_TERM, "tree", "tree algorithm",
	  "Running a [collective] pairwise, like the rounds of a tournament: few "
	  "steps even for many members.",
	  "It is best for small messages among many ranks, where the delay of "
	  "each step matters more than the bytes." },
	{ WORD_TERM, "hierarchical collective", NULL,
	  "Running a [collective] first inside each [fast domain], then between "
	  "the domains with what is left.",
	  "The slow network carries only a share of the bytes." },
	{ WORD_TERM, "latency", "alpha-beta model",
	  "The time before the first byte of a message arrives, however little is "
	  "sent.",
	  "It is paid once per message: many small messages cost more than one "
	  "large one." },
	{ WORD_TERM, "exposed communication", "exposed",
	  "Time in which a [GPU] waits for bytes because it has nothing left to "
	  "compute meanwhile.",
	  "Only this part of communication costs time. Overlap, a faster link or "
	  "fewer bytes reduce it." },
	{ WORD_TERM, "overlap", NULL,
	  "Communicating while computing goes on, so that one hides the other.",
	  "Hidden communication costs little, but a step can't be shorter than "
	  "either of the two." },
	{ WORD_TERM, "MFU", "model FLOPs utilization",
	  "The share of the machine's peak computing speed that goes into work "
	  "the model needs. Recomputed work does not count.",
	  "Good training of large models reaches 40 to 50 %. It falls when machines "
	  "wait, send, or work on small pieces." },
	{ WORD_TERM, "HFU", "hardware FLOPs utilization",
	  "Like [MFU], but work that is repeated to save memory counts as well.",
	  "Where it is clearly higher, the machine spends time on recomputing." },
	{ WORD_TERM, "peak speed", "peak",
	  "The most [FLOPs] per second that the data sheet of a [GPU] promises "
	  "for a number format.",
	  "Nothing reaches it, but shares of it let machines be compared." },
	{ WORD_TERM, "critical path", NULL,
	  "The chain of work and waiting that makes a step as long as it is: anything "
	  "on it that gets faster shortens the step.",
	  "Work that is not on it can be slower without harm. The Timeline view "
	  "highlights it." },
	{ WORD_TERM, "checkpoint", NULL,
	  "A copy of all [weights] and of what the [optimizer] keeps, written to "
	  "storage so that a run can go on after a failure.",
	  "Saving often costs time, saving rarely loses more work when something "
	  "breaks; there is a best interval." },
	{ WORD_TERM, "goodput of a run", "goodput",
	  "The share of a run's time that makes progress, after writing "
	  "[checkpoints], losing work to failures and restarting.",
	  "It falls with more machines, since one failure stops them all." },
	{ WORD_TERM, "MTBF", "mean time between failures",
	  "How long a machine runs on average before it fails.",
	  "A thousand nodes that each fail once in a year stop the job three times a "
	  "day." },
	{ WORD_TERM, "PUE", "power usage effectiveness",
	  "How much power a whole data centre draws for each watt that its "
	  "machines draw: cooling and losses come on top.",
	  "It multiplies the energy of a run." },
	{ WORD_TERM, "oversubscription", "leaf switch",
	  "Having less [bandwidth] above a group of machines than below it: fine "
	  "while few communicate across, a bottleneck when all do.",
	  "Groups that communicate a lot should stay below one such switch." },
	{ WORD_TERM, "in-network reduction", "SHARP",
	  "Switches that add up what passes through them, so that each member of a sum "
	  "sends its numbers once, not twice.",
	  "It nearly halves the bytes of a sum over the network." },
	{ WORD_TERM, "fragmentation", NULL,
	  "Memory that is free but lies in pieces too small to use.",
	  "It is why a plan that fills memory to the last byte fails on a real "
	  "machine." },
	{ WORD_TERM, "feasible", "fits,legal",
	  "A [plan] that breaks no rule and whose fullest [GPU] holds all that it has "
	  "to.",
	  "Only such plans count; the page of a problem says which values would "
	  "fix it." },
	{ WORD_TERM, "optimum", "proof,branch and bound",
	  "The best of all [plans] that are possible. The search proves it: whatever "
	  "it has not tried can't be better than what it found.",
	  "A score against it says how much there was to gain, not how well "
	  "others did." },
	{ WORD_TERM, "Pareto front", "front",
	  "The [plans] that no other plan beats in both of two measures, such as "
	  "speed and memory.",
	  "Any other plan can be improved in one measure without losing in the "
	  "other." },
	{ WORD_TERM, "baseline", "pin",
	  "The [plan] that all changes are shown against: the pinned one, or the "
	  "one before the last change.",
	  "Pin before you try something, and every number says what it did." },
	{ 0 },
};
