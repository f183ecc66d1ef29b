/* export.c - see export.h. */
#include "tui/explorer/export.h"

#include <stdlib.h>
#include <string.h>

#include "engine/knob.h"
#include "presets/accelerate/accelerate.h"
#include "presets/deepspeed/deepspeed.h"
#include "presets/megatron/megatron.h"
#include "presets/nanotron/nanotron.h"
#include "presets/report.h"
#include "presets/scenario_file.h"
#include "presets/torchtitan/torchtitan.h"
#include "presets/trace.h"

static char *write_yaml(const struct scenario *scenario,
			const struct estimate *estimate)
{
	(void)estimate;
	return scenario_write(scenario);
}

static char *write_markdown(const struct scenario *scenario,
			    const struct estimate *estimate)
{
	return report_markdown(scenario, estimate, NULL, NULL);
}

static char *write_csv(const struct scenario *scenario, const struct estimate *estimate)
{
	const char *knobs[128];
	int count = 0;
	char *header, *row, *both = NULL;

	for (int i = 0; i < knob_count() && count < 128; i++)
		knobs[count++] = knob_table[i].key;
	header = report_csv_header(knobs, count);
	row = report_csv_row(scenario, estimate, knobs, count);
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
#define WRITE_PLAN(format)                                           \
	static char *write_##format(const struct scenario *scenario, \
				    const struct estimate *estimate) \
	{                                                            \
		(void)estimate;                                      \
		return format##_write(scenario);                     \
	}
WRITE_PLAN(megatron)
WRITE_PLAN(bridge)
WRITE_PLAN(deepspeed)
WRITE_PLAN(torchtitan)
WRITE_PLAN(nanotron)
WRITE_PLAN(accelerate)

static char *write_trace(const struct scenario *scenario,
			 const struct estimate *estimate)
{
	(void)estimate;
	return trace_write(scenario);
}

const struct export_format export_table[] = {
	{ "yaml", "yaml", "the scenario, to be opened again", write_yaml, NULL },
	{ "json", "json", "scenario and every result, as eval --json", report_json,
	  NULL },
	{ "csv", "csv", "knobs and results in one row", write_csv, NULL },
	{ "trace", "json", "the step as a Chrome trace, for Perfetto", write_trace,
	  NULL },
	{ "markdown", "md", "tables for an issue or a report", write_markdown, NULL },
	{ "megatron", "sh", "a torchrun command with Megatron-LM's flags",
	  write_megatron, megatron_write_kept },
	{ "bridge", "py", "overrides of a Megatron-Bridge configuration", write_bridge,
	  NULL },
	{ "deepspeed", "json", "a DeepSpeed configuration", write_deepspeed, NULL },
	{ "torchtitan", "toml", "a torchtitan configuration up to v0.2.2",
	  write_torchtitan, NULL },
	{ "nanotron", "yaml", "a nanotron configuration", write_nanotron, NULL },
	{ "accelerate", "yaml", "a configuration of accelerate for FSDP",
	  write_accelerate, NULL },
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
