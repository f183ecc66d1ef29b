#!/bin/sh
# One mistake: "FILE LINE OFFSET LENGTH OLD NEW", tabs between, is put into a copy of the
# file, which is linked before the library of all others. Prints what became of it:
#   killed TEST, survived, same (the compiler makes the same of it), invalid (it makes
#   nothing of it)
row=$1
field() { printf '%s\n' "$row" | cut -f "$1"; }
file=$(field 1) line=$(field 2)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/as-is" "$work/home"
say() {
	printf '%s\t%s:%s\t%s\t%s\n' "$1" "$file" "$line" "$(field 5)" "$(field 6)"
	exit 0
}

"$B/mutate" --apply "$file" "$(field 3)" "$(field 4)" "$(field 6)" > "$work/$(basename "$file")"
cp "$file" "$work/as-is/"
compile() {
	(cd "$1" && $COMPILE -I "$TOP" -c "$(basename "$file")" -o "$2") 2> /dev/null
}
compile "$work" "$work/mutant.o" || say invalid
compile "$work/as-is" "$work/original.o" || say invalid
cmp -s "$work/mutant.o" "$work/original.o" && say same

export HOME="$work/home" XDG_CONFIG_HOME="$work/home/c" XDG_STATE_HOME="$work/home/s"
export LC_ALL=C.UTF-8 TZ=UTC SHARDSCOPE=./shardscope
unset NO_COLOR LINES COLUMNS
for test in $(cat "$TESTS_LIST"); do
	[ -f "$B/tests/$test.o" ] || continue
	# a mistake that never ends is found too
	$LINK "$B/tests/$test.o" $SUPPORT "$work/mutant.o" $ARCHIVES $LINK_LIBS \
		-o "$work/test" 2> "$work/log" || { cat "$work/log" >&2; say invalid; }
	timeout 120 "$work/test" > /dev/null 2>&1 || say "killed $test"
done
say survived
