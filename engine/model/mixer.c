/* mixer.c - see mixer.h. */
#include "engine/model/mixer.h"

#include <string.h>

static int64_t no_channels(const struct model *model, const struct layer_kind *kind)
{
	(void)model, (void)kind;
	return 0;
}

static void draw_nothing(const struct model *model, const struct layer_kind *kind,
			 const struct share *share, struct shapes *out)
{
	(void)model, (void)kind, (void)share, (void)out;
}

static void measure_nothing(const struct model *model, const struct layer_kind *kind,
			    double tp, struct mixing *out)
{
	(void)model, (void)kind, (void)tp;
	*out = (struct mixing){ 0 };
}

const struct mixer mixer_none = {
	.label = "no mixer",
	.channels = no_channels,
	.measure = measure_nothing,
	.draw = draw_nothing,
	.parameters = "0",
};

#define MIXER_ROW(NAME, name) [MIXER_##NAME] = &mixer_##name,
const struct mixer *const mixer_rows[MIXER_COUNT] = { MIXERS(MIXER_ROW) };
#undef MIXER_ROW

enum mixer_kind mixer_lettered(char letter)
{
	for (int i = 0; i < MIXER_COUNT && letter != '\0'; i++)
		if (mixer_rows[i]->letter == letter)
			return (enum mixer_kind)i;
	return MIXER_NONE;
}

const char *mixer_meaning(const struct mixer *mixer, const char *key)
{
	for (int i = 0; i < MAX_MIXER_SYMBOLS && mixer->symbol[i].symbol; i++)
		if (mixer->symbol[i].key && strcmp(mixer->symbol[i].key, key) == 0)
			return mixer->symbol[i].meaning;
	return NULL;
}

bool mixer_scans_any(const struct model *model)
{
	for (int k = 0; k < model->kinds; k++)
		if (mixer_of(&model->kind[k])->scans)
			return true;
	return false;
}

bool mixer_latent_any(const struct model *model)
{
	for (int k = 0; k < model->kinds; k++)
		if (mixer_of(&model->kind[k])->latent)
			return true;
	return false;
}
