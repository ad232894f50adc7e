# SPDX-License-Identifier: BSD-2-Clause
# boot: bare
#
# A kernel that was told to count as little as possible: what is not counted is unmeasured and has a
# reason.

. tests/kernels/guest/cgroups.sh

# What `ctprof show` says of a snapshot.
says_why() {
	local said

	said=$(ctprof show "$scratch/after.ctprof.zst" --unmeasured --sections "$1")
	echo "$said"
	has "show" "$said" "$2"
}

pressure_is_unmeasured() {
	group plain
	actor idle inside plain
	snap_at_rest after plain
	equal "pressure" "$(outer_facts after | sed -n /psi/p)" ""
	group_is_read_exactly plain
	ctprof show "$scratch/after.ctprof.zst" --group-by cgroup --sections pressure,host-pressure \
		> "$scratch/shown"
	cat "$scratch/shown"
	[ "$(grep -c "nothing measured" "$scratch/shown")" = 2 ]
}

delays_are_unmeasured() {
	local category

	actor reader
	tell reader read /dev/vda 10 4096
	snap after
	for category in blkio swapin freepages thrashing compact wpcopy irq; do
		unmeasured ${category}_delay_count reader
		unmeasured ${category}_delay_total_ns reader
	done
	equals cpu_delay_count reader "$(schedstat_column "${tid[reader]}" 3)" "/proc/<tid>/schedstat has"
	equals cpu_delay_total_ns reader "$(schedstat_column "${tid[reader]}" 2)" "/proc/<tid>/schedstat has"
	says_why taskstats-delay "boot parameter delayacct"
}

statistics='nr_wakeups nr_wakeups_local nr_wakeups_remote nr_wakeups_sync nr_wakeups_migrate
	nr_wakeups_affine nr_wakeups_affine_attempts nr_forced_migrations nr_failed_migrations_affine
	nr_failed_migrations_running nr_failed_migrations_hot wait_sum wait_count wait_max
	voluntary_sleep_ns sleep_max block_sum block_max iowait_sum iowait_count exec_max slice_max'

statistics_are_unmeasured_until_turned_on() {
	local metric

	actor sleeper
	tell sleeper sleep 5 1000
	snap after
	for metric in $statistics; do
		unmeasured "$metric" sleeper
	done
	equals run_time_ns sleeper "$(schedstat_column "${tid[sleeper]}" 1)" "/proc/<tid>/schedstat has"
	says_why primary "sysctl kernel.sched_schedstats=1"
	at_end "sysctl -w kernel.sched_schedstats=0"
	sysctl -w kernel.sched_schedstats=1
	tell sleeper sleep 1 1000
	snap before
	tell sleeper sleep 10 20000
	snap after
	for metric in $statistics; do
		[ "$(value after sleeper "$metric")" != - ]
	done
	moved voluntary_sleep_ns sleeper "$(said wall)" $(($(said wall) + 10000000000))
	moved nr_wakeups sleeper 11 12
	equals sleep_max sleeper "$(sched_ns "${tid[sleeper]}" sleep_max)" "/proc has"
	moved wait_count sleeper 11 1000
}

run_case "without psi there is no pressure, and show reports that" pressure_is_unmeasured
run_case "without delay accounting delays but the CPU's are unmeasured, with the reason" delays_are_unmeasured
run_case "scheduler statistics are unmeasured until they are turned on" statistics_are_unmeasured_until_turned_on
