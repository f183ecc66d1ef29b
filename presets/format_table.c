/* format_table.c - see format_table.h. */
#include "presets/format_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/accelerate/accelerate.h"
#include "presets/chakra.h"
#include "presets/deepspeed/deepspeed.h"
#include "presets/finetune/finetune.h"
#include "presets/hf/hf_model.h"
#include "presets/hf/quantisation.h"
#include "presets/kept.h"
#include "presets/library.h"
#include "presets/maxtext/maxtext.h"
#include "presets/megatron/flags.h"
#include "presets/megatron/megatron.h"
#include "presets/mlperf/mlperf.h"
#include "presets/nanotron/nanotron.h"
#include "presets/report.h"
#include "presets/serving/serving.h"
#include "presets/serving/tool.h"
#include "presets/share.h"
#include "presets/torchtitan/torchtitan.h"

/* Not the path, which a scenario would take for a file to read. */
static void take_name(struct model *model, const char *file)
{
	const char *slash = strrchr(file, '/');

	file = slash ? slash + 1 : file;
	snprintf(model->name, sizeof model->name, "%.*s", (int)strcspn(file, "."),
		 file);
	if (model->name[0] == '\0')
		snprintf(model->name, sizeof model->name, "hf");
	error_clean(model->name);
}

/* A model says nothing of machine or plan: those of a DGX H100 and Megatron Core. */
static bool hf_read(struct scenario *out, const char *file, const char *text,
		    size_t length, struct import_report *report, struct error *error)
{
	struct document document;
	struct scenario made;
	bool good;

	scenario_defaults(&made);
	if (!document_parse_json(&document, file, text, length, false, error))
		return false;
	good = hf_model_read(&document, &made.model, report, error) &&
	       library_cluster(&made.cluster, "dgx-h100", error) &&
	       library_stack(&made, "megatron-core", error);
	document_free(&document);
	if (good) {
		hf_quantised_beside(file, &made.model);
		take_name(&made.model, file);
		import_note(report, IMPORT_ASSUMED, "cluster", "dgx-h100");
		import_note(report, IMPORT_ASSUMED, "stack", "megatron-core");
		*out = made;
	}
	return good;
}

static char *write_markdown(const struct format_request *r)
{
	return report_markdown(r->scenario, r->estimate, r->baseline, r->before,
			       r->assumed ? r->assumed : "");
}

static char *write_scenario(const struct format_request *r)
{
	return kept_write(r->scenario, r->kept);
}

static char *write_share(const struct format_request *r)
{
	char *line = share_write(r->scenario, r->kept, r->error);
	size_t length = line ? strlen(line) : 0;
	char *whole = line ? realloc(line, length + 2) : NULL;

	if (!whole) {
		free(line);
		return NULL;
	}
	memcpy(whole + length, "\n", 2);
	return whole;
}

static char *write_json(const struct format_request *r)
{
	struct cJSON *root = report_object(r->scenario, r->estimate);

	if (r->start)
		report_start(root, r->start, r->scenario);
	report_lacks(root, r->scenario);
	return report_print(root, false);
}

static char *write_megatron(const struct format_request *r)
{
	return megatron_write_kept(r->scenario, r->kept);
}

static char *write_trace(const struct format_request *r)
{
	return trace_write(r->scenario, &r->cut, r->error);
}

static char *write_vllm(const struct format_request *r)
{
	return vllm_write(r->scenario, r->kept);
}

static char *write_sglang(const struct format_request *r)
{
	return sglang_write(r->scenario, r->kept);
}

static char *write_trtllm(const struct format_request *r)
{
	return trtllm_write(r->scenario, r->kept);
}

static char *write_dynamo(const struct format_request *r)
{
	return dynamo_write(r->scenario, r->kept, r->error);
}

static char *write_llmd(const struct format_request *r)
{
	return llmd_write(r->scenario, r->kept, r->error);
}

static char *write_csv(const struct format_request *r)
{
	const char *knobs[MAX_KNOBS];
	int count = 0;
	char *header, *row, *both = NULL;

	for (int i = 0; i < knob_count(); i++)
		if (knob_in_mode(&knob_table[i], r->scenario->plan.mode))
			knobs[count++] = knob_table[i].key;
	header = report_csv_header(r->scenario->plan.mode, knobs, count);
	row = report_csv_row(r->scenario->plan.mode, r->scenario, r->estimate, knobs,
			     count);
	if (header && row)
		both = malloc(strlen(header) + strlen(row) + 1);
	if (both) {
		strcpy(both, header);
		strcat(both, row);
	}
	free(header);
	free(row);
	return both;
}

/* Targets that say what to run, whatever comes of it. */
#define WRITE_PLAN(format)                                          \
	static char *write_##format(const struct format_request *r) \
	{                                                           \
		return format##_write(r->scenario);                 \
	}
WRITE_PLAN(bridge)
WRITE_PLAN(deepspeed)
WRITE_PLAN(torchtitan)
WRITE_PLAN(nanotron)
WRITE_PLAN(accelerate)

static char *write_torchtitan_python(const struct format_request *r)
{
	return torchtitan_write_python(r->scenario);
}

static bool write_chakra(const struct format_request *r, const char *folder,
			 struct chakra_files *files)
{
	return chakra_write(r->scenario, &r->cut, folder, files, r->error);
}

#define NONE_IN                   \
	{                         \
		NULL, NULL, false \
	}
#define NONE_OUT                                      \
	{                                             \
		NULL, NULL, FORMAT_OF_ANY, NULL, NULL \
	}

/* In the order in which help names them, on either side. */
const struct format format_table[] = {
	{ "yaml",
	  NONE_IN,
	  { "the scenario, to be opened again", "yaml", FORMAT_OF_ANY, write_scenario,
	    NULL } },
	{ "share",
	  NONE_IN,
	  { "one line, for a chat or a slide; shardscope open takes it", "txt",
	    FORMAT_OF_ANY, write_share, NULL } },
	{ "markdown",
	  NONE_IN,
	  { "tables for an issue, a pull request or a wiki", "md", FORMAT_OF_ANY,
	    write_markdown, NULL } },
	{ "json",
	  NONE_IN,
	  { "scenario and every result, as eval --json", "json", FORMAT_OF_ANY,
	    write_json, NULL } },
	{ "csv",
	  NONE_IN,
	  { "knobs and results in one row", "csv", FORMAT_OF_ANY, write_csv, NULL } },
	{ "trace",
	  NONE_IN,
	  { "the step, or a server's passes, as a Chrome trace, for Perfetto", "json",
	    FORMAT_OF_ANY, write_trace, NULL } },
	{ "chakra",
	  NONE_IN,
	  { "the step as Chakra traces, one per stage, into a folder: for ASTRA-sim",
	    "et", FORMAT_OF_TRAINING, NULL, write_chakra } },
	{ "hf", { "a model's config.json of Hugging Face", hf_read, false }, NONE_OUT },
	{ "megatron",
	  { "Megatron-LM's flags: script, command line, YAML, start-up print; overrides of Megatron-Bridge",
	    megatron_read, true },
	  { "a torchrun command with Megatron-LM's flags", "sh", FORMAT_OF_TRAINING,
	    write_megatron, NULL } },
	{ "bridge",
	  NONE_IN,
	  { "overrides of a Megatron-Bridge configuration", "py", FORMAT_OF_TRAINING,
	    write_bridge, NULL } },
	{ "deepspeed",
	  { "a DeepSpeed configuration, JSON", deepspeed_read, false },
	  { "a DeepSpeed configuration", "json", FORMAT_OF_TRAINING, write_deepspeed,
	    NULL } },
	{ "torchtitan",
	  { "a torchtitan configuration: TOML up to v0.2.2, later Python or flags",
	    torchtitan_read, false },
	  { "a torchtitan configuration up to v0.2.2", "toml", FORMAT_OF_TRAINING,
	    write_torchtitan, NULL } },
	{ "torchtitan-py",
	  NONE_IN,
	  { "settings of torchtitan's configuration in Python", "py",
	    FORMAT_OF_TRAINING, write_torchtitan_python, NULL } },
	{ "nanotron",
	  { "a nanotron configuration, YAML", nanotron_read, false },
	  { "a nanotron configuration", "yaml", FORMAT_OF_TRAINING, write_nanotron,
	    NULL } },
	{ "accelerate",
	  { "a configuration of accelerate, YAML", accelerate_read, false },
	  { "a configuration of accelerate for FSDP", "yaml", FORMAT_OF_TRAINING,
	    write_accelerate, NULL } },
	{ "llama-factory",
	  { "a training file of LLaMA-Factory, YAML", llama_factory_read, false },
	  NONE_OUT },
	{ "axolotl",
	  { "a training file of axolotl, YAML", axolotl_read, false },
	  NONE_OUT },
	{ "trainer",
	  { "a command of transformers' Trainer: TRL's, swift sft or a script's own; TRL's YAML",
	    trainer_read, false },
	  NONE_OUT },
	{ "maxtext",
	  { "a configuration of MaxText, its file of a model, YAML, or a script with its command",
	    maxtext_read, false },
	  NONE_OUT },
	{ "mlperf",
	  { "settings of an MLPerf Training submission, a script of exports",
	    mlperf_read, false },
	  NONE_OUT },
	{ "vllm",
	  { "a vllm serve command, a script or recipe with one, its YAML or Kubernetes'",
	    vllm_read, true },
	  { "a vllm serve command", "sh", FORMAT_OF_SERVERS, write_vllm, NULL } },
	{ "lmcache",
	  { "LMCache's own configuration, YAML", lmcache_read, false },
	  NONE_OUT },
	{ "sglang",
	  { "a sglang.launch_server command, or a script with one", sglang_read, true },
	  { "a sglang.launch_server command", "sh", FORMAT_OF_SERVERS, write_sglang,
	    NULL } },
	{ "trtllm",
	  { "a trtllm-serve command, a script with one, or its YAML", trtllm_read,
	    true },
	  { "a trtllm-serve command and its YAML", "sh", FORMAT_OF_SERVERS,
	    write_trtllm, NULL } },
	{ "dynamo",
	  NONE_IN,
	  { "a DynamoGraphDeployment for Kubernetes", "yaml", FORMAT_OF_SERVERS,
	    write_dynamo, NULL } },
	{ "llm-d",
	  NONE_IN,
	  { "values of llm-d's charts", "yaml", FORMAT_OF_SERVERS, write_llmd, NULL } },
};

int format_count(void)
{
	return (int)(sizeof format_table / sizeof format_table[0]);
}

static const struct format *find(const char *name)
{
	for (int i = 0; i < format_count(); i++)
		if (strcmp(format_table[i].name, name) == 0)
			return &format_table[i];
	return NULL;
}

bool format_is_written(const struct format *format)
{
	return format->out.write || format->out.write_folder;
}

const struct format *format_find(const char *name)
{
	const struct format *format = find(name);

	return format && format->in.read ? format : NULL;
}

const struct format *format_find_written(const char *name)
{
	const struct format *format = find(name);

	return format && format_is_written(format) ? format : NULL;
}

bool format_suits(const struct format *format, const struct scenario *scenario,
		  struct error *error)
{
	bool serves = scenario->plan.mode == MODE_INFERENCE;
	char others[160] = "";

	if (format->out.of == FORMAT_OF_ANY ||
	    (format->out.of == FORMAT_OF_SERVERS) == serves)
		return true;
	for (int i = 0; i < format_count(); i++)
		if (format_table[i].out.write &&
		    format_table[i].out.of != FORMAT_OF_ANY &&
		    format_table[i].out.of != format->out.of)
			snprintf(others + strlen(others),
				 sizeof others - strlen(others), "%s%s",
				 others[0] ? ", " : "", format_table[i].name);
	return error_set(error, NULL, 0,
			 serves ? "export %s is of training, and this plan serves; "
				  "export it as one of %s, or set --mode training"
				: "export %s is of servers, and this plan trains; "
				  "export it as one of %s, or set --mode inference",
			 format->name, others);
}

const char *format_flag_knob(const char *name)
{
	static const struct tool *const tools[] = { &tool_vllm, &tool_sglang,
						    &tool_trtllm };
	const struct flag *flag = megatron_flag(name);

	for (size_t i = 0; !flag && i < sizeof tools / sizeof tools[0]; i++) {
		const struct mapping *row;
		char key[128];

		tool_key(tools[i], name, key);
		row = tool_row(tools[i], key);
		if (row)
			return row->knob;
	}
	return flag ? flag->knob : NULL;
}
