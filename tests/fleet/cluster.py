#!/usr/bin/env python3
"""Asks a cluster: cluster.py READPERF QUESTION... -- TABLES RECORDING...

Starts a scheduler and two executors, asks the questions of the tables and of the recordings, kills an executor in the middle of a question,
and asks again. All answers have to be those of `readperf sql` without a cluster. Then what goes wrong: a recording that is not there, one that is
damaged, one that is there twice, no executors, no scheduler. Says what differs; then the exit status is 1.
"""

import concurrent.futures
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

failed = []

# As many parts as two executors have threads. A question has sixteen otherwise, and most of its time goes into the files between its stages.
PARTS = "SET datafusion.execution.target_partitions = 4; "


def check(name, holds, said=""):
    print(f"{name}: {'fine' if holds else 'WRONG'}", flush=True)
    if not holds:
        failed.append(name)
        print(said)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Cluster:
    def __init__(self, readperf):
        self.readperf, self.port, self.executors = readperf, free_port(), []
        self.url = f"df://127.0.0.1:{self.port}"
        self.scheduler = self.start("scheduler", "--listen", f"127.0.0.1:{self.port}")

    def start(self, *words):
        return subprocess.Popen([self.readperf, "cluster", *words], stderr=subprocess.DEVNULL)

    def execute(self):
        words = ("executor", "--scheduler", f"127.0.0.1:{self.port}", "--listen", f"127.0.0.1:{free_port()}", "--threads", "2")
        self.executors.append(self.start(*words))

    def until(self, is_there, what):
        """Asks until an answer says that something is there. That answer."""
        end = time.time() + 60
        while not is_there(answer := ask(self.readperf, ["--cluster", self.url, "SELECT 1"])):
            if time.time() > end:
                sys.exit(f"{what} does not come up")
            time.sleep(0.5)
        return answer

    def wait(self):
        """Until there are executors."""
        self.until(lambda answer: answer.returncode == 0, "the cluster")

    def stop(self):
        for process in [*self.executors, self.scheduler]:
            process.kill()
            process.wait()


def ask(readperf, words):
    return subprocess.run([readperf, "sql", "--format", "csv", "--no-progress", *words], capture_output=True, text=True, timeout=300)


def same_answers(questions, here, there):
    """Asks each question in two ways, which have to give the same rows. `questions` has names, and what both ways are given. Two at a time, since answers wait."""
    with concurrent.futures.ThreadPoolExecutor(2) as asking:
        both = asking.map(here, questions.values()), asking.map(there, questions.values())
        for name, one, other in zip(questions, *both):
            rows = len(one.stdout.splitlines()) - 1
            holds = one.returncode == other.returncode == 0 and one.stdout == other.stdout and rows > 0
            check(f"{name}, {rows} rows", holds, one.stdout[:500] + other.stdout[:500] + one.stderr + other.stderr)


def all_same(cluster, questions):
    """With the cluster and without: of each question its text, and of what it is asked."""
    # Texts begin with a comment, which looks like an option.
    alone = lambda words: ask(cluster.readperf, ["--", *words])
    clustered = lambda words: ask(cluster.readperf, ["--cluster", cluster.url, PARTS + words[0], *words[1:]])
    same_answers(questions, alone, clustered)


def killed(cluster, question, recordings):
    """One executor ends in the middle of a question."""
    here = ask(cluster.readperf, ["--file", question, *recordings])
    command = [cluster.readperf, "sql", "--format", "csv", "--cluster", cluster.url, "--file", question, *recordings]
    asked = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    was_asking = asked.poll() is None
    cluster.executors[0].kill()
    out, err = asked.communicate(timeout=300)
    check("an executor is killed in the middle of a question", was_asking and asked.returncode == 0 and out == here.stdout, out[:500] + err)


def wrong(cluster, recordings):
    def told(name, words, status, said):
        answer = ask(cluster.readperf, words)
        check(name, answer.returncode == status and said in answer.stderr, f"{answer.returncode} {answer.stderr}")

    count, on = "SELECT count(*) FROM samples", ["--cluster", cluster.url]
    told("a recording that is not there", [*on, count, "not-here.data"], 1, "not-here.data: No such file")
    told("a table that is not there", [*on, "SELECT * FROM sample", recordings[0]], 1, "did you mean `samples`?")
    told("what belongs to executors", [*on, "--memory", "1G", count, recordings[0]], 2, "--memory")
    with tempfile.TemporaryDirectory() as folder:
        content = pathlib.Path(recordings[0]).read_bytes()
        cut, copy = pathlib.Path(folder, "cut.data"), pathlib.Path(folder, "copy.data")
        cut.write_bytes(content[: len(content) // 2])
        copy.write_bytes(content)
        told("a damaged recording", [*on, count, str(cut)], 3, str(cut))
        told("a damaged recording, strictly", [*on, "--strict", count, str(cut)], 1, str(cut))
        told("a recording under two names", [*on, count, recordings[0], str(copy)], 1, "the same recording")
        here, there = ask(cluster.readperf, [count, str(cut)]), ask(cluster.readperf, [*on, count, str(cut)])
        check("the sound part of a damaged recording", here.stdout == there.stdout, here.stdout + there.stdout)


def main():
    split = sys.argv.index("--")
    readperf, *questions = sys.argv[1:split]
    tables, *recordings = sys.argv[split + 1:]
    cluster = Cluster(readperf)
    try:
        no = cluster.until(lambda answer: "no scheduler answers" not in answer.stderr, "the scheduler")
        check("no executors", no.returncode == 1 and "has no executors yet" in no.stderr, no.stderr)
        cluster.execute()
        cluster.execute()
        cluster.wait()
        time.sleep(1)
        asked = {}
        for question in questions:
            name, text = pathlib.Path(question).stem, pathlib.Path(question).read_text()
            asked[f"{name} of tables"] = [text, tables]
            # Recordings have no labels: questions for services and weeks cannot be asked of them.
            if "service" not in text and "date" not in text:
                asked[f"{name} of recordings"] = [text, *recordings]
        all_same(cluster, asked)
        wrong(cluster, recordings)
        killed(cluster, next(question for question in questions if "03-total" in question), recordings)
        all_same(cluster, {"after that": [pathlib.Path(questions[1]).read_text(), tables]})
    finally:
        cluster.stop()
    no = ask(readperf, ["--cluster", cluster.url, "SELECT 1"])
    check("no scheduler", no.returncode == 1 and "no scheduler answers" in no.stderr, no.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
