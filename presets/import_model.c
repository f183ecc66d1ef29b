/* import_model.c - the model that a file names, of the library. */
#include "presets/import.h"
#include "presets/library.h"
#include "presets/model_name.h"
#include "presets/near.h"

#include <string.h>

static bool take_found(struct model *out, const struct import_name *named,
		       const struct preset *found, struct import_report *report,
		       struct error *error)
{
	import_note(report, IMPORT_TAKEN, "model", "%s as %s", named->name,
		    found->name);
	if (!library_model(out, found->name, error))
		return false;
	if (model_name_is_alike(named->name, found)) {
		import_note(report, IMPORT_ASSUMED, "model",
			    "%s for %.60s, by its name alone", found->name,
			    named->name);
		model_name_doubt(named->name, out);
	}
	/* a framework's own word for a shape, llama3_70b, is no edition */
	if (strchr(named->name, '/') && model_name_is_other(named->name, found))
		model_name_forget_reach(out);
	if (model_name_ranks(named->name, out))
		import_note(report, IMPORT_APPROXIMATE, "model",
			    "%.60s embeds or ranks: it generates nothing", named->name);
	if (model_name_diffuses(named->name, out))
		import_note(report, IMPORT_APPROXIMATE, "model",
			    "%.60s settles several tokens per pass", named->name);
	if (model_name_sees(named->name, found)) {
		import_note(report, IMPORT_APPROXIMATE, "model",
			    "what sees or hears of %.60s is left out", named->name);
		model_name_text_part(named->name, out);
	}
	return true;
}

/* Why a name is none that a library could have; "" where it may be one. */
static const char *place_of(const char *name)
{
	/* as it is written, or as the reader of manifests leaves it */
	if (strstr(name, "{{") || strstr(name, "<<"))
		return ": a template fills it in";
	return name[0] == '/' ? ": a folder of whoever starts it" : "";
}

/* Of a file whose model is not in the library. */
static bool refuse(const struct import_name *named, struct error *error)
{
	int line = named->line > 0 ? named->line : 1;
	char near[256];

	if (named->name[0] == '\0')
		return error_set(error, named->file, line,
				 "this file names no model; --model NAME or --model "
				 "config.json says which it is");
	if (model_name_is_closed(named->name))
		return error_set(
			error, named->file, line,
			"'%.80s' is known without its shape: its config.json was "
			"not to be had for the library; --model config.json reads "
			"a copy of yours",
			named->name);
	near[0] = '\0';
	if (place_of(named->name)[0] == '\0')
		preset_near(PRESET_MODEL, named->name, near, sizeof near);
	return error_set(error, named->file, line,
			 "no model '%.80s' in the library%s%s%s; --model config.json "
			 "reads its own, --model NAME takes one of the library",
			 named->name, place_of(named->name), near[0] ? "; near: " : "",
			 near);
}

bool import_model(struct model *out, const struct import_name *named,
		  struct import_report *report, struct error *error)
{
	const struct preset *found = named->found;

	if (!found && named->name[0] != '\0' &&
	    !(found = preset_find(PRESET_MODEL, named->name)))
		found = model_name_find(named->name);
	if (report->model[0] != '\0') {
		if (named->name[0] != '\0' && !found)
			import_note(report, IMPORT_NOT_MODELLED, "model", "%s",
				    named->name);
		return library_model(out, report->model, error);
	}
	if (found)
		return take_found(out, named, found, report, error);
	report->nameless = named->name[0] == '\0';
	return refuse(named, error);
}
