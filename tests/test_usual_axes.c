/* test_usual_axes.c - which values a search tries: each axis against its rule, asked of
 * every number, and pins, which stay when the scenario changes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/planner/planner.h"
#include "engine/rules/ability.h"
#include "engine/schedule/schedule.h"
#include "engine/trust/trust.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static struct planner_problem problem, other;
static char why[256];

static int below(int n)
{
	return (int)next((uint64_t)n);
}

static void begin(const char *model, const char *cluster, const char *stack)
{
	struct error error = { "" };

	memset(&problem, 0, sizeof problem);
	/* an axis that is read behind the last one is no pointer */
	memset(&problem.axis, 0x5a, sizeof problem.axis);
	if (!scenario_blank(&problem.base, model, cluster, stack, &error))
		fail_msg("%s", error.text);
}

static const struct planner_axis *find(const struct planner_problem *in,
				       const char *key)
{
	for (int i = 0; i < in->axes; i++)
		if (strcmp(in->axis[i].knob->key, key) == 0)
			return &in->axis[i];
	return NULL;
}

/* The values of the axis are these, in this order. */
static void has(const char *key, const double *value, int count)
{
	const struct planner_axis *axis = find(&problem, key);

	if (!axis || axis->count != count)
		fail_msg("%s has %d values, not %d", key, axis ? axis->count : 0,
			 count);
	for (int i = 0; i < count; i++)
		if (axis->value[i] != value[i])
			fail_msg("%s: %g is not %g", key, axis->value[i], value[i]);
}

#define HAS(key, ...)                             \
	has(key, (const double[]){ __VA_ARGS__ }, \
	    (int)(sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double)))

static bool divides(int64_t n, int64_t of)
{
	return of % n == 0;
}

static bool is_power(int64_t n, int64_t of)
{
	(void)of;
	return (n & (n - 1)) == 0;
}

static bool any(int64_t n, int64_t of)
{
	(void)n;
	(void)of;
	return true;
}

/* Of all whole numbers up to `most` those of which this is true; where that is none,
 * the knob is no axis. */
static void has_all(const char *key, bool (*good)(int64_t n, int64_t of), int64_t of,
		    int64_t most)
{
	double value[4096];
	int count = 0;

	for (int64_t n = 1; n <= most && n < 4096; n++)
		if (good(n, of))
			value[count++] = (double)n;
	if (count == 0)
		assert_null(find(&problem, key));
	else
		has(key, value, count < MAX_AXIS_VALUES ? count : MAX_AXIS_VALUES);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t heads_of(const struct model *model)
{
	int64_t most = 1;

	for (int k = 0; k < model->kinds; k++)
		if (model->kind[k].attention.heads > most)
			most = model->kind[k].attention.heads;
	return most;
}

static void any_size(void)
{
	static const int gpus[] = { 1, 2, 3, 4, 7, 8, 12, 16, 60, 64, 256, 1024, 4096 };
	static const int seqs[] = { 512, 1024, 4096, 65536, 1 << 20 };
	struct plan *p = &problem.base.plan;

	problem.base.cluster.gpus = gpus[below(13)];
	p->global_batch = 1 + below(below(2) ? 8 : 100);
	p->seq_len = seqs[below(5)];
}

static const char *const models[] = { "llama2-13b", "mixtral-8x7b", "deepseek-v3",
				      "gpt2-xl",    "mamba2-2.7b",  "nemotron-h-8b",
				      "gemma2-2b",  "llama3.1-405b" };

/* Degrees, micro-batches and layers: everything that the counts allow, with no sheet of
 * abilities in the way. */
static void test_degrees_are_all_that_divide(void **state)
{
	(void)state;
	seed = 51;
	for (int round = 0; round < 400; round++) {
		struct scenario *s = &problem.base;
		int64_t gpus, node, heads, experts;

		begin(models[below(8)], "dgx-h100", "generic");
		any_size();
		problem.research = true;
		gpus = s->cluster.gpus;
		node = s->cluster.gpus_per_node;
		heads = heads_of(&s->model);
		experts = s->model.moe.experts;
		planner_axes(&problem);
		has_all("mbs", is_power, 0, least(s->plan.global_batch, 32));
		has_all("tp", heads > 1 ? divides : is_power, heads,
			least(least(gpus, 64), heads > 1 ? heads : 64));
		has_all("cp", is_power, 0,
			least(least(gpus, 64), s->plan.seq_len / 1024));
		has_all("pp", divides, gpus,
			least(least(s->model.layers + s->model.mtp_layers + 2, 256),
			      gpus));
		has_all("vpp", any, 0, least(s->model.layers, 12));
		HAS("sp", 0, 1);
		HAS("cp_kind", CP_RING, CP_ALL_GATHER, CP_ULYSSES);
		HAS("zero", 0, 1, 2, 3);
		HAS("recompute", RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL);
		HAS("split", SPLIT_AUTO, SPLIT_BALANCED);
		HAS("schedule", SCHEDULE_1F1B, SCHEDULE_INTERLEAVED);
		if (gpus > node)
			HAS("zero_group", 0, (double)node);
		else
			HAS("zero_group", 0);
		if (experts > 0) {
			has_all("ep", divides, experts, least(gpus, experts));
			HAS("etp", 1, 0);
		} else {
			assert_null(find(&problem, "ep"));
			assert_null(find(&problem, "etp"));
		}
	}
}

/* How much of a stage is recomputed: all, and every power of two below the layers. */
static void test_layers_to_recompute(void **state)
{
	(void)state;
	for (int layers = 1; layers <= 130; layers += layers < 10 ? 1 : 17) {
		double value[16] = { 0 };
		int count = 1;

		begin("llama2-13b", "dgx-h100", "generic");
		problem.base.model.layers = layers;
		for (int n = 1; n < 1024; n++)
			if (is_power(n, 0) && n < layers)
				value[count++] = n;
		planner_axes(&problem);
		has("recompute_layers", value, count);
	}
}

/* Which modules: the plan's own first, none twice, and what a model lacks in none. */
static void test_modules_to_recompute(void **state)
{
	enum { ATTENTION = 1 << MODULE_CORE_ATTN, MLP = 1 << MODULE_MLP };

	(void)state;
	for (size_t m = 0; m < sizeof models / sizeof models[0]; m++)
		for (int own = 0; own < 3; own++) {
			static const unsigned owns[] = { 1u << MODULE_MOE, ATTENTION,
							 MLP };
			unsigned cheap = 1u << MODULE_LAYERNORM, set[5];
			const struct planner_axis *axis;
			int at = 0;

			begin(models[m], "dgx-h100", "generic");
			problem.base.plan.recompute_modules = owns[own];
			if (strncmp(models[m], "deepseek", 8) == 0)
				cheap |= 1u << MODULE_MLA_UP_PROJ;
			if (problem.base.model.moe.experts > 0)
				cheap |= 1u << MODULE_MOE_ACT;
			memcpy(set,
			       (unsigned[]){ owns[own], ATTENTION, cheap, MLP,
					     ATTENTION | MLP | cheap },
			       sizeof set);
			planner_axes(&problem);
			axis = find(&problem, "recompute_modules");
			for (int i = 0; i < 5; i++) {
				bool before = false;

				for (int k = 0; k < i; k++)
					before |= set[k] == set[i];
				if (!before)
					assert_true(axis->value[at++] == set[i]);
			}
			assert_int_equal(axis->count, at);
		}
}

/* To the host: none, half and all of the optimizer beside what the plan has, where
 * there is a way to it; activations as the plan has them. */
static void test_what_is_sent_to_the_host(void **state)
{
	(void)state;
	begin("llama2-13b", "dgx-h100", "generic");
	planner_axes(&problem);
	HAS("optimizer_offload", 0, 0.5, 1);
	HAS("activation_offload", 0);
	problem.base.plan.optimizer_offload = 0.25;
	problem.base.plan.activation_offload = 0.75;
	planner_axes(&problem);
	HAS("optimizer_offload", 0, 0.5, 1, 0.25);
	HAS("activation_offload", 0, 0.75);
	problem.base.plan.optimizer_offload = 0;
	problem.base.cluster.accelerator.host_bytes_per_second = 0;
	planner_axes(&problem);
	HAS("optimizer_offload", 0);
}

/* Activation offload is told of as left out where it could be tried and is not. */
static void test_what_is_left_out_is_told(void **state)
{
	(void)state;
	for (int lacks = 0; lacks < 6; lacks++) {
		struct scenario *s = &problem.base;

		begin("llama2-13b", "dgx-h100", "megatron-core");
		s->cluster.host_bytes_per_gpu = 1e11;
		if (lacks == 1)
			s->cluster.host_bytes_per_gpu = 0;
		if (lacks == 2)
			s->cluster.accelerator.host_bytes_per_second = 0;
		planner_axes(&problem);
		if (lacks == 3)
			planner_pin(&problem, knob_find("activation_offload"),
				    (double[]){ 0, 1 }, 2);
		if (lacks == 4)
			planner_pin(&problem, knob_find("activation_offload"),
				    (double[]){ 0.5 }, 1);
		if (lacks == 5)
			s->plan.mode = MODE_INFERENCE;
		assert_int_equal(planner_leaves_offload(&problem), lacks == 0);
		s->cluster.accelerator.calibration.unmeasured = true;
		assert_int_equal(planner_is_unsure(&problem), lacks != 5);
		s->cluster.accelerator.calibration.unmeasured = false;
		assert_false(planner_is_unsure(&problem));
	}
}

static void test_servers(void **state)
{
	static const char *const served[] = { "llama3.1-70b", "mixtral-8x7b",
					      "deepseek-v3" };

	(void)state;
	seed = 52;
	for (int round = 0; round < 200; round++) {
		struct scenario *s = &problem.base;
		int64_t gpus, experts, quarter;

		begin(served[below(3)], "dgx-h100", "vllm");
		any_size();
		problem.research = true;
		s->plan.mode = MODE_INFERENCE;
		gpus = s->cluster.gpus;
		experts = s->model.moe.experts;
		quarter = gpus / 4;
		planner_axes(&problem);
		has_all("tp", divides, heads_of(&s->model),
			least(least(gpus, 64), heads_of(&s->model)));
		has_all("pp", divides, gpus, least(least(s->model.layers, 16), gpus));
		has_all("kv_shards", is_power, 0, least(gpus, 8));
		if (experts > 0) {
			has_all("dp_attention", is_power, 0, least(gpus, 256));
			has_all("ep", divides, experts,
				least(least(gpus, 512), experts));
		} else {
			assert_null(find(&problem, "dp_attention"));
			assert_null(find(&problem, "ep"));
		}
		if (gpus > 1)
			HAS("disaggregated", 0, 1);
		else
			HAS("disaggregated", 0);
		if (gpus >= 4)
			HAS("prefill_gpus", 0, (double)quarter, (double)(3 * gpus / 4));
		else
			HAS("prefill_gpus", 0);
		if (gpus >= 16)
			HAS("prefill_tp", 0, 1, 2, 4, 8);
		else
			HAS("prefill_tp", 0);
		assert_false(planner_leaves_offload(&problem));
	}
}

/* --- what a stack lacks, and what nobody ran --- */

/* Of all values those stay that the sheet has and somebody ran, in their order; where
 * none does, the plan's own. */
static void check_left_out(int trust)
{
	const struct stack *stack = &problem.base.stack;

	other = problem;
	other.research = true;
	other.trust = 0;
	planner_axes(&other);
	problem.trust = trust;
	planner_axes(&problem);
	assert_int_equal(problem.axes, other.axes);
	for (int i = 0; i < other.axes; i++) {
		const struct planner_axis *all = &other.axis[i], *some;
		int at = 0;

		some = &problem.axis[i];
		assert_ptr_equal(some->knob, all->knob);
		for (int v = 0; v < all->count; v++) {
			bool open =
				ability_never(stack, all->knob, all->value[v]) ||
				planner_distrusts(&problem, all->knob, all->value[v]);

			if (!open)
				assert_true(some->value[at++] == all->value[v]);
		}
		if (at == 0)
			assert_true(some->value[at++] ==
				    knob_get(&problem.base, all->knob));
		assert_int_equal(some->count, at);
	}
}

static void test_what_a_stack_lacks_is_left_out(void **state)
{
	static const char *const stacks[] = { "megatron-core", "fsdp", "nanotron",
					      "zero-bubble", "torchtitan" };

	(void)state;
	for (size_t i = 0; i < sizeof stacks / sizeof stacks[0]; i++)
		for (int trust = 0; trust <= TRUST_COUNT; trust++) {
			begin("llama3.1-70b", "dgx-h100", stacks[i]);
			problem.base.cluster.gpus = 64;
			/* who has no 1F1B has GPipe too, which others are not asked */
			if (!ability_never(&problem.base.stack, knob_find("schedule"),
					   SCHEDULE_1F1B))
				check_left_out(trust);
		}
}

/* Free is what has several values that nobody asked for. */
static bool is_free(const void *context, const struct knob *knob)
{
	const struct planner_axis *axis = find(context, knob->key);

	return axis && axis->count > 1 && !planner_pinned(context, knob);
}

/* Rows of the sheet hold where the search is free to choose a side. */
static void test_rows_hold_of_what_is_free(void **state)
{
	static const char *const stacks[] = { "megatron-core", "deepspeed", "nanotron",
					      "fsdp", "torchtitan" };
	int some = 0;

	(void)state;
	seed = 55;
	for (int round = 0; round < 300; round++) {
		uint64_t held;

		begin("mixtral-8x7b", "dgx-h100", stacks[below(5)]);
		problem.base.cluster.gpus = 64;
		planner_axes(&problem);
		for (int i = 0; i < problem.axes; i++)
			if (below(3) == 0)
				problem.axis[i].count = 1;
		held = planner_held(&problem);
		assert_true(held == abilities_held(&problem.base, is_free, &problem));
		some += held != 0;
		problem.research = true;
		assert_true(planner_held(&problem) == 0);
	}
	assert_true(some > 100);
}

static void any_plan(struct scenario *s)
{
	*s = other.base;
	for (int i = 0; i < other.axes; i++) {
		const struct planner_axis *axis = &other.axis[i];

		if (below(3) == 0)
			knob_set(s, axis->knob, axis->value[below(axis->count)]);
	}
}

/* Whether the plan has a feature of this value. */
static bool matters(const struct scenario *s, const struct knob *knob)
{
	struct scenario plain = *s;

	knob_set(&plain, knob, knob_get(&problem.base, knob));
	return trust_features(&plain) != trust_features(s);
}

/* A value that some plan has which is known well enough is no value that is left out:
 * trust is of whole plans, and of a value only where all its plans lack it. */
static void test_no_value_of_a_known_plan_is_left_out(void **state)
{
	static const char *const stacks[] = { "megatron-core", "deepspeed", "nanotron",
					      "torchtitan" };
	int known = 0, left_out = 0;

	(void)state;
	seed = 53;
	for (int round = 0; round < 4000; round++) {
		struct doubts doubts;
		struct scenario s;

		if (round % 100 == 0) {
			begin("mixtral-8x7b", "dgx-h100", stacks[round / 100 % 4]);
			problem.base.cluster.gpus = 64;
			problem.trust = 1 + below(2);
			other = problem;
			other.research = true;
			other.trust = 0;
			planner_axes(&other);
		}
		any_plan(&s);
		for (int i = 0; i < other.axes; i++) {
			const struct knob *knob = other.axis[i].knob;
			double value = knob_get(&s, knob);
			bool out = planner_distrusts(&problem, knob, value);

			left_out += out;
			if (!matters(&s, knob) ||
			    (int)trust_of(&s, &doubts) >= problem.trust)
				continue;
			known++;
			if (out)
				fail_msg("%s %g", knob->key, value);
		}
		problem.trust = TRUST_COUNT;
		assert_false(planner_distrusts(&problem, knob_find("zero"), 3));
		problem.trust = 1 + round % 2;
	}
	assert_true(known > 500 && left_out > 500);
}

/* One rank that does nothing but this. */
static void alone(struct scenario *s, const char *key, double value)
{
	*s = problem.base;
	s->plan.tp = s->plan.pp = s->plan.cp = s->plan.ep = s->plan.vpp = 1;
	s->plan.etp = 1;
	s->plan.sp = s->plan.ep_overlap = false;
	s->plan.zero = s->plan.zero_group = 0;
	s->plan.schedule = SCHEDULE_1F1B;
	s->plan.recompute = RECOMPUTE_NONE;
	s->plan.optimizer_offload = s->plan.activation_offload = 0;
	knob_set(s, knob_find(key), value);
}

/* Measured asks for a measured run, published for either: a value without which a plan
 * would be known as well as that is left out. */
static void test_what_is_open_alone_is_left_out(void **state)
{
	static const struct {
		const char *key;
		double value[4];
	} rows[] = { { "tp", { 2, 8, 64, 2 } },
		     { "cp", { 2, 4, 2, 4 } },
		     { "ep", { 2, 4, 8, 2 } },
		     { "zero", { 1, 2, 3, 1 } },
		     { "recompute", { 1, 2, 1, 2 } },
		     { "optimizer_offload", { 0.5, 1, 1, 1 } },
		     { "activation_offload", { 0.5, 1, 1, 1 } } };
	const struct preset *list;
	int stacks = preset_list(PRESET_STACK, &list), out = 0, in = 0, differ = 0;

	(void)state;
	for (int i = 0; i < stacks; i++) {
		begin("mixtral-8x7b", "dgx-h100", list[i].name);
		problem.base.cluster.gpus = 64;
		if (problem.base.stack.serves)
			continue;
		for (size_t r = 0; r < 4 * sizeof rows / sizeof rows[0]; r++) {
			const struct knob *knob = knob_find(rows[r / 4].key);
			double value = rows[r / 4].value[r % 4];
			struct doubts with, without;
			struct scenario s;
			bool open[2];

			alone(&s, "tp", 1);
			trust_of(&s, &without);
			alone(&s, knob->key, value);
			trust_of(&s, &with);
			open[0] = with.unmeasured & ~without.unmeasured;
			open[1] = with.unpublished & ~without.unpublished;
			for (int trust = 0; trust < 2; trust++) {
				problem.trust = 1 + trust;
				assert_int_equal(
					planner_distrusts(&problem, knob, value),
					open[trust]);
				*(open[trust] ? &out : &in) += 1;
			}
			differ += open[0] != open[1];
		}
	}
	assert_true(out > 20 && in > 20 && differ > 5);
}

/* A search asks for published plans where this machine and scale are in somebody's run,
 * else for published features, and for nothing where nobody's can be. */
static void test_how_much_trust_is_usual(void **state)
{
	(void)state;
	begin("llama3.1-70b", "dgx-h100", "megatron-core");
	problem.base.cluster.gpus = 64;
	assert_int_equal(planner_usual_trust(&problem.base), 1 + TRUST_PUBLISHED);
	problem.base.plan.zero = 3;
	problem.base.plan.schedule = SCHEDULE_HANAYO;
	assert_int_equal(planner_usual_trust(&problem.base), 1 + TRUST_PUBLISHED);
	problem.base.plan.mode = MODE_INFERENCE;
	assert_int_equal(planner_usual_trust(&problem.base), 0);
	begin("llama3.1-70b", "dgx-h100", "megatron-core");
	problem.base.cluster.gpus = 500000;
	assert_int_equal(planner_usual_trust(&problem.base), TRUST_OF_FEATURES);
	begin("llama3.1-70b", "mi325x", "megatron-core");
	assert_int_equal(planner_usual_trust(&problem.base), TRUST_OF_FEATURES);
	/* nothing that is searched makes these known */
	problem.base.plan.optimizer = OPTIMIZER_SGD;
	problem.base.stack.evidence.measured &=
		~(UINT64_C(1) << FEATURE_OTHER_OPTIMIZER);
	problem.base.stack.evidence.published &=
		~(UINT64_C(1) << FEATURE_OTHER_OPTIMIZER);
	assert_int_equal(planner_usual_trust(&problem.base), 0);
	begin("llama3.1-70b", "mi325x", "megatron-core");
	problem.base.stack.evidence = (struct evidence){ 0 };
	assert_int_equal(planner_usual_trust(&problem.base), 0);
}

/* --- pins --- */

static void pin(const char *key, const char *text)
{
	if (!planner_pin_text(&problem, knob_find(key), text, why, sizeof why))
		fail_msg("%s: %s", key, why);
}

static void refuse(const char *key, const char *text, const char *says)
{
	struct planner_problem before = problem;

	assert_false(planner_pin_text(&problem, knob_find(key), text, why, sizeof why));
	if (!strstr(why, says))
		fail_msg("%s %s: %s", key, text, why);
	assert_memory_equal(&problem, &before, sizeof problem);
}

/* Lists and ranges, each value once, in the order in which they are typed. */
static void test_pins_as_they_are_typed(void **state)
{
	char many[700];

	(void)state;
	begin("llama2-13b", "dgx-h100", "megatron-core");
	planner_axes(&problem);
	pin("tp", "8,1,8,2");
	HAS("tp", 8, 1, 2);
	pin("pp", "2..5,4,1");
	HAS("pp", 2, 3, 4, 5, 1);
	pin("seq", "1k,2k");
	HAS("seq", 1024, 2048);
	pin("recompute", "none..full");
	HAS("recompute", RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL);
	pin("cp", "4");
	HAS("cp", 4);
	assert_int_equal(problem.base.plan.cp, 4);
	/* what is no axis and has one value is given, and no axis */
	pin("gbs", "96");
	assert_int_equal(problem.base.plan.global_batch, 96);
	assert_null(find(&problem, "gbs"));
	refuse("tp", "4..2", "ends before it begins");
	refuse("tp", "1,x", "");
	refuse("layout", "EtL", "can't be varied");
	refuse("imbalance", "1..64", "more than 48 values");
	refuse("recompute_modules", "core_attn..mlp", "no ranges");
	refuse("seq",
	       "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,"
	       "25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,"
	       "46,47,48,49",
	       "more than 48 values");
	pin("seq", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,"
		   "26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,"
		   "48");
	assert_int_equal(find(&problem, "seq")->count, 48);
	memset(many, '1', sizeof many);
	many[512] = '\0';
	refuse("tp", many, "too long");
	assert_false(planner_pin(&problem, knob_find("tp"), (double[]){ 1 }, 0));
	while (problem.axes < MAX_AXES)
		for (int i = 0; i < knob_count() && problem.axes < MAX_AXES; i++)
			planner_pin(&problem, &knob_table[i], (double[]){ 0 }, 1);
	refuse("capacity_factor", "1,2", "more than 24 knobs are free");
}

/* Another GPU count, or model: what was asked for stays, what is usual is made anew. */
static void test_pins_stay_and_the_usual_is_made_anew(void **state)
{
	static struct planner_problem again, usual;

	(void)state;
	seed = 54;
	for (int round = 0; round < 200; round++) {
		static const char *const keys[] = { "tp",  "pp",  "mbs",
						    "gbs", "vpp", "zero" };
		double value[] = { 4, 2 };
		const char *key = keys[below(6)];
		int count = 1 + below(2);

		begin(models[below(8)], "dgx-h100", "megatron-core");
		any_size();
		problem.trust = below(5);
		problem.research = below(2);
		problem.top = 7;
		planner_axes(&problem);
		for (int i = 0; i < problem.axes; i++)
			assert_null(planner_pinned(&problem, problem.axis[i].knob));
		planner_pin(&problem, knob_find(key), value, count);
		other = problem;
		begin(models[below(8)], "dgx-a100-40g", "megatron-core");
		any_size();
		planner_again(&other, &problem.base, &again);
		assert_int_equal(again.top, 7);
		usual = (struct planner_problem){ .base = problem.base,
						  .research = other.research,
						  .trust = other.trust };
		planner_axes(&usual);
		assert_memory_equal(&again.base, &usual.base, sizeof again.base);
		problem = again;
		if (planner_pinned(&other, knob_find(key)))
			has(key, value, count);
		for (int i = 0; i < usual.axes; i++)
			if (usual.axis[i].knob != knob_find(key))
				has(usual.axis[i].knob->key, usual.axis[i].value,
				    usual.axis[i].count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_degrees_are_all_that_divide),
		cmocka_unit_test(test_layers_to_recompute),
		cmocka_unit_test(test_modules_to_recompute),
		cmocka_unit_test(test_what_is_sent_to_the_host),
		cmocka_unit_test(test_what_is_left_out_is_told),
		cmocka_unit_test(test_servers),
		cmocka_unit_test(test_what_a_stack_lacks_is_left_out),
		cmocka_unit_test(test_rows_hold_of_what_is_free),
		cmocka_unit_test(test_no_value_of_a_known_plan_is_left_out),
		cmocka_unit_test(test_what_is_open_alone_is_left_out),
		cmocka_unit_test(test_how_much_trust_is_usual),
		cmocka_unit_test(test_pins_as_they_are_typed),
		cmocka_unit_test(test_pins_stay_and_the_usual_is_made_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
