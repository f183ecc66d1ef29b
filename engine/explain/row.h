/* row.h - what the files of explain share: one row for each number. */
#ifndef ENGINE_EXPLAIN_ROW_H
#define ENGINE_EXPLAIN_ROW_H

#include "engine/explain/explain.h"
#include "engine/schedule/law.h"
#include "engine/serve/serve_parts.h"
#include "engine/train/step.h"

/* The source of a number that is what its formula says, and no more. */
#define EXPLAIN_DEFINITION "a definition: the formula is all of it"

/* The passes of a server at its working point: the first and last ones over a prompt
 * have what its budget of tokens allows, and what is left. */
enum explained_pass { PASS_DECODE, PASS_MIXED, PASS_WHOLE, PASS_REST, PASS_COUNT };
struct explain_pass {
	bool exists, halved; /* as two halves that take turns */
	const struct server *server;
	struct batch batch;
	struct pass cost;
};

/* The step that an estimate of training was made of, made once more where a key asks
 * for something below the estimate. */
struct explain_facts {
	const struct scenario *scenario; /* as it is reckoned, maybe in the room */
	struct scenario room;
	bool known, legal;
	int part; /* whose graph this is, costed; -1 = none */
	struct graph graph;
	struct layer_cost cost; /* of the graph, without whole recomputation */
	union {
		struct { /* of training */
			struct whole_step whole;
			struct estimate again;
		};
		struct { /* of a server */
			struct serving_run run;
			struct explain_pass pass[PASS_COUNT];
			struct pass prompt;  /* that Overview tells of */
			double whole_passes; /* that a prompt fills */
		};
	};
};

/* Why an explanation ends at a number: the formula of a row without terms. */
#define EXPLAIN_COUNTED   "none: counted as the model is drawn, dealt out and placed"
#define EXPLAIN_SIMULATED "none: what a simulation returned"
#define EXPLAIN_FITTED    "none: as far as measured runs lay from their prediction"

/* What a row's terms are taken from. */
struct asked {
	const struct scenario *scenario, *given; /* as it is reckoned; the caller's */
	const struct estimate *estimate;
	struct explain_facts *facts;
	enum dimension dimension; /* of "tp.bytes" */
	int stage, last;          /* of "stages.3.total_bytes", "stages.0-15.…" */
	int chunk;                /* of "chunks.7.forward_seconds" */
	int part;    /* of "kinds.0.…", "embedding.…": see step_parts() */
	int op;      /* of "kinds.0.operators.4.forward_seconds" */
	int kind;    /* of "model.kinds.0.mixer_parameters" */
	int pass;    /* of "passes.mixed.seconds", counted from 1; 0 = of none */
	int traffic; /* of "traffic.3.seconds", or of a pass */
	enum algorithm algorithm; /* of "traffic.3.by.ring.seconds" */
	const struct term *term;  /* of "stages.3.logits_bytes" */
	const char *key; /* as it is asked, of which the place has so many letters */
	int place;
};

struct explain_row {
	const char *key;
	const char *title, *formula;
	const char *assumption, *source; /* NULL: as most numbers of explain_say() */
	/* Adds the terms, and may write the formula. */
	void (*fill)(const struct asked *asked, struct explanation *out);
	/* The same terms in every scenario, as TERMS() lists them. With neither an
	 * explanation ends here, and the formula says why. */
	const struct formula_link *terms;
};

#define TERMS(...)                       \
	(const struct formula_link[])    \
	{                                \
		__VA_ARGS__,             \
		{                        \
			NULL, NULL, NULL \
		}                        \
	}

/* A number that no table of engine/estimate has. */
struct explain_node {
	struct explain_row row;
	enum form form;
	double (*value)(const struct asked *asked);
};

/* A row of nodes, which names its source or is put together by the definitions. */
#define NODE_FROM(from, name, words, unit, of, terms, text, about)               \
	{                                                                        \
		.row.key = name, .row.title = words, .form = unit, .value = of,  \
		.row.fill = terms, .row.formula = text, .row.assumption = about, \
		.row.source = from                                               \
	}
#define NODE(...) NODE_FROM(NODE_SOURCE, __VA_ARGS__)
/* The same with its formula and, in the end, terms that are always these. */
#define NODE_OF_FROM(from, name, words, unit, of, text, about, ...)               \
	{                                                                         \
		.row.key = name, .row.title = words, .form = unit, .value = of,   \
		.row.formula = text, .row.assumption = about, .row.source = from, \
		.row.terms = TERMS(__VA_ARGS__)                                   \
	}
#define NODE_OF(...) NODE_OF_FROM(NODE_SOURCE, __VA_ARGS__)
/* A file whose nodes have a source of their own defines it anew. */
#define NODE_SOURCE NULL
/* The value of a node, of the asked number `a`. */
#define VALUE(name, expression)                   \
	static double name(const struct asked *a) \
	{                                         \
		return expression;                \
	}
/* What fills a page by one call. */
#define FILL(name, call)                                                 \
	static void name(const struct asked *a, struct explanation *out) \
	{                                                                \
		call;                                                    \
	}
/* Layers of a kind, as the split dealt them out. */
#define EXPLAIN_DEALT(title, of)                                                     \
	NODE_FROM("a count over the layers of a stage", "layers", title, FORM_COUNT, \
		  of, NULL, EXPLAIN_COUNTED, "Dealt out by the split (knob split).")

/* Rows of a dimension's traffic that a step and a pass of a server have alike. */
#define EXPLAIN_SENT_SOURCE \
	"Thakur et al. 2005; nccl-tests PERFORMANCE.md (bus bandwidth factors)"
/* Time of a call: a latency for each hop, and its bytes over a bandwidth. */
#define EXPLAIN_LINK_SOURCE \
	"latency and bandwidth of a link: Hockney 1994; presets/clusters: collectives"
#define EXPLAIN_NETWORK_ROW                                                    \
	{                                                                      \
		"network_bytes", "Of them across the network", NULL,           \
			"The rest stays inside the fast domain. Of an all-to-" \
			"all, as many copies of a token as its dispatcher "    \
			"sends out.",                                          \
			EXPLAIN_SENT_SOURCE, .fill = explain_network           \
	}
#define EXPLAIN_PAYLOAD_ROW                                                \
	{                                                                  \
		"payload_bytes", "Payload", NULL,                          \
			"Without what an algorithm sends more than once.", \
			EXPLAIN_SENT_SOURCE, .fill = explain_payload       \
	}

/* Each ends with a row whose key is NULL. */
extern const struct explain_row explain_totals[], explain_run[];
extern const struct explain_row explain_memory[];     /* of a stage, and in all */
extern const struct explain_row explain_times[];      /* of a stage */
extern const struct explain_row explain_dimensions[]; /* behind the dot */
/* In mode inference, before the others: of a stage and in all; behind the dot. */
extern const struct explain_row explain_serving[], explain_serving_memory[];
extern const struct explain_row explain_serving_dimensions[];
/* Below the estimate. */
extern const struct explain_node explain_stage[], explain_stage_kind[], explain_chunk[],
	explain_chunk_kind[], explain_layer[], explain_operator[], explain_traffic[],
	explain_algorithm[], explain_degrees_nodes[], explain_states[],
	explain_machine[], explain_rates[], explain_stage_times[],
	explain_serving_nodes[], explain_serving_plan[], explain_serving_waits[],
	explain_pass_nodes[], explain_stage_shown[], explain_traffic_part[],
	explain_pass_operator[], explain_exposure[], explain_model[],
	explain_model_kind[];

/* What a key leads to. */
struct explain_number {
	const char *title;
	const struct explain_row *row; /* NULL: a knob or a constant */
	enum form form;
	double value;
	struct asked asked;
};
bool explain_find(const struct asked *asked, const char *key,
		  struct explain_number *out);

/* Of the asked part of the model: "kinds.2", "embedding" or "head". */
const char *explain_part(const struct asked *asked, char out[32]);
/* A term that is a member of the asked operator: "kinds.2.operators.4." + member. */
void explain_operator_term(const struct asked *asked, struct explanation *out,
			   const char *symbol, const char *meaning, const char *member);

/* One more term of the formula, with the value that the key has. A key that begins
 * with a point is one of the same place: of "stages.3.busy_seconds", or of the fullest
 * stage's busy_seconds, ".idle_seconds" is "stages.3.idle_seconds". */
void explain_from(const struct asked *asked, struct explanation *out,
		  const char *symbol, const char *meaning, const char *key, ...)
	__attribute__((format(printf, 5, 6)));
/* One of the same place. */
static inline void own(const struct asked *a, struct explanation *out,
		       const char *symbol, const char *meaning, const char *member)
{
	explain_from(a, out, symbol, meaning, ".%s", member);
}
/* A term that the formula does not use, beside those that it does. */
void explain_beside(struct explanation *out, const char *symbol, const char *meaning,
		    enum form form, double value, const char *key);
/* A name as the symbol of a term: "attention output" is attention_output, and
 * attention_output_2 where an earlier term has that. */
enum { EXPLAIN_MAX_SYMBOL = 24 };
void explain_symbol(const struct explanation *out, const char *name,
		    char symbol[EXPLAIN_MAX_SYMBOL]);
/* Write on at the formula's end. */
void explain_say(struct explanation *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Write the formula in place of the row's; the text of a FORMULA(). */
void explain_formula(struct explanation *out, const char *text);

/* The value of a key, 0 where there is none. */
double explain_value(const struct asked *asked, const char *key, ...)
	__attribute__((format(printf, 2, 3)));
/* "a + b + c" of one member over a range of places: prefix "kinds.0.operators", counts
 * of them; those that are 0 are left out, more than a formula holds are taken in
 * ranges ("stages.0-15.idle_seconds"). Writes "0" where none is left. */
void explain_sum(const struct asked *asked, struct explanation *out, const char *prefix,
		 int first, int last, const char *member, const char *meaning);

/* The mean over the stages of one of their members. */
void explain_mean(const struct asked *asked, struct explanation *out,
		  const char *member, const char *meaning);
/* A member of the chunks on the asked stage, "c0 + c4", scaled, of one copy. */
void explain_chunk_times(const struct asked *asked, struct explanation *out,
			 const char *member, const char *meaning);
bool explain_runs_on(const struct step *step, int k, int stage);
/* Layers of a kind on virtual stage k. */
int explain_layers_on(const struct step *step, int k, int kind);
double explain_scaled(const struct asked *asked, double seconds);
void explain_attention_rate(const struct asked *asked, struct explanation *out);
/* The model's parameters, all or those that a token meets. */
void explain_parameters(const struct asked *asked, struct explanation *out,
			bool active);

/* The step of the scenario, its parts alone, and the graph of asked->part; NULL where
 * the plan can't run. */
const struct whole_step *explain_whole(const struct asked *asked);
const struct step *explain_step(const struct asked *asked);
const struct graph *explain_graph(const struct asked *asked);
/* The same of a server, which has stood its estimate; facts->legal says so. */
const struct explain_facts *explain_server(const struct asked *asked);
/* What a measured run makes of times. */
/* Whether a scale of calibrate is at work: "compute_scale" ... */
bool explain_calibrated(const struct asked *asked, const char *key);
void explain_scale(const struct asked *asked, struct explanation *out);
/* " * stretch" behind the formula of a server's time, where a leap of its rate
 * stretches it. */
void explain_stretch(const struct asked *asked, struct explanation *out);

/* What chains of keys end at: a knob or a constant of the presets. False if there is
 * none of that key. */
bool explain_leaf(const struct asked *asked, const char *key, struct explanation *out);
bool explain_leaf_value(const struct scenario *scenario, const char *key,
			enum form *form, double *value);

/* The asked row of Traffic, or of the collectives of a pass, and its key, "traffic.3".
 */
const struct traffic *explain_traffic_row(const struct asked *a);
const char *explain_traffic_name(const struct asked *a, char out[EXPLAIN_MAX_KEY]);
/* The asked pass of a server, and its name, "mixed". */
const struct explain_pass *explain_pass_of(const struct asked *a);
const char *explain_pass_name(const struct asked *a);

/* One call of the asked row of Traffic by an algorithm; false where it does not apply.
 */
struct account;
bool explain_account(const struct asked *asked, enum algorithm algorithm,
		     struct account *out);
/* Whether the software would take it there by itself. */
bool explain_offers(const struct asked *asked, enum algorithm algorithm);
/* Terms of the seconds of a call, and beside them what other algorithms would take. */
void explain_call_seconds(const struct asked *asked, struct explanation *out);
/* And of the bytes that it sends, in all and across the network. */
void explain_call_sent(const struct asked *asked, struct explanation *out);
void explain_call_network(const struct asked *asked, struct explanation *out);
/* Of the asked virtual stage: what shows of its shards, and what they take. */
/* What a copy over the host's link takes beyond what hides it. */
void explain_offload(const struct asked *asked, struct explanation *out, bool forward);
void explain_copy_forward(const struct asked *asked, struct explanation *out);
void explain_copy_again(const struct asked *asked, struct explanation *out);
void explain_copy_gradients(const struct asked *asked, struct explanation *out);
void explain_shard_forward(const struct asked *asked, struct explanation *out);
void explain_shard_backward(const struct asked *asked, struct explanation *out);
/* Of a virtual stage, the member that tells what a backward gathers. */
const char *explain_again(const struct asked *asked);
void explain_gathers(const struct asked *asked, struct explanation *out);
void explain_scatters(const struct asked *asked, struct explanation *out);
/* The row of Traffic that has the calls of the asked operator. */
void explain_operator_call(const struct asked *asked, struct explanation *out);

/* What the papers say of the plan's schedule, and of which case: equal stages whose
 * forward, input and weight gradient take one third each. */
const struct schedule_law *explain_law(const struct asked *asked,
				       struct law_case *of_case);
/* The collectives of a dimension, of training and of a server. */
void explain_sent(const struct asked *asked, struct explanation *out);
void explain_network(const struct asked *asked, struct explanation *out);
void explain_payload(const struct asked *asked, struct explanation *out);
void explain_seconds(const struct asked *asked, struct explanation *out);
/* What nothing hides of the asked row of Traffic, and at the asked stage's end. */
void explain_shown(const struct asked *a, struct explanation *out);
void explain_sync(const struct asked *a, struct explanation *out);
void explain_unhidden(const struct asked *asked, struct explanation *out);

#endif
