#!/bin/sh
# What a file of engine/ offers to others is asked for by one of them, or by a test:
# else it is static. Takes the libraries with the objects.
cd "$(dirname "$0")/.." || exit 2
nm -A "$@" 2>/dev/null | awk '
NF >= 2 {
	file = $1; sub(/:[^:]*$/, "", file)
	name = $NF; type = $(NF - 1)
	if (type == "T" && file ~ /libengine/) at[name] = file
	if (type == "U") asked[name] = 1
}
END { for (name in at) if (!asked[name]) print name, at[name] }' | sort |
while read -r name file; do
	grep -rqw --include='*.c' --include='*.h' "$name" tests || echo "${file##*:}: only this file calls $name()"
done | grep . && exit 1
echo "public: what a file of engine/ offers, another one asks for"
