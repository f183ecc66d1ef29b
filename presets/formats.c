/* formats.c - see formats.h. */
#include "presets/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
	{ "vllm serve ", "vllm" },
	{ "vllm.entrypoints.", "vllm" },
	{ "vllm-openai", "vllm" },
	{ "dynamo.vllm", "vllm" },
	{ "\nmodelArtifacts:", "vllm" },
	{ "sglang.launch_server", "sglang" },
	{ "dynamo.sglang", "sglang" },
	{ "dynamo.trtllm", "trtllm" },
	{ "sglang_router.launch_server", "sglang" },
	{ "sglang serve ", "sglang" },
	{ "trtllm-serve", "trtllm" },
	{ "\nfinetuning_type:", "llama-factory" },
	{ "\nper_device_train_batch_size:", "llama-factory" },
	{ "\nsequence_len:", "axolotl" },
	{ "\nsample_packing:", "axolotl" },
	{ "\nbase_emb_dim:", "maxtext" },
	{ "\nper_device_batch_size:", "maxtext" },
	{ "\nbase_config:", "maxtext" },
	{ "\nexport DGXNNODES=", "mlperf" },
	{ "\nexport MINIBS=", "mlperf" },
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
	{ "\"model_type\"", "hf" },
	{ "\"architectures\"", "hf" },
	{ "\"zero_optimization\"", "deepspeed" },
	{ "\"train_batch_size\"", "deepspeed" },
	{ "\"train_micro_batch_size_per_gpu\"", "deepspeed" },
	{ "Trainer.Config", "torchtitan" },
	{ "import torchtitan", "torchtitan" },
	{ "from torchtitan", "torchtitan" },
	{ "ParallelismConfig(", "torchtitan" },
	{ "config.parallelism.", "torchtitan" },
	{ "--parallelism.", "torchtitan" },
	{ "[parallelism]", "torchtitan" },
	{ "[training]", "torchtitan" },
	{ "batch_accumulation_per_replica:", "nanotron" },
	{ "pp_engine:", "nanotron" },
	{ "compute_environment:", "accelerate" },
	{ "fsdp_config:", "accelerate" },
	{ "distributed_type:", "accelerate" },
	{ "\nkv_cache_config:", "trtllm" },
	{ "\nenable_attention_dp:", "trtllm" },
	{ "\nmoe_expert_parallel_size:", "trtllm" },
	{ "\ntensor_parallel_size:", "trtllm" },
	{ "\ntensor-parallel-size:", "vllm" },
};

/* Commands that start a server: a text with those of two tools is of both. */
static const struct {
	const char *word, *format;
} launches[] = {
	{ "vllm serve ", "vllm" },
	{ "-m vllm.entrypoints.", "vllm" },
	{ "-m sglang.launch_server", "sglang" },
	{ "sglang serve ", "sglang" },
	{ "trtllm-serve ", "trtllm" },
};

/* Another kind that the text starts too, NULL where there is none. */
static const char *second_kind(const char *text, const char *first)
{
	for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++)
		if (strcmp(launches[i].format, first) != 0 &&
		    strstr(text, launches[i].word))
			return launches[i].format;
	return NULL;
}

/* Ours: "model:" at the start of a line, with a name or a mapping behind it. */
static bool is_scenario(const char *text)
{
	for (const char *at = strstr(text, "model: "); at;
	     at = strstr(at + 1, "model: "))
		if (at == text || at[-1] == '\n')
			return true;
	return false;
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

/* Of text[1..length], and another kind that it is too; text[0] is there for signs of
 * keys, which begin with the end of the line before, and text[length + 1] for the end.
 */
static const struct format *sniff(char *text, size_t length, bool markdown,
				  const char **other)
{
	const struct format *found = NULL;
	bool own = false;

	text[0] = '\n';
	text[length + 1] = '\0';
	if (markdown)
		markdown_keep_code(text + 1, length);
	for (size_t i = 0; i < sizeof signs / sizeof signs[0] && !found; i++)
		if (strstr(text, signs[i].word)) {
			found = format_find(signs[i].format);
			own = signs[i].word[0] == '\n';
		}
	/* a key of theirs is none of ours, whatever a note says */
	found = is_scenario(text) && !own ? NULL : found;
	*other = found && second_kind(text, "") ? second_kind(text, found->name) : NULL;
	return found;
}

enum { LOOK = 64 << 10 };

static const struct format *sniff_file(const char *path, const char **other)
{
	FILE *stream = strcmp(path, "-") != 0 ? fopen(path, "re") : NULL;
	const struct format *found = NULL;
	char *text = stream ? malloc(LOOK + 2) : NULL;

	*other = NULL;
	if (text) {
		size_t length = fread(text + 1, 1, LOOK, stream);

		found = sniff(text, length, is_markdown(path, text + 1, length), other);
	}
	free(text);
	if (stream)
		fclose(stream);
	return found;
}

const struct format *format_sniff(const char *path)
{
	const char *other;

	return sniff_file(path, &other);
}

/* A file of two kinds is asked about. */
static bool two_kinds(const char *path, const char *one, const char *other,
		      struct error *error)
{
	return error_set(error, path, 1,
			 "it starts servers of %s and of %s; import %s FILE or import "
			 "%s FILE says which is meant",
			 one, other, one, other);
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
	if (is_markdown(path, text, length))
		markdown_keep_code(text, length);
	if (!reader->in.read(&made, path, text, length, report, error)) {
		/* what has no key of this kind is not short of a model */
		if (report->nameless && report->count > 0)
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
	const struct format *reader = NULL;
	const char *other = NULL;
	size_t length;
	char *text = stream_read_file(path, MAX_FILE_BYTES, &length, error), *head;
	bool good;

	if (!text)
		return false;
	head = malloc(LOOK + 2);
	if (head) {
		size_t look = length < LOOK ? length : LOOK;

		memcpy(head + 1, text, look);
		reader = sniff(head, look, is_markdown(path, text, length), &other);
	}
	free(head);
	path = stream_name(path);
	good = other    ? two_kinds(path, reader->name, other, error)
	       : reader ? read_text(reader, path, text, length, out, report, error)
			: scenario_parse(out, path, text, length, NULL, error);
	if (good && !reader)
		kept_parse(path, text, length, report);
	free(text);
	return good;
}

bool format_open(const char *name, struct scenario *out, struct import_report *report,
		 struct error *error)
{
	bool plan = share_is(name) || preset_find(PRESET_PLAN, name) != NULL,
	     stream = !plan && is_stream(name);
	const char *other = NULL;
	const struct format *reader = plan || stream ? NULL : sniff_file(name, &other);
	struct import_report *room;
	bool good;

	if (!reader && !stream && scenario_read(out, name, NULL, error)) {
		if (report && !plan)
			kept_read(name, report);
		return true;
	}
	if (!reader && !stream)
		return false;
	if (other)
		return two_kinds(name, reader->name, other, error);
	room = report ? report : calloc(1, sizeof *room);
	if (!room)
		return error_set(error, name, 0, "out of memory");
	good = stream ? open_stream(name, out, room, error)
		      : format_read(reader, name, out, room, error);
	if (!report)
		free(room);
	return good;
}
