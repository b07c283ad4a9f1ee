// What the tests of `script` record: inlined code, templates, recursion, threads, fork and exec, a library opened at run time.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#ifdef SHARED
#include <dlfcn.h>
#endif

static volatile uint64_t sink;
extern "C" uint64_t plugin(uint64_t x);

namespace shapes {
template <typename T> struct Box {
    T value;
    static inline __attribute__((always_inline)) T mix(T x) {
        for (int i = 0; i < 20000; i++) x = x * 31 + sink;
        return x;
    }
    __attribute__((noinline)) T spin(T x) { return mix(x) + value; }
};
template <int N> __attribute__((noinline)) uint64_t nested(uint64_t x) { return nested<N - 1>(x) + N; }
template <> __attribute__((noinline)) uint64_t nested<0>(uint64_t x) { return Box<uint64_t>{1}.spin(x); }
__attribute__((noinline)) uint64_t recurse(int depth, uint64_t x) {
    return depth == 0 ? nested<3>(x) : recurse(depth - 1, x) + 1;
}
} // namespace shapes

static void work(int rounds) {
    for (int i = 0; i < rounds; i++) sink = shapes::recurse(i % 7, sink + i);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 300;
    work(rounds);
    if (argc > 2) return 0;
    std::thread other([rounds] { work(rounds); });
    other.join();
#ifdef SHARED
    if (void *handle = dlopen("./libplugin.so", RTLD_NOW))
        if (auto call = reinterpret_cast<uint64_t (*)(uint64_t)>(dlsym(handle, "plugin")))
            for (int i = 0; i < rounds; i++) sink = call(sink);
#endif
    if (pid_t child = fork()) {
        waitpid(child, nullptr, 0);
    } else {
        work(rounds);
        execl(argv[0], "again", "100", "once", nullptr);
    }
    return 0;
}
