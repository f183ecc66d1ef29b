/* test_experts.c - what capacity and imbalance cost: rows of experts, all-to-all, what
 * waits for the backward. */
#include <stdlib.h>
#include <string.h>

#include "engine/graph/build.h"
#include "engine/knob/knob.h"
#include "engine/train/train.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

/* Of Mixtral's MoE layer with EP 8, one rank's. */
struct layer {
	double rows, saved;      /* of the first expert GEMM's input */
	double sent, seconds;    /* of the dispatch */
	double payload, permute; /* bytes held, rows rearranged */
};

static void measure(const char *capacity, const char *factor, const char *imbalance,
		    struct layer *out)
{
	struct graph_context context;
	struct graph graph;
	struct scenario s;
	struct mesh mesh;

	case_moe(&s);
	case_set(&s, "moe_dispatcher", "alltoall");
	case_set(&s, "moe_capacity", capacity);
	case_set(&s, "capacity_factor", factor);
	case_set(&s, "imbalance", imbalance);
	mesh_build(&s, &mesh);
	graph_context(&s, &mesh, &context);
	graph_layer(&context, 0, &graph);
	*out = (struct layer){ 0 };
	for (int i = 0; i < graph.count; i++) {
		const struct graph_operator *op = &graph.item[i];

		if (strcmp(op->name, "sort by expert") == 0) {
			out->rows = op->rows;
			out->saved = op->saved_bytes;
		} else if (strcmp(op->name, "dispatch") == 0) {
			out->sent = op->sent_bytes;
			out->seconds = op->forward_seconds;
			out->payload = op->payload_bytes;
		} else if (strcmp(op->name, "permute") == 0) {
			out->permute = op->rows;
		}
	}
}

static void equal(const struct layer *a, const struct layer *b)
{
	assert_true(a->rows == b->rows && a->saved == b->saved && a->sent == b->sent);
	assert_true(a->seconds == b->seconds && a->payload == b->payload &&
		    a->permute == b->permute);
}

/* Two experts of 8 for each of 4096 tokens of 4096 in 16 bit; 7 of 8 leave the rank. */
static void test_dropless_by_hand(void **state)
{
	struct layer l;

	(void)state;
	measure("dropless", "1", "1", &l);
	assert_close(l.rows, 2 * 4096, 1e-12);
	assert_close(l.saved, 2.0 * 4096 * 4096 * 2, 1e-12);
	assert_close(l.payload, 2.0 * 4096 * 4096 * 2, 1e-12);
	assert_close(l.sent, 2.0 * 4096 * 4096 * 2 * 7 / 8, 1e-12);
	assert_close(l.permute, 2 * 4096, 1e-12);
}

/* Without padding the tokens there are: a capacity above the busiest expert's changes
 * nothing, half of the mean halves what is computed, kept and sent. */
static void test_drop_works_on_the_tokens_there_are(void **state)
{
	struct layer all, l;

	(void)state;
	measure("dropless", "1", "1", &all);
	measure("drop", "1.25", "1", &l);
	equal(&l, &all);
	measure("drop", "2", "1", &l);
	equal(&l, &all);
	measure("drop", "0.5", "1", &l);
	assert_close(l.rows, all.rows / 2, 1e-12);
	assert_close(l.saved, all.saved / 2, 1e-12);
	assert_close(l.sent, all.sent / 2, 1e-12);
	assert_close(l.permute, all.permute / 2, 1e-12);
	assert_true(l.seconds < 0.8 * all.seconds);
}

/* Padding pays the capacity whatever comes, in computing and traffic. */
static void test_pad_pays_the_capacity(void **state)
{
	static const char *const factor[] = { "0.5", "1", "1.5", "2" };
	struct layer all, l, skewed;

	(void)state;
	measure("dropless", "1", "1", &all);
	for (int i = 0; i < 4; i++) {
		measure("pad", factor[i], "1", &l);
		assert_close(l.rows, atof(factor[i]) * all.rows, 1e-12);
		assert_close(l.saved, atof(factor[i]) * all.saved, 1e-12);
		assert_close(l.sent, atof(factor[i]) * all.sent, 1e-12);
		measure("pad", factor[i], "3", &skewed);
		equal(&l, &skewed);
	}
}

/* The all-to-all ends when the busiest rank has everything; the mean sends as before.
 */
static void test_the_busiest_rank_is_waited_for(void **state)
{
	struct layer all, l, twice;

	(void)state;
	measure("dropless", "1", "1", &all);
	measure("dropless", "1", "2", &l);
	assert_close(l.rows, 2 * all.rows, 1e-12);
	assert_close(l.sent, all.sent, 1e-12);
	measure("pad", "2", "1", &twice);
	assert_true(l.seconds > all.seconds && l.seconds == twice.seconds);
	/* it keeps no more than its capacity */
	measure("drop", "1.5", "2", &l);
	assert_close(l.rows, 1.5 * all.rows, 1e-12);
	measure("drop", "4", "2", &l);
	assert_close(l.rows, 2 * all.rows, 1e-12);
}

/* A rank with all experts has its own tokens, no more. */
static void test_one_rank_has_no_imbalance(void **state)
{
	struct estimate *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
	struct scenario s;

	(void)state;
	case_moe(&s);
	case_set(&s, "ep", "1");
	train_estimate(&s, a);
	case_set(&s, "imbalance", "2");
	train_estimate(&s, b);
	assert_true(a->legal && a->step_seconds == b->step_seconds);
	assert_false(knob_applies(&s, knob_find("imbalance")));
	free(a);
	free(b);
}

/* Of a scenario as it is; NULL where the layer has no such operator. */
static const struct graph_operator *find(const struct scenario *s, const char *name)
{
	static struct graph_context context;
	static struct graph graph;
	static struct mesh mesh;

	mesh_build(s, &mesh);
	graph_context(s, &mesh, &context);
	graph_layer(&context, 0, &graph);
	for (int i = 0; i < graph.count; i++)
		if (strcmp(graph.item[i].name, name) == 0)
			return &graph.item[i];
	return NULL;
}

/* Copies in the order of ranks are a plain all-to-all's; what the fused ones send is 16
 * bit in fp8 training, too, but for a stack that says otherwise. */
static void test_dispatchers_move_their_own_rows(void **state)
{
	struct scenario s;

	(void)state;
	case_moe(&s);
	case_set(&s, "moe_dispatcher", "alltoall");
	assert_non_null(find(&s, "permute"));
	assert_non_null(find(&s, "unpermute and weigh"));
	assert_non_null(find(&s, "unsort"));
	case_set(&s, "moe_dispatcher", "deepep");
	assert_null(find(&s, "permute"));
	assert_null(find(&s, "unpermute and weigh"));
	assert_close(find(&s, "unsort")->rows, find(&s, "sort by expert")->rows, 1e-12);
	double wide = find(&s, "dispatch")->payload_bytes;

	case_set(&s, "precision", "fp8");
	assert_close(find(&s, "dispatch")->payload_bytes, wide, 1e-12);
	s.stack.sends_fp8_rows = true;
	assert_close(find(&s, "dispatch")->payload_bytes, wide * 1.03 / 2, 1e-12);
	assert_close(find(&s, "combine")->payload_bytes, wide, 1e-12);
}

/* SimuMax' table on B200, bf16: 160 experts a rank of 154 rows, 3072 x 5120, 1725 us
 * forward and 3678 us for the weight gradient; 8 of 9832 rows run at the plain rate. */
static void test_grouped_gemms_take_as_long_as_measured(void **state)
{
	struct graph_context context;
	struct graph graph = { 0 };
	struct scenario s;
	struct error error;
	struct mesh mesh;

	(void)state;
	assert_true(scenario_blank(&s, "mixtral-8x7b", "dgx-b200", "megatron-core",
				   &error));
	mesh_build(&s, &mesh);
	graph_context(&s, &mesh, &context);
	context.quantise_bytes = 0;
	const struct graph_operator *few = graph_linear(
		&context, &graph, "few", 160 * 154, 3072, 5120, false, 160);
	assert_close(few->forward_seconds, 1725e-6, 0.2);
	assert_close(few->weight_grad_seconds, 3678e-6, 0.35);
	assert_true(few->weight_grad_seconds > 1.5 * few->forward_seconds);
	/* 16 rows more of each expert, a multiplication and an addition a weight */
	assert_close(few->padding_flops, 2.0 * 16 * 160 * 3072 * 5120, 1e-12);
	assert_close(few->forward_flops, 2.0 * 154 * 160 * 3072 * 5120, 1e-12);
	const struct graph_operator *many =
		graph_linear(&context, &graph, "many", 8 * 9832, 3072, 5120, false, 8);
	const struct graph_operator *plain =
		graph_linear(&context, &graph, "plain", 8 * 9832, 3072, 5120, false, 1);
	assert_close(many->forward_seconds, plain->forward_seconds, 0.05);
}

/* 28 bytes an element of the experts' outputs forward, 36 backward. */
static void test_biases_of_experts_are_added_op_by_op(void **state)
{
	const struct graph_operator *op;
	struct scenario s;

	(void)state;
	case_moe(&s);
	s.model.moe.expert_bias = false;
	assert_null(find(&s, "expert biases"));
	s.model.moe.expert_bias = true;
	op = find(&s, "expert biases");
	assert_non_null(op);
	assert_close(op->forward_bytes, op->rows * op->columns * 28, 1e-12);
	assert_close(op->backward_bytes, op->rows * op->columns * 36, 1e-12);
	assert_close(op->columns, (double)s.model.hidden, 1e-12);
}

/* Two of 8 experts are on two ranks of eight, and on four ranks of two each on one of
 * them with odds of one in seven. */
static void test_fused_dispatchers_send_a_token_to_a_rank_once(void **state)
{
	double token_bytes = 4096.0 * 4096 * 2;
	struct scenario s;

	(void)state;
	case_moe(&s);
	for (int per_rank = 1; per_rank <= 2; per_rank++) {
		double copies = per_rank == 1 ? 2 : 2 - 1.0 / 7;

		case_set(&s, "ep", per_rank == 1 ? "8" : "4");
		case_set(&s, "moe_dispatcher", "alltoall");
		assert_close(find(&s, "dispatch")->payload_bytes, 2 * token_bytes,
			     1e-12);
		case_set(&s, "moe_dispatcher", "hybridep");
		assert_close(find(&s, "dispatch")->payload_bytes, copies * token_bytes,
			     1e-12);
		assert_close(find(&s, "combine")->payload_bytes, copies * token_bytes,
			     1e-12);
		case_set(&s, "moe_dispatcher", "deepep");
		assert_close(find(&s, "dispatch")->payload_bytes, copies * token_bytes,
			     1e-12);
	}
}

/* DeepEP on NVLink: up to 16 ranks a way back takes what the way there does, beyond 2.4
 * times that, forward in the combine and backward in the dispatch. */
static void test_wide_combines_are_slow(void **state)
{
	struct error error = { "" };
	struct scenario s;

	(void)state;
	for (int ranks = 2; ranks <= 36; ranks++) {
		double share = ranks > 16 ? 2.4 : 1;

		if (!scenario_blank(&s, "mixtral-8x7b", "gb200-nvl72", "generic",
				    &error))
			fail_msg("%s", error.text);
		s.model.moe.experts = 2 * ranks;
		s.cluster.gpus = ranks;
		s.plan.ep = ranks;
		case_set(&s, "moe_dispatcher", "deepep");
		assert_close(find(&s, "combine")->forward_seconds,
			     share * find(&s, "combine")->input_grad_seconds, 1e-12);
		assert_close(find(&s, "dispatch")->input_grad_seconds,
			     share * find(&s, "dispatch")->forward_seconds, 1e-12);
	}
	/* with another library it is none */
	case_set(&s, "moe_dispatcher", "hybridep");
	assert_close(find(&s, "combine")->forward_seconds,
		     find(&s, "combine")->input_grad_seconds, 1e-12);
}

/* Over two racks tokens still come together on NVLink in each: the way back of a rank's
 * tokens is no quicker than in one rack, whose ranks get nearly as many copies. */
static void test_wide_combines_are_slow_over_two_racks(void **state)
{
	double once[2], back[2];
	struct error error = { "" };
	struct scenario s;

	(void)state;
	for (int racks = 1; racks <= 2; racks++) {
		if (!scenario_blank(&s, "qwen3-235b-a22b", "gb200-nvl72", "generic",
				    &error))
			fail_msg("%s", error.text);
		s.cluster.gpus = 128;
		s.plan.ep = 64 * racks;
		case_set(&s, "moe_dispatcher", "hybridep");
		once[racks - 1] = find(&s, "combine")->forward_seconds;
		case_set(&s, "moe_dispatcher", "deepep");
		back[racks - 1] = find(&s, "combine")->forward_seconds;
		assert_close(find(&s, "dispatch")->input_grad_seconds, back[racks - 1],
			     1e-12);
	}
	assert_true(back[1] > 2 * once[0]);
	assert_true(back[1] > back[0]);
	/* a domain of eight is narrow however many there are */
	if (!scenario_blank(&s, "qwen3-235b-a22b", "dgx-h100", "generic", &error))
		fail_msg("%s", error.text);
	s.cluster.gpus = 64;
	s.plan.ep = 64;
	case_set(&s, "moe_dispatcher", "deepep");
	assert_close(find(&s, "combine")->forward_seconds,
		     find(&s, "combine")->input_grad_seconds, 1e-12);
}

/* A gate and what it gates, 16 bytes forward and 30 backward; the joined halves are
 * saved beside the GEMM's output. Experts that are launched one by one launch both of
 * their GEMMs so. */
static void test_gates_are_clamped_op_by_op(void **state)
{
	const struct graph_operator *op;
	struct scenario s;
	double up, down;

	(void)state;
	case_moe(&s);
	assert_null(find(&s, "clamp of gates"));
	s.model.moe.activation_limit = 7;
	op = find(&s, "clamp of gates");
	assert_non_null(op);
	assert_close(op->columns, (double)s.model.moe.expert_ffn, 1e-12);
	assert_close(op->forward_bytes, op->rows * op->columns * 16, 1e-12);
	assert_close(op->backward_bytes, op->rows * op->columns * 30, 1e-12);
	double saved = op->saved_bytes;

	assert_close(saved, find(&s, "expert gate and up")->saved_bytes, 1e-12);
	s.plan.compile = true;
	assert_null(find(&s, "clamp of gates"));
	s.plan.compile = false;
	case_set(&s, "ep", "4"); /* two experts a rank */
	up = find(&s, "expert gate and up")->forward_seconds;
	down = find(&s, "expert down")->forward_seconds;
	case_set(&s, "grouped_gemm", "off");
	assert_true(find(&s, "expert gate and up")->forward_seconds > up);
	assert_true(find(&s, "expert down")->forward_seconds > down);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dropless_by_hand),
		cmocka_unit_test(test_drop_works_on_the_tokens_there_are),
		cmocka_unit_test(test_pad_pays_the_capacity),
		cmocka_unit_test(test_the_busiest_rank_is_waited_for),
		cmocka_unit_test(test_one_rank_has_no_imbalance),
		cmocka_unit_test(test_dispatchers_move_their_own_rows),
		cmocka_unit_test(test_grouped_gemms_take_as_long_as_measured),
		cmocka_unit_test(test_biases_of_experts_are_added_op_by_op),
		cmocka_unit_test(test_wide_combines_are_slow),
		cmocka_unit_test(test_wide_combines_are_slow_over_two_racks),
		cmocka_unit_test(test_fused_dispatchers_send_a_token_to_a_rank_once),
		cmocka_unit_test(test_gates_are_clamped_op_by_op),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
