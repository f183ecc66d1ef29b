/* test_script.c - launch scripts that decide: branches, loops, functions, arguments,
 * and variables from outside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/imported.h"

/* A script after the manner of Pai-Megatron-Patch. */
#define HEAD            \
	"#!/bin/bash\n" \
	"ENV=$1\nMODEL_SIZE=$2\nTP=$3\nPR=$4\nSP=${5:-false}\nSEQ=${10}\n"
#define BODY                                                                        \
	"if [ $ENV = dsw ]; then\n"                                                 \
	"  NNODES=1\n  GPUS=8\n"                                                    \
	"elif [ $ENV = dlc ]; then\n"                                               \
	"  NNODES=${WORLD_SIZE}\n  GPUS=4\n"                                        \
	"fi\n"                                                                      \
	"case $MODEL_SIZE in\n"                                                     \
	"  7B|7b) LAYERS=32; HIDDEN=4096; HEADS=32 ;;\n"                            \
	"  13B)\n    LAYERS=40\n    HIDDEN=5120\n    HEADS=40\n    ;;\n"            \
	"  *) echo \"unknown\"; LAYERS=2; HIDDEN=64; HEADS=2 ;;\n"                  \
	"esac\n"                                                                    \
	"if [ $PR = fp16 ]; then\n  pr=\" --fp16\"\n"                               \
	"elif [ $PR = bf16 ]; then\n  pr=\" --bf16\"\nfi\n"                         \
	"if [ $SP = true ] && [ $TP -gt 1 ]; then\n  sp=\"--sequence-parallel\"\n"  \
	"elif [ $SP = false ]; then\n  sp=\" \"\nfi\n"                              \
	"[[ $TP == 8 && -n $PR ]] && extra=\"--micro-batch-size 4\"\n"              \
	"options=\"--num-layers ${LAYERS} --hidden-size ${HIDDEN} \\\n"             \
	"  --num-attention-heads ${HEADS} --seq-length ${SEQ} \\\n"                 \
	"  --tensor-model-parallel-size ${TP}\"\n"                                  \
	"cmd=\"torchrun --nproc_per_node $GPUS --nnodes $NNODES train.py $options " \
	"$pr $sp $extra\"\n"                                                        \
	"eval $cmd\n"

static struct script_given given;

static void give(const char *const *args, int count)
{
	memset(&given, 0, sizeof given);
	for (int i = 0; i < count; i++)
		given.arg[given.args++] = args[i];
	read_given(&given);
}

static void test_arguments(void **state)
{
	static const char *const seven[] = { "dsw", "7B", "2", "fp16", "false",
					     "6",   "7",  "8", "9",    "2048" };
	static const char *const thirteen[] = { "dlc", "13B", "8", "bf16", "true",
						"6",   "7",   "8", "9",    "4096" };
	struct scenario s;

	(void)state;
	give(seven, 10);
	read_good("megatron", HEAD BODY, &s);
	expect(&s, "tp", "2");
	expect(&s, "gpus", "8");
	expect(&s, "seq", "2048");
	expect(&s, "precision", "fp16");
	expect(&s, "sp", "off");
	expect(&s, "mbs", "1");
	assert_int_equal(s.model.hidden, 4096);
	assert_int_equal(s.model.layers, 32);
	assert_false(noted(IMPORT_ASSUMED, "arguments"));

	give(thirteen, 10);
	given.set[given.sets++] = "WORLD_SIZE=16";
	read_good("megatron", HEAD BODY, &s);
	expect(&s, "tp", "8");
	expect(&s, "gpus", "64");
	expect(&s, "precision", "bf16");
	expect(&s, "sp", "on");
	expect(&s, "mbs", "4");
	assert_int_equal(s.model.layers, 40);

	/* what --set says stands over what the script does, and over an argument */
	given.set[given.sets++] = "LAYERS=48";
	given.set[given.sets++] = "10=1024";
	read_good("megatron", HEAD BODY, &s);
	assert_int_equal(s.model.layers, 48);
	expect(&s, "seq", "1024");
	read_given(NULL);
}

/* How the script says itself that it is called. */
static void test_usage(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "#!/bin/bash\n# sh run_x.sh dsw 7B 4 bf16 true a b c d 8192\n" HEAD
			  BODY,
		  &s);
	expect(&s, "tp", "4");
	expect(&s, "sp", "on");
	expect(&s, "seq", "8192");
	assert_true(noted(IMPORT_ASSUMED, "arguments"));
	/* nothing to go by: which argument it is, and how to give it */
	read_refused("megatron", HEAD BODY, "takes 10 arguments");
	read_refused("megatron", HEAD BODY, "--set");
}

/* Of an unset variable of the environment the default holds, not the other branch. */
static void test_environment(void **state)
{
	static const char text[] =
		"TP=${MY_TP:-2}\n: ${MY_MBS:=3}\n"
		"if [ -z ${MY_VP} ]; then\n  vp=\"\"\nelse\n"
		"  vp=\"--num-layers-per-virtual-pipeline-stage ${MY_VP}\"\nfi\n"
		"torchrun --nproc_per_node 8 train.py --num-layers 32 --hidden-size 1024 "
		"--num-attention-heads 16 --tensor-model-parallel-size $TP $vp "
		"--pipeline-model-parallel-size 4 --micro-batch-size $MY_MBS\n";
	struct scenario s;

	(void)state;
	setenv("MY_TP", "1", 1);
	read_good("megatron", text, &s);
	expect(&s, "tp", "2"); /* ours is not asked unless the caller says so */
	expect(&s, "mbs", "3");
	expect(&s, "vpp", "1");
	give(NULL, 0);
	given.environment = true;
	setenv("MY_VP", "4", 1);
	read_good("megatron", text, &s);
	expect(&s, "tp", "1");
	expect(&s, "vpp", "2");
	assert_true(noted(IMPORT_ASSUMED, "environment"));
	unsetenv("MY_TP");
	unsetenv("MY_VP");
	read_given(NULL);
}

#define FLAGS                                                                      \
	"torchrun --nproc_per_node 8 train.py --num-layers $LAYERS --hidden-size " \
	"1024 --num-attention-heads 16 --tensor-model-parallel-size $TP\n"

/* Options are parsed by a loop; another builds a text; a third is one of launches. */
static void test_loops(void **state)
{
	static const char *const args[] = { "--layers", "12", "--tp=4", "--fast" };
	static const char options[] =
		"LAYERS=2\nTP=1\n"
		"while [[ $# -gt 0 ]]; do\n  case $1 in\n"
		"    --layers) LAYERS=\"$2\"; shift 2 ;;\n"
		"    --tp=*)\n      TP=\"${1#*=}\"\n      shift\n      ;;\n"
		"    *) shift ;;\n  esac\ndone\n" FLAGS;
	struct scenario s;

	(void)state;
	give(args, 4);
	read_good("megatron", options, &s);
	expect(&s, "tp", "4");
	assert_int_equal(s.model.layers, 12);
	give(NULL, 0);
	read_good("megatron", options, &s);
	expect(&s, "tp", "1");
	assert_int_equal(s.model.layers, 2);

	read_good("megatron", "LAYERS=4\nfor TP in 8 4 2; do\n" FLAGS "done\n", &s);
	expect(&s, "tp", "8");
	assert_true(noted(IMPORT_ASSUMED, "loop"));
	/* a command in the line of its "do", in loops in loops */
	read_good(
		"vllm",
		"M=(Qwen/Qwen3-8B Qwen/Qwen3-32B)\nfor X in \"${M[@]}\"; do for T in 4 8; "
		"do vllm serve $X -tp $T; done; done\n",
		&s);
	assert_string_equal(s.model.name, "qwen3-8b");
	expect(&s, "tp", "4");
	for (int i = 0; i < report.count; i++)
		if (strcmp(report.note[i].key, "loop") == 0)
			assert_string_equal(report.note[i].text,
					    "X is the first of Qwen/Qwen3-8B "
					    "Qwen/Qwen3-32B; T is the first of 4 8");
	/* a function that calls itself */
	read_good("megatron",
		  "TP=2\nLAYERS=4\nkids() {\n  for k in $(pgrep x); do kids $k; done\n"
		  "  kids\n}\nkids 1\n" FLAGS,
		  &s);
	expect(&s, "tp", "2");
	/* words of a text into variables; of a file they are not known */
	read_good(
		"megatron",
		"for c in '4,12' '2,6'; do\n  IFS=',' read -r TP LAYERS <<< \"$c\"\n" FLAGS
		"done\n",
		&s);
	expect(&s, "tp", "4");
	assert_int_equal(s.model.layers, 12);
	read_good("megatron", "read -r TP LAYERS REST <<< '8 12 and more'\n" FLAGS, &s);
	expect(&s, "tp", "8");
	read_refused("megatron", "LAYERS=4\nread -r TP < list\n" FLAGS,
		     "--tensor-model-parallel-size");
	read_good("megatron",
		  "TP=1\nfor i in 1 2 3; do\n  LAYERS=$((i * 4))\ndone\n" FLAGS, &s);
	assert_int_equal(s.model.layers, 12);
	/* one that waits for ever is left */
	read_good("megatron", "TP=1\nLAYERS=4\nwhile true; do\n sleep 1\ndone\n" FLAGS,
		  &s);
	read_good("megatron",
		  "TP=1\nLAYERS=4\nwhile true; do\n  LAYERS=6; break; LAYERS=8\n"
		  "done\n" FLAGS,
		  &s);
	assert_int_equal(s.model.layers, 6);
	read_given(NULL);
}

static void test_functions(void **state)
{
	struct scenario s;

	(void)state;
	read_good(
		"megatron",
		"shape() {\n  LAYERS=$1\n  if (( $2 > 4 )); then TP=2; else TP=1; fi\n"
		"}\nfunction other {\n  LAYERS=99\n}\nshape 24 8\n" FLAGS,
		&s);
	expect(&s, "tp", "2");
	assert_int_equal(s.model.layers, 24);
	/* the launch itself in one that is called, and in one that never is */
	read_good("megatron",
		  "run() {\n  LAYERS=$1; TP=$2\n  " FLAGS "}\nrun 10 4 && echo good\n",
		  &s);
	expect(&s, "tp", "4");
	assert_int_equal(s.model.layers, 10);
	read_good("megatron", "LAYERS=6\nTP=2\nrun() {\n" FLAGS "}\n", &s);
	assert_int_equal(s.model.layers, 6);
}

/* What only running would tell takes no branch. */
/* "<DIRECTORY> --fp16" opens no file that is called --fp16, and srun's tasks of a node
 * are its GPUs. */
static void placeholders_are_words(void **state)
{
	struct scenario s;

	(void)state;
	memset(&given, 0, sizeof given);
	read_given(&given);
	read_good(
		"megatron",
		"#SBATCH <SLURM OPTIONS> --nodes=4 --ntasks-per-node=8\n"
		"options=\"--num-layers 32 --hidden-size 4096 \\\n"
		"  --num-attention-heads 32 --seq-length 2048 \\\n"
		"  --vocab-file <PATH TO gpt-vocab.json> \\\n"
		"  --tensor-model-parallel-size 8 --global-batch-size 64 \\\n"
		"  --tensorboard-dir <TENSORBOARD DIRECTORY> --fp16\"\n"
		"srun -l sh -c \"python -u pretrain_gpt.py $@ ${options}\" > out.log\n",
		&s);
	expect(&s, "precision", "fp16");
	expect(&s, "gpus", "32");
	expect(&s, "tp", "8");
	read_good("megatron",
		  "torchrun train.py --num-layers 32 --hidden-size 4096 \\\n"
		  "  --num-attention-heads 32 --bf16 <in.txt >out.txt\n",
		  &s);
	expect(&s, "precision", "bf16");
}

static void test_unknown(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "TP=2\nLAYERS=8\nif [ -f /etc/passwd ]; then TP=4; fi\n"
		  "if [ `hostname` = big ]; then TP=8; LAYERS=16; fi\n"
		  "if which python; then TP=1; fi\n"
		  "test -d ckpt || LAYERS=9\n"
		  "[ $TP != 2 ] || LAYERS=10\n" FLAGS,
		  &s);
	expect(&s, "tp", "2");
	assert_int_equal(s.model.layers, 10);
	/* and so does what a command writes to: its words are none of it */
	read_good("megatron",
		  "TP=2\nLAYERS=8\ntorchrun --nproc_per_node 8 > log.txt 2>&1 train.py "
		  "--num-layers $LAYERS --hidden-size 1024 --num-attention-heads 16 "
		  "--tensor-model-parallel-size $TP\n",
		  &s);
	expect(&s, "tp", "2");
}

/* ${NAME} in its forms. */
static void test_forms(void **state)
{
	static const struct {
		const char *form, *tp;
	} forms[] = {
		{ "${X%%x*}", "4" },
		{ "${X##*x}", "2" },
		{ "${Y:1:1}", "8" },
		{ "${X/4x2/8}", "8" },
		{ "${A[1]}", "2" },
		{ "${#Y}", "4" },
		{ "${Z:+4}${Z:-1}", "1" },
		{ "${X:+4}", "4" },
		{ "${W:-4}", "2" },
		{ "${W-4}", "2" },
		{ "$((Y > 5 ? 2 : 4))", "2" },
		{ "${W,,}", "2" },
		{ "$(( 2 * (1 + 1) ))", "4" },
		{ "$(( 2 ** 2 ))", "4" },
		{ "$((2 * 2**0 ** 2 + 2))", "4" },
		{ "${X#4x}", "2" },
	};
	char text[1024];
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		snprintf(text, sizeof text,
			 "X=4x2\nY=1800\nW=2\nA=(1 2 4)\nLAYERS=4\nTP=%s\n" FLAGS,
			 forms[i].form);
		read_good("megatron", text, &s);
		expect(&s, "tp", forms[i].tp);
	}
}

/* A comment between the lines of a command, or a backslash that is missing: what stands
 * behind is the command's, as it is meant, and that is said. */
static void lines_that_lost_their_command(void **state)
{
	struct scenario s;

	(void)state;
	read_good("vllm",
		  "vllm serve Qwen/Qwen3-8B \\\n  -tp 2 \\\n  # the length\n"
		  "  # and more\n  --max-model-len 8192 # tokens\n"
		  "  --max-num-seqs 64\necho done\n",
		  &s);
	expect(&s, "tp", "2");
	assert_true(noted(IMPORT_ASSUMED, "line"));
	assert_true(noted(IMPORT_NOT_MODELLED, "max-model-len"));
	assert_true(noted(IMPORT_TAKEN, "max-num-seqs"));
	/* an empty line ends it, an assignment is no command, and flags alone are none
	 */
	read_good("vllm", "vllm serve Qwen/Qwen3-8B -tp 2\n\n--max-model-len 8192\n",
		  &s);
	assert_false(noted(IMPORT_ASSUMED, "line"));
	assert_false(noted(IMPORT_NOT_MODELLED, "max-model-len"));
	read_good("megatron",
		  "A=1\n--num-layers 8 --hidden-size 1024 --num-attention-heads 16\n",
		  &s);
	assert_false(noted(IMPORT_ASSUMED, "line"));
}

/* In a text that is assigned a list is joined; an empty list is set, and adds nothing.
 */
static void lists_in_texts(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "NET=(\n  --num-layers 16\n  --hidden-size 1024\n"
		  "  --num-attention-heads 16\n)\nNONE=(\n # --use-wandb\n)\n"
		  "CMD=\"python3 pretrain_gpt.py ${NET[@]} --micro-batch-size 4\"\n"
		  "CMD=\"$CMD --tensor-model-parallel-size 2\"\n"
		  "srun bash -c \"RANK=1 $CMD ${NONE[@]} --bf16\"\n",
		  &s);
	expect(&s, "tp", "2");
	expect(&s, "mbs", "4");
	assert_int_equal(s.model.layers, 16);
	assert_int_equal(s.model.hidden, 1024);
	read_good("megatron",
		  "NONE=(\n # --use-wandb\n)\ntorchrun pretrain_gpt.py --num-layers 16 "
		  "--hidden-size 1024 --num-attention-heads 16 --bf16 ${NONE[@]} "
		  "--micro-batch-size 4\n",
		  &s);
	expect(&s, "mbs", "4");
}

/* What printf -v makes is set, and not known. */
static void test_printed_variable(void **state)
{
	(void)state;
	read_refused("megatron",
		     "printf -v TP \"%s\" \"$(nproc)\"\ntorchrun "
		     "pretrain_gpt.py --num-layers 16 --hidden-size 1024 "
		     "--num-attention-heads 16 --tensor-model-parallel-size \"$TP\"\n",
		     "$TP, which a command sets");
}

/* for ((i = 0; i < N; i++)): what its rounds fill. */
static void loops_that_count(void **state)
{
	static const struct {
		const char *head, *tp;
	} loops[] = {
		{ "for ((i=1; i<=2; i++)); do TP=$((TP * 2)); done\n", "4" },
		{ "for (( i = 8; i > 0; i -= 4 )); do\n  TP=$i\ndone\n", "4" },
		{ "for ((i=0; i<$TP; ++i))\ndo\n  TP=2\ndone\n", "2" },
		{ "for ((i=0; i<0; i++)); do TP=8; done\n", "1" },
		{ "for ((i=0; i<${#NODES}; i=i*2)); do TP=2; done\n", "2" },
	};
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
		char text[512];

		snprintf(text, sizeof text, "LAYERS=4\nTP=1\n%s" FLAGS, loops[i].head);
		read_good("megatron", text, &s);
		expect(&s, "tp", loops[i].tp);
	}
	read_good(
		"megatron",
		"LAYERS=4\nTP=1\nF=\"\"\nfor ((n=0; n<LAYERS; n++)); do\n"
		"  if [ $n -lt 1 ]; then F+=\"0,\"; else F+=\"1,\"; fi\ndone\n"
		"torchrun train.py --num-layers $LAYERS --hidden-size 1024 "
		"--num-attention-heads 16 --num-experts 8 --moe-layer-freq [${F%,}]\n",
		&s);
	assert_int_equal(s.model.layers, 4);
	assert_int_equal(s.model.kinds, 2);
}

/* $(echo $WORDS | tr …) only changes the blanks; other filters change the words. */
static void echoed_words(void **state)
{
	static const char more[] =
		"LAYERS=4\nTP=1\nMORE=\"\n --micro-batch-size 4\n --bf16\"\n"
		"CMD=\"torchrun --nproc_per_node 8 train.py --num-layers $LAYERS "
		"--hidden-size 1024 --num-attention-heads 16\"\n"
		"CMD=\"$CMD $(echo \"$MORE\" | %s)\"\nsrun bash -c \"$CMD\"\n";
	struct scenario s;
	char text[512];

	(void)state;
	snprintf(text, sizeof text, more, "tr '\\n' ' ' | sed 's/  \\+/ /g'");
	read_good("megatron", text, &s);
	expect(&s, "mbs", "4");
	expect(&s, "precision", "bf16");
	snprintf(text, sizeof text, more, "sed -e 's/  */ /g'");
	read_good("megatron", text, &s);
	expect(&s, "mbs", "4");
	snprintf(text, sizeof text, more, "cut -d' ' -f3");
	read_good("megatron", text, &s);
	expect(&s, "mbs", "1");
	read_good("megatron", "LAYERS=$(echo 4)\nTP=$(echo $LAYERS)\n" FLAGS, &s);
	expect(&s, "tp", "4");
	read_refused("megatron", "LAYERS=4\nTP=$(echo $LAYERS | wc -c)\n" FLAGS,
		     "$TP, which a command sets");
}

/* An array that && passes over is not set, and what follows is not passed over. */
static void arrays_are_passed_over(void **state)
{
	struct scenario s;

	(void)state;
	read_good(
		"megatron",
		"MORE=()\n[ -n \"\" ] && MORE+=(--micro-batch-size 4)\n"
		"[ -n \"x\" ] && MORE+=(--bf16)\n"
		"torchrun --nproc_per_node 8 train.py --num-layers 4 --hidden-size 1024 "
		"--num-attention-heads 16 --seq-length 1024 \"${MORE[@]}\"\n",
		&s);
	expect(&s, "mbs", "1");
	expect(&s, "precision", "bf16");
	expect(&s, "gpus", "8");
}

/* DeepSpeed's launcher may count nodes alone. */
static void nodes_without_gpus(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "deepspeed --num_nodes=2 --hostfile h pretrain_gpt.py --num-layers 4 "
		  "--hidden-size 1024 --num-attention-heads 16 --seq-length 1024 "
		  "--micro-batch-size 4 --global-batch-size 64 --fp16\n",
		  &s);
	expect(&s, "gpus", "16");
	assert_true(noted(IMPORT_ASSUMED, "gpus"));
}

/* A script in single quotes has the variables of the one around it. */
static void script_in_quotes(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "TP=4\nNET=(--num-layers 4 --hidden-size 1024)\n"
		  "srun bash -c '\ncd /there\ntorchrun --nproc_per_node 8 train.py \\\n"
		  "  \"${NET[@]}\" --num-attention-heads 16 \\\n"
		  "  --tensor-model-parallel-size \"$TP\" \\\n  --bf16\n'\n",
		  &s);
	expect(&s, "tp", "4");
	expect(&s, "precision", "bf16");
	assert_int_equal(s.model.layers, 4);
	read_good("vllm",
		  "export TP=4 NAME=Qwen/Qwen3-8B\n"
		  "srun bash -c 'vllm serve $NAME --tensor-parallel-size $TP'\n",
		  &s);
	expect(&s, "tp", "4");
}

/* A script with the environment of Ascend's toolkit runs on it. */
static void environments_name_machines(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "source /usr/local/Ascend/ascend-toolkit/set_env.sh\nTP=8\n"
		  "LAYERS=4\n" FLAGS,
		  &s);
	assert_string_equal(s.cluster.name, "ascend-910b");
	read_good("megatron", "export HCCL_IF_BASE_PORT=1 TP=8\nLAYERS=4\n" FLAGS, &s);
	assert_string_equal(s.cluster.name, "ascend-910b");
	/* where Huawei's layer takes Megatron's flags, and some of its own */
	read_good(
		"megatron",
		"NPUS_PER_NODE=8\nTP=2\nLAYERS=8\n"
		"torchrun --nproc_per_node $NPUS_PER_NODE train.py --num-layers $LAYERS "
		"--hidden-size 1024 --num-attention-heads 16 --context-parallel-size 2 "
		"--context-parallel-algo ulysses_cp_algo --schedules-method dualpipev "
		"--pipeline-model-parallel-size 2 --tensor-model-parallel-size $TP\n",
		&s);
	assert_string_equal(s.cluster.name, "ascend-910b");
	assert_string_equal(s.stack.name, "mindspeed");
	expect(&s, "cp_kind", "ulysses");
	expect(&s, "schedule", "dualpipev");
}

/* Behind a switch a variable holds further flags: an empty one, or one that nobody set,
 * holds none. Behind a flag that takes a value it is the value. */
static void switches_take_no_value(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "args=\"\"\nargs=\" --deepspeed ${args}\"\n"
		  "args=\" --zero-stage=2 ${args}\"\n"
		  "torchrun train.py --num-layers 8 --hidden-size 1024 "
		  "--num-attention-heads 16 --bf16 $args\n",
		  &s);
	expect(&s, "zero", "2");
	assert_false(noted(IMPORT_ASSUMED, "flags"));
	read_good("megatron",
		  "torchrun train.py --num-layers 8 --hidden-size 1024 "
		  "--num-attention-heads 16 --bf16 ${EXTRA_ARGS}\n",
		  &s);
	expect(&s, "precision", "bf16");
	assert_true(noted(IMPORT_ASSUMED, "flags"));
	read_refused("megatron",
		     "torchrun train.py --num-layers 8 --hidden-size 1024 "
		     "--num-attention-heads 16 --seq-length ${EXTRA_ARGS}\n",
		     "which nothing sets");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(placeholders_are_words),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(lines_that_lost_their_command),
		cmocka_unit_test(lists_in_texts),
		cmocka_unit_test(test_printed_variable),
		cmocka_unit_test(loops_that_count),
		cmocka_unit_test(echoed_words),
		cmocka_unit_test(arrays_are_passed_over),
		cmocka_unit_test(nodes_without_gpus),
		cmocka_unit_test(script_in_quotes),
		cmocka_unit_test(environments_name_machines),
		cmocka_unit_test(switches_take_no_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
