# SPDX-License-Identifier: BSD-2-Clause
#
# A scheduler written in BPF.

. tests/kernels/guest/sched_ext.sh

sysfs() {
	cat "/sys/kernel/sched_ext/$1"
}

# host_facts NAME: what the snapshot says of sched_ext, as "host KEY VALUE".
host_facts() {
	zstd -dcq "$scratch/$1.ctprof.zst" | jq -r "$(cat tests/recorded/facts.jq) sched_ext"
}

# The state of the host, as the kernel's own files have it.
state_is_read() {
	local key wanted

	host_facts "$1" > "$scratch/sched_ext"
	for key in state switch_all nr_rejected hotplug_seq enable_seq; do
		wanted=$(sysfs $key)
		is "sched_ext.$key" "$(awk -v key=$key '$2 == key { print $3 }' "$scratch/sched_ext")" \
			"$wanted" "/sys/kernel/sched_ext has"
	done
}

# What compare prints of one metric: "BASELINE CANDIDATE".
compared() {
	ctprof compare "$scratch/before.ctprof.zst" "$scratch/after.ctprof.zst" --format csv "$@" |
		awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			{ print $at["metric"], $at["baseline"], $at["candidate"] }'
}

a_scheduler_is_seen() {
	local sequence

	has_sched_ext || skip_elsewhere
	actor worker
	snap before
	state_is_read before
	equal "the state" "$(sysfs state)" disabled
	equals_before ext_enabled worker false
	sequence=$(sysfs enable_seq)
	load_scheduler
	tell worker policy $SCHED_EXT 0 0 0
	equal "what the kernel said to the policy" "$(said failed)" 0
	snap after
	state_is_read after
	equal "the state" "$(sysfs state)" enabled
	equal "how often a scheduler was enabled" "$(sysfs enable_seq)" $((sequence + 1))
	equals ext_enabled worker true "a scheduler has"
	equals policy worker SCHED_EXT "it asked for"
	compared --sections sched-ext > "$scratch/compared"
	grep -x "state disabled enabled" "$scratch/compared"
	grep -x "enable_seq $sequence $((sequence + 1))" "$scratch/compared"
	compared --sections primary --metrics policy,ext_enabled > "$scratch/compared"
	grep -x "policy SCHED_OTHER SCHED_EXT" "$scratch/compared"
}

equals_before() {
	equal "$1 before" "$(value before "$2" "$1")" "$3"
}

# Where the kernel has none, nothing is claimed.
skip_elsewhere() {
	actor worker
	tell worker policy $SCHED_EXT 0 0 0
	[ "$(said failed)" -ne 0 ]
	snap after
	equal "the facts" "$(host_facts after)" "host none"
	unmeasured ext_enabled worker
	exit 0
}

# kernel/sched/ext.c does not call the statistics of the fair class.
its_threads_feed_some_counters() {
	local metric

	has_sched_ext || skip_elsewhere
	load_scheduler
	actor worker
	actor rival
	for name in worker rival; do
		tell $name policy $SCHED_EXT 0 0 0
		tell $name pin 1
	done
	snap before
	order rival spin 300
	tell worker spin 300
	hear rival
	tell worker sleep 10 5000
	snap after
	for metric in wait_sum wait_count voluntary_sleep_ns block_sum iowait_sum iowait_count \
		nr_wakeups_affine nr_wakeups_affine_attempts nr_forced_migrations; do
		moved $metric worker 0 0 "sched_ext feeds it not:"
	done
	moved nr_wakeups worker 10 20 "it slept ten times:"
	moved timeslices worker 11 1000 "it slept ten times:"
	equals run_time_ns worker "$(schedstat_column "${tid[worker]}" 1)" "/proc/<tid>/schedstat has"
	equals wait_time_ns worker "$(schedstat_column "${tid[worker]}" 2)" "/proc/<tid>/schedstat has"
	moved wait_time_ns worker 50000000 300000000 "it had a rival:"
	# Printed for it too, though its scheduler gives it another.
	equals fair_slice_ns worker "$(key_of "${tid[worker]}" sched se.slice)" "/proc/<tid>/sched has"
}

run_case "a scheduler written in BPF is seen, and compare shows it" a_scheduler_is_seen
run_case "threads of sched_ext feed the counters that they are said to feed" \
	its_threads_feed_some_counters
