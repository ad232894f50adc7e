# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the measurements share: taking samples, and threads to measure on.

programs=build/tests/bench
ctprof=build/ctprof
failed=0
declare -A failures=()

# Run one measurement, which prints samples.
measure() {
	"$@" >> "$samples" 2> "$work/errors" || could_not "$* ($(tail -n 1 "$work/errors"))"
}

# Print each failure once, however many rounds have it.
could_not() {
	local failure=${1:0:300}

	failure=${failure//$work/…}
	[[ -n ${failures[$failure]-} ]] || echo "could not run: $failure"
	failures[$failure]=yes
	failed=1
}

left_out() {
	local failure=${1:0:300}

	[[ -n ${failures[$failure]-} ]] || echo "left out: $failure"
	failures[$failure]=yes
}

# The first line that a tool printed before it ended.
complaint() {
	grep -m 1 . "$work/tool_output"
}

# `while next_round` goes through the rounds, in $round, and leaves some out when the measurement has taken its time: a
# busy host is slow.
next_round() {
	round=$((${round:--1} + 1))
	((round < rounds && (round < 2 || SECONDS < measurement_end)))
}

# sample NAME SIDE NUMBER...
sample() {
	echo "$@" >> "$samples"
}

# wants SAMPLE [SIDE]: does a row that was asked for use it?
wants() {
	[[ -n ${wanted[$*]-} ]]
}

# has COMMAND: a peer that is not installed leaves its rows empty, which is not a failure.
has() {
	command -v "$1" > /dev/null || {
		[[ " $missing " == *" $1 "* ]] || missing+=" $1"
		return 1
	}
}

# timed SAMPLE SIDE COMMAND...: if a row uses it and the command is there.
timed() {
	wants "$1" "$2" && has "$3" || return 0
	"$programs/timed" "$@" >> "$samples" 2> "$work/errors" || fail_of "${@:3}"
}

# A program of this build must run; a peer that fails leaves its rows empty.
fail_of() {
	local failure="$* ($(tail -n 1 "$work/errors"))"

	if [[ $1 == build/* ]]; then
		could_not "$failure"
	else
		left_out "$failure"
	fi
}

# Some kernels cannot run the program of a floor; the row then has no floor.
timed_floor() {
	wants "$1" "$2" && "$programs/timed" "$@" >> "$samples" 2> /dev/null
}

# start_program PROGRAM ARGUMENT...: start a program of the bench, and wait until it prints a line, into $work/ready, or
# ends. Its number is in $started.
start_program() {
	local program=$1

	shift
	: > "$work/ready"
	"$programs/$program" "$@" > "$work/ready" 2> "$work/errors" &
	started=$!
	while kill -0 $started 2> /dev/null && [ ! -s "$work/ready" ]; do
		sleep 0.05
	done
}

# start_threads PROCESSES THREADS [WAKING]: leaves the process that holds them in $sleepers.
start_threads() {
	make_room $(($1 * $2))
	start_program many_threads "$@"
	sleepers=$started
	[ -s "$work/ready" ] && return
	give_back
	could_not "$1 processes of $2 threads: $(sort "$work/errors" | uniq -c | head -n 1)"
	return 1
}

stop_threads() {
	kill $sleepers
	wait $sleepers 2> /dev/null
	sleepers=
	give_back
}

# make_room THREADS: let the kernel number that many threads; give_back undoes it. Numbers that are
# given out stay valid when the limit falls.
make_room() {
	local limit
	limit=$(< /proc/sys/kernel/pid_max)

	((limit > $1 * 2)) && return
	pid_max=$limit
	echo $(($1 * 2 + 65536)) > /proc/sys/kernel/pid_max
}

give_back() {
	[ -z "${pid_max-}" ] || echo "$pid_max" > /proc/sys/kernel/pid_max
	pid_max=
}

# The kernel counts the time of BPF programs from here to give_back_stats.
count_programs() {
	bpf_stats=$(< /proc/sys/kernel/bpf_stats_enabled)
	echo 1 > /proc/sys/kernel/bpf_stats_enabled
}

give_back_stats() {
	[ -z "${bpf_stats-}" ] || echo "$bpf_stats" > /proc/sys/kernel/bpf_stats_enabled
	bpf_stats=
}

# --- tools that stay attached ---

tools=()

# start_tool COMMAND...: its number is in $tool.
start_tool() {
	"$@" > "$work/tool_output" 2>&1 &
	tool=$!
	tools+=("$tool")
}

# Kill them: what tools print at their end is not used, and takes time.
end_tools() {
	local tool

	for tool in "${tools[@]}"; do
		kill -KILL "$tool" 2> /dev/null
		wait "$tool" 2> /dev/null
	done
	tools=()
}

# start_loop COMMAND...: run it again and again, until end_loops ends it with all its children, who may wait for each
# other.
loops=()

start_loop() {
	setsid bash -c 'while :; do "$@" > /dev/null 2>&1; done' bash "$@" &
	loops+=($!)
}

end_loops() {
	local loop

	for loop in "${loops[@]}"; do
		kill -KILL -- -"$loop" 2> /dev/null
		wait "$loop" 2> /dev/null
	done
	loops=()
}
