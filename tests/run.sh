#!/bin/sh
# Run test programs one after the other and close with "N passed, N failed".
# Each must run alone; the surroundings are fixed here for all of them.
export LC_ALL=C.UTF-8 TZ=UTC LINES= COLUMNS=
unset NO_COLOR LINES COLUMNS
HOME=$(mktemp -d /tmp/shardscope-run-XXXXXX) || exit 2
# what a killed run leaves goes when the next test starts: tests/support/leftover.c
left=/tmp/shardscope-left-$(id -u).$$
echo "$HOME" > "$left"
export HOME XDG_CONFIG_HOME="$HOME/config" XDG_STATE_HOME="$HOME/state"
export SHARDSCOPE="${SHARDSCOPE:-./shardscope}"
# memory that nobody wrote holds what no test expects
export MALLOC_PERTURB_=165
trap 'rm -rf "$HOME" "$left"' EXIT
passed=0 failed=0 log="$HOME/log"
for program; do
	"$program" > "$log" 2>&1
	status=$?
	good=$(grep -c '^\[       OK \]' "$log")
	# cmocka names a failed test where it fails and in its closing list
	bad=$(grep '^\[  FAILED  \] [a-zA-Z0-9_]*$' "$log" | sort -u | wc -l)
	[ "$status" -ne 0 ] && [ "$bad" -eq 0 ] && bad=1
	passed=$((passed + good)) failed=$((failed + bad))
	if [ "$status" -ne 0 ]; then
		cat "$log"
		echo "FAIL $program (exit $status)"
	else
		echo "ok   $program ($good)"
	fi
done
[ "$passed" -eq 0 ] && failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
