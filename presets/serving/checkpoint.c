/* checkpoint.c - the model that a command serves, and its weights; see tool.h. */
#include <string.h>

#include "presets/library.h"
#include "presets/model_name.h"
#include "presets/serving/tool.h"

bool checkpoint_model(const char *checkpoint, struct model *out,
		      struct import_report *report, struct error *error)
{
	const struct preset *found =
		checkpoint[0] != '\0' ? model_name_find(checkpoint) : NULL;

	if (checkpoint[0] == '\0')
		return import_unstated_model(out, 1, report, error);
	if (found) {
		import_note(report, IMPORT_TAKEN, "model", "%s as %s", checkpoint,
			    found->name);
		return library_model(out, found->name, error);
	}
	import_note(report, IMPORT_NOT_MODELLED, "model", "%s", checkpoint);
	if (!library_model(out, "llama3.1-8b", error))
		return false;
	import_note(report, IMPORT_ASSUMED, "model",
		    "llama3.1-8b: the library has no such model; --model "
		    "config.json does");
	return true;
}

/* config.json of the published weights: quantization_config.quant_method fp8 with
 * weight_block_size 128 x 128, or mxfp4. */
const char *checkpoint_native(const struct model *model, const char *checkpoint)
{
	static const char *const blocks[] = { "deepseek-v3", "kimi-k2", "minimax-m2.5",
					      NULL };

	const char *named = checkpoint ? model_name_format(checkpoint) : NULL;

	if (named)
		return named;
	if (word_among(model->name, blocks))
		return "fp8-block";
	return strncmp(model->name, "gpt-oss-", 8) == 0 ? "nvfp4" : "bf16";
}

const char *checkpoint_id(const struct model *model)
{
	const struct preset *preset = preset_find(PRESET_MODEL, model->name);

	return preset && preset->alias[0] != '\0' ? preset->alias : model->name;
}
