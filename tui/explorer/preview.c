/* preview.c - the export under the cursor, as it would be written now. */
#include <stdlib.h>
#include <string.h>

#include "presets/format_table.h"
#include "tui/explorer.h"

char *preview_write(const struct explorer *explorer, int format)
{
	struct format_request request = { .scenario = &explorer->scenario,
					  .estimate = &explorer->estimate,
					  .kept = explorer->kept };

	if (format < 0 || format >= format_count() || !format_table[format].out.write)
		return NULL;
	if (explorer->pinned) {
		request.baseline = &explorer->baseline;
		request.before = &explorer->before;
	}
	return format_table[format].out.write(&request);
}

void preview_show(struct explorer *explorer, int format)
{
	struct preview *p = &explorer->preview;

	if (p->text && p->format == format)
		return;
	free(p->text);
	*p = (struct preview){ .format = format };
	p->text = preview_write(explorer, format);
	for (const char *c = p->text; c && *c != '\0'; c++)
		p->lines += *c == '\n' || c[1] == '\0';
}

void preview_scroll(struct explorer *explorer, enum action_kind kind, int height)
{
	struct preview *p = &explorer->preview;
	int page = height > 2 ? height - 1 : 1;
	int last = p->lines > height ? p->lines - height : 0;

	p->first += kind == ACTION_PAGE_DOWN ? page : -page;
	if (p->first > last)
		p->first = last;
	if (p->first < 0)
		p->first = 0;
}

/* Lines are cut, not wrapped: what is copied has them whole. */
void preview_draw(const struct explorer *explorer, struct canvas *canvas,
		  struct rect rect)
{
	const struct preview *p = &explorer->preview;
	const char *at = p->text;

	if (!at || rect.width < 4)
		return;
	for (int i = 0; i < p->first && at; i++) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	for (int y = 0; at && *at != '\0' && y < rect.height; y++) {
		size_t length = strcspn(at, "\n");
		char line[512];

		if (length >= sizeof line)
			length = sizeof line - 1;
		memcpy(line, at, length);
		line[length] = '\0';
		for (size_t i = 0; i < length; i++)
			if (line[i] == '\t')
				line[i] = ' ';
		canvas_text(canvas, rect.x, rect.y + y, rect.width - 2, ROLE_DEFAULT,
			    line);
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	widget_scrollbar(canvas, rect.x + rect.width - 1, rect.y, rect.height, p->first,
			 p->lines);
}

unsigned preview_copy(struct explorer *explorer)
{
	free(explorer->copied);
	explorer->copied =
		explorer->preview.text ? strdup(explorer->preview.text) : NULL;
	return CHANGED_SCREEN;
}
