#!/bin/sh
# No file of the program has more than 500 lines and no function more than 64, in
# engine/ 40, so that one page holds one thought. tests/lengths lists what is longer, and
# how long it may be: tables, and what waits to be cut. A static function of engine/ with
# more than ten lines is named by two words or more, a verb and its object, so that a
# stack trace says what ran; engine/serve and engine/queue are not through with that.
cd "$(dirname "$0")/.." || exit 2
find engine presets tui -name '*.[ch]' | sort | xargs awk '
FILENAME == "tests/lengths" { if ($0 !~ /^#/) most[$1] = $2; next }
function close_file() {
	limit = path in most ? most[path] : 500
	if (lines > limit) { print path ": " lines " lines, at most " limit; bad = 1 }
}
FNR == 1 { close_file(); path = FILENAME; lines = 0; start = 0 }
{ lines = FNR }
/^[A-Za-z].*\(/ { start = FNR; name = "" }
/^static .*\(/ && match($0, /[A-Za-z_0-9]+\(/) { name = substr($0, RSTART, RLENGTH - 1) }
/^}$/ {
	most_of_one = path ~ /^engine\// ? 40 : 64
	if (start && FNR - start + 1 > most_of_one) {
		print path ":" start ": a function of " FNR - start + 1 " lines, at most " most_of_one
		bad = 1
	}
	if (start && FNR - start + 1 > 10 && name ~ /^[a-z0-9]+$/ && path ~ /^engine\// &&
	    path !~ /^engine\/(serve|queue)\//) {
		print path ":" start ": " name "() has " FNR - start + 1 " lines; name it by verb and object"
		bad = 1
	}
	start = 0
}
END {
	close_file()
	if (!bad) print "lengths: files of 500 lines, functions of 64, of 40 in engine/, but for tests/lengths"
	exit bad
}' tests/lengths
