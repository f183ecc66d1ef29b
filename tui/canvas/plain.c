/* plain.c - a canvas as plain UTF-8 text: one line a row, no blanks at the end. */
#include "tui/canvas.h"
#include "tui/text.h"

static int used_width(const struct cell *row, int width)
{
	while (width > 0 && row[width - 1].code == ' ')
		width--;
	return width;
}

char *canvas_to_text(const struct canvas *canvas)
{
	struct text out = { 0 };

	for (int y = 0; y < canvas->height; y++) {
		const struct cell *row =
			canvas->cell + (size_t)y * (size_t)canvas->width;
		int width = used_width(row, canvas->width);
		for (int x = 0; x < width; x++)
			if (row[x].code != 0)
				text_add_code(&out, row[x].code);
		text_add(&out, "\n");
	}
	return text_take(&out);
}
