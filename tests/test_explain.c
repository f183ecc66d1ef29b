/* test_explain.c - every number is explained, and its terms give it where they can. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/explain/explain.h"
#include "engine/schedule/law.h"
#include "engine/serve/serve.h"
#include "engine/train/train.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct estimate now;

typedef void make_case(struct scenario *);
static make_case *const cases[] = { case_dense, case_moe, case_mla, case_hybrid };
enum { CASES = sizeof cases / sizeof cases[0] };

static const char *const stage_fields[] = {
	"weights_bytes",        "gradients_bytes",
	"optimizer_bytes",      "activations_bytes",
	"buffers_bytes",        "framework_bytes",
	"total_bytes",          "allocated_bytes",
	"reserved_bytes",       "in_flight",
	"parameters",           "layers",
	"forward_seconds",      "backward_seconds",
	"busy_seconds",         "exposed_seconds",
	"idle_seconds",         "optimizer_seconds",
	"recompute_seconds",    "kv_bytes",
	"host_optimizer_bytes", "host_activations_bytes",
};
enum { STAGE_FIELDS = sizeof stage_fields / sizeof stage_fields[0] };
/* A field added to either struct must come into the list above. */
_Static_assert(sizeof(struct stage_memory) + sizeof(struct stage_time) ==
		       STAGE_FIELDS * sizeof(double),
	       "every field of a stage is named");

static void check_texts(const struct explanation *x, const char *key)
{
	const char *const texts[] = { x->title, x->formula, x->assumption, x->source };

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (!texts[i] || strlen(texts[i]) < 1)
			fail_msg("%s: text %zu is empty", key, i);
	/* a definition is said, not pointed at */
	if (strstr(x->source, "engine/"))
		fail_msg("%s: the source '%s' is not at hand", key, x->source);
	assert_true(isfinite(x->value));
	for (int i = 0; i < x->terms; i++) {
		assert_true(x->term[i].symbol && x->term[i].symbol[0]);
		assert_true(x->term[i].meaning && x->term[i].meaning[0]);
		if (!isfinite(x->term[i].value))
			fail_msg("%s: %s is not finite", key, x->term[i].symbol);
	}
}

static void check_all(const struct scenario *s)
{
	struct explanation x;
	char key[64];

	for (int i = 0; i < metric_count(); i++) {
		if (!(metric_table[i].modes & METRIC_TRAINING))
			continue;
		if (!explain(s, &now, metric_table[i].key, &x))
			fail_msg("%s is not explained", metric_table[i].key);
		check_texts(&x, metric_table[i].key);
		assert_true(x.value == metric_get(&now, &metric_table[i]));
		assert_int_equal(x.form, metric_table[i].form);
	}
	for (int stage = 0; stage < now.stages; stage++)
		for (int i = 0; i < STAGE_FIELDS; i++) {
			snprintf(key, sizeof key, "stages.%d.%s", stage,
				 stage_fields[i]);
			if (!explain(s, &now, key, &x))
				fail_msg("%s is not explained", key);
			check_texts(&x, key);
		}
}

static void check_served(const struct scenario *s)
{
	struct explanation x;
	char key[64];

	for (int i = 0; i < metric_count(); i++) {
		if (!(metric_table[i].modes & METRIC_INFERENCE))
			continue;
		if (!explain(s, &now, metric_table[i].key, &x))
			fail_msg("%s is not explained", metric_table[i].key);
		check_texts(&x, metric_table[i].key);
		assert_true(x.value == metric_get(&now, &metric_table[i]));
		if (strstr(x.assumption, "optimizer") || strstr(x.formula, "ZeRO") ||
		    strstr(x.title, "step"))
			fail_msg("%s is explained as in training", metric_table[i].key);
	}
	for (int stage = 0; stage < now.stages; stage++)
		for (int i = 0; i < STAGE_FIELDS; i++) {
			bool time = strstr(stage_fields[i], "_seconds");

			snprintf(key, sizeof key, "stages.%d.%s", stage,
				 stage_fields[i]);
			if (strstr(key, "gradients") || strstr(key, "optimizer"))
				continue;
			if (explain(s, &now, key, &x) == time)
				fail_msg("%s of a server", key);
		}
}

static void test_every_number_of_a_server_is_explained(void **state)
{
	struct scenario s;

	(void)state;
	for (int c = 0; c < CASES; c++) {
		cases[c](&s);
		case_set(&s, "mode", "inference");
		case_set(&s, "goal_ttft", "5000");
		if (s.model.moe.experts > 0)
			case_set(&s, "ep", "1");
		s.plan.tp = s.model.kinds > 1 ? 2 : 8;
		s.plan.pp = 2;
		serve_estimate(&s, &now);
		if (!now.legal && now.problems.count)
			fail_msg("case %d: %s", c, now.problems.item[0].rule->code);
		assert_true(now.legal);
		check_served(&s);
	}
}

static void test_every_number_is_explained(void **state)
{
	struct scenario s;

	(void)state;
	for (int c = 0; c < CASES; c++) {
		cases[c](&s);
		train_estimate(&s, &now);
		assert_true(now.legal);
		check_all(&s);
	}
}

/* Nothing of an earlier estimate is read where there is no new one. */
static void test_an_illegal_plan_is_explained_without_old_numbers(void **state)
{
	struct scenario s;
	struct explanation x;

	(void)state;
	case_dense(&s);
	memset(&now, 0xff, sizeof now); /* NaN everywhere */
	case_set(&s, "tp", "24");
	train_estimate(&s, &now);
	assert_false(now.legal);
	for (int i = 0; i < metric_count(); i++)
		if (explain(&s, &now, metric_table[i].key, &x))
			check_texts(&x, metric_table[i].key);
	assert_false(explain(&s, &now, "stages.0.total_bytes", &x));
}

/* A key that somebody typed is not the table's own string. */
static void test_keys_are_read_as_text(void **state)
{
	struct scenario s;
	struct explanation x;
	char key[64];

	(void)state;
	case_dense(&s);
	train_estimate(&s, &now);
	for (int i = 0; i < metric_count(); i++) {
		snprintf(key, sizeof key, "%s", metric_table[i].key);
		if (!(metric_table[i].modes & METRIC_TRAINING))
			continue;
		assert_true(explain(&s, &now, key, &x));
	}
}

/* What users and routers do has a source: where others measured theirs. */
static void test_knobs_of_users_have_a_source(void **state)
{
	static const char *const rows[][2] = {
		{ "shared_prefix", "open-infra-index" },
		{ "host_prefix", "measure your own" },
		{ "host_kv", "kv_offloading_size" },
		{ "routing_skew", "Blom" },
		{ "prompt", "a knob: yours to turn" },
	};
	struct scenario s;

	(void)state;
	case_dense(&s);
	s.plan.mode = MODE_INFERENCE;
	serve_estimate(&s, &now);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct explanation x;

		assert_true(explain(&s, &now, rows[i][0], &x));
		assert_non_null(strstr(x.source, rows[i][1]));
	}
}

static void test_unknown_keys_are_refused(void **state)
{
	static const char *const keys[] = { "",
					    "nothing",
					    "stages.",
					    "stages.4.total_bytes",
					    "stages.-1.layers",
					    "stages.0",
					    "stages.0.",
					    "stages.0.nothing",
					    "stages.x.layers",
					    "tp.",
					    "tp.nothing",
					    "xp.bytes",
					    "stages.99999999999999999999.layers" };
	struct scenario s;
	struct explanation x;

	(void)state;
	case_dense(&s);
	train_estimate(&s, &now);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		assert_false(explain(&s, &now, keys[i], &x));
	/* of each list the last one is there, and none behind it */
	for (int i = 0; i < 3; i++) {
		static const char *const lists[] = { "stages", "chunks", "traffic" };
		int counts[] = { now.stages, now.stages * (int)s.plan.vpp,
				 now.traffic_count };
		const char *member = i < 2 ? "layers" : "count";
		char key[64];

		assert_true(counts[i] > 0);
		snprintf(key, sizeof key, "%s.%d.%s", lists[i], counts[i] - 1, member);
		assert_true(explain(&s, &now, key, &x));
		snprintf(key, sizeof key, "%s.%d.%s", lists[i], counts[i], member);
		assert_false(explain(&s, &now, key, &x));
	}
}

static double t(const struct explanation *x, const char *symbol)
{
	for (int i = 0; i < x->terms; i++)
		if (strcmp(x->term[i].symbol, symbol) == 0)
			return x->term[i].value;
	for (int i = 0; i < x->besides; i++)
		if (strcmp(x->beside[i].symbol, symbol) == 0)
			return x->beside[i].value;
	fail_msg("%s has no term %s", x->title, symbol);
	return 0;
}

static void test_states_of_a_dense_model(void **state)
{
	struct scenario s;
	struct explanation x;

	(void)state;
	case_dense(&s);
	case_set(&s, "zero", "3");
	case_set(&s, "pp", "1");
	case_set(&s, "zero_group", "4");
	train_estimate(&s, &now);
	assert_true(now.legal);
	for (int i = 0; i < 3; i++) {
		static const char *const keys[] = { "weights_bytes", "gradients_bytes",
						    "optimizer_bytes" };

		assert_true(explain(&s, &now, keys[i], &x));
		assert_true(x.computes);
		assert_close(t(&x, "D"), now.memory.parameters, 1e-12);
		assert_close(t(&x, "d"), 4, 1e-12);
	}
}

/* Scores of a dense model: 6 * L * s * heads * head_dim, the causal half. */
static void test_flops_of_attention(void **state)
{
	struct scenario s;
	struct explanation x;

	(void)state;
	case_dense(&s);
	train_estimate(&s, &now);
	assert_true(explain(&s, &now, "flops_per_token", &x));
	assert_close(t(&x, "S"), 6.0 * 80 * 8192 * 64 * 128, 1e-9);
	assert_close(t(&x, "table"), 128256.0 * 8192, 1e-9);
}

/* Narayanan et al., arXiv 2104.04473: with 1F1B, PP 4 and m micro-batches. */
static void test_the_bubble_s_closed_form(void **state)
{
	struct scenario s;
	struct explanation x;

	(void)state;
	case_dense(&s);
	train_estimate(&s, &now);
	assert_true(explain(&s, &now, "bubble_ratio", &x));
	assert_close(t(&x, "equal"),
		     (t(&x, "p") - 1) / (t(&x, "v") * t(&x, "m") + t(&x, "p") - 1),
		     1e-12);
	assert_close(t(&x, "equal"), 3.0 / 67.0,
		     1e-12); /* 128 / 2 = 64 micro-batches */
	/* the head makes the last stage longer: never below the formula, and near it */
	assert_true(x.value >= t(&x, "equal") * 0.98 && x.value < 3 * t(&x, "equal"));
	assert_true(explain(&s, &now, "idle_to_ideal", &x));
	assert_close(t(&x, "equal"), 3.0 / 64.0, 1e-12);
}

/* What the paper says, the last of what stands beside. */
static const char *beside(const struct explanation *x)
{
	assert_true(x->besides > 0);
	return x->beside[x->besides - 1].meaning;
}

/* What is in flight follows from the order of work: each schedule's own formula gives
 * what the estimate counted, exactly or as a bound. */
static void test_in_flight_of_every_schedule(void **state)
{
	struct scenario s;
	struct explanation x;

	(void)state;
	for (int kind = 0; kind < SCHEDULE_COUNT; kind++) {
		const struct schedule_law *law = schedule_law(kind, 4, 2);

		case_dense(&s); /* PP 4 */
		s.plan.schedule = kind;
		s.plan.vpp = 2;
		s.plan.split = SPLIT_BALANCED;
		train_estimate(&s, &now);
		assert_true(now.legal);
		for (int stage = 0; stage < now.stages; stage++) {
			char key[32];

			snprintf(key, sizeof key, "stages.%d.in_flight", stage);
			assert_true(explain(&s, &now, key, &x));
			assert_string_equal(beside(&x), law->held);
			if (law->at_most)
				assert_true(x.value <= t(&x, "at most") + 1e-9);
			else
				assert_close(t(&x, "n"), x.value, 1e-12);
		}
		assert_true(explain(&s, &now, "bubble_ratio", &x));
		assert_string_equal(x.source, law->source);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_number_is_explained),
		cmocka_unit_test(test_every_number_of_a_server_is_explained),
		cmocka_unit_test(test_an_illegal_plan_is_explained_without_old_numbers),
		cmocka_unit_test(test_keys_are_read_as_text),
		cmocka_unit_test(test_knobs_of_users_have_a_source),
		cmocka_unit_test(test_unknown_keys_are_refused),
		cmocka_unit_test(test_states_of_a_dense_model),
		cmocka_unit_test(test_flops_of_attention),
		cmocka_unit_test(test_the_bubble_s_closed_form),
		cmocka_unit_test(test_in_flight_of_every_schedule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
