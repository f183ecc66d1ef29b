/* paste.c - text from the clipboard: typed where a field is open, as far as it is one
 * line that fits; dropped elsewhere, where its letters would be keys. */
#include <string.h>

#include "tui/explorer.h"
#include "tui/text.h"

static const struct field *open_field(const struct explorer *explorer)
{
	if (explorer->mode == MODE_PROMPT && !explorer->asking)
		return &explorer->field;
	return explorer->mode == MODE_PICKER ? &explorer->picker.filter : NULL;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static unsigned refuse(struct explorer *explorer, size_t bytes, const char *why)
{
	explorer_say(explorer, ROLE_WARNING, "%zu bytes pasted, but ignored: %s", bytes,
		     why);
	return CHANGED_SCREEN;
}

unsigned explorer_paste(struct explorer *explorer, const char *text, size_t bytes)
{
	const struct field *field = open_field(explorer);
	size_t all = strlen(text), length;
	unsigned changed = CHANGED_SCREEN;

	if (!field)
		return refuse(explorer, bytes,
			      "no input field is open (= / o w open one)");
	while (is_space(*text)) {
		text++;
		all--;
	}
	for (length = all; length > 0 && is_space(text[length - 1]);)
		length--;
	if (memchr(text, '\n', length) || memchr(text, '\r', length))
		return refuse(explorer, bytes, "more than one line");
	if (length + (size_t)field->length >= sizeof field->text)
		return refuse(explorer, bytes, "more than the field holds");
	for (const char *at = text; at < text + length;) {
		struct action typed = { .kind = ACTION_TEXT };

		typed.argument = (int)text_decode(&at);
		changed |= explorer_handle(explorer, typed);
	}
	return changed;
}
