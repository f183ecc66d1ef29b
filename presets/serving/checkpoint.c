/* checkpoint.c - the model that a command serves, and its weights; see tool.h. */
#include <string.h>

#include "presets/library.h"
#include "presets/model_name.h"
#include "presets/serving/tool.h"

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
