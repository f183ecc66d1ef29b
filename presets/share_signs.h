/* share_signs.h - texts in the signs of a shared line: letters, digits and a few more
 * that are safe everywhere, the others as %XX.
 */
#ifndef PRESETS_SHARE_SIGNS_H
#define PRESETS_SHARE_SIGNS_H

#include <stdbool.h>
#include <stdio.h>

bool share_is_plain(char c);
void share_put(FILE *stream, const char *text);
/* In place; false where a sign is broken, or stands for a zero. */
bool share_unescape(char *text);

#endif
