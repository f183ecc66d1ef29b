/* test_share.c - a scenario comes back from its line equal, whatever it is; a line that
 * was damaged, cut or made up is refused with the reason, and reads no file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/knob/knob.h"
#include "presets/folder.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "presets/share.h"
#include "tests/support/any.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/run.h"
#include "tests/support/server.h"
#include "tests/support/stage.h"

static char home[] = "/tmp/shardscope-share-XXXXXX";

static int make_home(void **state)
{
	if (!mkdtemp(home))
		return -1;
	setenv("XDG_CONFIG_HOME", home, 1);
	return any_load(state);
}

/* The line of a scenario, read back and compared; to be freed. */
static char *told(const struct scenario *s)
{
	struct error error = { "" };
	struct scenario back;
	char *line = share_write(s, NULL, &error);

	if (!line)
		fail_msg("%s", error.text);
	memset(&back, 0xa5, sizeof back);
	if (!share_read(&back, line, NULL, &error))
		fail_msg("%s: %s", line, error.text);
	if (memcmp(&back, s, sizeof back) != 0)
		fail_msg("%s is another scenario", line);
	for (const char *c = line; *c != '\0'; c++)
		assert_true(*c > ' ' && *c < 0x7f &&
			    !strchr("'\"\\$&;|<>()*?!#`{}[]", *c));
	return line;
}

static void any_plan(struct scenario *s)
{
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list);

	assert_true(scenario_read(s, list[next((uint64_t)count)].name, NULL, NULL));
}

/* A knob anywhere in its domain. */
static void turn_any(struct scenario *s)
{
	const struct knob *knob = &knob_table[next((uint64_t)knob_count())];
	double values[MAX_VALUES];
	int count, present;

	if (knob->type == KNOB_TEXT || strcmp(knob->key, "mode") == 0)
		return;
	if (knob->type == KNOB_REAL && next(2)) {
		double part = (double)next(1000003) / 1000003;

		knob_set(s, knob, knob->min + part * (knob->max - knob->min));
		return;
	}
	count = knob_values(s, knob, values, &present);
	knob_set(s, knob, values[next((uint64_t)count)]);
}

static void test_every_plan_comes_back(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list);

	(void)state;
	for (int i = 0; i < count; i++) {
		struct scenario s;
		char *line, start[96];

		assert_true(scenario_read(&s, list[i].name, NULL, NULL));
		line = told(&s);
		/* itself, unless another plan is the same under a shorter name */
		snprintf(start, sizeof start, "s1:%s,", list[i].name);
		if (strncmp(line, start, strlen(start)) != 0)
			assert_true(strlen(line) < strlen(start) + 10);
		assert_true(strlen(line) <= 80);
		free(line);
	}
}

/* Plans of both modes with a few knobs turned stay short. */
static void test_a_plan_nearby_is_short(void **state)
{
	(void)state;
	seed = 5;
	for (int i = 0; i < 150; i++) {
		struct scenario s;
		char *line;

		any_plan(&s);
		for (int k = 0; k < 3; k++)
			turn_any(&s);
		line = told(&s);
		if (strlen(line) > SHARE_NEAR)
			fail_msg("%zu signs: %s", strlen(line), line);
		free(line);
	}
}

static void test_any_scenario_comes_back(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);

	(void)state;
	assert_non_null(e);
	seed = 77;
	for (int i = 0; i < 150; i++) {
		struct scenario s;

		if (i % 3 == 0)
			any_plan(&s);
		else if (i % 3 == 1)
			any_scenario(&s);
		else
			server_random(&s, e);
		for (uint64_t k = next(12); k > 0; k--)
			turn_any(&s);
		free(told(&s));
	}
	free(e);
}

/* What is no preset goes as a whole. */
static void test_a_scenario_of_its_own_comes_back(void **state)
{
	struct scenario s;
	char *line;

	(void)state;
	assert_true(scenario_read(&s, "llama3-70b-64-h100", NULL, NULL));
	strcpy(s.model.name, "a \"model\", of % ours");
	s.model.vocab += 64;
	s.cluster.link[LINK_NETWORK].bytes_per_second *= 1.25;
	s.cluster.accelerator.peak_flops[PRECISION_BF16] *= 1.5;
	memset(s.cluster.name, 0, sizeof s.cluster.name);
	strcpy(s.cluster.name, "ours");
	line = told(&s);
	assert_int_equal(strncmp(line, "s1:yaml=", 8), 0);
	free(line);
}

static const char our_cluster[] = "our-machine";

/* A machine of the user's own folder: others have no such name. */
static void test_own_presets_are_written_out(void **state)
{
	char path[256], *text = preset_text(PRESET_CLUSTER, "dgx-h100", NULL), *line;
	struct scenario s;

	(void)state;
	assert_non_null(text);
	snprintf(path, sizeof path, "%s/shardscope", home);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/shardscope/clusters", home);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/shardscope/clusters/%s.yaml", home,
		 our_cluster);
	assert_true(file_save(path, text, strlen(text), NULL));
	free(text);
	/* the list is made once: another program sees the file */
	snprintf(path, sizeof path, "XDG_CONFIG_HOME=%s", home);
	struct ran ran = run("list clusters");
	ran_free(&ran);
	assert_true(scenario_read(&s, "llama3-70b-64-h100", NULL, NULL));
	strcpy(s.cluster.name, our_cluster);
	line = told(&s);
	assert_non_null(strstr(line, our_cluster));
	free(line);
}

static void damage(char *line, size_t length)
{
	static const char signs[] =
		"0123456789abcdefghijklmnopqrstuvwxyz,=%.-:~+AZ \n\x01\xff\"$;";
	size_t at = next(length), to = next(length);
	char sign = signs[next(sizeof signs - 1)];

	switch (next(6)) {
	case 0: line[at] = sign; break;
	case 1: line[at] = '\0'; break;
	case 2: memmove(line + at, line + at + 1, length - at); break;
	case 3:
		memmove(line + at + 1, line + at, length - at + 1);
		line[at] = sign;
		break;
	case 4:
		sign = line[at];
		line[at] = line[to];
		line[to] = sign;
		break;
	default: line[at] = (char)(line[at] ^ (1 << next(8)));
	}
}

/* Blanks around a line are no damage. */
static bool same_line(const char *a, const char *b)
{
	size_t length = strlen(b);

	a += strspn(a, " \n");
	return strncmp(a, b, length) == 0 &&
	       strspn(a + length, " \n") == strlen(a + length);
}

static void test_damaged_lines_are_refused(void **state)
{
	(void)state;
	seed = 31;
	for (int i = 0; i < 40; i++) {
		struct scenario s, kept;
		char *line, room[2048];

		any_plan(&s);
		turn_any(&s);
		line = told(&s);
		assert_true(strlen(line) + 2 < sizeof room);
		kept = s;
		for (int k = 0; k < 500; k++) {
			struct error error = { "" };

			strcpy(room, line);
			for (uint64_t times = 1 + next(3); times > 0; times--)
				if (room[0] != '\0')
					damage(room, strlen(room));
			if (same_line(room, line))
				continue;
			if (share_read(&s, room, NULL, &error))
				fail_msg("%s was taken for %s", room, line);
			assert_true(error.text[0] != '\0');
			assert_memory_equal(&s, &kept, sizeof s);
		}
		free(line);
	}
}

/* The checks are no secret: who makes a line up can make its first one too. */
static void forge(const char *body, char *out, size_t size)
{
	static const char signs[] = "0123456789abcdefghjkmnpqrstvwxyz";
	uint64_t h = 14695981039346656037u;
	char check[11] = "0000000000";

	for (const char *c = body; *c != '\0'; c++)
		h = (h ^ (unsigned char)*c) * 1099511628211u;
	h ^= h >> 32;
	for (int i = 0; i < 5; i++)
		check[i] = signs[h >> 5 * i & 31];
	snprintf(out, size, "%s,%s", body, check);
}

static void test_hostile_lines_are_refused(void **state)
{
	static const struct {
		const char *body, *why;
	} t[] = {
		{ "s1:llama3-70b-64-h100", "another scenario here" },
		{ "s1:llama3-70b-64-h100,model=%2Fetc%2Fpasswd",
		  "no '/etc/passwd' among" },
		{ "s1:llama3-70b-64-h100,cluster=..%2F..%2Fx.yaml",
		  "among the clusters" },
		{ "s1:llama3-70b-64-h100,stack=-", "among the stacks" },
		{ "s1:%2Fdev%2Fzero", "among the plans" },
		{ "s1:-", "another scenario here" },
		{ "s1:", "cut short" },
		{ "s1:yaml=model:%20%2Fdev%2Fzero", "no '/dev/zero' among" },
		{ "s1:yaml=model:%20s1:-", "among the models" },
		{ "s1:yaml=%5B%5B%5B", "the line" },
		{ "s1:yaml=model:%20llama3.1-8b%0Atp:%20-1", "the line" },
		{ "s1:yaml=model:%20llama3.1-8b%00", "damaged" },
		{ "s1:yaml=model:%20llama3.1-8b,tp=2", "damaged" },
		{ "s1:llama3-70b-64-h100,assumed=tp+tpp", "has not" },
		{ "s1:llama3-70b-64-h100,tp=0", "tp" },
		{ "s1:llama3-70b-64-h100,tp=99999999999999999999", "tp" },
		{ "s1:llama3-70b-64-h100,tp=2,tp=4", "twice" },
		{ "s1:llama3-70b-64-h100,tensor_parallel=4", "has not" },
		{ "s1:llama3-70b-64-h100,tp", "sets nothing" },
		{ "s1:llama3-70b-64-h100,=4", "sets nothing" },
		{ "s1:llama3-70b-64-h100,", "sets nothing" },
		{ "s1:llama3-70b-64-h100,layout=%4", "stands alone" },
		{ "s1:llama3-70b-64-h100,layout=%zz", "stands alone" },
		{ "s1:llama3-70b-64-h100,tp=nan", "tp" },
		{ "s1:llama3-70b-64-h100,scale=1e999", "scale" },
	};
	char line[512];

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct error error = { "" };
		struct scenario s;

		forge(t[i].body, line, sizeof line);
		if (share_read(&s, line, NULL, &error))
			fail_msg("%s was taken", line);
		if (!strstr(error.text, t[i].why))
			fail_msg("%s: %s", line, error.text);
	}
}

/* A body that was changed, with a first check made for it: the second one tells whether
 * it is still the same scenario, and only then it is taken. */
static void test_changed_bodies_are_refused(void **state)
{
	int same = 0;

	(void)state;
	seed = 8;
	for (int i = 0; i < 30; i++) {
		struct scenario s, back;
		char *line, body[1024], changed[1100];

		any_plan(&s);
		for (int k = 0; k < 3; k++)
			turn_any(&s);
		line = told(&s);
		assert_true(strlen(line) < sizeof body - 8);
		for (int k = 0; k < 400; k++) {
			struct error error = { "" };
			size_t length = strlen(line) - 11;

			memcpy(body, line, length);
			body[length] = '\0';
			for (uint64_t times = 1 + next(2); times > 0; times--)
				if (strlen(body) > 4)
					damage(body, strlen(body));
			forge(body, changed, sizeof changed);
			strcpy(changed + strlen(changed) - 5, line + strlen(line) - 5);
			if (!share_read(&back, changed, NULL, &error)) {
				assert_true(error.text[0] != '\0');
				continue;
			}
			same++;
			if (memcmp(&back, &s, sizeof s) != 0)
				fail_msg("%s was taken for %s", changed, line);
		}
		free(line);
	}
	assert_true(same > 0); /* as tp=04 */
}

static void test_a_line_too_long_is_refused(void **state)
{
	size_t length = SHARE_MAX + 10;
	char *line = malloc(length + 1);
	struct error error = { "" };
	struct scenario s;

	(void)state;
	assert_non_null(line);
	memset(line, 'a', length);
	memcpy(line, "s1:", 3);
	line[length] = '\0';
	assert_false(share_read(&s, line, NULL, &error));
	assert_non_null(strstr(error.text, "longer than"));
	free(line);
}

/* Whatever the words of what was assumed are, they come back; a key that is none is
 * refused.
 */
static void test_what_was_assumed_comes_back(void **state)
{
	static const char *const words[] = { "51200", "a,b=c%d+e", "",
					     "\xc3\xa9 \"x\"" };
	struct import_report told = { .count = 0 }, back = { .count = 0 };
	struct error error = { "" };
	struct scenario s, made;
	char *line, *key;

	(void)state;
	assert_true(scenario_read(&s, "llama3-70b-64-h100", NULL, NULL));
	import_note(&told, IMPORT_ASSUMED, "cluster", "dgx-h100");
	import_note(&told, IMPORT_ASSUMED, "tp", "as in the recipes");
	import_note(&told, IMPORT_TAKEN, "pp", "4");
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		import_note(&told, IMPORT_ASSUMED, "own-word", "%s", words[i]);
	line = share_write(&s, &told, &error);
	assert_non_null(line);
	assert_true(share_read(&made, line, &back, &error));
	assert_memory_equal(&made, &s, sizeof s);
	assert_int_equal(back.count, 6);
	assert_string_equal(back.note[0].text, "dgx-h100");
	assert_string_equal(back.note[1].key, "tp");
	assert_string_equal(back.note[1].text, "8");
	for (int i = 0; i < 4; i++) {
		assert_string_equal(back.note[2 + i].key, "own-word");
		assert_string_equal(back.note[2 + i].text, words[i]);
	}
	key = strstr(line, "=cluster");
	assert_non_null(key);
	key[1] = 'k';
	assert_false(share_read(&made, line, NULL, &error));
	free(line);
}

static void test_what_is_meant_as_a_line(void **state)
{
	(void)state;
	assert_true(share_is("s1:x") && share_is(" \ns12:"));
	assert_false(share_is("s1") || share_is("s:1") || share_is("") ||
		     share_is("plan.yaml") || share_is("xs1:"));
}

static void test_commands_take_a_line(void **state)
{
	struct ran ran = run("share llama3.1-70b-4-h100-serve --tp 2");
	char command[512];

	(void)state;
	assert_int_equal(ran.status, 0);
	ran.out[strcspn(ran.out, "\n")] = '\0';
	snprintf(command, sizeof command, "eval %s", ran.out);
	run_check(command, 0, "serving llama3.1-70b", NULL);
	snprintf(command, sizeof command, "share %s --tp 4", ran.out);
	run_check(command, 0, "s1:llama3.1-70b-4-h100-serve,", NULL);
	snprintf(command, sizeof command, "screen overview %s", ran.out);
	run_check(command, 0, "llama3.1-70b", NULL);
	ran.out[5] = 'z';
	snprintf(command, sizeof command, "open %s", ran.out);
	run_check(command, 2, NULL, "the line is damaged");
	ran_free(&ran);
	run_check("open s2:x", 2, NULL, "form s2");
}

/* o, a paste, Enter. */
static void test_a_paste_opens_it(void **state)
{
	struct scenario s;
	struct stage stage;
	char *line;

	(void)state;
	assert_true(scenario_read(&s, "llama3.1-70b-4-h100-serve", NULL, NULL));
	s.plan.tp = 2;
	line = told(&s);
	stage_open(&stage, NULL, 120, 36);
	stage_type(&stage, "o");
	explorer_paste(&stage.explorer, line, strlen(line));
	stage_shows(&stage, "Enter opens this shared scenario");
	stage_type(&stage, "\n");
	assert_memory_equal(&stage.explorer.scenario, &s, sizeof s);
	assert_string_equal(stage.explorer.file, "");
	stage_type(&stage, "uo");
	line[4] ^= 2;
	explorer_paste(&stage.explorer, line, strlen(line));
	stage_type(&stage, "\n");
	stage_shows(&stage, "the line is damaged");
	stage_close(&stage);
	free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_plan_comes_back),
		cmocka_unit_test(test_a_plan_nearby_is_short),
		cmocka_unit_test(test_any_scenario_comes_back),
		cmocka_unit_test(test_a_scenario_of_its_own_comes_back),
		cmocka_unit_test(test_own_presets_are_written_out),
		cmocka_unit_test(test_damaged_lines_are_refused),
		cmocka_unit_test(test_hostile_lines_are_refused),
		cmocka_unit_test(test_changed_bodies_are_refused),
		cmocka_unit_test(test_a_line_too_long_is_refused),
		cmocka_unit_test(test_what_was_assumed_comes_back),
		cmocka_unit_test(test_what_is_meant_as_a_line),
		cmocka_unit_test(test_commands_take_a_line),
		cmocka_unit_test(test_a_paste_opens_it),
	};

	return cmocka_run_group_tests(tests, make_home, any_unload);
}
