/* prose.c - wrapped text, rules and boxes; see widget.h. */
#include <string.h>

#include "tui/text.h"
#include "tui/widget.h"

/* The end of the line that begins at text: as many words as fit, or a piece of a
 * word that is wider than the line. *next is where the line after begins. */
static const char *line_end(const char *text, int width, const char **next)
{
	const char *end = NULL, *at = text;
	int used = 0;

	while (*at != '\0' && *at != '\n') {
		const char *before = at;
		if (*at == ' ')
			end = at;
		used += text_code_width(text_decode(&at));
		if (used <= width || before == text)
			continue;
		if (end == NULL || end == text) {
			*next = before;
			return before;
		}
		*next = end + strspn(end, " ");
		return end;
	}
	*next = *at == '\n' ? at + 1 : at;
	return at;
}

static void draw_line(struct canvas *canvas, int x, int y, enum role role,
		      const char *text, const char *end)
{
	while (text < end) {
		uint32_t code = text_decode(&text);
		canvas_put(canvas, x, y, code, role);
		x += text_code_width(code);
	}
}

int widget_prose(struct canvas *canvas, struct rect rect, int skip, enum role role,
		 const char *text)
{
	struct rect before = canvas_clip(canvas, rect_intersect(rect, canvas->clip));
	int line = 0;

	while (*text != '\0' && rect.width > 0) {
		const char *next, *end = line_end(text, rect.width, &next);
		if (line >= skip && line - skip < rect.height)
			draw_line(canvas, rect.x, rect.y + line - skip, role, text,
				  end);
		text = next;
		line++;
	}
	canvas_clip(canvas, before);
	return line;
}

void widget_rule(struct canvas *canvas, int x, int y, int width, const char *title)
{
	canvas_fill(canvas, (struct rect){ x, y, width, 1 },
		    canvas_glyph(canvas, GLYPH_HORIZONTAL), ROLE_BORDER);
	if (title == NULL || title[0] == '\0' || width < 6)
		return;
	canvas_put(canvas, x + 1, y, ' ', ROLE_DEFAULT);
	int used = canvas_text(canvas, x + 2, y, width - 4, ROLE_TITLE, title);
	canvas_put(canvas, x + 2 + used, y, ' ', ROLE_DEFAULT);
}

struct rect widget_box(struct canvas *canvas, struct rect rect, const char *title)
{
	int right = rect.x + rect.width - 1, bottom = rect.y + rect.height - 1;
	uint32_t side = canvas_glyph(canvas, GLYPH_VERTICAL);

	if (rect.width < 2 || rect.height < 2)
		return (struct rect){ rect.x, rect.y, 0, 0 };
	canvas_fill(canvas, rect, ' ', ROLE_DEFAULT);
	widget_rule(canvas, rect.x, rect.y, rect.width, title);
	widget_rule(canvas, rect.x, bottom, rect.width, NULL);
	canvas_fill(canvas, (struct rect){ rect.x, rect.y, 1, rect.height }, side,
		    ROLE_BORDER);
	canvas_fill(canvas, (struct rect){ right, rect.y, 1, rect.height }, side,
		    ROLE_BORDER);
	canvas_put(canvas, rect.x, rect.y, canvas_glyph(canvas, GLYPH_CORNER_TL),
		   ROLE_BORDER);
	canvas_put(canvas, right, rect.y, canvas_glyph(canvas, GLYPH_CORNER_TR),
		   ROLE_BORDER);
	canvas_put(canvas, rect.x, bottom, canvas_glyph(canvas, GLYPH_CORNER_BL),
		   ROLE_BORDER);
	canvas_put(canvas, right, bottom, canvas_glyph(canvas, GLYPH_CORNER_BR),
		   ROLE_BORDER);
	return (struct rect){ rect.x + 1, rect.y + 1, rect.width - 2, rect.height - 2 };
}
