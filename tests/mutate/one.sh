#!/bin/sh
# One mistake: "FILE LINE OFFSET LENGTH OLD NEW MARK LOT", tabs between, is put into a
# copy of the file, and the library that it belongs to is linked with that. Prints what
# became of it:
#   killed TEST, survived, same (the compiler makes the same of it), invalid (it makes
#   nothing of it)
row=$1
field() { printf '%s\n' "$row" | cut -f "$1"; }
file=$(field 1) line=$(field 2)
# A mistake may take all memory or fill the disk: 4 GiB of each, for compiler and tests.
ulimit -v 4194304
ulimit -f 4194304
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/home"
say() {
	printf '%s\t%s:%s\t%s\t%s\t%s\n' "$1" "$file" "$line" "$(field 5)" "$(field 6)" "$(field 7)"
	exit 0
}

object=$B/${file%.c}.o
mkdir -p "$work/$(dirname "$file")"
"$B/mutate" --apply "$file" "$(field 3)" "$(field 4)" "$(field 6)" > "$work/$file"
(cd "$work" && $COMPILE -I "$TOP" -c "$file" -o mutant.o) 2> /dev/null || say invalid
[ -f "$object" ] || { echo "mutate: there is no $object" >&2; exit 2; }
cmp -s "$work/mutant.o" "$object" && say same

case $file in
engine/*)
	library=engine objects=$ENGINE_OBJECTS
	tests=$WORK/tests.$(basename "$(dirname "$file")")
	;;
*) library=house objects=$HOUSE_OBJECTS tests=$WORK/tests.all ;;
esac
$LINK -shared -o "$work/lib$library.so" "$work/mutant.o" \
	$(printf '%s\n' $objects | grep -vxF "$object") 2> "$work/log" ||
	{ cat "$work/log" >&2; say invalid; }

export HOME="$work/home" XDG_CONFIG_HOME="$work/home/c" XDG_STATE_HOME="$work/home/s"
export LC_ALL=C.UTF-8 TZ=UTC SHARDSCOPE="$B/dynamic/shardscope"
export LD_LIBRARY_PATH="$work:$B/dynamic"
# a mistake that reads what nobody wrote shows
export MALLOC_PERTURB_=165
unset NO_COLOR LINES COLUMNS
# what caught the last mistake of this file, or of its room, is asked first
last=$WORK/last.$(printf '%s' "$file" | tr / .)
room=$WORK/last.$(dirname "$file" | tr / .)
fails() {
	limit=$(cat "$WORK/limit.$1" 2> /dev/null) || return 1
	# a mistake that never ends is found too, by the time that it computes
	{
		! (ulimit -t "$limit"; LD_PRELOAD=$B/stop.so exec timeout 900 "$B/dynamic/$1")
	} > /dev/null 2>&1
}
for test in $(cat "$last" "$room" "$tests" 2> /dev/null | awk '!seen[$0]++'); do
	fails "$test" || continue
	echo "$test" > "$last"
	echo "$test" > "$room"
	say "killed $test"
done
say survived
