/* amend.c - a list of arguments laid over a scenario whose shape and degrees stand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/megatron/flags.h"
#include "presets/megatron/megatron.h"
#include "presets/megatron/parts.h"

/* Flags of the network as "name=value" words of a stream, for megatron_write_model().
 */
static void put_pair(struct export_out *out, const char *flag, const char *value)
{
	fprintf(out->body, "%s=%s\n", flag, value);
}

/* One flag; what it switches off goes, whoever named it before. */
static bool add_pair(struct arguments *arguments, char *pair, int line)
{
	char *equals = strchr(pair, '=');
	const char *value = equals ? equals + 1 : "True";

	if (equals)
		*equals = '\0';
	if (strcmp(value, "None") != 0 && strcmp(value, "False") != 0)
		return arguments_add(arguments, pair,
				     strcmp(value, "True") == 0 ? "" : value, line);
	arguments_drop(arguments, pair);
	return true;
}

static bool add_pairs(struct arguments *arguments, char *text, const char *between,
		      int line)
{
	char *rest = NULL;

	for (char *pair = strtok_r(text, between, &rest); pair;
	     pair = strtok_r(NULL, between, &rest))
		if (!add_pair(arguments, pair, line))
			return false;
	return true;
}

/* The network and the degrees that stand, as flags before those of the run. */
static bool add_standing(struct arguments *arguments, const struct scenario *s,
			 int line)
{
	struct export_out *out = export_begin();
	const struct flag_writer writer = { s, out, put_pair };
	char *text, value[MAX_NOTE];
	bool good = out != NULL;

	if (!good)
		return false;
	megatron_write_model(&writer);
	for (const struct flag *flag = megatron_flags; flag->name; flag++) {
		if (flag->form != FLAG_VALUE)
			continue;
		knob_print(s, knob_find(flag->knob), value, sizeof value);
		/* a flag may mean more than its value */
		if (!flag->absent || strcmp(value, flag->absent) != 0)
			put_pair(out, flag->name, value);
	}
	if (s->plan.vpp > 1)
		megatron_put_count(&writer, "virtual-pipeline-model-parallel-size",
				   s->plan.vpp);
	megatron_put_count(&writer, "world-size", s->cluster.gpus);
	text = export_end_bare(out);
	good = text && add_pairs(arguments, text, "\n", line);
	free(text);
	return good;
}

/* Whether these flags say anything of the network. */
static bool names_model(const struct arguments *arguments, int from)
{
	for (int i = from; i < arguments->count; i++)
		if (megatron_model_flag(arguments->item[i].name))
			return true;
	return false;
}

static bool take(const struct arguments *arguments, bool model, struct scenario *out,
		 struct import_report *report, struct error *error)
{
	struct scenario made = *out;

	if (model) {
		if (!megatron_model(arguments, &made.model, report, error))
			return false;
		memcpy(made.model.name, out->model.name, sizeof made.model.name);
		memcpy(made.model.approximate, out->model.approximate,
		       sizeof made.model.approximate);
	}
	if (!megatron_plan(arguments, &made, report, error))
		return false;
	out->model = made.model;
	out->plan = made.plan;
	return true;
}

bool megatron_amend(struct scenario *out, const char *file, int line, const char *text,
		    struct import_report *report, struct error *error)
{
	struct arguments arguments;
	char *copy = strdup(text);
	bool good;
	int standing;

	memset(&arguments, 0, sizeof arguments);
	snprintf(arguments.file, sizeof arguments.file, "%s", file);
	good = copy && add_standing(&arguments, out, line);
	standing = arguments.count;
	good = good && add_pairs(&arguments, copy, " ", line);
	if (!good)
		error_set(error, file, line, "more than %d flags, or out of memory",
			  ARGUMENTS_MAX);
	else
		good = take(&arguments, names_model(&arguments, standing), out, report,
			    error);
	free(copy);
	arguments_free(&arguments);
	return good;
}
