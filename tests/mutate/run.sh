#!/bin/sh
# Put small mistakes into the program, one at a time, and see whether a test fails; print
# a score for each room and the mistakes that no test caught. See README.md here.
#   SAMPLE  so many of each room (0: all)             SEED   which ones
#   LIST    a list of mistakes instead                JOBS   at a time
#   FILES   where to make mistakes                    LEAST  score below which it fails
#   KEEP    a file for what became of each         WITHOUT  tests that are not asked
#   AGAIN   such a file: those that survived there are tried, and no others
# B, COMPILE, LINK, ENGINE_OBJECTS, HOUSE_OBJECTS come from the Makefile.
set -e
work=$(mktemp -d) || exit 2
WORK=$work
trap 'rm -rf "$work"' EXIT

# All is done in a copy of the tree and of what was built of it, so that work may go on in
# the tree meanwhile. What changed since the build began was not built: a mistake would be
# put into another text than its object is of.
here=$(pwd -P) TOP=$work/tree
whole() { case $1 in "" | /*) echo "$1" ;; *) echo "$here/$1" ;; esac; }
LIST=$(whole "$LIST") KEEP=$(whole "$KEEP") AGAIN=$(whole "$AGAIN")
CPU=$(cd "$B/dynamic" && pwd)
mkdir "$TOP"
cp -Rp Makefile engine presets tui tests "$B" "$TOP"
# what tests read beside the tree
[ ! -d ../shared ] || ln -s "$(cd ../shared && pwd)" "$work/shared"
cd "$TOP"
B=$TOP/$(basename "$B")
changed=$(find engine presets tui tests -type f -newer "$B/begun")
if [ -n "$changed" ]; then
	echo "mutate: changed while it was built; run it again:" $changed >&2
	exit 2
fi
ENGINE_OBJECTS=$(echo "$ENGINE_OBJECTS" | sed "s|$here/|$TOP/|g")
HOUSE_OBJECTS=$(echo "$HOUSE_OBJECTS" | sed "s|$here/|$TOP/|g")
TESTS_LIST=$TOP/tests/mutate/tests
export B TOP WORK CPU COMPILE LINK ENGINE_OBJECTS HOUSE_OBJECTS SEED

if [ -n "$LIST" ]; then
	"$B/mutate" --rows "$LIST" > "$work/rows"
else
	# no glob finds headers: what they hold is compiled into many files
	"$B/mutate" $FILES > "$work/all"
	# by room, then by lot; what was looked at and changes nothing is left out
	awk -F '\t' -v equal=tests/mutate/equal -v again="$AGAIN" '
		BEGIN {
			while ((getline row < equal) > 0) {
				split(row, word, " ")
				left[word[1]]
			}
			while (again && (getline row < again) > 0)
				if (split(row, word, "\t") && word[1] == "survived")
					tried[word[5]]
		}
		{
			split($1, part, "/")
			if (!($7 in left) && (!again || $7 in tried))
				print part[1] "/" part[2] "\t" $8 "\t" $0
		}' "$work/all" | sort | awk -F '\t' -v sample="${SAMPLE:-0}" '
		sample == 0 || ++taken[$1] <= sample { print }' | cut -f 3- > "$work/rows"
	echo "mutate: $(wc -l < "$work/rows") of $(wc -l < "$work/all") mistakes" >&2
fi

# What is asked of a mistake: all tests, of one in the engine those without a mark and
# those that its room marks.
cut -f 1 "$work/rows" | awk '
	{ split($1, part, "/"); print part[1] == "engine" ? part[2] : "all" }' | sort -u > "$work/rooms"
while read -r room; do
	awk -v room="$room" -v without=" $WITHOUT " '
		index(without, " " $1 " ") { next }
		{
			asked = NF == 1 || room == "all"
			for (i = 2; i <= NF; i++)
				asked = asked || $i == room
		}
		asked { print $1 }' "$TESTS_LIST" > "$work/asked.$room"
done < "$work/rooms"
export SHARDSCOPE_QUICK=1
# The tests have to pass without a mistake. How long they compute is measured, and kept
# until they are built anew: with a mistake they may take ten times that.
cat "$work"/asked.* | sort -u |
	xargs -P "${JOBS:-2}" -n 1 sh tests/mutate/unharmed.sh || exit 2
for test in $(cat "$work"/asked.* | sort -u); do
	awk '{ print int(10 * $1) + 5 }' "$CPU/$test.cpu" > "$work/limit.$test"
done
# the fast ones first
while read -r room; do
	while read -r test; do
		echo "$(cat "$CPU/$test.cpu") $test"
	done < "$work/asked.$room" | sort -n | cut -d ' ' -f 2 > "$work/tests.$room"
done < "$work/rooms"
echo "mutate: the tests pass without a mistake" >&2

tr '\n' '\0' < "$work/rows" |
	xargs -0 -P "${JOBS:-2}" -n 1 sh tests/mutate/one.sh | tee ${KEEP:+"$KEEP"} > "$work/result"

# none may be lost on the way; and one of a list that was caught once, but does not
# compile any more or changes nothing, is no mistake any more
if [ "$(wc -l < "$work/result")" -ne "$(wc -l < "$work/rows")" ]; then
	echo "mutate: not all mistakes were tried" >&2
	exit 2
fi
if [ -n "$LIST" ] && grep -E '^(invalid|same)' "$work/result" >&2; then
	echo "mutate: $LIST: what these rows make of the program is no mistake" >&2
	exit 2
fi

sort -t "$(printf '\t')" -k 2 "$work/result" | awk -F '\t' '
	$1 == "survived" { print "survived  " $2 "  " $3 "  ->  " $4 "  (" $5 ")" }'
awk -F '\t' -v least="${LEAST:-0}" '
	{ split($2, part, "/"); room = part[1] "/" part[2] }
	$1 ~ /^killed/ { killed[room]++; all_killed++ }
	$1 == "killed test_numbers" { golden++ }
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
		if (golden > 0)
			printf "mutate: golden numbers caught %d of them, which others might too; WITHOUT=test_numbers tells\n",
			       golden
		exit score < least
	}' "$work/result"
