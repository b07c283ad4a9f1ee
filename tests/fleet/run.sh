#!/bin/bash
# Tables outside of this project: tests/fleet/run.sh READPERF [COUNT]. READPERF has the command `sql`.
#
# Records a small service, makes a fleet of COUNT recordings of it, exports it, and asks ten questions: Spark with two workers that are processes
# of their own, and `readperf sql`; then runs the notebook. What is needed (pyspark, pyarrow, matplotlib, nbclient) goes into target/fleet; without Java or the network
# it is said, loudly, and skipped.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
readperf=$(realpath "$1")
count=${2:-24}
python=$root/target/fleet/python
skip() {
	echo "**** $1: the tables are not read by other programs ****"
	exit 0
}
command -v java >/dev/null || skip "no Java"
perf record -q -o /dev/null -e cpu-clock -- true || skip "perf may not record here"
python3 -m pip install --quiet --no-compile --target "$python" pyspark pyarrow matplotlib nbformat nbclient ipykernel || skip "no Python packages"
export PYTHONPATH=$python

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
REQUESTS=8000 "$here/service/record.sh" "$work/recorded"
of=$work/recorded
python3 "$here/make.py" "$work/fleet" "$count" web="$of/web.data@0-1" web="$of/web-grown.data@2-3" search="$of/search.data@0-1" \
	search="$of/search-grown.data@2-3" mail="$of/web.data" web="$of/slow.data@3-3"
for folder in "$work"/fleet/*/*/; do
	service=$(basename "$folder")
	"$readperf" export --format parquet -o "$work/tables" --label "$service" --date --no-progress "$folder"*.data
done 2>"$work/export.err" || { cat "$work/export.err"; exit 1; }

# Every recording is there, and every sample of it.
recorded=0
for recording in "$work"/fleet/*/*/*.data; do
	recorded=$((recorded + $("$readperf" stats --json "$recording" | python3 -c 'import json, sys; print(sum(e["samples"] for e in json.load(sys.stdin)["events"]))')))
done
there=$("$readperf" sql --format csv "SELECT count(*) FROM samples" "$work/tables" | tail -1)
echo "$count recordings, $recorded samples, $there in the tables"
[ "$recorded" = "$there" ]

python3 "$root/docs/spark/make.py" | cmp - "$root/docs/spark/views.sql" || { echo "docs/spark/views.sql is not what make.py makes"; exit 1; }
# Each question runs for seconds, and the better of Java's two compilers takes longer than it saves.
export JAVA_TOOL_OPTIONS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
python3 "$here/spark.py" "$work/tables" "$root/docs/spark/views.sql" 'local-cluster[2,1,1024]' "$here"/questions/*.sql >"$work/spark.json" 2>"$work/spark.err" ||
	{ tail -40 "$work/spark.err"; exit 1; }
python3 "$here/same.py" "$readperf" "$work/spark.json" "$here"/questions/*.sql -- "$work/tables"

"$readperf" export --format parquet -o "$work/one" --no-progress "$of/web.data"
TABLES=$work/one python3 - "$root/docs/tables.ipynb" "$work" <<'END'
import sys

import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], 4)
NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": sys.argv[2]}}).execute()
print("notebook:", notebook.cells[-1].outputs[-1]["data"]["text/plain"])
END
