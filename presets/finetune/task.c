/* task.c - see task.h. */
#include "presets/finetune/task.h"

#include <stdlib.h>
#include <string.h>

bool task_refuse(const struct mapped *m, const struct pair *pair, const char *why)
{
	return error_set(m->error, m->pairs->file, pair->line,
			 "%s is '%.40s': %s; tuning on the next token is modelled",
			 pair->key, pair->value, why);
}

/* Other losses and other models, by the keys that only they have, and whether a value
 * says so at all. */
static const struct {
	const char *key, *fine, *why;
} refused[] = {
	{ "task_type", "causal_lm", "it has another loss" },
	{ "loss_type", "nll dft chunked_nll loss_scale", "it is another loss" },
	{ "rlhf_type", "", "it needs more than one model or loss" },
	{ "beta", "", "its loss compares answers" },
	{ "teacher_model", "", "a teacher takes part in its loss" },
	{ "teacher_model_name_or_path", "", "a teacher takes part in its loss" },
	{ "reward_model_name_or_path", "", "it needs more than one model" },
	{ "reward_model_path", "", "it needs more than one model" },
	{ "actor_model_name_or_path", "", "it needs more than one model" },
	{ "ref_model", "", "it needs more than one model" },
	{ "reward_funcs", "", "it makes answers and judges them" },
	{ "num_generations", "", "it makes answers and judges them" },
	{ "max_prompt_length", "", "it has prompts and answers apart" },
	{ "max_completion_length", "", "it makes answers itself" },
	{ "num_padding_at_beginning", "", "it trains a judge of answers" },
	{ "tune_mm_mlp_adapter", "false", "only what joins eyes and text trains" },
	{ "freeze_parameters", "false",
	  "which layers it leaves alone is not modelled" },
	{ "lisa_activated_layers", "0", "which layers it leaves alone changes" },
	{ "use_galore", "false", "its states of low rank are not modelled" },
};

static bool is_word_of(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = words; *at != '\0'; at += strspn(at, " ")) {
		size_t used = strcspn(at, " ");

		if (used == length && strncmp(at, word, length) == 0)
			return true;
		at += used;
	}
	return false;
}

/* "trl dpo", "run_glue.py": what is started tells the loss. */
static bool check_program(const struct mapped *m)
{
	static const char *const other[] = {
		"dpo",     "grpo",     "ppo",      "rlhf",       "kto",
		"orpo",    "reward",   "rloo",     "cpo",        "bco",
		"gkd",     "distill",  "glue",     "class",      "embed",
		"rerank",  "whisp",    "seq2seq",  "run_qa",     "squad",
		"run_ner", "run_mlm",  "run_swag", "run_speech", "run_audio",
		"summar",  "translat", "diffus",   "dreambooth", "text_to_image",
	};
	const struct pair *command = pairs_find(m->pairs, "command");

	for (size_t i = 0; command && i < sizeof other / sizeof other[0]; i++)
		if (strstr(command->value, other[i]))
			return task_refuse(
				m, command,
				"it needs more than one model or another loss, "
				"which is not modelled");
	return true;
}

/* InternVL's, MiniCPM-V's and Qwen-VL's programs: whether the text part learns, by its
 * own weights or by adapters on them. */
static bool check_text(const struct mapped *m)
{
	static const struct {
		const char *key, *fine;
	} still[] = {
		{ "freeze_llm", "false" },
		{ "tune_llm", "true" },
		{ "tune_mm_llm", "true" },
	};
	const struct pair *rank = mapped_find(m, "use_llm_lora");
	bool adapts = (rank && atoi(rank->value) > 0) || mapped_true(m, "use_lora") ||
		      mapped_true(m, "lora_enable");

	for (size_t i = 0; i < sizeof still / sizeof still[0]; i++) {
		const struct pair *pair = mapped_find(m, still[i].key);

		if (pair && !adapts && !is_word_of(still[i].fine, pair->value))
			return task_refuse(m, pair, "the text part stays as it is");
	}
	return true;
}

bool task_check(const struct mapped *m)
{
	if (!check_program(m) || !check_text(m))
		return false;
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		const struct pair *pair = mapped_find(m, refused[i].key);

		if (pair && !is_word_of(refused[i].fine, pair->value))
			return task_refuse(m, pair, refused[i].why);
	}
	return true;
}
