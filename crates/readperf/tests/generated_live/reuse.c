/* A runtime that writes code to the same places again and again, and tells so in jit-PID.dump in the current directory.
 * x86-64. The layouts are those of jitdump-specification.txt in the kernel's tools/perf/Documentation.
 *
 * reuse ROUNDS SPINS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define CODE_BYTES 256

static FILE *dump;
static uint64_t next_index = 1;
static char *page;

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void put(const void *bytes, size_t length)
{
	fwrite(bytes, 1, length, dump);
}

static void put32(uint32_t number) { put(&number, sizeof number); }
static void put64(uint64_t number) { put(&number, sizeof number); }

static void prefix(uint32_t kind, size_t body)
{
	put32(kind);
	put32(16 + body);
	put64(now());
}

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

static uint64_t load(char *at, const char *name, uint32_t line)
{
	const char file[] = "reuse.js";
	prefix(2, 16 + 16 + sizeof file);
	put64((uintptr_t)at);
	put64(1);
	put64((uintptr_t)at);
	put32(line);
	put32(0);
	put(file, sizeof file);
	prefix(0, 40 + strlen(name) + 1 + CODE_BYTES);
	put32(getpid());
	put32(getpid());
	put64((uintptr_t)at);
	put64((uintptr_t)at);
	put64(CODE_BYTES);
	put64(next_index);
	put(name, strlen(name) + 1);
	put(at, CODE_BYTES);
	return next_index++;
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

static void run(char *code)
{
	((void (*)(void))(void *)code)();
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	uint32_t spins = argc > 2 ? strtoul(argv[2], NULL, 0) : 20000000;
	char name[64];
	snprintf(name, sizeof name, "jit-%d.dump", getpid());
	dump = fopen(name, "w+");
	put32(0x4a695444);
	put32(1);
	put32(40);
	put32(62);
	put32(0);
	put32(getpid());
	put64(now());
	put64(0);
	fflush(dump);
	/* That is how a recording learns of the file. */
	mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
	page = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* Nothing takes the place of this one. */
	char *stays = page + 3 * 1024;
	write_code(stays, spins);
	load(stays, "stays", 1);
	for (int round = 0; round < rounds; round++) {
		write_code(page, spins);
		snprintf(name, sizeof name, "function_%d", round % 5);
		uint64_t index = load(page, name, 10 + round % 5);
		run(page);
		/* Over the end of the first one, and over its own place in the round before. */
		write_code(page + 128 + 64 * (round % 3), spins);
		snprintf(name, sizeof name, "over_%d", round % 7);
		load(page + 128 + 64 * (round % 3), name, 20 + round % 7);
		run(page + 128 + 64 * (round % 3));
		/* The beginning of the first one is still there. */
		run(page);
		run(stays);
		/* Where others have been moved before. */
		write_code(page + 2048, spins);
		move(page, page + 2048, index);
		run(page + 2048);
	}
	prefix(3, 0);
	fclose(dump);
	return 0;
}
