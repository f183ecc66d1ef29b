/* prose.c - wrapped text, rules and boxes; see widget.h. */
#include <string.h>

#include "engine/glossary/glossary.h"
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

/* A text, and the stretches of it that are links. */
struct prose {
	const char *text;
	enum role role;
	int marks;
	struct glossary_mark mark[GLOSSARY_MAX_LINKS];
};

static enum role role_at(const struct prose *prose, const char *at)
{
	size_t place = (size_t)(at - prose->text);

	for (int i = 0; i < prose->marks; i++)
		if (place >= prose->mark[i].from && place < prose->mark[i].to)
			return ROLE_KEY;
	return prose->role;
}

static void draw_line(struct canvas *canvas, int x, int y, const struct prose *prose,
		      const char *text, const char *end)
{
	while (text < end) {
		enum role role = role_at(prose, text);
		uint32_t code = text_decode(&text);

		canvas_put(canvas, x, y, code, role);
		x += text_code_width(code);
	}
}

static int draw_prose(struct canvas *canvas, struct rect rect, int skip,
		      const struct prose *prose)
{
	struct rect before = canvas_clip(canvas, rect_intersect(rect, canvas->clip));
	const char *text = prose->text;
	int line = 0;

	while (*text != '\0' && rect.width > 0) {
		const char *next, *end = line_end(text, rect.width, &next);
		if (line >= skip && line - skip < rect.height)
			draw_line(canvas, rect.x, rect.y + line - skip, prose, text,
				  end);
		text = next;
		line++;
	}
	canvas_clip(canvas, before);
	return line;
}

int widget_prose(struct canvas *canvas, struct rect rect, int skip, enum role role,
		 const char *text)
{
	struct prose prose = { .text = text, .role = role };

	return draw_prose(canvas, rect, skip, &prose);
}

int widget_linked(struct canvas *canvas, struct rect rect, int skip, enum role role,
		  const char *text)
{
	char plain[2048];
	struct prose prose = { .text = plain, .role = role };

	prose.marks = glossary_marks(text, plain, sizeof plain, prose.mark);
	return draw_prose(canvas, rect, skip, &prose);
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

void widget_heading(struct canvas *canvas, int x, int y, int width, const char *title)
{
	uint32_t across = canvas_glyph(canvas, GLYPH_HORIZONTAL);
	int used;

	canvas_put(canvas, x, y, across, ROLE_BORDER);
	used = 2 + canvas_text(canvas, x + 2, y, width - 2, ROLE_TITLE, title);
	for (int i = 0; i < 2 && used + 1 + i < width; i++)
		canvas_put(canvas, x + used + 1 + i, y, across, ROLE_BORDER);
}

void widget_frame(struct canvas *canvas, struct rect rect, enum role role)
{
	uint32_t side = canvas_glyph(canvas, GLYPH_VERTICAL),
		 across = canvas_glyph(canvas, GLYPH_HORIZONTAL);
	int right = rect.x + rect.width - 1, bottom = rect.y + rect.height - 1;

	for (int x = rect.x + 1; x < right; x++) {
		canvas_put(canvas, x, rect.y, across, role);
		canvas_put(canvas, x, bottom, across, role);
	}
	for (int y = rect.y + 1; y < bottom; y++) {
		canvas_put(canvas, rect.x, y, side, role);
		canvas_put(canvas, right, y, side, role);
	}
	canvas_put(canvas, rect.x, rect.y, canvas_glyph(canvas, GLYPH_CORNER_TL), role);
	canvas_put(canvas, right, rect.y, canvas_glyph(canvas, GLYPH_CORNER_TR), role);
	canvas_put(canvas, rect.x, bottom, canvas_glyph(canvas, GLYPH_CORNER_BL), role);
	canvas_put(canvas, right, bottom, canvas_glyph(canvas, GLYPH_CORNER_BR), role);
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
