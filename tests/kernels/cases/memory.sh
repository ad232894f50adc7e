# SPDX-License-Identifier: BSD-2-Clause
#
# What a cgroup holds of memory and of swap, how many processes, and what it reads from and writes to disks.
#
# kernels: 6.1 7.2

. tests/kernels/guest/delays.sh

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
	group_moved roomy memory.peak 0 $mib "it stays, though 16 MiB were given back:"
	between "the peak" $((16 * mib)) "$(group_value after roomy memory.peak)" $((32 * mib))
	group_is_read_exactly roomy
}

# What does not fit under memory.max is in swap.
swap_is_counted() {
	local swapped

	swap_in_memory 64
	group tight memory.max=8M memory.swap.max=48M
	actor holder inside tight
	snap before
	equal "swap before" "$(group_value before tight memory.swap.current)" 0
	swapped=$(awk '$1 == "SwapFree:" { print $2 }' /proc/meminfo)
	tell holder map 24
	snap_at_rest after tight
	swapped=$((swapped - $(awk '$1 == "SwapFree:" { print $2 }' /proc/meminfo)))
	between "KiB in swap by /proc/meminfo" $((15 * 1024)) $swapped $((32 * 1024))
	group_moved tight memory.swap.current $((swapped * 1024 - mib)) $((swapped * 1024 + mib)) "/proc/meminfo says"
	group_equals tight memory.swap.max $((48 * mib)) "it was set to"
	group_is_read_exactly tight
}

# disk_says N: column N of the disk in /proc/diskstats.
disk_says() {
	awk -v n="$1" '$3 == "vda" { print $n }' /proc/diskstats
}

# Past the cache, while nothing else uses the disk: each read and write is counted once.
io_is_counted() {
	local reads writes

	group user
	actor worker inside user
	snap_at_rest before user
	reads=$(disk_says 6) writes=$(disk_says 10)
	tell worker read /dev/vda 50 65536
	(inside user dd if=/dev/zero of=/dev/vda bs=64k count=8 oflag=direct) 2> /dev/null
	snap_at_rest after user
	reads=$((($(disk_says 6) - reads) * 512)) writes=$((($(disk_says 10) - writes) * 512))
	group_moved user io.rbytes $((50 * 65536)) $reads "it read"
	group_moved user io.rios 50 $((reads / 4096)) "it read 50 times:"
	group_moved user io.wbytes $((8 * 65536)) $writes "it wrote"
	group_moved user io.wios 1 $((writes / 4096)) "it wrote 8 times:"
	group_is_read_exactly user
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
run_case "what does not fit is counted in swap" swap_is_counted
run_case "reads and writes of disks are counted" io_is_counted
run_case "file pages are counted for their reader" file_pages_are_counted
run_case "processes are counted, up to pids.max" processes_are_counted
