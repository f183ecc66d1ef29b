/* lint.c - see lint.h. */
#include "presets/lint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "engine/advice/advice.h"
#include "engine/predict/predict.h"
#include "engine/rules/ability.h"
#include "presets/document.h"
#include "presets/folder.h"
#include "presets/report.h"

/* Not a rule of any stack: the fullest stage is above the memory. */
static const struct rule memory_rule = {
	"OOM", SEVERITY_ERROR, "",
	"what the fullest stage holds: shardscope explain total_bytes"
};

static const char *const levels[] = { "error", "warning", "hint", "off" };

const char *lint_level_label(enum lint_level level)
{
	return (unsigned)level < LINT_LEVEL_COUNT ? levels[level] : "";
}

static bool is_code(const char *code)
{
	const struct rule *rule = &memory_rule;

	for (int i = 0; rule; rule = rule_at(i++))
		if (strcmp(rule->code, code) == 0)
			return true;
	return false;
}

static bool read_level(const struct document *document, const struct node *node,
		       struct lint_rules *out, struct error *error)
{
	if (!is_code(node->key))
		return error_set(error, document->file, node->line,
				 "no rule '%.40s'; shardscope list rules shows those "
				 "there are",
				 node->key);
	for (int level = 0; node->kind == NODE_SCALAR && level < LINT_LEVEL_COUNT;
	     level++) {
		if (strcmp(levels[level], node->text) != 0)
			continue;
		snprintf(out->item[out->count].code, sizeof out->item[0].code, "%s",
			 node->key);
		out->item[out->count++].level = (enum lint_level)level;
		return true;
	}
	return error_set(error, document->file, node->line,
			 "%s: expected error, warning, hint or off", node->key);
}

static bool read_rules(const struct document *document, struct lint_rules *out,
		       struct error *error)
{
	const struct node *format = node_get(document->root, "format"),
			  *rules = node_get(document->root, "rules");
	int64_t number = 1;

	out->count = 0;
	if (format && !node_count(document, format, &number, error))
		return false;
	if (number != 1)
		return error_set(error, document->file, format->line,
				 "format %lld; this shardscope reads format 1",
				 (long long)number);
	if (!rules || rules->kind != NODE_MAP)
		return error_set(
			error, document->file,
			rules ? rules->line : document->root->line,
			"expected rules: with a code and a level in each line");
	if (rules->count > MAX_LINT_RULES)
		return error_set(error, document->file, rules->line,
				 "more than %d rules", MAX_LINT_RULES);
	for (const struct node *node = rules->child; node; node = node->next)
		if (!read_level(document, node, out, error))
			return false;
	return true;
}

bool lint_rules_parse(struct lint_rules *out, const char *name, const char *text,
		      size_t length, struct error *error)
{
	struct document document;
	bool good;

	if (!document_parse(&document, name, text, length, error))
		return false;
	good = read_rules(&document, out, error);
	document_free(&document);
	return good;
}

bool lint_rules_read(struct lint_rules *out, const char *path, struct error *error)
{
	struct document document;
	bool good;

	if (!document_read(&document, path, error))
		return false;
	good = read_rules(&document, out, error);
	document_free(&document);
	return good;
}

bool lint_rules_own(struct lint_rules *out, struct error *error)
{
	char path[512];

	out->count = 0;
	if (!folder_config(path, sizeof path, "rules.yaml") || access(path, F_OK) != 0)
		return true;
	return lint_rules_read(out, path, error);
}

/* As the user says, or else as the rule does. */
static enum lint_level level_of(const struct lint_rules *rules, const struct rule *rule,
				enum lint_level otherwise)
{
	for (int i = 0; i < rules->count; i++)
		if (strcmp(rules->item[i].code, rule->code) == 0)
			return rules->item[i].level;
	return otherwise;
}

static struct lint_item *add(struct lint *out, const struct rule *rule,
			     enum lint_level level)
{
	struct lint_item *item = &out->item[out->count];

	if (level == LINT_OFF || out->count == MAX_LINT_ITEMS)
		return NULL;
	memset(item, 0, sizeof *item);
	snprintf(item->code, sizeof item->code, "%s", rule->code);
	rule_source(rule, item->source, sizeof item->source);
	item->level = level;
	out->errors += level == LINT_ERROR;
	out->count++;
	return item;
}

static void add_findings(struct lint *out, const struct findings *findings,
			 const struct lint_rules *rules, bool only_named)
{
	for (int i = 0; i < findings->count; i++) {
		const struct finding *f = &findings->item[i];
		enum lint_level own = (enum lint_level)f->rule->severity;
		struct lint_item *item =
			add(out, f->rule,
			    level_of(rules, f->rule, only_named ? LINT_OFF : own));

		if (!item)
			continue;
		item->finding = f;
		finding_text(f, item->text, sizeof item->text);
		finding_remedy(f, item->remedy, sizeof item->remedy);
	}
}

/* What the plan asks of a stack that the stack has not. */
static void add_lacks(struct lint *out, const struct scenario *scenario,
		      const struct lint_rules *rules)
{
	const struct rule *rule = ability_rule();
	struct lacks lacks;

	scenario_lacks(scenario, &lacks);
	for (int i = 0; i < lacks.count; i++) {
		struct lack *lack = &lacks.item[i];
		struct lint_item *item =
			add(out, rule, level_of(rules, rule, LINT_ERROR));

		if (!item)
			continue;
		lack_mend(scenario, lack);
		item->lack = *lack;
		lack_text(scenario, lack, item->text, sizeof item->text);
		lack_remedy(lack, item->remedy, sizeof item->remedy);
		lack_source(scenario, lack->row, item->source, sizeof item->source);
	}
}

static void add_memory(struct lint *out, const struct scenario *scenario,
		       const struct estimate *e, const struct lint_rules *rules,
		       struct estimate *scratch)
{
	enum lint_level usual = e->unsure ? LINT_WARNING : LINT_ERROR;
	struct lint_item *item =
		add(out, &memory_rule, level_of(rules, &memory_rule, usual));
	char total[32], capacity[32];
	size_t used = 0;

	if (!item)
		return;
	form_text(FORM_BYTES, e->memory.total_bytes, total, sizeof total);
	form_text(FORM_BYTES, e->capacity_bytes, capacity, sizeof capacity);
	snprintf(item->text, sizeof item->text, "stage %d %s %s of %s%s",
		 e->fullest_stage, e->unsure ? "may need" : "needs", total, capacity,
		 e->unsure ? ": nobody measured this accelerator" : "");
	item->mends = whatif_mends(scenario, scratch, item->mend);
	for (int i = 0; i < item->mends && used < sizeof item->remedy; i++) {
		char value[48];

		const struct whatif_mend *m = &item->mend[i];

		knob_print_value(m->knob, m->value, value, sizeof value);
		used += (size_t)snprintf(item->remedy + used,
					 sizeof item->remedy - used, "%s%s %s",
					 used ? ", or " : "", m->knob->key, value);
	}
}

/* What a value of the remedy gives: alone, but for what nobody gave, which is chosen
 * anew for it, as the command that takes the remedy will. */
static void weigh(const struct scenario *scenario, const struct start *start,
		  const struct knob *knob, double value, struct estimate *scratch,
		  struct lint_item *item)
{
	struct whatif_cost *cost = &item->cost[item->costs];
	struct scenario trial;

	if (!start_again(start, scenario, knob, value, &trial))
		return;
	whatif_cost(&trial, knob, value, scratch, cost);
	item->costs += cost->knob != NULL;
}

/* Of a degree whose nearest values do not fit, the best of those further away, first:
 * as the explorer offers it. */
static void weigh_further(const struct scenario *scenario, const struct start *start,
			  struct estimate *scratch, struct lint_item *item)
{
	const struct finding *f = item->finding;
	const struct knob *knob = f && f->knob ? knob_find(f->knob) : NULL;
	int count = item->costs;
	struct whatif_cost further;
	struct whatif_mend best;

	for (int k = 0; k < count; k++)
		if (item->cost[k].fits)
			return;
	if (count == 0 || !knob || knob->group != GROUP_PARALLELISM ||
	    !whatif_best(scenario, knob, scratch, &best))
		return;
	weigh(scenario, start, knob, best.value, scratch, item);
	if (item->costs == count)
		return;
	further = item->cost[count];
	memmove(item->cost + 1, item->cost, (size_t)count * sizeof item->cost[0]);
	item->cost[0] = further;
}

static void weigh_all(const struct scenario *scenario, const struct start *start,
		      struct estimate *scratch, struct lint *out)
{
	for (int i = 0; i < out->count; i++) {
		struct lint_item *item = &out->item[i];
		const struct finding *f = item->finding;

		if (item->level == LINT_HINT)
			continue;
		for (int k = 0; f && f->knob && k < f->nearest_count; k++)
			weigh(scenario, start, knob_find(f->knob), f->nearest[k],
			      scratch, item);
		weigh_further(scenario, start, scratch, item);
		for (int k = 0; item->lack.row && k < item->lack.nearest_count; k++)
			weigh(scenario, start, item->lack.knob, item->lack.nearest[k],
			      scratch, item);
		for (int k = 0; k < item->mends; k++)
			weigh(scenario, start, item->mend[k].knob, item->mend[k].value,
			      scratch, item);
	}
}

/* Errors first; within a level the order stays. */
static void sort(struct lint *out)
{
	for (int i = 1; i < out->count; i++)
		for (int j = i; j > 0 && out->item[j].level < out->item[j - 1].level;
		     j--) {
			struct lint_item item = out->item[j];

			out->item[j] = out->item[j - 1];
			out->item[j - 1] = item;
		}
}

void lint_run(const struct scenario *scenario, const struct start *start,
	      const struct estimate *estimate, const struct lint_rules *rules,
	      struct estimate *scratch, struct lint *out)
{
	out->count = out->errors = 0;
	out->advice.count = 0;
	add_findings(out, &estimate->problems, rules, false);
	add_lacks(out, scenario, rules);
	if (estimate_is_too_large(estimate))
		add_memory(out, scenario, estimate, rules, scratch);
	if (estimate->legal && rules->count > 0) {
		advice_give(scenario, estimate, &out->advice);
		add_findings(out, &out->advice, rules, true);
	}
	weigh_all(scenario, start, scratch, out);
	whatif_gpus(scenario, scratch, &out->gpus);
	sort(out);
}

static void add_gpus(cJSON *object, const char *key, int64_t count)
{
	if (count > 0)
		cJSON_AddNumberToObject(object, key, (double)count);
	else
		cJSON_AddNullToObject(object, key);
}

/* One value of each knob that would make it fit. */
static cJSON *nearest(const struct lint_item *item)
{
	cJSON *object;

	if (item->finding)
		return report_nearest(item->finding);
	if (item->lack.knob) {
		struct finding all = { .knob = item->lack.knob->key,
				       .nearest_count = item->lack.nearest_count };

		memcpy(all.nearest, item->lack.nearest, sizeof all.nearest);
		return report_nearest(&all);
	}
	object = cJSON_CreateObject();
	for (int i = 0; i < item->mends; i++) {
		struct finding one = { .knob = item->mend[i].knob->key,
				       .nearest = { item->mend[i].value },
				       .nearest_count = 1 };
		cJSON *found = report_nearest(&one);

		cJSON_AddItemToObject(object, one.knob,
				      cJSON_DetachItemFromObject(found, one.knob));
		cJSON_Delete(found);
	}
	return object;
}

/* What each value of the remedy gives. */
static cJSON *costs(const struct lint_item *item)
{
	cJSON *list = cJSON_CreateArray();
	char value[48];

	for (int i = 0; i < item->costs; i++) {
		const struct whatif_cost *cost = &item->cost[i];
		cJSON *object = cJSON_CreateObject();

		knob_print_value(cost->knob, cost->value, value, sizeof value);
		cJSON_AddStringToObject(object, "knob", cost->knob->key);
		cJSON_AddStringToObject(object, "value", value);
		cJSON_AddBoolToObject(object, "legal", cost->legal);
		cJSON_AddBoolToObject(object, "feasible", cost->fits);
		if (cost->legal) {
			cJSON_AddNumberToObject(object, "tokens_per_second_per_gpu",
						cost->tokens_per_second_per_gpu);
			cJSON_AddNumberToObject(object, "memory_bytes",
						cost->memory_bytes);
		}
		cJSON_AddItemToArray(list, object);
	}
	return list;
}

static cJSON *problems(const struct lint *lint)
{
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < lint->count; i++) {
		const struct lint_item *item = &lint->item[i];
		cJSON *object = cJSON_CreateObject();

		cJSON_AddStringToObject(object, "code", item->code);
		cJSON_AddStringToObject(object, "severity",
					lint_level_label(item->level));
		cJSON_AddStringToObject(object, "text", item->text);
		cJSON_AddStringToObject(object, "source", item->source);
		cJSON_AddItemToObject(object, "nearest", nearest(item));
		cJSON_AddStringToObject(object, "remedy", item->remedy);
		cJSON_AddItemToObject(object, "remedies", costs(item));
		cJSON_AddItemToArray(list, object);
	}
	return list;
}

char *lint_json(const struct scenario *scenario, const struct estimate *estimate,
		const struct start *start, const struct lint *lint)
{
	cJSON *root = report_object(scenario, estimate), *gpus;

	cJSON_AddBoolToObject(root, "ok", lint->errors == 0);
	cJSON_ReplaceItemInObject(root, "problems", problems(lint));
	report_start(root, start, scenario);
	gpus = cJSON_AddObjectToObject(root, "smallest_gpus");
	add_gpus(gpus, "degrees", lint->gpus.degrees);
	add_gpus(gpus, "legal", lint->gpus.legal);
	add_gpus(gpus, "fits", lint->gpus.fits);
	return report_print(root, false);
}
