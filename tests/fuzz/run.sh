#!/bin/sh
# Fuzz one kind of file: run.sh KIND BUILD SECONDS. Exit status 255 stops xargs.
kind=$1 build=$2 seconds=$3
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
"$build/fuzz_$kind" -max_total_time="$seconds" -max_len=16384 -timeout=10 \
	-rss_limit_mb=1024 -verbosity=0 -artifact_prefix="$build/$kind-" \
	"$build/corpus_$kind" "$seeds" $again < /dev/null || exit 255
echo "fuzz: $kind is clean"
