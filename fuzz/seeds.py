#!/usr/bin/env python3
"""Makes the seeds of the fuzz targets from the fixtures: fuzz/seeds.py, without arguments, from anywhere.

What each target takes is said in crates/perffile/tests/fuzz_entry.
"""
import json
import pathlib
import struct

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "tests" / "fixtures"
CORPUS = ROOT / "fuzz" / "corpus"


def seed(target, name, content):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def golden():
    """Attrs, record bodies and features, little-endian: every target reads them in both orders anyway."""
    facts = json.loads((FIXTURES / "golden" / "records.json").read_text())
    for attr in facts["attrs"]:
        seed("attr", attr["name"], bytes.fromhex(attr["little"]))
    for nr, record in enumerate(facts["records"]):
        # perf's own records belong to no event.
        shape, body = record["attr"] or {}, bytes.fromhex(record["little"])[8:]
        head = struct.pack(
            "<BHBBIBB",
            record["type"] & 0xFF,
            record["misc"],
            shape.get("read_format", 0) & 0xFF,
            shape.get("branch_sample_type", 0) >> 14 & 0xFF,
            shape.get("sample_type", 0) & 0xFFFFFFFF,
            shape.get("sample_regs_user", 0) & 0xFF,
            shape.get("sample_regs_intr", 0) & 0xFF,
        )
        seed("record", f"{nr:03}-{record['name']}", head + body)
    for nr, feature in enumerate(facts["features"]):
        seed("feature", f"{nr:03}-{feature['name']}", bytes([feature["bit"]]) + bytes.fromhex(feature["little"]))


def records(content):
    """Head and body of each record of a file."""
    at, size = struct.unpack_from("<QQ", content, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", content, at)
        yield kind, content[at + 8 : at + length]
        at += max(length, 8)


def compressed():
    stream = b"".join(body for kind, body in records((FIXTURES / "zstd" / "perf.data").read_bytes()) if kind == 81)
    for new in (0, 1):
        for piece in (1, 255):
            seed("compressed", f"perf-{new}-{piece}", bytes([new, piece]) + stream)


def tracepoints():
    content = (FIXTURES / "tracepoints" / "perf.data").read_bytes()
    at = content.index(b"\x17\x08\x44tracing")
    first = content.find(b"name: ", at)
    while first >= 0:
        end = content.index(b"\n", content.index(b"print fmt", first)) + 1
        text = content[first:end]
        name = text.split(b"\n", 1)[0][6:].decode()
        payload = bytes(range(1, 65))
        seed("tracepoint", name, text + b"\0" + payload)
        first = content.find(b"name: ", end)


def whole():
    for path in sorted(FIXTURES.glob("*/perf.data")):
        if path.is_file():
            seed("container", path.parent.name, path.read_bytes())
            seed("copied", path.parent.name, path.read_bytes())
            seed("chunking", path.parent.name, b"\x09" + path.read_bytes())


golden()
compressed()
tracepoints()
whole()
