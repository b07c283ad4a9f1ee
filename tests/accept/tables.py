#!/usr/bin/env python3
"""Tables of recordings, read by others: tables.py READPERF RECORDING...

Of each recording: the sums that DuckDB finds in its tables are those of `report --json` and `stats --json`. Of all in one folder: DuckDB, and pandas with
pyarrow, answer ten questions alike. Prints what differs, and in the end one line; the exit status is 1 if anything differs.

Needs the packages duckdb, pandas and pyarrow.
"""

import collections
import json
import math
import shutil
import subprocess
import sys
import tempfile

import duckdb
import pandas
import pyarrow.dataset

TABLES = ["profiles", "events", "samples", "stacks", "frames", "frame_levels", "symbols", "binaries", "mappings", "threads", "switches",
          "counters", "trace_fields"]
WORD = 1 << 64

# As `report` calls functions: by name, else by address; inlined ones are rows of their own.
LABELS = """(SELECT DISTINCT function_id, coalesce(dso, '[unknown]') AS dso, coalesce(function, printf('0x%016x', address)) AS label
             FROM symbols)"""

SELF = f"""
SELECT event, comm, labels.dso, label, sum(period)::HUGEINT FROM samples JOIN {LABELS} labels USING (function_id) GROUP BY ALL"""

TOTAL = f"""
WITH functions AS (SELECT DISTINCT frame_id, function_id, inlined FROM frame_levels),
     found AS (SELECT DISTINCT stack_id, function_id, inlined
               FROM (SELECT stack_id, unnest(frame_ids) AS frame_id FROM stacks) JOIN functions USING (frame_id)),
     kinds AS (SELECT event, comm, stack_id, function_id AS own, sum(period)::HUGEINT AS period FROM samples GROUP BY ALL),
     hits AS (SELECT event, comm, stack_id, own, period, function_id, inlined FROM kinds JOIN found USING (stack_id)
              UNION SELECT event, comm, stack_id, own, period, own, false FROM kinds),
     labelled AS (SELECT DISTINCT event, comm, stack_id, own, period, labels.dso, CASE WHEN inlined THEN label || ' (inlined)' ELSE label END AS label
                  FROM hits JOIN {LABELS} labels USING (function_id))
SELECT event, comm, dso, label, sum(period) FROM labelled GROUP BY ALL"""


def run(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True)
    return done.returncode, done.stdout


def connect(folder):
    connection = duckdb.connect()
    for table in TABLES:
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM '{folder}/{table}/**/*.parquet'")
    return connection


def differences(program, recording, folder):
    """What differs of one recording; None if it cannot be read at all."""
    status, _ = run(program, "export", "--format", "parquet", "-o", folder, recording)
    if status not in (0, 3):
        return None
    tables = connect(folder)
    found = []
    _, report = run(program, "report", "--children", "--json", recording)
    own, total, rows = collections.Counter(), collections.Counter(), collections.Counter()
    for event in json.loads(report)["events"]:
        for row in event["rows"]:
            key = (event["name"], row["comm"], row["dso"], row["symbol"])
            own[key] += row["self_period"]
            total[key] += row["total_period"]
            rows[key] += 1
    for what, query, expected in (("self", SELF, own), ("total", TOTAL, total)):
        told = {tuple(row[:4]): row[4] for row in tables.execute(query).fetchall()}
        for key in set(told) | set(expected):
            ours, theirs = told.get(key, 0) % WORD, expected.get(key, 0) % WORD
            # The report tells functions of one name in one binary apart: a stack with two of them counts for both.
            if ours != theirs and not (what == "total" and rows[key] > 1 and ours <= theirs):
                found.append(f"{what} of {key}: {ours} in the tables, {theirs} in the report")
    _, stats = run(program, "stats", "--json", recording)
    expected = [(event["name"], event["samples"], event["period"] % WORD) for event in json.loads(stats)["events"]]
    events = tables.execute("SELECT event, samples, period FROM events ORDER BY event_id").fetchall()
    if [(name, samples, period % WORD) for name, samples, period in events] != expected:
        found.append(f"events: {events} in the tables, {expected} in stats")
    if tables.execute("SELECT count(*) FROM samples").fetchall()[0][0] != sum(samples for _, samples, _ in expected):
        found.append("samples are not as many as stats tells")
    return found


# Each question in SQL, and as a function of the tables as data frames.
QUESTIONS = {
    "recordings": ("SELECT count(*), count(*) FILTER (damaged) FROM profiles",
                   lambda t: [(len(t["profiles"]), int(t["profiles"].damaged.sum()))]),
    "events": ("SELECT event, count(*), sum(period::DOUBLE) FROM samples GROUP BY 1",
               lambda t: grouped(t["samples"], ["event"], sizes=True)),
    "functions": ("SELECT dso, function, sum(period::DOUBLE) FROM samples WHERE function IS NOT NULL GROUP BY 1, 2",
                  lambda t: grouped(t["samples"].dropna(subset=["function"]), ["dso", "function"])),
    "binaries": ("SELECT dso, count(DISTINCT build_id) FROM binaries GROUP BY 1",
                 lambda t: list(t["binaries"].groupby("dso", observed=True).build_id.nunique().items())),
    "cpus": ("SELECT cpu, count(*) FROM samples WHERE cpu IS NOT NULL GROUP BY 1",
             lambda t: list(t["samples"].dropna(subset=["cpu"]).groupby("cpu").size().items())),
    "modes": ("SELECT cpu_mode, count(*) FROM samples WHERE cpu_mode IS NOT NULL GROUP BY 1",
              lambda t: list(t["samples"].dropna(subset=["cpu_mode"]).groupby("cpu_mode", observed=True).size().items())),
    "threads": ("SELECT comm, count(DISTINCT thread_id), sum(samples) FROM threads GROUP BY 1",
                lambda t: list(t["threads"].groupby("comm", observed=True).agg(n=("thread_id", "nunique"), s=("samples", "sum"))
                               .itertuples(name=None))),
    "depth": ("SELECT max(depth), sum(depth) FROM samples JOIN (SELECT DISTINCT stack_id, depth FROM stacks) USING (stack_id)",
              lambda t: depth(t)),
    "main": ("""SELECT count(*), sum(period::DOUBLE) FROM samples WHERE stack_id IN
                (SELECT stack_id FROM (SELECT stack_id, unnest(frame_ids) AS frame_id FROM stacks)
                 JOIN frame_levels USING (frame_id) WHERE function = 'main')""",
             lambda t: main(t)),
    "inlined": ("""SELECT frame_levels.function, count(*) FROM samples JOIN (SELECT DISTINCT * FROM frame_levels) frame_levels USING (frame_id)
                   WHERE level = 0 AND inlined AND frame_levels.function IS NOT NULL GROUP BY 1""",
                lambda t: inlined(t)),
    "switches": ("SELECT out, preempted, count(*) FROM switches GROUP BY 1, 2",
                 lambda t: [(*key, count) for key, count in t["switches"].groupby(["out", "preempted"]).size().items()]),
}


def grouped(rows, keys, sizes=False):
    groups = rows.assign(period=rows.period.astype(float)).groupby(keys, observed=True)
    told = []
    for key, group in groups.period:
        key = key if isinstance(key, tuple) else (key,)
        told.append((*key, len(group), group.sum()) if sizes else (*key, group.sum()))
    return told


def depth(tables):
    joined = tables["samples"].merge(tables["stacks"][["stack_id", "depth"]].drop_duplicates(), on="stack_id")
    return [(joined.depth.max(), joined.depth.sum())]


def main(tables):
    frames = tables["stacks"][["stack_id", "frame_ids"]].explode("frame_ids").rename(columns={"frame_ids": "frame_id"})
    levels = tables["frame_levels"]
    places = set(levels[levels.function == "main"].frame_id)
    stacks = set(frames[frames.frame_id.isin(places)].stack_id)
    samples = tables["samples"][tables["samples"].stack_id.isin(stacks)]
    return [(len(samples), float(samples.period.astype(float).sum()) if len(samples) else None)]


def inlined(tables):
    levels = tables["frame_levels"].drop_duplicates()
    levels = levels[(levels.level == 0) & levels.inlined].dropna(subset=["function"])
    joined = tables["samples"][["frame_id"]].merge(levels, on="frame_id")
    return list(joined.groupby("function", observed=True).size().items())


def plain(rows):
    """Rows in one order and of plain values: sums of floats differ in their last digits with the order."""
    def value(cell):
        if cell is None or cell is pandas.NA:
            return None
        cell = cell.item() if hasattr(cell, "item") else cell
        return float(f"{cell:.9g}") if isinstance(cell, float) and not math.isnan(cell) else cell
    return sorted((tuple(value(cell) for cell in row) for row in rows), key=repr)


def answers_differ(folder):
    """The questions whose answers differ."""
    tables = connect(folder)
    frames = {}
    for table in TABLES:
        data = pyarrow.dataset.dataset(f"{folder}/{table}", format="parquet")
        frames[table] = data.to_table().to_pandas()
    differing = []
    for name, (query, function) in QUESTIONS.items():
        told = plain(tables.execute(query).fetchall())
        expected = plain((row if isinstance(row, tuple) else (row,)) for row in function(frames))
        if told != expected:
            differing.append(f"{name}: DuckDB {told[:3]}..., pandas {expected[:3]}...")
    return differing


def report_all(program, recordings):
    compared, failed = 0, 0
    with tempfile.TemporaryDirectory(prefix="readperf-tables-") as folder:
        together = f"{folder}/together"
        for recording in recordings:
            alone = f"{folder}/alone"
            found = differences(program, recording, alone)
            shutil.rmtree(alone, ignore_errors=True)
            if found is None:
                continue
            compared += 1
            failed += bool(found)
            for line in found[:5]:
                print(f"{recording}: {line}")
            run(program, "export", "--format", "parquet", "-o", together, recording)
        differing = answers_differ(together) if compared else ["nothing was compared"]
        for line in differing:
            print(f"all together: {line}")
    print(f"{compared} recordings compared, {failed} differ; {len(QUESTIONS)} questions, {len(differing)} answers differ")
    return 1 if failed or differing else 0


if __name__ == "__main__":
    sys.exit(report_all(sys.argv[1], sys.argv[2:]))
