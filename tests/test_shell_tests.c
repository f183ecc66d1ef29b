/* test_shell_tests.c - what launch scripts ask by [ ], [[ ]] and (( )), against bash
 * itself: random conditions over known words and numbers take the branch that it takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/imported.h"
#include "tests/support/random.h"

enum { CONDITIONS = 1500, LENGTH = 400 };

#define VARIABLES "A=3\nB=10\nM=-2\nC=abc\nD=\nE=ab\nF=abc\n"

static char condition[CONDITIONS][LENGTH];

static const char *one(const char *const *list, size_t count)
{
	return list[next(count)];
}
#define ONE(...)                                  \
	one((const char *const[]){ __VA_ARGS__ }, \
	    sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static const char *number(void)
{
	return ONE("$A", "$B", "$M", "3", "10", "${A}", "-2");
}

static const char *word(void)
{
	return ONE("$C", "$D", "$E", "$F", "abc", "ab", "b", "${C}", "$A");
}

static const char *order(void)
{
	return ONE("-eq", "-ne", "-lt", "-le", "-gt", "-ge");
}

static void add(char *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void add(char *out, const char *format, ...)
{
	size_t length = strlen(out);
	va_list args;

	va_start(args, format);
	vsnprintf(out + length, LENGTH - length, format, args);
	va_end(args);
}

/* One question inside [[ ]], where words are not split. */
static void ask_double(char *out)
{
	switch (next(6)) {
	case 0: add(out, "%s %s %s", number(), order(), number()); break;
	case 1: add(out, "%s %s", ONE("-z", "-n"), word()); break;
	case 2:
		add(out, "%s %s %s", word(), ONE("==", "!="),
		    ONE("a*", "*c", "?b", "?b*", "*", "abc", "*b*c*", "a?"));
		break;
	case 3:
		add(out, "%s =~ %s", word(), ONE("b", "abc", ".*b.*", "x", ".*c"));
		break;
	case 4: add(out, "%s", word()); break;
	default: add(out, "%s %s %s", word(), ONE("==", "!=", "=", "<", ">"), word());
	}
}

static void ask_quoted(char *out)
{
	switch (next(4)) {
	case 0: add(out, "%s %s %s", number(), order(), number()); break;
	case 1: add(out, "%s \"%s\"", ONE("-z", "-n"), word()); break;
	case 2: add(out, "\"%s\"", word()); break;
	default: add(out, "\"%s\" %s \"%s\"", word(), ONE("=", "==", "!="), word());
	}
}

static void ask_arithmetic(char *out)
{
	add(out, "%s %s %s", ONE("A", "B", "M", "A + 7", "B % 4", "2 * A"),
	    ONE("<", "<=", ">", ">=", "==", "!="), ONE("A", "B", "3", "10", "M"));
}

/* Joined by what a kind of test joins with, negated and in brackets here and there. */
static void ask(char *out, void (*one_of)(char *out), const char *and, const char * or,
		int depth)
{
	bool brackets = depth > 0 && and[0] == '&' && next(4) == 0;

	if (next(5) == 0 && one_of != ask_arithmetic)
		add(out, "! ");
	if (brackets) {
		add(out, "( ");
		ask(out, one_of, and, or, depth - 1);
		add(out, " )");
	} else {
		one_of(out);
	}
	if (depth == 0 || next(2))
		return;
	add(out, " %s ", next(2) ? and : or);
	ask(out, one_of, and, or, depth - 1);
}

static void make_condition(char *out)
{
	out[0] = '\0';
	switch (next(5)) {
	case 4:
		add(out, "%secho %s %s | grep %s %s", ONE("", "! "), word(),
		    ONE("", "$C", "\"$E\""), ONE("-q", "-qF", "-q --", "-q -e", "-qE"),
		    ONE("b", "abc", "x", "bc", "$E", "3"));
		break;
	case 0:
		add(out, "[ ");
		ask(out, ask_quoted, "-a", "-o", next(2) ? 1 : 0);
		add(out, " ]");
		break;
	case 1:
		add(out, "((");
		ask(out, ask_arithmetic, "&&", "||", 0);
		add(out, "))");
		break;
	default:
		add(out, "[[ ");
		ask(out, ask_double, "&&", "||", 2);
		add(out, " ]]");
	}
	/* lists of them */
	if (next(4) == 0)
		add(out, " %s [[ %s -%s %s ]]", ONE("&&", "||"), number(),
		    ONE("gt", "eq"), number());
}

/* What bash says of each: a digit. */
static void ask_bash(char *answers)
{
	char path[] = "/tmp/shardscope-tests-XXXXXX", command[80];
	int file = mkstemp(path);
	FILE *script = fdopen(file, "w"), *bash;

	assert_non_null(script);
	fputs("LC_ALL=C\n" VARIABLES, script);
	for (int i = 0; i < CONDITIONS; i++)
		fprintf(script, "if %s; then printf 1; else printf 0; fi\n",
			condition[i]);
	fclose(script);
	snprintf(command, sizeof command, "bash %s 2> /dev/null", path);
	bash = popen(command, "r");
	assert_non_null(bash);
	assert_int_equal(fread(answers, 1, CONDITIONS, bash), CONDITIONS);
	pclose(bash);
	remove(path);
}

static int64_t branch_of(const char *text)
{
	char script[1600];
	struct scenario s;

	snprintf(script, sizeof script,
		 "#!/bin/bash\n" VARIABLES "if %s; then MBS=2; else MBS=4; fi\n"
		 "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 "
		 "--hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
		 "--micro-batch-size $MBS --global-batch-size 128 --bf16\n",
		 text);
	read_good("megatron", script, &s);
	return s.plan.micro_batch;
}

static void test_branches_are_those_of_bash(void **state)
{
	static char answers[CONDITIONS + 1];
	int yes = 0;

	(void)state;
	seed = 91;
	for (int i = 0; i < CONDITIONS; i++)
		make_condition(condition[i]);
	ask_bash(answers);
	for (int i = 0; i < CONDITIONS; i++) {
		int64_t taken = branch_of(condition[i]);

		yes += answers[i] == '1';
		if (taken != (answers[i] == '1' ? 2 : 4))
			fail_msg("%s is %s to bash", condition[i],
				 answers[i] == '1' ? "true" : "false");
	}
	assert_in_range(yes, CONDITIONS / 5, CONDITIONS * 4 / 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_branches_are_those_of_bash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
