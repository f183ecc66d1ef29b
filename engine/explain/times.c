/* times.c - where the seconds of a stage and of a dimension come from. */
#include "engine/explain/row.h"
#include "engine/train/states.h"

static const struct stage_time *stage_of(const struct asked *asked)
{
	return &asked->estimate->stage_time[asked->stage];
}

static void work(const struct asked *a, struct explanation *out)
{
	const struct calibration *c = &a->scenario->cluster.accelerator.calibration;
	enum precision p = (enum precision)a->scenario->plan.precision;

	explain_term(out, "L", "layers of the stage", FORM_REAL,
		     a->estimate->stage[a->stage].layers);
	explain_term(out, "peak", "dense peak, FLOP/s", FORM_FLOPS,
		     a->scenario->cluster.accelerator.peak_flops[p]);
	explain_term(out, "ec", "share of it that large GEMMs reach", FORM_PERCENT,
		     c->gemm_efficiency[p]);
	explain_term(out, "em", "share of memory bandwidth", FORM_PERCENT,
		     c->memory_efficiency);
	explain_term(out, "t0", "fixed time of a kernel", FORM_SECONDS,
		     c->kernel_seconds);
}

static void busy(const struct asked *a, struct explanation *out)
{
	explain_term(out, "m", "micro-batches", FORM_COUNT,
		     (double)a->estimate->micro_batches);
	explain_term(out, "f", "a forward, with exposed communication", FORM_SECONDS,
		     stage_of(a)->forward_seconds);
	explain_term(out, "b", "a backward, with exposed communication", FORM_SECONDS,
		     stage_of(a)->backward_seconds);
}

static void exposed(const struct asked *a, struct explanation *out)
{
	for (int d = 0; d < DIM_COUNT; d++)
		explain_term(out, dimension_label((enum dimension)d),
			     "exposed, mean over the stages", FORM_SECONDS,
			     a->estimate->cost[d].exposed_seconds);
}

static void rest(const struct asked *a, struct explanation *out)
{
	explain_term(out, "step", "of all stages", FORM_SECONDS,
		     a->estimate->step_seconds);
	explain_term(out, "busy", "computing", FORM_SECONDS, stage_of(a)->busy_seconds);
	explain_term(out, "exposed", "communication that nothing hides", FORM_SECONDS,
		     stage_of(a)->exposed_seconds);
	explain_term(out, "opt", "optimizer", FORM_SECONDS,
		     stage_of(a)->optimizer_seconds);
}

/* Of the trained weights' update, what a rank does of it. */
static double shared_out(const struct asked *a, const struct stage_parts *part)
{
	struct shards shards;

	if (a->scenario->plan.zero < 1)
		return part->trained;
	states_shards(a->scenario, &shards);
	return (part->trained - part->trained_experts) / (double)shards.dense +
	       part->trained_experts / (double)shards.expert;
}

static void states(const struct asked *a, struct explanation *out)
{
	const struct accelerator *acc = &a->scenario->cluster.accelerator;
	const struct stage_parts *part = &a->estimate->part[a->stage];
	double scale = a->scenario->cluster.scale;

	if (a->scenario->plan.optimizer == OPTIMIZER_MUON)
		out->formula = "scale * (fixed + bytes / (em * bw) + Muon's products)";
	explain_term(out, "T", "trained parameters on one rank", FORM_COUNT,
		     part->trained);
	explain_term(out, "S", "of them its share with ZeRO, T / d and T / ed",
		     FORM_COUNT, shared_out(a, part));
	explain_term(out, "d", "ranks that share dense states", FORM_COUNT,
		     a->scenario->plan.zero > 0 ? explain_shards(a, false) : 1);
	explain_link(out, "o", "share kept on the host", FORM_PERCENT,
		     a->scenario->plan.optimizer_offload, "optimizer_offload");
	explain_term(out, "bw", "memory bandwidth, bytes a second", FORM_TRAFFIC,
		     acc->memory_bytes_per_second);
	explain_term(out, "em", "share of it", FORM_PERCENT,
		     acc->calibration.memory_efficiency > 0
			     ? acc->calibration.memory_efficiency
			     : 1);
	explain_term(out, "fixed", "of a step, and launches for each layer",
		     FORM_SECONDS,
		     states_fixed_seconds(a->scenario, part->trained_layers));
	explain_term(out, "scale", "of a measured run on this cluster (calibrate)",
		     FORM_REAL, scale > 0 ? scale : 1);
}

static const char roofline[] =
	"Each operator takes t0 + ((FLOPs/(ec*peak))^2 + (bytes/(em*bw))^2)^(1/2): the "
	"larger of computing and memory, more where they are equal; a GEMM a part of a "
	"wave of tiles on top. Launching from the CPU is a floor.";
static const char roofline_source[] =
	"Williams et al. 2009 (roofline); the soft corner and shares: "
	"presets/clusters, calibration";

const struct explain_row explain_times[] = {
	{ "forward_seconds", "A forward of one micro-batch",
	  "sum over the stage's operators", roofline, roofline_source, work },
	{ "backward_seconds", "A backward of one micro-batch",
	  "sum over the stage's operators: input and weight gradients, recomputation",
	  roofline, roofline_source, work },
	{ "busy_seconds", "Busy", "m * (f + b) - exposed communication",
	  "Computing, recomputation and launch cost of all micro-batches.",
	  "definition in engine/README.md", busy },
	{ "exposed_seconds", "Exposed communication and offload",
	  "sum over the collectives of what no computation hides",
	  "Per dimension, means over the stages; see Traffic for every collective.",
	  "definition in engine/README.md", exposed },
	{ "idle_seconds", "Idle", "step - busy - exposed - opt",
	  "Waiting for other stages, in the pipeline and at the end of the step.",
	  "definition in engine/README.md", rest },
	{ "optimizer_seconds", "Optimizer",
	  "scale * (fixed + (34 * (1 - o) * S + 4 * T) / (em * bw))",
	  "Bound by memory: gradient, moments and master weight are read, moments, "
	  "master and 16-bit weight written. Experts divide by their own ranks; Muon's "
	  "products come on top.",
	  "byte count of an Adam step, engine/train/states.h", states },
	{ "recompute_seconds", "Recomputation",
	  "forward time of what is computed again in the backward",
	  "Part of busy. Full recomputation repeats the layer's forward, with its "
	  "collectives; selective only the chosen modules.",
	  "Korthikanti et al., arXiv 2205.05198, section 5", work },
	{ 0 },
};

static void link_terms(const struct asked *a, struct explanation *out)
{
	const struct cluster *c = &a->scenario->cluster;
	const struct link *near = &c->link[LINK_DOMAIN], *far = &c->link[LINK_NETWORK];

	explain_term(out, "B", "fast domain, bytes/s each way", FORM_TRAFFIC,
		     near->bytes_per_second);
	explain_term(out, "eB", "share of it that collectives reach", FORM_PERCENT,
		     near->efficiency);
	explain_term(out, "N", "network per GPU, bytes/s each way", FORM_TRAFFIC,
		     far->bytes_per_second);
	explain_term(out, "eN", "share of it that collectives reach", FORM_PERCENT,
		     far->efficiency);
	explain_term(out, "aB", "latency of a hop in the domain", FORM_SECONDS,
		     near->latency_seconds);
	explain_term(out, "aN", "latency of a hop across", FORM_SECONDS,
		     far->latency_seconds);
}

/* The largest collectives of the dimension, by name. */
static void collectives(const struct asked *a, struct explanation *out, int what)
{
	const struct estimate *e = a->estimate;

	for (int i = 0; i < e->traffic_count && e->legal; i++) {
		const struct traffic *t = &e->traffic[i];

		if (t->dimension != a->dimension)
			continue;
		if (what == 0)
			explain_term(out, collective_label(t->kind), t->what,
				     FORM_TRAFFIC, t->total_bytes);
		else if (what == 1)
			explain_term(out, collective_label(t->kind), t->what,
				     FORM_TRAFFIC, t->network_bytes);
		else if (what == 2)
			explain_term(out, collective_label(t->kind), t->what,
				     FORM_TRAFFIC, t->payload_bytes * t->count);
		else if (what == 3)
			explain_term(out, collective_label(t->kind), t->what,
				     FORM_SECONDS, t->total_seconds);
		else
			explain_term(out, collective_label(t->kind), t->what,
				     FORM_SECONDS, t->exposed_seconds);
	}
}

static void sent(const struct asked *a, struct explanation *out)
{
	collectives(a, out, 0);
}

static void network(const struct asked *a, struct explanation *out)
{
	collectives(a, out, 1);
}

static void payload(const struct asked *a, struct explanation *out)
{
	collectives(a, out, 2);
}

static void seconds(const struct asked *a, struct explanation *out)
{
	collectives(a, out, 3);
	link_terms(a, out);
}

static void unhidden(const struct asked *a, struct explanation *out)
{
	const struct stack *stack = &a->scenario->stack;

	collectives(a, out, 4);
	explain_term(out, "dp", "share of DP traffic that the stack hides",
		     FORM_PERCENT, stack->dp_overlap);
	explain_term(out, "tp", "share of TP traffic, with TP overlap on", FORM_PERCENT,
		     stack->tp_overlap);
	explain_term(out, "ep", "share of EP traffic, with EP overlap on", FORM_PERCENT,
		     stack->ep_overlap);
}

const struct explain_row explain_dimensions[] = {
	{ "bytes", "Bytes sent per GPU and step",
	  "ring: all-reduce 2n(p-1)/p, all-gather, reduce-scatter, all-to-all "
	  "n(p-1)/p, "
	  "times calls",
	  "Counted as sent by the chosen algorithm, in the format that travels; means "
	  "over the stages.",
	  "Thakur et al. 2005; nccl-tests PERFORMANCE.md (bus bandwidth factors)",
	  sent },
	{ "network_bytes", "Of them across the network",
	  "one of a ring's members in a domain sends across its border",
	  "The rest stays inside the fast domain. An all-to-all sends each token once "
	  "to "
	  "each domain that it needs.",
	  "engine/price/collective.h", network },
	{ "payload_bytes", "Payload", "bytes of the tensors themselves, times calls",
	  "Without what an algorithm sends more than once.",
	  "engine/price/collective.h", payload },
	{ "seconds", "Time of these collectives",
	  "alpha + t + 1.1 sqrt(alpha * t), t = bytes / bandwidth",
	  "Latency and transfer overlap a little, which is what measured sizes show. "
	  "Groups "
	  "that leave a domain side by side share its way out.",
	  "fits of NCCL measurements (aiconfigurator, nccl-tests); presets/clusters",
	  seconds },
	{ "exposed_seconds", "Exposed: what no computation hides",
	  "seconds minus what runs beside computation",
	  "TP waits unless overlap is on; DP hides behind the last backward, but for "
	  "one "
	  "bucket; PP sends hide where the stack overlaps them.",
	  "presets/stacks: dp_overlap, tp_overlap, ep_overlap", unhidden },
	{ 0 },
};
