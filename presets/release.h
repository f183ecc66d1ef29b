/* release.h - a stack as one of its releases had it.
 *
 * A stack's YAML states its newest release, and under `releases` what was otherwise
 * before one, the newest change first:
 *
 *   releases:
 *   - {before: 0.20.0, date: 2026-04-21, memory_share: 0.9}
 *
 * Whoever asks for 0.19.1, or for 2026-03-01, gets every change of a later release
 * taken back.
 */
#ifndef PRESETS_RELEASE_H
#define PRESETS_RELEASE_H

#include "engine/plan/scenario.h"
#include "presets/document.h"

/* Where a name such as "vllm@0.19.1" has its release, or NULL. */
const char *release_of(const char *name);
/* Whether two names are those of one stack, whatever their releases. */
bool release_same_stack(const char *a, const char *b);
/* Whether it is one: a number such as 0.19.1, or a date such as 2026-03-01. */
bool release_is_known(const char *release);
/* Whether a stack's name asks for a release before that one, of that day; a name
 * without a release does not. */
bool release_is_before(const char *name, const char *number, const char *date);
/* Takes back what came after it. False with the error where the stack knows of no
 * releases, or has one that can't be read. */
bool release_take_back(const struct document *document, const struct node *stack,
		       const char *release, struct scenario *scenario,
		       struct error *error);

/* What release_take_back() sets, for a person: "host_overlap off, memory_share 0.9";
 * empty where nothing is otherwise. */
void release_tell(const struct node *stack, const char *release, char *out,
		  size_t size);

#endif
