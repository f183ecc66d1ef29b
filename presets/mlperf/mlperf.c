/* mlperf.c - see mlperf.h. */
#include "presets/mlperf/mlperf.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/library.h"
#include "presets/megatron/parts.h"
#include "presets/mlperf/sources.h"
#include "presets/pairs/mapping.h"
#include "presets/script/notes.h"
#include "presets/script/shell.h"

/* What a benchmark fixes; its name is a part of the path, or what MODEL_SIZE says. */
static const struct benchmark {
	const char *name, *size, *model, *lora_rank, *seq;
	const char *chunks; /* of a stage, where no script says INTERLEAVED_PIPELINE */
} benchmarks[] = {
	{ "llama31_405b", "405b", "llama3.1-405b", "off", "8192", NULL },
	{ "llama31_8b", "8b", "llama3.1-8b", "off", "8192", NULL },
	{ "llama2_70b_lora", NULL, "llama2-70b", "16", "8192", NULL },
	{ "llama2_70b", NULL, "llama2-70b", "16", "8192", NULL }, /* some submitters' */
	/* mlcommons/training_results_v3.1, v4.0, v4.1: gpt3's conf/custom.yaml */
	{ "gpt3", "175b", "gpt3-175b", "off", "2048", "12" },
};

/* Benchmarks without a decoder to train, by the name of their folder. */
static const char *const other_benchmarks[] = {
	"bert",      "dlrm_dcnv2", "gnn",          "stable_diffusion",
	"retinanet", "ssd",        "single_stage", "unet3d",
	"rgat",      "resnet",     "rnnt",         "maskrcnn",
	"flux1",     "dlrm",
};

/* Systems as the names of files have them, the longer first. */
static const struct system {
	const char *name, *cluster;
	int node;
} systems[] = {
	{ "GB300", "gb300-nvl72", 4 }, { "GB200", "gb200-nvl72", 4 },
	{ "B300", "dgx-b300", 8 },     { "B200", "dgx-b200", 8 },
	{ "H200", "dgx-h200", 8 },     { "H100", "dgx-h100", 8 },
	{ "MI300X", "mi300x", 8 },     { "MI325X", "mi325x", 8 },
	{ "MI355X", "mi355x", 8 },     { "L40S", "l40s", 8 },
};

#define YES "1=on True=on true=on 0=off False=off false=off"

static const struct mapping rows[] = {
	{ "TENSOR_MODEL_PARALLEL", "tp", NULL, "1", false },
	{ "TP", "tp", NULL, NULL, false },
	{ "PIPELINE_MODEL_PARALLEL", "pp", NULL, "1", false },
	{ "PP", "pp", NULL, NULL, false },
	{ "CONTEXT_PARALLEL", "cp", NULL, "1", false },
	{ "CP", "cp", NULL, NULL, false },
	{ "INTERLEAVED_PIPELINE", "vpp", "null=1 None=1 0=1", NULL, false },
	{ "VP", "vpp", "null=1 None=1 0=1", NULL, false },
	{ "MICRO_BATCH_SIZE", "mbs", NULL, "1", false },
	{ "MBS", "mbs", NULL, NULL, false },
	{ "SEQ_LENGTH", "seq", NULL, NULL, false },
	{ "LORA_A2A", "lora_exchange", YES, NULL, false },
	{ "ASYM_PP_EMBED", "split_embedding", YES, NULL, false },
	{ "ASYM_PP_LOSS", "split_loss", YES, NULL, false },
	{ NULL, NULL, NULL, NULL, false },
};

static const char *const others[] = {
	"source",
	"benchmark",
	"other benchmark",
	"system",
	"MINIBS",
	"DGXNNODES",
	"NNODES",
	"DGXNGPU",
	"GPUS_PER_NODE",
	"GBS",
	"SEQ_PARALLEL",
	"SP",
	"FP8",
	"FP4",
	"NVTE_NVFP4_DISABLE_RHT",
	"NVTE_NVFP4_DISABLE_STOCHASTIC_ROUNDING",
	"NVTE_NVFP4_DISABLE_2D_QUANTIZATION",
	"TP_COMM_OVERLAP",
	"LAYER_CUDA_GRAPH",
	"ACG",
	"ACM",
	"ACL",
	"MCORE_CUDA_GRAPH",
	NULL,
};

static const char *const shape_keys[] = { "MODEL_SIZE", "SIZE", NULL };

/* AMD's scripts have NNODES, GPUS_PER_NODE and SIZE for NVIDIA's longer names. */
static const char *own_name(const struct mapped *m, const char *name, const char *other)
{
	return pairs_find(m->pairs, name) ? name : other;
}

static bool is_on(const struct mapped *m, const char *key)
{
	return mapped_true(m, key) || mapped_is(m, key, "1");
}

/* "config_common_405b.sh" is of the size 405b. */
static bool names_size(const char *script, const char *size)
{
	const char *at = strstr(script, size);
	size_t length = strlen(size);

	return at && at > script && at[-1] == '_' &&
	       (at[length] == '.' || at[length] == '_');
}

/* Of the size that the script sets, or that a name it sources has; of the folder where
 * neither says: the same scripts lie in folders of several benchmarks. */
static const struct benchmark *find_benchmark(const struct mapped *m)
{
	const struct pair *name = pairs_find(m->pairs, "benchmark"),
			  *size = pairs_find(m->pairs,
					     own_name(m, "MODEL_SIZE", "SIZE"));
	const size_t count = sizeof benchmarks / sizeof benchmarks[0];

	for (size_t i = 0; size && i < count; i++)
		if (benchmarks[i].size && strcmp(size->value, benchmarks[i].size) == 0)
			return &benchmarks[i];
	for (int k = 0; !size && k < m->pairs->count; k++)
		for (size_t i = 0; i < count; i++)
			if (strcmp(m->pairs->item[k].key, "source") == 0 &&
			    benchmarks[i].size &&
			    names_size(m->pairs->item[k].value, benchmarks[i].size))
				return &benchmarks[i];
	for (size_t i = 0; name && i < count; i++)
		if (strcmp(name->value, benchmarks[i].name) == 0)
			return &benchmarks[i];
	return NULL;
}

static const struct system *find_system(const struct mapped *m)
{
	const struct pair *name = pairs_find(m->pairs, "system");

	for (size_t i = 0; name && i < sizeof systems / sizeof systems[0]; i++)
		if (strcmp(name->value, systems[i].name) == 0)
			return &systems[i];
	return NULL;
}

static bool read_model(const struct mapped *m)
{
	const struct benchmark *benchmark = find_benchmark(m);
	const struct system *system = find_system(m);

	if (!benchmark && pairs_find(m->pairs, "other benchmark"))
		return error_set(m->error, m->pairs->file, 1,
				 "MLPerf's benchmark %s, as its path says, trains no "
				 "decoder, which is what is modelled",
				 pairs_find(m->pairs, "other benchmark")->value);
	if (system) {
		import_settle(m->report, "cluster");
		if (!library_cluster(&m->out->cluster, system->cluster, m->error))
			return false;
	}
	if (!mapped_model(m, benchmark ? benchmark->model : "",
			  pairs_find(m->pairs, own_name(m, "MODEL_SIZE", "SIZE"))))
		return false;
	/* a file outside of its folder: one model is trained in one way */
	for (size_t i = 0; !benchmark && i < sizeof benchmarks / sizeof benchmarks[0];
	     i++)
		if (strcmp(m->out->model.name, benchmarks[i].model) == 0) {
			benchmark = &benchmarks[i];
			import_note(m->report, IMPORT_ASSUMED, "benchmark", "%s",
				    benchmark->name);
		}
	if (!benchmark)
		import_note(m->report, IMPORT_ASSUMED, "seq", "8192");
	else if (strcmp(benchmark->lora_rank, "off") != 0)
		import_note(m->report, IMPORT_APPROXIMATE, "lora_rank",
			    "adapters of every matrix, not of the attention alone");
	return mapped_set(m, "seq", benchmark ? benchmark->seq : "8192", NULL) &&
	       mapped_set(m, "lora_rank", benchmark ? benchmark->lora_rank : "off",
			  NULL);
}

/* Whether the script's name, or that of one it sources, says so. */
static bool names_fp4(const struct mapped *m)
{
	const char *name = strrchr(m->pairs->file, '/');
	bool found = strstr(name ? name : m->pairs->file, "_fp4") != NULL;

	for (int i = 0; i < m->pairs->count && !found; i++)
		found = strcmp(m->pairs->item[i].key, "source") == 0 &&
			strstr(m->pairs->item[i].value, "_fp4");
	return found;
}

static bool read_precision(const struct mapped *m)
{
	const struct pair *fp8 = pairs_find(m->pairs, "FP8");

	if (is_on(m, "FP4")) {
		for (int i = 0; i < 3; i++) {
			const struct fp4_variable *v = &megatron_fp4_variables[i];

			if (mapped_is(m, v->name, "1") &&
			    !mapped_set(m, v->knob, "off", NULL))
				return false;
		}
		return mapped_set(m, "precision", "nvfp4", NULL);
	}
	if (!fp8)
		import_note(m->report, IMPORT_ASSUMED, "precision",
			    "%s; no config_common.sh beside it says",
			    names_fp4(m) ? "nvfp4, by a name" : "fp8");
	return mapped_set(m, "precision",
			  !fp8 && names_fp4(m)      ? "nvfp4"
			  : !fp8 || is_on(m, "FP8") ? "fp8"
						    : "bf16",
			  fp8);
}

/* Full recomputation of the first ACL layers of a stage, as ACM=block has it. */
static bool read_recompute(const struct mapped *m)
{
	const struct pair *layers = mapped_find(m, "ACL");
	bool full = mapped_is(m, "ACG", "full");

	return mapped_set(m, "recompute",
			  full                               ? "full"
			  : mapped_is(m, "ACG", "selective") ? "selective"
							     : "none",
			  NULL) &&
	       (!full ||
		mapped_set(m, "recompute_layers",
			   layers && mapped_is(m, "ACM", "block") ? layers->value
								  : "all",
			   layers));
}

/* GPUs of a node where the script does not say: the second number of "_1x4x2xtp1" in
 * the file's name, else what the system has. */
static int64_t node_of(const struct mapped *m)
{
	const struct system *system = find_system(m);
	const char *slash = strrchr(m->pairs->file, '/');
	int64_t each = system ? system->node : 8;

	for (const char *at = strchr(slash ? slash : m->pairs->file, '_'); at;
	     at = strchr(at + 1, '_')) {
		char *end;
		long nodes = strtol(at + 1, &end, 10), own = 0;

		if (end > at + 1 && nodes > 0 && *end == 'x')
			own = strtol(end + 1, &end, 10);
		if (own > 0 && own <= 64 && *end == 'x')
			return own;
	}
	if (!pairs_find(m->pairs, own_name(m, "DGXNGPU", "GPUS_PER_NODE")))
		import_note(m->report, IMPORT_ASSUMED, "gpus",
			    "%lld of a node; neither the script nor its name says",
			    (long long)each);
	return each;
}

/* Of a step where GBS says so, else of MINIBS of each replica. */
static bool read_batch(const struct mapped *m)
{
	const struct pair *whole = mapped_find(m, "GBS");
	int64_t minibs = 1, dp = scenario_dp(m->out);

	if (whole)
		return mapped_set(m, "gbs", whole->value, whole);
	return mapped_count(m, "MINIBS", &minibs) &&
	       mapped_set_count(m, "gbs", (minibs > 0 ? minibs : 1) * (dp > 0 ? dp : 1),
				pairs_find(m->pairs, "MINIBS"));
}

static bool read_world(const struct mapped *m)
{
	const char *name = own_name(m, "DGXNNODES", "NNODES");
	const struct pair *nodes = mapped_find(m, name);
	int64_t count = 0, each = node_of(m);

	if (!mapped_count(m, name, &count) ||
	    !mapped_count(m, own_name(m, "DGXNGPU", "GPUS_PER_NODE"), &each))
		return false;
	if (nodes && (count < 1 || each < 1 || count > 1 << 20 || each > 1 << 20))
		return error_set(m->error, m->pairs->file, nodes->line,
				 "%s %lld of %lld GPUs; expected at least 1", name,
				 (long long)count, (long long)each);
	return mapped_set_world(m, count * each, nodes) && read_batch(m);
}

static bool read_chunks(const struct mapped *m)
{
	const struct benchmark *benchmark = find_benchmark(m);

	if (m->out->plan.pp < 2 || !benchmark || !benchmark->chunks ||
	    pairs_find(m->pairs, "INTERLEAVED_PIPELINE") || pairs_find(m->pairs, "VP"))
		return true;
	import_note(m->report, IMPORT_ASSUMED, "vpp", "%s, the benchmark's own",
		    benchmark->chunks);
	return mapped_set(m, "vpp", benchmark->chunks, NULL);
}

static bool read_rest(const struct mapped *m)
{
	const struct plan *plan = &m->out->plan;
	const char *sp = pairs_find(m->pairs, "SP") ? "SP" : "SEQ_PARALLEL";
	bool sharded = plan->tp > 1 && (!pairs_find(m->pairs, sp) || is_on(m, sp));
	bool graphs = is_on(m, "LAYER_CUDA_GRAPH") || is_on(m, "MCORE_CUDA_GRAPH");

	return read_chunks(m) && mapped_set(m, "sp", sharded ? "on" : "off", NULL) &&
	       mapped_set(m, "schedule", plan->vpp > 1 ? "interleaved" : "1f1b",
			  NULL) &&
	       mapped_set(m, "zero", "1", NULL) &&
	       mapped_set(m, "tp_overlap",
			  sharded && is_on(m, "TP_COMM_OVERLAP") ? "on" : "off",
			  NULL) &&
	       mapped_set(m, "cuda_graphs", graphs ? "partial" : "none", NULL) &&
	       read_precision(m) && read_recompute(m) && read_world(m);
}

/* The folder below "benchmarks", whatever stands between the parts of the path. */
static const char *other_benchmark(const char *file)
{
	const char *at = strstr(file, "benchmarks");

	if (!at)
		return NULL;
	at += strlen("benchmarks");
	at += strspn(at, "/-");
	for (size_t i = 0; i < sizeof other_benchmarks / sizeof other_benchmarks[0];
	     i++) {
		size_t length = strlen(other_benchmarks[i]);

		if (strncmp(at, other_benchmarks[i], length) == 0 &&
		    (at[length] == '/' || at[length] == '-'))
			return other_benchmarks[i];
	}
	return NULL;
}

static bool add_path(struct pairs *pairs, const char *file, struct error *error)
{
	const char *name = strrchr(file, '/');
	bool good = true, found = false;

	name = name ? name + 1 : file;
	for (size_t i = 0; good && i < sizeof benchmarks / sizeof benchmarks[0]; i++)
		if (!found && strstr(file, benchmarks[i].name)) {
			found = true;
			good = pairs_add(pairs, "benchmark", benchmarks[i].name, 1,
					 error);
		}
	if (good && !found && other_benchmark(file))
		good = pairs_add(pairs, "other benchmark", other_benchmark(file), 1,
				 error);
	/* the file's own name before that of its folders */
	found = false;
	for (int whole = 0; good && whole < 2 && !found; whole++)
		for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++)
			if (!found && strstr(whole ? file : name, systems[i].name)) {
				found = true;
				good = pairs_add(pairs, "system", systems[i].name, 1,
						 error);
			}
	return good;
}

/* What its path says makes no script one of settings. */
static bool has_settings(const struct pairs *pairs)
{
	for (int i = 0; i < pairs->count; i++) {
		const char *key = pairs->item[i].key;

		for (const struct mapping *row = rows; row->key; row++)
			if (strcmp(row->key, key) == 0)
				return true;
		if (word_among(key, others) || word_among(key, shape_keys))
			return true;
	}
	return false;
}

bool mlperf_read(struct scenario *out, const char *file, const char *text,
		 size_t length, struct import_report *report, struct error *error)
{
	static const struct mapped_format format = { "megatron-core", rows,
						     others,          shape_keys,
						     read_model,      read_rest };
	struct pairs pairs;
	struct arguments arguments = { .given = report->given };
	struct shell_visitor visitor = { .context = &pairs,
					 .end = mlperf_take_variables };
	bool good;

	pairs_begin(&pairs, file);
	snprintf(arguments.file, sizeof arguments.file, "%.255s", file);
	good = shell_read(&arguments, text, length, &visitor, error);
	if (good && !has_settings(&pairs))
		good = error_set(error, file, 1,
				 "no setting of a submission: expected export "
				 "DGXNNODES=, MINIBS=, TENSOR_MODEL_PARALLEL= ...");
	if (good)
		mlperf_add_sources(&pairs, file, text);
	good = good && add_path(&pairs, file, error);
	script_note(&arguments, report);
	arguments_free(&arguments);
	if (!good) {
		pairs_free(&pairs);
		return false;
	}
	return mapped_read(out, &format, &pairs, report, error);
}
