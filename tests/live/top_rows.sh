# SPDX-License-Identifier: BSD-2-Clause
#
# Which rows windows of ctprof top have, and when it ends. Part of tests/live/run.

# Without BPF there are no windows of states.
rows_need_top() {
	is_root
	output=$("$ctprof" top --batch -n 1 -i 50ms --format none --record "$scratch/rows.none" -p $$ 2>&1) || skip "$output"
	"$@"
}

# A zombie: its parent has not reaped it.
is_dead() {
	[ "$(sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f1)" = Z ]
}

# Two children that nobody reaps: one that is dead before, and one that dies meanwhile. Only the second is there, and
# ends once.
dead_are_not_alive() {
	local engine dead dying tops=()

	start bash -c 'sleep 0.3 & dead=$!; sleep 6 & echo ready $dead $!; exec sleep 1000'
	read -r dead dying <<< "$ready"
	until is_dead "$dead"; do sleep 0.05; done
	for engine in exact counters taskstats; do
		"$ctprof" top --batch -n 18 -i 500ms -e $engine --format json -f "pid:$dead|$dying" > "$scratch/rows.$engine" &
		tops+=($!)
	done
	wait "${tops[@]}"
	is_dead "$dying"
	for engine in exact counters taskstats; do
		equal "rows of the dead one ($engine)" "$(jq -c "select(.tid == $dead)" "$scratch/rows.$engine" | wc -l)" 0
		equal "how the dying one ends ($engine)" "$(jq -sr "[.[] | select(.tid == $dying).ended] |
			if length > 1 and all(.[:-1][]; not) then .[-1] else \"alive in \(map(select(not)) | length) windows\" end" \
			"$scratch/rows.$engine")" true
	done
}

# One that ends while it is read is told as ended then, and not in the window after with nothing in it.
ends_are_told_once() {
	start "$programs/churn" 100 20
	"$ctprof" top --batch -n 100 -i 50ms --format json -p "$pid" > "$scratch/rows.churn"
	between "threads that ended" 1000 "$(jq -c 'select(.ended)' "$scratch/rows.churn" | wc -l)" 100000
	equal "ends of nothing" "$(jq -c 'select(.ended and .window_ns == 0)' "$scratch/rows.churn" | wc -l)" 0
}

run_case "top: what is dead and not reaped ends once, and is not alive" rows_need_top dead_are_not_alive
run_case "top: what ends while it is read is told once" rows_need_top ends_are_told_once
