/* Stands for a kernel module: not linked, with code in several sections. */
int handled;

__attribute__((noinline)) static int add_one(int value)
{
	return value + 1 + handled;
}

int handle_request(int kind)
{
	handled += kind;
	return add_one(kind) * 2;
}

__attribute__((always_inline)) static inline int bounded(int value)
{
	if (value > 100)
		value = handled;
	return value + 3;
}

__attribute__((section(".text.unlikely"))) int handle_error(int kind)
{
	return bounded(kind * 7) + handled;
}

__attribute__((section(".init.text"))) int start_module(void)
{
	return handled = 5;
}

__attribute__((section(".exit.text"))) int stop_module(void)
{
	return handled - 5;
}

/* As the kernel's own build makes it: which release the module is for. */
__attribute__((section(".modinfo"), used)) static const char vermagic[] =
	"vermagic=6.9.0-test SMP preempt mod_unload modversions ";
