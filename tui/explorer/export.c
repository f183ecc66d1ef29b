/* export.c - see export.h. */
#include "tui/explorer/export.h"

#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/accelerate/accelerate.h"
#include "presets/chakra.h"
#include "presets/deepspeed/deepspeed.h"
#include "presets/kept.h"
#include "presets/megatron/megatron.h"
#include "presets/nanotron/nanotron.h"
#include "presets/report.h"
#include "presets/serving/serving.h"
#include "presets/share.h"
#include "presets/torchtitan/torchtitan.h"
#include "presets/trace.h"

static char *write_markdown(const struct export_request *r)
{
	return report_markdown(r->scenario, r->estimate, r->baseline, r->before,
			       r->assumed ? r->assumed : "");
}

static char *write_scenario(const struct export_request *r)
{
	return kept_write(r->scenario, r->kept);
}

static char *write_share(const struct export_request *r)
{
	char *line = share_write(r->scenario, r->error);
	size_t length = line ? strlen(line) : 0;
	char *whole = line ? realloc(line, length + 2) : NULL;

	if (!whole) {
		free(line);
		return NULL;
	}
	memcpy(whole + length, "\n", 2);
	return whole;
}

static char *write_json(const struct export_request *r)
{
	return report_json(r->scenario, r->estimate);
}

static char *write_megatron(const struct export_request *r)
{
	return megatron_write_kept(r->scenario, r->kept);
}

static char *write_trace(const struct export_request *r)
{
	return trace_write(r->scenario, &r->cut, r->error);
}

static char *write_vllm(const struct export_request *r)
{
	return vllm_write(r->scenario, r->kept);
}

static char *write_sglang(const struct export_request *r)
{
	return sglang_write(r->scenario, r->kept);
}

static char *write_trtllm(const struct export_request *r)
{
	return trtllm_write(r->scenario, r->kept);
}

static char *write_csv(const struct export_request *r)
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
	static char *write_##format(const struct export_request *r) \
	{                                                           \
		return format##_write(r->scenario);                 \
	}
WRITE_PLAN(bridge)
WRITE_PLAN(deepspeed)
WRITE_PLAN(torchtitan)
WRITE_PLAN(nanotron)
WRITE_PLAN(accelerate)

static char *write_torchtitan_python(const struct export_request *r)
{
	return torchtitan_write_python(r->scenario);
}

static bool write_chakra(const struct export_request *r, const char *folder, int *files)
{
	return chakra_write(r->scenario, folder, files, r->error);
}

const struct export_format export_table[] = {
	{ "yaml", "yaml", "the scenario, to be opened again", EXPORT_OF_ANY,
	  write_scenario, NULL },
	{ "share", "txt", "one line, for a chat or a slide; shardscope open takes it",
	  EXPORT_OF_ANY, write_share, NULL },
	{ "markdown", "md", "tables for an issue, a pull request or a wiki",
	  EXPORT_OF_ANY, write_markdown, NULL },
	{ "json", "json", "scenario and every result, as eval --json", EXPORT_OF_ANY,
	  write_json, NULL },
	{ "csv", "csv", "knobs and results in one row", EXPORT_OF_ANY, write_csv,
	  NULL },
	{ "trace", "json",
	  "the step, or a server's passes, as a Chrome trace, for Perfetto",
	  EXPORT_OF_ANY, write_trace, NULL },
	{ "chakra", "et",
	  "the step as Chakra traces, one a stage, into a folder: for ASTRA-sim",
	  EXPORT_OF_TRAINING, NULL, write_chakra },
	{ "megatron", "sh", "a torchrun command with Megatron-LM's flags",
	  EXPORT_OF_TRAINING, write_megatron, NULL },
	{ "bridge", "py", "overrides of a Megatron-Bridge configuration",
	  EXPORT_OF_TRAINING, write_bridge, NULL },
	{ "deepspeed", "json", "a DeepSpeed configuration", EXPORT_OF_TRAINING,
	  write_deepspeed, NULL },
	{ "torchtitan", "toml", "a torchtitan configuration up to v0.2.2",
	  EXPORT_OF_TRAINING, write_torchtitan, NULL },
	{ "torchtitan-py", "py", "settings of torchtitan's configuration in Python",
	  EXPORT_OF_TRAINING, write_torchtitan_python, NULL },
	{ "nanotron", "yaml", "a nanotron configuration", EXPORT_OF_TRAINING,
	  write_nanotron, NULL },
	{ "accelerate", "yaml", "a configuration of accelerate for FSDP",
	  EXPORT_OF_TRAINING, write_accelerate, NULL },
	{ "vllm", "sh", "a vllm serve command", EXPORT_OF_SERVERS, write_vllm, NULL },
	{ "sglang", "sh", "a sglang.launch_server command", EXPORT_OF_SERVERS,
	  write_sglang, NULL },
	{ "trtllm", "sh", "a trtllm-serve command and its YAML", EXPORT_OF_SERVERS,
	  write_trtllm, NULL },
};

int export_count(void)
{
	return (int)(sizeof export_table / sizeof export_table[0]);
}

const struct export_format *export_find(const char *name)
{
	for (int i = 0; i < export_count(); i++)
		if (strcmp(export_table[i].name, name) == 0)
			return &export_table[i];
	return NULL;
}

bool export_suits(const struct export_format *format, const struct scenario *scenario,
		  struct error *error)
{
	bool serves = scenario->plan.mode == MODE_INFERENCE;
	char others[160] = "";

	if (format->of == EXPORT_OF_ANY || (format->of == EXPORT_OF_SERVERS) == serves)
		return true;
	for (int i = 0; i < export_count(); i++)
		if (export_table[i].write && export_table[i].of != EXPORT_OF_ANY &&
		    export_table[i].of != format->of)
			snprintf(others + strlen(others),
				 sizeof others - strlen(others), "%s%s",
				 others[0] ? ", " : "", export_table[i].name);
	return error_set(error, NULL, 0,
			 serves ? "export %s is of training, and this plan serves; "
				  "export it as one of %s, or set --mode training"
				: "export %s is of servers, and this plan trains; "
				  "export it as one of %s, or set --mode inference",
			 format->name, others);
}
