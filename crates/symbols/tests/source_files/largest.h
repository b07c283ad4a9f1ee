/* Inlined where it is called, and so the line of the first instruction of its callers. */
static inline __attribute__((always_inline)) int first_of(const volatile int *values)
{
	return values[0] * 3 + values[1];
}
