/* test_tokenizers.c - rows of the embedding where a launch of Megatron counts none. */
#include <stdio.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/imported.h"

#define LAUNCH(flags)                                                               \
	"torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size " \
	"1024 --num-attention-heads 16 --seq-length 2048 " flags "\n"

/* By the tokenizer's own name, by the model that it is of, by the folder it lies in. */
static void a_tokenizer_says_its_size(void **state)
{
	static const struct {
		const char *text;
		int64_t vocab;
	} rows[] = {
		{ LAUNCH("--tokenizer-type Llama2Tokenizer --tokenizer-model $X"),
		  32000 },
		{ LAUNCH("--tokenizer-type HuggingFaceTokenizer "
			 "--tokenizer-model meta-llama/Meta-Llama-3-8B"),
		  128256 },
		{ LAUNCH("--tokenizer-type Llama3Tokenizer "
			 "--tokenizer-model /data/Meta-Llama-3-8B/tokenizer.model"),
		  128256 },
		{ LAUNCH("--tokenizer-type PretrainedFromHF "
			 "--tokenizer-name-or-path bigscience/tokenizer"),
		  250680 },
		{ LAUNCH("--patch-tokenizer-type Qwen2Tokenizer "
			 "--extra-vocab-size 421"),
		  152064 },
		{ LAUNCH("--tokenizer-type GPT2BPETokenizer"), 50257 },
		{ LAUNCH("--vocab-file /data/gpt2-vocab.json "
			 "--merge-file /data/gpt2-merges.txt"),
		  50257 },
		{ LAUNCH("--tokenizer-type HuggingFaceTokenizer "
			 "--tokenizer-model ours/of-nobody"),
		  51200 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scenario s;

		read_good("megatron", rows[i].text, &s);
		if (s.model.vocab != rows[i].vocab)
			fail_msg("%s: %lld", rows[i].text, (long long)s.model.vocab);
		assert_true(noted(IMPORT_ASSUMED, "vocab-size"));
	}
}

/* What a flag counts stands over it, padded or not. */
static void a_flag_stands_over_it(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  LAUNCH("--tokenizer-type Llama2Tokenizer --vocab-size 64000"), &s);
	assert_int_equal(s.model.vocab, 64000);
	assert_false(noted(IMPORT_ASSUMED, "vocab-size"));
	read_good("megatron",
		  LAUNCH("--tokenizer-name-or-path bigscience/tokenizer "
			 "--pad-vocab-size-to 250880"),
		  &s);
	assert_int_equal(s.model.vocab, 250880);
	assert_false(noted(IMPORT_ASSUMED, "vocab-size"));
}

/* BLOOM-176B's launch (bigscience, tr11-176B-ml): its count to the last parameter. */
static void bloom_is_counted(void **state)
{
	struct model_counts counts;
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 70 "
		  "--hidden-size 14336 --num-attention-heads 112 --seq-length 2048 "
		  "--max-position-embeddings 2048 --embed-layernorm "
		  "--position-embedding-type alibi --tokenizer-name-or-path "
		  "bigscience/tokenizer --pad-vocab-size-to 250880\n",
		  &s);
	model_count(&s.model, &counts);
	assert_close(counts.total, 176247271424.0, 1e-15);
}

/* NeMo's section: the name of its own kind of tokenizer, or the model that it is of. */
static void nemo_names_it_too(void **state)
{
#define NEMO(tokenizer)                                                          \
	"trainer:\n  devices: 8\n  num_nodes: 1\nmodel:\n  mcore_gpt: true\n"    \
	"  micro_batch_size: 1\n  global_batch_size: 8\n  encoder_seq_length: "  \
	"2048\n  num_layers: 4\n  hidden_size: 1024\n  num_attention_heads: 8\n" \
	"  tokenizer:\n" tokenizer
	static const struct {
		const char *text;
		int64_t vocab;
	} rows[] = {
		{ NEMO("    type: GPT2BPETokenizer\n"), 50257 },
		{ NEMO("    type: mistralai/Mixtral-8x7B-v0.1\n"), 32000 },
		{ NEMO("    type: null\n    vocab_file: gpt2-vocab.json\n"), 50257 },
		{ NEMO("    type: ${data.tokenizer}\n"), 51200 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scenario s;

		read_good("megatron", rows[i].text, &s);
		assert_int_equal(s.model.vocab, rows[i].vocab);
	}
#undef NEMO
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tokenizer_says_its_size),
		cmocka_unit_test(a_flag_stands_over_it),
		cmocka_unit_test(nemo_names_it_too),
		cmocka_unit_test(bloom_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
