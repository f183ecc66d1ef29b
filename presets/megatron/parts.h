/* parts.h - what the files of this room share. */
#ifndef PRESETS_MEGATRON_PARTS_H
#define PRESETS_MEGATRON_PARTS_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/plan/scenario.h"
#include "presets/export.h"
#include "presets/import.h"
#include "presets/megatron/forms.h"

/* The network alone. */
bool megatron_model(const struct arguments *arguments, struct model *out,
		    struct import_report *report, struct error *error);
/* Whether the reader above understands this flag. */
bool megatron_model_flag(const char *name);
/* Everything that a knob turns; out has model, cluster and stack already. */
bool megatron_plan(const struct arguments *arguments, struct scenario *out,
		   struct import_report *report, struct error *error);
/* Whether the reader above understands this flag beside those of flags.h. */
bool megatron_plan_flag(const char *name);
/* Whether it takes no value, so that a variable behind it holds further flags. */
bool megatron_is_switch(const char *name);

/* Rows of the embedding by the tokenizer that is named, as assumed; 0: none is known.
 */
int64_t megatron_vocab(const struct arguments *arguments, struct import_report *report);

/* The tokenizer of a file of NeMo's, as flags that tell the rows; false at a bound. */
bool vocab_add_nemo(struct arguments *arguments, const struct node *model);

/* Flags of forks and older versions become those of Megatron-LM. */
bool megatron_rename(struct arguments *arguments, struct import_report *report);
/* What the program does instead of training ("generation"), by its name or by a flag
 * that only such a one has; NULL: it trains. */
const char *megatron_task(const struct arguments *arguments);
/* False where that is reinforcement learning, a server, conversion ..., which no step
 * of training stands for. */
bool megatron_is_modelled(const struct arguments *arguments, struct error *error);
/* Why the network is not the one that the flags describe; NULL: nothing says so. */
const char *megatron_doubt(const struct arguments *arguments);

/* Says in the model why it is not the network that the flags describe, the last reason
 * of several; index_topk: of its sparse attention, 0 = it has none. */
void megatron_note_doubts(const struct arguments *arguments, struct model *m,
			  int64_t index_topk);
/* How many of --num-layers only hold a place (--noop-layers of MindSpeed). */
int64_t megatron_noops(const struct arguments *arguments);

/* Whether DeepSpeed's engine runs it, as in Megatron-DeepSpeed. */
bool megatron_is_deepspeed(const struct arguments *arguments);
/* Whether the two below understand this flag, beside those of others. */
bool megatron_zero_flag(const char *name);

struct flag_reader;
/* ZeRO's stage and its group; false with the error. */
bool megatron_read_zero(struct flag_reader *r);
/* The split of such a program, and whether embedding and head count as layers; NULL
 * with the error. */
const char *megatron_deepspeed_split(struct flag_reader *r);
/* Optimizer and states; activations on the hosts. False with the error. */
bool megatron_read_optimizer(struct flag_reader *r);
bool megatron_read_offload(struct flag_reader *r);

/* How many layers come before all mixtures (--first-k-dense-replace of MindSpeed). */
int64_t megatron_dense_first(const struct arguments *arguments);
/* Whether each layer is a Mamba-2 one where no pattern says otherwise, by the program.
 * *drawn becomes the ratio that makes it draw another pattern
 * (megatron/core/ssm/mamba_hybrid_layer_allocation.py); it stays where there is none.
 */
bool megatron_is_mamba(const struct arguments *arguments,
		       const struct argument **drawn);

/* Whether the arguments are not those of transformers' Trainer, of which a few are
 * called like Megatron's; false with the error. */
bool swift_is_megatrons(const struct arguments *arguments, struct error *error);
/* Whether a launch of ms-swift, if it is one, trains one model on the loss of the next
 * token; false with the error. */
bool swift_trains(const struct arguments *arguments, struct error *error);
/* What ms-swift has otherwise, where the launch is one of its own. */
bool swift_settle(const struct arguments *arguments, struct scenario *out,
		  struct import_report *report, struct error *error);

/* LoRA beside frozen weights: what a file of NeMo's or Primus' says of it,
 * MindSpeed-LLM's flags, or what a recipe of another file has by itself; false where a
 * bound is reached. */
bool megatron_adapters(const struct arguments *arguments, const struct argument *recipe,
		       struct scenario *out, struct import_report *report);
/* Whether it understands this flag, of MindSpeed-LLM. */
bool adapters_flag(const struct arguments *arguments, const char *name);

/* Whether the reader above understands this flag, of such a launch. */
bool swift_flag(const struct arguments *arguments, const char *name);

/* One flag of an export after the other; value "" for a switch. */
struct flag_writer {
	const struct scenario *scenario;
	struct export_out *out;
	void (*put)(struct export_out *out, const char *flag, const char *value);
};

/* The scenario without what Megatron asserts against; what is turned back is said in
 * out. */
void megatron_settle(const struct scenario *scenario, struct scenario *settled,
		     struct export_out *out);
/* "torchrun --nproc-per-node 8 --nnodes 4". */
void megatron_put_launcher(struct export_out *out, const struct scenario *scenario);
/* What a hybrid pattern says of stages and MTP layers, as the flags of other models;
 * false with the error. */
bool megatron_read_pattern(struct arguments *arguments, struct error *error);
/* Whether this flag parts layers, which Megatron refuses beside such a pattern. */
bool megatron_is_split_flag(const char *name);
/* Behind which layers a virtual stage ends; false where they can't be dealt out, or a
 * stage would have none. */
bool megatron_stage_ends(const struct flag_writer *w, bool ends[MAX_LAYERS]);
/* Whether it has layers other than attention with an MLP behind. */
bool megatron_is_hybrid(const struct model *m);
/* What has no flag is said in out. */
void megatron_write_model(const struct flag_writer *w);
void megatron_write_plan(const struct flag_writer *w);
void megatron_put_count(const struct flag_writer *w, const char *flag, int64_t value);
/* Whether Megatron has flags for this knob. */
bool megatron_has(const char *knob);

/* The name of a recipe of Megatron-Bridge that trains in the plan's formats, as a line
 * of its overrides; and what such a name says, as flags. */
void mixed_put(struct export_out *out, const struct plan *plan);
bool mixed_add(struct arguments *arguments, const char *name, int line,
	       struct error *error);

/* What Transformer Engine's NVFP4 recipe takes from the environment: set to 1, off. */
struct fp4_variable {
	const char *name, *flag; /* and as an argument */
	const char *knob;
};
extern const struct fp4_variable megatron_fp4_variables[3];

/* --- unsaid.c --- */
/* The length of a sequence that no flag says: what the recipe's name has, or 2048. */
bool unsaid_length(struct flag_reader *r);
/* What a recipe that this argument names sets by itself: states that are shared out,
 * experts that are not split, a split of layers. */
bool unsaid_take(const struct arguments *arguments, const struct argument *recipe,
		 struct scenario *out, struct import_report *report);
/* And its adapters, by its name or the command's scheme; recipe may be NULL. */
bool unsaid_adapters(const struct arguments *arguments, const struct argument *recipe,
		     struct scenario *out, struct import_report *report);

#endif
