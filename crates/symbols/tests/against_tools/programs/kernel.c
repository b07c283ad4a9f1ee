/* Stands for an image of the kernel: linked to high addresses, with the symbol that recorders note the address of. */
__attribute__((noinline)) int schedule_task(int task)
{
	return task * 3 + 1;
}

__attribute__((noinline)) static int pick_next(int from)
{
	int best = 0;
	for (int at = 0; at < from; at++)
		best += schedule_task(at) ^ best;
	return best;
}

int start_here(int count)
{
	return pick_next(count) + pick_next(count + 1);
}
