# SPDX-License-Identifier: BSD-2-Clause
#
# slow
#
# Delays by waiting for pages of a file that were in use when they were evicted.

. tests/kernels/guest/delays.sh

# thrash GENERATIONS VERB MIB: read more than fits, and what was in use goes and comes back; or not:
# whether it is recognised depends on the kernel, on whether reclaim knows generations, and on how it
# is read.
thrash() {
	[ ! -e /sys/kernel/mm/lru_gen/enabled ] || echo "$1" > /sys/kernel/mm/lru_gen/enabled
	restored=$(vm_says workingset_restore_file)
	snap before
	tell reader "$2" /dev/vda "$3" 4
	snap after
	restored=$(($(vm_says workingset_restore_file) - restored))
	[ "$restored" -gt 0 ]
}

pages_of_a_file_come_and_go() {
	local restored

	switch /sys/kernel/mm/lru_gen/enabled n
	switch /sys/block/vda/queue/read_ahead_kb 0
	group small memory.max=8M
	actor reader inside small
	thrash n rounds 9 || thrash y mapped 12 || thrash n mapped 9 || thrash y rounds 9
	taskstats_agrees reader
	needs_steady_clock
	# Not all have to wait: some are read by then.
	moved thrashing_delay_count reader 1 "$restored" "/proc/vmstat has"
	moved thrashing_delay_total_ns reader $(($(change reader thrashing_delay_count) * 1000)) "$(said wall)"
	moved blkio_delay_count reader "$(($(change reader thrashing_delay_count) / 2))" 24576 "with others:"
	equals swapin_delay_count reader 0 "nothing is swapped:"
	peaks_fit thrashing reader
}

run_case "waiting for pages of a file that were just evicted is thrashing" pages_of_a_file_come_and_go
