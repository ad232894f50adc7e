# SPDX-License-Identifier: BSD-2-Clause
#
# Thread states, of threads that do what is known, and of those that need a machine of their own: what
# is swapped, frozen, throttled, or sees the clock being set.
#
# kernels: 6.1 7.2

. tests/kernels/guest/delays.sh
. tests/kernels/guest/states.sh

waiting="pipe fifo fifo_opener unix_socket timer poll_timer poll_timeout vfork parent mutex priority_mutex rwlock cond_pool semaphore
	flock stopped traced"

watch_states() {
	begin_states "$@"
	look
	end_states
	sums_hold
}

waits_are_told() {
	watch_states $waiting
	states_hold $waiting
	waits_last pipe unix_socket mutex stopped traced
}

servers_are_idle() {
	ip link set lo up || skip "no network at all"
	watch_states socket epoll accept
	states_hold socket epoll accept
}

terminals_have_a_mutex() {
	mkdir -p /dev/pts
	mount -t devpts devpts /dev/pts
	at_end "umount /dev/pts"
	watch_states kernel_mutex
	kernel_lock_is_shared kernel_mutex
}

files_have_a_semaphore() {
	watch_states kernel_rwsem
	kernel_lock_is_shared kernel_rwsem
}

# A thread that changes mappings all the time, and one that waits for it: it is seen in most glances.
memory_is_locked_by_one() {
	local told holder waiter try

	lock_waits memory > told.locks &
	at_end "kill -KILL $!"
	until read -r told holder waiter < told.locks && [ "$told" = ready ]; do sleep 0.1; done
	for try in 1 2 3 4 5 6 7 8 9 10; do
		ctprof top --tid "$waiter" --inspect "$waiter" -i 300ms > told.page
		! head -n 1 told.page | grep -q "the kernel's lock of its memory (mmap_lock) held by holder ($holder)" || return 0
	done
	head -n 1 told.page
	return 1
}

who_wants_a_cpu_waits_for_it() {
	watch_states spin syscalls starved
	states_hold spin syscalls hog starved
	code_is_told spin exec_user exec_system
	code_is_told syscalls exec_system exec_user
}

one_of_two_runs() {
	watch_states pair
	pair_shares
}

the_dead_are_counted() {
	begin_states stopped short
	look --by process
	end_states
	process_holds short 10
}

births_lose_nothing() {
	export STATES_BIRTHS=200
	begin_states stopped births
	look --by process
	end_states
	process_holds births 5
}

# As slow as its group is allowed to be.
disk_is_waited_for() {
	local in=slow

	group slow "io.max=$(< /sys/block/vda/dev) rbps=4194304"
	export STATES_FILE=/dev/vda
	watch_states disk
	states_hold disk
	top_check 'END {
		tid = by_name["disk", 1]
		if (of(tid, "sleep_disk") < window(tid) * 0.8)
			print "disk:" row(tid) ", it was hardly throttled"
	}'
}

# A disk that is waited for, though it is no slower than the emulator.
swap_is_waited_for() {
	local in=small

	mkswap /dev/vdb > /dev/null
	swapon /dev/vdb
	at_end "swapoff /dev/vdb"
	switch /proc/sys/vm/page-cluster 0
	group small memory.max=12M
	export STATES_MIB=20
	watch_states paging
	states_hold paging
	top_check 'END {
		tid = by_name["paging", 1]
		if (of(tid, "paging") < window(tid) * 0.1)
			print "paging:" row(tid) ", it hardly waited"
	}'
}

# expect_all STATE: of all threads, whatever they say.
expect_all() {
	awk -v state="$1" '$1 != "ready" && $1 != "truth" { $3 = state } $1 != "truth"' "$scratch/said" > "$scratch/expected"
	mv "$scratch/expected" "$scratch/said"
}

the_frozen_are_stopped() {
	local in=cold

	group cold
	begin_states spin timer pipe mutex
	echo 1 > "$cgroups/cold/cgroup.freeze"
	until grep -qx 'frozen 1' "$cgroups/cold/cgroup.events"; do
		sleep 0.05
	done
	look
	echo 0 > "$cgroups/cold/cgroup.freeze"
	end_states
	sums_hold
	expect_all stopped
	states_hold spin timer pipe mutex
}

clocks_may_be_set() {
	local now

	begin_states pipe mutex cond_pool
	look &
	looking=$!
	sleep 2
	now=$(date +%s)
	date -s "@$((now + 100000))" > /dev/null
	at_end 'date -s "@$(($(date +%s) - 100000))"'
	wait $looking
	end_states
	sums_hold
	states_hold pipe mutex cond_pool
	top_check 'END {
		for (tid in rows)
			if (window(tid) < 2.9e9 || window(tid) > 10e9)
				print name[tid] ": a window of " window(tid) " ns"
	}'
}

run_case "top: a waiting thread is in its state all the time" waits_are_told
run_case "top: servers wait for work, and a socket for data" servers_are_idle
run_case "top: a mutex of the kernel" terminals_have_a_mutex
run_case "top: a semaphore of the kernel" files_have_a_semaphore
run_case "top: the thread that holds the lock of memory is named" memory_is_locked_by_one
run_case "top: a busy thread runs or waits for a CPU, and starves" who_wants_a_cpu_waits_for_it
run_case "top: of two on one CPU one is runnable" one_of_two_runs
run_case "top: threads that are short-lived are in the times of their process" the_dead_are_counted
run_case "top: births lose no CPU time" births_lose_nothing
run_case "top: a disk that is throttled is waited for" disk_is_waited_for
run_case "top: memory that comes back from swap is waited for" swap_is_waited_for
run_case "top: a frozen thread is stopped" the_frozen_are_stopped
run_case "top: setting the clock changes no window" clocks_may_be_set
