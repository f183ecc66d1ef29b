/* foreign.c - see foreign.h. */
#include "presets/foreign.h"

#include <string.h>

#include "engine/knob/knob.h"

bool text_is_scenario(const char *text)
{
	for (const char *at = strstr(text, "model: "); at;
	     at = strstr(at + 1, "model: "))
		if (at == text || at[-1] == '\n')
			return true;
	return false;
}

static bool is_own_key(const char *key, size_t length)
{
	static const char *const keys[] = { "model",  "cluster", "stack",
					    "format", "assumed", "kept" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (strlen(keys[i]) == length && strncmp(keys[i], key, length) == 0)
			return true;
	for (int i = 0; i < knob_count(); i++)
		if (strlen(knob_table[i].key) == length &&
		    strncmp(knob_table[i].key, key, length) == 0)
			return true;
	return false;
}

/* "model:" over a mapping of other words: a model that is written out has a width, or
 * is like another. */
static bool is_other_model(const char *key, const char *text)
{
	const char *end = strncmp(key, "model:", 6) == 0 ? key + 6 : NULL;

	return end && end[strspn(end, " \r")] == '\n' && !strstr(text, "hidden:") &&
	       !strstr(text, "like:");
}

/* The next key of an outermost mapping of JSON, without its quotes; *depth counts the
 * open brackets at *at. NULL behind the last. */
static const char *next_json_key(const char **at, int *depth, size_t *length)
{
	for (const char *c = *at; *c; c++) {
		const char *word = c + 1;

		if (*c == '{' || *c == '[')
			(*depth)++;
		if (*c == '}' || *c == ']')
			(*depth)--;
		if (*c != '"')
			continue;
		for (c = word; *c && *c != '"'; c++)
			c += *c == '\\' && c[1];
		*length = (size_t)(c - word);
		if (!*c)
			break;
		*at = c + 1 + strspn(c + 1, " \t\r\n");
		if (*depth == 1 && **at == ':')
			return word;
	}
	return NULL;
}

/* The next key at the start of a line. */
static const char *next_line_key(const char **at, size_t *length)
{
	while (*at) {
		const char *key = *at + (**at == '\n');

		*length = strspn(key, "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
		*at = strchr(*at + 1, '\n');
		if (*length > 0 && key[*length] == ':')
			return key;
	}
	return NULL;
}

/* What eval and search print: the scenario is inside. */
static bool is_answer(const char *key, size_t length)
{
	return (length == 8 && strncmp(key, "scenario", length) == 0) ||
	       (length == 4 && strncmp(key, "best", length) == 0);
}

bool text_is_foreign(const char *text)
{
	const char *at = text, *key;
	int own = 0, others = 0, depth = 0;
	size_t length;
	bool json = text[strspn(text, " \t\r\n")] == '{';

	while ((key = json ? next_json_key(&at, &depth, &length)
			   : next_line_key(&at, &length)))
		if (json && is_answer(key, length))
			return false;
		else if (is_own_key(key, length) &&
			 (json || !is_other_model(key, text)))
			own++;
		else
			others++;
	return own == 0 || others > own;
}

const char *text_why_none(const char *text, size_t length)
{
	if (length > 1 &&
	    (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
		return "text in UTF-16; iconv -f UTF-16 -t UTF-8 makes it one that is "
		       "read";
	if (memchr(text, '\0', length))
		return "no text: it holds zero bytes; expected YAML, JSON, TOML, "
		       "Python or a script";
	for (size_t i = 0; i < length; i++)
		if (!strchr(" \t\r\n", text[i]))
			return NULL;
	return "empty; expected a scenario or another tool's file";
}

const char *text_told(const char *text, bool markdown, bool script)
{
	static const struct {
		const char *word, *what;
	} uses[] = {
		{ "verl.trainer",
		  "reinforcement learning (verl), which is not modelled; "
		  "pre-training, SFT and serving are" },
		{ "main_dapo", "reinforcement learning (verl), which is not modelled; "
			       "pre-training, SFT and serving are" },
		{ "run_grpo",
		  "reinforcement learning (NeMo RL), which is not modelled; "
		  "pre-training, SFT and serving are" },
		{ "openrlhf.", "reinforcement learning (OpenRLHF), which is not "
			       "modelled; pre-training, SFT and serving are" },
		{ "atom.entrypoints.",
		  "a server of ATOM, which is not read; those of vLLM, SGLang and "
		  "TensorRT-LLM are" },
		{ "- /hydra_config/",
		  "a recipe of SageMaker HyperPod, whose defaults stand in the "
		  "hydra_config files that it names and are not here" },
		{ "launcher_scripts/main.py",
		  "a command of NeMo's launcher, whose settings stand in the file of "
		  "its conf/ that training= or peft= names: give that file" },
		{ "\n  configFile: ",
		  "values of a chart whose workload's settings stand in the file that "
		  "configFile names: give that file" },
		{ "CONFIG_FILE=", "it starts a trainer with the file that CONFIG_FILE "
				  "names: give that file" },
	};

	for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++)
		if (strstr(text, uses[i].word))
			return uses[i].what;
	if (markdown)
		return "no block of code in it starts training or a server of a kind "
		       "that is read";
	return script ? "a script, of whose commands none starts training or a server "
			"of a kind that is read"
		      : NULL;
}
