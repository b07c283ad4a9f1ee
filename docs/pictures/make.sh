#!/bin/bash
# Makes the pictures of the README: docs/pictures/make.sh [READPERF]
#
# They are what readperf makes of busy.perf.data: the page that it serves (view.mjs) and that of a flame graph (page.mjs) as Chromium shows
# them (needs node, npm and chromium), the timeline as it is, the table as a terminal shows it (terminal.py). The programs are those of tests/fixtures/bin.
# They are found by their build-ids (--buildid-mmap: -z alone records none). Functions of the C library have names only on a machine with the one that was recorded.
#
#   docs/pictures/make.sh record      records anew (root, perf): user code only, so that no kernel is needed for names
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
if [ "${1:-}" = record ]; then
	neutral=/tmp/readperf-pictures
	mkdir "$neutral"
	trap 'rm -rf "$neutral"' EXIT
	cp "$root"/tests/fixtures/bin/* "$here/busy.sh" "$neutral"
	cd "$neutral"
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$neutral" LANG=C unshare -u sh -c \
		'hostname fixture; perf record -N -q -z -o perf.data --buildid-mmap -g -F 99 -e cpu-clock:u -k CLOCK_MONOTONIC sh busy.sh'
	mv perf.data "$here/busy.perf.data"
	chmod 644 "$here/busy.perf.data"
	exit
fi
readperf=$(realpath "${1:-${CARGO_TARGET_DIR:-$root/target}/release/readperf}")
shown() {
	"$readperf" "$@" --symbols "$root/tests/fixtures/bin" --no-progress busy.perf.data
}
cd "$here"
shown timeline -o timeline.svg
COLUMNS=100 shown report --no-children --percent-limit 1 --color always 2>/dev/null |
	python3 terminal.py 'readperf report --no-children --percent-limit 1' >report.svg
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shown export -o "$work/page.html"
cp page.mjs view.mjs "$root"/tests/browser/package*.json "$work"
cd "$work"
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
node page.mjs "$work/page.html" "$here/flamegraph"
node view.mjs "$here/view" "$readperf" --symbols "$root/tests/fixtures/bin" --no-progress "$here/busy.perf.data"
