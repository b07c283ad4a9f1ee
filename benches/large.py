#!/usr/bin/env python3
"""Makes a recording of any size of a real one, which is repeated: benches/large.py RECORDING COPIES OUT [--different]

Each copy is later than the one before, and of other processes: times and pids are shifted, in the records that tell of processes and mappings
as well. With --different no stack with an address of user code comes twice: these addresses are shifted, and fewer of them are in functions.

RECORDING is a file of `perf record -g` of one or more events on x86-64 (sample_type IP, TID, TIME, ID, CPU, PERIOD, CALLCHAIN), not compressed.
Needs numpy.
"""

import struct
import sys

import numpy

MMAP, COMM, EXIT, FORK, SAMPLE, MMAP2 = 1, 3, 4, 7, 9, 10
FIRST_OWN = 64
SAMPLE_TYPE = 0x1E7
# The feature that says when samples were taken.
SAMPLE_TIMES = 21
# Bytes of what follows other records: pid and tid, time, id, CPU.
TRAILER = 32
PIDS_APART = 10_000_000
# Above lie the kernel, and markers in chains.
USER = 1 << 47


def words_at(data, size):
    """Where in the data, in words of 8 bytes, times lie, pairs of pid and tid, and addresses of user code in chains."""
    times, pids, places = [], [], []
    at = 0
    while at + 8 <= size:
        kind, misc, length = struct.unpack_from("<IHH", data, at)
        if length < 8:
            sys.exit(f"a record of {length} bytes at {at} of the data")
        word = at // 8
        if kind == SAMPLE:
            pids.append(word + 2)
            times.append(word + 3)
            (depth,) = struct.unpack_from("<Q", data, at + 56)
            places.append((word + 1, word + 2))
            places.append((word + 8, word + 8 + min(depth, (length - 64) // 8)))
        elif kind < FIRST_OWN:
            end = word + length // 8
            pids.append(end - TRAILER // 8)
            times.append(end - TRAILER // 8 + 1)
            if kind in (MMAP, COMM, MMAP2):
                pids.append(word + 1)
            elif kind in (EXIT, FORK):
                # pid, ppid; tid, ptid: two pairs that are shifted alike.
                pids += [word + 1, word + 2]
                times.append(word + 3)
        at += length
    chains = numpy.concatenate([numpy.arange(*place) for place in places]) if places else numpy.array([], int)
    return numpy.array(times), numpy.array(pids), chains


def shifted(words, at, different, nr, span):
    """The words of the copy with this number."""
    times, pairs, chains = at
    words = words.copy()
    told = words[times]
    # perf's own times, 0 and the highest, stay.
    words[times] = numpy.where((told == 0) | (told == 2**64 - 1), told, told + numpy.uint64(nr * span))
    both = words[pairs].view(numpy.uint32)
    # The idle thread and the kernel's mappings have no process.
    moved = both + numpy.uint32(nr * PIDS_APART % (1 << 30))
    words[pairs] = numpy.where((both == 0) | (both == 2**32 - 1), both, moved).view(numpy.uint64)
    if different:
        places = words[chains]
        words[chains] = numpy.where((places > 4096) & (places < USER), places + numpy.uint64(nr * 8), places)
    return words


def main():
    paths = [word for word in sys.argv[1:] if not word.startswith("--")]
    different = "--different" in sys.argv
    source, copies, out = paths[0], int(paths[1]), paths[2]
    whole = open(source, "rb").read()
    magic, size, attr_size, attrs, attrs_size, start, length = struct.unpack_from("<8sQQQQQQ", whole)
    if magic != b"PERFILE2" or start % 8:
        sys.exit("not a perf.data file of this machine's byte order")
    (sample_type,) = struct.unpack_from("<Q", whole, attrs + 24)
    if sample_type != SAMPLE_TYPE:
        sys.exit(f"samples of another kind: sample_type {sample_type:#x}")
    data = whole[start : start + length]
    at = words_at(data, length)
    words = numpy.frombuffer(data, numpy.uint64)
    told = words[at[0]]
    told = told[(told != 0) & (told != 2**64 - 1)]
    span = int(told.max() - told.min()) + 1_000_000_000
    more = length * (copies - 1)
    head = bytearray(whole[:start])
    struct.pack_into("<Q", head, 48, length * copies)
    features = bytearray(whole[start + length :])
    numbers = [bit for bit in range(256) if whole[72 + bit // 8] >> bit % 8 & 1]
    for nr, number in enumerate(numbers):
        (offset,) = struct.unpack_from("<Q", features, nr * 16)
        struct.pack_into("<Q", features, nr * 16, offset + more)
        if number == SAMPLE_TIMES:
            # The first and the last time of a sample.
            struct.pack_into("<Q", features, offset - start - length + 8, int(told.max()) + (copies - 1) * span)
    with open(out, "wb") as file:
        file.write(head)
        for nr in range(copies):
            file.write(shifted(words, at, different, nr, span).tobytes())
        file.write(features)


main()
