/* A service: requests are decoded, kept, and searched for. -DRANKING=N says how much work ranking is, -DKEPT=N how much is allocated. */
#include <stdlib.h>

unsigned decode(const unsigned char *bytes, size_t size);

static void *volatile kept[256];

/* Its own, and all by itself: a C library may be built without frame pointers, and then its caller is missing in the stacks. */
__attribute__((noinline)) void *allocate(size_t size) {
	static unsigned char room[1 << 20];
	static size_t at;
	at = (at + size) % (sizeof room - 8192);
	for (size_t nr = 0; nr < size; nr++)
		room[at + nr] = (unsigned char)(room[at + nr] * 31 + nr);
	return room + at;
}

__attribute__((noinline)) void keep(int requests) {
	for (int nr = 0; nr < requests; nr++)
		kept[nr * 7919 & 255] = allocate(16 + nr * 31 % 4096);
}

__attribute__((noinline)) long rank(long score) {
	long sum = score;
	for (int nr = 0; nr < 400 * RANKING; nr++)
		sum += nr % (1 + (sum & 63));
	return sum;
}

__attribute__((noinline)) long search(int requests) {
	long best = 0;
	for (int nr = 0; nr < requests; nr++)
		best += rank(nr);
	return best;
}

__attribute__((noinline)) long handle(const unsigned char *request, size_t size) {
	long sum = decode(request, size);
	keep(KEPT);
	return sum + search(8);
}

int main(int count, char **words) {
	static unsigned char request[4096];
	int requests = count > 1 ? atoi(words[1]) : 1000;
	long sum = 0;
	for (int nr = 0; nr < requests; nr++) {
		request[nr % sizeof request] = (unsigned char)nr;
		sum += handle(request, sizeof request);
	}
	return sum == 42;
}
