#!/usr/bin/env python3
"""A large recording for the tests in the browser, the same bytes every time:

    large.py FILE [SAMPLES]       FILE, and FILE.kallsyms with the names of its kernel

A million samples of 96 threads in 6 processes on two CPUs over 6 s. Stacks go through binaries without names into a kernel that has some;
a module of it has none. A few ways are taken often, most so seldom that a flame graph has no room for them.
"""
import struct
import sys

from recordings import CALLCHAIN, IP, KERNEL, KERNEL_CONTEXT, PAGE, PERIOD, TID, TIME, USER_CONTEXT, name, record

CPU = 128
PROCESSES, THREADS = 6, 16
BINARIES, ADDRESSES = 40, 32
FUNCTIONS = 240
STACKS = 24_000
MODULE = KERNEL + 0x2000_0000
BEGIN, LENGTH = 5_000_000_000, 6_000_000_000


class Dice:
    """Numbers that look random: a linear congruential generator, whose upper bits are used."""

    def __init__(self):
        self.state = 12345

    def below(self, end):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & 0xFFFF_FFFF_FFFF_FFFF
        return (self.state >> 33) % end

    def small(self, end):
        """Small numbers more often than large ones."""
        return self.below(end) * self.below(end) // end * self.below(end) // end


def pid_of(process):
    return 1000 + 100 * process


def trailer(pid, tid):
    return struct.pack("<IIQII", pid, tid, BEGIN, 0, 0)


def head():
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1000, IP | TID | TIME | CALLCHAIN | CPU | PERIOD, 0, 1 << 18)
    out = [b"PERFILE2", struct.pack("<Q", 16), record(64, 0, attr + b"\0" * (112 - len(attr)) + struct.pack("<Q", 1))]
    kernel = struct.pack("<iIQQQ", -1, 0, KERNEL, 0x100_0000, KERNEL)
    out.append(record(1, 1, kernel + name("[kernel.kallsyms]_text") + trailer(0, 0)))
    module = struct.pack("<iIQQQ", -1, 0, MODULE, 0x1_0000, 0)
    out.append(record(1, 1, module + name("/lib/modules/6.1.0/kernel/fs/quick.ko") + trailer(0, 0)))
    for process in range(PROCESSES):
        pid = pid_of(process)
        for thread in range(THREADS):
            out.append(record(3, 0, struct.pack("<II", pid, pid + thread) + name(f"job-{process}-{thread % 4}") + trailer(pid, pid + thread)))
        for binary in range(BINARIES):
            body = struct.pack("<IIQQQ", pid, pid, binary_at(binary), PAGE, 0) + struct.pack("<IIQQII", 8, 1, binary + 1, 0, 5, 2)
            out.append(record(10, 2, body + name(f"/bin/part{binary:02}") + trailer(pid, pid)))
    return out


def binary_at(binary):
    return 0x40_0000 + 2 * PAGE * binary


def function(nr):
    """Where a function of the kernel begins."""
    return KERNEL + (nr + 1) * PAGE


def stack(dice):
    """From the outermost: user code, then in most stacks kernel code; some call themselves."""
    user = [binary_at(dice.small(BINARIES)) + 16 * dice.below(ADDRESSES) + 8 for _ in range(3 + dice.below(5))]
    if dice.below(5) == 0:
        return user, []
    called = [dice.below(8), 8 + dice.small(40)]
    called += called[-1:] * (dice.below(4) == 0) + [48 + dice.small(FUNCTIONS - 48) for _ in range(dice.below(4))]
    kernel = [function(nr) + 16 + 4 * dice.below(4) for nr in called]
    if dice.below(12) == 0:
        kernel.append(MODULE + 16 * dice.below(20))
    return user, kernel


def sample_of(user, kernel):
    """What a sample begins and ends with, its header without a type."""
    chain = ([KERNEL_CONTEXT, *reversed(kernel)] if kernel else []) + [USER_CONTEXT, *reversed(user)]
    size = 8 + 8 + 8 + 8 + 8 + 8 + 8 + 8 * len(chain)
    return struct.pack("<IHHQ", 9, 1 if kernel else 2, size, chain[1]), struct.pack(f"<{len(chain) + 1}Q", len(chain), *chain)


def main(path, samples):
    dice = Dice()
    stacks = [sample_of(*stack(dice)) for _ in range(STACKS)]
    middle, out = struct.Struct("<IIQIIQ").pack, head()
    threads = [(pid_of(process), pid_of(process) + thread) for process in range(PROCESSES) for thread in range(THREADS)]
    # Who runs on a CPU runs for a while; each thread has ways of its own that it takes most.
    running = [(0, 0), (1, 0)]
    for nr in range(samples):
        cpu = nr % 2
        thread, left = running[cpu]
        if not left:
            thread, left = dice.small(len(threads)), 50 + dice.below(400)
        running[cpu] = thread, left - 1
        pid, tid = threads[thread]
        before, behind = stacks[(dice.small(STACKS) + 97 * thread) % STACKS]
        time = BEGIN + LENGTH * nr // samples
        out += (before, middle(pid, tid, time, cpu, 0, 900 + dice.below(200)), behind)
    with open(path, "wb") as file:
        file.write(b"".join(out))
    with open(path + ".kallsyms", "w", encoding="utf8") as file:
        file.write("%x T _text\n" % KERNEL)
        for nr in range(FUNCTIONS):
            kind = ["alloc", "read", "walk", "lock"][nr % 4]
            file.write("%x T %s_%03d\n" % (function(nr), kind, nr))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
