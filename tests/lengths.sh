#!/bin/sh
# No file of the program has more than 500 lines and no function more than 64, in
# engine/ 40, so that one page holds one thought. tests/lengths lists what is longer, and how long it may be:
# tables, and what waits to be cut.
cd "$(dirname "$0")/.." || exit 2
find engine presets tui -name '*.[ch]' | sort | xargs awk '
FILENAME == "tests/lengths" { if ($0 !~ /^#/) most[$1] = $2; next }
function close_file() {
	limit = path in most ? most[path] : 500
	if (lines > limit) { print path ": " lines " lines, at most " limit; bad = 1 }
}
FNR == 1 { close_file(); path = FILENAME; lines = 0; start = 0 }
{ lines = FNR }
/^[A-Za-z].*\(/ { start = FNR }
/^}$/ {
	most_of_one = path ~ /^engine\// ? 40 : 64
	if (start && FNR - start + 1 > most_of_one) {
		print path ":" start ": a function of " FNR - start + 1 " lines, at most " most_of_one
		bad = 1
	}
	start = 0
}
END {
	close_file()
	if (!bad) print "lengths: files of 500 lines, functions of 64, of 40 in engine/, but for tests/lengths"
	exit bad
}' tests/lengths
