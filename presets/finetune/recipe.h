/* recipe.h - what the trainers of this room share. */
#ifndef PRESETS_FINETUNE_RECIPE_H
#define PRESETS_FINETUNE_RECIPE_H

#include "presets/pairs/mapping.h"

/* The names that transformers gives its optimizers, as words of a row. */
#define RECIPE_OPTIMIZERS                                                            \
	"adamw=adamw adamw_torch=adamw adamw_torch_fused=adamw adamw_hf=adamw "      \
	"adamw_apex_fused=adamw adamw_anyprecision=adamw adamw_bnb_8bit=adamw-8bit " \
	"adamw_8bit=adamw-8bit adamw_torch_8bit=adamw-8bit "                         \
	"paged_adamw_8bit=adamw-8bit paged_adamw_32bit=adamw paged_adamw=adamw "     \
	"adafactor=adafactor muon=muon sgd=sgd"

/* An optimizer that is none of these words is costed as AdamW, and that is said. */
void recipe_spell_optimizer(struct pairs *pairs, const char *key,
			    struct import_report *report);
/* Whether these are keys of LLaMA-Factory's newer files, and they in the words of its
 * older ones (second_form.c). */
bool second_form_looks_like(const struct pairs *pairs);
bool second_form_spell(struct pairs *pairs, struct import_report *report,
		       struct error *error);
/* The stack by what shards: "deepspeed" with a DeepSpeed file, else "fsdp". */
const char *recipe_stack(const struct pairs *pairs);
/* "ds_z3_offload_config.json", "deepspeed_configs/zero2.json": the digit behind the
 * word, -1 without one. */
int recipe_stage_of(const char *file);
/* Whether the name of a file that is not opened says that states are on the hosts. */
bool recipe_offload(const struct mapped *m, const struct pair *file);
/* The ZeRO stage and the offload that DeepSpeed's file or FSDP's keys mean. */
bool recipe_sharding(const struct mapped *m);
/* bf16, fp16 and fp8, of which `none` says what their absence means. */
bool recipe_precision(const struct mapped *m, const char *none);
/* bitsandbytes' 4 bits below adapters, whose default of both trainers is nf4 with its
 * scales packed again; experts in one tensor keep their bits, unless axolotl's
 * quantize_moe_experts packs them. False: not so. */
bool recipe_base_nf4(const struct mapped *m, const char *key);
/* The checkpoint's own four bits below adapters, by the name that stands behind this
 * key: int4, or nf4 of bitsandbytes. Other base weights of few bits are counted in 16,
 * which the model then says. */
bool recipe_base_bits(const struct mapped *m, const char *model, bool few);
/* Modules that this key names are trained whole beside the adapters, which the model
 * then says. */
void recipe_note_whole(const struct mapped *m, const char *key);
/* gbs = micro-batch x accumulation x DP on `world` GPUs, of which this pair tells; 0:
 * on the machines that are assumed. */
bool recipe_batch(const struct mapped *m, int64_t world, const struct pair *from);

#endif
