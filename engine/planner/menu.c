/* menu.c - shapes, modes and ways to hold states before a node is known: each once, as
 * far as that can be said without degrees. */
#include <string.h>

#include "engine/planner/search.h"
#include "engine/schedule/schedule.h"

void search_get(const struct plan *plan, struct inner *out)
{
	*out = (struct inner){ .schedule = plan->schedule,
			       .split = plan->split,
			       .vpp = plan->vpp,
			       .micro_batch_group = plan->micro_batch_group,
			       .recompute = plan->recompute,
			       .recompute_layers = plan->recompute_layers,
			       .recompute_modules = plan->recompute_modules,
			       .activation_offload = plan->activation_offload,
			       .zero = plan->zero,
			       .zero_group = plan->zero_group,
			       .optimizer_offload = plan->optimizer_offload };
}

void search_put(const struct inner *inner, enum role role, struct plan *plan)
{
	if (role == ROLE_SHAPE) {
		plan->schedule = inner->schedule;
		plan->split = inner->split;
		plan->vpp = inner->vpp;
		plan->micro_batch_group = inner->micro_batch_group;
	} else if (role == ROLE_MODE) {
		plan->recompute = inner->recompute;
		plan->recompute_layers = inner->recompute_layers;
		plan->recompute_modules = inner->recompute_modules;
		plan->activation_offload = inner->activation_offload;
	} else {
		plan->zero = inner->zero;
		plan->zero_group = inner->zero_group;
		plan->optimizer_offload = inner->optimizer_offload;
	}
}

/* Knobs that neither rules nor the estimate look at, beside the others of their role,
 * are set to one value. A layout string has chunks of its own and is left alone. */
static void blank_unread(struct inner *inner)
{
	if (inner->split != SPLIT_CUSTOM && !schedule_takes_chunks(inner->schedule))
		inner->vpp = 1;
	if (inner->schedule != SCHEDULE_INTERLEAVED)
		inner->micro_batch_group = 0;
	if (inner->recompute == RECOMPUTE_NONE)
		inner->recompute_layers = 0;
	if (inner->recompute != RECOMPUTE_SELECTIVE)
		inner->recompute_modules = 0;
	if (inner->zero == 0)
		inner->zero_group = 0;
}

static bool is_same(const struct inner *a, const struct inner *b)
{
	return a->schedule == b->schedule && a->split == b->split &&
	       a->recompute == b->recompute && a->vpp == b->vpp &&
	       a->micro_batch_group == b->micro_batch_group &&
	       a->recompute_layers == b->recompute_layers && a->zero == b->zero &&
	       a->zero_group == b->zero_group &&
	       a->recompute_modules == b->recompute_modules &&
	       a->activation_offload == b->activation_offload &&
	       a->optimizer_offload == b->optimizer_offload;
}

/* The one that this comes to, or NULL. Knobs of other roles stand still meanwhile. */
static struct option *find_twin(const struct options *menu, const struct inner *blanked)
{
	for (int i = menu->count - 1; i >= 0; i--) {
		struct inner other = menu->item[i].inner;

		blank_unread(&other);
		if (is_same(&other, blanked))
			return &menu->item[i];
	}
	return NULL;
}

/* The rule that it breaks in every node, or -1. */
static int broken_everywhere(const struct planner *p, enum role role)
{
	const struct scenario *s = &p->trial->scenario;
	struct facts facts;

	if (p->menu_rules[role].count == 0 || !rules_countable(s))
		return -1;
	rules_derive(s, &facts);
	return search_broken(p, &p->menu_rules[role], &facts);
}

static bool list_options(struct planner *p, enum role role)
{
	struct scenario *s = &p->trial->scenario;
	struct options *menu = &p->menu[role];
	struct option option = { .times = 1 };

	do {
		struct inner blanked;
		struct option *first;

		search_apply(p, option.choice, role, s);
		search_get(&s->plan, &option.inner);
		blanked = option.inner;
		blank_unread(&blanked);
		first = find_twin(menu, &blanked);
		if (first) {
			first->times++;
			continue;
		}
		if (!search_grow(p, (void **)&menu->item, menu->count, &menu->capacity,
				 sizeof option))
			return false;
		option.row = broken_everywhere(p, role);
		menu->item[menu->count++] = option;
	} while (search_advance(p, option.choice, role));
	return true;
}

bool search_menu(struct planner *p)
{
	p->trial->scenario = p->problem.base;
	return list_options(p, ROLE_SHAPE) && list_options(p, ROLE_MODE) &&
	       list_options(p, ROLE_STATE);
}
