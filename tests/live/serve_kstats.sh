# SPDX-License-Identifier: BSD-2-Clause
#
# Metrics of kstats that ctprof serve reads, by calls of a program that knows how many it made. Part of tests/live/run.

. tests/live/serving.sh

own_comm=kserve-$$
calls=$scratch/$own_comm
cp "$programs/kstats_calls" "$calls"

kstats() {
	"${inside[@]}" "$ctprof" kstats "$@"
}

# metric NAME [WORDS...]: of this program's getppid(), or what WORDS say.
metric() {
	local name=$1

	shift
	[ $# -gt 0 ] || set -- start syscall:getppid
	kstats trace --comm "$own_comm" "$name" "$@" > /dev/null 2>&1
}

do_calls() {
	"$calls" getppid "$1" > "$scratch/did"
}

# sample NAME LABELS: the value of one series of /metrics, whose other labels are the host and those that tell metrics apart.
sample() {
	sed -nE "s/^$1\{[^}]*$2\} ([0-9.]+)\$/\1/p" "$scratch/metrics"
}

# counted COUNT [NAME]: until the metric NAME has so many values in /metrics, which are then in a file.
counted() {
	local i

	for ((i = 0; i < 300; i++)); do
		get /metrics > "$scratch/metrics"
		[ "$(sample "ctprof_kstats_${2:-calls}_seconds_count" '')" != "$1" ] || return 0
		sleep 0.1
	done
	equal "values" "$(sample "ctprof_kstats_${2:-calls}_seconds_count" '')" "$1"
}

# What kstats show exports, at the bounds that /metrics has.
agrees_with_show() {
	kstats show calls --format openmetrics > "$scratch/shown"
	sed -nE 's/^ctprof_kstats_calls_seconds_bucket\{host="[^"]*",le="([^"]*)"\} ([0-9]+)$/\1 \2/p' "$scratch/shown" |
		awk '{ printf "%.9f %d\n", $1 == "+Inf" ? -1 : $1, $2 }' > "$scratch/all"
	sed -nE 's/^ctprof_kstats_calls_seconds_bucket\{host="[^"]*",le="([^"]*)"\} ([0-9]+)$/\1 \2/p' "$scratch/metrics" |
		awk '{ printf "%.9f %d\n", $1 == "+Inf" ? -1 : $1, $2 }' > "$scratch/some"
	equal "buckets" "$(wc -l < "$scratch/some")" 17
	equal "buckets with another count or bound" "$(grep -vxFf "$scratch/all" "$scratch/some" || true)" ""
	equal "the sum" "$(sample ctprof_kstats_calls_seconds_sum '' | awk '{ printf "%.9f", $1 }')" \
		"$(sed -nE 's/^ctprof_kstats_calls_seconds_sum\{.*\} //p' "$scratch/shown" | awk '{ printf "%.9f", $1 }')"
}

# Of the stream: values of a metric by its name, of all ticks so far.
streamed() {
	{ timeout 5 curl -sSN "$at/api/live" || true; } 2> /dev/null | sed -n 's/^data: //p' |
		jq -sc --arg name "$1" 'reduce (.[] | select(.kstats)) as $tick ({ names: [], count: 0, sum: 0 };
			.names += $tick.metrics.name | .names as $names
			| reduce ($tick.kstats.metric | to_entries[] | select($names[.value] == $name) | .key) as $row (.;
				.count += ($tick.kstats.counts[$row] | add // 0) | .sum += $tick.kstats.sum[$row]))
		| [.count, .sum]'
}

# All values, in all answers; and more, whatever happens to the metric.
values_are_counted() {
	serve
	get /metrics > /dev/null
	metric calls
	do_calls 1234
	counted 1234
	agrees_with_show
	equal "values and their sum in the stream" "$(streamed calls)" \
		"[1234,$(sample ctprof_kstats_calls_seconds_sum '' | awk '{ printf "%.0f", $1 * 1e9 }')]"
	equal "times between" "$(sample ctprof_kstats_GAP_calls_seconds_count '')" 1233
	kstats reset calls
	do_calls 66
	counted 1300
	kstats remove calls
	metric calls bits 5 start syscall:getppid
	do_calls 100
	counted 1400
	equal "values of the new one" "$(kstats show calls --format openmetrics | sed -nE 's/^ctprof_kstats_calls_seconds_count.* //p')" 100
	kstats remove calls
	metric calls start syscall:getpid
	until get /metrics > "$scratch/metrics" && [ -n "$(sample ctprof_kstats_calls_seconds_count ',start="syscall:getpid",key="task"')" ]; do sleep 0.1; done
	equal "values at the first place" "$(sample ctprof_kstats_calls_seconds_count ',start="syscall:getppid",key="task"')" 1400
	command -v promtool > /dev/null || skip "needs promtool"
	equal "promtool's opinion" "$(promtool check metrics < "$scratch/metrics" 2>&1)" ""
}

# What was recorded before the server started is not of its time.
earlier_values_are_not() {
	metric calls
	do_calls 500
	serve
	get /metrics > /dev/null
	do_calls 20
	counted 20
	kstats remove calls
	sleep 2
	get /metrics > "$scratch/metrics"
	equal "values of one that is gone" "$(sample ctprof_kstats_calls_seconds_count '')" 20
}

# A command that holds its locks does not stop the server, and no value is lost meanwhile.
locks_are_not_waited_for() {
	local before

	metric calls
	serve
	get /metrics > /dev/null
	"${inside[@]}" flock -F /sys/fs/bpf/ctprof/calls flock -F /sys/fs/bpf/ctprof sleep 60 &
	at_end "kill $!; wait $!"
	do_calls 30
	get /metrics > "$scratch/metrics"
	before=$(sed -n 's/^ctprof_readings_total //p' "$scratch/metrics")
	until get /metrics > "$scratch/metrics" && [ "$(sed -n 's/^ctprof_readings_total //p' "$scratch/metrics")" -gt $((before + 2)) ]; do
		sleep 0.2
	done
	kill $!
	wait $! || true
	counted 30
}

some_are_wanted() {
	metric calls
	metric others
	serve --kstats 'oth*'
	get /metrics > /dev/null
	do_calls 10
	counted 10 others
	equal "values of the other" "$(sample ctprof_kstats_calls_seconds_count '')" ""
	serve --no-kstats
	get /metrics > "$scratch/metrics"
	equal "metrics that are not wanted" "$(grep '^ctprof_kstats' "$scratch/metrics")" "ctprof_kstats_without_series 0"
}

run_case "serve: kstats: values are counted, once" has_own_place values_are_counted
run_case "serve: kstats: earlier values are not" has_own_place earlier_values_are_not
run_case "serve: kstats: locks are not waited for" has_own_place locks_are_not_waited_for
run_case "serve: kstats: some are wanted" has_own_place some_are_wanted
