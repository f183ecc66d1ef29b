#!/bin/sh
# Make the moving picture of the README: screens of the running program one after the
# other in one SVG, each pressed from the start anew.
#   sh screenshots/film.sh PROGRAM BUILD-FOLDER FILM
# Each line of FILM says for how many seconds a screen stands, and the keys before it:
# \n is Enter, \t Tab, \033 Esc.
program=$1 build=$2 film=$3
total=$(awk '!/^#/ && NF {sum += $1} END {print sum}' "$film")
at=0 n=0
frame="$build/screenshots/frame.svg" inside="$build/screenshots/inside"
: > "$inside"
while read -r seconds keys; do
	case $seconds in '' | '#'*) continue ;; esac
	# shellcheck disable=SC2059
	keys=$(printf "${keys}_")
	"$program" screen overview llama3-70b-64-h100 --gbs 16 --size 100x30 --focus pp \
		--keys "${keys%_}" --format svg > "$frame" || exit 1
	[ $n -gt 0 ] || head -n 2 "$frame"
	awk -v at="$at" -v seconds="$seconds" -v total="$total" -v first="$n" '
		BEGIN {
			from = at / total; to = (at + seconds) / total
			hidden = first == 0 ? "visible" : "hidden"
			printf "<g visibility=\"%s\"><animate attributeName=\"visibility\" ", hidden
			printf "calcMode=\"discrete\" dur=\"%gs\" repeatCount=\"indefinite\" ", total
			if (from == 0)
				printf "values=\"visible;hidden\" keyTimes=\"0;%.4f\"/>\n", to
			else
				printf "values=\"hidden;visible;hidden\" keyTimes=\"0;%.4f;%.4f\"/>\n", from, to
		}
		NR > 2 && $0 != "</svg>" { print }
		END { print "</g>" }' "$frame"
	at=$(awk -v a="$at" -v b="$seconds" 'BEGIN {print a + b}')
	n=$((n + 1))
done < "$film"
echo "</svg>"
