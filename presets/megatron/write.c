/* write.c - a scenario as a Megatron-LM command. */
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/megatron/flags.h"
#include "presets/megatron/megatron.h"
#include "presets/megatron/parts.h"

static void put_flag(struct export_out *out, const char *flag, const char *value)
{
	/* the number of layers says it; Megatron-Bridge has a switch, too */
	if (strcmp(flag, "cpu-offloading") == 0)
		return;
	/* brackets, bars and stars mean something to a shell */
	bool plain =
		value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
				    "UVWXYZ0123456789_.,+- ")] == '\0';

	fprintf(out->body, " \\\n  --%s%s", flag, value[0] ? " " : "");
	fprintf(out->body, plain ? "%s" : "'%s'", value);
}

/* Whether the plan asks for this flag already. */
static bool is_written(struct export_out *out, const char *flag)
{
	char word[sizeof((struct import_note *)0)->key + 8];
	const char *at;

	fflush(out->body);
	snprintf(word, sizeof word, "\n  --%s", flag);
	at = strstr(out->text, word);
	return at && strchr(" \n", at[strlen(word)]);
}

/* Flags that came with the file and that no knob or shape stands for. Variables stay
 * what they are; anything else that a shell would act on is quoted. */
static void put_kept(struct export_out *out, const struct import_report *kept)
{
	/* others would mean something to a shell */
	static const char names[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

	for (int i = 0; i < kept->count; i++) {
		const struct import_note *note = &kept->note[i];
		const char *value = note->text;

		if (is_written(out, note->key) || note->kind != IMPORT_NOT_MODELLED ||
		    megatron_flag(note->key) || megatron_plan_flag(note->key) ||
		    megatron_model_flag(note->key))
			continue;
		if (strlen(value) >= sizeof note->text - 1 || strchr(value, '\'') ||
		    strlen(note->key) >= sizeof note->key - 1 ||
		    note->key[strspn(note->key, names)] != '\0') {
			export_unsaid(out, note->key,
				      "its value or name can't be kept");
			continue;
		}
		bool plain =
			value[strspn(value,
				     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL"
				     "MNOPQRSTUVWXYZ0123456789_.,+-/:=@%${} ")] == '\0';

		fprintf(out->body, " \\\n  --%s%s", note->key, value[0] ? " " : "");
		fprintf(out->body, plain ? "%s" : "'%s'", value);
	}
	if (kept->left_out > 0)
		export_unsaid(out, "more flags", "%d; the file has too many of them",
			      kept->left_out);
}

void megatron_put_launcher(struct export_out *out, const struct scenario *scenario)
{
	int64_t gpus = scenario->cluster.gpus, each = scenario->cluster.gpus_per_node;

	each = each < 1 ? 1 : each > gpus ? gpus : each;
	each = gpus % each == 0 ? each : 1;
	fprintf(out->body, "torchrun --nproc-per-node %lld --nnodes %lld",
		(long long)each, (long long)(gpus / each));
}

/* What of the recipe is no flag. */
static void put_environment(struct export_out *out, const struct scenario *scenario)
{
	for (int i = 0; i < 3; i++) {
		const struct knob *knob = knob_find(megatron_fp4_variables[i].knob);

		if (knob_applies(scenario, knob) && knob_get(scenario, knob) == 0)
			fprintf(out->body, "export %s=1\n",
				megatron_fp4_variables[i].name);
	}
}

char *megatron_write(const struct scenario *scenario)
{
	return megatron_write_kept(scenario, NULL);
}

char *megatron_write_kept(const struct scenario *scenario,
			  const struct import_report *kept)
{
	struct export_out *out = export_begin();
	struct scenario settled;
	struct flag_writer writer = { &settled, out, put_flag };
	char title[2 * MAX_NOTE];

	if (!out)
		return NULL;
	megatron_settle(scenario, &settled, out);
	put_environment(out, scenario);
	megatron_put_launcher(out, scenario);
	fputs(megatron_is_hybrid(&settled.model) ? " pretrain_hybrid.py"
						 : " pretrain_gpt.py",
	      out->body);
	megatron_write_model(&writer);
	megatron_write_plan(&writer);
	if (kept && strcmp(kept->kept, "megatron") == 0)
		put_kept(out, kept);
	fputc('\n', out->body);
	export_subject(scenario, title, sizeof title);
	return export_end(out, "#!/bin/bash\n", "#", title);
}
