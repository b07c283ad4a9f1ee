#!/usr/bin/env python3
"""Guards the hot loops: instructions that a sample takes, counted by valgrind, so that no clock and no other work matters.

Usage: benches/instructions.py READPERF

READPERF is a release build. Two recordings are made up, one with twice the samples of the other: what they differ in is what the
samples take, without start-up. Half of the samples repeat each other, as those of a server, the others have new chains. No binary
of theirs is there, so that the machine's do not matter. Prints a table; the exit status is 1 if anything takes more than its limit,
which is half as much again as it took when the limit was set (November 2026, rustc 1.95, x86-64).
"""

import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

FEWER = 20_000
# What is counted, and how many instructions it may take a sample.
WORK = {
    "stats": (["stats"], 240),
    "report": (["report", "--no-pager", "--percent-limit", "1"], 9_700),
    "report, self only": (["report", "--no-pager", "--no-children", "--percent-limit", "1"], 2_500),
    "script": (["script"], 10_000),
    "folded stacks": (["export", "--format", "folded"], 11_100),
}
SAME = ["--no-progress", "--no-cache", "--threads", "1"]

IP, TID, TIME, CALLCHAIN, CPU, PERIOD = 1, 2, 4, 32, 128, 256
MMAP, COMM, SAMPLE, FINISHED_ROUND = 1, 3, 9, 68
USER = 2
CONTEXT_USER = (1 << 64) - 512
PIDS = range(1000, 1008)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def name(text):
    text = text.encode()
    return text + bytes(8 - len(text) % 8)


def samples(count):
    """The samples as records, in the order of a file: a round has a run of each of two CPUs."""
    draw = random.Random(7)
    place = lambda: draw.choice([0x400000 + draw.randrange(1 << 20), 0x400000 + draw.randrange(1 << 12), draw.randrange(1 << 47)])
    often = [(draw.choice(PIDS), [0x400000 + draw.randrange(1 << 20) for _ in range(20)]) for _ in range(500)]
    rounds = []
    for nr in range(count):
        pid, chain = draw.choice(often) if nr % 2 else (draw.choice(PIDS), [place() for _ in range(8)])
        # The first half of a round is of one CPU, the second one of the other, at the same times.
        within = nr % 500
        time = 1_000_000_000 + (nr - within + within % 250 * 2 + within // 250) * 1000
        body = struct.pack("<QIIQIIQ", chain[0], pid, pid, time, within // 250, 0, 1000)
        body += struct.pack(f"<{len(chain) + 2}Q", len(chain) + 1, CONTEXT_USER, *chain)
        rounds.append(record(SAMPLE, USER, body))
        if within == 499:
            rounds.append(record(FINISHED_ROUND, 0, b""))
    return b"".join(rounds)


def write(path, count):
    data = b""
    for pid in PIDS:
        trailer = struct.pack("<IIQII", pid, pid, 1000, 0, 0)
        data += record(COMM, 0, struct.pack("<II", pid, pid) + name("worker") + trailer)
        mapping = struct.pack("<IIQQQ", pid, pid, 0x400000, 1 << 20, 0) + name("/nowhere/program")
        data += record(MMAP, USER, mapping + trailer)
    data += samples(count)
    all_times, mmaps, comms = 1 << 18, 1 << 8, 1 << 9
    sample_type = IP | TID | TIME | CALLCHAIN | CPU | PERIOD
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000, sample_type, 0, all_times | mmaps | comms).ljust(128, b"\0")
    # The magic, its size, that of an attr; where attrs, data and types of events are, and how long; no features.
    head = b"PERFILE2" + struct.pack("<8Q32x", 104, 144, 104, 144, 248, len(data), 0, 0)
    path.write_bytes(head + attr + bytes(16) + data)


def instructions(command):
    """How many instructions a command takes."""
    tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    run = subprocess.run([*tool, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    counted = re.search(r"I\s+refs:\s+([\d,]+)", run.stderr)
    if run.returncode or not counted:
        sys.exit(f"{' '.join(map(str, command))}: {run.stderr}")
    return int(counted[1].replace(",", ""))


def main():
    readperf = pathlib.Path(sys.argv[1]).resolve()
    too_many = False
    with tempfile.TemporaryDirectory() as directory:
        fewer, more = pathlib.Path(directory, "fewer.data"), pathlib.Path(directory, "more.data")
        write(fewer, FEWER)
        write(more, 2 * FEWER)
        for what, (words, limit) in WORK.items():
            of = lambda path: instructions([readperf, *words, *(SAME if words != ["stats"] else SAME[:1]), path])
            taken = (of(more) - of(fewer)) / FEWER
            too_many |= taken > limit
            print(f"{taken:8.0f} a sample, at most {limit:6}  {what}{'  ****' if taken > limit else ''}", flush=True)
    sys.exit(too_many)


main()
