/* case.c - complete scenarios for tests of the engine. */
#include "tests/support/case.h"

#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "tests/support/close.h"

uint64_t case_rules(void)
{
	uint64_t rules = 0;

	for (int i = 1; i <= 33; i++)
		rules |= (uint64_t)1 << i;
	return rules | (uint64_t)7 << 36;
}

void case_set(struct scenario *scenario, const char *key, const char *value)
{
	char why[200];
	const struct knob *knob = knob_find(key);

	assert_non_null(knob);
	if (!knob_parse(scenario, knob, value, why, sizeof why))
		fail_msg("%s", why);
}

static void set_hardware(struct scenario *s, int64_t gpus)
{
	struct accelerator *a = &s->cluster.accelerator;
	struct link *domain = &s->cluster.link[LINK_DOMAIN];
	struct link *network = &s->cluster.link[LINK_NETWORK];

	strcpy(s->cluster.name, "dgx-h100");
	strcpy(a->name, "h100-sxm-80g");
	a->peak_flops[PRECISION_BF16] = a->peak_flops[PRECISION_FP16] = 989e12;
	a->peak_flops[PRECISION_FP32] = 67e12;
	a->peak_flops[PRECISION_FP8] = 1979e12;
	a->memory_bytes = 80e9;
	a->usable_bytes = 79.1 * 1073741824.0;
	a->memory_bytes_per_second = 3.35e12;
	a->host_bytes_per_second = 55e9;
	a->tdp_watts = 700;
	a->idle_watts = 100;
	a->year = 2022;
	for (int i = 0; i < PRECISION_COUNT; i++)
		a->calibration.gemm_efficiency[i] = 0.7;
	for (int i = 0; i < ATTENTION_COUNT; i++)
		a->calibration.attention_efficiency[i] = 0.15 * (i + 1);
	a->calibration.attention_half_seq = 1000;
	a->calibration.fp8_attention_gain = 1.3;
	a->calibration.memory_efficiency = 0.8;
	a->calibration.kernel_seconds = 4e-6;
	a->calibration.step_seconds = 0.04;
	for (int k = 0; k < RUN_KINDS; k++)
		s->cluster.accuracy.time[k] = s->cluster.accuracy.memory[k] =
			(struct spread){ 0.9, 1.2 };
	s->cluster.accuracy.fit = (struct fit_curve){ 18, 1.005, 1.13, 0.95 };
	s->cluster.accuracy.beyond = (struct range_growth){ 1024, 1.5 };
	s->cluster.gpus = gpus;
	s->cluster.gpus_per_node = 8;
	*domain = (struct link){ .name = "NVLink",
				 .span = 8,
				 .bytes_per_second = 450e9,
				 .efficiency = 0.75,
				 .latency_seconds = 2e-6,
				 .oversubscription = 1 };
	*network = (struct link){ .name = "InfiniBand",
				  .bytes_per_second = 50e9,
				  .efficiency = 0.7,
				  .latency_seconds = 5e-6,
				  .oversubscription = 1 };
	s->cluster.link[LINK_UPPER].oversubscription = 1;
	s->cluster.price_per_gpu_hour = 2;
	s->cluster.host_watts_per_gpu = 200;
	s->cluster.host_bytes_per_gpu = 256 * 1073741824.0;
	s->cluster.pue = 1.2;
	s->cluster.grid_grams_per_kwh = 480;
	s->cluster.node_mtbf_hours = 20000;
	s->cluster.checkpoint_bytes_per_second = 2e9;
	s->cluster.restart_seconds = 600;
	s->cluster.scale = 1;
}

/* As presets/habits has them. */
void case_habits(struct stack *stack)
{
	stack->habits = (struct habits){
		.flash_backward = 0.86,
		.scan_backward = 2.5,
		.small_start = 0.5,
		.unmeasured_hops = 6,
		.factored_bytes = 0.01,
		.unfused_rotary = 3,
		.unfused_gate = 1.7,
		.norm_forward = 1.404,
		.norm_backward = 2.033,
		.group_start = 0.36,
		.group_rows = 16,
		.quantise_bytes = 1.5,
		.wide_ranks = 16,
		.wide_combine = 2.4,
		.small_launches = 2,
		.expert_launches = 0.3,
		.backward_launches = 1.3,
		.compiled_launches = 0.5,
		.unbound_host = 1.5,
		.host_spread = 0.2,
		.norm_steps_forward = 36,
		.norm_steps_backward = 92,
		.tile_rows = 128,
		.tile_columns = 256,
		.bucket_bytes = 25e6,
		.router_kernels = 72,
		.fused_router_kernels = 31,
		.preprocess_kernels = 14,
	};
}

static void set_software(struct scenario *s)
{
	case_habits(&s->stack);
	strcpy(s->stack.name, "megatron-core");
	s->stack.rules = case_rules();
	s->stack.etp_rule = ETP_IS_TP;
	s->stack.kv_rule = KV_DIVIDES_OR_MULTIPLE;
	s->stack.vocab_multiple = 128;
	s->stack.operator_launches = 4;
	s->cluster.launch_seconds = 5e-6;
	s->stack.dp_overlap = 0.8;
	s->stack.tp_overlap = 0.7;
	s->stack.network_efficiency = 1;
	s->stack.context_bytes = 1e9;
	s->stack.communicator_bytes = 50e6;
	s->stack.fragmentation = 1.05;
	s->stack.logit_bytes = 8;
	s->plan.overlap_grad_reduce = s->plan.overlap_param_gather = true;
	s->plan.overlap_p2p = s->plan.fused_norms = true;
	s->plan.attention_kernel = ATTENTION_FLASH3;
}

static void begin(struct scenario *s, const char *name, int64_t gpus)
{
	scenario_defaults(s);
	set_hardware(s, gpus);
	set_software(s);
	strcpy(s->model.name, name);
	s->model.max_positions = 1 << 20;
	s->model.gated_mlp = true;
	s->model.activation = ACTIVATION_SILU;
	s->model.norm = NORM_RMS;
	s->model.position = POSITION_ROPE;
}

static void add_layers(struct model *model, int64_t count,
		       const struct layer_kind *kind)
{
	for (int64_t i = 0; i < count; i++)
		assert_true(model_add_layer(model, kind));
}

void case_dense(struct scenario *s)
{
	struct layer_kind kind = {
		.mixer = MIXER_ATTENTION,
		.mlp = MLP_DENSE,
		.attention = { .heads = 64,
			       .kv_heads = 8,
			       .head_dim = 128,
			       .value_dim = 128 },
		.ffn = 28672,
	};

	begin(s, "llama3-70b", 64);
	s->model.hidden = 8192;
	s->model.vocab = 128256;
	add_layers(&s->model, 80, &kind);
	s->plan.tp = 8;
	s->plan.sp = true;
	s->plan.pp = 4;
	s->plan.seq_len = 8192;
	s->plan.global_batch = 128;
}

void case_moe(struct scenario *s)
{
	struct layer_kind kind = {
		.mixer = MIXER_ATTENTION,
		.mlp = MLP_MOE,
		.attention = { .heads = 32,
			       .kv_heads = 8,
			       .head_dim = 128,
			       .value_dim = 128 },
	};

	begin(s, "mixtral-8x7b", 64);
	s->model.hidden = 4096;
	s->model.vocab = 32000;
	s->model.moe = (struct moe){ .experts = 8,
				     .experts_per_token = 2,
				     .expert_ffn = 14336 };
	add_layers(&s->model, 32, &kind);
	s->plan.pp = 2;
	s->plan.ep = 8;
}

void case_mla(struct scenario *s)
{
	struct layer_kind kind = {
		.mixer = MIXER_MLA,
		.mlp = MLP_DENSE,
		.attention = { .heads = 128,
			       .kv_heads = 128,
			       .head_dim = 192,
			       .value_dim = 128,
			       .query_rank = 1536,
			       .kv_rank = 512,
			       .nope_dim = 128,
			       .rope_dim = 64 },
		.ffn = 18432,
	};

	begin(s, "deepseek-v3", 2048);
	s->model.hidden = 7168;
	s->model.vocab = 129280;
	s->model.moe = (struct moe){ .experts = 256,
				     .experts_per_token = 8,
				     .expert_ffn = 2048,
				     .shared_experts = 1,
				     .shared_ffn = 2048 };
	add_layers(&s->model, 3, &kind);
	kind.mlp = MLP_MOE;
	kind.ffn = 0;
	add_layers(&s->model, 58, &kind);
	s->model.mtp_layers = 1;
	s->plan.pp = 16;
	s->plan.ep = 64;
	s->plan.global_batch = 16384;
	s->plan.split = SPLIT_BALANCED;
}

void case_hybrid(struct scenario *s)
{
	struct layer_kind attention = {
		.mixer = MIXER_ATTENTION,
		.mlp = MLP_DENSE,
		.attention = { .heads = 32,
			       .kv_heads = 8,
			       .head_dim = 128,
			       .value_dim = 128 },
		.ffn = 16384,
	};
	struct layer_kind mamba = { .mixer = MIXER_MAMBA2, .mlp = MLP_NONE };

	begin(s, "hybrid", 8);
	s->model.hidden = 4096;
	s->model.vocab = 131072;
	s->model.ssm = (struct ssm){ .inner = 8192,
				     .state = 128,
				     .heads = 128,
				     .head_dim = 64,
				     .groups = 8,
				     .conv = 4,
				     .chunk = 128 };
	for (int i = 0; i < 8; i++) {
		add_layers(&s->model, 3, &mamba);
		add_layers(&s->model, 1, &attention);
	}
	s->plan.tp = 2;
	s->plan.sp = true;
}
