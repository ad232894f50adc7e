# SPDX-License-Identifier: BSD-2-Clause
#
# Profiles that begin and end while memory is short. A program at sched_switch runs with the run queue
# locked. If it allocates memory and that wakes kswapd, the queue is locked a second time, and the CPU
# spins for ever. The guest has one CPU, so kswapd is always on that queue. When the guest hangs for
# this reason, wake_all_kswapds() is on the stack of the CPU; a hang without that is the emulator's.
#
# boot: single
# kernels: 6.1
# seconds: 500

. tests/kernels/guest/profile.sh

tracing=/sys/kernel/tracing
factor=/proc/sys/vm/watermark_scale_factor

# crowd_of ARGUMENTS...: a crowd that is ready.
crowd_of() {
	rm -f "$scratch/ready"
	mkfifo "$scratch/ready"
	crowd "$@" > "$scratch/ready" &
	at_end "kill $!; wait $!"
	read -r -t 60 < "$scratch/ready"
}

# allocations EVENT PATTERN: how many of this event of `kmem` have PATTERN in their stacks.
allocations() {
	awk -v pattern="$2" 'BEGIN { RS = "stacktrace:" }
		$0 ~ pattern && match($0, /hitcount: +[0-9]+/) { sum += substr($0, RSTART + 9, RLENGTH - 9) }
		END { print sum + 0 }' "$tracing/events/kmem/$1/hist"
}

# The threads of the crowd are there before the programs are, and are switched between the attachment
# and the end of the iterator.
switches_allocate_nothing() {
	local event

	[ -e $tracing/events ] || mount -t tracefs tracefs $tracing
	crowd_of 200
	for event in kmalloc mm_page_alloc; do
		at_end "echo '!hist:keys=stacktrace' > $tracing/events/kmem/$event/trigger"
		echo 'hist:keys=stacktrace' > $tracing/events/kmem/$event/trigger
	done
	for _ in 1 2; do
		"$@" > "$scratch/said"
	done
	for event in kmalloc mm_page_alloc; do
		equal "$event events at switches and wake-ups" \
			"$(allocations $event '__traceiter_sched_(switch|waking|wakeup)')" 0
	done
	between "allocations by the iterator" 200 "$(allocations kmalloc bpf_iter_run_prog)" 10000
}

# Until about a fifth of all memory is free: below the low watermark with the largest factor (30 %), and
# above it with the usual one (0.1 %).
fill_memory() {
	local total free

	total=$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)
	free=$(awk '$1 == "MemFree:" { print $2 }' /proc/meminfo)
	mkdir -p /run/filler
	mount -t tmpfs -o size=90% filler /run/filler
	at_end "umount /run/filler"
	dd if=/dev/zero of=/run/filler/file bs=1024k count=$(((free - total / 5) / 1024))
}

# Pages that kswapd can free: it gives up after 16 runs that freed nothing.
fill_cache() {
	while :; do
		dd if=/dev/vda of=/dev/null bs=1024k
		sleep 0.2
	done 2> /dev/null &
	at_end "kill $!"
	renice -n 19 -p $!
}

kswapd_runs() {
	awk '$1 == "pageoutrun" { print $2 }' /proc/vmstat
}

profiles_survive() {
	local before i

	at_end "echo 10 > $factor"
	fill_memory
	fill_cache
	crowd_of 400 $factor 10 3000
	before=$(kswapd_runs)
	for i in {1..3}; do
		profiled -- lives 100000 storm 20
		times_add_up
	done
	between "runs of kswapd" 12 $(($(kswapd_runs) - before)) 1000000
	log_is_clean
}

run_case "a profile allocates nothing at switches" switches_allocate_nothing \
	ctprof offcpu "${everything[@]}" --wakers -- sleep 0.2
run_case "exact thread states allocate nothing at switches" switches_allocate_nothing ctprof top --batch -n 2 --interval 1s
run_case "profiles begin and end while kswapd is woken" profiles_survive
