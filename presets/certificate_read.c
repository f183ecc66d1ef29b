/* certificate_read.c - see certificate_read.h. It shares nothing with certificate.c,
 * which wrote the file. */
#include "presets/certificate_read.h"

#include <stdio.h>
#include <string.h>

#include "presets/scenario_file.h"

const char *certificate_read(const char *name, const char *text, struct scenario *out,
			     int *line, struct error *error)
{
	int lines = 0, length = 0;
	const char *begin, *end;
	char part[300]; /* it is YAML even where the file is named FILE.json */

	snprintf(part, sizeof part, "%.280s, its scenario", name);
	if (sscanf(text, "shardscope certificate 2\nscenario %d\n%n", &lines,
		   &length) != 1 ||
	    length == 0) {
		error_set(error, name, 1,
			  "expected 'shardscope certificate 2' and its scenario");
		return NULL;
	}
	begin = end = text + length;
	for (int i = 0; i < lines && *end; i++) {
		end += strcspn(end, "\n");
		end += *end == '\n';
	}
	*line = lines + 3;
	return scenario_parse(out, part, begin, (size_t)(end - begin), NULL, error)
		       ? end
		       : NULL;
}
