/* mixer.h - what is there to know of a way to mix tokens?
 *
 * Counts, training, serving, rules, Explain and the readers of files ask this, never
 * which way it is.
 */
#ifndef ENGINE_MODEL_MIXER_H
#define ENGINE_MODEL_MIXER_H

#include <stddef.h>

#include "engine/base/formula.h"
#include "engine/model/model.h"
#include "engine/model/shape.h"

enum { MAX_MIXER_SYMBOLS = 16 };

struct ssm_form;

struct mixer {
	const char *label; /* "Mamba-1"; model files have the name in MIXERS */
	char letter; /* of a hybrid pattern (Megatron's, Nemotron-H's), 0 = none ... */
	const struct mixer *nearest; /* ... and what is written in its place */
	/* Whether it attends over tokens by heads; whether over latents, which have no
	 * key-value heads to split; whether it carries a state. */
	bool attends, latent, scans;
	/* Heads or channels that ranks may share out. */
	int64_t (*channels)(const struct model *model, const struct layer_kind *kind);
	/* Of state spaces and their kin, what the columns below ask (ssm.h). */
	void (*form)(const struct model *model, double tp, struct ssm_form *out);
	/* What it works on and keeps, on one of tp ranks. */
	void (*measure)(const struct model *model, const struct layer_kind *kind,
			double tp, struct mixing *out);
	/* What it draws between the norm and the residual of its half, behind
	 * measure().
	 */
	void (*draw)(const struct model *model, const struct layer_kind *kind,
		     const struct share *share, struct shapes *out);
	/* Parameters as people write them: the number is that of what is drawn. Where
	 * layers differ, `say` writes it. */
	const char *parameters;
	void (*say)(const struct model *model, const struct layer_kind *kind, char *out,
		    int size);
	/* What its symbols stand for; the same place is model.kinds.N. */
	struct formula_link symbol[MAX_MIXER_SYMBOLS];
	/* In a config.json of Hugging Face: model types, and keys of which one says so.
	 */
	const char *hf_types, *hf_keys;
};

#define MIXER_ROW(NAME, name) extern const struct mixer mixer_##name;
MIXERS(MIXER_ROW)
#undef MIXER_ROW

extern const struct mixer *const mixer_rows[MIXER_COUNT];

static inline const struct mixer *mixer_of(const struct layer_kind *kind)
{
	return mixer_rows[kind->mixer];
}

/* The one with that letter; MIXER_NONE if there is none. */
enum mixer_kind mixer_lettered(char letter);
/* What the symbol with that key means in the mixer's formula; NULL where it has none.
 */
const char *mixer_meaning(const struct mixer *mixer, const char *key);
/* Channels of what attends. */
static inline int64_t mixer_heads(const struct model *model,
				  const struct layer_kind *kind)
{
	(void)model;
	return kind->attention.heads;
}
/* Heads and their widths; NULL of a layer that does not attend. */
static inline const struct attention *mixer_attention_of(const struct layer_kind *kind)
{
	return mixer_of(kind)->attends ? &kind->attention : NULL;
}

/* Whether any kind of the model carries a state, or attends over latents. */
bool mixer_scans_any(const struct model *model);
bool mixer_latent_any(const struct model *model);

#endif
