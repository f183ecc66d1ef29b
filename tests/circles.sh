#!/bin/sh
# A file of presets/ and its header are one part: what a part includes, and what that
# includes in turn, never comes back to it.
cd "$(dirname "$0")/.." || exit 2
circles=$(find presets -name '*.[ch]' | sort | xargs awk '
/^#include "presets\// {
	from = FILENAME; to = $2
	gsub(/"/, "", to)
	sub(/\.[ch]$/, "", from); sub(/\.[ch]$/, "", to)
	if (from != to) print to, from
}' | tsort 2>&1 > /dev/null)
if [ -n "$circles" ]; then
	echo "presets/ includes in a circle:"
	echo "$circles"
	exit 1
fi
echo "circles: presets/ has none"
