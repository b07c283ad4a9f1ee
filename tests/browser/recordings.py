#!/usr/bin/env python3
"""Recordings for the tests in the browser, byte by byte, without any code of readperf: little-endian pipe streams.

    recordings.py many FILE       50,000 frames, none of them under 0.05 %
    recordings.py some FILE       5,000 frames
    recordings.py hostile FILE    names that are markup, escapes, separators
    recordings.py quoted FILE     a program and a thread with quotation marks in their names
    recordings.py long FILE       names of functions of 100 kB, which are in FILE.kallsyms
    recordings.py tall FILE       more rows than a window has: a function that calls itself, two that call one another
    recordings.py before FILE, recordings.py after FILE
                                  two recordings to compare: one function vanishes, one is new, one grows

ABI: perf_event.h for attr, records and trailer; HEADER_ATTR (64) and the pipe header are perf's. Functions are binaries
here: code without symbols is named after the file it lies in.
"""
import struct
import sys

IP, TID, TIME, CALLCHAIN, PERIOD = 1, 2, 4, 32, 256
USER_CONTEXT = -512 & 0xFFFF_FFFF_FFFF_FFFF
PAGE = 0x1000


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def name(text):
    raw = text.encode() + b"\0"
    return raw + b"\0" * (-len(raw) % 8)


class Recording:
    def __init__(self):
        attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1000, IP | TID | TIME | CALLCHAIN | PERIOD, 0, 1 << 18)
        attr += b"\0" * (112 - len(attr))
        self.out = b"PERFILE2" + struct.pack("<Q", 16) + record(64, 0, attr + struct.pack("<Q", 1))
        self.time = 1_000_000_000
        self.pages = {}

    def trailer(self):
        return struct.pack("<IIQ", 10, 10, 0)

    def comm(self, text):
        self.out += record(3, 0, struct.pack("<II", 10, 10) + name(text) + self.trailer())

    def page(self, binary):
        if binary not in self.pages:
            start = 0x40_0000 + 2 * PAGE * len(self.pages)
            self.pages[binary] = start
            body = struct.pack("<IIQQQ", 10, 10, start, PAGE, 0) + struct.pack("<IIQQII", 8, 1, len(self.pages), 0, 5, 2)
            self.out += record(10, 2, body + name("/bin/" + binary) + self.trailer())
        return self.pages[binary] + 0x10

    def sample(self, outermost_first, period=1000):
        chain = [self.page(binary) for binary in reversed(outermost_first)]
        self.time += 1_000_000
        body = struct.pack("<QIIQQ", chain[0], 10, 10, self.time, period)
        body += struct.pack(f"<{len(chain) + 2}Q", len(chain) + 1, USER_CONTEXT, *chain)
        self.out += record(9, 2, body)


def many(columns=2000):
    r = Recording()
    r.comm("many")
    for column in range(columns):
        r.sample([f"b{(column + 7 * level) % columns:04}" for level in range(25)])
    return r


def some():
    return many(200)


HOSTILE = [
    "<script>window.hacked=1<", "]]><script>window.hacked=1<", "\"><img src=x onerror=window.hacked=1>",
    "</title><svg onload=window.hacked=1>", "-->&lt;&amp;", "\\u003cb\\\"'", "a;b c", "\x1b[31mred\x07", "\u202eturned",
    "größe-😀", "\ufffe", "x" * 3000, "${1}`'", "\u2028line",
]


def hostile():
    r = Recording()
    r.comm("<b>&;\x1b")
    for text in HOSTILE:
        # A slash would cut the name: it is a path.
        r.sample(["main", text.replace("/", "\u2215")], 5000)
    r.sample(["main"])
    return r


def quoted():
    r = Recording()
    r.comm('say "hi"\\')
    r.sample(['ma"in', 'call"ed\\'], 5000)
    return r


KERNEL, KERNEL_CONTEXT = 0xFFFF_FFFF_8100_0000, -128 & 0xFFFF_FFFF_FFFF_FFFF
LONG = ["<b>" + "x" * 100_000 + "</script>", "\u202e" * 33_000, "(" * 100_000]


def long():
    """Names of recorded files end at 4,095 bytes; those of functions do not. They are in a list of kernel symbols beside the recording."""
    r = Recording()
    r.comm("t" * 4000)
    body = struct.pack("<iIQQQ", -1, 0, KERNEL, 0x100_0000, KERNEL)
    r.out += record(1, 1, body + name("[kernel.kallsyms]_text") + r.trailer())
    r.sample(["main", "b" * 4000], 5000)
    symbols = ["%x T _text" % KERNEL]
    for nr, text in enumerate(LONG):
        symbols.append("%x T %s" % (KERNEL + (nr + 1) * PAGE, text))
        chain = [KERNEL_CONTEXT, KERNEL + (nr + 1) * PAGE + 4, USER_CONTEXT, r.page("main")]
        r.time += 1_000_000
        body = struct.pack("<QIIQQ", chain[1], 10, 10, r.time, 1000 * (nr + 1))
        r.out += record(9, 1, body + struct.pack("<5Q", len(chain), *chain))
    with open(sys.argv[2] + ".kallsyms", "w", encoding="utf8") as out:
        out.write("\n".join(symbols) + "\n")
    return r


def compared(stacks):
    r = Recording()
    r.comm("work")
    for stack, periods in stacks:
        for _ in range(periods):
            r.sample(stack)
    return r


def tall():
    r = Recording()
    r.comm("tall")
    r.sample(["main"] + ["again"] * 150 + ["top_60"], 60_000)
    r.sample(["main"] + ["ping", "pong"] * 60 + ["top_30"], 30_000)
    r.sample(["main"] + ["ping", "pong"] * 3 + ["top_10"], 10_000)
    return r


def before():
    return compared([(["main", "same"], 50), (["main", "grows"], 20), (["main", "gone", "gone_too"], 30)])


def after():
    return compared([(["main", "same"], 100), (["main", "grows"], 80), (["main", "fresh"], 20)])


if __name__ == "__main__":
    made = {"many": many, "some": some, "hostile": hostile, "quoted": quoted, "tall": tall, "long": long, "before": before, "after": after}[sys.argv[1]]()
    with open(sys.argv[2], "wb") as out:
        out.write(made.out)
