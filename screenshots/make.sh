#!/bin/sh
# Make the pictures of the README from the running program: each is one screen,
# drawn by `shardscope screen`, without a person's own settings in it.
#   sh screenshots/make.sh PROGRAM BUILD-FOLDER
program=$1 build=$2
home=$(mktemp -d) || exit 1
trap 'rm -rf "$home"' EXIT
export HOME="$home" XDG_CONFIG_HOME="$home/config" XDG_STATE_HOME="$home/state"
export LC_ALL=C.UTF-8 TERM=xterm-256color
unset NO_COLOR COLORFGBG
command -v rsvg-convert > /dev/null || {
	echo "screenshots: rsvg-convert is missing (Debian: librsvg2-bin)" >&2
	exit 1
}
mkdir -p "$build/screenshots"

# name, size, view, and what else the command line says
while read -r name size view rest; do
	case $name in '' | '#'*) continue ;; esac
	svg="$build/screenshots/$name.svg"
	# shellcheck disable=SC2086
	"$program" screen "$view" --size "$size" --format svg $rest > "$svg" || exit 1
	rsvg-convert "$svg" -o "screenshots/$name.png" || exit 1
	echo "screenshots/$name.png"
done < screenshots/list

sh screenshots/film.sh "$program" "$build" screenshots/film > screenshots/film.svg || exit 1
echo "screenshots/film.svg"
