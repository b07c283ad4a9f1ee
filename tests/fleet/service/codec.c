/* A library: built with -DSLOW it does the same with more work, as a build without optimisation does. */
#include <stddef.h>
#ifdef SLOW
#define ROUNDS 6
#else
#define ROUNDS 1
#endif

__attribute__((noinline)) unsigned decode(const unsigned char *bytes, size_t size) {
	unsigned sum = 1;
	for (int round = 0; round < ROUNDS; round++)
		for (size_t at = 0; at < size; at++)
			sum = sum * 31 + bytes[at];
	return sum;
}
