#include "largest.h"

int largest(const volatile int *values)
{
	int first = first_of(values);
	for (int i = 0; i < 8; i++)
		if (values[i] > first)
			first = values[i];
	return first;
}

int declared_in_the_header_only(const volatile int *values)
{
	return first_of(values) + largest(values + 1);
}
