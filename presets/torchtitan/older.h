/* older.h - degrees under [training] and [experimental], as torchtitan had them first.
 */
#ifndef PRESETS_TORCHTITAN_OLDER_H
#define PRESETS_TORCHTITAN_OLDER_H

#include "presets/pairs/pairs.h"

/* Gives such keys the names that they have had since. */
void older_spell(struct pairs *pairs);

#endif
