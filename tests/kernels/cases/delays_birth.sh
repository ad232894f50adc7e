# SPDX-License-Identifier: BSD-2-Clause
#
# boot: bare
#
# Delay accounting that is turned on later covers the threads born after.

. tests/kernels/guest/delays.sh

# What ctprof may say of one whose delays nobody counted.
only_the_cpu_is_measured() {
	local category

	for category in blkio swapin freepages thrashing compact wpcopy irq; do
		unmeasured "${category}_delay_count" "$1"
		unmeasured "${category}_delay_total_ns" "$1"
		unmeasured "${category}_delay_max_ns" "$1"
		unmeasured "${category}_delay_min_ns" "$1"
	done
	equals cpu_delay_total_ns "$1" "$(schedstat_column "${tid[$1]}" 2)" "/proc/<tid>/schedstat has"
	equals cpu_delay_count "$1" "$(schedstat_column "${tid[$1]}" 3)" "/proc/<tid>/schedstat has"
	equals hiwater_vm_bytes "$1" "$(($(key_of "${tid[$1]}" status VmPeak) * 1024))" "VmPeak is"
}

# Until they add up to a tick of the clock that /proc/<tid>/stat has them in.
wait_for_blocks() {
	reads=0
	until [ "$(stat_column "${tid[$1]}" 42)" -gt 0 ]; do
		((reads < 4000)) || { echo "no read blocks"; return 1; }
		tell "$1" read /dev/vda 50 1048576
		((reads += 50))
	done
}

the_reason_is() {
	local wanted=$1

	set -- "$(ctprof show "$scratch/after.ctprof.zst" --metrics blkio_delay_count)"
	has "the reason" "$1" "$wanted"
}

accounting_is_turned_on() {
	local reads

	actor early
	tell early zeroes 1
	snap after
	only_the_cpu_is_measured early
	the_reason_is "boot parameter delayacct"
	the_reason_is "sysctl kernel.task_delayacct=1"

	switch /proc/sys/kernel/task_delayacct 1
	tell early zeroes 1
	snap after
	only_the_cpu_is_measured early
	the_reason_is "turned on after these threads were born"

	actor late
	tell late zeroes 1
	snap before
	tell late zeroes 2
	wait_for_blocks late
	tell early zeroes 2
	snap after
	only_the_cpu_is_measured early
	equal "column 42 of early" "$(stat_column "${tid[early]}" 42)" 0
	is blkio_delay_total_ns "$(($(value after late blkio_delay_total_ns) / 10000000))" \
		"$(stat_column "${tid[late]}" 42)" "in ticks /proc/<tid>/stat has"
	taskstats_agrees late
	peaks_fit wpcopy late
	peaks_fit blkio late
	needs_steady_clock
	moved wpcopy_delay_count late 512 512 "it wrote to:"
	moved blkio_delay_count late 1 "$reads" "it read:"
}

run_case "delays count for threads born after accounting was turned on, waits for a CPU for all" \
	accounting_is_turned_on
