/* test_serve_explain.c - the formulas that Explain shows of a server give its numbers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/formula.h"
#include "engine/explain/explain.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/server.h"

static double evaluate(const struct explanation *x)
{
	struct formula_symbol symbols[sizeof x->term / sizeof x->term[0]];
	double value;

	for (int i = 0; i < x->terms; i++)
		symbols[i] =
			(struct formula_symbol){ x->term[i].symbol, x->term[i].value };
	return formula_evaluate(x->formula, symbols, x->terms, &value, NULL) ? value
									     : NAN;
}

/* Numbers whose formula is one; the others are told in words. */
static const char *const formulas[] = {
	"ttft_seconds",
	"tpot_seconds",
	"ttft_seconds_low",
	"ttft_seconds_high",
	"tpot_seconds_low",
	"tpot_seconds_high",
	"decode_seconds",
	"request_seconds",
	"prefill_share",
	"output_tokens_per_second",
	"output_tokens_per_second_low",
	"output_tokens_per_second_high",
	"output_tokens_per_second_per_gpu",
	"output_tokens_per_second_per_user",
	"prompt_tokens_per_second",
	"requests_per_second",
	"running",
	"waiting",
	"activations_bytes",
	"framework_bytes",
	"kv_bytes",
	"kv_tokens",
	"total_bytes",
	"allocated_bytes",
	"headroom_bytes",
	"dollars_per_million_tokens",
};

static struct estimate now;

static void formulas_give_their_numbers(void **state)
{
	struct scenario s;

	(void)state;
	seed = 21;
	for (int i = 0; i < 1500; i++) {
		server_random(&s, &now);
		/* a queue without end has no numbers */
		if (!isfinite(now.serving.ttft_seconds))
			continue;
		for (size_t k = 0; k < sizeof formulas / sizeof formulas[0]; k++) {
			struct explanation e;
			double value;

			if (!explain(&s, &now, formulas[k], &e))
				fail_msg("%s is not explained", formulas[k]);
			value = evaluate(&e);
			if (!(fabs(value - e.value) <= 1e-3 * fabs(e.value) + 1e-12))
				fail_msg("%s of %s with %s: %s gives %g, not %g",
					 formulas[k], s.model.name, s.stack.name,
					 e.formula, value, e.value);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formulas_give_their_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
