#!/usr/bin/env python3
"""Rows of branches, memory accesses and weights: `readperf report` against `perf report`, on recordings of real hardware.

    report_keys.py READPERF CORPUS

Compared are the period and the number of samples of every row, by one sort key at a time. What perf cannot read is named and
left out. Where perf is known to be wrong, what is compared is said beside it.
"""

import collections
import csv
import io
import os
import re
import subprocess
import sys

BRANCHES = [
    "autofdo/test.lbr",
    "quipper/perf.data.branch-4.14",
    "quipper/perf.data.branch_stack_hw_index",
    "quipper/perf.data.callgraph_and_branch-3.4",
    "chromiumos/perf.data.cycles_and_branch",
]
MEMORY = ["wild/numatop.perf-mem.data", "quipper/perf.data.weight_struct"]

BRANCH_KEYS = "dso_from dso_to dso_from,symbol_from dso_to,symbol_to dso_from,addr_from dso_to,addr_to mispredict in_tx abort cycles comm,mispredict,in_tx".split()
MEMORY_KEYS = (
    "mem snoop tlb locked blocked symbol_daddr dso_daddr dcacheline phys_daddr data_page_size local_weight "
    "weight local_ins_lat ins_lat local_p_stage_cyc code_page_size mem,tlb,snoop,locked".split()
)
WEIGHT_KEYS = "local_weight weight local_ins_lat ins_lat transaction".split()


# Rows that differ for a reason that is in tests/accept/report-differences.md.
EXPECTED = {
    # Users' addresses that the kernel accessed, and the kernel's own data.
    ("quipper/perf.data.weight_struct", "dso_daddr"): {"[unknown]", "islandserver", "[kernel.kallsyms]"},
    # The address in the binary, or where the program ran.
    ("quipper/perf.data.weight_struct", "dcacheline"): {"0x487ca80", "0x4e7ca80"},
}


def right(keys, text):
    """What perf 6.1 gets wrong, put right; see tests/accept/report-differences.md."""
    # Sixteen bits without a sign, printed with one.
    if keys == "cycles" and text.startswith("-"):
        return str(float(int(text) + 65536))
    # The kernel's word for: nothing is mapped there.
    if keys == "phys_daddr" and text == "0x0":
        return "N/A"
    return text


def unnamed(keys, key):
    """perf names code of another kernel by the symbols of the running one, where the recording tells no build-id."""
    if keys.startswith("dso_") and "," in keys and key[0].startswith("["):
        return (key[0], "?")
    return key


def run(*command):
    environment = dict(os.environ, PERF_CONFIG="/dev/null", LC_ALL="C")
    return subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment)


def label(text):
    """What both would say: addresses without a name are one, since perf has those of callers as they ran."""
    text = re.sub(r"^\[.\] ", "", text.strip())
    if re.fullmatch(r"0x[0-9a-f]+|[0-9a-f]{8,}", text):
        return "0x%x" % int(text, 16)
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?%?", text):
        return str(float(text.rstrip("%")))
    return "N/A" if text in ("", "-") else " ".join(text.split())


def table_of_perf(file, keys, mode):
    options = ["--no-branch-stack"] if mode is None else [mode]
    columns = f"period,sample,{keys}"
    widths = ",".join(["500"] * len(columns.split(",")))
    answer = run("perf", "report", "--stdio", "-q", "-g", "none", "--no-children", "-t", "|", "-w", widths, *options,
                 "-i", file, "-F", columns, "-s", keys)
    table = collections.Counter()
    samples = collections.Counter()
    for line in answer.stdout.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < 3 or not cells[0].isdigit():
            continue
        # perf adds columns to some keys that nobody asked for.
        cells = cells[: 2 + len(keys.split(","))]
        key = unnamed(keys, tuple(right(keys, label(cell)) for cell in cells[2:]))
        table[key] += int(cells[0])
        samples[key] += int(cells[1])
    return {key: (table[key], samples[key]) for key in table}


def table_of_readperf(program, file, keys, mode):
    options = ["--no-branch-stack"] if mode is None else [mode]
    answer = run(program, "report", "--csv", "--no-children", "--no-progress", *options, "--sort", keys, file)
    rows = csv.DictReader(io.StringIO(answer.stdout))
    table = collections.Counter()
    samples = collections.Counter()
    for row in rows:
        key = unnamed(keys, tuple(label(row[name]) for name in keys.split(",")))
        table[key] += int(row["self_period"])
        samples[key] += int(row["samples"])
    return {key: (table[key], samples[key]) for key in table}


def compare(program, corpus, name, keys, mode):
    file = os.path.join(corpus, name)
    perf = table_of_perf(file, keys, mode)
    if not perf:
        print(f"left out  {name} by {keys}: perf has no rows")
        return None
    mine = table_of_readperf(program, file, keys, mode)
    different = [key for key in perf.keys() | mine.keys() if perf.get(key) != mine.get(key)]
    expected = EXPECTED.get((name, keys), set())
    if expected and {key[0] for key in different} == expected:
        print(f"expected  {name} by {keys}: {len(expected)} of {len(perf)} rows differ")
        return True
    if not different:
        print(f"same      {name} by {keys}: {len(perf)} rows")
        return True
    print(f"DIFFERENT {name} by {keys}: {len(different)} of {len(perf)} rows")
    for key in sorted(different)[:5]:
        print(f"    {key}: perf {perf.get(key)}, readperf {mine.get(key)}")
    return False


def main():
    program, corpus = sys.argv[1:]
    jobs = [(name, keys, "--branch-stack") for name in BRANCHES for keys in BRANCH_KEYS]
    jobs += [(name, keys, "--mem-mode") for name in MEMORY for keys in MEMORY_KEYS]
    jobs += [(name, keys, None) for name in MEMORY for keys in WEIGHT_KEYS]
    answers = [compare(program, corpus, *job) for job in jobs]
    same, different = answers.count(True), answers.count(False)
    print(f"{same} the same, {different} different, {answers.count(None)} left out")
    sys.exit(1 if different or not same else 0)


if __name__ == "__main__":
    main()
