/* mixers.h - the ways to mix tokens. A further one is its file, which defines
 * mixer_NAME (mixer.h), and its row here.
 */
#ifndef ENGINE_MODEL_MIXERS_H
#define ENGINE_MODEL_MIXERS_H

#define MIXERS(X)                                                                    \
	X(NONE, none)           /* an MLP-only layer of a hybrid pattern */          \
	X(ATTENTION, attention) /* MHA, GQA, MQA; full or sliding window */          \
	X(MLA, mla)             /* multi-head latent attention (DeepSeek-V2) */      \
	X(MAMBA1, mamba1)                                                            \
	X(MAMBA2, mamba2)                                                            \
	X(LINEAR, linear)       /* gated delta net and kin; costs are approximate */ \
	X(CONV, conv)           /* a short convolution between two gates */          \
	X(LIGHTNING, lightning) /* linear attention with a fixed decay a head */

#endif
