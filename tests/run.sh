#!/bin/sh
# Run test programs, TEST_JOBS of them at a time, and close with "N passed, N failed".
# Each must run alone, and beside others: it gets a home of its own; the surroundings
# are fixed here for all of them. The longest are named at the end with their seconds.
if [ "$1" = --one ]; then
	program=$2 place=$RUN_HOME/$(basename "$2")
	mkdir -p "$place" || exit 255
	export HOME="$place" XDG_CONFIG_HOME="$place/config" XDG_STATE_HOME="$place/state"
	log=$place/log began=$(date +%s)
	"$program" > "$log" 2>&1
	status=$?
	good=$(grep -c '^\[       OK \]' "$log")
	# cmocka names a failed test where it fails and in its closing list
	bad=$(grep '^\[  FAILED  \] [a-zA-Z0-9_]*$' "$log" | sort -u | wc -l)
	[ "$status" -ne 0 ] && [ "$bad" -eq 0 ] && bad=1
	if [ "$status" -ne 0 ]; then
		echo "FAIL $program (exit $status)" >> "$log"
	else
		echo "ok   $program ($good)" > "$log"
	fi
	cat "$log"
	echo "$good $bad $(($(date +%s) - began)) $program" > "$RUN_HOME/result.$(basename "$program")"
	rm -rf "$place"
	exit 0
fi
export LC_ALL=C.UTF-8 TZ=UTC LINES= COLUMNS=
unset NO_COLOR LINES COLUMNS
RUN_HOME=$(mktemp -d /tmp/shardscope-run-XXXXXX) || exit 2
# what a killed run leaves goes when the next test starts: tests/support/leftover.c
list=/tmp/shardscope-left-$(id -u).$$
echo "$RUN_HOME" > "$list"
export RUN_HOME SHARDSCOPE="${SHARDSCOPE:-./shardscope}"
# memory that nobody wrote holds what no test expects
export MALLOC_PERTURB_=165
trap 'rm -rf "$RUN_HOME" "$list"' EXIT
# the longest first, so that none of them runs alone at the end
[ $# -eq 0 ] || printf '%s\n' "$@" | awk -v list="$(dirname "$0")/longest" '
	BEGIN { while ((getline name < list) > 0) at[name] = ++listed }
	{ name = $0; sub(/.*\//, "", name); print (name in at ? at[name] : listed + 1), NR, $0 }' |
	sort -k 1n -k 2n | cut -d ' ' -f 3- | xargs -P "${TEST_JOBS:-1}" -n 1 sh "$0" --one
cat "$RUN_HOME"/result.* 2> /dev/null | sort -k 3 -n -r | head -n 10 |
	awk '$3 >= 10 { print "took " $3 " s: " $4 }'
cat "$RUN_HOME"/result.* 2> /dev/null | awk -v programs=$# '
	{ passed += $1; failed += $2 }
	# none may be lost, and nothing that ran is no success
	END {
		failed += programs - NR + (passed == 0)
		print passed + 0 " passed, " failed + 0 " failed"
		exit failed > 0
	}'
