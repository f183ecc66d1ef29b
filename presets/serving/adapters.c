/* adapters.c - LoRA adapters that a server holds at once: one reader and writer by a
 * table of each tool's words. */
#include <stdio.h>
#include <string.h>

#include "presets/serving/tool.h"

/* Where the tool has no switch, a section of that name is one. */
static bool is_on(const struct mapped *m, const struct adapter_words *words)
{
	size_t length = words->section ? strlen(words->section) : 0;

	for (int i = 0; i < m->pairs->count && length > 0; i++)
		if (strncmp(m->pairs->item[i].key, words->section, length) == 0)
			return true;
	return mapped_on(m, words->on);
}

bool read_adapters(const struct mapped *m, const struct adapter_words *words)
{
	int64_t adapters = words->usual, rank = words->usual_rank;
	const struct pair *most = mapped_find(m, words->count);

	if (!is_on(m, words))
		return true;
	if (words->section && !most)
		import_note(m->report, IMPORT_ASSUMED, "adapters",
			    "%lld: max_loras is not given", (long long)adapters);
	return mapped_count(m, words->count, &adapters) &&
	       mapped_count(m, words->rank, &rank) &&
	       mapped_set_count(m, "adapters", adapters, most) &&
	       mapped_set_count(m, "adapter_rank", rank, mapped_find(m, words->rank));
}

/* Beside which matrices there are adapters: those that the engine counts them for. */
static const char *matrices(const struct adapter_words *words, const struct model *m)
{
	if (m->kind[0].mixer == MIXER_MLA)
		return words->latent;
	return m->moe.experts > 0 ? words->attention : words->dense;
}

void write_adapters(const struct tool_writer *w, const struct adapter_words *words)
{
	const struct serving_plan *v = &w->scenario->plan.serving;
	const int64_t *ranks = words->ranks;
	int64_t rank = v->adapter_rank;

	if (v->adapters <= 0)
		return;
	/* the least that has room, else the largest: with another it does not start */
	for (; ranks && *ranks > 0; ranks++) {
		rank = *ranks;
		if (rank >= v->adapter_rank)
			break;
	}
	if (!words->section)
		write_flag(w, words->on, "");
	write_count(w, words->count, v->adapters);
	write_count(w, words->rank, rank);
	if (words->matrices)
		write_default(w, words->matrices, matrices(words, &w->scenario->model));
	if (rank != v->adapter_rank)
		write_unsaid(w, "adapter_rank", "%lld is none that the tool has",
			     (long long)v->adapter_rank);
}
