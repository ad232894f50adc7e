# SPDX-License-Identifier: BSD-2-Clause
#
# What /metrics of ctprof serve counts, by other readings of the same, and by Prometheus. Part of tests/live/run.

. tests/live/serving.sh

# sums FILE: the time of all threads in a state, in ns, of metrics as text: "STATE NS" each.
sums() {
	sed -nE 's/^ctprof_thread_state_seconds_total\{.*state="([a-z_]+)"\} ([0-9]+)\.([0-9]{9})$/\1 \2\3/p' "$1" |
		awk '{ sums[$1] += $2 } END { for (state in sums) printf "%s %.0f\n", state, sums[state] }' | sort
}

readings() {
	sed -n 's/^ctprof_readings_total //p' "$1"
}

# The sums over all series are those of /api/threads to the nanosecond, whatever has room of its own.
metrics_are_what_threads_did() {
	local try

	start "$programs/churn" 20 10
	serve --keep 1h --max-series 200
	sleep 4
	for try in 1 2 3 4 5; do
		get /metrics > "$scratch/metrics"
		get '/api/threads?from=0' > "$scratch/threads"
		get /metrics > "$scratch/again"
		[ "$(readings "$scratch/metrics")" != "$(readings "$scratch/again")" ] || break
	done
	jq -r '[.threads[].ns | to_entries[]] | group_by(.key)[] | "\(.[0].key) \(map(.value) | add)"' \
		"$scratch/threads" | sort > "$scratch/expected"
	sums "$scratch/metrics" | diff "$scratch/expected" -
	[ -s "$scratch/expected" ]
	between "series" 50 "$(grep -vc '^#' "$scratch/metrics")" 200
}

# The format is the one that is wanted most, of those that there are.
metrics_have_the_format_that_is_wanted() {
	local accept type

	serve -p $$
	while IFS=';' read -r type accept; do
		equal "type for '$accept'" "$(curl -sS -o /dev/null -w '%{content_type}' -H "Accept: $accept" "$at/metrics" | cut -d';' -f1)" "$type"
	done <<- END
		text/plain;
		text/plain;*/*
		text/plain;text/plain;version=0.0.4;q=0.5,application/openmetrics-text;q=0.4
		text/plain;application/openmetrics-text;version=9.0
		application/openmetrics-text;application/openmetrics-text;version=1.0.0,text/plain;q=0.5
		application/vnd.google.protobuf;application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,text/plain;version=0.0.4;q=0.3,*/*;q=0.1
	END
	get /metrics > "$scratch/metrics"
	command -v promtool > /dev/null || skip "needs promtool"
	equal "promtool's opinion" "$(promtool check metrics < "$scratch/metrics" 2>&1)" ""
}

run_case "metrics: sums are what threads did" metrics_are_what_threads_did
run_case "metrics: the format is the one that is wanted" metrics_have_the_format_that_is_wanted
