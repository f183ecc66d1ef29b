/* host.c - what offload puts into a host's memory, and whether it has room for it. */
#include <math.h>

#include "engine/base/plain.h"
#include "engine/train/step.h"
#include "engine/train/train.h"

static const struct rule overflow = {
	"X25", SEVERITY_ERROR,
	"offload needs {0:bytes} of host memory per GPU "
	"of a node, which has {1:bytes}",
	"presets/clusters: host_gib_per_gpu; DeepSpeed, additional_buffer_factor"
};

const struct rule *train_note(int index)
{
	return index == 0 ? &overflow : NULL;
}

double step_host_capacity(const struct cluster *cluster)
{
	return cluster->host_bytes_per_gpu * cluster_host_shares(cluster);
}

double train_host_bytes(const struct stage_memory *held)
{
	return states_host_need_value(held->host_optimizer_bytes,
				      held->host_activations_bytes);
}

/* Means over the GPUs of one node, the optimizer's with its buffers. */
struct need {
	double optimizer, activations;
};

/* So many ranks of a stage more. */
static void add_need(struct need *to, const struct stage_memory *held, double ranks)
{
	to->optimizer += ranks * states_host_need_value(held->host_optimizer_bytes, 0);
	to->activations +=
		ranks * states_host_need_value(0, held->host_activations_bytes);
}

struct hosts {
	const struct step *step;
	const struct stage_memory *stage;
	int64_t ranks; /* of a stage, one behind the other */
	int64_t gpus, count;
};

static struct hosts hosts_of(const struct step *step, const struct stage_memory *stage)
{
	const struct cluster *c = &step->scenario->cluster;
	struct hosts h = { step, stage, c->gpus / step->stages,
			   c->gpus_per_node > 0 ? c->gpus_per_node : 1, step->stages };

	if (h.ranks < h.gpus)
		h.count = (c->gpus + h.gpus - 1) / h.gpus;
	return h;
}

/* A stage that fills a node is alone on one; smaller ones share it. */
static struct need need_of(const struct hosts *h, int64_t node)
{
	int64_t at = node * h->gpus, end = at + h->gpus;
	int64_t all = h->ranks * h->step->stages;
	struct need sum = { 0, 0 };

	if (h->ranks >= h->gpus) {
		add_need(&sum, &h->stage[node], 1);
		return sum;
	}
	end = end < all ? end : all;
	double gpus = (double)(end - at);

	while (at < end) {
		int64_t stage = at / h->ranks, next = (stage + 1) * h->ranks;

		add_need(&sum, &h->stage[stage],
			 (double)((next < end ? next : end) - at));
		at = next;
	}
	return (struct need){ sum.optimizer / gpus, sum.activations / gpus };
}

/* Per GPU of the fullest node. */
static double host_bytes(const struct step *step, const struct stage_memory *stage)
{
	struct hosts h = hosts_of(step, stage);
	double most = 0;

	for (int64_t i = 0; i < h.count; i++) {
		struct need need = need_of(&h, i);

		most = fmax(most, need.optimizer + need.activations);
	}
	return most;
}

int step_host_shares(const struct step *step, const struct stage_memory *stage,
		     int *first, double *share)
{
	struct hosts h = hosts_of(step, stage);
	int64_t full = 0, at, end, all = h.ranks * step->stages;
	double most = -1;
	int count = 0;

	for (int64_t i = 0; i < h.count; i++) {
		struct need need = need_of(&h, i);

		if (need.optimizer + need.activations > most) {
			most = need.optimizer + need.activations;
			full = i;
		}
	}
	*first = (int)full;
	share[0] = 1;
	if (h.ranks >= h.gpus)
		return 1;
	at = full * h.gpus;
	end = at + h.gpus < all ? at + h.gpus : all;
	*first = (int)(at / h.ranks);
	for (int64_t from = at; from < end; count++) {
		int64_t next = (from / h.ranks + 1) * h.ranks;

		next = next < end ? next : end;
		share[count] = (double)(next - from) / (double)(end - at);
		from = next;
	}
	return count;
}

/* The largest part of what is sent of one kind with which every node has room. */
static double part_with_room(const struct hosts *h, double room, bool activations)
{
	double part = 1;

	for (int64_t i = 0; i < h->count; i++) {
		struct need need = need_of(h, i);
		double of = activations ? need.activations : need.optimizer;
		double other = need.optimizer + need.activations - of;

		if (of + other > room)
			part = fmin(part, of > 0 ? (room - other) / of : -1);
	}
	return part;
}

/* Of a byte of states on the host, what the accelerator gets back with them: no
 * gradient where it has that anyway. */
static double comes_back(const struct scenario *s)
{
	double states = step_optimizer_bytes(s);
	double gradient = states_gradients_follow(s) ? step_gradient_bytes(s) : 0;

	return (states + gradient) /
	       states_on_host_value(states, s->plan.master_weights, s->plan.precision);
}

/* Whether the accelerators can take the rest of it back. */
static bool goes_back(const struct hosts *h, const struct estimate *e, double part,
		      bool activations)
{
	double states = comes_back(h->step->scenario);

	for (int i = 0; i < e->stages; i++) {
		const struct stage_memory *m = &e->stage[i];
		double live = m->activations_bytes + m->buffers_bytes;
		double loose = m->reserved_bytes - m->allocated_bytes;
		double back = activations ? m->host_activations_bytes *
						    (1 + (live > 0 ? loose / live : 0))
					  : states * m->host_optimizer_bytes;

		if (m->total_bytes + (1 - part) * back > e->capacity_bytes)
			return false;
	}
	return true;
}

static bool offer_share(const struct hosts *h, const struct estimate *e,
			bool activations, struct finding *finding)
{
	const struct plan *plan = &h->step->scenario->plan;
	double now = activations ? plan->activation_offload : plan->optimizer_offload;
	double part = part_with_room(h, e->host_capacity_bytes, activations);
	double share = floor(part * now * 100) / 100;

	if (now <= 0 || part < 0 || !goes_back(h, e, share / now, activations))
		return false;
	finding->knob = activations ? "activation_offload" : "optimizer_offload";
	finding->nearest[0] = share;
	finding->nearest_count = 1;
	return true;
}

/* The knob that sends most, where no share of it is the remedy. */
static const char *name_sender(const struct plan *plan)
{
	if (plan->optimizer_offload > 0)
		return "optimizer_offload";
	if (plan->activation_offload > 0)
		return "activation_offload";
	return step_has_policy(plan) ? "remat_policy" : "offload_modules";
}

static void tell_overflow(const struct hosts *h, struct estimate *out)
{
	struct finding *f;

	if (out->problems.count == MAX_FINDINGS)
		return;
	f = &out->problems.item[out->problems.count++];
	*f = (struct finding){ .rule = &overflow,
			       .value = { out->host_bytes, out->host_capacity_bytes } };
	if (!offer_share(h, out, false, f) && !offer_share(h, out, true, f))
		f->knob = name_sender(&h->step->scenario->plan);
}

/* The chance that both memories are enough is that of the fuller one: what is sent to
 * the host is calculated like what stays, and no surer. */
static void judge_host(const struct step *step, struct estimate *out)
{
	double room = out->host_capacity_bytes, need = out->host_bytes;

	if (room > 0)
		out->fit_probability =
			lesser(out->fit_probability,
			       step_fit_chance(step->scenario, out, need, room));
}

static void fit_host(const struct step *step, struct estimate *out)
{
	const struct plan *plan = &step->scenario->plan;

	out->host_bytes = host_bytes(step, out->stage);
	out->host_fits = out->host_capacity_bytes <= 0 ||
			 out->host_bytes <= out->host_capacity_bytes;
	/* what goes there hangs on the software as much as what stays */
	if (!out->host_fits && out->wide_chance && plan->optimizer_offload <= 0) {
		out->fits = false;
	} else if (!out->host_fits) {
		struct hosts h = hosts_of(step, out->stage);

		out->fits = out->wide_chance = false;
		out->fit_probability =
			step_fit_chance(step->scenario, out, out->memory.total_bytes,
					out->capacity_bytes);
		tell_overflow(&h, out);
	}
	judge_host(step, out);
}

void step_host(const struct step *step, struct estimate *out)
{
	const struct plan *plan = &step->scenario->plan;

	out->host_fits = true;
	out->host_capacity_bytes = step_host_capacity(&step->scenario->cluster);
	if (plan->optimizer_offload > 0 || plan_sends_activations(plan))
		fit_host(step, out);
	out->unsure =
		out->wide_chance &&
		out->fit_probability < step->scenario->cluster.accuracy.fit.surely;
}
