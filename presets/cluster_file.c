/* cluster_file.c - see cluster_file.h. */
#include "presets/cluster_file.h"

#include <pthread.h>
#include <string.h>

#include "presets/accuracy_file.h"
#include "presets/data.h"
#include "presets/fields.h"

struct draft {
	struct cluster cluster;
	struct cluster_note note;
};

#define C(member)                               \
	offsetof(struct draft, cluster.member), \
		sizeof(((struct draft *)0)->cluster.member)
#define NUMBER(key, member, scale)                        \
	{                                                 \
		key, FIELD_NUMBER, C(member), scale, NULL \
	}
#define COUNT(key, member)                           \
	{                                            \
		key, FIELD_COUNT, C(member), 0, NULL \
	}
#define PEAK(word, precision) \
	NUMBER("accelerator.peak_tflops." word, accelerator.peak_flops[precision], 1e12)
#define GEMM(word, precision)                       \
	NUMBER("calibration.gemm_efficiency." word, \
	       accelerator.calibration.gemm_efficiency[precision], 0)
#define SERVING_GEMM(word, precision)           \
	NUMBER("serving.gemm_efficiency." word, \
	       accelerator.calibration.serving.gemm_efficiency[precision], 0)
#define SERVING_STREAM(word, precision)           \
	NUMBER("serving.stream_efficiency." word, \
	       accelerator.calibration.serving.stream_efficiency[precision], 0)
#define SERVING_GROUPED(word, precision)                \
	NUMBER("serving.grouped_gemm_efficiency." word, \
	       accelerator.calibration.serving.grouped_gemm_efficiency[precision], 0)
#define SERVING(word, member, scale) \
	NUMBER("serving." word, accelerator.calibration.serving.member, scale)
#define OF_PROTOCOL(transport, protocol, member) \
	accelerator.transports.row[TRANSPORT_##transport][PROTOCOL_##protocol].member
#define PROTOCOL(word, transport, protocol)                                   \
	NUMBER("collectives." word "_start_us",                               \
	       OF_PROTOCOL(transport, protocol, start_seconds), 1e-6),        \
		NUMBER("collectives." word "_hop_us",                         \
		       OF_PROTOCOL(transport, protocol, hop_seconds), 1e-6),  \
		NUMBER("collectives." word "_peer_us",                        \
		       OF_PROTOCOL(transport, protocol, peer_seconds), 1e-6), \
		NUMBER("collectives." word "_share",                          \
		       OF_PROTOCOL(transport, protocol, share), 0),           \
		NUMBER("collectives." word "_peer_share",                     \
		       OF_PROTOCOL(transport, protocol, peer_share), 0),
#define ATTENTION(word, kernel)                          \
	NUMBER("calibration.attention_efficiency." word, \
	       accelerator.calibration.attention_efficiency[kernel], 0)
#define LINK(word, level)                                                          \
	{ word ".name", FIELD_TEXT, C(link[level].name), 0, NULL },                \
		COUNT(word ".span", link[level].span),                             \
		NUMBER(word ".gbs", link[level].bytes_per_second, 1e9),            \
		NUMBER(word ".efficiency", link[level].efficiency, 0),             \
		NUMBER(word ".latency_us", link[level].latency_seconds, 1e-6),     \
		NUMBER(word ".oversubscription", link[level].oversubscription, 0), \
		{ word ".in_network_reduction", FIELD_BOOL,                        \
		  C(link[level].in_network_reduction), 0, NULL },                  \
	{                                                                          \
		word ".assumed", FIELD_BOOL, C(link[level].assumed), 0, NULL       \
	}

static const char *const maker_words[MAKER_COUNT + 1] = { "unknown", "nvidia", "amd",
							  "google",  "huawei", NULL };

const char *const *cluster_maker_words(void)
{
	return maker_words;
}

static const struct field fields[] = {
	{ "title", FIELD_TEXT, offsetof(struct draft, note.title),
	  sizeof(((struct draft *)0)->note.title), 0, NULL },
	{ "name", FIELD_TEXT, C(name), 0, NULL },
	{ "source", FIELD_TEXT, C(source), 0, NULL },
	{ "training_stack", FIELD_TEXT, C(training_stack), 0, NULL },
	COUNT("torus_axes", torus_axes),
	COUNT("gpus", gpus),
	COUNT("gpus_per_node", gpus_per_node),
	{ "torus", FIELD_BOOL, C(torus), 0, NULL },
	COUNT("domain.lines", link[LINK_DOMAIN].lines),
	NUMBER("price_per_gpu_hour", price_per_gpu_hour, 0),
	NUMBER("host_watts_per_gpu", host_watts_per_gpu, 0),
	NUMBER("host_gib_per_gpu", host_bytes_per_gpu, 1073741824.0),
	NUMBER("host_memory_gbs", host_memory_bytes_per_second, 1e9),
	NUMBER("launch_us", launch_seconds, 1e-6),
	NUMBER("pue", pue, 0),
	NUMBER("grid_gco2_per_kwh", grid_grams_per_kwh, 0),
	NUMBER("node_mtbf_hours", node_mtbf_hours, 0),
	NUMBER("checkpoint_gbs_per_node", checkpoint_bytes_per_second, 1e9),
	NUMBER("restart_seconds", restart_seconds, 0),
	NUMBER("scale", scale, 0),
	NUMBER("compute_scale", accelerator.calibration.compute_scale, 0),
	NUMBER("network_scale", accelerator.calibration.network_scale, 0),
	NUMBER("host_scale", accelerator.calibration.host_scale, 0),
	{ "accelerator.name", FIELD_TEXT, C(accelerator.name), 0, NULL },
	{ "accelerator.maker", FIELD_WORD, C(accelerator.maker), 0, maker_words },
	COUNT("accelerator.year", accelerator.year),
	COUNT("accelerator.cores", accelerator.cores),
	PEAK("bf16", PRECISION_BF16),
	PEAK("fp16", PRECISION_FP16),
	PEAK("fp32", PRECISION_FP32),
	PEAK("fp8", PRECISION_FP8),
	PEAK("mxfp8", PRECISION_MXFP8),
	PEAK("nvfp4", PRECISION_NVFP4),
	PEAK("mxfp4", PRECISION_MXFP4),
	PEAK("int8", PRECISION_INT8),
	NUMBER("accelerator.memory_gb", accelerator.memory_bytes, 1e9),
	NUMBER("accelerator.usable_gib", accelerator.usable_bytes, 1073741824.0),
	NUMBER("accelerator.memory_gbs", accelerator.memory_bytes_per_second, 1e9),
	NUMBER("accelerator.host_gbs", accelerator.host_bytes_per_second, 1e9),
	NUMBER("accelerator.host_alone_gbs", accelerator.host_alone_bytes_per_second,
	       1e9),
	NUMBER("accelerator.tdp_watts", accelerator.tdp_watts, 0),
	NUMBER("accelerator.idle_watts", accelerator.idle_watts, 0),
	LINK("domain", LINK_DOMAIN),
	LINK("network", LINK_NETWORK),
	LINK("upper", LINK_UPPER),
	MEASURED_PROTOCOLS(PROTOCOL)
		NUMBER("collectives.copy_share", accelerator.transports.copy_share, 0),
	GEMM("bf16", PRECISION_BF16),
	GEMM("fp16", PRECISION_FP16),
	GEMM("fp32", PRECISION_FP32),
	GEMM("fp8", PRECISION_FP8),
	GEMM("mxfp8", PRECISION_MXFP8),
	GEMM("nvfp4", PRECISION_NVFP4),
	GEMM("mxfp4", PRECISION_MXFP4),
	ATTENTION("unfused", ATTENTION_UNFUSED),
	ATTENTION("fused-softmax", ATTENTION_FUSED_SOFTMAX),
	ATTENTION("flash1", ATTENTION_FLASH1),
	ATTENTION("flash2", ATTENTION_FLASH2),
	ATTENTION("flash3", ATTENTION_FLASH3),
	NUMBER("calibration.unaligned_efficiency",
	       accelerator.calibration.unaligned_efficiency, 0),
	NUMBER("calibration.narrow_head_efficiency",
	       accelerator.calibration.narrow_head_efficiency, 0),
	NUMBER("calibration.fp8_attention_gain",
	       accelerator.calibration.fp8_attention_gain, 0),
	NUMBER("calibration.attention_half_seq",
	       accelerator.calibration.attention_half_seq, 0),
	NUMBER("calibration.memory_efficiency",
	       accelerator.calibration.memory_efficiency, 0),
	NUMBER("calibration.kernel_us", accelerator.calibration.kernel_seconds, 1e-6),
	NUMBER("calibration.tail_share", accelerator.calibration.tail_share, 0),
	NUMBER("calibration.collective_share", accelerator.calibration.collective_share,
	       0),
	NUMBER("calibration.step_ms", accelerator.calibration.step_seconds, 1e-3),
	{ "calibration.unmeasured", FIELD_BOOL, C(accelerator.calibration.unmeasured),
	  0, NULL },
	{ "calibration.assumed", FIELD_BOOL, C(accelerator.calibration.assumed), 0,
	  NULL },
	SERVING_GEMM("bf16", PRECISION_BF16),
	SERVING_GEMM("fp8", PRECISION_FP8),
	SERVING_GEMM("mxfp8", PRECISION_MXFP8),
	SERVING_GEMM("nvfp4", PRECISION_NVFP4),
	SERVING_GEMM("mxfp4", PRECISION_MXFP4),
	SERVING_GEMM("fp8-block", PRECISION_FP8_BLOCK),
	SERVING_GEMM("int8", PRECISION_INT8),
	SERVING_STREAM("bf16", PRECISION_BF16),
	SERVING_STREAM("fp8", PRECISION_FP8),
	SERVING_STREAM("mxfp8", PRECISION_MXFP8),
	SERVING_STREAM("nvfp4", PRECISION_NVFP4),
	SERVING_STREAM("mxfp4", PRECISION_MXFP4),
	SERVING_STREAM("fp8-block", PRECISION_FP8_BLOCK),
	SERVING_STREAM("int8", PRECISION_INT8),
	SERVING_STREAM("int4", PRECISION_INT4),
	SERVING("roofline_exponent", roofline_exponent, 0),
	SERVING("kernel_us", kernel_seconds, 1e-6),
	SERVING("small_kernel_us", small_kernel_seconds, 1e-6),
	SERVING("elementwise_efficiency", elementwise_efficiency, 0),
	SERVING("attention_efficiency", attention_efficiency, 0),
	SERVING("attention_us", attention_fixed_seconds, 1e-6),
	SERVING("kv_efficiency", kv_efficiency, 0),
	SERVING("kv_efficiency_fp8", kv_efficiency_fp8, 0),
	SERVING("decode_us", decode_fixed_seconds, 1e-6),
	SERVING("latent_efficiency", latent_efficiency, 0),
	SERVING_GROUPED("bf16", PRECISION_BF16),
	SERVING_GROUPED("fp8", PRECISION_FP8),
	SERVING_GROUPED("mxfp8", PRECISION_MXFP8),
	SERVING_GROUPED("nvfp4", PRECISION_NVFP4),
	SERVING_GROUPED("mxfp4", PRECISION_MXFP4),
	SERVING_GROUPED("fp8-block", PRECISION_FP8_BLOCK),
	SERVING_GROUPED("int8", PRECISION_INT8),
	SERVING_GROUPED("int4", PRECISION_INT4),
	SERVING("grouped_stream_efficiency", grouped_stream_efficiency, 0),
	SERVING("grouped_us", grouped_fixed_seconds, 1e-6),
	SERVING("all_to_all_us", all_to_all_seconds, 1e-6),
	{ "serving.assumed", FIELD_BOOL, C(accelerator.calibration.serving.assumed), 0,
	  NULL },
	{ "serving.unfitted", FIELD_BOOL, C(accelerator.calibration.serving.unfitted),
	  0, NULL },
};

enum { FIELDS = sizeof fields / sizeof fields[0] };

/* What every cluster must say, for without it no time can be computed. */
static bool complete(const struct document *document, const struct node *map,
		     const struct cluster *c, struct error *error)
{
	const char *missing = NULL;

	if (c->accelerator.peak_flops[PRECISION_BF16] <= 0 &&
	    c->accelerator.peak_flops[PRECISION_FP16] <= 0)
		missing = "accelerator.peak_tflops.bf16 (or fp16)";
	else if (c->accelerator.memory_bytes <= 0)
		missing = "accelerator.memory_gb";
	else if (c->accelerator.memory_bytes_per_second <= 0)
		missing = "accelerator.memory_gbs";
	else if (c->gpus_per_node < 1)
		missing = "gpus_per_node";
	else if (c->link[LINK_DOMAIN].span < 1 ||
		 c->link[LINK_DOMAIN].bytes_per_second <= 0)
		missing = "domain.span and domain.gbs";
	else if (c->link[LINK_NETWORK].bytes_per_second <= 0)
		missing = "network.gbs";
	if (missing)
		return error_set(error, document->file, map->line,
				 "the cluster does not say %s", missing);
	for (int i = 0; i < LINK_COUNT; i++)
		if (!(c->link[i].efficiency <= 1))
			return error_set(error, document->file, map->line,
					 "a link reaches %g of its rate: efficiency is "
					 "a share, at most 1",
					 c->link[i].efficiency);
	return true;
}

/* The plateau of a domain is what rings reach in Simple. */
static void state_plateau(struct transports *transports)
{
	struct protocol *simple = &transports->row[TRANSPORT_RING][PROTOCOL_SIMPLE];

	if (simple->start_seconds > 0 && simple->share <= 0)
		simple->share = 1;
}

/* --- kernels, where a file is silent --- */

static bool read_kernels(struct draft *out)
{
	struct document document;
	struct error error;
	bool good;

	for (const struct preset_file *f = presets_data; f->kind; f++) {
		if (strcmp(f->kind, "accuracy") != 0 || strcmp(f->name, "kernels") != 0)
			continue;
		if (!document_parse(&document, f->name, (const char *)f->text,
				    f->length, &error))
			return false;
		good = fields_read(&document, document.root, fields, FIELDS, out, NULL,
				   &error);
		document_free(&document);
		return good;
	}
	return false;
}

/* Those of measured accelerators in the middle; NULL: out of memory. */
static const struct draft *usual_kernels(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct draft usual;
	static bool whole;
	bool now;

	pthread_mutex_lock(&lock);
	now = whole = whole || read_kernels(&usual);
	pthread_mutex_unlock(&lock);
	return now ? &usual : NULL;
}

static bool is_number_of(const struct field *field, const char *section)
{
	size_t length = strlen(section);

	return strncmp(field->key, section, length) == 0 && field->key[length] == '.' &&
	       field->type == FIELD_NUMBER;
}

static bool is_silent(const struct draft *d, const char *section)
{
	for (int i = 0; i < FIELDS; i++)
		if (is_number_of(&fields[i], section) && !field_zero(&fields[i], d))
			return false;
	return true;
}

/* An entry of a table without which a server reads that of 16 bits. */
static bool is_narrow(const struct field *field)
{
	const char *dot = strrchr(field->key, '.');

	return dot != field->key + 7 && strcmp(dot, ".bf16") != 0;
}

static void take(struct draft *d, const struct draft *usual, const struct field *f)
{
	memcpy((char *)d + f->offset, (const char *)usual + f->offset, f->size);
}

/* What the file says nothing of: of a file without any, all of them. */
static void fill_serving(struct draft *d, const struct draft *usual)
{
	bool silent = is_silent(d, "serving");

	for (int i = 0; i < FIELDS; i++) {
		const struct field *f = &fields[i];

		if (!is_number_of(f, "serving") || !field_zero(f, d) ||
		    (is_narrow(f) && !silent))
			continue;
		take(d, usual, f);
		d->cluster.accelerator.calibration.serving.assumed = true;
	}
}

/* A share that no kernel does without: in a format that the accelerator has. */
static bool is_needed(const struct field *f, const struct draft *d)
{
	static const char gemm[] = "calibration.gemm_efficiency.";
	const double *peaks = d->cluster.accelerator.peak_flops;
	const size_t first =
		offsetof(struct draft, cluster.accelerator.calibration.gemm_efficiency);

	if (strncmp(f->key, gemm, sizeof gemm - 1) == 0)
		return peaks[(f->offset - first) / sizeof *peaks] > 0;
	return strncmp(f->key, "calibration.attention_efficiency.", 33) == 0 ||
	       strcmp(f->key, "calibration.memory_efficiency") == 0 ||
	       strcmp(f->key, "calibration.kernel_us") == 0;
}

/* The same for training. A rate that is not stated would be that of the datasheet,
 * which no kernel reaches; what else a file leaves out is none, where it states any. */
static void fill_training(struct draft *d, const struct draft *usual)
{
	struct calibration *own = &d->cluster.accelerator.calibration;
	bool silent = is_silent(d, "calibration");

	for (int i = 0; i < FIELDS; i++) {
		const struct field *f = &fields[i];

		if (!is_number_of(f, "calibration") || !field_zero(f, d) ||
		    field_zero(f, usual) || !(silent || is_needed(f, d)))
			continue;
		take(d, usual, f);
		own->assumed = own->unmeasured = true;
	}
	/* a CPU that launches kernels in no time would never be waited for */
	if (d->cluster.launch_seconds <= 0) {
		d->cluster.launch_seconds = usual->cluster.launch_seconds;
		own->assumed = true;
	}
}

/* Nor does a link carry all of its line, or a message arrive as it leaves. */
static void fill_link(struct link *own, const struct link *usual)
{
	own->assumed =
		own->assumed || own->efficiency <= 0 || own->latency_seconds <= 0;
	if (own->efficiency <= 0)
		own->efficiency = usual->efficiency;
	if (own->latency_seconds <= 0)
		own->latency_seconds = usual->latency_seconds;
}

static bool fill_kernels(struct draft *d)
{
	const struct draft *usual = usual_kernels();

	if (!usual)
		return false;
	fill_serving(d, usual);
	fill_training(d, usual);
	for (int i = LINK_DOMAIN; i <= LINK_NETWORK; i++)
		fill_link(&d->cluster.link[i], &usual->cluster.link[i]);
	return true;
}

bool cluster_read(const struct document *document, const struct node *map,
		  struct cluster *out, struct cluster_note *note, struct error *error)
{
	const struct accuracy *accuracy = accuracy_shipped();
	struct draft d;

	/* without it predictions would be called exact */
	if (!accuracy)
		return error_set(error, document->file, 0, "out of memory");
	memset(&d, 0, sizeof d);
	d.cluster.gpus = 1;
	d.cluster.pue = 1;
	d.cluster.accuracy = *accuracy;
	d.cluster.scale = 1;
	d.cluster.accelerator.calibration.compute_scale = 1;
	d.cluster.accelerator.calibration.network_scale = 1;
	d.cluster.accelerator.calibration.host_scale = 1;
	d.cluster.link[LINK_UPPER].oversubscription = 1;
	if (!fields_read(document, map, fields, FIELDS, &d, NULL, error) ||
	    !complete(document, map, &d.cluster, error))
		return false;
	if (!fill_kernels(&d))
		return error_set(error, document->file, 0, "out of memory");
	state_plateau(&d.cluster.accelerator.transports);
	if (d.cluster.accelerator.usable_bytes <= 0)
		d.cluster.accelerator.usable_bytes = d.cluster.accelerator.memory_bytes;
	*out = d.cluster;
	if (note)
		*note = d.note;
	return true;
}

void cluster_write(const struct cluster *cluster, FILE *stream)
{
	struct draft d = { .cluster = *cluster };

	fputc('{', stream);
	fields_write(fields, FIELDS, &d, stream);
	fputc('}', stream);
}
