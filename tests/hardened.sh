#!/bin/sh
# What the default build promises of its bytes: a protected stack, checked copies, tables
# that are read-only once it runs, and nothing of the folder that it was built in.
program=$1 make=$2
fail() { echo "hardened: $*"; exit 1; }
readelf -dW "$program" | grep -qE 'BIND_NOW|FLAGS_1.* NOW' || fail "$program binds late"
readelf -lW "$program" | grep -q GNU_RELRO || fail "$program has no RELRO"
readelf -hW "$program" | grep -q 'DYN ' || fail "$program is at a fixed address"
readelf -lW "$program" | grep GNU_STACK | grep -q ' RW ' || fail "the stack of $program can run"
if grep -q GLIBC_ABI_DT_RELR "$(cc -print-file-name=libc.so.6)" 2> /dev/null; then
	readelf -dW "$program" | grep -q RELRENT || fail "$program has a word for each pointer of its tables"
fi
nm -D "$program" | grep -q __stack_chk_fail || fail "$program does not watch its stack"
nm -D "$program" | grep -q '_chk' || fail "$program does not check its copies"

folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
# a cache of objects would give both folders the same one
export CCACHE_DISABLE=1
objects="build/engine/base/arena.o build/presets/stream.o build/tui/rescue.o"
for place in here a/longer/place; do
	mkdir -p "$folder/$place"
	cp -r Makefile engine presets tui "$folder/$place"
	# shellcheck disable=SC2086
	$make -s -C "$folder/$place" B=build $objects || fail "$place does not build"
done
for object in $objects; do
	cmp "$folder/here/$object" "$folder/a/longer/place/$object" || fail "$object knows its folder"
done
echo "hardened: stack, copies, RELRO, BIND_NOW; equal bytes from two folders"
