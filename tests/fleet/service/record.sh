#!/bin/bash
# Records the services of the example in docs/fleet.md: record.sh OUT. They are built and recorded here, a second or two each.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1
mkdir -p "$out"
cd "$out"

# build NAME RANKING KEPT SLOW: a program and its library in a folder of their own. Libraries differ in their build-id.
build() {
	mkdir -p "$1"
	cc -g -O2 -fno-omit-frame-pointer -fPIC -shared ${4:+-DSLOW} -Wl,--build-id=sha1 -o "$1/libcodec.so" "$here/codec.c"
	cc -g -O2 -fno-omit-frame-pointer -DRANKING="$2" -DKEPT="$3" -Wl,--build-id=sha1 -o "$1/service" "$here/service.c" -L"$1" -lcodec -Wl,-rpath,"$out/$1"
}

# record NAME BUILD: the time of day is needed to put recordings into their weeks.
record() {
	perf record -q -k CLOCK_MONOTONIC -e cpu-clock -F "${FREQUENCY:-4000}" -g -o "$1.data" -- "$2/service" "${REQUESTS:-40000}"
}

build web 2 40 ""
build web-grown 2 120 ""
build search 4 10 ""
build search-grown 9 10 ""
build slow 2 40 yes
for name in web web-grown search search-grown slow; do record "$name" "$name"; done
