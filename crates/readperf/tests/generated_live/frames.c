/* A runtime whose code has frames that only call frame information tells of: registers are pushed, and the one that others keep as
 * frame pointer has some number. Code of other frames takes the same place again and again.
 *
 * frames ROUNDS SPINS [bare|toggles]: "bare" dumps no call frame information; "toggles" takes away that the memory can be executed
 * while it is written to, and that it can be written to while code runs.
 */
#include "dump.h"

/* No multiple of eight. */
#define CODE_BYTES 77
/* What ULEB128 can tell in two bytes. */
#define FRAME(nr) (256 + 1024 * (nr))

static char *page;
static int is_bare, toggles;

struct bytes {
	unsigned char at[256];
	size_t length;
};

static void add(struct bytes *to, const void *bytes, size_t length)
{
	memcpy(to->at + to->length, bytes, length);
	to->length += length;
}

static void add32(struct bytes *to, uint32_t number) { add(to, &number, 4); }
#define ADD(to, ...) add(to, (unsigned char[]){__VA_ARGS__}, sizeof (unsigned char[]){__VA_ARGS__})

/* DWARF 4, 7.23: call frame instructions. */
#define ADVANCE(bytes) (0x40 | (bytes))
#define OFFSET(column, words) (0x80 | (column)), (words)
#define CFA_OFFSET(bytes) 0x0e, (bytes)
#define CFA_OFFSET_2(bytes) 0x0e, (unsigned char)(0x80 | (bytes)), (unsigned char)((bytes) >> 7)

static struct bytes code_of(int frame, uint32_t spins, char *callee)
{
	struct bytes code = {.length = 0};
	ADD(&code, 0x55, 0x53, 0x41, 0x54); /* push rbp; push rbx; push r12 */
	ADD(&code, 0xbd, 1, 0, 0, 0);       /* mov ebp, 1 */
	ADD(&code, 0x48, 0x81, 0xec);       /* sub rsp, FRAME */
	add32(&code, FRAME(frame));
	if (callee) {
		ADD(&code, 0x48, 0xb8); /* mov rax, CALLEE; call rax */
		add(&code, &callee, 8);
		ADD(&code, 0xff, 0xd0);
	}
	ADD(&code, 0xb9); /* mov ecx, SPINS; loop: dec ecx; jnz loop */
	add32(&code, spins);
	ADD(&code, 0xff, 0xc9, 0x75, 0xfc);
	ADD(&code, 0x48, 0x81, 0xc4); /* add rsp, FRAME */
	add32(&code, FRAME(frame));
	ADD(&code, 0x41, 0x5c, 0x5b, 0x5d, 0xc3); /* pop r12; pop rbx; pop rbp; ret */
	return code;
}

/* .eh_frame and .eh_frame_hdr, as if they lay behind the code, at a multiple of eight. */
static void tell_frame(int frame, const struct bytes *code)
{
	int32_t behind = (CODE_BYTES + 7) / 8 * 8;
	struct bytes cie = {.length = 0}, fde = {.length = 0}, header = {.length = 0};
	/* Version 1, "zR", factors 1 and -8, return address in 16; pointers are distances of 4 bytes. */
	ADD(&cie, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b);
	ADD(&cie, 0x0c, 7, 8, OFFSET(16, 1)); /* The frame is 8 above rsp; the return address below it. */
	while (cie.length % 4)
		ADD(&cie, 0);
	uint32_t cie_bytes = 4 + cie.length;
	add32(&fde, cie_bytes + 4);
	add32(&fde, -(behind + (int32_t)cie_bytes + 8));
	add32(&fde, code->length);
	ADD(&fde, 0);
	ADD(&fde, ADVANCE(1), CFA_OFFSET(16), OFFSET(6, 2));
	ADD(&fde, ADVANCE(1), CFA_OFFSET(24), OFFSET(3, 3));
	ADD(&fde, ADVANCE(2), CFA_OFFSET(32), OFFSET(12, 4));
	ADD(&fde, ADVANCE(12), CFA_OFFSET_2(32 + FRAME(frame)));
	/* What is left is 5 bytes. */
	ADD(&fde, 0x02, (unsigned char)(code->length - 5 - 16), CFA_OFFSET(32));
	ADD(&fde, ADVANCE(2), CFA_OFFSET(24), ADVANCE(1), CFA_OFFSET(16), ADVANCE(1), CFA_OFFSET(8));
	while (fde.length % 4)
		ADD(&fde, 0);
	int32_t all = cie_bytes + 4 + fde.length + 4;
	/* Linux Standard Base, 10.6.2: the section is 4 bytes and its length before this word; one entry, sorted. */
	ADD(&header, 1, 0x1b, 0x03, 0x3b);
	add32(&header, -(all + 4));
	add32(&header, 1);
	add32(&header, -(behind + all));
	add32(&header, -(all - (int32_t)cie_bytes));
	size_t padding = (8 - (all + header.length) % 8) % 8;
	prefix(4, 24 + all + header.length + padding);
	put64(all + header.length);
	put64(header.length);
	/* perf only reads what the writer has in memory, too. Nothing else lies there. */
	put64(all + header.length);
	put32(cie.length);
	put(cie.at, cie.length);
	put32(fde.length);
	put(fde.at, fde.length);
	put32(0);
	put(header.at, header.length);
	put("\0\0\0\0\0\0\0", padding);
}

static void write_code(char *to, const char *name, int frame, uint32_t spins, char *callee)
{
	struct bytes code = code_of(frame, spins, callee);
	if (toggles)
		mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	memset(to, 0xcc, CODE_BYTES);
	memcpy(to, code.at, code.length);
	if (toggles)
		mprotect(page, PAGE, PROT_READ | PROT_EXEC);
	if (!is_bare)
		tell_frame(frame, &code);
	load(to, CODE_BYTES, name);
}

/* The kernel copies a stack up to the first page that was never used. */
__attribute__((noinline)) static int use_stack(void)
{
	volatile char all[8 * PAGE];
	for (int at = 0; at < 8 * PAGE; at += 64)
		all[at] = 1;
	return all[0];
}

__attribute__((noinline)) static int calls_code(char *code)
{
	((void (*)(void))(void *)code)();
	return 1;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	uint32_t spins = argc > 2 ? strtoul(argv[2], NULL, 0) : 20000000;
	volatile int sum = use_stack();
	char name[64];
	is_bare = argc > 3 && !strcmp(argv[3], "bare");
	toggles = argc > 3 && !strcmp(argv[3], "toggles");
	/* The recording tells of it before it tells of the dump. */
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	begin();
	/* Nothing takes the place of this one. */
	write_code(page + 2048, "stays", 2, spins, NULL);
	for (int round = 0; round < rounds; round++) {
		snprintf(name, sizeof name, "outer_%d", round % 4);
		write_code(page, name, round % 4, spins, page + 1024);
		snprintf(name, sizeof name, "inner_%d", round % 3);
		write_code(page + 1024, name, round % 3, spins, page + 2048);
		sum += calls_code(page);
	}
	end();
	return 0;
}
