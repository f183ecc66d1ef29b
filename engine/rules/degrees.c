/* degrees.c - rules about degrees, batch and sequence. Sources: see table.c. */
#include "engine/model/mixer.h"
#include "engine/rules/rules.h"

static bool divides(int64_t a, int64_t b)
{
	return a > 0 && b % a == 0;
}

bool breaks_e1(const struct facts *f, struct broken *out)
{
	int64_t product = f->tp * f->pp * f->cp;

	if (divides(product, f->world))
		return false;
	*out = (struct broken){
		.value = { (double)f->world, (double)f->tp, (double)f->pp,
			   (double)f->cp, (double)product },
		.mend = { { "gpus", MEND_MULTIPLE, product } },
	};
	/* a degree that fits nowhere is the odd one, not the machine */
	if (!divides(f->tp, f->world))
		out->mend[0] = (struct mend){ "tp", MEND_AROUND, 0 };
	else if (!divides(f->pp, f->world))
		out->mend[0] = (struct mend){ "pp", MEND_AROUND, 0 };
	else if (!divides(f->cp, f->world))
		out->mend[0] = (struct mend){ "cp", MEND_AROUND, 0 };
	out->mend[1] = (struct mend){ "gpus", MEND_MULTIPLE, product };
	return true;
}

bool breaks_e2(const struct facts *f, struct broken *out)
{
	int64_t product = f->etp * f->ep * f->pp;

	if (!f->moe || divides(product, f->world))
		return false;
	*out = (struct broken){
		.value = { (double)f->etp, (double)f->ep, (double)f->pp,
			   (double)product, (double)f->world },
		.mend = { { "etp", MEND_VALUE, 1 },
			  { "ep", MEND_AROUND, 0 },
			  { "gpus", MEND_MULTIPLE,
			    scenario_smallest_world(f->scenario) } },
	};
	return true;
}

bool breaks_e3(const struct facts *f, struct broken *out)
{
	int64_t smallest;

	if (!f->moe)
		return false;
	smallest = scenario_smallest_world(f->scenario);
	if (f->world >= smallest)
		return false;
	*out = (struct broken){
		.value = { (double)smallest, (double)f->world, (double)f->pp,
			   (double)(f->tp * f->cp), (double)(f->ep * f->etp) },
		.mend = { { "gpus", MEND_MULTIPLE, smallest },
			  { "etp", MEND_VALUE, 1 },
			  { "ep", MEND_AROUND, 0 } },
	};
	return true;
}

static const struct attention *attention_of(const struct facts *f, int kind)
{
	const struct attention *a = mixer_attention_of(&f->model->kind[kind]);

	return a && a->heads > 0 ? a : NULL;
}

bool breaks_e4(const struct facts *f, struct broken *out)
{
	for (int kind = 0; kind < f->model->kinds; kind++) {
		const struct attention *attention = attention_of(f, kind);

		if (!attention || attention->heads % f->tp == 0)
			continue;
		*out = (struct broken){
			.value = { (double)f->tp, (double)attention->heads },
			.mend = { { "tp", MEND_DIVISOR, attention->heads } },
		};
		return true;
	}
	return false;
}

bool breaks_e5(const struct facts *f, struct broken *out)
{
	bool either = f->scenario->stack.kv_rule == KV_DIVIDES_OR_MULTIPLE;

	for (int kind = 0; kind < f->model->kinds; kind++) {
		const struct attention *attention = attention_of(f, kind);
		int64_t kv;

		if (!attention || mixer_of(&f->model->kind[kind])->latent)
			continue;
		kv = attention->kv_heads;
		if (kv < 1 || kv % f->tp == 0 || (either && f->tp % kv == 0))
			continue;
		*out = (struct broken){
			.value = { (double)f->tp, (double)kv },
			.mend = { { "tp", MEND_DIVISOR, kv },
				  { "tp", MEND_AROUND, 0 } },
		};
		return true;
	}
	return false;
}

bool breaks_e6(const struct facts *f, struct broken *out)
{
	if (f->cp < 2 || f->plan->seq_len % (2 * f->cp) == 0)
		return false;
	*out = (struct broken){
		.value = { (double)f->plan->seq_len, (double)(2 * f->cp),
			   (double)f->cp },
		.mend = { { "cp", MEND_AROUND, 0 },
			  { "seq", MEND_MULTIPLE, 2 * f->cp } },
	};
	return true;
}

bool breaks_e7(const struct facts *f, struct broken *out)
{
	int64_t each = f->plan->micro_batch * f->dp;

	if (f->dp < 1 || divides(each, f->plan->global_batch))
		return false;
	*out = (struct broken){
		.value = { (double)f->plan->global_batch, (double)f->plan->micro_batch,
			   (double)f->dp, (double)each },
		.mend = { { "gbs", MEND_MULTIPLE, each }, { "mbs", MEND_AROUND, 0 } },
	};
	return true;
}

bool breaks_e16(const struct facts *f, struct broken *out)
{
	if (!f->moe || f->model->moe.experts % f->ep == 0)
		return false;
	*out = (struct broken){
		.value = { (double)f->model->moe.experts, (double)f->ep },
		.mend = { { "ep", MEND_DIVISOR, f->model->moe.experts } },
	};
	return true;
}

bool breaks_e16_dense(const struct facts *f, struct broken *out)
{
	if (f->moe || f->ep < 2)
		return false;
	*out = (struct broken){ .value = { (double)f->ep },
				.mend = { { "ep", MEND_VALUE, 1 } } };
	return true;
}

bool breaks_heads(const struct facts *f, struct broken *out)
{
	for (int kind = 0; kind < f->model->kinds; kind++) {
		const struct attention *attention = attention_of(f, kind);

		if (!attention || f->tp <= attention->heads)
			continue;
		*out = (struct broken){
			.value = { (double)f->tp, (double)attention->heads },
			.mend = { { "tp", MEND_DIVISOR, attention->heads } },
		};
		return true;
	}
	return false;
}

/* Heads are dealt out over tp first, then over cp (Jacobs et al. 2023). */
bool breaks_ulysses(const struct facts *f, struct broken *out)
{
	if (f->cp < 2 || f->plan->cp_kind != CP_ULYSSES)
		return false;
	for (int kind = 0; kind < f->model->kinds; kind++) {
		const struct attention *attention = attention_of(f, kind);

		if (!attention || attention->heads % (f->tp * f->cp) == 0)
			continue;
		*out = (struct broken){
			.value = { (double)attention->heads, (double)f->tp,
				   (double)f->cp },
			.mend = { { "cp", MEND_AROUND, 0 },
				  { "cp_kind", MEND_VALUE, CP_RING } },
		};
		return true;
	}
	return false;
}

/* Keys and values have heads of their own to deal out to the ranks of CP: of those that
 * a rank of TP has, each as many; where a rank may have a copy, or several ranks have
 * the same one. */
static bool deals_kv(const struct facts *f, bool copies, struct broken *out)
{
	if (f->cp < 2 || f->plan->cp_kind != CP_ULYSSES)
		return false;
	for (int kind = 0; kind < f->model->kinds; kind++) {
		const struct attention *attention = attention_of(f, kind);
		int64_t kv;

		if (!attention || mixer_of(&f->model->kind[kind])->latent)
			continue;
		kv = attention->kv_heads > f->tp ? attention->kv_heads / f->tp : 1;
		if (kv % f->cp == 0 || (copies && f->cp % kv == 0))
			continue;
		*out = (struct broken){
			.value = { (double)kv, (double)f->cp },
			.mend = { { "cp", MEND_DIVISOR, kv },
				  { "tp", MEND_AROUND, 0 },
				  { "cp_kind", MEND_VALUE, CP_RING } },
		};
		return true;
	}
	return false;
}

bool breaks_e33(const struct facts *f, struct broken *out)
{
	return deals_kv(f, false, out);
}

bool breaks_e34(const struct facts *f, struct broken *out)
{
	return deals_kv(f, true, out);
}

bool breaks_e38(const struct facts *f, struct broken *out)
{
	if (!f->moe || !f->model->moe.expert_bias || f->etp < 2)
		return false;
	*out = (struct broken){ .value = { (double)f->etp },
				.mend = { { "etp", MEND_VALUE, 1 } } };
	return true;
}

/* State-space channels shard over tp, and over cp by all-to-all. */
bool breaks_scan(const struct facts *f, struct broken *out)
{
	for (int kind = 0; kind < f->model->kinds; kind++) {
		const struct layer_kind *layer = &f->model->kind[kind];
		const struct mixer *mixer = mixer_of(layer);
		int64_t channels = mixer->channels(f->model, layer);

		if (!mixer->scans || channels < 1 || channels % (f->tp * f->cp) == 0)
			continue;
		*out = (struct broken){
			.value = { (double)channels, (double)f->tp, (double)f->cp },
			.mend = { { "tp", MEND_AROUND, 0 }, { "cp", MEND_AROUND, 0 } },
		};
		return true;
	}
	return false;
}

/* What is odd here: a degree of which an odd factor does not divide the sequence, which
 * nobody changes for it; else the sequence. */
static struct mend uneven_shards(const struct facts *f, int64_t pieces)
{
	int64_t odd = f->plan->sp ? f->tp : 1;

	while (odd % 2 == 0)
		odd /= 2;
	if (f->plan->seq_len % odd != 0)
		return (struct mend){ "tp", MEND_AROUND, 0 };
	odd = f->cp;
	while (odd % 2 == 0)
		odd /= 2;
	if (f->plan->seq_len % odd != 0)
		return (struct mend){ "cp", MEND_AROUND, 0 };
	return (struct mend){ "seq", MEND_MULTIPLE, pieces };
}

bool breaks_sequence(const struct facts *f, struct broken *out)
{
	int64_t pieces = f->cp * (f->plan->sp ? f->tp : 1);

	if (pieces < 2 || f->plan->seq_len % pieces == 0)
		return false;
	*out = (struct broken){
		.value = { (double)f->plan->seq_len, (double)f->cp,
			   (double)(f->plan->sp ? f->tp : 1), (double)pieces },
		.mend = { uneven_shards(f, pieces) },
	};
	return true;
}

bool breaks_positions(const struct facts *f, struct broken *out)
{
	if (f->model->position != POSITION_LEARNED || f->model->max_positions < 1 ||
	    f->plan->seq_len <= f->model->max_positions)
		return false;
	*out = (struct broken){
		.value = { (double)f->plan->seq_len, (double)f->model->max_positions },
		.mend = { { "seq", MEND_VALUE, f->model->max_positions } },
	};
	return true;
}

bool breaks_documents(const struct facts *f, struct broken *out)
{
	if (f->plan->document_len <= f->plan->seq_len)
		return false;
	*out = (struct broken){
		.value = { (double)f->plan->document_len, (double)f->plan->seq_len },
		.mend = { { "document_len", MEND_VALUE, f->plan->seq_len } },
	};
	return true;
}

bool breaks_shard_group(const struct facts *f, struct broken *out)
{
	int64_t ranks = f->dp * f->cp;

	if (f->plan->zero < 1 || f->plan->zero_group < 1 || ranks < 1 ||
	    ranks % f->plan->zero_group == 0)
		return false;
	*out = (struct broken){
		.value = { (double)f->plan->zero_group, (double)f->dp, (double)f->cp },
		.mend = { { "zero_group", MEND_DIVISOR, ranks } },
	};
	return true;
}

/* Sets of shard groups are replicas of data, not of context. */
bool breaks_e35(const struct facts *f, struct broken *out)
{
	int64_t ranks = f->dp * f->cp, group = f->plan->zero_group;

	if (f->plan->zero < 1 || group < 1 || ranks < 1 || ranks % group != 0 ||
	    f->dp % (ranks / group) == 0)
		return false;
	*out = (struct broken){
		.value = { (double)(ranks / group), (double)group, (double)f->cp,
			   (double)f->dp },
		.mend = { { "zero_group", MEND_MULTIPLE, f->cp },
			  { "zero_group", MEND_VALUE, 0 } },
	};
	return true;
}

bool breaks_expert_width(const struct facts *f, struct broken *out)
{
	if (!f->moe || f->etp < 2 || f->model->moe.expert_ffn % f->etp == 0)
		return false;
	*out = (struct broken){
		.value = { (double)f->model->moe.expert_ffn, (double)f->etp },
		.mend = { { "etp", MEND_DIVISOR, f->model->moe.expert_ffn } },
	};
	return true;
}

bool breaks_nodes(const struct facts *f, struct broken *out)
{
	int64_t node = f->scenario->cluster.gpus_per_node;

	if (node < 1 || f->world <= node || f->world % node == 0)
		return false;
	*out = (struct broken){
		.value = { (double)f->world, (double)node, (double)(f->world / node) },
		.mend = { { "gpus", MEND_MULTIPLE, node } },
	};
	return true;
}
