# SPDX-License-Identifier: BSD-2-Clause
#
# What a cgroup holds of memory, and how many processes.
#
# kernels: 6.1 7.2

. tests/kernels/guest/cgroups.sh

mib=1048576

memory_is_counted() {
	local faults

	group roomy
	actor holder inside roomy
	snap_at_rest before roomy
	faults=$(stat_column "${tid[holder]}" 10)
	tell holder map 16
	faults=$(($(stat_column "${tid[holder]}" 10) - faults))
	snap_at_rest after roomy
	group_moved roomy memory.current $((16 * mib)) $((17 * mib)) "16 MiB were mapped:"
	# The kernel may leave out of it what CPUs have not yet handed in.
	group_moved roomy memory.stat.anon $((15 * mib)) $((17 * mib)) "16 MiB were mapped:"
	group_moved roomy memory.stat.pgfault $((faults * 95 / 100)) $((faults * 105 / 100)) "its faults are"
	group_is_read_exactly roomy
	cp "$scratch/after.ctprof.zst" "$scratch/before.ctprof.zst"
	tell holder unmap
	snap_at_rest after roomy
	group_moved roomy memory.current $((-17 * mib)) $((-15 * mib)) "16 MiB were given back:"
}

# Pages of a device, as long as it is held open. The kernel reads ahead.
file_pages_are_counted() {
	local device buffers

	group reader
	actor keeper inside reader
	snap before
	buffers=$(awk '$1 == "Buffers:" { print $2 }' /proc/meminfo)
	exec {device}< /dev/vda
	(inside reader dd if=/dev/vda of=/dev/null bs=1M count=8) 2> /dev/null
	buffers=$(($(awk '$1 == "Buffers:" { print $2 }' /proc/meminfo) - buffers))
	snap_at_rest after reader
	between "KiB of pages of the device" 8192 $buffers 65536
	group_moved reader memory.stat.file $((buffers * 1024 - mib)) $((buffers * 1024 + mib)) "/proc/meminfo says"
	group_is_read_exactly reader
}

processes_are_counted() {
	group crowd pids.max=5
	actor parent inside crowd
	snap_at_rest before crowd
	equal "processes before" "$(group_value before crowd pids.current)" 1
	tell parent children 9
	equal "children that it has" "$(said forked)" 4
	equal "the errno of the next one, EAGAIN" "$(said failed)" 11
	[ "$(group_says crowd pids.events max)" -ge 1 ]
	snap_at_rest after crowd
	group_moved crowd pids.current 4 4 "it has that many children:"
	group_equals crowd pids.max 5 "it was set to"
	group_is_read_exactly crowd
}

run_case "memory that a cgroup holds is counted, until it is given back" memory_is_counted
run_case "file pages are counted for their reader" file_pages_are_counted
run_case "processes are counted, up to pids.max" processes_are_counted
