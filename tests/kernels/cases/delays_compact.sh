# SPDX-License-Identifier: BSD-2-Clause
#
# slow
#
# Delays by compacting memory.

. tests/kernels/guest/delays.sh

# What is left of memory is free, in pieces that no huge page fits in.
leave_pieces() {
	switch /proc/sys/vm/nr_hugepages "$(awk '$1 == "MemFree:" { print int($2 / 2048) - 40 }' /proc/meminfo)"
	tell "$1" fragment "$(awk '$1 == "MemFree:" { print int($2 / 1024) - 12 }' /proc/meminfo)"
}

memory_in_pieces() {
	local stalls stalled delayed

	group wanting
	actor wanter inside wanting
	tell wanter pin 1
	# Nobody else is to do it before.
	switch /proc/sys/vm/compaction_proactiveness 0
	leave_pieces wanter
	# Small machines start with this off.
	switch /sys/kernel/mm/transparent_hugepage/defrag always
	switch /sys/kernel/mm/transparent_hugepage/enabled always
	stalled=$(stalled_ns wanting memory.pressure some)
	snap before
	stalls=$(vm_says compact_stall)
	tell wanter huge 32
	stalls=$(($(vm_says compact_stall) - stalls))
	snap after
	stalled=$(($(stalled_ns wanting memory.pressure some) - stalled))
	taskstats_agrees wanter
	needs_steady_clock
	between "compactions" 1 "$stalls" 1000
	moved compact_delay_count wanter "$stalls" $((stalls + 32)) "/proc/vmstat has, less those that were not worth it"
	delayed=$(($(change wanter compact_delay_total_ns) + $(change wanter freepages_delay_total_ns)))
	within compact_delay_total_ns "$delayed" "$(percent "$stalled" 20)" "$(percent "$stalled" 105)" \
		"with reclaim, a part of memory.pressure,"
	peaks_fit compact wanter
}

run_case "huge pages out of memory in pieces are delays by compacting" memory_in_pieces
