/* small.c - see small.h. */
#include "tests/support/small.h"

#include <string.h>

#include "tests/support/case.h"
#include "tests/support/close.h"

struct scenario scenario;
struct mesh mesh;
struct graph_context context;
struct graph graph;

void small_layer(void)
{
	struct layer_kind kind = { .mixer = MIXER_ATTENTION,
				   .mlp = MLP_DENSE,
				   .ffn = FFN,
				   .attention = { .heads = HEADS,
						  .kv_heads = KEYS,
						  .head_dim = QUERY_DIM,
						  .value_dim = VALUE_DIM } };
	struct model *m = &scenario.model;

	case_dense(&scenario);
	*m = (struct model){ .hidden = HIDDEN,
			     .vocab = 1000,
			     .max_positions = 1 << 20 };
	strcpy(m->name, "small");
	assert_true(model_add_layer(m, &kind));
	scenario.cluster.gpus = TP;
	case_set(&scenario, "tp", "2");
	case_set(&scenario, "pp", "1");
	case_set(&scenario, "mbs", "3");
	scenario.plan.seq_len = SEQ;
	scenario.plan.sp = false;
	scenario.plan.precision = PRECISION_BF16;
	scenario.plan.attention_kernel = ATTENTION_FLASH2;
	scenario.plan.recompute = RECOMPUTE_NONE;
}

void small_draw(void)
{
	mesh_build(&scenario, &mesh);
	graph_context(&scenario, &mesh, &context);
	graph_layer(&context, 0, &graph);
}

const struct graph_operator *small_kind(enum operator_kind kind)
{
	for (int i = 0; i < graph.count; i++)
		if (graph.item[i].kind == kind)
			return &graph.item[i];
	fail_msg("no operator of kind %d", kind);
	return NULL;
}

const struct graph_operator *small_find(const char *name)
{
	for (int i = 0; i < graph.count; i++)
		if (strcmp(graph.item[i].name, name) == 0)
			return &graph.item[i];
	return NULL;
}

const struct graph_operator *small_named(const char *name)
{
	const struct graph_operator *op = small_find(name);

	if (!op)
		fail_msg("no operator '%s'", name);
	return op;
}
