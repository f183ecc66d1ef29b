/* notes.c - see notes.h. */
#include "presets/script/notes.h"

#include <ctype.h>
#include <string.h>

#include "presets/script/shell.h"

void script_note(const struct arguments *arguments, struct import_report *report)
{
	if (arguments->usage)
		import_note(report, IMPORT_ASSUMED, "arguments",
			    "those of its line %d: %.80s", arguments->usage_line,
			    arguments->usage);
	if (arguments->environment)
		import_note(report, IMPORT_ASSUMED, "environment", "%.120s",
			    arguments->environment);
	if (arguments->further)
		import_note(report, IMPORT_ASSUMED, "flags",
			    "none of $%.40s, which nothing sets", arguments->further);
	if (arguments->joined > 0)
		import_note(report, IMPORT_ASSUMED, "line",
			    "%d is of the command above it, which a comment or a "
			    "missing \\ ends",
			    arguments->joined);
	if (arguments->doubted)
		import_note(report, IMPORT_ASSUMED, "tests",
			    "those that only running could tell are taken for false, "
			    "or they would set %.120s",
			    arguments->doubted);
	if (arguments->loop)
		import_note(report, IMPORT_ASSUMED, "loop", "%.120s", arguments->loop);
}

bool script_missing(const struct arguments *arguments, const char *flag, int line,
		    const char *missing, struct error *error)
{
	bool argument = isdigit((unsigned char)missing[0]);

	if (argument)
		return error_set(error, arguments->file, line,
				 "--%s comes from $%s, the script's argument %s, which "
				 "isn't given; --set %s=VALUE gives it, or all behind "
				 "the file's name",
				 flag, missing, missing, missing);
	if (arguments->wants > 0)
		return error_set(
			error, arguments->file, line,
			"--%s comes from $%s, which nothing sets; the script "
			"takes %d arguments: give them behind the file's name, "
			"or --set %s=VALUE",
			flag, missing, arguments->wants, missing);
	return error_set(error, arguments->file, line,
			 "--%s comes from $%s, which nothing sets; --set %s=VALUE or "
			 "the environment gives it",
			 flag, missing, missing);
}

bool script_untold(const struct arguments *arguments, const struct argument *argument,
		   struct error *error)
{
	return error_set(error, arguments->file, argument->line,
			 "--%s comes from $%s, which a command sets that only running "
			 "could tell; --set %s=VALUE gives it",
			 argument->name, argument->missing, argument->missing);
}

const char *script_variable(const struct shell *shell, const char *flag)
{
	size_t length = strlen(flag);

	for (const char *at = shell->start; at + length + 4 < shell->stop; at++) {
		const char *name = at + 2 + length;
		size_t i = 0, used;

		if (at[0] != '-' || at[1] != '-')
			continue;
		while (i < length &&
		       (at[2 + i] == flag[i] || (at[2 + i] == '_' && flag[i] == '-')))
			i++;
		while (i == length && name < shell->stop && strchr(" ='\"", *name))
			name++;
		if (i < length || name + 1 >= shell->stop || *name != '$')
			continue;
		name += name[1] == '{' ? 2 : 1;
		for (used = 0;
		     name + used < shell->stop &&
		     (isalnum((unsigned char)name[used]) || name[used] == '_');
		     used++)
			;
		return used > 0 ? arguments_keep(shell->arguments, name, used) : NULL;
	}
	return NULL;
}
