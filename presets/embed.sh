#!/bin/sh
# Print a C file that holds the named YAML files as byte arrays and a table
# of them, in the order given: presets_data[] of presets/data.h.
printf '#include "presets/data.h"\n\n'
n=0
for file; do
	printf 'static const unsigned char file_%d[] = {\n' "$n"
	od -An -v -tu1 "$file" | sed 's/  */,/g; s/^,//; s/$/,/'
	printf '0};\n'
	n=$((n + 1))
done
printf 'const struct preset_file presets_data[] = {\n'
n=0
for file; do
	kind=$(basename "$(dirname "$file")")
	printf '\t{"%s", "%s", file_%d, sizeof file_%d - 1},\n' \
		"$kind" "$(basename "$file" .yaml)" "$n" "$n"
	n=$((n + 1))
done
printf '\t{0, 0, 0, 0}};\n'
