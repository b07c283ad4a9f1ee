// What a report is compared on: templates, inlined functions, recursion, threads, fork and exec.
#include <algorithm>
#include <cstdio>
#include <map>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

template <class T> static inline T mix(T a, T b) {
    for (int i = 0; i < 50; i++) a = a * 31 + b;
    return a;
}

template <class T> __attribute__((noinline)) T sum(T n) {
    T total = 0;
    for (T i = 0; i < n; i++) total += mix(i, total);
    return total;
}

__attribute__((noinline)) unsigned long recursive(int depth, unsigned long x) {
    if (depth == 0) return sum<unsigned long>(3000) + x;
    unsigned long below = recursive(depth - 1, x) + sum<unsigned long>(300);
    return below + 1;
}

__attribute__((noinline)) unsigned long sorted() {
    std::vector<int> values(20000);
    unsigned seed = 1;
    for (auto &value : values) {
        seed = seed * 1103515245 + 12345;
        value = static_cast<int>(seed >> 8);
    }
    std::sort(values.begin(), values.end());
    std::map<int, int> counts;
    for (auto value : values) counts[value % 1000]++;
    return counts.size() + static_cast<unsigned long>(values[7]);
}

static volatile unsigned long sink;

static void body(int rounds) {
    for (int i = 0; i < rounds; i++) sink += recursive(6, static_cast<unsigned long>(i)) + sorted();
}

int main() {
    pid_t child = fork();
    if (child == 0) {
        body(20);
        execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done", static_cast<char *>(nullptr));
    }
    std::thread one(body, 40), other(body, 15);
    one.join();
    other.join();
    int status;
    waitpid(child, &status, 0);
    printf("%lu\n", sink);
    return 0;
}
