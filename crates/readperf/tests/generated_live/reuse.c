/* A runtime that writes code to the same places again and again, and tells so. Under "ticks" its times are those of the
 * processor, and account.txt has what ran from when to when, and marks: mappings that a recording tells of, too, each with the
 * ticks before and after.
 *
 * reuse ROUNDS SPINS [ticks]
 */
#include "dump.h"

#define CODE_BYTES 256
#define MARKS 40

static char *page;
static FILE *account;

/* mov ecx, SPINS; loop: dec ecx; jnz loop; ret */
static void write_code(char *to, uint32_t spins)
{
	unsigned char code[] = {0xb9, 0, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
	memcpy(code + 1, &spins, 4);
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	memset(to, 0xcc, CODE_BYTES);
	memcpy(to, code, sizeof code);
	/* The kernel tells of this as of a new mapping. */
	mprotect(page, PAGE, PROT_READ | PROT_EXEC);
}

static uint64_t load_line(char *at, const char *name, uint32_t line)
{
	const char file[] = "reuse.js";
	prefix(2, 16 + 16 + sizeof file);
	put64((uintptr_t)at);
	put64(1);
	put64((uintptr_t)at);
	put32(line);
	put32(0);
	put(file, sizeof file);
	return load(at, CODE_BYTES, name);
}

static void move(char *from, char *to, uint64_t index)
{
	prefix(1, 48);
	put32(getpid());
	put32(getpid());
	put64((uintptr_t)to);
	put64((uintptr_t)from);
	put64((uintptr_t)to);
	put64(CODE_BYTES);
	put64(index);
}

static void run(char *code, const char *name)
{
	uint64_t before = __rdtsc();
	((void (*)(void))(void *)code)();
	if (account)
		fprintf(account, "run %llu %llu %s\n", (long long)before, (long long)__rdtsc(), name);
}

static void mark(void)
{
	for (int nr = 0; account && nr < MARKS; nr++) {
		uint64_t before = __rdtsc();
		/* Nothing else has this protection. */
		void *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		fprintf(account, "mark %llu %llu\n", (long long)before, (long long)__rdtsc());
		munmap(at, PAGE);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	uint32_t spins = argc > 2 ? strtoul(argv[2], NULL, 0) : 20000000;
	char name[64], over[64];
	has_ticks = argc > 3;
	account = has_ticks ? fopen("account.txt", "w") : NULL;
	begin();
	mark();
	page = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* Nothing takes the place of this one. */
	char *stays = page + 3 * 1024;
	write_code(stays, spins);
	load_line(stays, "stays", 1);
	for (int round = 0; round < rounds; round++) {
		write_code(page, spins);
		snprintf(name, sizeof name, "function_%d", round % 5);
		uint64_t index = load_line(page, name, 10 + round % 5);
		run(page, name);
		/* Over the end of the first one, and over its own place in the round before. */
		char *above = page + 128 + 64 * (round % 3);
		write_code(above, spins);
		snprintf(over, sizeof over, "over_%d", round % 7);
		load_line(above, over, 20 + round % 7);
		run(above, over);
		/* The beginning of the first one is still there. */
		run(page, name);
		run(stays, "stays");
		/* Where others have been moved before. */
		write_code(page + 2048, spins);
		move(page, page + 2048, index);
		run(page + 2048, name);
	}
	mark();
	end();
	return 0;
}
