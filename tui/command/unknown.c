/* unknown.c - see unknown.h. */
#include "tui/command/unknown.h"

#include <stdio.h>
#include <string.h>

#include "engine/estimate/estimate.h"
#include "engine/knob/knob.h"
#include "presets/format_table.h"
#include "tui/meant.h"

static void consider(const char *name, const char *option, int *least,
		     const char **nearest)
{
	int far = knob_distance(name, option);

	if (far >= *least)
		return;
	*least = far;
	*nearest = option;
}

/* Of a command's own options, the scenario's and the knobs. */
static const char *nearest_option(const struct command *command, const char *name)
{
	static const char *const all[] = { "help",     "model", "cluster", "stack",
					   "scenario", "dp",    "set" };
	int least = strlen(name) < 4 ? 2 : 3;
	const char *nearest = NULL;

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		consider(name, all[i], &least, &nearest);
	for (int i = 0; command->own && command->own[i].name; i++)
		consider(name, command->own[i].name, &least, &nearest);
	for (int i = 0; command->knobs && i < knob_count(); i++) {
		consider(name, knob_table[i].key, &least, &nearest);
		if (knob_table[i].alias)
			consider(name, knob_table[i].alias, &least, &nearest);
	}
	return nearest;
}

/* Knobs, and dp, which is only checked. */
static bool is_option(const char *key)
{
	return knob_find(key) || strcmp(key, "dp") == 0;
}

/* "--gbs or --mbs". */
static void add_meant(const char *key, char *out, size_t size)
{
	size_t used = strlen(out);

	snprintf(out + used, size - used, "%s--%s", used > 0 ? " or " : "", key);
}

/* All that a word stands for or begins; empty where none is an option. */
static void list_meant(const char *name, char *out, size_t size)
{
	const char *flag = format_flag_knob(name), *key;

	out[0] = '\0';
	if (flag)
		add_meant(flag, out, size);
	for (int i = 0; !flag && (key = meant_key(name, i)); i++)
		if (is_option(key))
			add_meant(key, out, size);
	if (out[0] != '\0' || strlen(name) < 3)
		return;
	for (int i = 0; i < knob_count(); i++)
		if (meant_text_begins(knob_table[i].key, name))
			add_meant(knob_table[i].key, out, size);
}

/* A number that is worked out, by its key or by such a word. */
static const struct metric *meant_number(const char *name)
{
	const char *key = meant_key(name, 0);

	for (int i = 0; i < metric_count(); i++)
		if (knob_distance(metric_table[i].key, name) == 0 ||
		    (key && strcmp(metric_table[i].key, key) == 0))
			return &metric_table[i];
	return NULL;
}

bool option_unknown(const struct command *command, const char *name,
		    struct error *error)
{
	const char *bare = name + strspn(name, "-");
	const struct metric *number;
	const char *near;
	char meant[256];

	if (command->knobs) {
		list_meant(bare, meant, sizeof meant);
		if (meant[0] != '\0')
			return error_set(error, NULL, 0,
					 "no option '%.60s'; it is %s here", name,
					 meant);
	}
	near = nearest_option(command, bare);
	if (near)
		return error_set(error, NULL, 0,
				 "no option '%.60s'; did you mean --%s?", name, near);
	number = command->knobs ? meant_number(bare) : NULL;
	if (number)
		return error_set(error, NULL, 0,
				 "no option '%.60s': it is worked out; shardscope "
				 "explain %s says how",
				 name, number->key);
	return error_set(error, NULL, 0, "no option '%.60s'; --help lists them", name);
}

bool option_is_meant(const struct command *command, const char *word,
		     const char *option, struct error *error)
{
	const struct knob *own = knob_find(option), *other;
	const char *key;
	char name[MAX_NAME], *bare;

	snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
	bare = name + strspn(name, "-");
	if (!command->knobs || knob_distance(bare, option) == 0)
		return true;
	for (int i = 0; (key = meant_key(bare, i)); i++) {
		other = knob_find(key);
		if (other && other != own)
			return option_unknown(command, name, error);
	}
	return true;
}
