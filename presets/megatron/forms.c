/* forms.c - telling the forms of a Megatron-LM launch apart; see forms.h. */
#include "presets/megatron/forms.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/manifest.h"

/* A YAML file has a line that begins with a key and a colon; a script has flags
 * followed by blanks. */
static bool looks_yaml(const char *text, size_t length)
{
	const char *at = text, *stop = text + length;

	while (at < stop) {
		const char *end = memchr(at, '\n', (size_t)(stop - at));
		const char *word = at;

		end = end ? end : stop;
		while (word < end && (*word == ' ' || *word == '\t'))
			word++;
		if (word < end && *word != '#' && *word != '\n') {
			const char *name = word;

			while (word < end &&
			       (isalnum((unsigned char)*word) || *word == '-' ||
				*word == '_' || *word == '.'))
				word++;
			return word > name && word < end && *word == ':' &&
			       (word + 1 == end || isspace((unsigned char)word[1]));
		}
		at = end + 1;
	}
	return false;
}

/* Recipes of Megatron-Bridge that only have other names for those of another file. */
static bool names_elsewhere(const char *file, const char *text, struct error *error)
{
	static const char import[] = "from megatron.bridge.recipes.";
	const char *from = strstr(text, import);
	int length;

	if (!from || strstr(text, "\ndef "))
		return true;
	from += strlen("from ");
	length = (int)strcspn(from, " \t\r\n(");
	return error_set(error, file, 1,
			 "it only has other names for the recipes of %.*s: give that "
			 "file",
			 length > 100 ? 100 : length, from);
}

bool arguments_read(struct arguments *out, const char *file, const char *text,
		    size_t length, const struct script_given *given,
		    struct error *error)
{
	char *script = manifest_commands(text, length);
	bool good;

	memset(out, 0, sizeof *out);
	out->given = given;
	snprintf(out->file, sizeof out->file, "%s", file);
	error_clean(out->file);
	if (script)
		good = arguments_from_shell(out, script, strlen(script), error);
	else if (printed_looks_like(text, length))
		good = arguments_from_printed(out, text, length) ||
		       error_set(error, out->file, 0, "more than %d flags",
				 ARGUMENTS_MAX);
	else if (recipe_looks_like(text))
		good = arguments_from_recipe(out, text, length, error);
	else if (nemo2_recipe_looks_like(text))
		good = arguments_from_nemo2_recipe(out, text, length, error);
	else if (nemo2_looks_like(text))
		good = arguments_from_nemo2(out, text, length, error);
	else if (bridge_looks_like(text, length))
		good = arguments_from_bridge(out, text, length, error);
	else if (looks_yaml(text, length))
		good = arguments_from_yaml(out, text, length, error);
	else
		good = arguments_from_shell(out, text, length, error);
	free(script);
	if (good && out->count == 0 && !names_elsewhere(out->file, text, error))
		good = false;
	if (good && out->count == 0)
		good = error_set(error, out->file, 1,
				 "no flags found; expected a torchrun command line, a "
				 "script with --flags, MODEL_ARGS in YAML, or the "
				 "arguments that Megatron prints at start");
	if (good && out->world == 0)
		arguments_take_world(out);
	good = good && performance_add(out, error);
	if (!good)
		arguments_free(out);
	return good;
}
