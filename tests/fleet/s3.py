#!/usr/bin/env python3
"""Asks recordings and tables in an object store: s3.py READPERF FIXTURES. Needs moto.

Puts recordings and tables into a server on this machine, and asks them by their addresses, alone and with a cluster of two executors. Answers
have to be those of the same files here. Then what goes wrong: nothing there, no bucket, no credentials, refused, breaking off, no server.
No answer may have a credential in it. Says what differs; then the exit status is 1.
"""

import contextlib
import functools
import http.server
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from cluster import PARTS, Cluster, check, failed, free_port, same_answers

KEY, SECRET = "AKIATESTTESTTEST", "a-secret-that-nobody-may-see"
RECORDINGS = ["main", "multi", "everything"]

QUESTIONS = {
    "sums": "SELECT event, count(*), sum(period) FROM samples GROUP BY 1",
    "functions": "SELECT function, dso, self_period, total_period FROM functions",
    "stacks": "SELECT folded(stack_id), sum(period) FROM samples WHERE contains(stack_id, '^[a-m]') GROUP BY 1",
    "profiles": "SELECT host, samples, damaged FROM profiles",
    "the order of the recording": "SELECT tid, time_ns FROM samples LIMIT 20",
}


def environment(port, **more):
    """What says where the store is; None leaves it out."""
    said = {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "eu-west-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ALLOW_HTTP": "true",
        # Where machines of Amazon ask for credentials: nobody is there.
        "AWS_METADATA_ENDPOINT": "http://127.0.0.1:1",
        **more,
    }
    others = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return {**others, **{name: value for name, value in said.items() if value is not None}}


class Store:
    """A server with what lies below a folder in its bucket `fleet`."""

    def __init__(self, folder, log):
        self.port, self.log = free_port(), log
        command = [sys.executable, "-m", "moto.server", "-p", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=open(log, "wb"))
        end = time.time() + 60
        while True:
            try:
                self.put("fleet")
                break
            except OSError:
                if time.time() > end:
                    sys.exit("the store does not come up")
                time.sleep(0.5)
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            self.put(f"fleet/{file.relative_to(folder)}", file.read_bytes())

    def put(self, path, content=b""):
        url = f"http://127.0.0.1:{self.port}/{urllib.request.quote(path)}"
        request = urllib.request.Request(url, content, {"Content-Type": "application/octet-stream"}, method="PUT")
        urllib.request.urlopen(request, timeout=30).close()

    def fetched(self, key):
        """How often an object was fetched."""
        return len(re.findall(rf'"GET /fleet/{re.escape(key)} ', self.log.read_text()))

    def stop(self):
        self.process.kill()
        self.process.wait()


class Answering(http.server.BaseHTTPRequestHandler):
    """A store that refuses, and repeats what was sent; or one that breaks off in the middle of an object."""

    breaks_off = False

    def do_HEAD(self):
        self.answer(b"")

    def do_GET(self):
        self.answer(f"<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>{KEY}</AWSAccessKeyId></Error>".encode())

    def answer(self, body):
        self.send_response(200 if self.breaks_off else 403)
        self.send_header("Content-Length", "1000000" if self.breaks_off else str(len(body)))
        self.send_header("Last-Modified", "Mon, 23 Nov 2026 12:00:00 GMT")
        self.send_header("ETag", '"a"')
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def answering(breaks_off):
    handler = type("Handler", (Answering,), {"breaks_off": breaks_off})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()


def ask(readperf, words, env, command=("sql", "--format", "csv", "--no-progress")):
    answer = subprocess.run([readperf, *command, *words], capture_output=True, text=True, timeout=300, env=env)
    said = answer.stdout + answer.stderr
    check_silence(said)
    return answer


def check_silence(said):
    if KEY in said or SECRET in said:
        check("credentials stay where they are", False, said)


@functools.cache
def ask_here(readperf, query, *files):
    """What is said of files on this machine: once, however often it is compared."""
    return ask(readperf, [query, *files], dict(os.environ))


def all_same(readperf, env, questions, options, where):
    """Of what is here and of what is there: of each question the query, and both places."""
    parts = PARTS if options else ""
    locally = lambda asked: ask_here(readperf, asked[0], *asked[1])
    remotely = lambda asked: ask(readperf, [*options, parts + asked[0], *asked[2]], env)
    same_answers({f"{name}, {where}": asked for name, *asked in questions}, locally, remotely)


def told(name, answer, status, *said):
    holds = answer.returncode == status and all(word in answer.stderr for word in said) and len(answer.stderr.splitlines()) == 1
    check(name, holds, f"{answer.returncode} {answer.stderr}")


def answers(readperf, env, folder, options, where):
    recordings = [f"{name}.data" for name in RECORDINGS]
    there = [f"s3://fleet/{name}" for name in recordings]
    tables, tables_there = [folder / "all tables"], ["s3://fleet/all tables"]
    asked = [(f"{name} of recordings", query, [folder / one for one in recordings], there) for name, query in QUESTIONS.items()]
    asked += [(f"{name} of tables", query, tables, tables_there) for name, query in QUESTIONS.items()]
    mixed = [folder / "main.data", "s3://fleet/multi.data", "s3://fleet/other/"]
    here = [folder / "main.data", folder / "multi.data", folder / "other"]
    asked.append(("recordings and tables of here and there", QUESTIONS["functions"], here, mixed))
    services = "SELECT service, count(*) FROM samples WHERE service = 'a b' GROUP BY 1"
    asked.append(("partitions", services, tables, ["s3://fleet/all tables/"]))
    all_same(readperf, env, asked, options, where)
    source = ask(readperf, [*options, "SELECT source FROM profiles", there[0]], env)
    check(f"the source is the address, {where}", source.stdout == f"source\n{there[0]}\n", source.stdout + source.stderr)
    damaged = ask(readperf, [*options, "SELECT count(*) FROM samples", "s3://fleet/cut.data"], env)
    local = ask_here(readperf, "SELECT count(*) FROM samples", folder / "cut.data")
    holds = damaged.returncode == local.returncode == 3 and damaged.stdout == local.stdout and "s3://fleet/cut.data" in damaged.stderr
    check(f"a damaged recording, {where}", holds, damaged.stdout + damaged.stderr)


def fetched(readperf, env, store):
    count = store.fetched("main.data")
    ask(readperf, ["SELECT 1", "s3://fleet/main.data"], env)
    check("nothing is fetched that was not asked for", store.fetched("main.data") == count)
    check("a question with several scans", ask(readperf, [QUESTIONS["functions"], "s3://fleet/main.data"], env).returncode == 0)
    check("a recording is fetched once a query", store.fetched("main.data") == count + 1, f"{store.fetched('main.data') - count} times")


def wrong(readperf, env, store):
    count = "SELECT count(*) FROM samples"
    told("no such key", ask(readperf, [count, "s3://fleet/not-here.data"], env), 1, "s3://fleet/not-here.data: nothing is there")
    told("no such bucket", ask(readperf, [count, "s3://nowhere/main.data"], env), 1, "s3://nowhere: there is no such bucket")
    told("an empty folder", ask(readperf, [count, "s3://fleet/nothing/"], env), 1, "neither tables nor recordings")
    told("no address", ask(readperf, [count, f"s3://{KEY}:{SECRET}@fleet/main.data"], env), 1, "s3://BUCKET/KEY")
    bare = environment(store.port, AWS_ACCESS_KEY_ID=None, AWS_SECRET_ACCESS_KEY=None)
    told("no credentials", ask(readperf, [count, "s3://fleet/main.data"], bare), 1, "s3://fleet/main.data: no credentials")
    plain = environment(store.port, AWS_ALLOW_HTTP=None)
    told("no encryption", ask(readperf, [count, "s3://fleet/main.data"], plain), 1, "AWS_ALLOW_HTTP")
    for place in "main.data", "all tables":
        away = environment(free_port())
        told(f"no server, {place}", ask(readperf, [count, f"s3://fleet/{place}"], away), 1, f"s3://fleet/{place}: ", "Connection refused")
        with answering(breaks_off=False) as port:
            told(f"refused, {place}", ask(readperf, [count, f"s3://fleet/{place}"], environment(port)), 1, f"s3://fleet/{place}: refused")
    with answering(breaks_off=True) as port:
        told("an object that breaks off", ask(readperf, [count, "s3://fleet/main.data"], environment(port)), 1, "s3://fleet/main.data: ")
    told("another command", ask(readperf, ["s3://fleet/main.data"], env, ["report"]), 1, "s3://fleet/main.data: only readperf sql")
    for command in ["export", "--format", "parquet", "main.data"], ["export", "main.data"]:
        refused = ask(readperf, ["-o", "s3://fleet/out"], env, command)
        check(f"writing there, {len(command)} words", refused.returncode == 2 and "nothing is written to object stores" in refused.stderr, refused.stderr)


def clustered(readperf, env, folder):
    os.environ.update({name: value for name, value in env.items() if name.startswith("AWS_")})
    cluster = Cluster(readperf)
    try:
        cluster.execute()
        cluster.execute()
        cluster.wait()
        answers(readperf, env, folder, ["--cluster", cluster.url], "by a cluster")
    finally:
        cluster.stop()
    # Who asks has credentials, who works has none: they do not travel.
    for name in "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY":
        del os.environ[name]
    cluster = Cluster(readperf)
    try:
        cluster.execute()
        cluster.wait()
        for place in "main.data", "all tables":
            answer = ask(readperf, ["--cluster", cluster.url, "SELECT sum(period) FROM samples", f"s3://fleet/{place}"], env)
            told(f"an executor without credentials, {place}", answer, 1, "no credentials", f"s3://fleet/{place}")
    finally:
        cluster.stop()


def main():
    readperf, fixtures = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work, "fleet")
        folder.mkdir()
        for name in [*RECORDINGS, "cut"]:
            (folder / f"{name}.data").write_bytes((fixtures / name / "perf.data").read_bytes())
        for tables, label, names in ("all tables", "service=a b", RECORDINGS), ("other", "service=web", ["everything"]):
            export = [readperf, "export", "--no-progress", "--format", "parquet", "--label", label, "-o", folder / tables]
            subprocess.run([*export, *(folder / f"{name}.data" for name in names)], check=True, stderr=subprocess.DEVNULL)
        store = Store(folder, pathlib.Path(work, "log"))
        env = environment(store.port)
        try:
            answers(readperf, env, folder, [], "alone")
            fetched(readperf, env, store)
            wrong(readperf, env, store)
            clustered(readperf, env, folder)
        finally:
            store.stop()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
