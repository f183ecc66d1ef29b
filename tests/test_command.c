/* test_command.c - the command line is a contract: statuses, keys, one-line errors. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "engine/knob/knob.h"
#include "presets/shelf.h"
#include "tests/support/close.h"
#include "tests/support/run.h"

static char folder[] = "/tmp/shardscope-command-XXXXXX";

static cJSON *json_of(const char *arguments, int status)
{
	struct ran ran = run(arguments);
	cJSON *root;

	if (ran.status != status)
		fail_msg("%s: status %d, %s", arguments, ran.status, ran.err);
	root = cJSON_Parse(ran.out);
	assert_non_null(root);
	ran_free(&ran);
	return root;
}

static cJSON *at(cJSON *root, const char *path)
{
	char copy[128], *rest = copy, *part;

	snprintf(copy, sizeof copy, "%s", path);
	while ((part = strsep(&rest, "."))) {
		root = cJSON_GetObjectItem(root, part);
		if (!root)
			fail_msg("no %s", path);
	}
	return root;
}

static void test_eval_prints_the_keys_of_the_contract(void **state)
{
	static const char *const paths[] = { "scenario.tp",
					     "scenario.model",
					     "feasible",
					     "problems",
					     "model.parameters",
					     "model.active_parameters",
					     "model.flops_per_token",
					     "model.approximate",
					     "memory.total_bytes",
					     "memory.capacity_bytes",
					     "memory.weights_bytes",
					     "memory.gradients_bytes",
					     "memory.optimizer_bytes",
					     "memory.activations_bytes",
					     "memory.buffers_bytes",
					     "memory.framework_bytes",
					     "memory.fit_probability",
					     "memory.stages",
					     "time.step_seconds",
					     "time.compute_seconds",
					     "time.bubble_seconds",
					     "time.exposed_seconds",
					     "time.optimizer_seconds",
					     "communication.tp.bytes",
					     "communication.tp.network_bytes",
					     "communication.tp.seconds",
					     "communication.tp.exposed_seconds",
					     "communication.cp.bytes",
					     "communication.ep.bytes",
					     "communication.pp.bytes",
					     "communication.dp.bytes",
					     "communication.host.bytes",
					     "bubble_ratio",
					     "throughput.tokens_per_second",
					     "throughput.tokens_per_second_per_gpu",
					     "throughput.tflops_per_gpu",
					     "throughput.mfu",
					     "throughput.hfu" };
	cJSON *root = json_of("eval llama3-70b-64-h100 --json", 0);

	(void)state;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		at(root, paths[i]);
	for (int i = 0; i < knob_count(); i++)
		assert_non_null(
			cJSON_GetObjectItem(at(root, "scenario"), knob_table[i].key));
	assert_int_equal(cJSON_GetArraySize(at(root, "memory.stages")), 4);
	cJSON_Delete(root);
}

static void test_an_illegal_plan_is_an_answer(void **state)
{
	cJSON *root = json_of("eval llama3-70b-64-h100 --tp 6 --json", 1);
	cJSON *first;

	(void)state;
	assert_true(cJSON_IsFalse(at(root, "feasible")));
	assert_true(cJSON_IsNull(at(root, "memory")));
	assert_true(cJSON_IsNull(at(root, "time")));
	assert_true(cJSON_IsNull(at(root, "communication")));
	assert_true(cJSON_IsNull(at(root, "throughput")));
	at(root, "model.parameters");
	first = cJSON_GetArrayItem(at(root, "problems"), 0);
	at(first, "code");
	at(first, "text");
	at(first, "nearest.tp");
	cJSON_Delete(root);
}

static void test_a_too_large_plan_is_complete(void **state)
{
	cJSON *root = json_of("eval llama3-70b-64-h100 --tp 4 --json", 1);

	(void)state;
	assert_true(cJSON_IsFalse(at(root, "feasible")));
	assert_true(cJSON_IsNumber(at(root, "time.step_seconds")));
	assert_string_equal(
		cJSON_GetArrayItem(at(root, "problems"), 0)->child->valuestring, "OOM");
	cJSON_Delete(root);
}

static void test_options_take_dashes_and_underscores(void **state)
{
	cJSON *a = json_of("eval --model llama3.1-8b --cluster dgx-h100 --stack fsdp "
			   "--gpus 8 --gbs 16 --seq 8k --zero-group 4 "
			   "--recompute full --json",
			   0);
	cJSON *b = json_of("eval --model meta-llama/Llama-3.1-8B --cluster dgx-h100 "
			   "--stack fsdp --gpus 8 --gbs=16 --seq 8192 --zero_group 4 "
			   "--recompute=full --json",
			   0);

	(void)state;
	assert_true(cJSON_Compare(a, b, true));
	cJSON_Delete(a);
	cJSON_Delete(b);
}

/* An option that moves nothing in the plan is said, unless it says what is so anyway or
 * a finding names it. */
static void test_idle_options_are_told(void **state)
{
	static const char *const silent[] = {
		"eval llama3-70b-64-h100 --ep 1 --cp_kind ring --tp 8",
		"eval llama3-70b-64-h100 --ep 2",
	};

	(void)state;
	run_check("eval llama3-70b-64-h100 --fsdp_prefetch 3 --imbalance 2", 0,
		  "given, but without effect in this plan: fsdp_prefetch, imbalance\n",
		  NULL);
	run_check("check llama3-70b-64-h100 --fsdp_prefetch 3", 0,
		  "given, but without effect in this plan: fsdp_prefetch\n", NULL);
	run_check("eval llama3-70b-64-h100 --json --fsdp_prefetch 3", 0,
		  "\"without_effect\":\t[\"fsdp_prefetch\"]", NULL);
	for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++) {
		struct ran ran = run(silent[i]);

		assert_null(strstr(ran.out, "without effect"));
		ran_free(&ran);
	}
}

/* Keys of a file as well, and no key of a shipped plan. */
static void test_idle_keys_are_told(void **state)
{
	char name[] = "/tmp/shardscope-idle-XXXXXX.yaml", command[160];
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list);
	FILE *stream = fdopen(mkstemps(name, 5), "w");

	(void)state;
	assert_non_null(stream);
	fputs("model: qwen3-0.6b\ngpus: 8\ngbs: 8\nprompt: 5000\nzero: 1\n"
	      "first_stage_layers: 3\n",
	      stream);
	fclose(stream);
	snprintf(command, sizeof command, "eval %s --fsdp_prefetch 3", name);
	run_check(command, 0,
		  "given, but without effect in this plan: fsdp_prefetch, prompt, "
		  "first_stage_layers\n",
		  NULL);
	snprintf(command, sizeof command, "check %s", name);
	run_check(command, 0,
		  "given, but without effect in this plan: prompt, "
		  "first_stage_layers\n",
		  NULL);
	for (int i = 0; i < count; i++) {
		struct ran ran;

		snprintf(command, sizeof command, "export yaml %s > %s", list[i].name,
			 name);
		run_check(command, 0, NULL, NULL);
		snprintf(command, sizeof command, "eval %s --json", name);
		ran = run(command);
		if (strstr(ran.out, "without_effect"))
			fail_msg("%s: %s", list[i].name,
				 strstr(ran.out, "without_effect"));
		ran_free(&ran);
	}
	remove(name);
}

/* A file that has its stack in full says by keys what the stack has by its name. */
static void test_stacks_in_full_say_nothing_idle(void **state)
{
	char ring[] = "/tmp/shardscope-ring-XXXXXX.yml", command[200];
	FILE *stream = fdopen(mkstemps(ring, 4), "w");
	struct ran ran;

	(void)state;
	assert_non_null(stream);
	fputs("base_model: Qwen/Qwen3-0.6B\nsequence_len: 8192\nmicro_batch_size: 1\n"
	      "gradient_accumulation_steps: 4\ncontext_parallel_size: 4\nbf16: true\n",
	      stream);
	fclose(stream);
	snprintf(command, sizeof command, "import axolotl %s > %s.yaml", ring, ring);
	run_check(command, 0, NULL, NULL);
	snprintf(command, sizeof command, "check %s.yaml", ring);
	ran = run(command);
	if (strstr(ran.out, "without effect"))
		fail_msg("%s", ran.out);
	ran_free(&ran);
	remove(ring);
	snprintf(command, sizeof command, "%s.yaml", ring);
	remove(command);
}

/* Every bad input is one line that names the place, and status 2. */
static void refuses(const char *arguments, const char *text)
{
	struct ran ran = run(arguments);

	if (ran.status != 2)
		fail_msg("%s: status %d: %s", arguments, ran.status, ran.err);
	if (!strstr(ran.err, text))
		fail_msg("%s: '%s' lacks '%s'", arguments, ran.err, text);
	assert_true(strncmp(ran.err, "shardscope: ", 12) == 0);
	assert_ptr_equal(strchr(ran.err, '\n'), ran.err + strlen(ran.err) - 1);
	for (const char *c = ran.err; *c; c++)
		assert_true((unsigned char)*c >= ' ' || *c == '\n');
	assert_string_equal(ran.out, "");
	ran_free(&ran);
}

static void test_bad_options_are_refused(void **state)
{
	(void)state;
	refuses("eval --tpp 8", "did you mean --tp");
	refuses("eval --hlep", "did you mean --help");
	refuses("screen overview --foramt svg", "did you mean --format");
	refuses("evl", "no command or plan 'evl'; did you mean shardscope eval?");
	refuses("version", "did you mean shardscope --version?");
	refuses("no-such-plan", "no plan 'no-such-plan'");
	refuses("check nofile.sh", "nofile.sh: can't be read");
	refuses("eval dgx-h100", "no plan 'dgx-h100', but a cluster: give it with "
				 "--cluster");
	refuses("eval gpt2 --cluster vllm", "a stack: give it with --stack");
	refuses("eval --model llama3-70b-64-h100", "a plan: give it without an option");
	refuses("challenge small-bubble gpt2", "a model: give it with --model");
	refuses("eval llama3.1-8b --model gpt2",
		"two models, 'llama3.1-8b' and 'gpt2'");
	refuses("eval llama3.1-8b gpt2", "two scenarios, 'llama3.1-8b' and 'gpt2'");
	refuses("eval llama3-70b-64-h100 gpt2", "two scenarios, ");
	refuses("eval --batch-size 8", "it is --gbs or --mbs here");
	refuses("eval --tensor-model-parallel-size 8", "it is --tp here");
	refuses("eval --tensor_parallel_size 8", "it is --tp here");
	refuses("eval --mem-fraction-static 0.8", "it is --memory_share here");
	refuses("eval --goal 8", "--goal_ttft or --goal_tpot or --goal_percentile");
	refuses("eval --nodes 8", "it is --gpus here");
	refuses("eval --data-parallel-size 8", "it is --dp here");
	refuses("eval --days 8", "it is worked out; shardscope explain run_seconds");
	refuses("eval --mfu 0.5", "it is worked out; shardscope explain mfu");
	refuses("sweep --vary model=gpt2,llama3.1-8b",
		"shardscope compare takes several");
	/* short for one option, and said of another */
	refuses("eval --context 8", "no option '--context'; it is --seq or --cp here");
	refuses("eval --sequence=8192", "it is --seq here");
	refuses("eval --micro 2", "it is --mbs here");
	refuses("eval --expert 8", "it is --ep here");
	refuses("eval --tp", "needs a value");
	refuses("eval llama3-70b-64-h100 --set ep_overlap=off",
		"--set ep_overlap=off: sets a variable of a script, and none is read; "
		"the knob is --ep_overlap off");
	refuses("eval --set TP=4", "and none is read");
	refuses("check --function pretrain_config", "none is read");
	refuses("eval --tp eight", "tp");
	refuses("sweep llama3-70b-64-h100 --tp 1,2,4",
		"--tp 1,2,4: one value is wanted; shardscope sweep --vary tp=1,2,4");
	refuses("eval --seq 4k..32k", "shardscope sweep --vary seq=4k..32k");
	refuses("eval --tp 0", "tp");
	refuses("eval --tp -1", "tp");
	refuses("eval --tp 1e30", "tp");
	refuses("eval --tp nan", "tp");
	refuses("eval --gbs inf", "gbs");
	refuses("eval --schedule zigzag", "takes gpipe, 1f1b");
	refuses("eval --model llama9", "llama");
	refuses("eval --cluster dgx-h1000", "dgx-h100");
	refuses("eval --cluster h100", "near: dgx-h100, h100-leaf-1to4, h100-pcie");
	refuses("eval --cluster h100-sxm", "near: dgx-h100, hgx-h100-96g");
	refuses("eval --cluster ironwood", "near: tpu-v7x");
	refuses("eval --stack sglan", "no stack 'sglan'; near: sglang");
	refuses("eval --model llama3-8b --stack nobodys", "no stack 'nobodys'");
	refuses("eval --cluster dgx-a100-80", "near: dgx-a100-80g, dgx-a100-40g, dgx-");
	refuses("eval --model lama3 --gpus 8", "llama3.1-8b");
	refuses("eval --model gpt3 --gpus 8", "near: gpt3-6.7b, gpt3-175b");
	refuses("eval --model mixtrl --gpus 8", "near: mixtral-8x7b, mixtral-8x22b");
	refuses("eval --dp 3", "makes it");
	refuses("eval one two", "two scenarios");
	refuses("list", "usage");
	refuses("list toys", "plans|lessons|challenges|rules");
	refuses("show toys", "plan, lesson or challenge");
	run_check("show small-bubble", 0, "format: 1\ntitle: \"Fill the pipeline\"\n",
		  NULL);
	refuses("show nothing", "no model");
	refuses("screen nowhere", "no view");
	refuses("screen overview --size 80", "WIDTHxHEIGHT");
	refuses("screen overview --size 99999x3", "WIDTHxHEIGHT");
	refuses("sweep", "nothing to vary");
	refuses("sweep --vary tp", "KNOB=VALUE");
	refuses("sweep --vary tp=1,,2", "expected");
	refuses("sweep --vary mbs=1,2 --vary tp=1..x", "takes a number");
	refuses("sweep --vary tp=1,99999", "1 to 4096");
	refuses("sweep --vary tp=1 --shard 3/2", "I/N");
	refuses("sweep --vary tp=1,2 --free pp,tp", "--free tp: is varied already");
	refuses("export floppy", "expected one of");
	refuses("calibrate", "--measured-step");
	refuses("calibrate --measured-step -1", "above 0");
	refuses("calibrate llama3-70b-64-h100 --measured-step 1e6", "in seconds?");
	refuses("calibrate llama3-70b-64-h100 --measured-step 12", "of the peak");
}

static void write_file(const char *name, const char *text, char *path, size_t size)
{
	FILE *file;

	snprintf(path, size, "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void refuses_file(const char *text, const char *expected)
{
	char path[128], arguments[160];

	write_file("bad.yaml", text, path, sizeof path);
	snprintf(arguments, sizeof arguments, "eval %s", path);
	refuses(arguments, expected);
	unlink(path);
}

/* What an import assumed is said without a place that nobody gave. */
static void test_an_import_says_what_it_assumed(void **state)
{
	char path[512], command[640];
	struct ran ran;

	(void)state;
	write_file("glyph.sh", "vllm serve zai-org/Glyph --tensor-parallel-size 2\n",
		   path, sizeof path);
	snprintf(command, sizeof command, "import vllm %s", path);
	ran = run(command);
	assert_int_equal(ran.status, 0);
	assert_non_null(strstr(ran.err, "shardscope: assumed: model glm-4-9b for"));
	assert_non_null(
		strstr(ran.out, "by its name alone: its shape was not compared"));
	ran_free(&ran);
}

static void test_bad_files_are_refused_with_their_line(void **state)
{
	(void)state;
	refuses_file("", "bad.yaml");
	refuses_file("model: llama3.1-8b\ntpp: 3\n", "bad.yaml:2: unknown key 'tpp'");
	refuses_file("model: llama3.1-8b\ntp: many\n", "bad.yaml:2");
	refuses_file("model: llama3.1-8b\ntp: [1, 2]\n", "bad.yaml:2");
	refuses_file("model: llama3.1-8b\ntp: 0\n", "bad.yaml:2");
	refuses_file("model: llama3.1-8b\ntp: .nan\n", "bad.yaml:2");
	refuses_file("model: llama3.1-8b\ngbs: 1e30\n", "bad.yaml:2");
	refuses_file("model: llama3.1-8\n", "bad.yaml:1");
	refuses_file("tp: 8\n", "no model");
	refuses_file("format: 2\nmodel: llama3.1-8b\n", "format 2");
	refuses_file("model: llama3.1-8b\n  tp: 8\n", "bad.yaml:2");
	refuses_file("model: [a, b\n", "bad.yaml");
	refuses_file("model: \"\\e[31mred\\e[0m\"\n", "?[31m");
	refuses_file("- a\n- b\n", "mapping");
	refuses_file("{}\n", "with model: NAME");
	refuses_file("model: {layers: 10, hidden: 1e30}\n", "bad.yaml:1");
	refuses_file("model: {layers: 0}\n", "bad.yaml:1");
	refuses_file("model: {layers: 4, hidden: 128, headz: 2}\n", "heads");
	refuses_file("model:\n  like: llama9\n  layers: 4\n",
		     "bad.yaml:2: like: no model");
	refuses_file("model: llama3.1-8b\ncluster: {gpus_per_node: 8}\n", "bad.yaml:2");
	refuses_file("model: llama3.1-8b\ncluster:\n  gpus_per_node: 8\n"
		     "  accelerator: {peak_tflops: {bf16: 900}, memory_gb: 80, "
		     "memory_gbs: 3000}\n  domain: {span: 8, gbs: 400}\n"
		     "  network: {gbs: 50, efficiency: 1.2}\n",
		     "bad.yaml:3: a link reaches 1.2 of its rate");
	refuses_file("a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nmodel: *c\n",
		     "bad.yaml");
}

/* What a file left open is said where it is used, not by its import alone. */
static void test_what_a_file_left_open_is_said(void **state)
{
	char path[128], arguments[160];
	struct ran ran;

	(void)state;
	write_file("serve.sh",
		   "for TP in 2 4; do vllm serve zai-org/GLM-4.6 -tp $TP; done\n", path,
		   sizeof path);
	snprintf(arguments, sizeof arguments, "eval %s", path);
	ran = run(arguments);
	assert_non_null(strstr(ran.err, "assumed: loop TP is the first of 2 4, model "
					"glm-4.5 for zai-org/GLM-4.6, by its name"));
	ran_free(&ran);
	unlink(path);
}

/* A stack's shares and reserves stay within what software can do. */
static void test_impossible_stacks_are_refused(void **state)
{
	static const char *const lines[] = {
		"fragmentation: 0",         "fragmentation: 1e30",
		"network_efficiency: 0",    "network_efficiency: 1.01",
		"dp_overlap: 1.5",          "communicator_gib: 1e308",
		"layer_cpu_us: 1e30",       "logit_bytes: 1e30",
		"network_efficiency: -0.5", "ep_overlap: .nan",
	};
	char path[128], arguments[200];

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		write_file("odd.yaml", lines[i], path, sizeof path);
		snprintf(arguments, sizeof arguments, "eval --stack %s", path);
		refuses(arguments, "odd.yaml:1: ");
	}
	unlink(path);
}

static void test_a_hundred_thousand_brackets_are_refused(void **state)
{
	enum { BRACKETS = 100000 };
	char *text = malloc(BRACKETS + 16);

	(void)state;
	strcpy(text, "model: ");
	memset(text + 7, '[', BRACKETS);
	text[7 + BRACKETS] = '\0';
	refuses_file(text, "64");
	free(text);
}

static void test_odd_paths_are_refused(void **state)
{
	char path[128], arguments[160];

	(void)state;
	refuses("eval /", "shardscope");
	refuses("eval /nonexistent/x.yaml", "x.yaml");
	snprintf(path, sizeof path, "%s/huge.yaml", folder);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), 100 << 20), 0);
	fclose(file);
	snprintf(arguments, sizeof arguments, "eval %s", path);
	refuses(arguments, "huge.yaml");
	unlink(path);
	/* a pipe that nobody writes to */
	snprintf(path, sizeof path, "%s/pipe.yaml", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(arguments, sizeof arguments, "eval %s", path);
	refuses(arguments, "pipe.yaml:1: empty");
	snprintf(arguments, sizeof arguments, "import megatron %s", path);
	refuses(arguments, "pipe.yaml:1: the file is empty");
	unlink(path);
}

/* What can be read but once is told by what it holds, too. */
static void test_pipes_are_read(void **state)
{
	(void)state;
	run_check("check - < tests/fuzz/seeds/megatron/script", 0, "ok: legal",
		  "standard input read as megatron");
	run_check("check - < presets/plans/llama3-8b-8-h100.yaml", 0, "ok: legal",
		  NULL);
	/* what a file leaves out is told, until an option says it */
	run_check("eval - < tests/support/model-only.yaml", 1,
		  "assumed: dgx-h100, megatron-core, gpus 1\n", NULL);
	run_check("eval - --gpus 16 --stack fsdp < tests/support/model-only.yaml", 0,
		  "assumed: dgx-h100\n", NULL);
}

/* Names come from anywhere: none reaches the terminal as it is. */
static void test_unknown_stacks_are_cleaned(void **state)
{
	struct ran ran =
		run("eval llama3-8b-8-h100 --stack \"$(printf 'a\\033[31mb')\"");

	(void)state;
	assert_non_null(strstr(ran.err, "no stack 'a?[31mb'"));
	assert_null(strchr(ran.err, '\033'));
	assert_null(strchr(ran.out, '\033'));
	ran_free(&ran);
}

static void test_sweep_counts_and_shards(void **state)
{
	static const char grid[] = "sweep --vary tp=1,2,4,8 --vary mbs=1,2 --csv";
	struct ran all = run(grid);
	int lines = 0;

	(void)state;
	assert_int_equal(all.status, 0);
	for (const char *c = all.out; *c; c++)
		lines += *c == '\n';
	assert_int_equal(lines, 9);
	assert_true(strncmp(all.out, "tp,mbs,feasible", 15) == 0);
	/* parts in order are the whole, also where they are uneven or empty */
	for (int shards = 2; shards <= 11; shards += 3) {
		char *joined = calloc(1, strlen(all.out) + 1);

		assert_non_null(joined);
		for (int i = 1; i <= shards; i++) {
			char arguments[128];
			struct ran part;

			snprintf(arguments, sizeof arguments, "%s --shard %d/%d", grid,
				 i, shards);
			part = run(arguments);
			assert_int_equal(part.status, 0);
			assert_true(strlen(joined) + strlen(part.out) <=
				    strlen(all.out));
			strcat(joined, part.out);
			ran_free(&part);
		}
		assert_string_equal(joined, all.out);
		free(joined);
	}
	ran_free(&all);
}

/* A table says what it is of: names and the knobs that are not varied. */
static void test_sweep_rows_hold_their_scenario(void **state)
{
	struct ran ran = run("sweep --vary tp=4,8 --seq 4096");
	char *second = strchr(ran.out, '\n') + 1, *third = strchr(second, '\n') + 1;
	int header = 0, row = 0;

	(void)state;
	assert_non_null(strstr(ran.out, ",model,cluster,stack,"));
	assert_true(strstr(ran.out, ",seq,") < second);
	assert_non_null(strstr(third, ",llama3.1-70b,dgx-h100,megatron-core,"));
	assert_non_null(strstr(third, ",4096,"));
	for (char *c = ran.out; c < second; c++)
		header += *c == ',';
	/* a feasible row has no quoted text with commas in it */
	assert_true(strncmp(third, "8,1,,", 5) == 0);
	for (char *c = third; *c != '\0'; c++)
		row += *c == ',';
	assert_int_equal(header, row);
	ran_free(&ran);
}

/* A source stands only in the tables that say something about it. */
static void test_servers_stand_apart_from_training(void **state)
{
	struct ran ran = run("validate tests/validation/simumax.yaml "
			     "tests/validation/inference/misc_published.yaml");
	int rows[2] = { 0 };

	(void)state;
	assert_int_equal(ran.status, 0);
	for (char *rest = ran.out, *line; (line = strsep(&rest, "\n"));) {
		rows[0] += strncmp(line, "simumax", 7) == 0;
		rows[1] += strncmp(line, "misc_published", 14) == 0;
	}
	assert_int_equal(rows[0], 3); /* times, calibrated times, memory */
	/* time per token, time to the first alone and beside others */
	assert_int_equal(rows[1], 3);
	ran_free(&ran);
}

static void test_lists_and_shows(void **state)
{
	struct ran list = run("list clusters"), show = run("show gb200-nvl72");

	(void)state;
	assert_int_equal(list.status, 0);
	assert_non_null(strstr(list.out, "dgx-h100 "));
	assert_non_null(strstr(show.out, "span: 72"));
	ran_free(&list);
	ran_free(&show);
}

static void test_exports_open_again(void **state)
{
	struct ran yaml = run("export yaml deepseek-v3-1024-h100");
	char path[128], arguments[160];
	cJSON *a, *b;

	(void)state;
	assert_int_equal(yaml.status, 0);
	write_file("again.yaml", yaml.out, path, sizeof path);
	snprintf(arguments, sizeof arguments, "eval %s --json", path);
	a = json_of("eval deepseek-v3-1024-h100 --json", 0);
	b = json_of(arguments, 0);
	assert_true(cJSON_Compare(a, b, true));
	cJSON_Delete(a);
	cJSON_Delete(b);
	unlink(path);
	ran_free(&yaml);
}

struct tally {
	int items, again, starts, steps, finishes, counters, ends, names;
	double free[4][10], peak[4];
};

/* Slices of one thread follow or nest. */
static void tally_slice(struct tally *t, cJSON *e)
{
	int stage = at(e, "pid")->valueint, thread = at(e, "tid")->valueint;
	double start = at(e, "ts")->valuedouble,
	       end = at(e, "dur")->valuedouble + start;
	bool again = strcmp(at(e, "name")->valuestring, "recompute") == 0;

	assert_in_range(stage, 0, 3);
	assert_in_range(thread, 0, 9);
	assert_true(again ? end <= t->free[stage][thread] + 1e-3
			  : start >= t->free[stage][thread] - 1e-3);
	if (!again)
		t->free[stage][thread] = end;
	t->items += thread == 0 && !again;
	t->again += again;
	t->ends += thread == 9;
}

static void tally_event(struct tally *t, cJSON *e)
{
	int stage = at(e, "pid")->valueint;

	switch (at(e, "ph")->valuestring[0]) {
	case 'X': tally_slice(t, e); break;
	case 's': t->starts++; break;
	case 't': t->steps++; break;
	case 'f': t->finishes++; break;
	case 'M': t->names++; break;
	case 'C':
		t->counters++;
		t->peak[stage] = fmax(t->peak[stage],
				      at(at(e, "args"), "activations")->valuedouble +
					      at(at(e, "args"), "other")->valuedouble);
		break;
	default: fail();
	}
}

/* Every item and transfer is there, nothing overlaps, and the counter peaks where the
 * estimate says. */
static void test_a_trace_opens_in_perfetto(void **state)
{
	static const char plan[] = "llama3-70b-64-h100 --gbs 32 --schedule zb-h1";
	char command[128];
	cJSON *root, *result, *e;
	struct tally t = { 0 };

	(void)state;
	snprintf(command, sizeof command, "export trace %s", plan);
	root = json_of(command, 0);
	snprintf(command, sizeof command, "eval %s --json", plan);
	result = json_of(command, 0);
	cJSON_ArrayForEach(e, at(root, "traceEvents")) tally_event(&t, e);
	/* 4 stages, 8 micro-batches: forward, input and weight gradient */
	assert_int_equal(t.items, 4 * 8 * 3);
	assert_int_equal(t.again, 0);
	assert_int_equal(t.starts, 2 * 3 * 8);
	assert_true(t.steps == t.starts && t.finishes == t.starts);
	assert_int_equal(t.counters, t.items + 4);
	assert_int_equal(t.ends, 4);
	assert_int_equal(t.names, 4 * 2 + 4 * 2 * 6); /* two sends, two receives */
	for (int s = 0; s < 4; s++) {
		cJSON *stage =
			cJSON_GetArrayItem(at(at(result, "memory"), "stages"), s);

		assert_close(t.peak[s] * 1073741824.0,
			     at(stage, "total_bytes")->valuedouble, 1e-6);
	}
	cJSON_Delete(root);
	cJSON_Delete(result);
}

static void test_a_trace_shows_recomputation(void **state)
{
	cJSON *root =
		json_of("export trace llama3-70b-64-h100 --gbs 32 --recompute full", 0);
	struct tally t = { 0 };
	cJSON *e;

	(void)state;
	cJSON_ArrayForEach(e, at(root, "traceEvents")) tally_event(&t, e);
	assert_int_equal(t.items, 4 * 8 * 2);
	assert_int_equal(t.again, 4 * 8);
	cJSON_Delete(root);
}

/* The passes of a server, each as long as what fills it, and no time that is none. */
static void test_a_trace_of_a_server(void **state)
{
	cJSON *root = json_of("export trace deepseek-v3-8-h200-serve", 0), *e;
	double whole[3] = { 0 }, parts[3] = { 0 };

	(void)state;
	cJSON_ArrayForEach(e, at(root, "traceEvents"))
	{
		int lane = at(e, "pid")->valueint;

		assert_true(cJSON_IsNumber(at(e, "ts")));
		if (strcmp(at(e, "ph")->valuestring, "X") != 0)
			continue;
		assert_true(cJSON_IsNumber(at(e, "dur")));
		assert_true(lane >= 0 && lane < 3);
		if (at(e, "tid")->valueint == 0)
			whole[lane] += at(e, "dur")->valuedouble;
		else
			parts[lane] += at(e, "dur")->valuedouble;
	}
	/* parts of a pass with prompts may run beside each other */
	assert_close(parts[0], whole[0], 1e-5);
	assert_true(parts[1] > 0.99 * whole[1] && parts[2] > 0.99 * whole[2]);
	assert_true(whole[0] > 0 && whole[2] > whole[0]);
	cJSON_Delete(root);
	run_check("export trace deepseek-v3-8-h200-serve --tp 3", 1, NULL,
		  "no trace: this server is illegal");
}

static void test_a_trace_is_cut(void **state)
{
	cJSON *root = json_of("export trace llama3-70b-64-h100 --gbs 32 --stages 2 "
			      "--micro-batches 3",
			      0);
	struct tally t = { 0 };
	char command[256], line[256];
	FILE *pipe;
	cJSON *e;

	(void)state;
	cJSON_ArrayForEach(e, at(root, "traceEvents")) tally_event(&t, e);
	assert_int_equal(t.items, 2 * 3 * 2);
	assert_int_equal(t.starts, 2 * 1 * 3);
	assert_int_equal(t.ends, 2);
	cJSON_Delete(root);
	run_check("export megatron llama3-70b-64-h100 --stages 2", 2, NULL,
		  "--stages is of export trace and chakra; export megatron does not "
		  "take it");
	run_check("export json --model llama3-8b --tp 2", 0, "\"assumed\":\t{", NULL);
	run_check("export json llama3-70b-64-h100 --baseline llama3-8b-8-h100", 2, NULL,
		  "--baseline is of export markdown");
	run_check("export trace llama3-70b-64-h100 --stages 0", 2, NULL,
		  "--stages 0: expected a count above 0");
	snprintf(command, sizeof command,
		 "%s export trace llama3-70b-64-h100 --gbs 16384 2>&1 >/dev/null",
		 run_program());
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_non_null(fgets(line, sizeof line, pipe));
	assert_int_equal(pclose(pipe), 0);
	assert_non_null(strstr(line, "--micro-batches N cut it"));
}

/* A target of the other kind of plan is refused, with those that are of this kind. */
static void test_exports_of_the_wrong_kind(void **state)
{
	(void)state;
	run_check("export vllm llama3-70b-64-h100", 2, NULL,
		  "this plan trains; export it as one of megatron, ");
	run_check("export deepspeed deepseek-v3-8-b200-serve", 2, NULL,
		  "this plan serves; export it as one of vllm, ");
}

/* What can't be written is said, with the limit. */
static void test_a_trace_that_is_too_long(void **state)
{
	struct ran ran;

	(void)state;
	ran = run("export trace llama3-70b-64-h100 --gbs 16777216");
	assert_int_equal(ran.status, 1);
	assert_non_null(strstr(ran.err, "the limit is 1048576; turn gbs"));
	ran_free(&ran);
	ran = run("export trace llama3-70b-64-h100 --tp 7");
	assert_int_equal(ran.status, 1);
	assert_non_null(strstr(ran.err, "illegal"));
	ran_free(&ran);
}

/* Of the open plan, after steps of 60 s with so many stages. */
static double calibrated_step(const char *pps)
{
	char command[1024];
	FILE *pipe;
	char line[256] = "";

	snprintf(command, sizeof command,
		 "XDG_CONFIG_HOME=%s/config sh -c 'for pp in %s; do %s calibrate "
		 "llama3-70b-64-h100 --pp $pp --measured-step 60 > /dev/null; done; "
		 "%s eval llama3-70b-64-h100 --json | grep -m1 step_seconds'",
		 folder, pps, run_program(), run_program());
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_non_null(fgets(line, sizeof line, pipe));
	pclose(pipe);
	assert_non_null(strchr(line, ':'));
	return strtod(strchr(line, ':') + 1, NULL);
}

/* Runs are remembered: the more of them say the same, the more of it is believed, and
 * the same plan again counts once. */
static void test_measured_steps_calibrate_the_cluster(void **state)
{
	double two, four, again;

	(void)state;
	two = calibrated_step("4 8");
	four = calibrated_step("2 1");
	again = calibrated_step("1 1");
	assert_true(two > 40 && two < four && four < 60);
	assert_close(again, four, 1e-9);
}

static void test_help_and_version(void **state)
{
	static const char *const commands[] = { "",       "explore",  "eval", "check",
						"sweep",  "list",     "show", "screen",
						"export", "calibrate" };
	struct ran ran;

	(void)state;
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		char arguments[64];

		snprintf(arguments, sizeof arguments, "%s --help", commands[i]);
		ran = run(arguments);
		assert_int_equal(ran.status, 0);
		assert_non_null(strstr(ran.out, "usage: shardscope"));
		ran_free(&ran);
	}
	run_check(
		"screen --help", 0,
		"timeline                 When each stage runs which micro-batch, and where "
		"it is idle\n",
		NULL);
	ran = run("--version");
	assert_true(strncmp(ran.out, "shardscope ", 11) == 0);
	ran_free(&ran);
	/* without a terminal the explorer says so */
	ran = run("");
	assert_int_equal(ran.status, 2);
	assert_true(strncmp(ran.err, "shardscope: ", 12) == 0);
	ran_free(&ran);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[80];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	return system(command);
}

/* What keeps the goals is a part of what comes out, also where more is asked for than
 * the server takes. */
static void test_goodput_is_no_more_than_the_output(void **state)
{
	static const char *const degrees[] = { "--tp 2", "--tp 4", "--tp 8",
					       "--tp 8 --ep 8" };

	(void)state;
	for (size_t i = 0; i < sizeof degrees / sizeof degrees[0]; i++) {
		char line[256];
		struct ran ran;
		cJSON *root, *rates;

		snprintf(
			line, sizeof line,
			"eval --mode inference --model mixtral-8x7b --cluster dgx-h200 "
			"--gpus 16 --prompt 8192 --request_rate 50 --json %s",
			degrees[i]);
		ran = run(line);
		root = cJSON_Parse(ran.out);
		rates = cJSON_GetObjectItem(root, "throughput");
		assert_non_null(rates);
		assert_true(cJSON_GetObjectItem(rates, "goodput")->valuedouble <=
			    cJSON_GetObjectItem(rates, "output_tokens_per_second")
				    ->valuedouble);
		cJSON_Delete(root);
		ran_free(&ran);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_eval_prints_the_keys_of_the_contract),
		cmocka_unit_test(test_an_illegal_plan_is_an_answer),
		cmocka_unit_test(test_a_too_large_plan_is_complete),
		cmocka_unit_test(test_options_take_dashes_and_underscores),
		cmocka_unit_test(test_idle_options_are_told),
		cmocka_unit_test(test_idle_keys_are_told),
		cmocka_unit_test(test_stacks_in_full_say_nothing_idle),
		cmocka_unit_test(test_bad_options_are_refused),
		cmocka_unit_test(test_an_import_says_what_it_assumed),
		cmocka_unit_test(test_bad_files_are_refused_with_their_line),
		cmocka_unit_test(test_what_a_file_left_open_is_said),
		cmocka_unit_test(test_impossible_stacks_are_refused),
		cmocka_unit_test(test_a_hundred_thousand_brackets_are_refused),
		cmocka_unit_test(test_odd_paths_are_refused),
		cmocka_unit_test(test_pipes_are_read),
		cmocka_unit_test(test_unknown_stacks_are_cleaned),
		cmocka_unit_test(test_sweep_counts_and_shards),
		cmocka_unit_test(test_sweep_rows_hold_their_scenario),
		cmocka_unit_test(test_servers_stand_apart_from_training),
		cmocka_unit_test(test_lists_and_shows),
		cmocka_unit_test(test_exports_open_again),
		cmocka_unit_test(test_a_trace_opens_in_perfetto),
		cmocka_unit_test(test_a_trace_shows_recomputation),
		cmocka_unit_test(test_a_trace_of_a_server),
		cmocka_unit_test(test_a_trace_is_cut),
		cmocka_unit_test(test_exports_of_the_wrong_kind),
		cmocka_unit_test(test_a_trace_that_is_too_long),
		cmocka_unit_test(test_measured_steps_calibrate_the_cluster),
		cmocka_unit_test(test_help_and_version),
		cmocka_unit_test(test_goodput_is_no_more_than_the_output),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
