/* policy.c - what a policy of named products keeps of a layer, and what it sends to the
 * host. */
#include "engine/train/step.h"

enum {
	QKV = 1 << TENSOR_QKV,
	OUT = 1 << TENSOR_OUT,
	CONTEXT = 1 << TENSOR_CONTEXT,
	MLP_IN = 1 << TENSOR_MLP_IN,
	MLP_OUT = 1 << TENSOR_MLP_OUT
};

/* What each policy keeps on the accelerator, and what it sends to the host. */
struct policy {
	uint32_t kept, sent;
};

static const struct policy policies[REMAT_COUNT] = {
	[REMAT_MINIMAL_WITH_CONTEXT] = { QKV | OUT | MLP_IN | MLP_OUT | CONTEXT, 0 },
	[REMAT_MINIMAL] = { QKV | OUT | MLP_IN | MLP_OUT, 0 },
	[REMAT_SAVE_DOT_WITH_CONTEXT_EXCEPT_MLP] = { QKV | OUT | CONTEXT, 0 },
	[REMAT_SAVE_DOT_EXCEPT_MLPWI] = { QKV | OUT | MLP_OUT, 0 },
	[REMAT_SAVE_DOT_EXCEPT_MLP] = { QKV | OUT, 0 },
	[REMAT_SAVE_QKV_PROJ] = { QKV, 0 },
	[REMAT_SAVE_OUT_PROJ] = { OUT, 0 },
	[REMAT_QKV_PROJ_OFFLOADED] = { 0, QKV },
	[REMAT_MINIMAL_OFFLOADED] = { 0, QKV | OUT | MLP_IN | MLP_OUT },
};

_Static_assert((int)TENSOR_QKV == REMAT_QKV + 1 &&
		       (int)TENSOR_MLP_OUT == REMAT_MLP_OUT + 1,
	       "remat_kept and remat_sent name tensors in the order of the graph's");

/* What is both kept and sent is sent. */
static struct policy policy_of(const struct plan *plan)
{
	uint32_t sent = (uint32_t)plan->remat_sent << 1;

	if (plan->remat_policy != REMAT_CUSTOM)
		return policies[plan->remat_policy];
	return (struct policy){ ((uint32_t)plan->remat_kept << 1) & ~sent, sent };
}

/* Nothing of the backward asks for the MLP's output: it is added to what goes on. */
bool step_policy_recomputes(const struct plan *plan, const struct graph_operator *op)
{
	struct policy policy = policy_of(plan);

	return op->makes != 0 && !(op->makes & (policy.kept | policy.sent | MLP_OUT));
}

/* What a policy holds of an operator of a layer: the product itself where it is named,
 * attention's with the sums of its rows. */
void step_policy_holds(const struct graph_context *c, struct graph_operator *op)
{
	struct policy policy = policy_of(&c->scenario->plan);
	/* what is summed over TP is kept as SP splits it */
	double rows =
		op->makes & (OUT | MLP_OUT) && !op->expert ? c->norm_tokens : op->rows;
	double made = op->kind == OPERATOR_ATTENTION ? op->kept_bytes
						     : rows * op->columns * c->width;

	op->held_bytes = op->makes & policy.kept ? made : 0;
	op->away_bytes = op->makes & policy.sent ? made : 0;
}
