#!/usr/bin/env python3
"""Runs the corpus comparisons and counts what holds, documented exceptions included.

    .ci/accept.py READPERF SHARED

SHARED is the folder with accept/ and corpus/. An exception is a check of a file whose expectation is wrong; tests/accept/
exceptions.md says why, with the bytes, and tests/accept/exceptions.json lists them. An exception that is no longer needed
is an error: the list may only shrink. Exit status 0 when every check holds or is an exception.
"""
import json, os, re, subprocess, sys, tempfile

readperf, shared = sys.argv[1:3]
root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
exceptions = json.load(open(os.path.join(root, "tests", "accept", "exceptions.json")))
fine = True


def judge(name, faults, total):
    """faults: {file: {check: what}}"""
    global fine
    known = exceptions.get(name, {})
    bad = {f: {c: w for c, w in checks.items() if c not in known.get(f, [])} for f, checks in faults.items()}
    bad = {f: checks for f, checks in bad.items() if checks}
    unneeded = [f"{f}: {c}" for f, checks in known.items() for c in checks if c not in faults.get(f, {})]
    for f, checks in bad.items():
        print(f"{name}: {f}: {checks}")
    for what in unneeded:
        print(f"{name}: the exception {what} is not needed")
    fine &= not bad and not unneeded
    print(f"{name}: {total - len(faults)} of {total} as they stand, {total - len(bad)} of {total} with the documented exceptions")


def run(script, *arguments):
    command = [sys.executable, os.path.join(shared, "accept", script), "--readperf", readperf, *arguments]
    return subprocess.run(command, capture_output=True, text=True).stdout


with tempfile.TemporaryDirectory() as folder:
    out = os.path.join(folder, "corpus.json")
    print(run("corpus.py", "--json", out), end="")
    results = json.load(open(out))
faults = {f: {c: w for c, w in r.items() if w and c != "note"} for f, r in results.items()}
judge("corpus", {f: checks for f, checks in faults.items() if checks}, len(results))

faults, name, total = {}, None, 0
for line in run("own.py", "-v").splitlines():
    if not line.startswith("ok "):
        print(line)
    if m := re.match(r"(FAIL|ok  ) (\S+)$", line):
        name, total = m.group(2), total + 1
    elif (m := re.match(r" {7}(\w+): (.*)$", line)) and name:
        faults.setdefault(name, {})[m.group(1)] = m.group(2)
judge("own", faults, total)
sys.exit(0 if fine else 1)
