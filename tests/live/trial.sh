# SPDX-License-Identifier: BSD-2-Clause
#
# Several captures on each side: what only varies is not called a difference, and a difference is
# found. Part of tests/live/run.

# For 20 comparisons of 5 and 5 that begin 2 captures apart; and for one of 8 and 8, after a change.
captures=48
changed=8

# One process takes a twentieth of a CPU, and eight times that in the last captures.
series_is_taken() {
	local i

	start "$programs/duty" 1 8
	for ((i = 0; i < captures + changed; i++)); do
		[ $i -ne $captures ] || kill -USR1 "$pid"
		sleep 0.2
		"$ctprof" capture -q -o "$scratch/series.$i.zst"
	done
	touch "$scratch/series"
}

# trial COUNT FIRST SECOND OPTIONS...: captures from FIRST against those from SECOND, in $scratch/trial.
trial() {
	local baseline=() candidate=() i

	for ((i = 0; i < $1; i++)); do
		baseline+=("$scratch/series.$(($2 + i)).zst")
		candidate+=("$scratch/series.$(($3 + i)).zst")
	done
	"$ctprof" compare --format json "${@:4}" --baseline "${baseline[@]}" --candidate "${candidate[@]}" > "$scratch/trial"
}

on_series() {
	[ -e "$scratch/series" ] || skip "there is no series of captures"
	"$@"
}

is_found() {
	jq -e "$@" "$scratch/trial" > /dev/null || { echo "this is not so: $1"; return 1; }
}

# What chance alone does.
flags_little() {
	local tested=0 flagged=0 first row

	for ((first = 0; first < 40; first += 2)); do
		trial 5 $first $((first + 5))
		row=($(jq -r '[.rows[] | select(.p != null)] | "\(length) \(map(select(.p < 0.05)) | length)"' "$scratch/trial"))
		tested=$((tested + row[0]))
		flagged=$((flagged + row[1]))
	done
	between "tested rows" 1000 $tested 10000000
	between "rows of $tested with p < 0.05" 0 $flagged $((tested / 20))
}

finds_the_change() {
	trial $changed $((captures - changed)) $captures
	is_found '.rows[] | select(.group == "duty" and .metric == "run_time_ns")
		| .p < 0.05 and .delta > 0 and .unit == "ns/s"
		and .baseline_values == 7 and .candidate_values == 7'
	is_found '[.notes[] | select(test("Welch") and test("Benjamini"))] | length == 1'
	is_found '.baseline + .candidate | length == 16'
}

# The mean and spread of what was added per second, from the snapshots themselves.
means_are_right() {
	local i

	trial $changed $((captures - changed)) $captures --match duty
	for ((i = captures - changed; i < captures; i++)); do
		zstd -qdc "$scratch/series.$i.zst" | jq -c '{at: .captured_at_unix_ns,
			time: .threads[] | select(.pcomm == "duty").run_time_ns}'
	done | jq -s '[range(1; length) as $i | .[$i] as $b | .[$i - 1] as $a
		| 1e9 * ($b.time - $a.time) / ($b.at - $a.at)]
		| (add / length) as $mean | {$mean, spread: (map(. - $mean | . * .) | add / (length - 1) | sqrt)}' > "$scratch/wanted"
	is_found --slurpfile wanted "$scratch/wanted" '$wanted[0] as $w | .rows[]
		| select(.group == "duty" and .metric == "run_time_ns")
		| (.baseline - $w.mean | fabs) <= 1e-3 * $w.mean and (.baseline_spread - $w.spread | fabs) <= 1e-3 * $w.mean'
}

# A row of a thread that is always read was measured in it.
counts_measured() {
	trial $changed $((captures - changed)) $captures --match duty
	is_found '.rows[] | select(.group == "duty" and .metric == "run_time_ns")
		| .baseline_threads == 1 and .threads == 1
		and (.baseline_measured_threads | IN(1, null)) and (.measured_threads | IN(1, null))'
}

# What carries over from one capture to the next is no independent value.
gauges_are_not_tested() {
	trial $changed $((captures - changed)) $captures --all-rows --match duty
	is_found '[.rows[] | select(.metric | IN("nice", "priority", "nr_threads", "hiwater_rss_bytes", "fair_slice_ns"))]
		| length > 0 and all(.p == null)'
}

surest_first() {
	trial $changed $((captures - changed)) $captures --sections primary --sort-by p
	is_found '[.rows[] | select(.section == "primary" and .p != null).p] | length > 5 and . == sort'
	fails 2 trial 1 0 1 --sort-by p,run_time_ns
}

judges_means() {
	fails 3 trial $changed $((captures - changed)) $captures --fail-if 'duty:run_time_ns > 100%'
	is_found '.fail_if[0].verdict == "broken"'
	trial $changed $((captures - changed)) $captures --fail-if 'duty:run_time_ns > 5000%'
	fails 4 trial $changed $((captures - changed)) $captures --fail-if 'nobody:run_time_ns > 1%'
}

says_too_few() {
	trial 2 0 2
	is_found '[.notes[] | select(test("fewer than"))] | length == 1'
	fails 2 "$ctprof" compare --baseline "$scratch/series.0.zst"
	fails 2 "$ctprof" compare --baseline "$scratch/series.0.zst" --candidate "$scratch/series.1.zst" -- "$scratch/series.2.zst"
}

run_case "a series of captures" alone series_is_taken
run_case "--baseline, --candidate: of 20 comparisons of the same at most 5 % of rows are flagged" alone on_series flags_little
run_case "--baseline, --candidate: a process that got busier is found" alone on_series finds_the_change
run_case "--baseline, --candidate: means and spreads" alone on_series means_are_right
run_case "--baseline, --candidate: how many threads were measured" alone on_series counts_measured
run_case "--baseline, --candidate: gauges are not tested" alone on_series gauges_are_not_tested
run_case "--sort-by p: the surest first" alone on_series surest_first
run_case "--fail-if: of several captures" alone on_series judges_means
run_case "--baseline, --candidate: too few, and too many" alone on_series says_too_few
