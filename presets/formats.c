/* formats.c - see formats.h. */
#include "presets/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "presets/foreign.h"
#include "presets/kept.h"
#include "presets/library.h"
#include "presets/markdown.h"
#include "presets/scenario_file.h"
#include "presets/share.h"
#include "presets/stream.h"

enum { MAX_FILE_BYTES = 4 << 20 };

/* Words of which any tells a format, the surest first. A scenario of ours has none of
 * them at the start of a line. */
static const struct {
	const char *word, *format;
} signs[] = {
	/* Primus names the trainer whose settings it overrides */
	{ "framework: torchtitan", "torchtitan" },
	{ "framework: maxtext", "maxtext" },
	/* recipes of srt-slurm, and those of several variants */
	{ "\n  sglang_config:", "sglang" },
	{ "\n    sglang_config:", "sglang" },
	{ "\n  trtllm_config:", "trtllm" },
	{ "\n    trtllm_config:", "trtllm" },
	{ "\n  vllm_config:", "vllm" },
	{ "\n    vllm_config:", "vllm" },
	/* a benchmark's own file says which server its keys are for */
	{ "\nbackend: sglang\n", "sglang" },
	{ "\nframework: sglang\n", "sglang" },
	{ "\nengine: sglang\n", "sglang" },
	/* FlagScale's list of servers */
	{ "\n  engine: sglang\n", "sglang" },
	{ "\n- serve_id:", "vllm" },
	/* values of Google's charts */
	{ "\nvllm:\n  replicaCount:", "vllm" },
	{ "\nsglang:\n  replicaCount:", "sglang" },
	/* vllm-ascend's servers */
	{ "\n    server_cmd", "vllm" },
	{ "vllm serve ", "vllm" },
	{ "vllm.entrypoints.", "vllm" },
	{ "vllm-openai", "vllm" },
	{ "\"vllm\", \"serve\"", "vllm" },
	{ "- vllm\n", "vllm" },
	{ "dynamo.vllm", "vllm" },
	{ "\nkind: LLMInferenceService", "vllm" },
	{ "\nkind: InferenceService\n", "vllm" },
	{ "\n    modelURL:", "vllm" },
	{ "vllmConfig:", "vllm" },
	{ "\n        huggingfaceId:", "vllm" },
	{ "sglang.launch_server", "sglang" },
	{ "dynamo.sglang", "sglang" },
	{ "dynamo.trtllm", "trtllm" },
	{ "sglang_router.launch_server", "sglang" },
	{ "sglang serve ", "sglang" },
	{ "trtllm-serve", "trtllm" },
	/* charts of llm-d, of which a container may start another */
	{ "\nmodelArtifacts:", "vllm" },
	{ "- \"--max-model-len", "vllm" },
	{ "- --max-model-len", "vllm" },
	{ "- \"--max-num-seqs", "vllm" },
	{ "- --max-num-seqs", "vllm" },
	{ "\nfinetuning_type:", "llama-factory" },
	{ "\nmodel_class:", "llama-factory" },
	{ "\npeft_config:", "llama-factory" },
	{ "\ninfer_backend:", "llama-factory" },
	{ "\nexport_dir:", "llama-factory" },
	{ "\nstage:", "llama-factory" },
	{ "\ncutoff_len:", "llama-factory" },
	{ "\nsequence_len:", "axolotl" },
	{ "\nsample_packing:", "axolotl" },
	{ "\nmodel_name_or_path:", "trainer" },
	{ "\ntuner_type:", "trainer" },
	{ "\ntrain_type:", "trainer" },
	{ "\nper_device_train_batch_size:", "llama-factory" },
	{ "\nbase_emb_dim:", "maxtext" },
	{ "\nper_device_batch_size:", "maxtext" },
	{ "\nbase_config:", "maxtext" },
	{ "MaxText.train", "maxtext" },
	{ "benchmarks.benchmark_runner", "maxtext" },
	{ "MaxText/train", "maxtext" },
	{ "maxtext.trainers.pre_train", "maxtext" },
	{ "maxtext.trainers.post_train.sft", "maxtext" },
	{ "maxtext/trainers/pre_train", "maxtext" },
	{ "\nexport DGXNNODES=", "mlperf" },
	{ "\nexport MINIBS=", "mlperf" },
	{ "\nexport MLPERF_SUBMISSION_", "mlperf" },
	{ "MODEL_ARGS", "megatron" },
	{ "--num-layers", "megatron" },
	{ "--hidden-size", "megatron" },
	{ "--tensor-model-parallel-size", "megatron" },
	{ "--tensor_model_parallel_size", "megatron" },
	{ "tensor_model_parallel_size .", "megatron" },
	{ "hidden_size .", "megatron" },
	{ "cfg.model.", "megatron" },
	{ "model.tensor_model_parallel_size=", "megatron" },
	{ " tensor_model_parallel_size:", "megatron" },
	{ "train.global_batch_size=", "megatron" },
	{ "run_recipe.py", "megatron" },
	{ "--model_recipe_name", "megatron" },
	{ "from megatron.bridge", "megatron" },
	{ "\ndef pretrain_recipe(", "megatron" },
	{ "\ndef finetune_recipe(", "megatron" },
	{ ".pretrain_recipe(", "megatron" },
	{ ".finetune_recipe(", "megatron" },
	{ "megatron sft ", "megatron" },
	{ "megatron pt ", "megatron" },
	{ "megatron rlhf ", "megatron" },
	{ "megatron export ", "megatron" },
	{ "swift sft ", "trainer" },
	{ "swift pt ", "trainer" },
	{ "swift rlhf ", "trainer" },
	{ "swift export ", "trainer" },
	{ "\nswift ", "trainer" },
	{ "llamafactory-cli ", "trainer" },
	{ "\ntrl sft ", "trainer" },
	{ "--per_device_train_batch_size", "trainer" },
	{ "--num_layers ", "megatron" },
	{ "MaxText/configs/base.yml", "maxtext" },
	{ "\n  megatron_amp_O2:", "megatron" },
	{ "\n  train_iters:", "megatron" },
	{ "\n    framework: ", "megatron" },
	{ "\"zero_optimization\"", "deepspeed" },
	{ "\"train_batch_size\"", "deepspeed" },
	{ "\"train_micro_batch_size_per_gpu\"", "deepspeed" },
	{ "\"model_type\"", "hf" },
	{ "\"architectures\"", "hf" },
	{ "Trainer.Config", "torchtitan" },
	{ "import torchtitan", "torchtitan" },
	{ "from torchtitan", "torchtitan" },
	{ "ParallelismConfig(", "torchtitan" },
	{ "config.parallelism.", "torchtitan" },
	{ "--parallelism.", "torchtitan" },
	{ "\n[parallelism]", "torchtitan" },
	{ "\n[training]", "torchtitan" },
	{ "batch_accumulation_per_replica:", "nanotron" },
	{ "pp_engine:", "nanotron" },
	{ "tp_linear_async_communication:", "nanotron" },
	{ "is_llama_config:", "nanotron" },
	{ "compute_environment:", "accelerate" },
	{ "fsdp_config:", "accelerate" },
	{ "distributed_type:", "accelerate" },
	{ "\nmax_local_cpu_size:", "lmcache" },
	{ "\nlocal_cpu:", "lmcache" },
	{ "\nkv_cache_config:", "trtllm" },
	{ "\nenable_attention_dp:", "trtllm" },
	{ "\nmoe_expert_parallel_size:", "trtllm" },
	{ "\nkv_cache_free_gpu_mem_fraction:", "trtllm" },
	{ "\nllm_api_args:", "trtllm" },
	{ "\nserved_model_name:", "vllm" },
	{ "\nmax_model_len:", "vllm" },
	{ "\ngpu_memory_utilization:", "vllm" },
	{ "\ntensor_parallel_size:", "trtllm" },
	{ "\nmem-fraction-static:", "sglang" },
	{ "\ndisaggregation-mode:", "sglang" },
	{ "\nenable-dp-attention:", "sglang" },
	{ "\nchunked-prefill-size:", "sglang" },
	{ "\ncontext-length:", "sglang" },
	{ "\ntp-size:", "sglang" },
	{ "\ntensor-parallel-size:", "vllm" },
	{ "\nmax-model-len:", "vllm" },
	{ "\nmax-num-seqs:", "vllm" },
	{ "\ngpu-memory-utilization:", "vllm" },
	/* to be told what they lack */
	{ "\"num_hidden_layers\":", "hf" },
	{ "\"ffn_embed_dim\":", "hf" },
	{ "\"n_layers\":", "hf" },
	{ "\"n_layer\":", "hf" },
};

/* Commands that start a server: a text with those of two tools is of both. The same of
 * ms-swift's two trainers. */
static const struct launch_sign {
	const char *word, *format;
	bool trains;
} launches[] = {
	{ "vllm serve ", "vllm", false },
	{ "-m vllm.entrypoints.", "vllm", false },
	{ "-m sglang.launch_server", "sglang", false },
	{ "sglang serve ", "sglang", false },
	{ "trtllm-serve ", "trtllm", false },
	{ "megatron sft ", "megatron", true },
	{ "megatron pt ", "megatron", true },
	{ "swift sft ", "trainer", true },
	{ "swift pt ", "trainer", true },
};

/* Another kind that the text starts too, of the same task, NULL where there is none. */
static const char *second_kind(const char *text, const char *first)
{
	const struct launch_sign *one = NULL;

	for (size_t i = 0; i < sizeof launches / sizeof launches[0] && !one; i++)
		if (strcmp(launches[i].format, first) == 0 &&
		    strstr(text, launches[i].word))
			one = &launches[i];
	for (size_t i = 0; i < sizeof launches / sizeof launches[0] && one; i++)
		if (strcmp(launches[i].format, first) != 0 &&
		    launches[i].trains == one->trains && strstr(text, launches[i].word))
			return launches[i].format;
	return NULL;
}

/* Whether a piece of text has such a command, or its words as a list of a manifest. */
static bool starts_server(const char *text, size_t length)
{
	static const char *const lists[] = { "\"vllm.entrypoints.",
					     "\"vllm\", \"serve\"",
					     "\"sglang.launch_server\"",
					     "\"trtllm-serve\"" };

	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		if (memmem(text, length, lists[i], strlen(lists[i])))
			return true;
	for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++)
		if (!launches[i].trains &&
		    memmem(text, length, launches[i].word, strlen(launches[i].word)))
			return true;
	return false;
}

static bool refuse_foreign(const char *file, const char *why, struct error *error)
{
	char kinds[240] = "";

	if (why)
		return error_set(error, file, 1, "%s", why);
	for (int i = 0; i < format_count(); i++)
		if (format_table[i].in.read)
			snprintf(kinds + strlen(kinds), sizeof kinds - strlen(kinds),
				 "%s%s", kinds[0] ? ", " : "", format_table[i].name);
	return error_set(
		error, file, 1,
		"neither a scenario (a mapping with model: NAME) nor of a kind "
		"that is known by its keys; import KIND FILE reads it as one "
		"of %s",
		kinds);
}

/* The last words of a path. */
static bool ends_in(const char *path, const char *ending)
{
	size_t length = strlen(path), tail = strlen(ending);

	return length > tail && strcmp(path + length - tail, ending) == 0;
}

static bool is_markdown(const char *path, const char *text, size_t length)
{
	return ends_in(path, ".md") || ends_in(path, ".markdown") ||
	       markdown_looks_like(text, length);
}

static bool is_script(const char *path, const char *text, size_t length)
{
	return ends_in(path, ".sh") || (length > 2 && memcmp(text, "#!", 2) == 0);
}

/* What a file is by its first words. */
struct sniffed {
	const struct format *reader; /* NULL: a scenario, or nothing that is known */
	const char *other;           /* another kind that it is too, or NULL */
	bool foreign;
	const char *no_text; /* why it is none; NULL */
};

/* What a comment says is of no kind: lines that begin with '#' lose their words. */
static void blank_comments(char *text)
{
	for (char *line = text; line; line = strchr(line + 1, '\n')) {
		char *at = line + (*line == '\n');

		at += strspn(at, " \t");
		if (*at == '#')
			memset(at, ' ', strcspn(at, "\n"));
	}
}

/* Of text[1..length]; text[0] is there for signs of keys, which begin with the end of
 * the line before, and text[length + 1] for the end. */
static struct sniffed sniff(char *text, size_t length, bool markdown, bool script)
{
	const struct format *found = NULL;
	const char *no_text = text_why_none(text + 1, length);
	bool own = false, foreign;

	text[0] = '\n';
	text[length + 1] = '\0';
	if (markdown)
		markdown_keep_code(text + 1, length, starts_server);
	blank_comments(text);
	for (size_t i = 0; i < sizeof signs / sizeof signs[0] && !found; i++)
		if (strstr(text, signs[i].word)) {
			found = format_find(signs[i].format);
			own = signs[i].word[0] == '\n';
		}
	/* a key of theirs is none of ours, whatever a note says */
	found = text_is_scenario(text) && !own ? NULL : found;
	foreign = !found && text_is_foreign(text);
	if (foreign && !no_text)
		no_text = text_told(text, markdown, script);
	return (struct sniffed){ found, found ? second_kind(text, found->name) : NULL,
				 foreign, no_text };
}

enum { LOOK = 64 << 10 };

static struct sniffed sniff_file(const char *path)
{
	FILE *stream = strcmp(path, "-") != 0 ? fopen(path, "re") : NULL;
	struct sniffed found = { 0 };
	char *text = stream ? malloc(LOOK + 2) : NULL;

	if (text) {
		size_t length = fread(text + 1, 1, LOOK, stream);

		if (length > 0)
			found = sniff(text, length, is_markdown(path, text + 1, length),
				      is_script(path, text + 1, length));
	}
	free(text);
	if (stream)
		fclose(stream);
	return found;
}

const struct format *format_sniff(const char *path)
{
	return sniff_file(path).reader;
}

static bool trains(const char *format)
{
	for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++)
		if (strcmp(launches[i].format, format) == 0)
			return launches[i].trains;
	return false;
}

/* A file of two kinds is asked about. */
static bool two_kinds(const char *path, const char *one, const char *other,
		      struct error *error)
{
	return error_set(error, path, 1,
			 "it starts %s of %s and of %s; import %s FILE or import %s "
			 "FILE says which is meant",
			 trains(one) ? "training" : "servers", one, other, one, other);
}

/* A file of another kind has no key that this reader knows, and an estimate of it would
 * be one of defaults alone. */
static bool took_any(const struct format *reader, const char *path,
		     const struct import_report *report, struct error *error)
{
	const char *first = NULL;

	if (import_count(report, IMPORT_TAKEN) > 0)
		return true;
	for (int i = 0; i < report->count && !first; i++)
		if (report->note[i].kind == IMPORT_NOT_MODELLED ||
		    report->note[i].kind == IMPORT_SKIPPED)
			first = report->note[i].key;
	return error_set(error, path, 1,
			 "read as %s (%s), and not one key of it is known%s%.60s: "
			 "another kind of file?",
			 reader->name, reader->in.help, first ? "; the first is " : "",
			 first ? first : "");
}

static bool read_text(const struct format *reader, const char *path, char *text,
		      size_t length, struct scenario *out, struct import_report *report,
		      struct error *error)
{
	struct scenario made;

	if (length == 0)
		return error_set(error, path, 1, "the file is empty");
	if (is_markdown(path, text, length)) {
		markdown_subject(text, length, report->subject, sizeof report->subject);
		markdown_keep_code(text, length, starts_server);
	}
	if (!reader->in.read(&made, path, text, length, report, error)) {
		/* what has no key of this kind is not short of a model */
		if (report->nameless &&
		    import_count(report, IMPORT_NOT_MODELLED) +
				    import_count(report, IMPORT_SKIPPED) >
			    0)
			took_any(reader, path, report, error);
		return false;
	}
	if (!took_any(reader, path, report, error))
		return false;
	*out = made;
	snprintf(report->format, sizeof report->format, "%s", reader->name);
	snprintf(report->file, sizeof report->file, "%.199s", path);
	if (reader->in.keeps)
		strcpy(report->kept, report->format);
	return true;
}

bool format_read(const struct format *reader, const char *path, struct scenario *out,
		 struct import_report *report, struct error *error)
{
	size_t length;
	char *text = stream_read_file(path, MAX_FILE_BYTES, &length, error);
	bool good = text && read_text(reader, stream_name(path), text, length, out,
				      report, error);

	free(text);
	return good;
}

/* Pipes and standard input can be read but once. */
static bool is_stream(const char *path)
{
	struct stat about;

	return strcmp(path, "-") == 0 ||
	       (stat(path, &about) == 0 && !S_ISREG(about.st_mode) &&
		!S_ISDIR(about.st_mode));
}

static bool open_stream(const char *path, struct scenario *out,
			struct import_report *report, struct error *error)
{
	struct sniffed found = { 0 };
	size_t length;
	char *text = stream_read_file(path, MAX_FILE_BYTES, &length, error), *head;
	bool good;

	if (!text)
		return false;
	head = malloc(LOOK + 2);
	if (head) {
		size_t look = length < LOOK ? length : LOOK;

		memcpy(head + 1, text, look);
		found = sniff(head, look, is_markdown(path, text, length),
			      is_script(path, text, length));
	}
	free(head);
	path = stream_name(path);
	good = found.other ? two_kinds(path, found.reader->name, found.other, error)
	       : found.reader
		       ? read_text(found.reader, path, text, length, out, report, error)
		       : scenario_parse(out, path, text, length, NULL, error);
	if (good && !found.reader)
		kept_parse(path, text, length, report);
	if (!good && found.foreign && length > 0)
		refuse_foreign(path, found.no_text, error);
	free(text);
	return good;
}

bool format_open(const char *name, struct scenario *out, struct import_report *report,
		 struct error *error)
{
	bool plan = share_is(name) || preset_find(PRESET_PLAN, name) != NULL,
	     stream = !plan && is_stream(name);
	struct sniffed found = { 0 };
	struct import_report *room;
	bool good;

	if (!plan && !stream)
		found = sniff_file(name);
	if (!found.reader && !stream && scenario_read(out, name, NULL, error)) {
		if (report && share_is(name))
			return share_read(out, name, report, error);
		if (report && !plan)
			kept_read(name, report);
		return true;
	}
	if (!found.reader && !stream)
		return found.foreign && refuse_foreign(name, found.no_text, error);
	if (found.other)
		return two_kinds(name, found.reader->name, found.other, error);
	room = report ? report : calloc(1, sizeof *room);
	if (!room)
		return error_set(error, name, 0, "out of memory");
	good = stream ? open_stream(name, out, room, error)
		      : format_read(found.reader, name, out, room, error);
	if (!report)
		free(room);
	return good;
}
