/* Legality: each rule broken once, and a legal counterpart beside it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/advice/advice.h"
#include "engine/knob/knob.h"
#include "engine/plan/scenario.h"
#include "engine/predict/predict.h"
#include "engine/rules/legality.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static struct scenario scenario;
static struct findings findings;

static const struct finding *finding_of(const char *code)
{
	for (int i = 0; i < findings.count; i++)
		if (strcmp(findings.item[i].rule->code, code) == 0)
			return &findings.item[i];
	return NULL;
}

static void print_findings(void)
{
	char text[300], remedy[100];

	for (int i = 0; i < findings.count; i++) {
		finding_text(&findings.item[i], text, sizeof text);
		finding_remedy(&findings.item[i], remedy, sizeof remedy);
		print_message("%s %s [%s]\n", findings.item[i].rule->code, text,
			      remedy);
	}
}

/* Settings "tp=8 pp=4 ..." on top of a case. */
static void apply(const char *settings)
{
	char copy[300], *save = NULL;

	snprintf(copy, sizeof copy, "%s", settings);
	for (char *word = strtok_r(copy, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		char *equals = strchr(word, '=');

		*equals = '\0';
		case_set(&scenario, word, equals + 1);
	}
}

enum base { DENSE, MOE, MLA, HYBRID, BIASED };

static void case_biased(struct scenario *s)
{
	case_moe(s);
	s->model.moe.expert_bias = true;
}

static void begin(enum base base)
{
	static void (*const make[])(struct scenario *) = { case_dense, case_moe,
							   case_mla, case_hybrid,
							   case_biased };

	make[base](&scenario);
}

/* Each row: a rule, the settings that break it, the remedy that is offered, and
 * settings close by that keep it. */
static const struct {
	const char *code;
	enum base base;
	const char *bad, *remedy, *good;
} cases[] = {
	{ "E1", DENSE, "gpus=48", "gpus 32 or 64", "gpus=96 gbs=96" },
	{ "E1", DENSE, "tp=24 sp=off", "tp 16", "tp=4 sp=off" },
	{ "E2", MLA, "tp=2 sp=on gpus=1024 etp=auto", "etp 1",
	  "tp=2 sp=on gpus=1024 etp=1" },
	{ "E3", MLA, "tp=2 sp=on gpus=512 etp=1", "gpus 1024",
	  "tp=2 sp=on gpus=1024 etp=1" },
	{ "E4", MOE, "tp=3 etp=1 gpus=48 ep=8 sp=on seq=4098 gbs=240", "tp 2",
	  "tp=4 etp=1 sp=on" },
	{ "E6", DENSE, "cp=2 tp=4 seq=8190", "seq 8184 or 8192", "cp=2 tp=4 seq=8192" },
	{ "E6", DENSE, "cp=2 tp=4 sp=off seq=8190", "cp 1",
	  "cp=2 tp=4 sp=off seq=8192" },
	{ "E7", DENSE, "gbs=127", "gbs 126 or 128", "gbs=126 vpp=1" },
	{ "E8", DENSE, "pp=32 tp=2", "split balanced", "pp=32 tp=2 split=balanced" },
	{ "E9", DENSE, "vpp=3", "vpp 2 or 4", "vpp=5" },
	{ "E12", DENSE, "vpp=2 pp=1", "vpp 1", "vpp=2 pp=4" },
	{ "E12", DENSE, "vpp=2 pp=2 overlap_p2p=off", "overlap_p2p on",
	  "vpp=2 pp=2 overlap_p2p=on" },
	{ "E13", DENSE, "vpp=2 gbs=8 mbs=2", "mbs 1", "vpp=2 gbs=8 mbs=1" },
	{ "E13", DENSE, "vpp=2 micro_batch_group=3", "micro_batch_group 4 or auto",
	  "vpp=2 micro_batch_group=8" },
	{ "E14", DENSE, "vpp=2 gbs=20", "gbs 16 or 24", "vpp=2 gbs=24" },
	{ "E16", MOE, "ep=16 etp=1", "ep 8", "ep=4" },
	{ "E16", DENSE, "ep=2", "ep 1", "ep=1" },
	{ "E17", DENSE, "recompute=selective recompute_modules=mlp recompute_layers=2",
	  "recompute_layers all", "recompute=full recompute_layers=2" },
	{ "E17", DENSE, "recompute=selective recompute_modules=none",
	  "recompute_modules core_attn",
	  "recompute=selective recompute_modules=layernorm" },
	{ "E18", MOE,
	  "recompute=selective recompute_modules=moe_act+layernorm grouped_gemm=off",
	  "grouped_gemm on", "recompute=selective recompute_modules=moe_act" },
	{ "E18", MOE, "recompute=selective recompute_modules=mla_up_proj+layernorm",
	  "recompute_modules layernorm",
	  "recompute=selective recompute_modules=layernorm" },
	{ "E19", MLA,
	  "recompute=selective recompute_modules=shared_experts "
	  "shared_expert_overlap=on",
	  "shared_expert_overlap off",
	  "recompute=selective recompute_modules=mla_up_proj "
	  "shared_expert_overlap=on" },
	{ "E20", MOE,
	  "precision=fp8 fp8_recipe=delayed recompute=selective "
	  "recompute_modules=layernorm",
	  "fp8_recipe current-scaling",
	  "precision=fp8 fp8_recipe=delayed recompute=selective "
	  "recompute_modules=mlp" },
	{ "E21", MOE, "ep_overlap=on vpp=2 recompute=full", "ep_overlap off",
	  "ep_overlap=on vpp=2 recompute=none" },
	{ "E21", MOE, "ep_overlap=on", "vpp 2", "ep_overlap=on pp=1" },
	{ "E21", MOE, "ep_overlap=on pp=1 moe_dispatcher=allgather",
	  "moe_dispatcher alltoall", "ep_overlap=on pp=1 moe_dispatcher=deepep" },
	{ "E21", MOE,
	  "ep_overlap=on pp=1 recompute=selective recompute_modules=moe+layernorm",
	  "recompute_modules layernorm",
	  "ep_overlap=on pp=1 recompute=selective recompute_modules=layernorm" },
	{ "E21", MOE, "ep_overlap=on pp=1 ep=1", "ep_overlap off", "ep=1" },
	{ "E21", MOE, "ep_overlap=on pp=1 precision=fp32", "ep_overlap off",
	  "ep_overlap=on pp=1 precision=fp16" },
	{ "E21", MLA, "ep_overlap=on vpp=2 shared_expert_overlap=on",
	  "shared_expert_overlap off", "shared_expert_overlap=on" },
	{ "E22", DENSE, "activation_offload=1 pp=1", "activation_offload 0.9",
	  "activation_offload=0.9 pp=1" },
	{ "E22", DENSE, "activation_offload=0.5", "activation_offload 0",
	  "activation_offload=0.5 pp=1" },
	{ "E22", DENSE, "activation_offload=0.5 pp=1 recompute=full", "recompute none",
	  "activation_offload=0.5 pp=1" },
	{ "E22", DENSE, "activation_offload=0.5 pp=1 cuda_graphs=full",
	  "cuda_graphs none", "activation_offload=0.5 pp=1" },
	{ "E23", DENSE, "tp_overlap=on sp=off", "sp on", "tp_overlap=on" },
	{ "E24", MOE, "tp=2 sp=off etp=1", "sp on", "tp=2 sp=on etp=1" },
	{ "E24", MOE, "tp=4 sp=off etp=1 ep=1", "sp on", "tp=4 sp=on etp=1 ep=1" },
	{ "E29", MLA, "shared_expert_overlap=on moe_dispatcher=allgather",
	  "moe_dispatcher alltoall",
	  "shared_expert_overlap=off moe_dispatcher=allgather" },
	{ "E30", DENSE, "zero=1 overlap_param_gather=on overlap_grad_reduce=off",
	  "overlap_grad_reduce on",
	  "zero=0 overlap_param_gather=on overlap_grad_reduce=off" },
	{ "E31", DENSE, "cuda_graphs=partial recompute=full",
	  "cuda_graphs full or none", "cuda_graphs=full recompute=full" },
	{ "E32", DENSE, "zero=3 optimizer=muon", "zero 1", "zero=1 optimizer=muon" },
	{ "E33", MOE, "cp=16 cp_kind=ulysses tp=1 sp=off gpus=128 seq=4096", "cp 8",
	  "cp=8 cp_kind=ulysses tp=1 sp=off gpus=128 seq=4096" },
	{ "E36", DENSE, "precision=fp8 fp8_recipe=delayed wide_last=1",
	  "fp8_recipe current-scaling",
	  "precision=bf16 fp8_recipe=delayed wide_last=1" },
	{ "E36", DENSE, "precision=fp8 fp8_recipe=current-scaling wide_last=21",
	  "wide_last 20", "precision=fp8 fp8_recipe=current-scaling wide_last=20" },
	{ "E37", DENSE, "offload_modules=attn_proj",
	  "offload_modules core_attn+attn_proj or none",
	  "offload_modules=core_attn+attn_proj" },
	{ "E37", DENSE, "pp=1 offload_modules=mlp_norm activation_offload=0.5",
	  "activation_offload 0",
	  "pp=1 activation_offload=0 offload_modules=mlp_norm" },
	{ "E38", BIASED, "tp=2 etp=2 sp=on", "etp 1", "tp=2 etp=1 sp=on" },
	{ "E26", DENSE, "tp=1", "sp off", "tp=1 sp=off" },
	{ "E27", DENSE, "recompute=selective recompute_modules=core_attn+layernorm",
	  "recompute_modules layernorm",
	  "recompute=selective recompute_modules=core_attn attention_kernel=unfused" },
	{ "E28", MOE, "tp=32 pp=1 ep=2 etp=1 sp=on", "tp 4", "tp=2 etp=1 sp=on" },
	{ "X1", DENSE, "tp=128 gpus=1024 gbs=256 seq=8k", "tp 64",
	  "tp=64 gpus=256 sp=off" },
	{ "X2", DENSE, "cp=16 cp_kind=ulysses gpus=512", "cp 1",
	  "cp=8 cp_kind=ulysses tp=1 sp=off gpus=256" },
	{ "X3", HYBRID, "cp=128 tp=2 gpus=256", "tp 1", "cp=4" },
	{ "X4", DENSE, "seq=8188", "seq 8184 or 8192", "seq=8192" },
	/* nobody changes the sequence for an odd degree */
	{ "X4", DENSE, "tp=3", "tp 2 or 4", "tp=2" },
	{ "X4", DENSE, "cp=3", "cp 2", "cp=2" },
	{ "X6", DENSE, "document_len=16k", "document_len 8192", "document_len=2k" },
	{ "X7", DENSE, "gpus=256 zero_group=3", "zero_group 2 or 4",
	  "gpus=256 zero_group=4" },
	{ "X8", MOE, "tp=1 etp=5 gpus=80 ep=8 gbs=400", "etp 1", "etp=2" },
	{ "X9", DENSE, "precision=nvfp4", "precision bf16, fp16 or fp32",
	  "precision=fp8" },
	{ "X28", DENSE, "precision=fp8 fp8_recipe=mxfp8", "fp8_recipe current-scaling",
	  "precision=fp8 fp8_recipe=blockwise" },
	{ "X29", DENSE, "pp=1 precision=fp8 wide_first=30 wide_last=60", "wide_last 50",
	  "pp=1 precision=fp8 fp8_recipe=blockwise wide_first=30 wide_last=50" },
	{ "X31", DENSE, "pp=1 frozen_layers=80", "frozen_layers 79",
	  "pp=1 frozen_layers=79" },
	{ "X32", DENSE, "pp=4 frozen_layers=8", "pp 1", "pp=1 frozen_layers=8" },
	{ "X30", DENSE, "precision=int8", "precision bf16, fp16 or fp32",
	  "precision=fp8" },
	{ "X24", MOE, "pp=64 ep=1 split=balanced", "pp 32", "pp=32 ep=2" },
	{ "X12", MOE, "pp=34 gpus=34 tp=1 ep=1 gbs=34 split=balanced", "pp 17",
	  "pp=32 ep=2" },
	{ "X14", DENSE, "split=custom layout=Et*80|", "split auto or balanced",
	  "split=auto" },
	{ "X15", DENSE, "split=custom layout=Et*20|t*20|t*20|t*19L",
	  "split auto or balanced", "split=custom layout=Et*20|t*20|t*20|t*20L" },
	{ "E15", DENSE, "split=custom layout=Et*30|t*30|t*20L", "pp 1",
	  "split=custom layout=Et*20|t*20|t*20|t*20L" },
	{ "E10", DENSE, "split=custom layout=Et*10|(t*10|)*6,t*10L vpp=4", "vpp 2 or 1",
	  "split=custom layout=Et*10|(t*10|)*6,t*10L vpp=2" },
	{ "X16", DENSE, "split=first-last first_stage_layers=19 last_stage_layers=20",
	  "split auto or balanced",
	  "split=first-last first_stage_layers=21 last_stage_layers=19" },
	{ "X17", DENSE, "vpp=2 schedule=1f1b", "schedule interleaved",
	  "vpp=1 schedule=1f1b" },
	{ "X18", DENSE, "gpus=100 tp=2 pp=1 gbs=15600", "gpus 96 or 104",
	  "gpus=4 tp=2 pp=1" },
	{ "X19", DENSE, "zero=3", "zero 1", "zero=3 pp=1 gbs=256" },
	{ "X20", DENSE, "pp=5 gpus=80 schedule=dualpipe", "pp 10",
	  "pp=4 schedule=dualpipe" },
	{ "X20", DENSE, "pp=5 gpus=80 schedule=chimera", "pp 10",
	  "pp=5 gpus=80 schedule=dualpipev" },
	{ "X21", DENSE, "gbs=130 schedule=chimera", "gbs 128 or 132",
	  "gbs=130 schedule=zb-v" },
	{ "X22", DENSE, "gbs=8 schedule=dualpipe", "gbs 16",
	  "gbs=16 schedule=dualpipe" },
	{ "X22", DENSE, "gbs=14 schedule=dualpipev", "gbs 16",
	  "gbs=18 schedule=dualpipev" },
	{ "X23", DENSE, "split=custom layout=Et*20|t*20|t*20|t*20L schedule=zb-v",
	  "split balanced or auto",
	  "split=custom layout=Et*10|(t*10|)*6,t*10L schedule=zb-v" },
};

static int wrong;

static void complain(const char *code, const char *what, const char *settings)
{
	print_message("%s: %s: %s\n", code, what, settings);
	print_findings();
	wrong++;
}

static void check_bad(const char *code, enum base base, const char *bad,
		      const char *expected)
{
	const struct finding *finding;
	char remedy[100];
	int errors;

	begin(base);
	apply(bad);
	errors = scenario_check(&scenario, &findings);
	finding = finding_of(code);
	if (!finding) {
		complain(code, "does not notice", bad);
		return;
	}
	if (errors == 0 && finding->rule->severity == SEVERITY_ERROR)
		complain(code, "is not counted", bad);
	finding_remedy(finding, remedy, sizeof remedy);
	if (strcmp(remedy, expected) != 0) {
		print_message("got '%s', expected '%s'\n", remedy, expected);
		complain(code, "offers another remedy", bad);
	}
}

static void check_good(const char *code, enum base base, const char *good)
{
	begin(base);
	apply(good);
	if (scenario_check(&scenario, &findings) > 0 || finding_of(code))
		complain(code, "is raised against", good);
}

static void test_cases(void **state)
{
	(void)state;
	wrong = 0;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		check_bad(cases[i].code, cases[i].base, cases[i].bad, cases[i].remedy);
		check_good(cases[i].code, cases[i].base, cases[i].good);
	}
	assert_int_equal(wrong, 0);
}

/* Transformer Engine deals whole heads of keys out over CP, DeepSpeed copies them where
 * they are fewer than ranks: 8 heads for 16, but not 10 for 4; then each is sent to
 * several. */
static void test_ulysses_deals_kv_heads(void **state)
{
	static struct estimate e;
	struct error error = { "" };
	double bytes[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_true(scenario_blank(&scenario, "llama3.1-8b", "dgx-h100",
					   "deepspeed", &error));
		apply("gpus=64 gbs=64 seq=16384 cp_kind=ulysses zero=3 recompute=full");
		scenario.plan.cp = 8 << i;
		scenario_estimate(&scenario, &e);
		assert_true(e.legal);
		bytes[i] = e.cost[DIM_CP].payload_bytes;
	}
	/* of 32 + 32 heads and 8 + 8: half as many tokens a rank, twice as many
	 * samples, keys sent twice */
	assert_close(bytes[1] / bytes[0], (32 + 16.) / (32 + 8), 1e-9);
	assert_true(
		scenario_blank(&scenario, "phi-4", "dgx-h100", "deepspeed", &error));
	apply("gpus=64 gbs=64 seq=4096 cp_kind=ulysses zero=3 cp=4 recompute=full");
	assert_true(scenario_check(&scenario, &findings) > 0 && finding_of("E34"));
	apply("cp=2");
	assert_int_equal(scenario_check(&scenario, &findings), 0);
}

/* Megatron takes TP that divides the key-value heads or is a multiple of them;
 * torchtitan only the former. */
static void test_kv_heads(void **state)
{
	(void)state;
	begin(DENSE);
	apply("tp=16 gpus=128");
	assert_int_equal(scenario_check(&scenario, &findings), 0);
	scenario.stack.kv_rule = KV_TP_DIVIDES_HEADS;
	assert_int_equal(scenario_check(&scenario, &findings), 1);
	assert_string_equal(findings.item[0].rule->code, "E5");
	assert_close(findings.item[0].nearest[0], 8, 0);
	apply("tp=8 gpus=64");
	assert_int_equal(scenario_check(&scenario, &findings), 0);
}

/* Of stages that are too many one rule speaks: those that refuse, or that some hold no
 * layer. */
static void test_stages_are_too_many_once(void **state)
{
	(void)state;
	begin(MOE);
	apply("pp=64 ep=1 split=balanced");
	assert_true(scenario_check(&scenario, &findings) > 0);
	assert_true(finding_of("X24") && !finding_of("X12"));
	apply("pp=34 gpus=34 tp=1 gbs=34");
	assert_int_equal(scenario_check(&scenario, &findings), 0);
	assert_true(finding_of("X12") && !finding_of("X24"));
}

/* Rules belong to a stack: what only Megatron asserts is silent elsewhere, what
 * follows from the degrees is not. */
static void test_stack_rules(void **state)
{
	static const char *const own[] = { "E4",  "E5",  "E6",  "E9",  "E12", "E13",
					   "E14", "E17", "E18", "E19", "E20", "E21",
					   "E22", "E23", "E24", "E26", "E27", "E29",
					   "E30", "E31", "E32", "E33", "E38" };
	static const char *const common[] = { "E1", "E2", "E3", "E7", "E16" };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		bool is_own = false, is_common = false;

		for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
			is_own |= strcmp(own[k], cases[i].code) == 0;
		for (size_t k = 0; k < sizeof common / sizeof common[0]; k++)
			is_common |= strcmp(common[k], cases[i].code) == 0;
		begin(cases[i].base);
		apply(cases[i].bad);
		scenario.stack.rules = 0;
		scenario_check(&scenario, &findings);
		if (is_own)
			assert_null(finding_of(cases[i].code));
		if (is_common)
			assert_non_null(finding_of(cases[i].code));
	}
	begin(DENSE);
	apply("pp=32 tp=2");
	scenario.stack.rules = 0;
	assert_int_equal(scenario_check(&scenario, &findings), 0);
	apply("split=even");
	assert_int_equal(scenario_check(&scenario, &findings), 1);
}

/* GLM-4.5-Air on PP 4 (ms-swift 5737): 46 layers do not divide; a legal split is
 * offered. */
static void test_glm_air(void **state)
{
	char text[300];

	(void)state;
	begin(MOE);
	while (scenario.model.layers < 46)
		model_add_layer(&scenario.model, &scenario.model.kind[0]);
	apply("pp=4");
	assert_int_equal(scenario_check(&scenario, &findings), 1);
	finding_text(&findings.item[0], text, sizeof text);
	assert_string_equal(
		text, "46 layers cannot be divided evenly over PP 4; set first "
		      "and last counts, count embedding or loss, or use a layout");
	finding_remedy(&findings.item[0], text, sizeof text);
	assert_string_equal(text, "split balanced");
	apply("split_embedding=on");
	assert_int_equal(scenario_check(&scenario, &findings), 1);
	finding_text(&findings.item[0], text, sizeof text);
	assert_string_equal(text,
			    "46 layers + 1 for embedding and loss = 47, which PP 4 "
			    "does not divide; set first and last counts or use a "
			    "layout");
	apply("split_embedding=off split=balanced");
	assert_int_equal(scenario_check(&scenario, &findings), 0);
	apply("split=auto split_embedding=on split_loss=on");
	assert_int_equal(scenario_check(&scenario, &findings), 0);
}

/* DeepSeek-V3, 1024 GPUs, TP 2 PP 16 EP 64: by Megatron's default ETP = TP that
 * needs 2048; ETP 1 mends it, and 61 layers on 16 stages are flagged. */
static void test_deepseek(void **state)
{
	char text[300];

	(void)state;
	begin(MLA);
	apply("gpus=1024 tp=2 sp=on split=auto");
	assert_true(scenario_check(&scenario, &findings) >= 2);
	finding_text(finding_of("E2"), text, sizeof text);
	assert_string_equal(text,
			    "expert layers need a multiple of ETP 2 x EP 64 x PP 16 "
			    "= 2048 GPUs, not 1024");
	finding_remedy(finding_of("E2"), text, sizeof text);
	assert_string_equal(text, "etp 1");
	assert_close(finding_of("E3")->value[0], 2048, 0);
	apply("etp=1");
	assert_int_equal(scenario_check(&scenario, &findings), 1);
	assert_string_equal(findings.item[0].rule->code, "E8");
	assert_int_equal(scenario_smallest_world(&scenario), 1024);
	assert_int_equal(scenario_dp(&scenario), 32);
	assert_int_equal(scenario_edp(&scenario), 1);
}

/* PP 1 TP 2 CP 4 EP 8 ETP 1 run on 8 GPUs: the product of all degrees is no rule. */
static void test_folding(void **state)
{
	(void)state;
	begin(MOE);
	apply("gpus=8 pp=1 tp=2 cp=4 ep=8 etp=1 sp=on");
	assert_int_equal(scenario_check(&scenario, &findings), 0);
	assert_int_equal(findings.count, 0);
}

/* The short form, without texts, agrees with the long one; remedies are legal. */
static void test_random(void **state)
{
	static const char *const keys[] = { "tp",
					    "sp",
					    "pp",
					    "vpp",
					    "cp",
					    "ep",
					    "etp",
					    "zero",
					    "mbs",
					    "gbs",
					    "seq",
					    "gpus",
					    "split",
					    "recompute",
					    "ep_overlap",
					    "zero_group",
					    "precision",
					    "recompute_modules",
					    "activation_offload" };
	double values[MAX_VALUES];
	int present, checked = 0;

	(void)state;
	srand((unsigned)seed_or(11));
	for (int round = 0; round < 4000; round++) {
		struct scenario trial;
		int errors;

		begin((enum base)(round % 4));
		for (int turn = rand() % 4; turn >= 0; turn--) {
			const struct knob *knob = knob_find(
				keys[(size_t)rand() % (sizeof keys / sizeof *keys)]);
			int n = knob_values(&scenario, knob, values, &present);

			assert_true(knob_set(&scenario, knob, values[rand() % n]));
		}
		if (round % 3 == 0)
			scenario.stack.rules = (uint64_t)rand();
		errors = scenario_check(&scenario, &findings);
		assert_int_equal(errors > 0, scenario_check(&scenario, NULL) > 0);
		for (int i = 0; i < findings.count; i++) {
			const struct finding *f = &findings.item[i];
			struct findings after;

			assert_true(i == 0 ||
				    f->rule->severity >= f[-1].rule->severity);
			for (int k = 0; k < f->nearest_count && errors == 1 && i == 0;
			     k++) {
				trial = scenario;
				assert_true(knob_set(&trial, knob_find(f->knob),
						     f->nearest[k]));
				assert_int_equal(scenario_check(&trial, &after), 0);
				checked++;
			}
		}
	}
	assert_true(checked > 500);
}

/* Fields no reader lets in are refused, not divided by. */
/* What no rule may be asked about is refused before them. */
static void check_incomplete(void)
{
	assert_int_equal(scenario_check(&scenario, NULL), 1);
	assert_int_equal(scenario_check(&scenario, &findings), 1);
	assert_string_equal(findings.item[0].rule->code, "X0");
}

static void test_hostile(void **state)
{
	(void)state;
	memset(&scenario, 0, sizeof scenario);
	check_incomplete();
	begin(DENSE);
	scenario.plan.tp = 0;
	check_incomplete();
	scenario.plan.tp = -8;
	check_incomplete();
	begin(DENSE);
	scenario.plan.precision = 99;
	check_incomplete();
	begin(DENSE);
	scenario.plan.tp = scenario.plan.pp = scenario.plan.cp = INT32_MAX;
	assert_true(scenario_check(&scenario, &findings) > 0);
	begin(MLA);
	apply("tp=4096 pp=256 cp=4096 ep=4096 etp=4096 vpp=64 gpus=1M mbs=16M gbs=16M");
	assert_true(scenario_check(&scenario, &findings) > 3);
	for (int i = 0; i < findings.count; i++) {
		char text[300];

		assert_true(finding_text(&findings.item[i], text, sizeof text) < 200);
	}
}

/* Figures alone are the estimate's, with the same problems and nothing that would mend
 * them; the estimate has what the check of the rules offers. */
static void check_figures(const char *settings)
{
	static struct estimate whole, figures;

	apply(settings);
	scenario_estimate(&scenario, &whole);
	scenario_figures(&scenario, &figures);
	scenario_check(&scenario, &findings);
	assert_int_equal(figures.legal, whole.legal);
	assert_true(!whole.legal || figures.step_seconds == whole.step_seconds);
	assert_int_equal(figures.problems.count, whole.problems.count);
	assert_true(findings.count > 0 && findings.count <= whole.problems.count);
	for (int i = 0; i < findings.count; i++) {
		const struct finding *f = &whole.problems.item[i];

		assert_ptr_equal(figures.problems.item[i].rule, f->rule);
		assert_int_equal(figures.problems.item[i].nearest_count, 0);
		assert_int_equal(f->nearest_count, findings.item[i].nearest_count);
		assert_memory_equal(f->nearest, findings.item[i].nearest,
				    (size_t)f->nearest_count * sizeof *f->nearest);
	}
}

static void test_figures(void **state)
{
	(void)state;
	begin(DENSE);
	check_figures("tp=3 pp=7");
	assert_true(findings.item[0].nearest_count > 0);
	begin(DENSE);
	check_figures("mode=inference tp=3");
	assert_true(findings.item[0].nearest_count > 0);
}

/* Of a legal plan the sums of traffic are those of the list, which is left out; but a
 * pinned algorithm that runs nowhere is remarked. */
static void test_figures_sum_traffic(void **state)
{
	static struct estimate whole, figures;

	(void)state;
	begin(DENSE);
	scenario_estimate(&scenario, &whole);
	scenario_figures(&scenario, &figures);
	assert_true(whole.legal && figures.legal && whole.traffic_count > 1);
	assert_int_equal(figures.traffic_count, 0);
	assert_memory_equal(figures.cost, whole.cost, sizeof whole.cost);
	assert_true(figures.step_seconds == whole.step_seconds);
	assert_true(figures.memory.total_bytes == whole.memory.total_bytes);
	apply("collective=torus");
	scenario_estimate(&scenario, &whole);
	scenario_figures(&scenario, &figures);
	assert_int_equal(whole.problems.count, 1);
	assert_int_equal(figures.problems.count, 1);
	assert_ptr_equal(figures.problems.item[0].rule, whole.problems.item[0].rule);
}

/* Who reads a rule has the program, not its source code. */
static void test_sources_are_at_hand(void **state)
{
	const struct rule *rule;

	(void)state;
	for (int i = 0; (rule = rule_at(i)); i++)
		if (strstr(rule->source, "engine/"))
			fail_msg("%s: the source '%s' is not at hand", rule->code,
				 rule->source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_sources_are_at_hand),
		cmocka_unit_test(test_kv_heads),
		cmocka_unit_test(test_ulysses_deals_kv_heads),
		cmocka_unit_test(test_stages_are_too_many_once),
		cmocka_unit_test(test_stack_rules),
		cmocka_unit_test(test_glm_air),
		cmocka_unit_test(test_deepseek),
		cmocka_unit_test(test_folding),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_figures_sum_traffic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
