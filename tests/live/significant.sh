# SPDX-License-Identifier: BSD-2-Clause
#
# Differences of profiles: two series of one program do not differ, and a function that does more is named. Part of
# tests/live/run.

runs=6

# take_runs NAME PERCENT...: profiles of the program in turns, so that what drifts is on all sides.
take_runs() {
	local i percent

	for ((i = 1; i <= runs; i++)); do
		for percent in "$@"; do
			"$ctprof" profile --mode on -F 4999 -q -o "$scratch/run.$percent.$i.raw" -- \
				"$programs/requests" "${percent#again}" 1 > "$scratch/took" || { cat "$scratch/took"; return 1; }
		done
	done
	touch "$scratch/runs"
}

takes_runs() {
	is_root
	"$ctprof" profile -q -o "$scratch/first.raw" -- true 2> "$scratch/refused" || skip "$(cat "$scratch/refused")"
	take_runs 0 again0 20
}

# differs OPTIONS... FILES: in $scratch/answer; its exit status.
differs() {
	"$ctprof" flame -q --diff --significant "$@" > "$scratch/answer" 2> "$scratch/verdicts"
}

on_runs() {
	[ -e "$scratch/runs" ] || skip "there are no profiles"
	"$@"
}

finds_the_function() {
	differs "$scratch"/run.0.*.raw -- "$scratch"/run.20.*.raw
	head -1 "$scratch/answer" | grep -qE '^parse_json takes [0-9.]+ % more CPU time' ||
		{ head -20 "$scratch/answer"; return 1; }
}

is_a_gate() {
	local status=0

	differs --fail-if 'func:parse_json > +2%' "$scratch"/run.0.*.raw -- "$scratch"/run.20.*.raw || status=$?
	equal "the exit status" $status 3
	differs --fail-if 'func:render > +100%' "$scratch"/run.0.*.raw -- "$scratch"/run.20.*.raw ||
		{ cat "$scratch/verdicts"; return 1; }
}

# Profiles of one program, shared out to two sides in ways that have little to do with each other. One of them may
# differ by chance.
finds_nothing() {
	local wrong=0 split side i

	for split in 000000111111 010101010101 001100110011 011010010110 000111111000; do
		local sides=([0]= [1]=)
		for ((i = 0; i < 2 * runs; i++)); do
			side=${split:$i:1}
			sides[$side]+=" $scratch/run.$([ $i -lt $runs ] && echo 0 || echo again0).$((i % runs + 1)).raw"
		done
		differs ${sides[0]} -- ${sides[1]}
		[ "$(head -1 "$scratch/answer")" = "No difference is known to be real" ] || wrong=$((wrong + 1))
	done
	between "comparisons that differ" 0 $wrong 1
}

run_case "runs of a program are profiled" undisturbed takes_runs
run_case "20 % more work in one function is found" undisturbed on_runs finds_the_function
run_case "and fails a build" undisturbed on_runs is_a_gate
run_case "a program does not differ from itself" undisturbed on_runs finds_nothing
