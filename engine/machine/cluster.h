/* cluster.h - what is the hardware? Accelerator, memory, link levels, money.
 *
 * Rates are per accelerator and per direction, in SI units. A cluster is read
 * from YAML by presets; every constant there names its source.
 */
#ifndef ENGINE_MACHINE_CLUSTER_H
#define ENGINE_MACHINE_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/limits.h"
#include "engine/machine/accuracy.h"
#include "engine/machine/serving.h"
#include "engine/machine/transport.h"

enum precision {
	PRECISION_BF16,
	PRECISION_FP16,
	PRECISION_FP32,
	PRECISION_FP8,
	PRECISION_MXFP8,
	PRECISION_NVFP4,
	/* inference only */
	PRECISION_FP8_BLOCK, /* a scale for each block of 128 x 128 weights */
	PRECISION_INT8,      /* weights and activations */
	PRECISION_INT4,      /* weights; products in bf16 (AWQ, GPTQ) */
	/* Weights, a scale of 8 bits (E8M0) for each 32 (OCP Microscaling Formats 1.0,
	 * section 5.2); nvfp4 has one of E4M3 for each 16. Products as the chip can. */
	PRECISION_MXFP4,
	PRECISION_COUNT
};
_Static_assert((int)PRECISION_COUNT == (int)SERVING_PRECISIONS,
	       "a rate of serving kernels for each precision");

enum attention_kernel {
	ATTENTION_UNFUSED,       /* scores in memory, softmax op by op */
	ATTENTION_FUSED_SOFTMAX, /* scores in memory, one softmax kernel */
	ATTENTION_FLASH1,
	ATTENTION_FLASH2,
	ATTENTION_FLASH3, /* FlashAttention 3, cuDNN on Hopper and later */
	ATTENTION_COUNT
};

/* What is so of a precision, and of a kernel of attention. */
struct precision_row {
	bool trains; /* the others are of servers alone */
	bool wide;   /* numbers of 16 bits or more, without scales */
	bool blocks; /* scales of blocks, not of tensors or channels */
	/* Bytes of an element with its share of the scales: in what a GEMM reads row by
	 * row, and in a matrix of weights. */
	double operand_bytes, weight_bytes;
};
struct attention_row {
	bool flash; /* scores never reach memory (FlashAttention, arXiv 2205.14135) */
	int generation;
};
extern const struct precision_row precision_table[PRECISION_COUNT];
extern const struct attention_row attention_table[ATTENTION_COUNT];

/* Measured shares of the datasheet rates; see engine/README.md, Roofline. */
struct calibration {
	double gemm_efficiency[PRECISION_COUNT];      /* plateau of a large GEMM */
	double attention_efficiency[ATTENTION_COUNT]; /* of the bf16 peak */
	double unaligned_efficiency;   /* of a GEMM whose width is no multiple of 64 */
	double narrow_head_efficiency; /* of flash with heads up to 64 wide */
	double attention_half_seq;     /* tokens at which flash reaches half of it */
	double fp8_attention_gain;     /* of flash in fp8 over bf16; 0 = none known */
	double memory_efficiency;      /* of memory_bytes_per_second */
	double kernel_seconds;         /* fixed time of one GEMM-like kernel */
	double tail_share;             /* of what idle cores of a GEMM cost */
	double step_seconds;           /* fixed time of one optimizer step */
	double collective_share; /* of the domain's plateau, that a training step's
				    collectives reach; 0 = all */
	bool unmeasured;         /* no training run on it: shares of a comparable one */
	bool assumed;            /* the file states no shares, or not all that count */
	/* Measured over predicted seconds of kernels, of what links carry and of what
	 * the CPU does, from measured runs of this machine; 0, 1 = not calibrated. */
	double compute_scale, network_scale, host_scale;
	struct serving_calibration serving;
};

/* Who makes an accelerator: what software is built for it hangs on that. */
enum maker {
	MAKER_UNKNOWN, /* whatever runs there is taken on trust */
	MAKER_NVIDIA,
	MAKER_AMD,
	MAKER_GOOGLE,
	MAKER_HUAWEI,
	MAKER_COUNT
};

struct accelerator {
	char name[MAX_NAME];
	enum maker maker;
	double peak_flops[PRECISION_COUNT]; /* dense; 0 = not supported */
	double memory_bytes;                /* as the label says */
	double usable_bytes;                /* what a framework can allocate */
	double memory_bytes_per_second;
	double host_bytes_per_second; /* host link, per direction, where all GPUs of a
					 node copy at once; 0 = unknown */
	/* The same of a GPU beside which none copies; 0 = no more. */
	double host_alone_bytes_per_second;
	int64_t cores; /* streaming multiprocessors or the like; 0 = unknown */
	double tdp_watts, idle_watts;
	int64_t year; /* of introduction: kernel generations hang on it */
	struct transports transports;
	struct calibration calibration;
};

/* Link levels, innermost first. A level joins `span` accelerators. */
enum link_level {
	LINK_DOMAIN,  /* NVLink, Infinity Fabric, HCCS, ICI, or PCIe */
	LINK_NETWORK, /* the cluster's network, per accelerator */
	LINK_UPPER,   /* behind an oversubscribed leaf; span 0 = none */
	LINK_COUNT
};

struct link {
	char name[24];
	int64_t span;            /* accelerators joined; 0 = the whole cluster */
	double bytes_per_second; /* per accelerator, per direction, nominal */
	double efficiency;       /* plateau bus bandwidth over nominal */
	double latency_seconds;  /* of one hop of a collective */
	double oversubscription; /* >= 1; LINK_UPPER */
	/* LINK_DOMAIN: lines of each member, each to another one, where no switch
	 * stands between them: bytes_per_second is that of all; 0 = a switch */
	int64_t lines;
	bool in_network_reduction; /* LINK_DOMAIN: NVLS; LINK_NETWORK: SHARP */
	bool assumed;              /* the file states no efficiency, or no latency */
};

struct cluster {
	char name[MAX_NAME];
	char source[MAX_NOTE];
	char training_stack[MAX_NAME]; /* that is usual there; empty = not said */
	struct accelerator accelerator;
	int64_t gpus;          /* accelerators in the job */
	int64_t gpus_per_node; /* that share one host and its NICs */
	struct link link[LINK_COUNT];
	bool torus;                /* ICI torus instead of a switch */
	int64_t torus_axes;        /* of it */
	double price_per_gpu_hour; /* dollars */
	double host_watts_per_gpu; /* CPU, NIC, fans, switches */
	double host_bytes_per_gpu; /* its share of the node's memory; 0 = unknown */
	double host_memory_bytes_per_second; /* of a GPU, nominal; 0 = unknown */
	double launch_seconds; /* of one launch or allocation by a host's core */
	double pue;
	double grid_grams_per_kwh; /* of CO2, for the electricity that it draws */
	double node_mtbf_hours;
	double checkpoint_bytes_per_second; /* per node, to storage */
	double restart_seconds;
	struct accuracy accuracy;
	double scale; /* measured over predicted step time of one calibration run;
			 1 = not calibrated */
};

/* Accelerators in the fast domain of this cluster, never more than gpus. */
int64_t cluster_domain(const struct cluster *cluster);
/* What a GPU has of its node's host, in shares that are each GPU's where all run: a job
 * that takes fewer has the others' too. */
double cluster_host_shares(const struct cluster *cluster);
/* Bytes a second between a GPU of the job and its host, each way: of a switch that some
 * share, which a node's first GPUs sit behind together. */
double cluster_host_rate(const struct cluster *cluster);
/* Whether measured runs have moved any of its scales. */
bool cluster_is_calibrated(const struct cluster *cluster);
/* Of one accelerator with its share of host and building; busy: share of the time. */
double cluster_watts(const struct cluster *cluster, double busy);

#endif
