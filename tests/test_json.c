/* test_json.c - JSON as a document: all that is JSON, nothing that is not, and answers
 * in one line with the place and a remedy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "presets/document.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"
#include "tests/support/run.h"

static bool parse(const char *text, bool loose, struct document *document,
		  struct error *error)
{
	error->text[0] = '\0';
	return document_parse_json(document, "file", text, strlen(text), loose, error);
}

/* The value of key "a" is this text. */
static void check_text(const char *text, const char *value)
{
	struct document document;
	struct error error;

	if (!parse(text, false, &document, &error))
		fail_msg("%s: %s", text, error.text);
	assert_non_null(node_get(document.root, "a"));
	assert_string_equal(node_get(document.root, "a")->text, value);
	document_free(&document);
}

static void test_texts(void **state)
{
	(void)state;
	check_text("{\"a\": \"x\\/y \\\"q\\\" \\\\ \\b\\f\\n\\r\\t\"}",
		   "x/y \"q\" \\ \b\f\n\r\t");
	check_text("{\"a\": \"\\u0041\\u00e9\\u20AC\"}", "A\xc3\xa9\xe2\x82\xac");
	check_text("{\"a\": \"\xf0\x9f\x98\x80 \\u007f\"}", "\xf0\x9f\x98\x80 \x7f");
	check_text("{\"a\": \"# not: a, comment {} []\"}", "# not: a, comment {} []");
	check_text("\xef\xbb\xbf{\"a\":\"b\"}", "b");
	check_text("\t{\r\n\t\"a\"\t:\r\n\t\t1\r\n\t}\r\n\t", "1");
	check_text("{\"NaN\": \"-Infinity\", \"a\": \"NaN, Infinity\"}",
		   "NaN, Infinity");
	check_text("{\"\": 2, \"a\": -1.5e+10}", "-1.5e+10");
	check_text("{\"b\": 5., \"a\": 010}", "010"); /* as cJSON has it */
	/* Python writes these, and published configurations have them */
	check_text("{\"b\": [0.0, Infinity, -Infinity], \"a\": NaN}", "NaN");
}

#define NO_JSON                                                                      \
	"this is no JSON; expected a number, true, false, null, \"text\", \"key\": " \
	"or "                                                                        \
	"a comma"

static const struct {
	const char *text, *says;
} bad[] = {
	{ "", "file:1: the file ends here" },
	{ " \n ", "file:2: the file ends here" },
	{ "{\"a\": 1,\n \"a\": 2}", "file:2: key 'a' stands here again" },
	{ "{\"a\": ", "file:1: the file ends here; expected the rest" },
	{ "{\"a\": {\"b\": 1\n", "file:2: the file ends here" },
	{ "{\"a\": [1,\n", "file:2: the file ends here" },
	{ "{\"a\": \"x", "file:1: a text has no end in its line" },
	{ "{\"a\": 1,}", "a comma before a closing bracket; remove it (column 9)" },
	{ "{\"a\": 1,\n}\n", "file:2: a comma before a closing bracket" },
	{ "{\"a\": [1, ]}", "a comma before a closing bracket; remove it (column 11)" },
	{ "{\"a\": [,1]}", NO_JSON " (column 8)" },
	{ "{\"a\": [1,,1]}", NO_JSON " (column 10)" },
	{ "{\"a\" 1}", NO_JSON " (column 6)" },
	{ "{\"a\": 1 \"b\": 2}", NO_JSON " (column 9)" },
	{ "{\"a\": [1 2]}", NO_JSON " (column 10)" },
	{ "{\"a\": [1}", NO_JSON " (column 8)" },
	{ "{'a': 1}", NO_JSON " (column 2)" },
	{ "{a: 1}", NO_JSON " (column 2)" },
	{ "{1: 1}", NO_JSON " (column 2)" },
	{ "{\"a\": 1} {}", NO_JSON " (column 10)" },
	{ "{\"a\": 1}\n---\n{}", "file:2: " NO_JSON },
	{ "{\"a\": 1} # x", "JSON has no comments; remove it (column 10)" },
	{ "{// x\n\"a\": 1}", "JSON has no comments; remove it (column 2)" },
	{ "{\"a\": 1, /* x */ \"b\": 1}", "JSON has no comments" },
	{ "{\"a\": 0x10}", NO_JSON " (column 7)" },
	{ "{\n\"b\": 1,\n\"a\": 4k}", "file:3: " NO_JSON },
	{ "{\"a\": 4k}", NO_JSON " (column 7)" },
	{ "{\"a\": +1}", NO_JSON " (column 7)" },
	{ "{\"a\": .5}", NO_JSON " (column 7)" },
	{ "{\"a\": 1e}", NO_JSON " (column 7)" },
	{ "{\"a\": 1e+}", NO_JSON " (column 7)" },
	{ "{\"a\": 1-2}", NO_JSON " (column 7)" },
	{ "{\"a\": -}", NO_JSON " (column 7)" },
	{ "{\"a\": True}", NO_JSON " (column 7)" },
	{ "{\"a\": truely}", NO_JSON " (column 7)" },
	{ "{\"a\": yes}", NO_JSON " (column 7)" },
	{ "{\"a\": &x 1, \"b\": *x}", NO_JSON " (column 7)" },
	{ "{\"a\": !!int \"3\"}", NO_JSON " (column 7)" },
	{ "{\"a\": 1NaN}", NO_JSON },
	{ "{\"a\": NaN1}", NO_JSON },
	{ "{\"a\": NaNNaN}", NO_JSON },
	{ "{\"a\": --Infinity}", NO_JSON },
	{ "{NaN: 1}", NO_JSON },
	{ "{\"a\": \"x\ny\"}", "a text has no end in its line" },
	{ "{\"a\": \"x\ty\"}", "a text has no end in its line" },
	{ "{\"a\": \"x\x01y\"}", "a text has no end in its line" },
	{ "{\"a\": \"\x1b[31m\"}", "a text has no end in its line" },
	{ "{\"a\": \x1b[31m}", NO_JSON },
	{ "{\"a\": 1\x01}", "control characters are not allowed" },
	{ "{\"a\": \"\xff\"}", "expected UTF-8 text" },
	{ "{\"a\": \"\xc3\"}", "expected UTF-8 text" },
	{ "{\"a\": \"\\x41\"}", "no such escape" },
	{ "{\"a\": \"\\", "a text has no end in its line" },
	{ "{\"a\": \"b\\u12g4\"}", "needs four digits" },
	{ "{\"a\": \"\\u12", "a text has no end in its line" },
	{ "{\"a\": \"\\ud83d\"}", "no such escape" },
	{ "{\"a\": \"\\ude00\"}", "no such escape" },
	{ "{\"a\": \"\\ud83d\\u0041\"}", "no such escape" },
	{ "{\"\\ud83d\": 1}", "no such escape" },
	{ "{\"a\": \"\\u0000\"}", "a value holds a zero byte" },
};

/* One line, of the file, without a sign that a terminal obeys. */
static void check_error(const char *text, const char *says)
{
	struct document document;
	struct error error;

	if (parse(text, false, &document, &error))
		fail_msg("taken: %s", text);
	assert_null(document.root);
	if (!strstr(error.text, says) || strncmp(error.text, "file:", 5) != 0)
		fail_msg("'%s' does not say %s", error.text, says);
	for (const char *c = error.text; *c != '\0'; c++)
		assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
}

static void test_no_json(void **state)
{
	char deep[400];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		check_error(bad[i].text, bad[i].says);
	memset(deep, '[', sizeof deep);
	deep[sizeof deep - 1] = '\0';
	check_error(deep, "nested deeper than 64 levels");
}

/* JSON, but not what libyaml reads. */
static void test_not_read(void **state)
{
	enum { LONG = 100000 };
	char *text = malloc(LONG + 64);

	(void)state;
	assert_non_null(text);
	memset(text, 'k', LONG);
	memcpy(text, "{\"", 2);
	sprintf(text + LONG, "\": 1, \"a\": {\"b\": [1, 2]}}");
	check_error(text, "file:1: a key of more than 1024 bytes, or with its colon in "
			  "another line, is not read; shorten it");
	free(text);
	check_error("{\"a\"\n: 1}", "or with its colon in another line, is not read");
	check_error(
		"{\n\"a\": \"\\ud83d\\ude00\"}",
		"surrogates (\\ud800-\\udfff) is not read, write the character itself "
		"(column 9)");
	check_error("{\"a\": \"\x7f\"}", "control characters are not allowed");
}

static void test_bytes(void **state)
{
	struct document document;
	struct error error;

	(void)state;
	assert_false(document_parse_json(&document, "file", "{\"a\": 1\0}", 9, false,
					 &error));
	assert_false(document_parse_json(&document, "file", "{}\0", 3, false, &error));
	/* any end of a text, with nothing behind it to read */
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		for (size_t length = 0; length < strlen(bad[i].text); length++) {
			char *copy = malloc(length + 1);

			memcpy(copy, bad[i].text, length);
			copy = realloc(copy, length ? length : 1);
			if (document_parse_json(&document, "file", copy, length, true,
						&error))
				document_free(&document);
			free(copy);
		}
}

/* More values than a document takes; the file itself is small. */
static void test_many(void **state)
{
	size_t length = 2 * (DOCUMENT_MAX_NODES + 2);
	char *text = malloc(length + 2);
	struct document document;
	struct error error;

	(void)state;
	assert_non_null(text);
	text[0] = '[';
	for (size_t i = 1; i < length; i += 2)
		memcpy(text + i, "1,", 2);
	text[--length - 1] = ']'; /* in place of a comma */
	assert_false(
		document_parse_json(&document, "file", text, length, false, &error));
	assert_non_null(strstr(error.text, "file:1: more than 1048576 values"));
	free(text);
}

/* DeepSpeed reads its file by hjson. */
static void test_comments(void **state)
{
	struct scenario s;

	(void)state;
	read_with("llama2-7b"); /* the files name none */
	read_good("deepspeed",
		  "// a head\n{ # to the end\n \"train_batch_size\": 64, /* or\n"
		  "more */ \"train_micro_batch_size_per_gpu\": 2,\n"
		  " \"zero_optimization\": {\"stage\": 2,},\n}\n// end",
		  &s);
	expect(&s, "zero", "2");
	expect(&s, "mbs", "2");
	/* what stands in a comment is none of a text's quotes, and the other way round
	 */
	read_good("deepspeed",
		  "{ # don't \"end and/or {\n // \"\n /* \" */ \"x\": \"// # /*\",\n"
		  " \"train_batch_size\": 64}",
		  &s);
	read_refused("deepspeed", "{\"train_batch_size\": 64 /* no end",
		     "file:1: no comment, or one without an end");
	read_refused("deepspeed", "{\"train_batch_size\": 64 \"x\": 1}", "file:1: ");
	read_refused("hf", "{\"model_type\": \"llama\", /* x */ \"hidden_size\": 8}",
		     "file:1: JSON has no comments");
}

/* By name or by its beginning; anything else is YAML as before. */
static void test_which(void **state)
{
	static const struct {
		const char *name, *text;
		bool good;
	} cases[] = {
		{ "x.json", "{a: 1}", false },   { "x.yaml", "{a: 1}", true },
		{ "x", " {\"a\": yes}", false }, { "x", "{a: yes}", true },
		{ "x", "{\n\t\"a\": 1}", true }, { "x", "a: {\"b\": yes,}", true },
		{ "x.json", "a: 1", false },     { "x", "{}", true },
	};
	struct document document;
	struct error error;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		bool good = document_parse(&document, cases[i].name, cases[i].text,
					   strlen(cases[i].text), &error);

		if (good != cases[i].good)
			fail_msg("%s: %s", cases[i].name, cases[i].text);
		if (good)
			document_free(&document);
	}
}

/* The program: status 2, one line on standard error, nothing on standard output. */
static void test_program(void **state)
{
	static const char *const texts[] = {
		"{\"model_type\": \"llama\", \"hidden_size\": 1e400}",
		"{\"model_type\": \"llama\", \"hidden_size\": NaN}",
		"{\"model_type\": \"llama\", \"hidden_size\": \"\\u001b[31m\\u0007\"}",
		"{\"model_type\": \"llama\", \"\x1b[31m\": 1}",
		"{\"model_type\": \"ll",
	};
	char path[] = "/tmp/shardscope-json-XXXXXX", arguments[128];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		ssize_t length = (ssize_t)strlen(texts[i]);

		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, texts[i], (size_t)length, 0), length);
		for (int model = 0; model < 2; model++) {
			snprintf(arguments, sizeof arguments,
				 model ? "eval --model %s" : "import hf %s", path);
			struct ran ran = run(arguments);

			assert_int_equal(ran.status, 2);
			assert_string_equal(ran.out, "");
			assert_non_null(strstr(ran.err, path));
			assert_ptr_equal(strchr(ran.err, '\n'),
					 ran.err + strlen(ran.err) - 1);
			assert_null(strpbrk(ran.err, "\x1b\x07"));
			ran_free(&ran);
		}
	}
	/* 100 MB that take no room */
	assert_int_equal(ftruncate(fd, 100 << 20), 0);
	snprintf(arguments, sizeof arguments, "import hf %s", path);
	run_check(arguments, 2, "", "is larger than 4 MiB");
	snprintf(arguments, sizeof arguments, "eval --model %s", path);
	run_check(arguments, 2, "", NULL);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),   cmocka_unit_test(test_not_read),
		cmocka_unit_test(test_no_json), cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_many),    cmocka_unit_test(test_comments),
		cmocka_unit_test(test_which),   cmocka_unit_test(test_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
