/* Inlined, static, aliased and library functions, with enough work in each to be sampled. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline unsigned mix(unsigned value) {
    value ^= value >> 13;
    value *= 0x5bd1e995u;
    return value ^ (value >> 15);
}

static inline unsigned twice(unsigned value) {
    return mix(mix(value) + 1);
}

__attribute__((noinline)) static unsigned spin(unsigned rounds) {
    unsigned sum = 0;
    for (unsigned i = 0; i < rounds; i++)
        sum += twice(sum + i);
    return sum;
}

__attribute__((noinline)) int compare(const void *left, const void *right) {
    int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

#ifndef NO_ALIASES
int _compare_again(const void *left, const void *right) __attribute__((alias("compare")));
int weak_compare(const void *left, const void *right) __attribute__((weak, alias("compare")));
#endif

__attribute__((noinline)) unsigned sort_some(unsigned seed) {
    static int numbers[4096];
    for (int i = 0; i < 4096; i++)
        numbers[i] = (int)(seed = mix(seed));
    qsort(numbers, 4096, sizeof numbers[0], compare);
    return (unsigned)numbers[17];
}

__attribute__((noinline)) unsigned copy_some(unsigned seed) {
    static char from[65536], to[65536];
    memset(from, (int)seed, sizeof from);
    for (size_t at = 0; at < 64; at++)
        memcpy(to, from + at, sizeof to - 64);
    return (unsigned)(strlen("x") + (unsigned char)to[seed & 0xfff]);
}

int main(int argc, char **argv) {
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 60, sum = 1;
    for (unsigned i = 0; i < rounds; i++) {
        sum += spin(200000);
        sum += sort_some(sum);
        sum += copy_some(sum);
        for (int j = 0; j < 20000; j++)
            sum += (unsigned)abs(rand());
    }
    printf("%u\n", sum);
    return 0;
}
