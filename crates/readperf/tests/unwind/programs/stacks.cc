// Stacks of many kinds: deep ones, frames of changing size, calls from libraries, exceptions, signals, threads.
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define OWN extern "C" __attribute__((noinline, noclone))
typedef uint64_t (*in_library)(uint64_t, uint64_t (*)(uint64_t));
static volatile uint64_t sink;

OWN uint64_t burn(uint64_t n) {
    uint64_t x = n;
    for (uint64_t i = 0; i < n; i++) x = x * 31 + (x >> 7);
    sink += x;
    return x;
}

OWN uint64_t recursive(int depth, uint64_t n) {
    if (depth == 0) return burn(n);
    uint64_t r = recursive(depth - 1, n);
    sink += r;
    return r + 1;
}

OWN uint64_t with_alloca(int size, uint64_t n) {
    char *p = (char *)alloca(size);
    memset(p, size, size);
    uint64_t r = burn(n);
    return r + p[size / 2];
}

OWN uint64_t aligned(uint64_t n) {
    alignas(64) char b[256];
    memset(b, (int)n, sizeof b);
    uint64_t r = with_alloca(100 + (int)(n & 63), n);
    return r + b[n & 255];
}

struct Base {
    virtual uint64_t go(uint64_t n) = 0;
    virtual ~Base() {}
};

struct Derived : Base {
    uint64_t k;
    Derived(uint64_t k) : k(k) {}
    __attribute__((noinline)) uint64_t go(uint64_t n) override { return burn(n) + k; }
};

static int compare(const void *a, const void *b) {
    burn(300);
    return *(const int *)a - *(const int *)b;
}

OWN uint64_t sorting() {
    int v[64];
    for (int i = 0; i < 64; i++) v[i] = rand();
    qsort(v, 64, sizeof *v, compare);
    return v[3];
}

OWN uint64_t thrower(uint64_t n) {
    try {
        if (burn(n / 8) != 1) throw 5;
    } catch (int e) {
        return burn(n / 8) + e;
    }
    return 0;
}

OWN uint64_t library_calls() {
    char buf[4096];
    uint64_t r = 0;
    for (int i = 0; i < 60; i++) {
        snprintf(buf, sizeof buf, "%s %d %g", "hello", i, i * 1.5);
        r += strlen(buf);
        void *p = malloc(100 + i * 20);
        memset(p, i, 100);
        free(p);
        struct timeval now;
        gettimeofday(&now, 0);
        r += now.tv_usec;
    }
    return r;
}

static void on_signal(int) { burn(100000); }

static void *thread_main(void *rounds) {
    for (intptr_t i = 0; i < (intptr_t)rounds; i++) sink += recursive(5, 100000);
    return 0;
}

// stacks ROUNDS [LIBRARY]
int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 40;
    signal(SIGPROF, on_signal);
    struct itimerval every = {{0, 2000}, {0, 2000}};
    setitimer(ITIMER_PROF, &every, 0);
    pthread_t thread;
    pthread_create(&thread, 0, thread_main, (void *)(intptr_t)rounds);
    in_library call = 0;
    if (argc > 2) {
        void *library = dlopen(argv[2], RTLD_NOW);
        if (library) call = (in_library)dlsym(library, "through_library");
    }
    Base *base = new Derived(rounds);
    for (int i = 0; i < rounds; i++) {
        sink += recursive(30, 50000) + aligned(100000) + base->go(100000) + sorting() + thrower(100000) + library_calls();
        if (call) sink += call(100000, burn);
    }
    pthread_join(thread, 0);
    return 0;
}
