# Runs commands and prints rows of the table. Sourced by compare.sh.
# shellcheck shell=bash

# once NAME COMMAND...: one run; what it writes goes to NAME.out.
once() {
	local name=$1
	shift
	python3 "$root/benches/side/measure.py" "$name" "$limit" "$@"
}

# in_turn ROUNDS OURS RIVAL: two functions, each as often; the names of the figures are theirs. Each runs twice in a row: under a
# hypervisor that takes back what is free, memory that another program has given back costs whoever runs next up to 0.2 s.
in_turn() {
	local nr
	for nr in $(seq "$1"); do
		"$2" && "$2" && "$3"
		# Once is enough of what is stopped.
		grep -q ' 1$' "$3.times" && break
		"$3"
	done
	return 0
}

# The run with the least CPU time: CPU, wall, MiB, own MiB, whether stopped.
least() {
	sort -n "$1.times" | head -1
}

table_head() {
	echo
	echo '| work | readperf CPU s | wall s | MiB | own MiB | rival | CPU s | wall s | MiB | ratio | aim | met |'
	echo '|---|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|---|'
}

# row WORK OURS RIVAL'S-NAME RIVAL AIM: the ratio of the CPU seconds.
row() {
	local a b
	read -r -a a <<<"$(least "$2")"
	read -r -a b <<<"$(least "$4")"
	awk -v what="$1" -v name="$3" -v aim="$5" -v a="${a[*]}" -v b="${b[*]}" 'BEGIN {
		split(a, x, " "); split(b, y, " ")
		more = y[5] ? "> " : ""
		ratio = y[1] / (x[1] > 0 ? x[1] : 0.005)
		met = aim == "" ? "" : (ratio >= aim ? "yes" : (y[5] ? "not known" : "no"))
		printf "| %s | %.2f | %.2f | %d | %.0f | %s | %s%.2f | %s%.2f | %d | %s%.1f | %s | %s |\n", what, x[1], x[2], x[3], x[4],
			name, more, y[1], more, y[2], y[3], more, ratio, aim, met }'
}

# alone WORK OURS: a row without a rival.
alone() {
	local a
	read -r -a a <<<"$(least "$2")"
	printf '| %s | %.2f | %.2f | %d | %.0f | | | | | | | |\n' "$1" "${a[@]:0:4}"
}

# memory WORK OURS MOST: whether it keeps to so many MiB of its own.
memory() {
	sort -k4 -n "$2.times" | tail -1 | awk -v what="$1" -v most="$3" \
		'{ printf "| %s | | | %d | %.0f | | | | | | at most %d MiB | %s |\n", what, $3, $4, most, $4 <= most ? "yes" : "no" }'
}
