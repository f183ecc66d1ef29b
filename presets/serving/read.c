/* read.c - a server's launch commands as a scenario: what the tools share. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/serve/serve.h"
#include "presets/library.h"
#include "presets/model_name.h"
#include "presets/serving/chart.h"
#include "presets/serving/serving.h"
#include "presets/serving/tool.h"

/* Their word for ours; NULL where the table has none: a method that leaves the number
 * format to the checkpoint. */
static const char *known_method(const struct mapped *m, const char *key,
				const char *words, char word[32])
{
	const struct pair *pair = key ? mapped_find(m, key) : NULL;

	if (!pair || pair->value[0] == '\0' || strcasecmp(pair->value, "none") == 0)
		return NULL;
	if (mapping_ours(words, pair->value, strlen(pair->value), word))
		return word;
	import_note(m->report, IMPORT_APPROXIMATE, key,
		    "%.60s is not known here: taken by the checkpoint's name",
		    pair->value);
	return NULL;
}

static const char *plain_format(const struct mapped *m, const char *dtype)
{
	static const char words[] = "bfloat16=bf16 bf16=bf16 float16=fp16 half=fp16 "
				    "fp16=fp16 float32=fp32 float=fp32";
	const struct pair *pair = dtype ? mapped_find(m, dtype) : NULL;
	static char word[3][8] = { "bf16", "fp16", "fp32" };
	char found[32];

	if (!pair || !mapping_ours(words, pair->value, strlen(pair->value), found))
		return NULL;
	for (int i = 0; i < 3; i++)
		if (strcmp(word[i], found) == 0)
			return word[i];
	return NULL;
}

bool read_precision(const struct mapped *m, const char *quantisation, const char *words,
		    const char *dtype, const char *checkpoint)
{
	const char *native = checkpoint_native(&m->out->model, NULL);
	const char *doubt, *named = model_name_format(checkpoint, &doubt);
	const char *plain = plain_format(m, dtype), *chosen;
	char word[32];
	const char *method = known_method(m, quantisation, words, word);
	bool quantised = strcmp(native, "bf16") != 0;

	/* one method reads several formats: the name tells which */
	if (method && named && strcmp(named, "bf16") != 0 &&
	    (strcmp(method, "fp8") == 0 || strcmp(method, "int8") == 0 ||
	     (strcmp(method, "int4") == 0 && strcmp(named, "int8") == 0)))
		method = named;
	if (doubt && (!method || (named && strcmp(method, named) == 0)))
		import_note(m->report, IMPORT_APPROXIMATE, "precision", "%s", doubt);
	if (method && strcmp(method, "fp8") == 0 && strcmp(native, "fp8-block") == 0)
		method = native;
	/* published in blocks, a name only says fp8 */
	if (named && strcmp(named, "fp8") == 0 && strcmp(native, "fp8-block") == 0 &&
	    !strcasestr(checkpoint, "dynamic"))
		named = native;
	if (named && strcmp(named, "bf16") == 0 && plain)
		named = quantised ? named : plain;
	chosen = method ? method : named ? named : plain && !quantised ? plain : native;
	if (!method && !plain)
		import_note(m->report, IMPORT_ASSUMED, "precision", "%s, by %s", chosen,
			    named ? "its name" : "its published weights");
	return mapped_set(m, "precision", chosen, NULL);
}

bool read_engines(const struct mapped *m, int64_t engines, const struct pair *from)
{
	const struct plan *plan = &m->out->plan;
	int64_t gpus = plan->tp * plan->pp;

	/* degrees are at most 4096, stages 64: no overflow before cp */
	if (__builtin_mul_overflow(gpus, plan->cp, &gpus) ||
	    __builtin_mul_overflow(gpus, plan->serving.dp_attention, &gpus) ||
	    __builtin_mul_overflow(gpus, engines, &gpus))
		gpus = INT64_MAX;
	return mapped_set_count(m, "gpus", gpus, from);
}

bool read_speculation(const struct mapped *m, bool mtp, int64_t tokens)
{
	return mapped_set(m, "speculative", mtp ? "mtp" : "draft", NULL) &&
	       (tokens <= 0 || mapped_set_count(m, "draft_tokens", tokens, NULL));
}

/* What a command says nothing of. */
static void note_assumed(const struct mapped *m, const struct server_load *load)
{
	const struct serving_plan *v = &m->out->plan.serving;

	if (!load->cluster)
		import_note(m->report, IMPORT_ASSUMED, "cluster", "%s",
			    m->out->cluster.name);
	if (load->prompt <= 0)
		import_note(m->report, IMPORT_ASSUMED, "prompt", "%lld",
			    (long long)v->prompt_len);
	if (load->output <= 0)
		import_note(m->report, IMPORT_ASSUMED, "output", "%lld",
			    (long long)v->output_len);
	if (load->concurrency <= 0)
		import_note(m->report, IMPORT_ASSUMED, "concurrency", "%lld",
			    (long long)v->concurrency);
	if (v->speculative != SPECULATIVE_OFF)
		import_note(m->report, IMPORT_ASSUMED, "acceptance", "%g",
			    server_acceptance(m->out));
}

/* One note a flag. The launcher's own say nothing of the plan. */
static void note_flags(const struct tool *tool, const struct mapped *m)
{
	bool draft = m->out->plan.serving.speculative == SPECULATIVE_DRAFT;

	for (int i = 0; i < m->pairs->count; i++) {
		const struct pair *pair = &m->pairs->item[i];
		/* a cache that is only shared says nothing of the plan */
		bool known = word_among(pair->key, tool->others) &&
			     strcmp(pair->value, "kv_both") != 0 &&
			     !(draft && word_among(pair->key, tool->drafts));

		for (const struct mapping *row = tool->rows; row->key; row++)
			known = known || strcmp(row->key, pair->key) == 0;
		if (!word_among(pair->key, tool->launcher))
			import_note(m->report,
				    known ? IMPORT_TAKEN : IMPORT_NOT_MODELLED,
				    pair->key, "%s", pair->value);
	}
}

/* What parts the model among GPUs: of these a default would be another plan. */
static bool is_degree(const char *key)
{
	static const char *const degrees[] = { "tp",
					       "pp",
					       "cp",
					       "ep",
					       "dp_attention",
					       "tp-size",
					       "tp_size",
					       "dp-size",
					       "ep-size",
					       "tensor-parallel-size",
					       "data-parallel-size",
					       NULL };

	return word_among(key, degrees);
}

/* A flag whose variable nobody has set counts as absent; a degree is asked for. */
static bool drop_empty(const struct tool *tool, struct server_command *command,
		       const struct mapped *m)
{
	struct pairs *flags = &command->flags;
	int kept = 0;

	for (int i = 0; i < flags->count; i++) {
		bool value = word_among(flags->item[i].key, tool->others) &&
			     !word_among(flags->item[i].key, tool->switches);

		const char *key = flags->item[i].key;

		for (const struct mapping *row = tool->rows; row->key; row++)
			if (strcmp(row->key, flags->item[i].key) == 0) {
				value = !row->words || row->words[0] != '=';
				key = row->knob;
			}
		if (value && flags->item[i].value[0] == '\0' && is_degree(key))
			return error_set(m->error, flags->file, flags->item[i].line,
					 "--%s is open: its variable is set by "
					 "nothing that can be read; --set NAME=VALUE "
					 "or the environment gives it",
					 flags->item[i].key);
		if (value && flags->item[i].value[0] == '\0')
			import_note(m->report, IMPORT_ASSUMED, key,
				    "its default: the script leaves %s open",
				    flags->item[i].key);
		else
			flags->item[kept++] = flags->item[i];
	}
	flags->count = kept;
	return true;
}

/* The requests that a recipe measures under. */
static bool set_load(const struct mapped *m, const struct server_load *load)
{
	return (load->prompt <= 0 ||
		mapped_set_count(m, "prompt", load->prompt, NULL)) &&
	       (load->output <= 0 ||
		mapped_set_count(m, "output", load->output, NULL)) &&
	       (load->concurrency <= 0 ||
		mapped_set_count(m, "concurrency", load->concurrency, NULL));
}

/* m has the command's flags. */
static bool read_command(const struct tool *tool, struct server_command *command,
			 const struct model *model, const char *cluster,
			 const struct mapped *m)
{
	if (!mapped_begin(m->out, tool->stack, m->error) ||
	    (cluster && !library_cluster(&m->out->cluster, cluster, m->error)))
		return false;
	m->out->model = *model;
	return drop_empty(tool, command, m) && mapping_read(m, tool->rows) &&
	       tool->read(m, command->checkpoint);
}

/* The first command of that role, and how many servers of its kind are started. */
static enum role role_of(const struct tool *tool, const struct pairs *flags)
{
	const struct pair *pair = pairs_find(flags, tool->role_flag);
	const struct pair *mode = pairs_find(flags, "disaggregation-mode");

	/* NVIDIA Dynamo's words, beside those of the engine */
	mode = mode ? mode : pairs_find(flags, "disaggregation_mode");
	if (mode && strcmp(mode->value, "prefill") == 0)
		return ROLE_PREFILL;
	if (mode && strcmp(mode->value, "decode") == 0)
		return ROLE_DECODE;
	if (pairs_find(flags, "is-prefill-worker"))
		return ROLE_PREFILL;
	if (pairs_find(flags, "is-decode-worker"))
		return ROLE_DECODE;

	for (int role = ROLE_BOTH + 1; pair && role < ROLE_COUNT; role++)
		if (strcasecmp(pair->value, tool->roles[role]) == 0)
			return (enum role)role;
	return ROLE_BOTH;
}

/* Further nodes of one server repeat its command. */
static bool further_node(const struct server_command *command)
{
	const struct pair *rank = pairs_find(&command->flags, "node-rank");

	return rank && strcmp(rank->value, "0") != 0 && rank->value[0] != '\0';
}

/* The first of a role, or of those that serve what the recipe is of. */
static struct server_command *find_role(const struct tool *tool,
					struct server_commands *commands,
					enum role role, const char *subject,
					int64_t *copies)
{
	struct server_command *found = NULL;

	*copies = 0;
	for (int i = 0; i < commands->count; i++) {
		struct server_command *command = &commands->item[i];

		if (role_of(tool, &command->flags) != role)
			continue;
		if (!found ||
		    (subject[0] != '\0' && strcmp(command->checkpoint, subject) == 0 &&
		     strcmp(found->checkpoint, subject) != 0))
			found = command;
		if (!further_node(command))
			*copies += command->replicas;
	}
	*copies = *copies > 0 ? *copies : found != NULL;
	return found;
}

/* What two batches hide is the exchange between copies of the attention: where those
 * that decode have none, they say nothing of it. */
static bool join_overlap(const struct mapped *m, const struct plan *prefill)
{
	return !prefill->ep_overlap || m->out->plan.serving.dp_attention > 1 ||
	       mapped_set(m, "ep_overlap", "on", NULL);
}

/* The pool that prefills beside the one that decodes; how prompts are cut is its. */
static bool join_pools(const struct mapped *m, const struct scenario *prefill,
		       int64_t prefills, int64_t decodes)
{
	const struct plan *p = &prefill->plan;
	int64_t own = prefill->cluster.gpus * prefills;
	double host = p->serving.host_kv_bytes;

	/* SGLang's is of those that prefill alone */
	if (host > m->out->plan.serving.host_kv_bytes && !read_host_kv(m, host, NULL))
		return false;
	return mapped_set(m, "disaggregated", "on", NULL) && join_overlap(m, p) &&
	       mapped_set(m, "chunked_prefill",
			  p->serving.chunked_prefill ? "on" : "off", NULL) &&
	       mapped_set_count(m, "max_batched_tokens", p->serving.max_batched_tokens,
				NULL) &&
	       mapped_set_count(m, "prefill_gpus", own, NULL) &&
	       mapped_set_count(m, "prefill_tp", p->tp, NULL) &&
	       mapped_set_count(m, "prefill_pp", p->pp, NULL) &&
	       mapped_set_count(m, "prefill_ep", p->ep, NULL) &&
	       mapped_set_count(m, "prefill_dp_attention", p->serving.dp_attention,
				NULL) &&
	       mapped_set_count(m, "gpus", m->out->cluster.gpus * decodes + own, NULL);
}

/* Whether two commands start the same but for where it listens. */
static bool alike(const struct tool *tool, const struct server_command *a,
		  const struct server_command *b)
{
	if (strcmp(a->checkpoint, b->checkpoint) != 0 ||
	    a->flags.count != b->flags.count)
		return false;
	for (int i = 0; i < a->flags.count; i++) {
		const struct pair *one = &a->flags.item[i];
		const struct pair *other = pairs_find(&b->flags, one->key);

		if (!other || (strcmp(one->value, other->value) != 0 &&
			       !word_among(one->key, tool->launcher)))
			return false;
	}
	return true;
}

/* Servers like this one that a script starts: of a manifest its replicas; else those
 * like it, where not all are on one port, as the same command told twice would be. */
static int64_t servers_like(const struct tool *tool,
			    const struct server_commands *commands,
			    const struct server_command *one)
{
	const struct pair *here = pairs_find(&one->flags, "port");
	int64_t first = one->replicas > 1 ? one->replicas : 1, count = first;
	bool apart = false;

	for (int i = 0; here && i < commands->count; i++) {
		const struct server_command *other = &commands->item[i];
		const struct pair *there = pairs_find(&other->flags, "port");

		if (other == one || !there || further_node(other) ||
		    !alike(tool, one, other))
			continue;
		apart = apart || strcmp(here->value, there->value) != 0;
		count++;
	}
	return apart ? count : first;
}

/* Whole servers share the requests out, as data parallelism does. */
static bool multiply(const struct mapped *m, int64_t servers)
{
	if (servers < 2)
		return true;
	import_note(m->report, IMPORT_ASSUMED, "replicas",
		    "%lld servers of %lld GPUs share the requests", (long long)servers,
		    (long long)m->out->cluster.gpus);
	return mapped_set_count(m, "gpus", m->out->cluster.gpus * servers, NULL);
}

/* A recipe may serve several models: which one is read, and which another. */
static void note_first(const struct server_commands *commands,
		       const struct server_command *first, int64_t count,
		       struct import_report *report)
{
	for (int i = 0; i < commands->count; i++)
		if (strcmp(commands->item[i].checkpoint, first->checkpoint) != 0 &&
		    commands->item[i].checkpoint[0] != '\0') {
			import_note(report, IMPORT_ASSUMED, "commands",
				    "%s of %lld is read, %.60s; another serves %.60s",
				    first == &commands->item[0] ? "the first" : "one",
				    (long long)count, first->checkpoint,
				    commands->item[i].checkpoint);
			return;
		}
	import_note(report, IMPORT_ASSUMED, "commands", "the first of %lld is read",
		    (long long)count);
}

static bool read_commands(const struct tool *tool, struct server_commands *commands,
			  struct scenario *out, struct import_report *report,
			  struct error *error)
{
	int64_t prefills, decodes, whole, same;
	const char *subject = report->subject;
	struct server_command *both =
		find_role(tool, commands, ROLE_BOTH, subject, &whole);
	struct server_command *decode =
		find_role(tool, commands, ROLE_DECODE, subject, &decodes);
	struct server_command *prefill =
		find_role(tool, commands, ROLE_PREFILL, subject, &prefills);
	/* Dynamo marks those that prefill; the others decode beside them */
	bool pools = prefill && (decode || both);
	struct server_command *main = pools && decode ? decode
				      : both          ? both
				      : decode        ? decode
						      : prefill;
	struct mapped m = { &main->flags, out, report, error };
	struct import_name named = { main->flags.file, main->line, main->checkpoint,
				     model_name_find(main->checkpoint) };
	const char *cluster = commands->load.cluster;
	struct scenario other;
	struct mapped first = { pools ? &prefill->flags : NULL, &other, report, error };
	struct model model;

	if (!import_model(&model, &named, report, error) ||
	    !read_command(tool, main, &model, cluster, &m))
		return false;
	if (pools && (!read_command(tool, prefill, &model, cluster, &first) ||
		      !join_pools(&m, &other, prefills, decode ? decodes : whole)))
		return false;
	if (!pools && !both)
		import_note(report, IMPORT_APPROXIMATE, "disaggregated",
			    "only the servers that %s are here: read as whole ones",
			    decode ? "decode" : "prefill");
	same = servers_like(tool, commands, main);
	if (!pools && main == both && !multiply(&m, same))
		return false;
	if (both && whole > same && !pools)
		note_first(commands, main, whole, report);
	/* a recipe that shows whole servers, and two pools beside them */
	if (both && pools && decode)
		import_note(report, IMPORT_ASSUMED, "commands",
			    "those of the pools that prefill and decode are read; %lld "
			    "more start%s whole servers",
			    (long long)whole, whole == 1 ? "s" : "");
	note_assumed(&m, &commands->load);
	note_flags(tool, &m);
	return set_load(&m, &commands->load);
}

static bool read_tool(const struct tool *tool, struct scenario *out, const char *file,
		      const char *text, size_t length, struct import_report *report,
		      struct error *error)
{
	struct server_commands *commands = calloc(1, sizeof *commands);
	struct scenario made;
	bool good;

	if (!commands)
		return error_set(error, file, 0, "out of memory");
	good = commands_read(tool, file, text, length, commands, report, error);
	if (good && !commands->load.cluster)
		commands->load.cluster = chart_cluster(text, length, report);
	good = good && read_commands(tool, commands, &made, report, error);
	commands_free(commands);
	free(commands);
	if (good)
		*out = made;
	return good;
}

bool vllm_read(struct scenario *out, const char *file, const char *text, size_t length,
	       struct import_report *report, struct error *error)
{
	return read_tool(&tool_vllm, out, file, text, length, report, error);
}

bool sglang_read(struct scenario *out, const char *file, const char *text,
		 size_t length, struct import_report *report, struct error *error)
{
	return read_tool(&tool_sglang, out, file, text, length, report, error);
}

bool trtllm_read(struct scenario *out, const char *file, const char *text,
		 size_t length, struct import_report *report, struct error *error)
{
	return read_tool(&tool_trtllm, out, file, text, length, report, error);
}

bool read_number(const struct mapped *m, const char *key, double *out)
{
	const struct pair *pair = mapped_find(m, key);
	char *end;

	*out = 0;
	if (!pair || pair->value[0] == '\0' || strcasecmp(pair->value, "none") == 0)
		return true;
	*out = strtod(pair->value, &end);
	if (*end != '\0' || !(*out >= 0) || !isfinite(*out))
		return error_set(m->error, m->pairs->file, pair->line,
				 "%s is '%.40s', which is no size from 0 on", key,
				 pair->value);
	return true;
}

bool read_host_kv(const struct mapped *m, double bytes, const struct pair *from)
{
	char text[32];

	if (bytes <= 0)
		return true;
	snprintf(text, sizeof text, "%.10g", bytes / 1073741824);
	return mapped_set(m, "host_kv", text, from);
}
