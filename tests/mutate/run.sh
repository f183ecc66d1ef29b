#!/bin/sh
# Put small mistakes into the program, one at a time, and see whether a test fails; print
# a score for each room and the mistakes that no test caught. See README.md here.
#   SAMPLE  so many of all, spread evenly (0: all)    SHIFT  which ones
#   LIST    a list of mistakes instead                JOBS   at a time
#   FILES   where to make mistakes                    LEAST  score below which it fails
# B, COMPILE, LINK, SUPPORT, ARCHIVES, LINK_LIBS come from the Makefile.
set -e
TOP=$(pwd) TESTS_LIST=${TESTS_LIST:-$TOP/tests/mutate/tests}
B=$(cd "$B" && pwd)
export B TOP TESTS_LIST COMPILE LINK SUPPORT ARCHIVES LINK_LIBS
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

if [ -n "$LIST" ]; then
	"$B/mutate" --rows "$LIST" > "$work/all"
else
	# no glob finds headers: what they hold is compiled into many files
	"$B/mutate" $FILES > "$work/all"
fi
awk -v sample="${SAMPLE:-0}" -v shift="${SHIFT:-0}" '
	{ row[NR] = $0 }
	END {
		n = sample > 0 && sample < NR ? sample : NR
		for (i = 0; i < n; i++)
			print row[int((i + 0.5) * NR / n + shift) % NR + 1]
	}' "$work/all" > "$work/rows"
echo "mutate: $(wc -l < "$work/rows") of $(wc -l < "$work/all") mistakes" >&2

tr '\n' '\0' < "$work/rows" |
	xargs -0 -P "${JOBS:-2}" -n 1 sh tests/mutate/one.sh > "$work/result"

sort -t "$(printf '\t')" -k 2 "$work/result" | awk -F '\t' '
	$1 == "survived" { print "survived  " $2 "  " $3 "  ->  " $4 }'
[ -z "$KEEP" ] || cp "$work/result" "$KEEP"
awk -F '\t' -v least="${LEAST:-0}" '
	{ split($2, part, "/"); room = part[1] "/" part[2] }
	$1 ~ /^killed/ { killed[room]++; all_killed++ }
	$1 == "survived" { left[room]++; all_left++ }
	$1 == "same" { same++ }
	$1 == "invalid" { invalid++ }
	{ rooms[room] = 1 }
	END {
		for (room in rooms)
			if (killed[room] + left[room] > 0)
				printf "%-20s %4d of %4d caught, %3.0f %%\n", room,
				       killed[room], killed[room] + left[room],
				       100 * killed[room] / (killed[room] + left[room]) | "sort"
		close("sort")
		total = all_killed + all_left
		if (total == 0) { print "mutate: no mistake was tried"; exit 1 }
		score = 100 * all_killed / total
		printf "mutate: %d of %d caught, %.1f %%; %d that change nothing, %d that do not compile\n",
		       all_killed, total, score, same, invalid
		exit score < least
	}' "$work/result"
