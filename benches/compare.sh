#!/bin/bash
# Side by side on one machine: readperf and its rivals, in turn, on the same recording. Prints a table of CPU seconds
# (user and system), wall seconds and peak memory: the least of several rounds.
#
#   benches/compare.sh [RECORDING]        makes one (root, perf, g++ needed) unless one is named
#
# ROUNDS=5 says how often each runs, KEEP=1 keeps the temporary directory.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
rounds=${ROUNDS:-5}
work=$(mktemp -d)
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
cd "$work"

cargo build --quiet --release --manifest-path "$root/Cargo.toml" -p readperf
cargo build --quiet --release --manifest-path "$root/benches/compare/Cargo.toml"
readperf=${CARGO_TARGET_DIR:-$root/target}/release/readperf
compare=${CARGO_TARGET_DIR:-$root/benches/compare/target}/release/compare

# Something that C++ takes long over.
source_text() {
	python3 - <<-'PYTHON'
	parts = range(60)
	print("#include <map>\n#include <regex>\n#include <string>\n#include <vector>")
	for n in parts:
	    print(f'struct T{n} {{ std::map<std::string, std::vector<int>> m; bool f(int x) {{'
	          f' m[std::to_string(x)].push_back(x); return std::regex_match(std::to_string(x), std::regex("a{n}")); }} }};')
	print("int main() { return " + " + ".join(f"T{n}().f({n})" for n in parts) + "; }")
	PYTHON
}

# record OPTION...: the whole machine while it compiles, about 100 MB without compression.
record() {
	local rate share
	rate=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	share=$(cat /proc/sys/kernel/perf_cpu_time_max_percent)
	# The kernel takes a new rate only while it limits the share.
	[ "$rate" -ge 20000 ] || sysctl -q -w kernel.perf_event_max_sample_rate=50000
	sysctl -q -w kernel.perf_cpu_time_max_percent=0
	# A processor that does nothing is not sampled: two compilers at a time.
	perf record -q -F 20000 -g -a "$@" -- sh -c \
		'for n in 1 2 3; do g++ -O2 -c w.cpp -o a.o & g++ -O2 -g -c w.cpp -o b.o; wait; done' 2>record.log || true
	sysctl -q -w kernel.perf_cpu_time_max_percent="$share"
	[ "$rate" -ge 20000 ] || sysctl -q -w kernel.perf_event_max_sample_rate="$rate"
}

# once NAME COMMAND...: one run; its figures go to NAME.times.
once() {
	local name=$1
	shift
	python3 - "$name" "$@" <<-'PYTHON'
	import os, subprocess, sys, time
	name, *command = sys.argv[1:]
	with open(name + ".out", "wb") as out, open(name + ".err", "wb") as err:
	    start = time.monotonic()
	    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
	    _, status, used = os.wait4(child.pid, 0)
	    wall = time.monotonic() - start
	with open(name + ".times", "a") as times:
	    print(used.ru_utime, used.ru_stime, wall, used.ru_maxrss, file=times)
	sys.exit(status != 0 and command[0] != "perf")
	PYTHON
}

# The least CPU time of all runs of a name, with the wall time and memory of that run.
least() {
	awk '{ cpu = $1 + $2; if (NR == 1 || cpu < best) { best = cpu; wall = $3; kib = $4 } }
		END { printf "%.3f %.3f %.0f", best, wall, kib / 1024 }' "$1.times"
}

row() {
	local what=$1 one=$2 other=$3 a b
	read -r -a a <<<"$(least "$one")"
	read -r -a b <<<"$(least "$other")"
	awk -v what="$what" -v a="${a[0]}" -v aw="${a[1]}" -v am="${a[2]}" -v b="${b[0]}" -v bw="${b[1]}" -v bm="${b[2]}" \
		'BEGIN { printf "%-44s %6.3f %6.3f %6d   %6.3f %6.3f %6d   %6.1f\n", what, a, aw, am, b, bw, bm, b / (a > 0 ? a : 0.005) }'
}

source_text >w.cpp
input=${1:-}
if [ -z "$input" ]; then
	record -o input.data
	record -z -o packed.data
	input=input.data
fi
"$compare" swap "$input" swapped.data
mkdir -p csv

for _ in $(seq "$rounds"); do
	once ours "$compare" ours "$input"
	once theirs "$compare" theirs "$input"
	once swapped "$compare" ours swapped.data
	once stats "$readperf" stats --no-progress "$input"
	once perf-stats perf report --stats -i "$input"
	if [ -f packed.data ]; then
		once packed "$compare" ours packed.data
		once unpack "$compare" unpack packed.data
	fi
done
cmp ours.out theirs.out || { echo "the sums differ"; exit 1; }
cmp ours.out swapped.out || { echo "the sums of the swapped copy differ"; exit 1; }
for _ in $(seq $((rounds > 2 ? 2 : rounds))); do
	once report "$readperf" report "$input"
	once perf-report perf report --no-children -g none --stdio -i "$input"
	once main "$readperf" --csv-dir csv "$input"
done

ls -l "$input" | awk '{ print "recording: " $5 " bytes" }'
cat ours.out ours.err
printf '%-44s %20s   %20s   %6s\n' '' 'readperf' 'rival' 'ratio'
printf '%-44s %6s %6s %6s   %6s %6s %6s\n' work 'CPU s' wall MiB 'CPU s' wall MiB
row 'every sample in order (linux-perf-data)' ours theirs
row 'count records (perf report --stats)' stats perf-stats
row 'the other byte order (rival: native order)' swapped ours
[ ! -f packed.data ] || row 'compressed (rival: its zstd stream alone)' packed unpack
row 'report (perf report --no-children -g none)' report perf-report
row 'overview and CSV tables (the same rival)' main perf-report
