/* machine_knobs.c - what turning a knob of the machine or the run does. */
#include "engine/glossary/glossary.h"

const struct glossary_word glossary_machine_knobs[] = {
	{ WORD_KNOB, "gpus", NULL, "How many [GPUs] the job has.",
	  "With the same global batch more of them are faster, but never in "
	  "proportion. Watch tokens per second of each." },
	{ WORD_KNOB, "gpus_per_node", NULL,
	  "How many [GPUs] share one computer and its way to the network.",
	  "It belongs to the machine. Turn it to ask what another build would do." },
	{ WORD_KNOB, "nvlink_domain", NULL,
	  "How many [GPUs] the fastest [links] join ([fast domain]).",
	  "A larger one lets groups that talk much become larger. Try what a rack-wide "
	  "one would change." },
	{ WORD_KNOB, "nvlink_gbs", NULL,
	  "How fast the [links] inside a [fast domain] are, for each [GPU] and "
	  "direction.",
	  "Turn it to see whether they are the limit: if nothing moves, they are not." },
	{ WORD_KNOB, "network_gbps_per_gpu", NULL,
	  "How fast the [network] is, for each [GPU] and direction.",
	  "Halve it to see how much a plan depends on it." },
	{ WORD_KNOB, "in_network_reduction", NULL,
	  "Whether switches of the [network] add up what passes ([in-network "
	  "reduction]).",
	  "It saves nearly half the bytes of sums between domains." },
	{ WORD_KNOB, "leaf_gpus", NULL,
	  "How many [GPUs] stand below one switch, above which the [network] is "
	  "narrower ([oversubscription]).",
	  "Groups that stay below it do not feel it." },
	{ WORD_KNOB, "oversubscription", NULL,
	  "How many times narrower the [network] is above such a switch than below it "
	  "([oversubscription]).",
	  "1 is a full network. Turn it up to see which traffic crosses it." },
	{ WORD_KNOB, "gpu_memory_gib", NULL,
	  "How much memory of a [GPU] a program can really use.",
	  "It decides what fits. Turn it up to ask what a larger card would allow." },
	{ WORD_KNOB, "host_memory_gib", NULL,
	  "How much memory a [node] has for each of its [GPUs].",
	  "It bounds what offload can send there." },
	{ WORD_KNOB, "scale", NULL,
	  "By how much a measured run of this machine was slower than predicted; all "
	  "times are multiplied by it.",
	  "Measure one run and set it with calibrate: other plans on that machine are "
	  "then predicted better." },
	{ WORD_KNOB, "compute_scale", NULL,
	  "By how much the kernels of measured runs took longer than predicted: [GEMMs], "
	  "[attention], norms and the optimizer.",
	  "Set it with calibrate from runs of your machine, or turn it up to ask what slower "
	  "silicon would give." },
	{ WORD_KNOB, "network_scale", NULL,
	  "By how much bytes of measured runs took longer on the links than predicted, inside "
	  "a [node] and between nodes.",
	  "Set it with calibrate from runs of your machine, or turn it up to ask how a "
	  "layout takes a slower network." },
	{ WORD_KNOB, "host_scale", NULL,
	  "By how much the hosts of measured runs took longer than predicted to launch "
	  "[kernels] and to begin a step.",
	  "Set it with calibrate from runs of your machine; it shows where the GPUs wait for "
	  "their hosts." },
	{ WORD_KNOB, "tokens", NULL,
	  "How many [tokens] the whole training goes through.",
	  "Days, money and energy of the run are in proportion to it; a step is not." },
	{ WORD_KNOB, "price", NULL, "What one [GPU] costs in an hour, in dollars.",
	  "Set your own: the cost of a run is hours times this." },
	{ WORD_KNOB, "pue", NULL,
	  "The power of the whole building over that of its machines ([PUE]).",
	  "It scales the energy of the run and nothing else." },
	{ WORD_KNOB, "grid_gco2_per_kwh", NULL,
	  "How many grams of carbon dioxide a kilowatt-hour of electricity costs where the "
	  "machine stands.",
	  "It scales the carbon dioxide of the run and nothing else: where to compute can matter "
	  "more than how." },
	{ WORD_KNOB, "node_mtbf_hours", NULL,
	  "After how many hours on average one [node] fails ([MTBF]).",
	  "Many nodes fail often: watch goodput of the run." },
	{ WORD_KNOB, "checkpoint_gbs", NULL,
	  "How fast one [node] writes a [checkpoint].",
	  "Faster storage lets you save more often, so that a failure loses less." },
	{ WORD_KNOB, "restart_seconds", NULL,
	  "How long it takes from a failure until the run goes on.",
	  "It counts once for each failure; large jobs feel it." },
	{ WORD_KNOB, "flops_convention", NULL,
	  "Whether work of [attention] is counted for the pairs of tokens that are "
	  "needed, or for all pairs as some papers do.",
	  "It changes [MFU], not time. Choose what the number you compare with used." },
	{ WORD_KNOB, "mode", NULL,
	  "Whether the model is trained or answers [requests] ([serving]).",
	  "It changes knobs, numbers and views: a step on one side, waiting people on "
	  "the other." },
	{ 0 },
};
