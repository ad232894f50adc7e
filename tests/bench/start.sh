# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# The time and CPU time until commands have begun to measure, beside libbpf loading the same BPF object and offcputime.

first_event() {
	wants first_switch "$1" || [ "$1" = offcputime ] || return 0
	has "$2" || return 0
	"$programs/first_event" first_switch "$@" >> "$samples" 2> "$work/errors" || fail_of "${@:2}"
}

# The time until the command of ctprof starts, when all programs are attached.
start_command() {
	local begun

	wants begin ctprof || return 0
	begun=$(date +%s%N)
	$ctprof offcpu -q -o "$work/begin.raw" -- date +%s%N > "$work/first" || {
		could_not "ctprof offcpu -- date"
		return
	}
	sample begin ctprof "$(awk -v from="$begun" -v to="$(< "$work/first")" 'BEGIN { print (to - from) / 1e9 }')"
}

measure_start() {
	local round

	while next_round; do
		timed offcpu ctprof $ctprof offcpu -q -d 1ms -o "$work/start.raw"
		first_event ctprof $ctprof offcpu -q -o "$work/start.raw"
		first_event offcputime offcputime
		timed top ctprof $ctprof top --batch -n 1 -i 100ms
		start_command
		timed_floor offcpu object "$programs/object_load" build/bpf/profile.linked.o
		timed_floor first_switch object "$programs/object_load" build/bpf/profile.linked.o
		timed_floor top object "$programs/object_load" build/bpf/states.linked.o 100
	done
}
