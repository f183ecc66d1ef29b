/* field.c - a line of text that is being typed; see widget.h. */
#include <string.h>

#include "tui/text.h"
#include "tui/widget.h"

void field_set(struct field *field, const char *text)
{
	const char *end = text;

	/* Whole characters only. */
	for (const char *next = text; *next != '\0';) {
		text_decode(&next);
		if (next - text >= (ptrdiff_t)sizeof field->text)
			break;
		end = next;
	}
	field->length = field->cursor = (int)(end - text);
	memcpy(field->text, text, (size_t)field->length);
	field->text[field->length] = '\0';
}

/* Bytes of the character before (-1) or behind (1) the cursor. */
static int step(const struct field *field, int direction)
{
	int at = field->cursor;

	do
		at += direction;
	while (at > 0 && at < field->length && (field->text[at] & 0xc0) == 0x80);
	if (at < 0 || at > field->length)
		return 0;
	return direction > 0 ? at - field->cursor : field->cursor - at;
}

static void erase(struct field *field, int first, int bytes)
{
	memmove(field->text + first, field->text + first + bytes,
		(size_t)(field->length - first - bytes + 1));
	field->length -= bytes;
	field->cursor = first;
}

static void insert(struct field *field, uint32_t code)
{
	char bytes[4];
	int length = (int)text_encode(code, bytes);

	if (field->length + length >= (int)sizeof field->text)
		return;
	memmove(field->text + field->cursor + length, field->text + field->cursor,
		(size_t)(field->length - field->cursor + 1));
	memcpy(field->text + field->cursor, bytes, (size_t)length);
	field->length += length;
	field->cursor += length;
}

/* Where the word before the cursor begins; a path's parts are words. */
static int word_start(const struct field *field)
{
	int at = field->cursor;

	while (at > 0 && strchr(" /", field->text[at - 1]))
		at--;
	while (at > 0 && !strchr(" /", field->text[at - 1]))
		at--;
	return at;
}

bool field_act(struct field *field, struct action action)
{
	int before = step(field, -1), behind = step(field, 1);
	int word = word_start(field);

	switch (action.kind) {
	case ACTION_TEXT: insert(field, (uint32_t)action.argument); break;
	case ACTION_BACKSPACE: erase(field, field->cursor - before, before); break;
	case ACTION_ERASE_WORD: erase(field, word, field->cursor - word); break;
	case ACTION_ERASE_LINE: erase(field, 0, field->cursor); break;
	case ACTION_DELETE: erase(field, field->cursor, behind); break;
	case ACTION_LEFT: field->cursor -= before; break;
	case ACTION_RIGHT: field->cursor += behind; break;
	case ACTION_HOME: field->cursor = 0; break;
	case ACTION_END: field->cursor = field->length; break;
	default: return false;
	}
	return true;
}

void widget_field(struct canvas *canvas, int x, int y, int width,
		  const struct field *field, enum role role)
{
	char head[sizeof field->text];
	const char *text = field->text;

	if (width < 1)
		return;
	memcpy(head, field->text, (size_t)field->cursor);
	head[field->cursor] = '\0';
	int column = text_width(head);
	/* Characters go at the left until the cursor has a column. */
	while (column >= width)
		column -= text_code_width(text_decode(&text));
	canvas_fill(canvas, (struct rect){ x, y, width, 1 }, ' ', role);
	canvas_text(canvas, x, y, width, role, text);
	for (int i = 0; i < width; i++) {
		struct cell *cell = canvas_at(canvas, x + i, y);
		if (cell != NULL)
			cell->underline = true;
	}
	canvas_cursor(canvas, x + column, y);
}
