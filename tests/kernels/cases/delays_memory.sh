# SPDX-License-Identifier: BSD-2-Clause
#
# Delays of a thread whose memory does not fit into its group: it reclaims, and swaps in what it wants
# again, from a disk in memory, so that nothing is read ahead.
#
# kernels: 6.1 7.2

. tests/kernels/guest/delays.sh

swapped_in() {
	vm_says pswpin swpin_zero
}

# Do what the order says, and note what the system counts for it.
counting() {
	local pages restored reclaims

	pages=$(swapped_in) restored=$(vm_says workingset_restore_anon)
	reclaims=$(group_says small memory.events max)
	tell worker "$@"
	((all_pages += $(swapped_in) - pages, all_restored += $(vm_says workingset_restore_anon) - restored,
		all_reclaims += $(group_says small memory.events max) - reclaims, all_wall += $(said wall))) || true
}

memory_does_not_fit() {
	local all_pages=0 all_restored=0 all_reclaims=0 all_wall=0 stalled delayed

	swap_in_memory 64
	# This way of reclaiming knows what was in use when it went.
	switch /sys/kernel/mm/lru_gen/enabled y
	group small memory.max=12M
	actor worker inside small
	tell worker pin 1
	snap before
	counting map 16
	counting touch
	snap after
	stalled=$(stalled_ns small memory.pressure some)
	taskstats_agrees worker
	needs_steady_clock

	moved swapin_delay_count worker "$all_pages" "$all_pages" "/proc/vmstat has"
	between "pages swapped in" 1024 "$all_pages" 8192
	moved swapin_delay_total_ns worker "$(percent "$all_wall" 1)" "$all_wall"
	moved thrashing_delay_count worker "$all_restored" "$all_restored" "/proc/vmstat has"
	moved freepages_delay_count worker "$all_reclaims" "$all_reclaims" "memory.events has"
	between "reclaims" 10 "$all_reclaims" 8192
	delayed=$(($(change worker freepages_delay_total_ns) + $(change worker thrashing_delay_total_ns)))
	within freepages_delay_total_ns "$delayed" "$(percent "$stalled" 90)" "$(percent "$stalled" 102)" \
		"with thrashing, by memory.pressure"
	peaks_fit swapin worker
	peaks_fit freepages worker
	# Not every kernel finds that it was in use.
	if [ "$all_restored" -gt 0 ]; then
		moved thrashing_delay_total_ns worker 1 "$(change worker swapin_delay_total_ns)" "swapping in took"
		peaks_fit thrashing worker
	fi
}

run_case "memory that does not fit is reclaims, pages swapped in, and thrashing" memory_does_not_fit
