# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the parts of the bench share: running a measurement, and threads to measure on.

programs=build/tests/bench
ctprof=build/ctprof
failed=0

# Run one measurement; what it prints are samples.
measure() {
	"$@" >> "$samples" || could_not "$*"
}

could_not() {
	echo "could not run: ${1:0:200}"
	failed=1
}

timed() {
	measure "$programs/timed" "$@"
}

# start_threads PROCESSES THREADS: leaves the process that holds them in $sleepers.
start_threads() {
	: > "$work/ready"
	"$programs/many_threads" "$1" "$2" > "$work/ready" 2> "$work/errors" &
	sleepers=$!
	while kill -0 $sleepers 2> /dev/null && [ ! -s "$work/ready" ]; do
		sleep 0.05
	done
	[ -s "$work/ready" ]
}

stop_threads() {
	kill $sleepers
	wait $sleepers 2> /dev/null
	sleepers=
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
