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

/* "model" behind a folder, a template's place, a variable that whoever starts it fills
 * ($(MODEL_PATH) of Kubernetes) or nothing says nothing of what it is. */
static bool says_nothing(const char *checkpoint)
{
	return checkpoint[0] == '\0' || strchr("/.$", checkpoint[0]) ||
	       strstr(checkpoint, "{{");
}

void checkpoint_served(struct server_command *command, bool first,
		       struct import_report *report)
{
	static const char *const names[] = { "served-model-name", "served_model_name" };

	for (int i = 0; i < 2; i++) {
		const struct pair *served = pairs_find(&command->flags, names[i]);
		bool known = served && model_name_find(served->value);

		/* "org/name" is the model's, and to be told as what is not known */
		if (!served || !says_nothing(command->checkpoint) ||
		    model_name_find(command->checkpoint) ||
		    (!known && !strchr(served->value, '/')))
			continue;
		snprintf(command->checkpoint, sizeof command->checkpoint, "%s",
			 served->value);
		if (first && known)
			import_note(report, IMPORT_ASSUMED, "model",
				    "what it is served as: %.80s", served->value);
	}
}
