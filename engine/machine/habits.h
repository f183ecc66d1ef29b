/* habits.h - what kernels and hosts of training cost on every accelerator and under
 * every stack alike, as far as anybody has measured.
 *
 * Read from presets/habits, which says where each number comes from. A constant is one
 * row here, which the struct, the reader of the file and Explain share.
 */
#ifndef ENGINE_MACHINE_HABITS_H
#define ENGINE_MACHINE_HABITS_H

#define HABITS(ROW)                                                                 \
	/* shares of a rate, and times as many bytes */                             \
	ROW(flash_backward, "Rate of flash attention backward over forward")        \
	ROW(scan_backward, "Work of a scan backward over forward")                  \
	ROW(small_start, "Start of a kernel bound by memory over a GEMM's")         \
	ROW(unfused_rotary, "Traffic of rotary positions op by op over fused")      \
	ROW(unfused_gate, "Traffic of a gated activation op by op over fused")      \
	ROW(norm_forward, "Traffic of a general layer norm over one pass")          \
	ROW(norm_backward, "The same backward")                                     \
	/* bytes moved for an element of it */                                      \
	ROW(norm_steps_forward, "Traffic of an RMS norm that runs op by op")        \
	ROW(norm_steps_backward, "The same backward")                               \
	/* the tile that a large GEMM's output is cut into */                       \
	ROW(tile_rows, "Rows of a GEMM's tile")                                     \
	ROW(tile_columns, "Columns of a GEMM's tile")                               \
	/* grouped GEMMs */                                                         \
	ROW(group_start, "Start of an expert in a grouped GEMM over a GEMM's")      \
	ROW(group_rows, "Rows that pad each expert's in a grouped GEMM")            \
	/* bytes moved for an element */                                            \
	ROW(quantise_bytes, "Traffic of turning an input to fp8 beside other work") \
	/* DeepEP in domains of more than wide_ranks ranks */                       \
	ROW(wide_ranks, "Ranks up to which combining is as fast as dispatching")    \
	ROW(wide_combine, "Time of combining beyond these over dispatching")        \
	/* collectives of an accelerator that nobody measured */                    \
	ROW(unmeasured_hops, "Steps inside a domain that starting one takes")       \
	/* of gradients that are all-reduced together, at least */                  \
	ROW(bucket_bytes, "Bytes of a bucket of gradients")                         \
	/* of the optimizer's states */                                             \
	ROW(factored_bytes, "Bytes of Adafactor's moments for a parameter")         \
	/* kernels of a router with its preprocessing, forward */                   \
	ROW(router_kernels, "Kernels of a router that runs op by op")               \
	ROW(fused_router_kernels, "Kernels of a fused router")                      \
	ROW(preprocess_kernels, "Of them the preprocessing")                        \
	/* launches, and what they take */                                          \
	ROW(small_launches, "Launches of a small kernel of PyTorch")                \
	ROW(expert_launches, "Launches of an expert over those of its operator")    \
	ROW(backward_launches, "Launches of an operator backward over forward")     \
	ROW(compiled_launches, "Launches of a compiled layer over an eager one's")  \
	ROW(unbound_host, "Time of launches where processes move between cores")    \
	ROW(host_spread, "Standard deviation of a launch's time between hosts")

#define HABIT_MEMBER(name, title) double name;
struct habits {
	HABITS(HABIT_MEMBER)
};
#undef HABIT_MEMBER

#endif
