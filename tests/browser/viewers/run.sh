#!/bin/bash
# Loads what readperf exports in the viewers' own code, in a headless Chromium: tests/browser/viewers/run.sh [READPERF]
#
# Skipped, loudly, without node, npm or chromium. The browser is told not to talk to anybody. KEEP=DIR keeps the pictures.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
readperf=${1:-${CARGO_TARGET_DIR:-$root/target}/release/readperf}
[ ! -e "$readperf" ] || readperf=$(realpath "$readperf")
for tool in node npm chromium; do
	if ! command -v "$tool" >/dev/null; then
		echo "**** no $tool: viewers are not tested ****"
		exit 0
	fi
done
[ -x "$readperf" ] || { echo "no $readperf: build it first"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/*.mjs "$here"/package*.json "$work"
cd "$work" || exit 1
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >npm.log 2>&1 || {
	cat npm.log
	echo "**** npm cannot install what the tests need: viewers are not tested ****"
	exit 0
}
failed=0
for test in *.test.mjs; do
	echo "-- $test"
	READPERF=$readperf FIXTURES=$root/tests/fixtures WORK=$work node "$test" || failed=1
done
[ -z "${KEEP:-}" ] || cp "$work"/*.png "$KEEP"
exit $failed
