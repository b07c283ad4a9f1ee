# Makes the recordings that readperf and its rivals are compared on. Sourced by compare.sh, in the directory they go to.
# shellcheck shell=bash

# Something that C++ takes long over, and long to run when it is done.
source_text() {
	python3 - <<-'PYTHON'
	parts = range(60)
	print("#include <map>\n#include <regex>\n#include <string>\n#include <vector>")
	for n in parts:
	    print(f'struct T{n} {{ std::map<std::string, std::vector<int>> m; bool f(int x) {{'
	          f' m[std::to_string(x)].push_back(x); return std::regex_match(std::to_string(x), std::regex("a{n}")); }} }};')
	print("int main(int, char **argv) { int hits = 0; for (int round = 0; round < atoi(argv[1]); round++) hits += "
	      + " + ".join(f"T{n}().f(round)" for n in parts) + "; return hits & 1; }")
	PYTHON
}

# limits_up and limits_down: the kernel takes a new rate only while it limits the share.
limits_up() {
	rate=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	share=$(cat /proc/sys/kernel/perf_cpu_time_max_percent)
	[ "$rate" -ge 20000 ] || sysctl -q -w kernel.perf_event_max_sample_rate=50000
	sysctl -q -w kernel.perf_cpu_time_max_percent=0
}

limits_down() {
	sysctl -q -w kernel.perf_cpu_time_max_percent="$share"
	[ "$rate" -ge 20000 ] || sysctl -q -w kernel.perf_event_max_sample_rate="$rate"
}

# compiling MIB FILE OPTION...: what perf records while C++ compiles, until the file has this size. A processor that does
# nothing is not sampled: two compilers at a time.
compiling() {
	local mib=$1 file=$2
	shift 2
	[ -s "$file" ] && return
	perf record -q --max-size="${mib}M" -o "$file" "$@" -- sh -c \
		'for n in 1 2 3 4 5 6 7 8 9; do g++ -O2 -c w.cpp -o a.o & g++ -O2 -g -c w.cpp -o b.o; wait; done' \
		2>"$file.log" || true
	perf report --header-only -i "$file" >/dev/null || { cat "$file.log"; exit 1; }
}

# recordings MIB: A (all.data, the whole machine), a fifth as much compressed (packed.data), B (dwarf.data,
# copies of stacks, three times the size), a little of it (unwind.data), and a program with lines (lines.data).
recordings() {
	local mib=$1
	[ -s w.cpp ] || source_text >w.cpp
	limits_up
	compiling "$mib" all.data -F 20000 -g -a
	compiling "$((mib / 5))" packed.data -F 20000 -g -a -z
	compiling "$((mib * 3))" dwarf.data -F 4000 --call-graph dwarf,8192 -m 4M
	compiling "$((mib / 5))" unwind.data -F 4000 --call-graph dwarf,8192 -m 4M
	if [ ! -s lines.data ]; then
		g++ -O2 -g -fno-omit-frame-pointer w.cpp -o lines
		perf record -q --max-size=1M -F 4000 -g -o lines.data ./lines 60000 2>lines.data.log || true
	fi
	limits_down
}
