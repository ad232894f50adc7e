# SPDX-License-Identifier: BSD-2-Clause
#
# Blocks: sleeps that nothing interrupts, for I/O and for other things.

children_are_waited_for() {
	local blocked asleep

	actor parent
	snap before
	tell parent vfork 500000
	snap after
	blocked=$(($(said wall) - $(said ran) - $(value after parent wait_sum)))
	between "the block" 10000000 "$blocked" "$(said wall)"
	moved block_sum parent "$(percent "$blocked" 95)" "$(said wall)"
	within block_max "$(value after parent block_max)" "$(percent "$blocked" 95)" "$(said longest)"
	equals block_max parent "$(sched_ns "${tid[parent]}" block_max)" "/proc/<tid>/sched has"
	moved iowait_sum parent 0 0
	moved iowait_count parent 0 0
	asleep=$(($(said since) - $(said ran) - $(change parent block_sum)))
	moved voluntary_sleep_ns parent "$(percent $((asleep - $(value after parent wait_sum))) 97)" \
		"$(percent "$asleep" 102)" "without the block"
}

disks_are_waited_for() {
	local switches wall longest waited

	actor reader
	tell reader usage
	switches=$(said nvcsw)
	snap before
	tell reader read /dev/vda 200 65536
	wall=$(said wall) longest=$(said longest)
	# It did not sleep in between, but before: until it was told.
	waited=$(($(said since) - $(said ran)))
	snap after
	waited=$((waited - $(value after reader wait_sum) - $(change reader voluntary_sleep_ns)))
	tell reader usage
	switches=$(($(said nvcsw) - switches))
	between "times it slept" 5 "$switches" 400
	# Two of them were for the next order.
	moved iowait_count reader $((switches - 4)) $((switches - 2))
	moved iowait_sum reader "$(percent "$waited" 80)" "$wall"
	moved block_sum reader "$(change reader iowait_sum)" "$wall"
	within iowait_sum "$(change reader iowait_sum)" "$(percent "$(change reader block_sum)" 95)" \
		"$(change reader block_sum)" "all of its blocks:"
	within block_max "$(value after reader block_max)" \
		$(($(change reader iowait_sum) / switches)) "$longest"
}

# idle_workers: workers of workqueues that sleep.
idle_workers() {
	grep -l '(kworker.*) I ' /proc/[0-9]*/stat 2> /dev/null | tr -dc '0-9\n'
}

# watch_worker: the actor worker is one that has slept before, and did not work for a second.
watch_worker() {
	local pid tries=0

	until
		tid=()
		for pid in $(idle_workers); do
			tid[$pid]=$pid
		done
		catch before
		sleep 1
		catch after
		for pid in "${!tid[@]}"; do
			[ "$(value after "$pid" kthread_block_sum)" -gt 0 ] &&
				[ "$(value before "$pid" timeslices)" = "$(value after "$pid" timeslices)" ] && break
			pid=
		done
		[ -n "$pid" ]
	do
		((++tries < 20)) || { echo "no worker is idle for a second"; return 1; }
	done
	tid[worker]=$pid
}

# It sleeps in TASK_IDLE, which the kernel counts with what blocks.
idle_kernel_threads_do_not_block() {
	local rows

	watch_worker
	is block_sum "$(value after worker block_sum)" - "a kernel thread has"
	is block_in_progress_ns "$(value after worker block_in_progress_ns)" 0 "an idle worker has"
	equals kthread_block_sum worker "$(sched_ns "${tid[worker]}" sum_block_runtime)" "/proc/<tid>/sched has"
	moved kthread_block_in_progress_ns worker 1000000000 60000000000 "it slept for a second, and the captures:"
	equals kthread_block_max worker "$(sched_ns "${tid[worker]}" block_max)" "/proc/<tid>/sched has"
	ctprof capture -q -o "$scratch/all.before.ctprof.zst"
	sleep 1
	ctprof capture -q -o "$scratch/all.after.ctprof.zst"
	rows=$(ctprof compare "$scratch/all.before.ctprof.zst" "$scratch/all.after.ctprof.zst" \
		--sections primary --format csv --limit 50)
	! grep "kworker.*,block_sum" <<< "$rows"
	grep -q 'kthread_block_sum' <<< "$(ctprof compare "$scratch/all.before.ctprof.zst" \
		"$scratch/all.after.ctprof.zst" --sections primary --format csv --limit 0)"
}

run_case "idle kernel threads do not block" idle_kernel_threads_do_not_block
run_case "a vfork blocks for as long as the child lives" children_are_waited_for
run_case "reads past the cache wait for I/O, each once" disks_are_waited_for
