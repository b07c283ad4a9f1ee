#!/usr/bin/env python3
"""Asks Spark the questions: spark.py TABLES VIEWS MASTER QUESTION... prints one JSON object, the rows of each question by its name.

MASTER is as Spark takes it: local[2], or local-cluster[2,1,1024] for two workers that are processes of their own.
"""

import json
import pathlib
import sys

from pyspark.sql import SparkSession


def statements(text):
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    return [statement for statement in "\n".join(lines).split(";\n") if statement.strip()]


def main():
    tables, views, master = sys.argv[1:4]
    spark = SparkSession.builder.master(master).appName("readperf").config("spark.ui.enabled", "false")
    spark = spark.config("spark.sql.shuffle.partitions", "8").config("spark.tables", tables).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    for statement in statements(pathlib.Path(views).read_text()):
        spark.sql(statement.replace("${spark.tables}", tables))
    answers = {}
    for path in map(pathlib.Path, sys.argv[4:]):
        rows = spark.sql(path.read_text()).collect()
        answers[path.stem] = [list(row) for row in rows]
    print(json.dumps(answers, default=str))
    spark.stop()


main()
