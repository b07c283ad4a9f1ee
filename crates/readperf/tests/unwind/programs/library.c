/* A function of a library that is loaded while the program runs. */
#include <stdint.h>
uint64_t through_library(uint64_t n, uint64_t (*function)(uint64_t)) { return function(n) + 1; }
