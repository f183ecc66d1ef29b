/* table.c - the commands. */
#include <string.h>

#include "tui/command.h"

const struct command command_table[] = {
	{ "explore",
	  "[SCENARIO] [--KNOB VALUE ...]",
	  "Open the explorer; without arguments where the last session ended.",
	  command_explore,
	  explore_options,
	  true,
	  { OPERAND_SCENARIO } },
	{ "eval",
	  "[SCENARIO] [--KNOB VALUE ...] [--json]",
	  "One estimate. Exit status 1 if the plan is illegal or does not fit.",
	  command_eval,
	  eval_options,
	  true,
	  { OPERAND_SCENARIO } },
	{ "check",
	  "[FILE] [--gpus N] [--stack NAME] [--rules FILE] [--KNOB VALUE ...] [--json]",
	  "Every legality and fit problem of a plan or of another tool's file, "
	  "with the nearest values that work; exit status 1 if there is any.",
	  command_check,
	  check_options,
	  true,
	  { OPERAND_SCENARIO } },
	{ "explain",
	  "KEY [SCENARIO] [--KNOB VALUE ...] [--json]",
	  "Where a number comes from: what it means, why one looks at it, formula, terms "
	  "with their values, assumption and source. KEY is one of eval --json "
	  "(step_seconds, tp.bytes, stages.0.total_bytes), a knob, a key that a term of a "
	  "formula names, or a term of the field (bubble, MFU, all-reduce).",
	  command_explain,
	  explain_options,
	  true,
	  { OPERAND_NUMBER, OPERAND_SCENARIO } },
	{ "search",
	  "[SCENARIO] [--KNOB VALUES ...] [--top N] [--objective WORD] [--ask WORD] "
	  "[--pareto WORD] [--json]",
	  "The best plan, exactly, with a proof. A knob is pinned by a value, a list "
	  "1,2,4 or a range 1..8; the degrees, micro-batch, ZeRO, recomputation and "
	  "schedule are free unless pinned. Activation offload, which few measured runs "
	  "cover, is free only on request: --activation_offload 0,0.5,1.",
	  command_search,
	  search_options,
	  true,
	  { OPERAND_SCENARIO } },
	{ "compare",
	  "A B [C ...] [--KNOB VALUE ...] [--json|--markdown]",
	  "Where the seconds and bytes of plans differ, row by row: computing, "
	  "recomputation, what each dimension exposes, bubble, optimizer; they add up to "
	  "the step. Plans are names, files, launch scripts or models without a plan; 'tp=8 pp=4' is the first "
	  "with these knobs turned, or what the options say where it stands first. "
	  "Options are for all of them; exit status 1 if any can't run or does not fit.",
	  command_compare,
	  compare_options,
	  true,
	  { OPERAND_SCENARIO, OPERAND_SCENARIO } },
	{ "verify",
	  "FILE",
	  "Check the proof that search --certificate FILE wrote: every plan of "
	  "the space in one box, and every box closed by a rule, bytes or seconds that "
	  "come out the same; exit status 1 if it is none.",
	  command_verify,
	  NULL,
	  false,
	  { OPERAND_FILE } },
	{ "sweep",
	  "[SCENARIO] --vary KNOB=V,V ... [--csv|--json] [--shard I/N]",
	  "Estimates over the product of values of some knobs.",
	  command_sweep,
	  sweep_options,
	  true,
	  { OPERAND_SCENARIO } },
	{ "list",
	  "models|clusters|stacks|plans|lessons|challenges|rules [--json]",
	  "The presets of a kind, or the rules of check; one per line, name first.",
	  command_list,
	  list_options,
	  false,
	  { OPERAND_KIND } },
	{ "show",
	  "NAME",
	  "The YAML of a preset.",
	  command_show,
	  NULL,
	  false,
	  { OPERAND_PRESET } },
	{ "screen",
	  "VIEW [SCENARIO] [--size 120x36] [--format text|ansi|svg]",
	  "A view of the explorer without a terminal.",
	  command_screen,
	  screen_options,
	  true,
	  { OPERAND_VIEW, OPERAND_SCENARIO } },
	{ "import",
	  "[FORMAT] FILE [ARGUMENT ...] [--set NAME=VALUE] [--KNOB VALUE ...]",
	  "A scenario of another tool's file, '-' for standard input; without FORMAT its kind is seen by its keys.",
	  command_import,
	  NULL,
	  true,
	  { OPERAND_IMPORT, OPERAND_FILE } },
	{ "export",
	  "FORMAT [DIR of chakra] [SCENARIO] [--KNOB VALUE ...] [--baseline SCENARIO]",
	  "A scenario and its estimate in another form.",
	  command_export,
	  export_options,
	  true,
	  { OPERAND_EXPORT, OPERAND_SCENARIO } },
	{ "validate",
	  "[FILE.yaml ...] [--json] [--left-out FILE]",
	  "Compare predictions with measured runs; without a file, those of tests/validation.",
	  command_validate,
	  validate_options,
	  false,
	  { OPERAND_FILE, OPERAND_FILE } },
	{ "calibrate",
	  "[SCENARIO] --measured-step SECONDS | --mllog FILE",
	  "Scale a cluster's kernels, links and hosts to measured steps; each call adds one "
	  "step. Kept in the user's folder.",
	  command_calibrate,
	  calibrate_options,
	  true,
	  { OPERAND_SCENARIO } },
	{ "learn",
	  "[LESSON] [--seed NAME]",
	  "Lessons inside the explorer: look, predict, turn, see why.",
	  command_learn,
	  learn_options,
	  false,
	  { OPERAND_LESSON } },
	{ "lesson",
	  "check NAME|FILE|all ... | sheet NAME --seeds FILE [--answers] | grade DIR",
	  "For a class: check lessons over 100 seeds, hand out sheets of one, grade a "
	  "folder of answers.",
	  command_lesson,
	  lesson_options,
	  false,
	  { OPERAND_VERB, OPERAND_LESSON } },
	{ "challenge",
	  "NAME [SCENARIO] [--KNOB VALUE ...] [--by WHO] [--answer FILE] | list | rank DIR",
	  "A goal with locked knobs, scored against the proven optimum, in the explorer. With "
	  "a scenario, a script or knobs it is scored at once; rank makes the leaderboard of a folder of "
	  "answers, each scored again.",
	  command_challenge,
	  challenge_options,
	  true,
	  { OPERAND_CHALLENGE, OPERAND_SCENARIO } },
	{ "share",
	  "[SCENARIO] [--KNOB VALUE ...]",
	  "One line that says the whole scenario, for a chat, a slide or a sheet; "
	  "shardscope open takes it, and so does every command in place of a file.",
	  command_share,
	  NULL,
	  true,
	  { OPERAND_SCENARIO } },
	{ "open",
	  "s1:LINE [--KNOB VALUE ...]",
	  "Open the explorer on a line that share printed. One that is damaged, or makes "
	  "another scenario here, is refused.",
	  command_explore,
	  explore_options,
	  true,
	  { OPERAND_SCENARIO } },
	{ "schema",
	  "[eval|check|sweep|search|explain|validate|compare|list|lesson]",
	  "The JSON Schema of what a command prints with --json; lesson: of a lesson's "
	  "file.",
	  command_schema,
	  NULL,
	  false,
	  { OPERAND_SCHEMA } },
	{ "completion",
	  "bash|zsh|fish",
	  "Completion for a shell: eval \"$(shardscope completion bash)\".",
	  command_completion,
	  NULL,
	  false,
	  { OPERAND_SHELL } },
	{ "manual",
	  "",
	  "The man page: shardscope manual | man -l -.",
	  command_manual,
	  NULL,
	  false,
	  { OPERAND_NONE } },
};

int command_count(void)
{
	return (int)(sizeof command_table / sizeof command_table[0]);
}

const struct command *command_find(const char *name)
{
	for (int i = 0; i < command_count(); i++)
		if (strcmp(command_table[i].name, name) == 0)
			return &command_table[i];
	return NULL;
}
