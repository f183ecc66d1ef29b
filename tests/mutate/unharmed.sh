#!/bin/sh
# One test program without a mistake: it has to pass, and the seconds that it computes are
# kept in $CPU/TEST.cpu until it is built anew. Status 255 stops xargs.
test=$1 kept=$CPU/$1.cpu
[ "$kept" -nt "$B/dynamic/$test" ] && [ "$kept" -nt "$B/dynamic/libengine.so" ] &&
	[ "$kept" -nt "$B/dynamic/libhouse.so" ] && exit 0
# as one.sh has it, and beside another one
work=$(mktemp -d) || exit 255
trap 'rm -rf "$work"' EXIT
export HOME="$work/home" XDG_CONFIG_HOME="$work/home/c" XDG_STATE_HOME="$work/home/s"
export LC_ALL=C.UTF-8 TZ=UTC SHARDSCOPE="$B/dynamic/shardscope" LD_LIBRARY_PATH="$B/dynamic"
export MALLOC_PERTURB_=165
unset NO_COLOR LINES COLUMNS
mkdir "$HOME"
if ! "$B/dynamic/$test" > "$work/log" 2>&1; then
	cat "$work/log" >&2
	echo "mutate: $test fails without a mistake" >&2
	exit 255
fi
times > "$work/times"
# the second line is of the program: "0m1.2s 0m0.1s"
tail -n 1 "$work/times" | tr 'ms' '  ' | awk '{ print $1 * 60 + $2 }' > "$kept"
