/* knobs.c - what turning a knob of training does. */
#include "engine/glossary/glossary.h"

const struct glossary_word glossary_knobs[] = {
	{ WORD_KNOB, "tp", NULL,
	  "Into how many parts each [matrix product] of a [layer] is cut; so many "
	  "[ranks] compute one layer together ([tensor parallelism]).",
	  "More divides weights and time of a layer, and sends more. Watch exposed "
	  "[TP] time, and do not go beyond the fast domain." },
	{ WORD_KNOB, "sp", NULL,
	  "Whether those ranks also share out the small work between the matrices "
	  "([sequence parallelism]).",
	  "Turn it on with any splitting of matrices: activations shrink and nothing "
	  "more is sent. Off shows how much it saves." },
	{ WORD_KNOB, "pp", NULL,
	  "Into how many [stages|pipeline stage] the layers are dealt out ([pipeline "
	  "parallelism]).",
	  "More makes room and sends little, even between nodes. Watch the bubble: it "
	  "grows with stages and shrinks with micro-batches." },
	{ WORD_KNOB, "vpp", NULL,
	  "How many separate pieces of the model each stage holds, where the schedule "
	  "takes them ([virtual stage]).",
	  "More divides the bubble and multiplies transfers. Activations grow a "
	  "little; watch exposed [PP] time." },
	{ WORD_KNOB, "cp", NULL,
	  "How many ranks share each [sequence] ([context parallelism]).",
	  "For long texts: activations are divided, and only attention has to exchange "
	  "something. It takes ranks from data parallelism." },
	{ WORD_KNOB, "cp_kind", NULL,
	  "How [attention] sees the whole text although each rank has a piece: round a "
	  "ring, all gathered, or parts swapped ([Ulysses]).",
	  "Compare exposed [CP] time: the ring hides behind long pieces, swapping "
	  "sends least but needs enough heads." },
	{ WORD_KNOB, "ep", NULL,
	  "How many ranks share out the [experts] of a layer ([expert parallelism]).",
	  "More divides the memory of experts, often the largest part. Watch [EP] "
	  "time: tokens have to travel to them and back." },
	{ WORD_KNOB, "etp", NULL,
	  "How many ranks cut each [expert] into parts ([expert tensor parallelism]).",
	  "Mostly 1 is best, since experts are small. More helps only where a single "
	  "one does not fit." },
	{ WORD_KNOB, "zero", NULL,
	  "What copies of the model share out instead of each holding all of it "
	  "([ZeRO]): 0 nothing, 1 optimizer states, 2 gradients too, 3 weights too.",
	  "1 is nearly free. 2 and 3 save more and send more, above all with many "
	  "micro-batches. Watch memory and [DP] time." },
	{ WORD_KNOB, "zero_group", NULL,
	  "How many ranks share one set of what [ZeRO] shares out; there are several "
	  "equal sets where it is smaller than all ([HSDP]).",
	  "Smaller groups gather from near neighbours; each rank holds more. Make it "
	  "fit a node or a domain." },
	{ WORD_KNOB, "fsdp_reshard", NULL,
	  "Whether gathered [weights] are let go after the [forward pass] and gathered "
	  "again for the [backward pass].",
	  "Off sends up to a third less and holds all weights of the stage in between; "
	  "on is for models that would not fit." },
	{ WORD_KNOB, "fsdp_prefetch", NULL,
	  "How many [layers] ahead of their use [weights] are gathered under [FSDP].",
	  "0 leaves sending exposed, 1 or 2 hides it; each further one holds one more "
	  "whole layer." },
	{ WORD_KNOB, "mbs", NULL,
	  "How many [sequences] a rank works on at once: the size of a [micro-batch].",
	  "Larger ones make matrices faster and hold more activations. With a fixed "
	  "global batch there are fewer of them, so the bubble grows." },
	{ WORD_KNOB, "gbs", NULL,
	  "How many [sequences] one [training step] learns from: the [global batch].",
	  "More per step amortizes waiting and sending. But how a model learns sets "
	  "it, so change it only if the training allows." },
	{ WORD_KNOB, "seq", NULL, "How many [tokens] a [sequence] has.",
	  "Longer ones need more activations and more attention for each token. Above "
	  "some length context parallelism is needed." },
	{ WORD_KNOB, "document_len", NULL,
	  "How long the texts are that are packed into one [sequence] without seeing "
	  "each other ([packing]).",
	  "Short texts make attention cheaper. Set it to what your data has, or the "
	  "estimate is too slow." },
	{ WORD_KNOB, "schedule", NULL,
	  "In which order stages run forward and backward work ([pipeline schedule]).",
	  "Compare the bubble, memory and [PP] time of each. Timeline shows why one "
	  "waits less than another." },
	{ WORD_KNOB, "micro_batch_group", NULL,
	  "How many [micro-batches] pass one piece of a stage before the next piece "
	  "has its turn.",
	  "Auto is as many as stages, the usual. Larger groups hold more and may give "
	  "sends more time." },
	{ WORD_KNOB, "split", NULL,
	  "How the [layers] are dealt out to the [pipeline stages].",
	  "The first and last stage have extra work. Balanced evens the time, which "
	  "shortens the step if one stage lags." },
	{ WORD_KNOB, "first_stage_layers", NULL,
	  "How many [layers] the first [pipeline stage] gets.",
	  "Fewer make room and time for the embedding, and for the micro-batches that "
	  "it holds longest." },
	{ WORD_KNOB, "last_stage_layers", NULL,
	  "How many [layers] the last [pipeline stage] gets.",
	  "Fewer make up for the last matrix and the loss, which are work of several "
	  "layers with a large vocabulary." },
	{ WORD_KNOB, "split_embedding", NULL,
	  "Whether the [embedding] counts as a layer when layers are dealt out evenly.",
	  "On takes one layer from the first stage. Use it where layers and this one "
	  "more divide evenly." },
	{ WORD_KNOB, "split_loss", NULL,
	  "Whether the [LM head] with the loss counts as a layer when layers are dealt "
	  "out evenly.",
	  "On takes one layer from the last stage, which otherwise is often the "
	  "slowest." },
	{ WORD_KNOB, "layout", NULL,
	  "A string that says for each stage which parts of the model it holds, as "
	  "Megatron reads it.",
	  "For models whose layers do not divide evenly; wins a few per cent where one "
	  "stage lags." },
	{ WORD_KNOB, "optimizer_sync", NULL,
	  "Whether a step ends with all stages waiting for one check of the "
	  "[gradients], or each goes on and checks later.",
	  "The later check is what lets schedules without a bubble keep what they "
	  "gain." },
	{ WORD_KNOB, "recompute", NULL,
	  "Whether [activations] are kept or computed again in the [backward pass]: "
	  "none, some parts, or whole layers ([recomputation]).",
	  "Turn it up only as far as memory forces you to. Whole layers cost most; "
	  "watch recompute time and [HFU] against [MFU]." },
	{ WORD_KNOB, "recompute_layers", NULL,
	  "How many [layers] of each stage are computed again as a whole.",
	  "As few as make it fit: each layer that is spared saves its time." },
	{ WORD_KNOB, "recompute_modules", NULL,
	  "Which parts of a [layer] are computed again under selective "
	  "[recomputation].",
	  "Choose parts that hold much and cost little, as norms. The attention core "
	  "saves nothing where a flash kernel runs." },
	{ WORD_KNOB, "optimizer", NULL,
	  "Which rule changes the [weights], and so how many bytes it keeps for each "
	  "([optimizer]).",
	  "Shorter states save memory before anything is shared out; whether training "
	  "suffers is not modelled." },
	{ WORD_KNOB, "master_weights", NULL,
	  "What the [optimizer] steps beside the [weights] that compute: a copy in 32 bits, "
	  "the 16 bits that theirs lack of one, a copy in 16 bits, or nothing.",
	  "Without a copy small changes are lost in rounding: it saves 2 to 4 bytes "
	  "per [parameter], and what training loses is not modelled." },
	{ WORD_KNOB, "optimizer_offload", NULL,
	  "Which share of what the [optimizer] keeps lies in the memory of the host, "
	  "whose processor updates it ([offload]).",
	  "It makes room at the cost of the end of the step. With many micro-batches "
	  "that end is a small part." },
	{ WORD_KNOB, "activation_offload", NULL,
	  "Which share of kept [activations] goes to the memory of the host and comes "
	  "back for the [backward pass] ([offload]).",
	  "Few measured runs cover it. It makes room if the way to the host is free; "
	  "watch exposed host time." },
	{ WORD_KNOB, "lora_rank", NULL,
	  "How wide the small extra matrices are that are trained beside frozen "
	  "[weights] ([LoRA]); off trains all weights.",
	  "Small ones suffice to adapt a model. Gradients and optimizer states nearly "
	  "vanish." },
	{ WORD_KNOB, "precision", NULL,
	  "In which number format the large [matrix products] are computed ([mixed "
	  "precision]).",
	  "Shorter formats are faster only as far as matrices are the limit. [MFU] is "
	  "measured against their higher peak." },
	{ WORD_KNOB, "grad_dtype", NULL,
	  "In which number format [gradients] are added up and sent.",
	  "Short ones halve their memory and traffic; exact ones are safer over many "
	  "micro-batches." },
	{ WORD_KNOB, "fp8_recipe", NULL,
	  "How the common factors of 8-bit numbers are found ([fp8]).",
	  "Finer factors are safer and read memory more often; simple ones are faster." },
	{ WORD_KNOB, "attention_kernel", NULL,
	  "Which program computes [attention] ([flash attention] and others).",
	  "Newer ones are faster; older ones write the table of all pairs of tokens, "
	  "which fills memory in long texts." },
	{ WORD_KNOB, "fused_norms", NULL,
	  "Whether small work between the matrices runs as one [kernel] each ([fused "
	  "kernel]).",
	  "On saves reading and writing memory. Off shows what separate kernels cost." },
	{ WORD_KNOB, "compile", NULL, "Whether the model is compiled ([compilation]).",
	  "On fuses small work and starts fewer kernels; most for small models and "
	  "small micro-batches." },
	{ WORD_KNOB, "cuda_graphs", NULL,
	  "Whether recorded rows of [kernels] are replayed instead of started one by "
	  "one ([CUDA graph]).",
	  "It helps where kernels are short. It takes some memory of its own." },
	{ WORD_KNOB, "mlp_tiles", NULL,
	  "Into how many pieces of the [sequence] the wide part of a dense layer is cut; one piece "
	  "at a time is in memory.",
	  "With very long sequences its tensors are the largest of a layer. The price is its "
	  "forward once more in the backward." },
	{ WORD_KNOB, "loss_tiles", NULL,
	  "Into how many pieces of the [sequence] a chunked loss is cut: the [logits] of one "
	  "piece are in memory at a time.",
	  "More pieces need less memory on the last [stage]; with very long sequences that "
	  "decides what fits." },
	{ WORD_KNOB, "cross_entropy", NULL,
	  "How the [loss] is computed from the [logits]: step by step, in one kernel, "
	  "or in pieces.",
	  "Pieces need least memory on the last stage, where a large vocabulary is "
	  "wide." },
	{ WORD_KNOB, "vocab_parallel", NULL,
	  "Whether [logits] stay split over the ranks of [tensor parallelism].",
	  "On holds and computes a share of them; off gathers all of them on each." },
	{ WORD_KNOB, "overlap_grad_reduce", NULL,
	  "Whether [gradients] are summed up over copies while the [backward pass] "
	  "still runs ([overlap]).",
	  "On hides most of it. Off shows all of it as exposed [DP] time." },
	{ WORD_KNOB, "overlap_param_gather", NULL,
	  "Whether changed [weights] are gathered while the next [forward pass] "
	  "already runs ([overlap]).",
	  "On hides the end of the step behind its beginning." },
	{ WORD_KNOB, "tp_overlap", NULL,
	  "Whether the exchanges of [tensor parallelism] run beside pieces of its "
	  "matrices ([overlap]).",
	  "On hides a part of exposed [TP] time; pieces that are too small lose it "
	  "again." },
	{ WORD_KNOB, "async_tp", NULL,
	  "The same as the overlap of [tensor parallelism], done by the compiler of "
	  "the [stack].",
	  "For software that has it; watch exposed [TP] time." },
	{ WORD_KNOB, "overlap_p2p", NULL,
	  "Whether what stages hand on travels while they compute ([overlap]).",
	  "On hides [PP] time; it matters most with many virtual stages." },
	{ WORD_KNOB, "ep_overlap", NULL,
	  "Whether [tokens] travel to their [experts] while another [micro-batch] "
	  "computes ([overlap]).",
	  "It hides the largest cost of experts on many nodes; it holds two "
	  "micro-batches at once." },
	{ WORD_KNOB, "collective", NULL,
	  "By which way of passing pieces on a group exchanges what it has: round in a "
	  "ring, up and down a tree, all with all at once, or added up by a switch.",
	  "Left alone, the quickest that the software has is taken. One that is set "
	  "by hand shows what another would take." },
	{ WORD_KNOB, "shared_expert_overlap", NULL,
	  "Whether the part that all [tokens] use computes while the others travel to "
	  "their [experts].",
	  "On hides [EP] time: the way there beside their first products, the way back "
	  "beside their last." },
	{ WORD_KNOB, "moe_dispatcher", NULL,
	  "By which program [tokens] travel to their [experts] ([token dispatcher]).",
	  "Across nodes those that send a token once to a node win; compare [EP] time "
	  "and bytes." },
	{ WORD_KNOB, "moe_capacity", NULL,
	  "What happens if an [expert] is sent more [tokens] than it takes: keep all, "
	  "leave some out, or always fill up ([capacity factor]).",
	  "Keeping all waits for the fullest rank; the others bound the time and "
	  "change the training." },
	{ WORD_KNOB, "capacity_factor", NULL,
	  "How many [tokens] an [expert] takes at most, over the mean.",
	  "Smaller is faster and leaves out more. It matters only where tokens are "
	  "left out or filled up." },
	{ WORD_KNOB, "imbalance", NULL,
	  "How many more [tokens] the busiest rank gets than the mean ([load "
	  "balance]).",
	  "A guess of yours: 1 is perfect. Turn it up to see how much a bad router "
	  "would cost." },
	{ WORD_KNOB, "grouped_gemm", NULL,
	  "Whether all [experts] of a rank run in one [kernel] instead of one after "
	  "the other.",
	  "On uses the machine better where a rank has many small experts." },
	{ WORD_KNOB, "router_fusion", NULL,
	  "Whether the choice of [experts] takes a few [kernels|kernel] instead of dozens "
	  "of short ones.",
	  "On saves time in every layer with experts, of the GPU and of the processor that "
	  "starts it." },
	{ WORD_KNOB, "remat_policy", NULL,
	  "Which results of a layer are kept for the [backward pass] when all others are "
	  "computed again, by names for such lists.",
	  "Longer lists compute less and keep more; those that end in offloaded keep theirs "
	  "in the memory of the host." },
	{ WORD_KNOB, "remat_kept", NULL,
	  "Which results of a layer a list of your own keeps on the GPU for the [backward "
	  "pass]; all others are computed again.",
	  "Keep what costs much to compute and holds little: out before mlp_in." },
	{ WORD_KNOB, "remat_sent", NULL,
	  "Which results of a layer a list of your own sends to the memory of the host "
	  "until the [backward pass].",
	  "It is free as long as the link to the host is quicker than what is computed "
	  "meanwhile." },
	{ WORD_KNOB, "offload_modules", NULL,
	  "Parts of a layer whose input is sent to the memory of the host and comes back "
	  "for the [backward pass].",
	  "Each saves its input on the GPU. It is free as long as the link to the host is "
	  "quicker than what is computed meanwhile." },
	{ WORD_KNOB, "offload_share", NULL,
	  "Which share of the inputs that are named for the memory of the host goes there "
	  "([offload]): that of the first layers of a stage.",
	  "Lower it where the way to the host is the limit. The first layers wait longest "
	  "for the [backward pass], so theirs are sent first." },
	{ WORD_KNOB, "frozen_layers", NULL,
	  "How many [layers] at the start of the model, and the embedding below them, "
	  "keep the [weights] that they have while the others train.",
	  "More of them need less memory and time: no [gradients], nothing of the "
	  "[optimizer], and no [backward pass], since nothing below asks for one." },
	{ WORD_KNOB, "frozen_head", NULL,
	  "Whether the last norm and the matrix that makes words of hidden states keep "
	  "their [weights] too.",
	  "On saves the [gradients] and the optimizer's memory of a matrix as large as the "
	  "vocabulary; gradients pass through it all the same." },
	{ WORD_KNOB, "lora_targets", NULL,
	  "Which matrices of a layer have adapters under [LoRA].",
	  "Those of queries, keys and values alone keep and train least; all learn "
	  "more." },
	{ WORD_KNOB, "lora_exchange", NULL,
	  "Whether ranks exchange what an adapter makes ([LoRA]) by one [all-to-all], or "
	  "gather all of it and keep their part.",
	  "On sends less by as many times as there are ranks. Only Megatron splits "
	  "adapters so." },
	{ WORD_KNOB, "frozen_format", NULL,
	  "In which number format the frozen [weights] under [LoRA] lie in memory.",
	  "Narrow ones let a large model fit on few GPUs. Four bits cost time, since each "
	  "product writes them out first." },
	{ WORD_KNOB, "weight_format", NULL,
	  "Whether [weights] are kept in 16 bits, in 8 or 4 alone, or in both.",
	  "Narrow ones halve their memory and what is gathered, or quarter it; the "
	  "optimizer keeps its own wide copy either way." },
	{ WORD_KNOB, "fp4_rotation", NULL,
	  "Whether what weight [gradients] in 4 bits are made of is rotated first, "
	  "sixteen values at a time, which spreads single large ones.",
	  "On keeps training in 4 bits stable; it costs a pass over memory for what a norm "
	  "wrote, since the largest value is another afterwards." },
	{ WORD_KNOB, "fp4_rounding", NULL,
	  "Whether gradients in 4 bits are rounded up or down at random, by how near each "
	  "is.",
	  "On keeps sums of many small gradients right; it costs a small [kernel] for each "
	  "tensor." },
	{ WORD_KNOB, "fp4_squares", NULL,
	  "Whether [weights] in 4 bits share a scale in squares of 16 by 16, or in rows of "
	  "16.",
	  "Squares look the same in the forward and the [backward pass], and their scales "
	  "need no further kernels." },
	{ WORD_KNOB, "wide_first", NULL,
	  "How many [layers] at the start of the model keep 16 bits while the others train "
	  "in 8 or 4.",
	  "A few make narrow training stable. They are slower, so the first [stage] of a "
	  "pipeline gets longer." },
	{ WORD_KNOB, "wide_last", NULL,
	  "How many [layers] at the end of the model keep 16 bits while the others train in "
	  "8 or 4.",
	  "The last ones matter most for what the model learns. They are slower, so the "
	  "last [stage] of a pipeline gets longer." },
	{ WORD_KNOB, "fp8_gates", NULL,
	  "Whether what the gated part of a layer reads waits for the [backward pass] in 8 "
	  "bits.",
	  "On saves a large part of the [activations] of a wide layer." },
	{ WORD_KNOB, "fp8_attention", NULL,
	  "Whether [attention] itself is computed in 8 bits where the large matrices are.",
	  "A third faster on long [sequences]; short ones lose most of that to turning "
	  "its input to 8 bits and its output back." },
	{ WORD_KNOB, "graph_scopes", NULL,
	  "Which parts of a layer are recorded once and replayed, so that the processor "
	  "need not start each [kernel].",
	  "More of them help where short layers wait for the processor; routed [experts] "
	  "have no fixed size and stay out." },
	{ WORD_KNOB, "scale_fusion", NULL,
	  "How the scaling factors of 8 and 4 bit [experts] are made ready: each by "
	  "itself, or together.",
	  "Together is what newer software does; the older way shows why it was slow." },
	{ WORD_KNOB, "host_binding", NULL,
	  "Whether each process stays on the processor cores next to its GPU.",
	  "On starts [kernels|kernel] faster. It matters where the GPU waits for the "
	  "processor." },
	{ 0 },
};
