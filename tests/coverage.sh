#!/bin/sh
# Lines that the tests have run, for each room and in all; $1 is the folder of a build
# with --coverage whose tests have run.
set -e
find "$1/engine" "$1/presets" "$1/tui" -name '*.gcda' | sort |
	xargs -n 50 gcov -n -r -s . 2> /dev/null | awk -F "[':% ]+" '
	/^File/ { file = $2 }
	/^Lines executed/ && file ~ /\.c$/ {
		lines = $NF; run = lines * $3 / 100
		n = split(file, part, "/")
		room = n > 2 ? part[1] "/" part[2] : part[1]
		all[room] += lines; hit[room] += run
		total += lines; done += run
		file = ""
	}
	END {
		if (total == 0) { print "coverage: nothing has run"; exit 1 }
		for (room in all)
			printf "%-20s %5.1f %% of %5d lines\n", room,
			       100 * hit[room] / all[room], all[room] | "sort"
		close("sort")
		printf "coverage: %.1f %% of %d lines\n", 100 * done / total, total
	}'
