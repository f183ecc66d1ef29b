/* checkpoint.c - the model that a command serves, and its weights; see tool.h. */
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/library.h"
#include "presets/model_name.h"
#include "presets/serving/tool.h"

const char *checkpoint_native(const struct model *model, const char *checkpoint)
{
	const char *doubt;
	const char *named = checkpoint ? model_name_format(checkpoint, &doubt) : NULL;

	return named ? named : precision_words[model->precision];
}

const char *checkpoint_id(const struct model *model)
{
	const struct preset *preset = preset_find(PRESET_MODEL, model->name);

	return preset && preset->alias[0] != '\0' ? preset->alias : model->name;
}
