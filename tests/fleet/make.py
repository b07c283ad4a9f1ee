#!/usr/bin/env python3
"""Makes a fleet out of a few recordings: make.py OUT COUNT [SERVICE=]RECORDING[@FIRST-LAST]...

Each recording of the fleet is a copy of one of those given, on another host and at another time of day. Which service it is of may be
said, else it is in all, and in which weeks it was taken, from 0: so a release can come in between. The name of the host
(HEADER_HOSTNAME) and the time of day of the recording's clock (HEADER_CLOCK_DATA) are written over in place. Nothing else changes, so
every sum over the fleet is known from those of the recordings it was made of. A recording without CLOCK_DATA gets no time of day, and a host of its own in each week: it would be the same one, else.

They lie in OUT/week=DATE/service=NAME/HOST.data: what `readperf export --date DATE --label service=NAME` is to be told is in the path.
OUT/fleet.json lists them: path, source, host, service, week.
"""

import datetime
import itertools
import json
import pathlib
import shutil
import struct
import sys
import time

HEADER = struct.Struct("<8sQQQQQQQQ32s")
HOSTNAME, CLOCK_DATA = 3, 29
SERVICES = ["web", "search", "mail", "build"]
FIRST_WEEK = datetime.date(2026, 9, 7)
WEEKS = 4


def sections(file):
    """Offset and size of each feature section, by number of the feature."""
    file.seek(0)
    magic, *_, data_at, data_size, _, _, bits = HEADER.unpack(file.read(HEADER.size))
    if magic != b"PERFILE2":
        raise SystemExit(f"{file.name}: only files of this byte order are taken")
    features = [bit for bit in range(256) if bits[bit // 8] >> bit % 8 & 1]
    file.seek(data_at + data_size)
    return {bit: struct.unpack("<QQ", file.read(16)) for bit in features}


def move(path, host, start):
    """Writes another host, and another time of day, into a recording. Returns the host."""
    with open(path, "r+b") as file:
        features = sections(file)
        if CLOCK_DATA not in features:
            host = f"{host}-{time.strftime('%m%d', time.gmtime(start / 1e9))}"
        if HOSTNAME in features:
            at, size = features[HOSTNAME]
            file.seek(at)
            (room,) = struct.unpack("<I", file.read(4))
            name = host.encode()
            assert len(name) < room <= size, (host, room)
            file.write(name.ljust(room, b"\0"))
        if CLOCK_DATA in features:
            at, _ = features[CLOCK_DATA]
            file.seek(at + 8)
            file.write(struct.pack("<Q", start))
    return host


def of(sources, service, week):
    """The recordings of a service in a week."""
    for source in sources:
        name, _, rest = source.rpartition("=")
        path, _, weeks = rest.partition("@")
        first, _, last = weeks.partition("-")
        if name in ("", service) and (not weeks or int(first) <= week <= int(last)):
            yield pathlib.Path(path)


def places(sources):
    """Without end: a recording to copy, the number of its week, the service, and the number of the host in that."""
    for batch in itertools.count():
        for week, service in itertools.product(range(WEEKS), SERVICES):
            of_service = list(of(sources, service, week))
            for nr, source in enumerate(of_service):
                yield source, week, service, batch * len(of_service) + nr


def main():
    out, count, sources = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    fleet = []
    for nr, (source, week, service, number) in enumerate(itertools.islice(places(sources), count)):
        week = FIRST_WEEK + datetime.timedelta(weeks=week)
        host = f"{service}-{number:03}"
        path = out / f"week={week}" / f"service={service}" / f"{host}.data"
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, path)
        noon = datetime.datetime.combine(week, datetime.time(12), datetime.UTC)
        host = move(path, host, int(noon.timestamp()) * 1_000_000_000 + nr)
        fleet.append({"path": str(path.relative_to(out)), "source": source.name, "host": host, "service": service, "week": str(week)})
    (out / "fleet.json").write_text(json.dumps(fleet, indent=1))


main()
