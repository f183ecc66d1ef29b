/* export.c - see export.h. */
#include "tui/explorer/export.h"

#include <stdlib.h>
#include <string.h>

#include "engine/knob.h"
#include "presets/accelerate/accelerate.h"
#include "presets/deepspeed/deepspeed.h"
#include "presets/kept.h"
#include "presets/megatron/megatron.h"
#include "presets/nanotron/nanotron.h"
#include "presets/report.h"
#include "presets/serving/serving.h"
#include "presets/torchtitan/torchtitan.h"
#include "presets/trace.h"

static char *write_markdown(const struct export_request *r)
{
	return report_markdown(r->scenario, r->estimate, r->baseline, r->before);
}

static char *write_scenario(const struct export_request *r)
{
	return kept_write(r->scenario, r->kept);
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
	return trace_write(r->scenario, r->error);
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

const struct export_format export_table[] = {
	{ "yaml", "yaml", "the scenario, to be opened again", write_scenario },
	{ "markdown", "md", "tables for an issue, a pull request or a wiki",
	  write_markdown },
	{ "json", "json", "scenario and every result, as eval --json", write_json },
	{ "csv", "csv", "knobs and results in one row", write_csv },
	{ "trace", "json", "the step as a Chrome trace, for Perfetto", write_trace },
	{ "megatron", "sh", "a torchrun command with Megatron-LM's flags",
	  write_megatron },
	{ "bridge", "py", "overrides of a Megatron-Bridge configuration",
	  write_bridge },
	{ "deepspeed", "json", "a DeepSpeed configuration", write_deepspeed },
	{ "torchtitan", "toml", "a torchtitan configuration up to v0.2.2",
	  write_torchtitan },
	{ "torchtitan-py", "py", "settings of torchtitan's configuration in Python",
	  write_torchtitan_python },
	{ "nanotron", "yaml", "a nanotron configuration", write_nanotron },
	{ "accelerate", "yaml", "a configuration of accelerate for FSDP",
	  write_accelerate },
	{ "vllm", "sh", "a vllm serve command", write_vllm },
	{ "sglang", "sh", "a sglang.launch_server command", write_sglang },
	{ "trtllm", "sh", "a trtllm-serve command and its YAML", write_trtllm },
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
