#!/usr/bin/env python3
"""Measures a fleet: measure.py READPERF [--only WAY]... [--killed SHARE]... QUESTION... -- TABLES RECORDING...

Asks each question in this process and of a cluster of two executors on this machine, of the tables and of the recordings themselves (which have no
labels, so questions about services and weeks are not asked of them). In each way of the cluster the question that took longest is asked once more, and an
executor is killed after a share of that time: a quarter, or each share that is given, each in a new cluster. Answers have to be the same each time.
Prints seconds by the clock, of CPU time, and the largest process of each answer; and what differs: then the exit status is 1. TABLES may be an
address in an object store.
"""

import os
import pathlib
import subprocess
import sys
import threading
import time

from cluster import Cluster, check, failed

TICKS = os.sysconf("SC_CLK_TCK")
WAYS = ["tables", "tables by the cluster", "recordings", "recordings by the cluster"]


class Watched:
    """Processes that go on: what they take between two times."""

    def __init__(self, processes):
        self.processes = processes

    def seconds(self):
        return sum(self.of(process) for process in self.processes)

    @staticmethod
    def of(process):
        try:
            fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        except FileNotFoundError:
            return 0
        return (int(fields[11]) + int(fields[12])) / TICKS

    def largest(self):
        """MiB, since it began."""
        peaks = [0]
        for process in self.processes:
            status = pathlib.Path(f"/proc/{process.pid}/status")
            lines = status.read_text().splitlines() if status.exists() else []
            peaks += [int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM")]
        return max(peaks)


def ask(readperf, words, watched, killed=None):
    """The answer, and what it took. An executor may be killed after some seconds, while it is asked."""
    began, before = time.monotonic(), watched.seconds()
    command = [readperf, "sql", "--format", "csv", "--no-progress", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = []
    reader = threading.Thread(target=lambda: said.append(process.stderr.read()))
    reader.start()
    was_asking = []
    if killed:
        executor, after = killed
        timer = threading.Timer(after, lambda: (was_asking.append(process.poll() is None), executor.kill()))
        timer.start()
    answer = process.stdout.read()
    reader.join()
    if killed:
        timer.cancel()
        check("the executor was killed in the middle", was_asking == [True])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        print(said[0].decode()[:2000], flush=True)
    seconds = usage.ru_utime + usage.ru_stime + watched.seconds() - before
    return answer, (time.monotonic() - began, seconds, max(usage.ru_maxrss >> 10, watched.largest()))


def started(readperf):
    cluster = Cluster(readperf)
    time.sleep(1)
    cluster.execute()
    cluster.execute()
    cluster.wait()
    time.sleep(1)
    return cluster


def told(name, way, took):
    print(f"| {name} | {way} | {took[0]:.1f} | {took[1]:.1f} | {took[2]} |", flush=True)


def in_way(readperf, way, questions, sources, answers):
    """Asks all questions in one way. Returns the one that took longest, and its seconds."""
    cluster = started(readperf) if way.endswith("cluster") else None
    watched = Watched([*cluster.executors, cluster.scheduler] if cluster else [])
    on = ["--cluster", cluster.url] if cluster else []
    took = {}
    for name, path in questions.items():
        answer, took[name] = ask(readperf, [*on, "--file", path, *sources], watched)
        told(name, way, took[name])
        first = answers.setdefault(name, answer)
        check(f"{name}: {len(answer.splitlines()) - 1} rows", len(answer.splitlines()) > 1 and answer == first, (first[:500] + answer[:500]).decode())
    if cluster:
        cluster.stop()
    longest = max(took, key=lambda name: took[name][0])
    return longest, took[longest][0]


def with_one_killed(readperf, way, name, path, sources, answers, after):
    """Asks a question of a cluster of which an executor is killed after some seconds."""
    cluster = started(readperf)
    watched = Watched([*cluster.executors, cluster.scheduler])
    words = ["--cluster", cluster.url, "--file", path, *sources]
    answer, took = ask(readperf, words, watched, (cluster.executors[0], after))
    told(f"{name}, an executor killed after {after:.1f} s", way, took)
    check(f"{name} with one executor", answer == answers[name], answer[:500].decode())
    cluster.stop()


def main():
    split = sys.argv.index("--")
    readperf, *words = sys.argv[1:split]
    tables, *recordings = sys.argv[split + 1:]
    given = list(zip(["", *words], words))
    ways = [word for before, word in given if before == "--only"] or WAYS
    shares = [float(word) for before, word in given if before == "--killed"] or [0.25]
    paths = [word for before, word in given if not {"--only", "--killed"} & {before, word}]
    questions = {pathlib.Path(path).stem: path for path in paths}
    unlabelled = {name: path for name, path in questions.items() if not {"service", "date"} & set(pathlib.Path(path).read_text().replace(".", " ").split())}
    print("| question | way | s | CPU s | MiB |\n|---|---|--:|--:|--:|")
    answers = {}
    for way in ways:
        of_tables = way.startswith("tables")
        asked, sources = (questions, [tables]) if of_tables else (unlabelled, recordings)
        longest, seconds = in_way(readperf, way, asked, sources, answers)
        if way.endswith("cluster"):
            for share in shares:
                with_one_killed(readperf, way, longest, asked[longest], sources, answers, share * seconds)
    sys.exit(1 if failed else 0)


main()
