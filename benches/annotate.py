#!/usr/bin/env python3
"""The ten hottest functions of a C++ program with debug information: `readperf annotate` beside `readperf report
--no-children` and `perf annotate --stdio` for the same functions, in turn.

Usage: benches/annotate.py [ROUNDS]

Needs perf, g++, objdump, and `cargo build --release`. CPU is user and system time of the run with the least, with that of all
programs it starts.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
readperf = here.parent / "target/release/readperf"
rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5


def cpu(command):
    """CPU seconds of a command and all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    subprocess.run(["g++", "-O2", "-g", "-std=c++17", "-o", "words", here / "annotate/words.cc"], check=True)
    record = ["perf", "record", "-N", "-q", "-F", "9999", "-e", "cpu-clock:u", "-o", "words.data", "./words"]
    subprocess.run(record, stdout=subprocess.DEVNULL, check=True)
    same = ["--no-cache", "--no-progress", "--dso", "words", "words.data"]
    annotate = [readperf, "annotate", "--top", "10", *same]
    hottest = json.loads(subprocess.run([*annotate, "--json"], capture_output=True, check=True).stdout)
    functions = hottest["functions"]
    total = hottest["events"][0]["period"]
    share = functions[-1]["events"][0]["self_period"] * 100 / total
    # The same functions: those of the program with at least the share of the last of them.
    perf = ["perf", "annotate", "--stdio", "-d", "words", "--percent-limit", f"{share - 0.001:.3f}", "-i", "words.data"]
    shown = subprocess.run(perf, capture_output=True, text=True, check=False).stdout.count("Disassembly of words for")
    commands = {
        "readperf report --no-children": [[readperf, "report", "--no-children", "--no-pager", *same]],
        "readperf annotate": [[*annotate, "--no-pager"]],
        "perf annotate --stdio": [perf],
    }
    least = {}
    for _ in range(rounds):
        for name, runs in commands.items():
            taken = sum(cpu(run) for run in runs)
            least[name] = min(least.get(name, taken), taken)
    samples = sum(event["samples"] for event in hottest["events"])
    print(f"{samples} samples, {len(functions)} functions, of perf {shown}")
    for name, taken in least.items():
        print(f"{taken:7.3f} s  {name}")
