"""Writes jitdump files and perf maps, and what is in them, without any code of the program under test.

Usage: jitdump.py DIRECTORY little|big PID START
Writes jit-PID.dump, perf-PID.map and cut.dump (half a record at the end)
and shifted.dump.
The layouts are those of jitdump-specification.txt in the kernel's tools/perf/Documentation.
"""

import struct
import sys

directory, order, pid, start = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4], 0)
sign = "<" if order == "little" else ">"


def record(kind, time, body):
    return struct.pack(sign + "IIQ", kind, 16 + len(body), time) + body


def load(time, address, size, index, name, code):
    fields = struct.pack(sign + "IIQQQQ", pid, pid, address, address, size, index)
    return record(0, time, fields + name + b"\0" + code)


def move(time, old, new, size, index):
    return record(1, time, struct.pack(sign + "IIQQQQQ", pid, pid, new, old, new, size, index))


def debug_info(time, address, lines):
    body = struct.pack(sign + "QQ", address, len(lines))
    for at, line, name in lines:
        body += struct.pack(sign + "QII", at, line, 0) + name + b"\0"
    return record(2, time, body)


def unwinding(time, frame, header):
    data = frame + header
    body = struct.pack(sign + "QQQ", len(data), len(header), len(data)) + data
    return record(4, time, body + bytes(-len(body) % 8))


header = struct.pack(sign + "IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, pid, 1, 0)
records = [
    debug_info(90, start, [(start, 10, b"first.js"), (start + 8, 11, b"\xff"), (start + 16, 7, b"other.js"), (start + 20, 8, b"")]),
    unwinding(95, b"FRAMEFRAME", b"HEAD"),
    load(100, start, 32, 1, b"first one", bytes(range(32))),
    load(200, start + 64, 16, 2, b"second", b"\x90" * 16),
    debug_info(250, start + 128, [(start + 128, 1, b"moved.js"), (start + 144, 2, b"\xff"), (start + 200, 3, b"\xff")]),
    load(300, start + 128, 32, 3, b"third \xc3\xa4", b"\x90" * 32),
    record(77, 310, b"unknown!"),
    # Code in place of the first one.
    load(400, start + 16, 32, 4, b"instead", b"\x90" * 32),
    move(500, start + 128, start + 256, 32, 3),
    move(510, 1, 2, 3, 99),
    debug_info(600, 1, [(1, 1, b"of nothing")]),
    load(610, start + 512, 8, 5, b"without lines", b""),
    record(0, 620, b"too short"),
    record(3, 700, b""),
]
everything = header + b"".join(records)
with open(f"{directory}/jit-{pid}.dump", "wb") as out:
    out.write(everything)
with open(f"{directory}/cut.dump", "wb") as out:
    out.write(everything[: len(header) + len(records[0]) + len(records[1]) + len(records[2]) + 20])
# Lines as V8 writes them: for the file that perf makes of the dump, where the code is behind the headers.
shifted = [
    debug_info(250, start, [(start + 0x40, 1, b"shifted.js"), (start + 0x50, 2, b"\xff")]),
    load(300, start, 128, 1, b"shifted", b"\x90" * 128),
    debug_info(350, start + 128, [(start + 128 + 0x48, 3, b"shifted.js")]),
    load(400, start + 128, 128, 2, b"shifted too", b"\x90" * 128),
]
with open(f"{directory}/shifted.dump", "wb") as out:
    out.write(header + b"".join(shifted))
with open(f"{directory}/perf-{pid}.map", "wb") as out:
    out.write(b"%x 20 first one\n" % start)
    out.write(b"0x%x 0x10 second\n" % (start + 64))
    out.write(b"not a line\n")
    out.write(b"%x 20 third \xc3\xa4\n" % (start + 128))
    out.write(b"%x 20 instead\n" % (start + 16))
