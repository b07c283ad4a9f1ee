#!/bin/bash
# Recordings and tables in an object store: tests/fleet/s3.sh READPERF. READPERF has the command `cluster`.
#
# A server on this machine (moto, from PyPI, into target/fleet) takes some of the fixtures and tables of them; s3.py asks.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
readperf=$(realpath "$1")
export PYTHONPATH=$root/target/fleet/s3
python3 -m pip install --quiet --no-compile --target "$PYTHONPATH" 'moto[s3,server]' || {
	echo "**** no Python packages: no object store is asked ****"
	exit 0
}
python3 "$here/s3.py" "$readperf" "$root/tests/fixtures"
