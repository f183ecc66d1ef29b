/* test_help.c - what is made from the tables: help, man page, completion. Each names
 * every command, option and knob, so that none can go stale. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/knob/knob.h"
#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tui/command.h"

/* Another spelling of a name: dashes for underscores, `dash` for each dash. */
static void spell(const char *name, const char *dash, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (; *name != '\0' && used < size; name++)
		used += (size_t)snprintf(out + used, size - used,
					 *name == '-' ? "%s" : "%.1s",
					 *name == '-' ? dash : name);
}

static void expect(const char *where, const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("%s does not hold '%s'", where, what);
}

static void test_help_of_each_command(void **state)
{
	(void)state;
	for (int i = 0; i < command_count(); i++) {
		const struct command *c = &command_table[i];
		char arguments[64], name[80];
		struct ran ran;

		snprintf(arguments, sizeof arguments, "%s --help", c->name);
		ran = run(arguments);
		assert_int_equal(ran.status, 0);
		assert_string_equal(ran.err, "");
		expect(c->name, ran.out, c->help);
		snprintf(name, sizeof name, "usage: shardscope %s", c->name);
		expect(c->name, ran.out, name);
		for (int j = 0; c->own && c->own[j].name; j++) {
			snprintf(name, sizeof name, "--%s", c->own[j].name);
			expect(c->name, ran.out, name);
		}
		for (int j = 0; c->knobs && j < knob_count(); j++) {
			snprintf(name, sizeof name, "\n  --%s", knob_table[j].key);
			expect(c->name, ran.out, name);
		}
		ran_free(&ran);
	}
}

static void test_program_help(void **state)
{
	struct ran ran = run("--help");

	(void)state;
	assert_int_equal(ran.status, 0);
	for (int i = 0; i < command_count(); i++)
		expect("--help", ran.out, command_table[i].name);
	ran_free(&ran);
	ran = run("--version");
	assert_int_equal(ran.status, 0);
	assert_string_equal(ran.out, "shardscope " SHARDSCOPE_VERSION "\n");
	ran_free(&ran);
}

/* Lines that begin with a dot are requests that man knows. */
static void check_requests(const char *page)
{
	static const char *const known[] = { ".TH ",  ".SH ",  ".SS ", ".TP\n",
					     ".B ",   ".I ",   ".RI ", ".br\n",
					     ".RS\n", ".RE\n", ".ad " };

	for (const char *at = page; at && *at != '\0'; at = strchr(at, '\n')) {
		bool found = false;

		at += *at == '\n';
		assert_int_not_equal(*at, '\'');
		if (*at != '.')
			continue;
		for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
			found = found || strncmp(at, known[i], strlen(known[i])) == 0;
		if (!found)
			fail_msg("no request of man: %.20s", at);
	}
}

static void test_manual(void **state)
{
	struct ran ran = run("manual");
	char name[160];

	(void)state;
	assert_int_equal(ran.status, 0);
	assert_int_equal(strncmp(ran.out, ".TH SHARDSCOPE 1 ", 17), 0);
	check_requests(ran.out);
	for (const char *c = ran.out; *c != '\0'; c++)
		assert_true((unsigned char)*c < 0x80);
	for (int i = 0; i < knob_count(); i++) {
		char dashed[MAX_NAME];

		spell(knob_table[i].key, "\\-", dashed, sizeof dashed);
		snprintf(name, sizeof name, ".TP\n\\fB\\-\\-%s\\fR", dashed);
		expect("manual", ran.out, name);
	}
	for (int i = 0; i < command_count(); i++) {
		const struct own_option *own = command_table[i].own;

		snprintf(name, sizeof name, ".TP\n\\fB%s\\fR", command_table[i].name);
		expect("manual", ran.out, name);
		for (; own && own->name; own++) {
			char dashed[MAX_NAME];

			spell(own->name, "\\-", dashed, sizeof dashed);
			snprintf(name, sizeof name, "\\fB\\-\\-%s\\fR", dashed);
			expect("manual", ran.out, name);
		}
	}
	expect("manual", ran.out, "\\[u2191] k"); /* a key of the explorer */
	ran_free(&ran);
}

static void test_completion_names_all(void **state)
{
	static const struct {
		const char *shell, *before, *after;
	} shells[] = { { "bash", "--", "" },
		       { "zsh", "--", "=" },
		       { "fish", "-l ", " " } };

	(void)state;
	for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
		char arguments[32], name[96];
		struct ran ran;

		snprintf(arguments, sizeof arguments, "completion %s", shells[i].shell);
		ran = run(arguments);
		assert_int_equal(ran.status, 0);
		for (int j = 0; j < command_count(); j++)
			expect(shells[i].shell, ran.out, command_table[j].name);
		for (int j = 0; j < knob_count(); j++) {
			char key[MAX_NAME];

			snprintf(key, sizeof key, "%s", knob_table[j].key);
			for (char *c = key; *c != '\0'; c++)
				*c = *c == '_' ? '-' : *c;
			snprintf(name, sizeof name, "%s%s%s", shells[i].before, key,
				 shells[i].after);
			expect(shells[i].shell, ran.out, name);
		}
		ran_free(&ran);
	}
	struct ran ran = run("completion csh");
	assert_int_equal(ran.status, 2);
	ran_free(&ran);
}

/* What bash would offer for a line, up to the cursor at its end. */
static char *offered(const char *words)
{
	static char out[8192];
	char command[1024];
	size_t length;
	FILE *stream;

	snprintf(command, sizeof command,
		 "bash -c 'shardscope() { \"%s\" \"$@\"; }; "
		 "eval \"$(shardscope completion bash)\"; "
		 "COMP_WORDS=(shardscope %s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
		 "_shardscope; echo \" ${COMPREPLY[*]} \"' 2>/dev/null",
		 run_program(), words);
	stream = popen(command, "r");
	assert_non_null(stream);
	length = fread(out, 1, sizeof out - 1, stream);
	out[length] = '\0';
	pclose(stream);
	return out;
}

static void test_bash_offers(void **state)
{
	static const struct {
		const char *words, *has, *lacks;
	} t[] = {
		{ "ev", " eval ", " check " },
		{ "\"\"", " search ", NULL },
		{ "eval --prec", " --precision ", " --tp " },
		{ "eval --precision \"\"", " mxfp8 ", " --tp " },
		{ "eval --precision = f", " fp8 ", " bf16 " },
		{ "eval --cp_kind \"\"", " ulysses ", NULL },
		{ "eval --model llama3.1-", " llama3.1-70b ", " gpt3-175b " },
		{ "--tp", " --tp ", NULL },
		{ "export \"\"", " megatron ", " --tp " },
		{ "export megatron llama3-70b-64-h", " llama3-70b-64-h100 ", NULL },
		{ "import meg", " megatron ", NULL },
		{ "screen memory --format \"\"", " svg ", NULL },
		{ "list \"\"", " rules ", NULL },
		{ "check --rules Makef", " Makefile ", NULL },
	};

	(void)state;
	if (system("bash -c : > /dev/null 2>&1") != 0)
		skip();
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		const char *out = offered(t[i].words);

		expect(t[i].words, out, t[i].has);
		if (t[i].lacks && strstr(out, t[i].lacks))
			fail_msg("%s offers %s", t[i].words, t[i].lacks);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help_of_each_command),
		cmocka_unit_test(test_program_help),
		cmocka_unit_test(test_manual),
		cmocka_unit_test(test_completion_names_all),
		cmocka_unit_test(test_bash_offers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
