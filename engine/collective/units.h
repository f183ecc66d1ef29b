/* units.h - the algorithms of collectives. A further one is its file, which defines
 * unit_NAME (unit.h), and its row here: its name, the word that the knob `collective`
 * takes, and whose software has it (0: none, it runs where a plan pins it).
 */
#ifndef ENGINE_COLLECTIVE_UNITS_H
#define ENGINE_COLLECTIVE_UNITS_H

enum library {
	LIBRARY_NCCL = 1,
	LIBRARY_VLLM = 2,     /* kernels of vLLM and SGLang, beside NCCL */
	LIBRARY_TENSORRT = 4, /* kernels of TensorRT-LLM, beside NCCL */
	LIBRARY_TORUS = 8
};
enum { LIBRARY_ALL = LIBRARY_NCCL | LIBRARY_TORUS };

#define COLLECTIVE_UNITS(X)                                                      \
	X(RING, ring, "ring", LIBRARY_NCCL)                                      \
	X(TREE, tree, "tree", LIBRARY_NCCL)                                      \
	X(HIERARCHICAL, hierarchical, "hierarchical", 0)                         \
	X(NVLS, nvls, "nvls", LIBRARY_NCCL)                                      \
	X(NVLS_TREE, nvls_tree, "nvls-tree", LIBRARY_NCCL)                       \
	X(SHARP, sharp, "sharp", LIBRARY_NCCL)                                   \
	X(ONE_SHOT, one_shot, "one-shot", LIBRARY_VLLM)                          \
	X(TWO_SHOT, two_shot, "two-shot", LIBRARY_VLLM)                          \
	X(LAMPORT, lamport, "lamport", LIBRARY_TENSORRT)                         \
	X(DOUBLING, doubling, "doubling", 0)                                     \
	X(HALVING_DOUBLING, halving_doubling, "halving-doubling", 0)             \
	X(HIERARCHICAL_HALVING, hierarchical_halving, "hierarchical-halving", 0) \
	X(BRUCK, bruck, "bruck", 0)                                              \
	X(DIRECT, direct, "direct", LIBRARY_NCCL)                                \
	X(PAIRWISE, pairwise, "pairwise", 0)                                     \
	X(DISPATCH, dispatch, "dispatch", LIBRARY_ALL)                           \
	X(STRAIGHT, straight, "low-latency", LIBRARY_ALL)                        \
	X(TORUS, torus, "torus", LIBRARY_TORUS)                                  \
	X(BINOMIAL, binomial, "binomial", 0)                                     \
	X(SCATTER_GATHER, scatter_gather, "scatter-gather", 0)                   \
	X(SEND, send, "send", LIBRARY_NCCL | LIBRARY_TORUS)

#endif
