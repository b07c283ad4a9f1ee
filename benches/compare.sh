#!/bin/bash
# Side by side on one machine: readperf and its rivals, in turn, on the same recording. Prints a table in Markdown: CPU seconds
# (user and system), wall seconds and peak memory, of the best of several rounds.
#
#   benches/compare.sh [WORK...]          all of: reading report script lines unwinding exports server threads
#
# It makes the recordings (root, perf, g++ and python3 needed) unless they are in its directory. Rivals that are not installed
# (perf, samply) are left out. From the environment:
#
#   SIZE=100      MiB of the recording of the whole machine; the others follow from it. 20 is a quick run
#   ROUNDS=3      how often each runs
#   LIMIT=120     CPU seconds after which a program is stopped; its figures then begin with >
#   BUILT=1       take the programs that were built before
#   SCRATCH=DIR   where recordings and outputs are kept; without, a directory that is deleted at the end
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
size=${SIZE:-100}
rounds=${ROUNDS:-3}
limit=${LIMIT:-120}
if [ -n "${SCRATCH:-}" ]; then
	mkdir -p "$SCRATCH"
	work=$SCRATCH
else
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
fi
# shellcheck source=side/inputs.sh
. "$root/benches/side/inputs.sh"
# shellcheck source=side/table.sh
. "$root/benches/side/table.sh"
# shellcheck source=side/work.sh
. "$root/benches/side/work.sh"

if [ -z "${BUILT:-}" ]; then
	cargo build --quiet --release --manifest-path "$root/Cargo.toml" -p readperf
	cargo build --quiet --release --manifest-path "$root/benches/compare/Cargo.toml"
fi
cp "${CARGO_TARGET_DIR:-$root/target}/release/readperf" "${CARGO_TARGET_DIR:-$root/benches/compare/target}/release/compare" "$work"
readperf=$work/readperf
compare=$work/compare
cd "$work"
rm -f ./*.times
# Source lines of earlier runs are not to help.
export XDG_CACHE_HOME=$work/cache
recordings "$size"

echo "$(date -u +%F\ %T) UTC, $(nproc) CPUs, load $(cut -d' ' -f1-3 /proc/loadavg), $(perf --version)"
echo
for file in all server packed dwarf unwind lines; do
	"$readperf" stats --json "$file.data" | python3 -c "
import json, os, sys
stats = json.load(sys.stdin)
print('* $file.data:', os.path.getsize('$file.data') >> 20, 'MiB,', stats['samples'], 'samples')"
done
table_head
for part in "${@:-reading report script lines unwinding exports server threads}"; do
	for what in $part; do
		"work_$what"
	done
done
