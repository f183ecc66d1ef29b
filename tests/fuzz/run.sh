#!/bin/sh
# Fuzz one kind of file: run.sh KIND BUILD SECONDS [FLAG]... Exit status 255 stops xargs.
kind=$1 build=$2 seconds=$3
shift 3
case $kind in
scenario) seeds=presets/plans ;;
model) seeds=presets/models ;;
cluster) seeds=presets/clusters ;;
stack) seeds=presets/stacks ;;
runs) seeds=tests/validation ;;
lesson) seeds=presets/lessons ;;
challenge) seeds=presets/challenges ;;
*) seeds=tests/fuzz/seeds/$kind ;;
esac
mkdir -p "$build/corpus_$kind"
# and what was found before
again=tests/fuzz/seeds/$kind
[ -d "$again" ] && [ "$again" != "$seeds" ] || again=
# and what runs without ASan kept
bulk=build-fuzz-bulk/corpus_$kind
[ -d "$bulk" ] && [ "$build" != build-fuzz-bulk ] && again="$again $bulk"
log=$build/$kind.log
"$build/fuzz_$kind" -max_total_time="$seconds" -max_len=16384 -timeout=10 \
	-rss_limit_mb=1024 -verbosity=0 -artifact_prefix="$build/$kind-" \
	-print_final_stats=1 "$@" "$build/corpus_$kind" "$seeds" $again \
	< /dev/null 2> "$log" || {
	cat "$log" >&2
	exit 255
}
echo "fuzz: $kind is clean, $(awk '/executed_units/ { print $2 }' "$log") inputs"
