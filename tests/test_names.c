/* test_names.c - whatever a thing is called, what was written is read back equal:
 * names, paths and kept options full of quotes, backslashes, YAML's own signs and
 * controls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/predict/predict.h"
#include "engine/train/train.h"
#include "presets/folder.h"
#include "presets/format_table.h"
#include "presets/kept.h"
#include "presets/library.h"
#include "presets/pairs/mapping.h"
#include "presets/report.h"
#include "presets/scenario_file.h"
#include "presets/script/shell.h"
#include "presets/stream.h"
#include "presets/workspace.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/run.h"
#include "tui/canvas.h"

enum { ROUNDS = 400 };

/* Pieces that mean something to YAML, JSON, TOML or a terminal, and some that don't. */
static const char *const pieces[] = {
	"\"",       "\\",       "'",      ":",      ": ",         "#",      " #",
	"-",        "- ",       "{",      "}",      "[",          "]",      ",",
	"&a",       "*a",       "!t",     "|",      ">",          "%",      "@",
	"`",        "\n",       "\t",     "\r",     "\033[",      "\x07",   "\x7f",
	"\xc2\x85", "\xc2\x9b", "\u00e9", "\u4f60", "\U0001f600", "\u2028", "\u2029",
	"\ufeff",   "\u202e",   "\ufffe", "a",      "Z",          "0",      " ",
	"\\n",      "\\u0041",  "null",   "true",   "~",          "<<",     "---",
	"...",      "=",        "?",      "\\\"",   "/",
};

/* At most size - 1 bytes of whole pieces, at least one. */
static void any_text(char *out, size_t size)
{
	size_t used = 0, many = 1 + next(12);

	for (size_t i = 0; i < many; i++) {
		const char *piece = pieces[next(sizeof pieces / sizeof pieces[0])];

		if (used + strlen(piece) >= size)
			break;
		strcpy(out + used, piece);
		used += strlen(piece);
	}
	out[used] = '\0';
}

/* As every reader takes a name: without controls. */
static void any_name(char *out, size_t size)
{
	memset(out, 0, size);
	any_text(out, size);
	error_clean(out);
}

static void any_named(struct scenario *s)
{
	struct error error = { "" };

	if (!scenario_start(s, &error))
		fail_msg("%s", error.text);
	any_name(s->model.name, sizeof s->model.name);
	any_name(s->cluster.name, sizeof s->cluster.name);
	any_name(s->stack.name, sizeof s->stack.name);
}

static void test_a_scenario_keeps_its_names(void **state)
{
	(void)state;
	seed = 91;
	for (int i = 0; i < ROUNDS; i++) {
		struct scenario s, back;
		struct error error = { "" };

		any_named(&s);
		char *text = scenario_write(&s);
		assert_non_null(text);
		if (!scenario_parse(&back, "t.yaml", text, strlen(text), NULL, &error))
			fail_msg("'%s': %s\n%s", s.model.name, error.text, text);
		assert_string_equal(back.model.name, s.model.name);
		assert_memory_equal(&back.model, &s.model, sizeof s.model);
		assert_string_equal(back.cluster.name, s.cluster.name);
		assert_string_equal(back.stack.name, s.stack.name);
		free(text);
	}
}

/* A path comes back byte by byte: it is opened, not shown. */
static void test_a_workspace_keeps_names_and_path(void **state)
{
	char path[] = "/tmp/shardscope-names-XXXXXX";
	struct workspace *w = calloc(1, sizeof *w), *back = calloc(1, sizeof *back);
	int file = mkstemp(path);

	(void)state;
	assert_true(file >= 0 && w && back);
	close(file);
	seed = 92;
	for (int i = 0; i < ROUNDS; i++) {
		struct error error = { "" };

		any_named(&w->scenario);
		w->pinned = i % 2;
		any_named(&w->baseline);
		any_text(w->file, sizeof w->file);
		assert_true(workspace_save(path, w, &error));
		if (workspace_load(path, back, &error) != WORKSPACE_READ)
			fail_msg("'%s' '%s': %s", w->file, w->scenario.model.name,
				 error.text);
		assert_string_equal(back->file, w->file);
		assert_string_equal(back->scenario.model.name, w->scenario.model.name);
		if (w->pinned)
			assert_string_equal(back->baseline.cluster.name,
					    w->baseline.cluster.name);
	}
	unlink(path);
	free(w);
	free(back);
}

static void test_kept_options_come_back(void **state)
{
	char path[] = "/tmp/shardscope-kept-XXXXXX";
	struct import_report *kept = calloc(1, sizeof *kept),
			     *back = calloc(1, sizeof *back);
	int file = mkstemp(path);

	(void)state;
	assert_true(file >= 0 && kept && back);
	close(file);
	seed = 93;
	for (int i = 0; i < ROUNDS; i++) {
		struct scenario s;
		struct error error = { "" };
		char key[40], value[60];

		any_named(&s);
		any_name(key, sizeof key);
		any_name(value, sizeof value);
		memset(kept, 0, sizeof *kept);
		memset(back, 0, sizeof *back);
		strcpy(kept->kept, "megatron");
		import_note(kept, IMPORT_NOT_MODELLED, key, "%s", value);
		char *text = kept_write(&s, kept);
		assert_non_null(text);
		assert_true(file_save(path, text, strlen(text), &error));
		free(text);
		kept_read(path, back);
		assert_int_equal(import_count(back, IMPORT_NOT_MODELLED), 1);
		for (int n = 0; n < back->count; n++) {
			if (back->note[n].kind != IMPORT_NOT_MODELLED)
				continue;
			assert_string_equal(back->note[n].key, key);
			assert_string_equal(back->note[n].text, value);
		}
	}
	unlink(path);
	free(kept);
	free(back);
}

/* One entry of text, in the two forms that are read by document.c. */
static void test_exports_in_yaml_and_json_keep_texts(void **state)
{
	(void)state;
	seed = 94;
	for (int i = 0; i < ROUNDS; i++) {
		struct entries *entries = calloc(1, sizeof *entries);
		char value[48];

		assert_non_null(entries);
		any_text(value, sizeof value);
		entries_add(entries, "name", value, true);
		for (int json = 0; json < 2; json++) {
			struct document document;
			struct error error = { "" };
			char *text = NULL;
			size_t size;
			FILE *stream = open_memstream(&text, &size);

			assert_non_null(stream);
			if (json)
				entries_write_json(entries, stream);
			else
				entries_write_yaml(entries, stream);
			fclose(stream);
			if (!document_parse(&document, "t", text, size, &error))
				fail_msg("%s\n%s", error.text, text);
			assert_string_equal(node_get(document.root, "name")->text,
					    entries->item[0].value);
			document_free(&document);
			free(text);
		}
		free(entries);
	}
}

/* What was found first: a model's file with a quote in its name. */
static void test_a_file_with_a_quote_in_its_name(void **state)
{
	static const char *const names[] = { "a\"b", "a\\b", "-c: d #e", "it's" };
	char folder[] = "/tmp/shardscope-names-XXXXXX", path[128], arguments[512];

	(void)state;
	assert_non_null(mkdtemp(folder));
	struct ran model = run("show llama3-8b");
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct error error = { "" };
		struct scenario *s = calloc(1, sizeof *s);

		snprintf(path, sizeof path, "%s/%s.yaml", folder, names[i]);
		assert_true(file_save(path, model.out, strlen(model.out), &error));
		setenv("ODD", path, 1);
		snprintf(arguments, sizeof arguments,
			 "export yaml llama3-8b-8-h100 --model \"$ODD\"");
		struct ran made = run(arguments);
		assert_int_equal(made.status, 0);
		if (!scenario_parse(s, "made.yaml", made.out, strlen(made.out), NULL,
				    &error))
			fail_msg("%s: %s", names[i], error.text);
		assert_string_equal(s->model.name, names[i]);
		ran_free(&made);
		free(s);
		unlink(path);
	}
	ran_free(&model);
	assert_int_equal(rmdir(folder), 0);
}

/* Files of the user's own folder may be called like anything, too. */
static void test_a_name_is_quoted_where_yaml_needs_it(void **state)
{
	static const struct {
		const char *name, *written;
	} t[] = {
		{ "llama3.1-8b", "llama3.1-8b" },
		{ "org/Model_1", "org/Model_1" },
		{ "a: b", "\"a: b\"" },
		{ "-x", "\"-x\"" },
		{ "", "\"\"" },
		{ "8b", "\"8b\"" },
		{ "x\ty", "\"x\\u0009y\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		char *text = NULL;
		size_t size;
		FILE *stream = open_memstream(&text, &size);

		assert_non_null(stream);
		stream_put_text(stream, t[i].name);
		fclose(stream);
		assert_string_equal(text, t[i].written);
		free(text);
	}
}

static void test_a_byte_order_mark_is_no_text(void **state)
{
	struct scenario s, with;
	struct error error = { "" };

	(void)state;
	assert_true(scenario_start(&s, &error));
	char *text = scenario_write(&s), *marked;

	assert_true(asprintf(&marked, "\ufeff%s", text) > 0);
	if (!scenario_parse(&with, "b.yaml", marked, strlen(marked), NULL, &error))
		fail_msg("%s", error.text);
	assert_memory_equal(&with, &s, sizeof s);
	assert_false(scenario_parse(&with, "b.yaml", "\ufeff", 3, NULL, &error));
	free(marked);
	free(text);
}

static void test_no_name_turns_the_direction(void **state)
{
	char name[] = "e\u202eRTL\u2066x\u200f\u061c\u00e9\u2026";

	(void)state;
	/* or ends the line of a comment */
	char lines[] = "a\u2028b: 1\u2029\u2027";

	error_clean(name);
	assert_string_equal(name, "e???RTL???x?????\u00e9\u2026");
	error_clean(lines);
	assert_string_equal(lines, "a???b: 1???\u2027");
}

/* The next cell of a row, as RFC 4180 has it; a quote that makes text of what would be
 * a formula goes. Returns where the next one begins. */
static const char *csv_cell(const char *at, char *out, size_t size)
{
	size_t used = 0;
	bool quoted = *at == '"';

	for (at += quoted; *at != '\0'; at++) {
		if (quoted && *at == '"' && at[1] == '"')
			at++;
		else if (quoted ? *at == '"' : *at == ',' || *at == '\n')
			break;
		assert_true(used + 1 < size);
		out[used++] = *at;
	}
	out[used] = '\0';
	if (out[0] == '\'')
		memmove(out, out + 1, used);
	at += quoted;
	return *at == '\0' ? at : at + 1;
}

static void test_csv_keeps_names(void **state)
{
	static struct estimate estimate;
	struct scenario s;

	(void)state;
	seed = 97;
	for (int i = 0; i < ROUNDS; i++) {
		char cell[4096], head[128], *header, *row;
		const char *at, *over;
		int found = 0;

		any_named(&s);
		scenario_estimate(&s, &estimate);
		header = report_csv_header(MODE_TRAINING, NULL, 0);
		row = report_csv_row(MODE_TRAINING, &s, &estimate, NULL, 0);
		over = header;
		for (at = row; *at != '\0' && *at != '\n';) {
			const char *from = at;

			over = csv_cell(over, head, sizeof head);
			at = csv_cell(at, cell, sizeof cell);
			/* nothing that a spreadsheet would run stands at its start */
			from += *from == '"';
			if (strcmp(head, "model") == 0)
				assert_null(strchr("=+@", *from == '\0' ? ' ' : *from));
			if (strcmp(head, "model") == 0)
				assert_string_equal(cell, s.model.name);
			if (strcmp(head, "cluster") == 0)
				assert_string_equal(cell, s.cluster.name);
			if (strcmp(head, "stack") == 0)
				assert_string_equal(cell, s.stack.name);
			found += strcmp(head, "model") == 0 ||
				 strcmp(head, "cluster") == 0 ||
				 strcmp(head, "stack") == 0;
		}
		assert_int_equal(found, 3);
		free(header);
		free(row);
	}
}

/* Markdown: a sign behind a backslash is itself, a bar alone ends a cell. */
static void test_markdown_keeps_names(void **state)
{
	static struct estimate estimate;
	struct scenario s;

	(void)state;
	seed = 98;
	for (int i = 0; i < ROUNDS; i++) {
		char plain[4096], *text;
		size_t used = 0;
		const char *at;

		any_named(&s);
		scenario_estimate(&s, &estimate);
		text = report_markdown(&s, &estimate, NULL, NULL, s.cluster.name);
		at = strstr(text, "\n| model | ");
		assert_non_null(at);
		for (at += 11; *at != '\n' && used + 1 < sizeof plain; at++) {
			assert_true(!strchr("`*[]<>", *at));
			if (*at == '|')
				break;
			at += *at == '\\';
			plain[used++] = *at;
		}
		plain[used] = '\0';
		assert_true(strncmp(plain, s.model.name, strlen(s.model.name)) == 0);
		assert_true(strncmp(plain + strlen(s.model.name), ", ", 2) == 0);
		free(text);
	}
}

/* What a picture's text elements say, without blanks; fails where it is no XML. */
static void svg_text(const char *svg, char *out, size_t size)
{
	size_t used = 0;
	bool inside = false;

	for (const char *at = svg; *at != '\0'; at++) {
		if (*at == '<') {
			inside = strncmp(at, "<text", 5) == 0 ||
				 (inside && strncmp(at, "<tspan", 6) == 0);
			at = strchr(at, '>');
			assert_non_null(at);
			continue;
		}
		if (*at == '&') {
			const char *end = strchr(at, ';');

			assert_non_null(end);
			if (inside && used + 1 < size)
				out[used++] = strncmp(at, "&lt;", 4) == 0   ? '<'
					      : strncmp(at, "&gt;", 4) == 0 ? '>'
									    : '&';
			at = end;
			continue;
		}
		if (inside && *at != ' ' && *at != '\n' && used + 1 < size)
			out[used++] = *at;
	}
	out[used] = '\0';
}

static void test_pictures_keep_names(void **state)
{
	(void)state;
	seed = 99;
	for (int i = 0; i < ROUNDS; i++) {
		struct canvas canvas;
		char name[MAX_NAME], shown[4 * MAX_NAME], seen[4 * MAX_NAME], *text,
			*svg;
		size_t used = 0;

		any_name(name, sizeof name);
		assert_true(canvas_init(&canvas, 100, 1, GLYPHS_FULL, true));
		canvas_erase(&canvas);
		canvas_text(&canvas, 0, 0, 100, ROLE_DEFAULT, name);
		text = canvas_to_text(&canvas);
		svg = canvas_to_svg(&canvas, true);
		for (const char *c = text; *c != '\0'; c++)
			if (*c != ' ' && *c != '\n')
				shown[used++] = *c;
		shown[used] = '\0';
		svg_text(svg, seen, sizeof seen);
		assert_string_equal(seen, shown);
		free(text);
		free(svg);
		canvas_free(&canvas);
	}
}

struct sought {
	const char *name;
	int found, commands;
};

static bool seek(void *context, const struct shell_word *words, int count)
{
	struct sought *sought = context;

	sought->commands++;
	for (int i = 0; i < count; i++)
		sought->found += strcmp(words[i].text, sought->name) == 0;
	return true;
}

static char *exported(const char *format, const struct scenario *s)
{
	static struct estimate estimate;
	struct format_request request = { .scenario = s, .estimate = &estimate };
	char *text = format_find_written(format)->out.write(&request);

	assert_non_null(text);
	return text;
}

/* Reads what is exported as a shell would. */
static void seek_in(const char *format, const struct scenario *s, struct sought *sought)
{
	struct arguments arguments = { .file = "x" };
	struct shell_visitor visitor = { .context = sought, .command = seek };
	struct error error = { "" };
	char *text = exported(format, s);

	assert_true(shell_read(&arguments, text, strlen(text), &visitor, &error));
	arguments_free(&arguments);
	free(text);
}

/* Lines of a text that are no comments. */
static int lines_to_run(const char *text)
{
	int lines = 0;

	for (const char *at = text; *at != '\0';
	     at += strcspn(at, "\n"), at += *at == '\n')
		lines += *at != '#';
	return lines;
}

/* What is run has the name as one word, or in a comment that it does not leave. */
static void test_commands_keep_names(void **state)
{
	static const char *const servers[] = { "vllm", "sglang", "trtllm" };
	static const char *const others[] = { "megatron", "bridge", "torchtitan",
					      "torchtitan-py", "nanotron" };

	(void)state;
	seed = 103;
	for (int i = 0; i < ROUNDS; i++) {
		struct scenario s, plain;

		any_named(&s);
		plain = s;
		strcpy(plain.model.name, "plain");
		strcpy(plain.cluster.name, "plain");
		for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
			char *text = exported(others[k], &s),
			     *other = exported(others[k], &plain);

			assert_int_equal(lines_to_run(text), lines_to_run(other));
			free(text);
			free(other);
		}
		s.plan.mode = plain.plan.mode = MODE_INFERENCE;
		for (size_t k = 0; k < sizeof servers / sizeof servers[0]; k++) {
			struct sought named = { s.model.name, 0, 0 };
			struct sought other = { plain.model.name, 0, 0 };

			seek_in(servers[k], &s, &named);
			seek_in(servers[k], &plain, &other);
			if (named.found < 1 || named.commands != other.commands)
				fail_msg("%s of %s: %d times, in %d commands, not %d",
					 servers[k], s.model.name, named.found,
					 named.commands, other.commands);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_scenario_keeps_its_names),
		cmocka_unit_test(test_a_workspace_keeps_names_and_path),
		cmocka_unit_test(test_kept_options_come_back),
		cmocka_unit_test(test_exports_in_yaml_and_json_keep_texts),
		cmocka_unit_test(test_a_file_with_a_quote_in_its_name),
		cmocka_unit_test(test_a_name_is_quoted_where_yaml_needs_it),
		cmocka_unit_test(test_csv_keeps_names),
		cmocka_unit_test(test_markdown_keeps_names),
		cmocka_unit_test(test_pictures_keep_names),
		cmocka_unit_test(test_commands_keep_names),
		cmocka_unit_test(test_a_byte_order_mark_is_no_text),
		cmocka_unit_test(test_no_name_turns_the_direction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
