/* Work for a recorder: threads with names of their own, children that run on with their parent's mappings, that
 * rename themselves, and that become another program; and code without a file. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

static void spin(int milliseconds)
{
	struct timespec start, now;
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		for (int i = 0; i < 20000; i++)
			sink += i * sink;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < milliseconds);
}

static void *thread(void *name)
{
	spin(5);
	prctl(PR_SET_NAME, name);
	spin(15);
	return 0;
}

static void generated(void)
{
#ifdef __x86_64__
	/* mov $20000000,%ecx; 1: dec %ecx; jnz 1b; ret */
	static const unsigned char code[] = { 0xb9, 0x00, 0x2d, 0x31, 0x01, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
	void *memory = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(memory, code, sizeof code);
	for (int i = 0; i < 3; i++)
		((void (*)(void))memory)();
	munmap(memory, 4096);
#endif
}

int main(int argc, char **argv)
{
	pthread_t one, two;
	if (argc > 1) {
		spin(10);
		return 0;
	}
	pthread_create(&one, 0, thread, "one thread");
	pthread_create(&two, 0, thread, "two");
	for (int i = 0; i < 6; i++) {
		pid_t child = fork();
		if (child == 0) {
			spin(4);
			if (i % 3 == 1)
				prctl(PR_SET_NAME, "renamed: (x)");
			if (i % 3 == 2)
				execl("/proc/self/exe", "again", "again", (char *)0);
			spin(4);
			_exit(0);
		}
		waitpid(child, 0, 0);
	}
	generated();
	pthread_join(one, 0);
	pthread_join(two, 0);
	return 0;
}
