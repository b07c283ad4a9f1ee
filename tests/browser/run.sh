#!/bin/bash
# Loads what readperf exports in a headless Chromium, by itself and in the viewers' own code: tests/browser/run.sh [READPERF]
#
# Skipped, loudly, without node, npm, python3 or chromium. The browser is told not to talk to anybody. KEEP=DIR keeps the
# viewers' pictures.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
readperf=${1:-${CARGO_TARGET_DIR:-$root/target}/release/readperf}
[ ! -e "$readperf" ] || readperf=$(realpath "$readperf")
for tool in node npm python3 chromium; do
	if ! command -v "$tool" >/dev/null; then
		echo "**** no $tool: tests in the browser are skipped ****"
		exit 0
	fi
done
[ -x "$readperf" ] || { echo "no $readperf: build it first"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# tests FOLDER: runs the tests of a folder, with the packages that it asks for.
tests() {
	local place
	place=$work/$(basename "$1")
	mkdir "$place"
	find "$1" -maxdepth 1 -type f ! -name '*.sh' -exec cp {} "$place" \;
	cd "$place" || return 1
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >npm.log 2>&1 || {
		cat npm.log
		echo "**** npm cannot install what the tests of $(basename "$1") need: skipped ****"
		return 0
	}
	for test in *.test.mjs; do
		echo "-- $test"
		READPERF=$readperf FIXTURES=$root/tests/fixtures WORK=$place node "$test" 2>&1 | tee "$work/log"
		[ "${PIPESTATUS[0]}" = 0 ] || failed+=("$test: $(grep -m 1 -E '^(FAILED|[A-Za-z]*Error)' "$work/log" | cut -c -300)")
	done
}

failed=()
for folder in "$here" "$here/viewers"; do
	tests "$folder" || failed+=("$folder")
done
[ -z "${KEEP:-}" ] || cp "$work"/viewers/*.png "$KEEP"
[ ${#failed[@]} -gt 0 ] || exit 0
printf 'failed: %s\n' "${failed[@]}"
exit 1
