#!/bin/bash
# A cluster on this machine: tests/fleet/cluster.sh READPERF. READPERF has the command `cluster`.
#
# Records a small service, makes a fleet of twelve recordings of it, exports it, and asks ten questions of both, as cluster.py says.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
readperf=$(realpath "$1")
if ! perf record -q -o /dev/null -e cpu-clock -- true; then
	echo "**** perf may not record here: no cluster is asked ****"
	exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
REQUESTS=8000 "$here/service/record.sh" "$work/recorded"
of=$work/recorded
python3 "$here/make.py" "$work/fleet" 12 web="$of/web.data@0-1" web="$of/web-grown.data@2-3" search="$of/search.data@0-1" \
	search="$of/search-grown.data@2-3" mail="$of/web.data" web="$of/slow.data@3-3"
for folder in "$work"/fleet/*/*/; do
	"$readperf" export --format parquet -o "$work/tables" --label "$(basename "$folder")" --date --no-progress "$folder"*.data
done 2>"$work/export.err" || { cat "$work/export.err"; exit 1; }
python3 "$here/cluster.py" "$readperf" "$here"/questions/*.sql -- "$work/tables" "$work"/fleet/*/*/*.data
