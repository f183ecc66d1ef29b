#!/bin/sh
# Imports between the rooms of engine/ go downwards only. Each line of engine/FLOORS is a
# floor, the lowest first; rooms of one floor don't know each other.
cd "$(dirname "$0")/.." || exit 2
awk '
FILENAME == "engine/FLOORS" {
	if ($0 !~ /^#/) for (i = 1; i <= NF; i++) floor[$i] = FNR
	next
}
/^#include "engine\// {
	split(FILENAME, from, "/"); split($2, to, "/")
	if (to[2] == from[2]) next
	if (!(from[2] in floor)) { print "engine/FLOORS has no room " from[2]; bad = 1 }
	else if (!(to[2] in floor)) { print FILENAME ": " $2 " is in no room"; bad = 1 }
	else if (floor[to[2]] >= floor[from[2]]) { print FILENAME ": " $2 " is not below"; bad = 1 }
}
END { if (!bad) print "floors: engine/ imports downwards only"; exit bad }
' engine/FLOORS engine/*/*.c engine/*/*.h
