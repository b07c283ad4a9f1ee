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

# A server: threads that answer requests, by a few ways that are deep and come again and again.
server_text() {
	python3 - <<-'PYTHON'
	ways, deep = 40, 24
	print("#include <pthread.h>\n#include <stdlib.h>\nstatic volatile unsigned long work;")
	for way in range(ways):
	    for level in reversed(range(deep)):
	        call = f"f{way}_{level + 1}(n)" if level + 1 < deep else "n"
	        print(f"__attribute__((noinline)) static unsigned long f{way}_{level}(unsigned long n) {{"
	              f" for (int i = 0; i < {level % 5 * 40}; i++) work += n ^ i; return {call} + {level}; }}")
	print("static unsigned long (*const ways[])(unsigned long) = {" + ", ".join(f"f{way}_0" for way in range(ways)) + "};")
	print("static void *serve(void *seed) { unsigned long n = (unsigned long)seed, sum = 0;"
	      f" for (;;) {{ n = n * 6364136223846793005UL + 1442695040888963407UL; sum += ways[(n >> 33) % {ways}](n); }} return (void *)sum; }}")
	print("int main(void) { pthread_t threads[8]; for (long n = 0; n < 8; n++) pthread_create(&threads[n], 0, serve, (void *)n);"
	      " pthread_join(threads[0], 0); }")
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

# serving MIB: a server with frame pointers, until the file has this size.
serving() {
	[ -s server.data ] && return
	server_text >server.c
	gcc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -pthread -o server server.c
	perf record -q --max-size="$1M" -o server.data -F 20000 -g ./server 2>server.data.log || true
	perf report --header-only -i server.data >/dev/null || { cat server.data.log; exit 1; }
}

# recordings MIB: A (all.data, the whole machine), as much of a server (server.data), a fifth compressed (packed.data), B (dwarf.data,
# copies of stacks, three times the size), a little of it (unwind.data), and a program with lines (lines.data).
recordings() {
	local mib=$1
	[ -s w.cpp ] || source_text >w.cpp
	limits_up
	compiling "$mib" all.data -F 20000 -g -a
	serving "$mib"
	compiling "$((mib / 5))" packed.data -F 20000 -g -a -z
	compiling "$((mib * 3))" dwarf.data -F 4000 --call-graph dwarf,8192 -m 4M
	compiling "$((mib / 5))" unwind.data -F 4000 --call-graph dwarf,8192 -m 4M
	if [ ! -s lines.data ]; then
		g++ -O2 -g -fno-omit-frame-pointer w.cpp -o lines
		perf record -q --max-size=1M -F 4000 -g -o lines.data ./lines 60000 2>lines.data.log || true
	fi
	limits_down
}
