# The work that is compared: for each part a function work_PART. Sourced by compare.sh.
# shellcheck shell=bash

# CPU time is that of one thread, and nothing is left of earlier runs.
plain='--no-progress --no-cache --threads 1'

has_format() {
	"$readperf" export --help | grep -q "^ *$1 "
}

work_reading() {
	"$compare" swap all.data swapped.data
	ours() { once ours "$compare" ours all.data; }
	theirs() { once theirs "$compare" theirs all.data; }
	swapped() { once swapped "$compare" ours swapped.data; }
	stats() { once stats "$readperf" stats --no-progress all.data; }
	perf_stats() { once perf_stats perf report --stats -i all.data; }
	packed() { once packed "$compare" ours packed.data; }
	unpack() { once unpack "$compare" unpack packed.data; }
	heads() { once heads "$compare" heads all.data; }
	# They are short, and the system counts CPU time in ticks.
	in_turn $((rounds * 5)) ours theirs
	in_turn $((rounds * 5)) swapped heads
	in_turn $((rounds * 5)) stats perf_stats
	in_turn "$rounds" packed unpack
	cmp ours.out theirs.out || { echo "the sums differ"; exit 1; }
	cmp ours.out swapped.out || { echo "the sums of the swapped copy differ"; exit 1; }
	row 'every sample decoded, in order of time' ours 'linux-perf-data' theirs 10
	memory 'the same' ours 64
	row 'count records' stats '`perf report --stats`' perf_stats 4
	alone 'from head to head of the mapped file, and nothing else' heads
	row 'the same recording in the other byte order' swapped 'native order' ours 0.83
	row 'compressed' packed 'its zstd stream alone' unpack ''
	rm -f swapped.data
}

# reports_of FILE OF: reports of a recording; OF says which it is, behind the work.
reports_of() {
	local file=$1 of=$2
	# shellcheck disable=SC2086 # They are several.
	self() { once self "$readperf" report $plain --no-children "$file"; }
	perf_self() { once perf_self perf report --no-children -g none --stdio -i "$file"; }
	# shellcheck disable=SC2086
	children() { once children "$readperf" report $plain --children "$file"; }
	# shellcheck disable=SC2086
	plain_children() { once plain_children "$readperf" report $plain --children --no-inline "$file"; }
	perf_children() { once perf_children perf report --children --stdio -i "$file"; }
	rm -f self.times perf_self.times children.times plain_children.times perf_children.times
	in_turn "$rounds" self perf_self
	# perf takes long for this, and many times the memory of the recording.
	in_turn 1 children perf_children
	in_turn "$rounds" children plain_children
	row "report, self only$of" self '`perf report --no-children -g none`' perf_self 12
	row "report with children$of" children '`perf report --stdio`' perf_children 50
	memory 'the same' children 120
	row 'the same without inlined functions' plain_children '`perf report --stdio`' perf_children 50
}

work_report() {
	reports_of all.data ''
	# shellcheck disable=SC2086
	overview() { once overview "$readperf" $plain --csv-dir csv all.data; }
	perf_self() { once perf_self perf report --no-children -g none --stdio -i all.data; }
	mkdir -p csv
	rm -f perf_self.times
	in_turn "$rounds" overview perf_self
	row 'overview and the CSV tables' overview '`perf report --no-children -g none`' perf_self 3
}

# text_of FILE OF: the text of a recording.
text_of() {
	local file=$1 of=$2
	# shellcheck disable=SC2086
	text() { once text "$readperf" script $plain "$file"; }
	perf_text() { once perf_text perf script -i "$file"; }
	rm -f text.times perf_text.times
	in_turn "$rounds" text perf_text
	row "text of every sample$of" text '`perf script`' perf_text 10
}

work_script() {
	text_of all.data ''
}

# folded_of FILE OF: the stacks of a recording, folded.
folded_of() {
	local file=$1 of=$2
	# shellcheck disable=SC2086
	folded() { once folded "$readperf" export $plain --format folded -o folded.txt "$file"; }
	perf_folded() { once perf_folded sh -c "perf script -i '$file' | '$compare' collapse"; }
	rm -f folded.times perf_folded.times
	in_turn "$rounds" folded perf_folded
	row "folded stacks$of" folded '`perf script` into inferno' perf_folded 15
	memory 'the same' folded 200
}

work_server() {
	reports_of server.data ' (server)'
	text_of server.data ' (server)'
	folded_of server.data ' (server)'
}

work_lines() {
	lines() { once lines "$readperf" script --no-progress --no-cache --inline -F +srcline lines.data; }
	kept_lines() { once kept_lines "$readperf" script --no-progress --inline -F +srcline lines.data; }
	perf_lines() { once perf_lines perf script --inline -F +srcline -i lines.data; }
	in_turn 1 lines perf_lines
	# The first run finds none that are kept.
	kept_lines
	rm -f kept_lines.times
	in_turn "$rounds" lines kept_lines
	row 'lines and inlines of all frames' lines '`perf script -F +srcline`' perf_lines 50
	alone 'the same, lines kept from an earlier run' kept_lines
}

work_unwinding() {
	unwind() { once unwind "$readperf" script --no-progress --no-cache -F ip,sym unwind.data; }
	perf_unwind() { once perf_unwind perf script -F ip,sym -i unwind.data; }
	all_stacks() { once all_stacks "$readperf" script --no-progress --no-cache -F ip,sym dwarf.data; }
	in_turn 1 unwind perf_unwind
	in_turn "$rounds" unwind all_stacks
	row 'recorded stacks unwound (part of them)' unwind '`perf script -F ip,sym`' perf_unwind 20
	if command -v samply >/dev/null; then
		import_stacks() { once import_stacks samply import --save-only -o stacks.json dwarf.data; }
		in_turn "$rounds" all_stacks import_stacks
		row 'recorded stacks unwound' all_stacks '`samply import` (a file without names)' import_stacks 1
	else
		alone 'recorded stacks unwound' all_stacks
	fi
}

work_exports() {
	local format
	folded_of all.data ''
	# shellcheck disable=SC2086
	flamegraph() { once flamegraph "$readperf" export $plain --format flamegraph -o flames.svg all.data; }
	folded() { once folded "$readperf" export $plain --format folded -o folded.txt all.data; }
	in_turn "$rounds" folded flamegraph
	row 'flame graph' flamegraph 'folded stacks' folded 0.83
	for format in firefox pprof; do
		if has_format "$format"; then
			# shellcheck disable=SC2086
			ours_exported() { once "$format" "$readperf" export $plain --format "$format" -o "$format.out" all.data; }
			if [ "$format" = firefox ] && command -v samply >/dev/null; then
				imported() { once imported samply import --save-only -o imported.json all.data; }
				# shellcheck disable=SC2086
				plain_exported() { once firefox_plain "$readperf" export $plain --format firefox -o firefox.json all.data; }
				for _ in $(seq "$rounds"); do plain_exported; ours_exported; imported; done
				row 'Firefox file with names' firefox_plain '`samply import` (without names)' imported 5
				row 'the same, compressed' firefox '`samply import` (without names)' imported 4
			else
				for _ in $(seq "$rounds"); do ours_exported; done
				alone "$format" "$format"
			fi
			memory 'the same' "$format" 200
		fi
	done
}

# threads_of WORK COMMAND...: two threads against one; wall seconds, since CPU seconds are the same work.
threads_of() {
	local what=$1 nr
	shift
	rm -f one.times two.times
	for nr in $(seq "$rounds"); do
		once one "$@" --threads 1
		once two "$@" --threads 2
	done
	cmp one.out two.out || { echo "the output differs with the number of threads"; exit 1; }
	sort -k2 -n one.times | head -1 >one.best
	sort -k2 -n two.times | head -1 | paste -d' ' - one.best | awk -v what="$what" '{
		ratio = $7 / $2
		met = (ratio >= 1.35) ? "yes" : "no"
		printf "| 2 threads: %s | %.2f | %.2f | %d | %.0f | 1 thread | %.2f | %.2f | %d | %.2f (wall) | 1.35 | %s |\n",
			what, $1, $2, $3, $4, $6, $7, $8, ratio, met }'
}

work_threads() {
	threads_of 'report, self only' "$readperf" report --no-progress --no-cache --no-children all.data
	threads_of 'report with children' "$readperf" report --no-progress --no-cache --children all.data
	threads_of 'text' "$readperf" script --no-progress --no-cache all.data
	threads_of 'lines and inlines' "$readperf" script --no-progress --no-cache --inline -F +srcline lines.data
	threads_of 'unwinding' "$readperf" script --no-progress --no-cache -F ip,sym dwarf.data
	threads_of 'folded stacks' "$readperf" export --no-progress --no-cache --format folded all.data
}
