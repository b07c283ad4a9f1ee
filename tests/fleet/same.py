#!/usr/bin/env python3
"""Asks `readperf sql` the questions, and holds its answers against those of another: same.py READPERF OTHER.json [QUESTION...] -- FROM...

FROM is what `readperf sql` reads: a folder of tables, recordings, options. Says what differs; then the exit status is 1.
"""

import csv
import io
import json
import pathlib
import subprocess
import sys


def ask(readperf, question, of):
    command = [readperf, "sql", "--format", "csv", "--file", question, *of]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return list(csv.reader(io.StringIO(text)))[1:]


def plain(value):
    """A cell as text: engines differ in whether a sum is 1 or 1.0, and in what they write for nothing."""
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def main():
    split = sys.argv.index("--")
    readperf, other, *questions = sys.argv[1:split]
    others = json.loads(pathlib.Path(other).read_text())
    differ = 0
    for question in questions:
        name = pathlib.Path(question).stem
        ours, theirs = ask(readperf, question, sys.argv[split + 1:]), [[plain(cell) for cell in row] for row in others[name]]
        same = ours == theirs
        print(f"{name}: {len(ours)} rows {'equal' if same else 'DIFFER'}")
        if not same:
            differ += 1
            for our, their in zip(ours + [None] * len(theirs), theirs + [None] * len(ours)):
                if our != their:
                    print(f"  {our}\n  {their}")
                    break
    sys.exit(1 if differ else 0)


main()
