#!/usr/bin/env python3
"""Writes views.sql: the views of `readperf sql` in Spark SQL. make.py > views.sql

They are made of the same files as those of `readperf sql` (crates/sql/src/views). What Spark says differently is told here; everything
else is taken as it is, so there is one place for what a view means.
"""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
VIEWS = HERE.parent.parent / "crates" / "sql" / "src" / "views"

# Tables by what their rows are told apart by, where every recording that has them brings them along.
SHARED = {
    "stacks": "stack_id",
    "frames": "frame_id",
    "frame_levels": "frame_id, level",
    "symbols": "function_id",
    "binaries": "binary_id",
}
OF_RECORDINGS = ["profiles", "events", "samples", "mappings", "threads", "switches", "counters", "trace_fields"]

# In an order in which each stands behind what it is made of.
ORDER = [
    "stack_frames", "stack_levels", "stack_functions", "stack_text", "functions", "callers", "callees", "lines",
    "thread_totals", "timeline", "differences", "off_cpu",
]

# Views that Spark has to be told in its own words.
OWN = {
    "stack_frames": """\
SELECT stack_id, place + 1 AS depth, frame_id
FROM stacks LATERAL VIEW posexplode(frame_ids) exploded AS place, frame_id""",
    "stack_text": """\
SELECT stack_id, array_join(transform(array_sort(collect_list(struct(-depth AS d, -level AS l, name))), part -> part.name), ';') AS folded
FROM (
  SELECT l.stack_id, l.depth, l.level, coalesce(s.function, concat('0x', lower(hex(s.address)))) AS name
  FROM stack_levels l JOIN symbols s ON s.function_id = l.function_id
)
GROUP BY stack_id""",
}

# What else differs: Spark's `/` never divides whole numbers.
WORDS = [(re.compile(r"(\([^()]*\)) / 1000000000\b"), r"\1 DIV 1000000000")]

HEAD = """\
-- The tables that `readperf export --format parquet -o DIR` writes, and the views of `readperf sql`, in Spark SQL.
--
--   spark-sql -f views.sql --conf spark.tables=DIR
--
-- then ask, in the same session. In Python: spark.conf.set("spark.tables", "DIR"), and each statement of this file to spark.sql.
-- Spark finds out columns and partitions (`service`, `date`) by itself. A table that a folder does not have is an error when it is asked for, not before.
--
-- Made by make.py from crates/sql/src/views; change these.
"""


def view(name, query):
    return f"CREATE OR REPLACE TEMPORARY VIEW {name} AS\n{query.strip()};\n"


def main():
    print(HEAD)
    for table in OF_RECORDINGS:
        print(view(table, f"SELECT * FROM parquet.`${{spark.tables}}/{table}`"))
    print("-- Rows that several recordings bring along: one of each.\n")
    for table, key in SHARED.items():
        query = f"""\
SELECT * EXCEPT (copy)
FROM (SELECT *, row_number() OVER (PARTITION BY {key} ORDER BY {key}) AS copy FROM parquet.`${{spark.tables}}/{table}`)
WHERE copy = 1"""
        print(view(table, query))
    known = {path.stem for path in VIEWS.glob("*.sql")}
    if known != set(ORDER):
        raise SystemExit(f"views that are not in ORDER, or no longer there: {sorted(known ^ set(ORDER))}")
    for name in ORDER:
        text = (VIEWS / f"{name}.sql").read_text()
        lines = text.splitlines()
        meaning = [line for line in lines if line.startswith("--")]
        query = OWN.get(name, "\n".join(line for line in lines if not line.startswith("--")))
        for pattern, words in WORDS:
            query = pattern.sub(words, query)
        print("\n".join(meaning))
        print(view(name, query))


main()
