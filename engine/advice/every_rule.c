/* every_rule.c - every rule there is, for those who name one by its code. */
#include "engine/advice/advice.h"
#include "engine/advice/rules.h"
#include "engine/rules/rules.h"
#include "engine/serve/serve.h"
#include "engine/train/train.h"

const struct rule *rule_at(int index)
{
	if (index < 0)
		return NULL;
	if (index < legality_count())
		return &legality_table[index].rule;
	index -= legality_count();
	if (index < serving_rules())
		return &serving_table[index].rule;
	index -= serving_rules();
	for (int i = 0; serve_note(i); i++)
		if (index-- == 0)
			return serve_note(i);
	for (int i = 0; estimate_note(i); i++)
		if (index-- == 0)
			return estimate_note(i);
	for (int i = 0; train_note(i); i++)
		if (index-- == 0)
			return train_note(i);
	if (index < advice_move_count())
		return &advice_moves[index].rule;
	index -= advice_move_count();
	if (index < advice_serving_move_count())
		return &advice_serving_moves[index].rule;
	index -= advice_serving_move_count();
	if (index < advice_serving_note_count())
		return &advice_serving_notes[index].rule;
	index -= advice_serving_note_count();
	return index < advice_note_count() ? &advice_note(index)->rule : NULL;
}
