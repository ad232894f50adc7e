# SPDX-License-Identifier: BSD-2-Clause
#
# Thread states by what the kernel counts.
#
# kernels: 6.12 7.2

. tests/kernels/guest/delays.sh
. tests/kernels/guest/states.sh

# By the kernel's counters, with delay accounting on. From Linux 6.12 on the delay of block I/O may be as long as
# the window, of a thread that ran between its reads, on a CPU where others want to run.
readers_run() {
	local begun ran now told truth

	actor reader
	tell reader pin 1
	(while :; do taskset 2 dd if=/dev/vda of=/dev/null bs=4096 iflag=direct 2> /dev/null; done) &
	at_end "kill -KILL $! 2> /dev/null"
	order reader read /dev/vda 16000 4096
	sleep 0.2
	pids=${tid[reader]}
	begun=${EPOCHREALTIME/./} ran=$(schedstat_column "$pids" 1)
	look --engine counters
	now=${EPOCHREALTIME/./} ran=$(($(schedstat_column "$pids" 1) - ran))
	: > "$scratch/said"
	sums_hold
	cat "$scratch/top_lines"
	told=$(awk -v tid="$pids" '$1 == tid && $3 == "exec" { exec = $4 } $1 == tid && $3 == "window" { window = $4 }
		END { print int(exec * 1000 / window) }' "$scratch/top_lines")
	truth=$((ran / (now - begun)))
	echo "it ran for $told thousandths of the window; the scheduler says $truth"
	[ "$truth" -gt 20 ]
	[ "$told" -gt $((truth * 6 / 10)) ]
}

run_case "top: a thread that reads a disk runs, by the counters too" readers_run
