#include <stdint.h>
__attribute__((noinline)) static uint64_t inner(uint64_t x) {
    for (int i = 0; i < 20000; i++) x = x * 33 ^ 5;
    return x;
}
uint64_t plugin(uint64_t x) { return inner(x) + 1; }
