/* tool.h - what tells one inference server from another, and what their readers and
 * writers share.
 */
#ifndef PRESETS_SERVING_TOOL_H
#define PRESETS_SERVING_TOOL_H

#include <stdio.h>

#include "presets/document.h"
#include "presets/pairs/mapping.h"
#include "presets/script/notes.h"
#include "presets/script/shell.h"

/* What a command of a disaggregated server does. */
enum role { ROLE_BOTH, ROLE_PREFILL, ROLE_DECODE, ROLE_COUNT };

enum { MAX_CHECKPOINT = 256, MAX_COMMANDS = 128, MAX_COMMAND_FLAGS = 512 };

/* One command that starts a server: keys are names of flags without dashes in front. */
struct server_command {
	struct pairs flags;
	char checkpoint[MAX_CHECKPOINT]; /* "meta-llama/Llama-3.1-70B", a path, or "" */
	int line;
	int64_t replicas; /* servers that it starts */
};

/* A command of no tool, before a manifest's own: how many servers each of those starts
 * that come until the next one, and their role. */
#define MANIFEST_MARK "servers-of-manifest"
enum { MANIFEST_REPLICAS = 4096 };

/* What a recipe says of the machine and of the requests; 0 and NULL: nothing. */
struct server_load {
	int64_t prompt, output, concurrency;
	const char *cluster;
};

struct server_commands {
	int count;
	struct server_load load;
	struct server_command item[MAX_COMMANDS];
};

/* One server of a plan of pools: where it stands. */
struct server_place {
	enum role role;
	int64_t node, number; /* its first node; which server of that node */
	int64_t gpu, gpus;    /* its first GPU there, and how many it has */
	int port;
	char host[32]; /* "127.0.0.1", or "${HOST[3]}" of a script for several nodes */
};

/* A command that is given on several nodes: how many, and copies of the attention that
 * each of them runs where it does ($START is the first of a node's). */
struct node_share {
	int64_t nodes, copies;
};

/* What is planned and decides a flag: requests that a copy of the attention decodes at
 * once, tokens that its cache holds; 0 = not known. */
struct planned {
	double batch, kv_tokens;
};

/* The way back: flags in the order of writing. */
struct tool_writer {
	const struct scenario *scenario; /* of this command: its pool alone */
	enum role role;
	const char *checkpoint; /* whose name may tell the precision */
	int64_t engines;
	struct node_share *spread; /* a tool writes it */
	struct planned planned;
	const struct server_place *at; /* beside others, else NULL */
	bool again;                    /* after another with the same YAML */
	char place[512];               /* variables before the command: GPUs, ports */
	struct entries *flags;
	struct export_out *out; /* what can't be said */
};

struct tool {
	const char *name, *stack;
	const char *launch; /* "vllm serve": for messages, and before the flags */
	const char *sign;   /* that a quoted script holds such a command */
	char joint;         /* between the words of a flag: '-' or '_' */
	/* Index of the first word behind the launcher, 0 = this starts no server. */
	int (*starts)(const struct shell_word *words, int count);
	const char *const *model_flags; /* that name the checkpoint */
	const char *const *aliases;     /* another name, then the one of rows */
	const struct mapping *rows;
	const char *const *others;   /* understood beside rows */
	const char *const *drafts;   /* of these, the kind of speculation */
	const char *const *switches; /* unmodelled flags without a value */
	const char *const *objects;  /* flags whose JSON has modelled members */
	const char *const *lists;    /* of words, in the YAML beside the command */
	const char *const *launcher; /* that only say where a process runs */
	/* Flags of the command; other keys go into a YAML that file_flag names. NULL:
	 * all are flags. */
	const char *const *cli_keys;
	const char *file_flag;
	/* That names a YAML with flags of the command, which go before. NULL: none. */
	const char *settings_flag;
	const char *degree_flag; /* TP, which that YAML may hold */
	/* Variables of the environment that a command with such flags reads; they
	 * become flags of these names. NULL: none. */
	const char *const *variables;
	bool (*reads_variables)(const struct pairs *flags);
	const char *role_flag; /* of a disaggregated server, and its words */
	const char *roles[ROLE_COUNT];
	/* Whether a command starts one engine, of however many. */
	bool (*starts_one)(const struct scenario *scenario);
	/* What stands between the clients and servers that are alike, or both pools. */
	void (*put_alike)(FILE *stream, const struct server_place *list, int count);
	void (*put_pools)(FILE *stream, const struct server_place *list, int count);
	/* Of a server of a pool: its side channel, what lets other nodes reach it. */
	void (*put_channel)(struct tool_writer *w);
	/* Over several nodes: a flag of all but the first, or what starts the command
	 * from the first on all of them. */
	const char *later;
	void (*put_launcher)(const struct tool_writer *w);
	/* Degrees, engines (into the knob gpus), precision, speculation. */
	bool (*read)(const struct mapped *m, const char *checkpoint);
	void (*write)(const struct tool_writer *w);
	/* Once flags that came with the file stand beside them; NULL: nothing. */
	void (*settle)(struct tool_writer *w);
	/* Knobs of its own beside rows and those that all tools have; NULL: none. */
	const char *const *more_knobs;
};

extern const struct tool tool_vllm, tool_sglang, tool_trtllm;

/* --- commands.c --- */
/* All commands of a script, or the keys of a YAML as one; false with FILE:LINE where
 * there are none. */
bool commands_read(const struct tool *tool, const char *file, const char *text,
		   size_t length, struct server_commands *out,
		   struct import_report *report, struct error *error);
void commands_free(struct server_commands *commands);

/* --- flags.c --- */
/* Whether the last part of a path is this. */
bool word_is_program(const char *word, const char *program);
bool word_is_flag(const char *word);
/* "docker pull vllm/vllm-openai" names what would start a server, and has none. */
bool words_have_flag(const struct shell_word *words, int count);
/* The tool's own name of a flag or key: no dashes in front, one joint, no alias. */
void tool_key(const struct tool *tool, const char *name, char out[128]);
const struct mapping *tool_row(const struct tool *tool, const char *key);
/* The words that belong to a flag: none, one, or for an unknown one all there are.
 * Returns how many. */
int tool_values(const struct tool *tool, const char *key,
		const struct shell_word *words, int count, char value[4096]);

/* --- beside.c --- */
/* The YAML of this name in the folder of that file; false where there is none. */
bool beside_read(struct pairs *out, const char *file, const char *name);

/* --- manifest.c --- */
/* The containers of a file for Kubernetes as a script with the same lines, to be freed;
 * NULL where it is none. */
char *manifest_script(const struct tool *tool, const char *file, const char *text,
		      size_t length);
/* False with what is wrong with it as YAML, where a text is one of Kubernetes. */
bool manifest_is_whole(const char *file, const char *text, size_t length,
		       struct error *error);

/* --- slurm.c --- */
/* Whether a text is a recipe of srt-slurm. */
bool slurm_looks_like(const char *text, size_t length);
/* Its keys, to be freed; of several recipes in one file those of the one that is wanted
 * (variants.c). False with the error. */
bool slurm_recipe(struct pairs *out, const char *file, const char *text, size_t length,
		  const char *wanted, struct error *error);
/* Its machine and requests; false with the error. */
bool slurm_load(const struct pairs *recipe, struct server_load *out,
		struct import_report *report, struct error *error);
/* Fills flags, checkpoint, line and replicas of its workers of that role; false where
 * it has none of them for this tool. */
bool slurm_server(const struct tool *tool, const struct pairs *recipe, enum role role,
		  struct pairs *flags, struct server_command *out);

/* --- checkpoint.c --- */
/* How the published weights of this model are stored, unless the name of this
 * checkpoint tells another format; checkpoint may be NULL. */
const char *checkpoint_native(const struct model *model, const char *checkpoint);
/* The Hugging Face id of a model, or its name. */
const char *checkpoint_id(const struct model *model);

/* A command that only has a folder for its model serves what it is served as, where
 * that is a name of the library. */
void checkpoint_served(struct server_command *command, bool first,
		       struct import_report *report);

/* --- connectors.c --- */
#define CONNECTORS_FLAG "kv-transfer-config"
/* Members of this flag's JSON, those of several connectors in a list side by side; a
 * cache on the host as the flags or variables that say the same, "--NAME". False where
 * it is none, and nothing is to be freed. */
bool connectors_read(struct pairs *out, const char *file, const char *json);
/* Whether variables of LMCache mean something to a server with these flags. */
bool vllm_uses_lmcache(const struct pairs *flags);
/* The knob host_kv by whoever keeps a cache on the host; the same as flags, in a pool
 * beside who carries caches to the other. */
bool vllm_read_host(const struct mapped *m);
void vllm_write_host(const struct tool_writer *w);

/* --- lmcache.c --- */
#define LMCACHE_KEPT "LMCACHE_LOCAL_CPU"
#define LMCACHE_SIZE "LMCACHE_MAX_LOCAL_CPU_SIZE"
/* LMCache's settings as variables (LMCache/LMCache, lmcache/v1/config_base.py: the key
 * in capitals behind LMCACHE_), with a NULL at the end; the file that says them. */
extern const char *const lmcache_variables[], lmcache_file[];
/* The knob host_kv by LMCache's switch and size of these names, which may be absent. */
bool lmcache_host(const struct mapped *m, const char *kept_key, const char *size_key);
/* The same of a server's variables; the file that they name is not opened. */
bool lmcache_inside(const struct mapped *m);
/* A server that had LMCache by this flag has it again, of the planned size, in place of
 * its own cache by that one; without a size neither. False: it had none. */
bool lmcache_again(struct tool_writer *w, const char *key, const char *own);

/* --- adapters.c --- */
/* What a tool calls LoRA adapters that are held at once: the switch, how many, the rank
 * that there is room for, and what it takes by itself for both. */
struct adapter_words {
	const char *on, *count, *rank;
	const char
		*section; /* keys with this in front are the switch; NULL: none are */
	int64_t usual, usual_rank;
	const int64_t *ranks; /* one of these, up to a 0; NULL: any */
	/* Who has no adapter to look at is told beside which matrices they are: with an
	 * MLP, without, of latent attention. NULL: nobody asks. */
	const char *matrices, *dense, *attention, *latent;
};
/* The knobs adapters and adapter_rank; the same as flags. */
bool read_adapters(const struct mapped *m, const struct adapter_words *words);
void write_adapters(const struct tool_writer *w, const struct adapter_words *words);

/* --- sglang_host.c --- */
/* Whether variables of LMCache mean something to a server with these flags. */
bool sglang_uses_lmcache(const struct pairs *flags);
bool sglang_read_host(const struct mapped *m);
void sglang_write_host(const struct tool_writer *w);
void sglang_settle_host(struct tool_writer *w);

/* --- read.c --- */
/* How weights are stored: by quantisation (a word of words, NULL where absent), the
 * checkpoint's name, the dtype, the model's own format; in this order. */
bool read_precision(const struct mapped *m, const char *quantisation, const char *words,
		    const char *dtype, const char *checkpoint);
/* The knob gpus from the plan's degrees and a number of engines. */
bool read_engines(const struct mapped *m, int64_t engines, const struct pair *from);
/* Speculation by MTP layers or by a draft model, with so many tokens (0 = unsaid). */
bool read_speculation(const struct mapped *m, bool mtp, int64_t tokens);

/* The knob host_kv: bytes of each GPU's host memory; from where they are read. */
bool read_host_kv(const struct mapped *m, double bytes, const struct pair *from);
/* A number of a flag, 0 where it is absent; false where it is none. */
bool read_number(const struct mapped *m, const char *key, double *out);

/* --- write.c --- */
void write_flag(const struct tool_writer *w, const char *key, const char *value);
void write_count(const struct tool_writer *w, const char *key, int64_t value);
/* As if nothing had been written for this key. */
void write_without(const struct tool_writer *w, const char *key);
/* One that a flag of the file it was read from goes before. */
void write_default(const struct tool_writer *w, const char *key, const char *value);
/* The tool's word for the precision (words as in struct mapping), the dtype for
 * unquantised weights, or a remark. */
void write_precision(const struct tool_writer *w, const char *quantisation,
		     const char *words, const char *dtype);
/* What the tool can't say of a knob; in the pool that prefills, of its twin there. */
void write_unsaid(const struct tool_writer *w, const char *knob, const char *format,
		  ...) __attribute__((format(printf, 3, 4)));
/* How many nodes one command's ranks take, and that each is told which it is ($RANK,
 * from 0); false where one is enough. */
bool write_nodes(const struct tool_writer *w, int64_t ranks);

/* --- pools.c --- */
enum { MAX_PLACES = 64 };

/* Where the servers of both pools, or alike, stand, engine after engine, each on nodes
 * of its own or on one with others; returns how many they are, and of each pool how
 * many the plan has that do not fit into the list. */
int place_servers(const struct scenario *whole, struct server_place list[MAX_PLACES],
		  int64_t left[ROLE_COUNT]);
/* From one on, the end of those that begin on its node. */
int places_of_node(const struct server_place *list, int count, int first);
/* Whether the servers from a to its end are those from b to its end on another node. */
bool places_alike(const struct server_place *list, int count, int a, int b);
/* Each server of a role by a pattern, in which {host} and {port} stand for its own. */
void put_places(FILE *stream, const struct server_place *list, int count,
		enum role role, const char *pattern);
/* What deals requests out to servers that are alike: nginx, to who has the fewest
 * (vLLM, docs/deployment/nginx.md; several frontends of srt-slurm's recipes stand
 * behind one).
 */
void put_balancer(FILE *stream, const struct server_place *list, int count);
/* What stands between the clients and these servers. */
void put_front(const struct tool *tool, FILE *stream, const struct server_place *list,
	       int count);
/* The variables that a script for several nodes begins with. */
void put_nodes(FILE *stream, int64_t nodes);

#endif
