/* numbers.c - what the numbers of training say. */
#include "engine/glossary/glossary.h"

const struct glossary_word glossary_numbers[] = {
	{ WORD_NUMBER, "parameters", NULL, "How many [weights] the model has in all.",
	  "It sets what has to be held. Compare it with the active ones: those are "
	  "what is computed with." },
	{ WORD_NUMBER, "active_parameters", NULL,
	  "How many [weights] one [token] meets on its way through the model.",
	  "In a dense model all of them; with experts a small share, which is why "
	  "those train fast for their size." },
	{ WORD_NUMBER, "flops_per_token", NULL,
	  "How much computing training the model takes for one [token], if nothing is "
	  "done twice ([FLOPs]).",
	  "It does not depend on the plan: with it, speeds of different models can be "
	  "compared." },
	{ WORD_NUMBER, "total_bytes", NULL,
	  "What the fullest [GPU] has to hold at the worst moment of a step.",
	  "If it is above the capacity, the plan fails. Memory shows which part to "
	  "shrink." },
	{ WORD_NUMBER, "capacity_bytes", NULL,
	  "What a program can use of the memory of one [GPU]; less than what it was "
	  "sold with.",
	  "Leave some room: near the edge it is a matter of luck." },
	{ WORD_NUMBER, "weights_bytes", NULL,
	  "What the [weights] take on the fullest [GPU].",
	  "Split the model further (matrices, stages, experts) or share weights out "
	  "with the third stage of sharding." },
	{ WORD_NUMBER, "gradients_bytes", NULL,
	  "What the [gradients] take, from the first micro-batch to the end of the "
	  "step.",
	  "Share them out among copies, or keep them in a shorter format." },
	{ WORD_NUMBER, "optimizer_bytes", NULL,
	  "What the [optimizer] keeps for each weight.",
	  "Often the largest part, and the easiest to shrink: share it out among "
	  "copies." },
	{ WORD_NUMBER, "activations_bytes", NULL,
	  "What the [forward pass] leaves for the [backward pass], of all "
	  "[micro-batches] that are on their way.",
	  "It grows with micro-batch and length, and shrinks with splitting, "
	  "recomputation and other schedules." },
	{ WORD_NUMBER, "buffers_bytes", NULL,
	  "Memory that is needed for a moment: [logits], gathered [weights], what is "
	  "being sent.",
	  "A large vocabulary fills it on the last stage; a fused or chunked loss "
	  "empties it." },
	{ WORD_NUMBER, "framework_bytes", NULL,
	  "What driver, libraries and the memory manager take for themselves, with "
	  "[fragmentation].",
	  "No knob removes it; each group of ranks that exchanges something adds a "
	  "little." },
	{ WORD_NUMBER, "allocated_bytes", NULL,
	  "What the training itself holds, without the share of driver and libraries.",
	  "Compare it with what a framework prints as allocated." },
	{ WORD_NUMBER, "fit_probability", NULL,
	  "How likely it is that the plan really fits: measured runs near the edge "
	  "sometimes fail.",
	  "Aim well above one half for a long run; more room raises it." },
	{ WORD_NUMBER, "host_bytes", NULL,
	  "What [offload] puts into the memory of the [node], for each of its [GPUs].",
	  "It must stay below what the host can give." },
	{ WORD_NUMBER, "host_capacity_bytes", NULL,
	  "How much memory the host has for each of the [GPUs] that the job takes of a "
	  "[node].",
	  "If it is 0, nobody has said what the hosts have." },
	{ WORD_NUMBER, "total_bytes_low", NULL,
	  "The low end of the range in which four of five measured runs lay around "
	  "such a prediction of memory.",
	  "Between the two ends nobody can promise." },
	{ WORD_NUMBER, "total_bytes_high", NULL,
	  "The high end of the range in which four of five measured runs lay around "
	  "such a prediction of memory.",
	  "If even this fits, you are on the safe side." },
	{ WORD_NUMBER, "step_seconds", NULL,
	  "How long one [training step] takes, from its first piece of work until all "
	  "[weights] have changed.",
	  "It is the sum of computing, waiting for bytes, waiting for others and "
	  "changing weights. See which part is large." },
	{ WORD_NUMBER, "compute_seconds", NULL,
	  "The time a [GPU] computes in a step, mean over the stages; what is computed "
	  "again counts.",
	  "This is the useful part. It shrinks with more machines, faster formats and "
	  "better kernels." },
	{ WORD_NUMBER, "bubble_seconds", NULL,
	  "The time a [GPU] waits for other [stages|pipeline stage] in a step, mean "
	  "over the stages.",
	  "More micro-batches, fewer stages or shorter pieces make it smaller; so does "
	  "an even split." },
	{ WORD_NUMBER, "exposed_seconds", NULL,
	  "The time a [GPU] waits for bytes in a step with nothing to compute "
	  "meanwhile ([exposed communication]).",
	  "See which dimension it comes from: move that group to faster links, or hide "
	  "it." },
	{ WORD_NUMBER, "optimizer_seconds", NULL,
	  "The time it takes to change all [weights] at the end of a step.",
	  "Sharing it out among copies divides it. It is paid once a step, however "
	  "large the batch." },
	{ WORD_NUMBER, "recompute_seconds", NULL,
	  "The time spent computing again what was thrown away to save memory "
	  "([recomputation]).",
	  "It is the price of that memory. If there is room, recompute less." },
	{ WORD_NUMBER, "step_seconds_low", NULL,
	  "The fast end of the range in which four of five measured runs lay around "
	  "such a prediction of a step.",
	  "How wide the range is says how far to trust the number." },
	{ WORD_NUMBER, "step_seconds_high", NULL,
	  "The slow end of the range in which four of five measured runs lay around "
	  "such a prediction of a step.",
	  "Plan days and money with this one." },
	{ WORD_NUMBER, "bubble_ratio", NULL,
	  "The share of time, from the first piece of work to the last, that stages "
	  "spend waiting, on average ([pipeline bubble]).",
	  "With equal stages it is (p - 1) / (m + p - 1) for p stages and m "
	  "micro-batches: raise m or lower p." },
	{ WORD_NUMBER, "idle_to_ideal", NULL,
	  "The same waiting as a share of the time that the work alone would take.",
	  "Some papers print this one: it is larger than the other, so do not compare "
	  "them." },
	{ WORD_NUMBER, "tokens_per_second", NULL,
	  "How many [tokens] all machines together learn from in a second "
	  "([throughput]).",
	  "It decides how long the training takes. More machines raise it; the next "
	  "number says at what price." },
	{ WORD_NUMBER, "tokens_per_second_per_gpu", NULL,
	  "How many [tokens] one [GPU] learns from in a second, with all waiting "
	  "counted.",
	  "The number to compare plans of the same model by. It falls as machines "
	  "are added." },
	{ WORD_NUMBER, "tokens_per_step", NULL,
	  "How many [tokens] one [training step] learns from: batch times length.",
	  "Compare times of a step only where this is the same." },
	{ WORD_NUMBER, "tflops_per_gpu", NULL,
	  "How many trillions of useful [FLOPs] one [GPU] does in a second.",
	  "Papers print it. It lets different models be compared on the same machine." },
	{ WORD_NUMBER, "mfu", NULL,
	  "The share of its [peak speed] at which a [GPU] does useful work ([MFU]).",
	  "40 % and more is good for large models. Low ones mean waiting, sending or "
	  "small matrices." },
	{ WORD_NUMBER, "mfu_bf16", NULL,
	  "The same share, measured against the speed of 16-bit numbers, whatever "
	  "format is used.",
	  "With shorter formats it can pass 100 %: it lets them be compared with "
	  "16-bit plans." },
	{ WORD_NUMBER, "hfu", NULL,
	  "The share of its [peak speed] at which a [GPU] works, repeated work among "
	  "it ([HFU]).",
	  "The distance to the share of useful work is what recomputation takes." },
	{ WORD_NUMBER, ".bytes", NULL,
	  "How many bytes one [GPU] sends for this kind of splitting, in a step or a "
	  "pass of a server.",
	  "Traffic lists what they are made of. Many bytes do no harm on a fast link "
	  "or behind computing." },
	{ WORD_NUMBER, ".network_bytes", NULL,
	  "How many of these bytes leave the [fast domain] and cross the [network].",
	  "These are the slow ones. Smaller groups, or groups that stay inside, avoid "
	  "them." },
	{ WORD_NUMBER, ".payload_bytes", NULL,
	  "What these exchanges are about, before the way they are done sends some of "
	  "it twice ([payload]).",
	  "Beside the bytes sent it shows what the algorithm adds." },
	{ WORD_NUMBER, ".seconds", NULL,
	  "How long these exchanges take, hidden or not.",
	  "Compare it with the exposed time: what is between them is hidden." },
	{ WORD_NUMBER, ".exposed_seconds", NULL,
	  "How long a [GPU] waits for these exchanges with nothing else to do "
	  "([exposed communication]).",
	  "Only this part lengthens the step." },
	{ WORD_NUMBER, "run_steps", NULL,
	  "How many [training steps] the whole run has.",
	  "More tokens in a step make fewer of them." },
	{ WORD_NUMBER, "run_seconds", NULL,
	  "How long the whole run takes, with failures and writing [checkpoints].",
	  "The answer to when it is done: more tokens per second, or fewer tokens." },
	{ WORD_NUMBER, "run_gpu_hours", NULL, "All [GPUs] times all hours of the run.",
	  "What is paid for. Plans with more tokens per second for each machine need "
	  "fewer." },
	{ WORD_NUMBER, "run_dollars", NULL,
	  "What the run costs at the price that is set.",
	  "Set your own price. It is cheaper with a better plan, not with more "
	  "machines." },
	{ WORD_NUMBER, "run_joules", NULL, "The energy of the run, cooling included.",
	  "A machine that waits still draws power, so a better plan saves energy too." },
	{ WORD_NUMBER, "run_co2_grams", NULL,
	  "The carbon dioxide of the electricity that the run draws; what was built before is not "
	  "in it.",
	  "It is the energy times grams of the grid: another place changes it most." },
	{ WORD_NUMBER, "run_dollars_per_million_tokens", NULL,
	  "What a million tokens of the run cost.",
	  "Unlike the cost of the run it compares plans that train on different "
	  "numbers of tokens." },
	{ WORD_NUMBER, "run_seconds_low", NULL,
	  "The least of the range in which how long the run takes lies: that of four of five measured "
	  "steps.",
	  "The best case; plan with the other end of the range." },
	{ WORD_NUMBER, "run_seconds_high", NULL,
	  "The most of the range in which how long the run takes lies: that of four of five measured "
	  "steps.",
	  "Promise this one to others, not the number in the middle." },
	{ WORD_NUMBER, "run_dollars_low", NULL,
	  "The least of the range in which what the run costs lies: that of four of five measured "
	  "steps.",
	  "The best case; plan with the other end of the range." },
	{ WORD_NUMBER, "run_dollars_high", NULL,
	  "The most of the range in which what the run costs lies: that of four of five measured "
	  "steps.",
	  "Promise this one to others, not the number in the middle." },
	{ WORD_NUMBER, "run_joules_low", NULL,
	  "The least of the range in which the energy of the run lies: that of four of five measured "
	  "steps.",
	  "The best case; plan with the other end of the range." },
	{ WORD_NUMBER, "run_joules_high", NULL,
	  "The most of the range in which the energy of the run lies: that of four of five measured "
	  "steps.",
	  "Promise this one to others, not the number in the middle." },
	{ WORD_NUMBER, "run_co2_grams_low", NULL,
	  "The least of the range in which the carbon dioxide of the run lies: that of four of five measured "
	  "steps.",
	  "The best case; plan with the other end of the range." },
	{ WORD_NUMBER, "run_co2_grams_high", NULL,
	  "The most of the range in which the carbon dioxide of the run lies: that of four of five measured "
	  "steps.",
	  "Promise this one to others, not the number in the middle." },
	{ WORD_NUMBER, "goodput", NULL,
	  "Which share of the run teaches, after [checkpoints], failures and starting "
	  "again ([goodput of a run]).",
	  "It falls with more nodes. Faster storage and restarts raise it." },
	{ WORD_NUMBER, "checkpoint_bytes", NULL, "How large one [checkpoint] is.",
	  "It grows with what trains, and has to be written and read as a whole." },
	{ WORD_NUMBER, "checkpoint_seconds", NULL,
	  "How long writing one [checkpoint] takes while training waits.",
	  "Many nodes that write at once make it short." },
	{ WORD_NUMBER, "checkpoint_interval_seconds", NULL,
	  "After how much time a [checkpoint] is best written: often enough to lose "
	  "little, not so often that writing costs more.",
	  "It follows from how often nodes fail and how long writing takes." },
	{ WORD_NUMBER, "run_failures", NULL, "How many failures the run has to expect.",
	  "Each one costs the work since the last checkpoint and a restart." },
	{ 0 },
};
