#!/usr/bin/env python3
"""Draws the answers of docs/fleet.md: pictures.py READPERF TABLES OUT, with a picture for each query beside this file."""

import csv
import io
import pathlib
import subprocess
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

HERE = pathlib.Path(__file__).resolve().parent
COLORS = ["#d9772e", "#4b7bab", "#6a9955", "#b0413e"]
# The same bytes every time.
plt.rcParams.update({"svg.hashsalt": "readperf", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})


def ask(query):
    command = [sys.argv[1], "sql", "--format", "csv", "--file", HERE / f"{query}.sql", sys.argv[2]]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def save(figure, name):
    figure.tight_layout()
    figure.savefig(pathlib.Path(sys.argv[3]) / f"fleet-{name}.svg", metadata={"Date": None})


def allocation():
    rows = ask("allocation")
    services, weeks = sorted({row["service"] for row in rows}), sorted({row["week"] for row in rows})
    figure, axes = plt.subplots(figsize=(6.5, 2.6))
    for nr, service in enumerate(services):
        shares = [float(row["percent"]) for row in rows if row["service"] == service]
        axes.bar([week + (nr - 1) * 0.27 for week in range(len(weeks))], shares, 0.25, label=service, color=COLORS[nr])
    axes.set_xticks(range(len(weeks)), [f"week of {week}" for week in weeks])
    axes.set_ylabel("% in allocate")
    axes.legend()
    save(figure, "allocation")


def grown():
    rows = ask("grown")[::-1]
    figure, axes = plt.subplots(figsize=(6.5, 2.6))
    names = [f"{row['function']} ({row['service']})" for row in rows]
    for nr, when in enumerate(["now", "before"]):
        axes.barh([place + (0.2 if nr else -0.2) for place in range(len(rows))], [float(row[when]) for row in rows], 0.38, label=when, color=COLORS[nr])
    axes.set_yticks(range(len(rows)), names)
    axes.set_xlabel("% of the service, own")
    axes.legend(loc="lower right")
    save(figure, "grown")


def builds():
    rows = ask("builds")[::-1]
    figure, axes = plt.subplots(figsize=(6.5, 2.6))
    known = sorted({row["build"] for row in rows})
    names = [f"{row['build']} on {row['hosts']} hosts of {row['service']}" for row in rows]
    axes.barh(names, [float(row["percent"]) for row in rows], color=[COLORS[known.index(row["build"])] for row in rows])
    axes.set_xlabel("% in libcodec.so")
    save(figure, "builds")


def flames():
    command = [sys.argv[1], "export", "--format", "flamegraph", "--from", "tables", sys.argv[2], "--where", "service = 'web'"]
    subprocess.run([*command, "-o", pathlib.Path(sys.argv[3]) / "fleet-flames.svg"], check=True)


allocation()
grown()
builds()
flames()
