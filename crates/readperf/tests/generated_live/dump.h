/* Writes jit-PID.dump in the current directory, as jitdump-specification.txt in the kernel's tools/perf/Documentation lays it out.
 * x86-64. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define PAGE 4096

static FILE *dump;
static uint64_t next_index = 1;
/* Whether times are ticks of the processor (JITDUMP_FLAGS_ARCH_TIMESTAMP). */
static int has_ticks;

static uint64_t now(void)
{
	struct timespec t;
	if (has_ticks)
		return __rdtsc();
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

static uint64_t load(char *at, size_t size, const char *name)
{
	prefix(0, 40 + strlen(name) + 1 + size);
	put32(getpid());
	put32(getpid());
	put64((uintptr_t)at);
	put64((uintptr_t)at);
	put64(size);
	put64(next_index);
	put(name, strlen(name) + 1);
	put(at, size);
	return next_index++;
}

static void begin(void)
{
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
	put64(has_ticks);
	fflush(dump);
	/* That is how a recording learns of the file. */
	mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
}

static void end(void)
{
	prefix(3, 0);
	fclose(dump);
}
