"""Gives the samples of a recording branch stacks, as a processor would have recorded them.

Usage: branches.py IN OUT PROGRAM [long]

IN is a recording of PROGRAM (`perf record -e cpu-clock:u`, into a file, little-endian) on a machine without branch records.
The branches are walks through the code that objdump shows: jumps are taken or not by chance, always the same one. Some stacks
are wrong on purpose: a branch from the middle of an instruction, from nowhere, a sample that cannot have come from the last
branch, one that is a branch itself, an aborted transaction. With `long`, each sample has as many branches as a record has room
for, each of which leads through all of the code.
"""

import random
import re
import struct
import subprocess
import sys

BRANCH_STACK, BRANCH_ANY = 0x800, 8
KNOWN = 0x10000 | 0x100 | 0x40 | 0xF  # IDENTIFIER, PERIOD, ID, ADDR, TIME, TID, IP
MMAP2, SAMPLE = 10, 9
EVENT_DESC = 12


class Program:
    def __init__(self, path):
        self.code = {}
        text = subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True
        ).stdout
        for line in text.splitlines():
            found = re.match(r"^\s+([0-9a-f]+):\s+(\S+)\s*(.*)$", line)
            if found:
                target = re.match(r"^([0-9a-f]+) ", found[3] + " ")
                far = "@plt" in found[3] or found[2] == "bnd"
                self.code[int(found[1], 16)] = (found[2], None if far or not target else int(target[1], 16))
        order = sorted(self.code)
        self.order = order
        self.next = dict(zip(order, order[1:]))

    def walk(self, count):
        """That many branches from somewhere, the oldest first, and an address behind the last."""
        at, branches, callers = random.choice(self.order), [], []
        while len(branches) < count and at in self.code:
            name, target = self.code[at]
            to = None
            if name == "ret":
                to = callers.pop() if callers else None
            elif name == "call" and target is not None:
                callers.append(self.next.get(at))
                to = target
            elif name == "jmp":
                to = target
            elif name.startswith("j") and target is not None and random.random() < 0.5:
                to = target
            else:
                at = self.next.get(at)
                continue
            if to is None:
                break
            branches.append((at, to))
            at = to
        for _ in range(random.randrange(6)):
            if at not in self.code or self.code[at][0][0] in "jrc":
                break
            at = self.next.get(at)
        return branches, at

    def stack(self, kind):
        branches, at = [], None
        while len(branches) < 3 or at is None:
            branches, at = self.walk(random.choice([3, 8, 16]))
        middle = len(branches) // 2
        if kind == 1:
            at = branches[-1][0]
        elif kind == 2:
            branches[middle] = (branches[middle][0] + 1, branches[middle][1])
        elif kind == 3:
            at = branches[-1][1] - 40
        return branches[::-1], at

    def long_stack(self):
        return [(self.order[-1], self.order[0])] * 2700, self.order[0]


def main(source, destination, path, how=""):
    random.seed(5)
    program = Program(path)
    data = open(source, "rb").read()
    _, _, _, attrs, attrs_size, start, size = struct.unpack_from("<8sQQQQQQ", data, 0)
    sample_type = struct.unpack_from("<Q", data, attrs + 24)[0]
    assert sample_type & ~KNOWN == 0, hex(sample_type)
    records, at, base, samples = bytearray(), start, None, 0
    while at < start + size:
        kind, misc, length = struct.unpack_from("<IHH", data, at)
        record = data[at : at + length]
        at += length
        if kind == MMAP2:
            address, _, offset = struct.unpack_from("<QQQ", record, 16)
            name = record[72:].split(b"\0")[0].decode()
            if name.rsplit("/", 1)[-1] == path.rsplit("/", 1)[-1]:
                base = address - offset
        elif kind == SAMPLE and base is not None:
            samples += 1
            wrong = samples % 8
            branches, ip = program.long_stack() if how == "long" else program.stack(wrong)
            body = bytearray(record[8:])
            struct.pack_into("<Q", body, 8 if sample_type & 0x10000 else 0, base + ip)
            body += struct.pack("<Q", len(branches))
            for nr, (source_ip, target_ip) in enumerate(branches):
                flags = (1 if nr % 5 == 0 else 2) | (nr * 7 % 50) << 4
                flags |= 8 if wrong == 5 and nr == 0 else 0
                source_ip = 16 if wrong == 4 and nr == len(branches) - 1 else base + source_ip
                body += struct.pack("<QQQ", source_ip, base + target_ip, flags)
            record = struct.pack("<IHH", kind, misc, 8 + len(body)) + body
        elif kind == SAMPLE:
            record = struct.pack("<IHH", kind, misc, 8 + len(record)) + record[8:] + bytes(8)
        records += record
    head, tail = bytearray(data[:start]), bytearray(data[start + size :])
    struct.pack_into("<Q", head, 48, len(records))
    more = len(records) - size
    bits = [bit for bit in range(256) if data[72 + bit // 8] >> bit % 8 & 1]
    described = [(head, attrs)]
    for nr, bit in enumerate(bits):
        offset, _ = struct.unpack_from("<QQ", tail, nr * 16)
        struct.pack_into("<Q", tail, nr * 16, offset + more)
        if bit == EVENT_DESC:
            described.append((tail, offset - start - size + 8))
    for buffer, attr in described:
        struct.pack_into("<Q", buffer, attr + 24, sample_type | BRANCH_STACK)
        struct.pack_into("<Q", buffer, attr + 72, BRANCH_ANY)
    open(destination, "wb").write(head + records + tail)
    print(samples)


main(*sys.argv[1:5])
