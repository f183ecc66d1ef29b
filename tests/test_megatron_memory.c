/* test_megatron_memory.c - parameters and states of Megatron-LM's own calculator.
 *
 * The rows are outputs of megatron/training/theoretical_memory_usage.py, commit
 * d98e8a64, for published models: 18 bytes a parameter, or 6 + 12/d with the
 * distributed optimizer. It divides layers evenly and puts one table on the fullest
 * stage, and it leaves out biases and learned positions; so do the models here.
 * Its activation columns know neither GQA nor SwiGLU and are not used.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/train/train.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static const struct {
	const char *name;
	int64_t hidden, layers, heads, kv_heads, head_dim, ffn, experts, topk;
	bool tied, gated;
} models[] = {
	{ "megatron-22b", 6144, 48, 64, 64, 96, 24576, 0, 0, true, false },
	{ "gpt3-175b", 12288, 96, 96, 96, 128, 49152, 0, 0, true, false },
	{ "mt-nlg-530b", 20480, 105, 128, 128, 160, 81920, 0, 0, true, false },
	{ "megatron-1t", 25600, 128, 160, 160, 160, 102400, 0, 0, true, false },
	{ "llama2-7b", 4096, 32, 32, 32, 128, 11008, 0, 0, false, true },
	{ "llama2-70b", 8192, 80, 64, 8, 128, 28672, 0, 0, false, true },
	{ "llama3-8b", 4096, 32, 32, 8, 128, 14336, 0, 0, false, true },
	{ "llama3-70b", 8192, 80, 64, 8, 128, 28672, 0, 0, false, true },
	{ "llama3-405b", 16384, 126, 128, 8, 128, 53248, 0, 0, false, true },
	{ "mixtral-8x7b", 4096, 32, 32, 8, 128, 14336, 8, 2, false, true },
};

static const struct {
	const char *code, *model;
	int64_t vocab, tp, pp, dp, cp, ep, etp, zero;
	double parameters, of_shard, bytes;
} rows[] = {
	{ "m001", "megatron-22b", 51200, 8, 1, 1, 1, 1, 1, 0, 22059036672.0,
	  2758422528.0, 49651605504.0 },
	{ "m003", "gpt3-175b", 51200, 8, 8, 1, 1, 1, 1, 0, 174580064256.0, 2797145088.0,
	  50348611584.0 },
	{ "m004", "mt-nlg-530b", 51200, 8, 35, 1, 1, 1, 1, 0, 529539522560.0,
	  2018755730.2857144, 36337603145.14286 },
	{ "m005", "megatron-1t", 51200, 8, 64, 1, 1, 1, 1, 0, 1007956838400.0,
	  2130125600.0, 38342260800.0 },
	{ "m006", "gpt3-175b", 51200, 1, 16, 4, 1, 1, 1, 1, 174580064256.0,
	  11501078016.0, 103509702144.0 },
	{ "m007", "gpt3-175b", 51200, 2, 16, 4, 1, 1, 1, 1, 174580064256.0,
	  5750687232.0, 51756185088.0 },
	{ "m008", "gpt3-175b", 51200, 4, 8, 8, 1, 1, 1, 1, 174580064256.0, 5593697280.0,
	  41952729600.0 },
	{ "m009", "gpt3-175b", 51200, 4, 16, 8, 1, 1, 1, 1, 174580064256.0,
	  2875491840.0, 21566188800.0 },
	{ "m010", "gpt3-175b", 51200, 8, 8, 8, 1, 1, 1, 1, 174580064256.0, 2797145088.0,
	  20978588160.0 },
	{ "m011", "gpt3-175b", 51200, 8, 16, 4, 1, 1, 1, 0, 174580064256.0,
	  1437894144.0, 25882094592.0 },
	{ "m013", "gpt3-175b", 51200, 8, 16, 4, 1, 1, 1, 1, 174580064256.0,
	  1437894144.0, 12941047296.0 },
	{ "m014", "gpt3-175b", 51200, 8, 12, 16, 1, 1, 1, 1, 174580064256.0,
	  1890977792.0, 12764100096.0 },
	{ "m015", "gpt3-175b", 51200, 8, 8, 16, 1, 1, 1, 1, 174580064256.0,
	  2797145088.0, 18880729344.0 },
	{ "m017", "gpt3-175b", 51200, 8, 1, 64, 1, 1, 1, 1, 174580064256.0,
	  21826658304.0, 135052448256.0 },
	{ "m018", "llama2-7b", 32000, 1, 1, 8, 1, 1, 1, 1, 6738415616.0, 6738415616.0,
	  50538117120.0 },
	{ "m019", "llama2-7b", 32000, 1, 1, 8, 1, 1, 1, 0, 6738415616.0, 6738415616.0,
	  121291481088.0 },
	{ "m020", "llama2-7b", 32000, 2, 1, 4, 1, 1, 1, 1, 6738415616.0, 3369340928.0,
	  30324068352.0 },
	{ "m021", "llama2-7b", 32256, 4, 1, 2, 1, 1, 1, 1, 6740512768.0, 1685327872.0,
	  20223934464.0 },
	{ "m022", "llama2-7b", 32000, 1, 4, 2, 1, 1, 1, 1, 6738415616.0, 1750139904.0,
	  21001678848.0 },
	{ "m024", "llama2-7b", 32000, 2, 2, 16, 1, 1, 1, 1, 6738415616.0, 1684670464.0,
	  11371525632.0 },
	{ "m025", "llama2-7b", 32000, 1, 1, 64, 1, 1, 1, 1, 6738415616.0, 6738415616.0,
	  41693946624.0 },
	{ "m026", "llama2-70b", 32768, 8, 4, 2, 1, 1, 1, 1, 68989231104.0, 2172979200.0,
	  26075750400.0 },
	{ "m028", "llama2-70b", 32256, 4, 4, 8, 1, 1, 1, 1, 68980842496.0, 4344580096.0,
	  32584350720.0 },
	{ "m029", "llama2-70b", 32256, 4, 8, 4, 1, 1, 1, 0, 68980842496.0, 2205320192.0,
	  39695763456.0 },
	{ "m030", "llama2-70b", 32768, 8, 10, 1, 1, 1, 1, 1, 68989231104.0, 889324339.2,
	  16007838105.6 },
	{ "m031", "llama2-70b", 32000, 2, 16, 8, 1, 1, 1, 1, 68976648192.0,
	  2270249472.0, 17026871040.0 },
	{ "m032", "llama2-70b", 32768, 8, 1, 16, 1, 1, 1, 1, 68989231104.0,
	  8624807936.0, 58217453568.0 },
	{ "m033", "llama2-70b", 32768, 8, 2, 8, 1, 1, 1, 1, 68989231104.0, 4312403968.0,
	  32343029760.0 },
	{ "m034", "llama3-8b", 128256, 1, 1, 8, 1, 1, 1, 1, 8030261248.0, 8030261248.0,
	  60226959360.0 },
	{ "m035", "llama3-8b", 128256, 2, 1, 4, 1, 1, 1, 1, 8030261248.0, 4015263744.0,
	  36137373696.0 },
	{ "m036", "llama3-8b", 128256, 1, 2, 4, 1, 1, 1, 1, 8030261248.0, 4015130624.0,
	  36136175616.0 },
	{ "m037", "llama3-8b", 128512, 4, 2, 2, 1, 1, 1, 0, 8032358400.0, 1004144640.0,
	  18074603520.0 },
	{ "m038", "llama3-8b", 129024, 8, 1, 1, 1, 1, 1, 1, 8036552704.0, 1004802048.0,
	  18086436864.0 },
	{ "m039", "llama3-8b", 128256, 1, 1, 256, 1, 1, 1, 1, 8030261248.0,
	  8030261248.0, 48557985984.0 },
	{ "m040", "llama3-70b", 129024, 8, 4, 2, 1, 1, 1, 1, 70566289408.0,
	  2271545344.0, 27258544128.0 },
	{ "m041", "llama3-70b", 129024, 8, 4, 4, 1, 1, 1, 1, 70566289408.0,
	  2271545344.0, 20443908096.0 },
	{ "m042", "llama3-70b", 128512, 4, 4, 4, 1, 1, 1, 1, 70557900800.0,
	  4541712384.0, 40875411456.0 },
	{ "m043", "llama3-70b", 128512, 4, 8, 16, 1, 1, 1, 1, 70557900800.0,
	  2402452480.0, 16216554240.0 },
	{ "m044", "llama3-70b", 129024, 8, 8, 8, 1, 1, 1, 0, 70566289408.0,
	  1201832960.0, 21632993280.0 },
	{ "m045", "llama3-70b", 129024, 8, 1, 8, 1, 1, 1, 1, 70566289408.0,
	  8821940224.0, 66164551680.0 },
	{ "m046", "llama3-70b", 128256, 1, 16, 16, 1, 1, 1, 1, 70553706496.0,
	  5328945664.0, 35970383232.0 },
	{ "m047", "llama3-405b", 129024, 8, 14, 8, 1, 1, 1, 1, 405878554624.0,
	  3850667154.285714, 28880003657.142857 },
	{ "m049", "llama3-405b", 129024, 8, 9, 64, 1, 1, 1, 1, 405878554624.0,
	  5843126044.444445, 36154342400.0 },
	{ "m050", "llama3-405b", 129024, 8, 14, 64, 1, 1, 1, 0, 405878554624.0,
	  3850667154.285714, 69312008777.14285 },
	{ "m051", "llama3-405b", 129024, 8, 7, 4, 1, 1, 1, 1, 405878554624.0,
	  7437093156.571428, 66933838409.14285 },
	{ "m052", "mixtral-8x7b", 32000, 1, 1, 64, 1, 8, 1, 1, 46702792704.0,
	  7242780672.0, 52213457664.0 },
	{ "m053", "mixtral-8x7b", 32000, 2, 1, 32, 1, 8, 1, 1, 46702792704.0,
	  6440620032.0, 47400740352.0 },
	{ "m054", "mixtral-8x7b", 32000, 2, 4, 8, 1, 4, 2, 1, 46702792704.0,
	  1642923008.0, 18663710208.0 },
	{ "m055", "mixtral-8x7b", 32000, 1, 4, 16, 1, 8, 1, 1, 46702792704.0,
	  1876231168.0, 20063312640.0 },
	{ "m056", "mixtral-8x7b", 32256, 4, 4, 4, 1, 4, 1, 0, 46704889856.0,
	  2935817216.0, 52844709888.0 },
	{ "m057", "mixtral-8x7b", 32768, 8, 1, 8, 1, 1, 8, 1, 46709084160.0,
	  5839785984.0, 43798394880.0 },
	{ "m058", "mixtral-8x7b", 32768, 8, 4, 4, 1, 8, 1, 1, 46709084160.0,
	  1468335104.0, 13215015936.0 },
	{ "m064", "llama3-70b", 128256, 1, 1, 4, 1, 1, 1, 1, 70553706496.0,
	  70553706496.0, 634983358464.0 },
	{ "m065", "llama3-70b", 128256, 1, 2, 4, 1, 1, 1, 1, 70553706496.0,
	  35276853248.0, 317491679232.0 },
	{ "m067", "llama3-70b", 128256, 1, 4, 4, 1, 1, 1, 1, 70553706496.0,
	  18163763200.0, 163473868800.0 },
	{ "m069", "llama3-70b", 128256, 1, 8, 4, 1, 1, 1, 1, 70553706496.0,
	  9607218176.0, 86464963584.0 },
	{ "m071", "llama3-70b", 128256, 1, 16, 4, 1, 1, 1, 1, 70553706496.0,
	  5328945664.0, 47960510976.0 },
	{ "m073", "llama3-70b", 128256, 2, 1, 4, 1, 1, 1, 1, 70553706496.0,
	  35277512704.0, 317497614336.0 },
	{ "m074", "llama3-70b", 128256, 2, 2, 4, 1, 1, 1, 1, 70553706496.0,
	  17638756352.0, 158748807168.0 },
	{ "m076", "llama3-70b", 128256, 2, 4, 4, 1, 1, 1, 1, 70553706496.0,
	  9082046464.0, 81738418176.0 },
	{ "m078", "llama3-70b", 128256, 2, 8, 4, 1, 1, 1, 1, 70553706496.0,
	  4803691520.0, 43233223680.0 },
	{ "m080", "llama3-70b", 128256, 2, 16, 4, 1, 1, 1, 1, 70553706496.0,
	  2664514048.0, 23980626432.0 },
	{ "m082", "llama3-70b", 128512, 4, 1, 4, 1, 1, 1, 1, 70557900800.0,
	  17640464384.0, 158764179456.0 },
	{ "m083", "llama3-70b", 128512, 4, 2, 4, 1, 1, 1, 1, 70557900800.0,
	  8820232192.0, 79382089728.0 },
	{ "m087", "llama3-70b", 128512, 4, 8, 4, 1, 1, 1, 1, 70557900800.0,
	  2402452480.0, 21622072320.0 },
	{ "m089", "llama3-70b", 128512, 4, 16, 4, 1, 1, 1, 1, 70557900800.0,
	  1332822528.0, 11995402752.0 },
	{ "m091", "llama3-70b", 129024, 8, 1, 4, 1, 1, 1, 1, 70566289408.0,
	  8821940224.0, 79397462016.0 },
	{ "m092", "llama3-70b", 129024, 8, 2, 4, 1, 1, 1, 1, 70566289408.0,
	  4410970112.0, 39698731008.0 },
	{ "m096", "llama3-70b", 129024, 8, 8, 4, 1, 1, 1, 1, 70566289408.0,
	  1201832960.0, 10816496640.0 },
	{ "m098", "llama3-70b", 129024, 8, 16, 4, 1, 1, 1, 1, 70566289408.0,
	  666976768.0, 6002790912.0 },
};

static void set_model(struct scenario *s, const char *name)
{
	size_t i = 0;

	while (strcmp(models[i].name, name) != 0)
		i++;
	struct layer_kind kind = { .mixer = MIXER_ATTENTION,
				   .mlp = models[i].experts ? MLP_MOE : MLP_DENSE,
				   .attention = { .heads = models[i].heads,
						  .kv_heads = models[i].kv_heads,
						  .head_dim = models[i].head_dim,
						  .value_dim = models[i].head_dim },
				   .ffn = models[i].experts ? 0 : models[i].ffn };

	memset(&s->model, 0, sizeof s->model);
	strcpy(s->model.name, name);
	s->model.hidden = models[i].hidden;
	s->model.max_positions = 1 << 20;
	s->model.gated_mlp = models[i].gated;
	s->model.tied_embeddings = models[i].tied;
	/* a norm of two vectors with GPT, of one with Llama */
	s->model.norm = models[i].gated ? NORM_RMS : NORM_LAYER;
	s->model.norm_bias = !models[i].gated;
	s->model.position = POSITION_ROPE;
	s->model.moe.experts = models[i].experts;
	s->model.moe.experts_per_token = models[i].topk;
	s->model.moe.expert_ffn = models[i].experts ? models[i].ffn : 0;
	for (int64_t layer = 0; layer < models[i].layers; layer++)
		assert_true(model_add_layer(&s->model, &kind));
}

static void set_row(struct scenario *s, size_t i)
{
	case_dense(s);
	set_model(s, rows[i].model);
	s->model.vocab = rows[i].vocab;
	s->stack.vocab_multiple = 1;
	s->plan.tp = rows[i].tp;
	s->plan.sp = rows[i].tp > 1;
	s->plan.pp = rows[i].pp;
	s->plan.cp = rows[i].cp;
	s->plan.ep = rows[i].ep;
	s->plan.etp = rows[i].etp;
	s->plan.zero = rows[i].zero;
	s->plan.seq_len = 2048;
	s->plan.grad_dtype = GRAD_FP32;
	s->plan.global_batch = 2 * rows[i].pp * rows[i].dp;
	s->cluster.gpus = rows[i].tp * rows[i].pp * rows[i].dp * rows[i].cp;
}

static void test_states_of_the_fullest_stage(void **state)
{
	struct estimate *e = calloc(1, sizeof *e);
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		double shard = 0, bytes = 0;

		set_row(&s, i);
		train_estimate(&s, e);
		if (!e->legal)
			fail_msg("%s: %s", rows[i].code,
				 e->problems.item[0].rule->code);
		for (int k = 0; k < e->stages; k++) {
			const struct stage_memory *held = &e->stage[k];
			double here = held->weights_bytes + held->gradients_bytes +
				      held->optimizer_bytes;

			shard = held->parameters > shard ? held->parameters : shard;
			bytes = here > bytes ? here : bytes;
		}
		assert_close(e->parameters, rows[i].parameters, 1e-6);
		/* the final norm is on one of the ends here, on the fullest there */
		assert_close(shard, rows[i].of_shard, 3e-5);
		assert_close(bytes, rows[i].bytes, 3e-5);
	}
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states_of_the_fullest_stage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
