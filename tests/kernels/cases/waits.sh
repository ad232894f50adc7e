# SPDX-License-Identifier: BSD-2-Clause
#
# Waiting for a CPU: two that want the same one.

hogs_wait_for_each_other() {
	local waited longest taken

	rivals
	snap before
	# The hog is there first and last: what the rival takes, it waits for.
	order hog compete 1200
	tell rival spin 900
	taken=$(percent "$(said cpu)" 95)
	hear hog
	waited=$(percent $(($(said wall) - $(said cpu))) 105) longest=$(said longest)
	snap after
	between "the wait" 100000000 "$taken" "$waited"
	moved wait_sum hog "$taken" "$waited" "rival and hog say"
	moved wait_time_ns hog "$taken" "$waited" "rival and hog say"
	moved cpu_delay_total_ns hog "$taken" "$waited" "rival and hog say"
	equals wait_time_ns hog "$(schedstat_column "${tid[hog]}" 2)" "/proc/<tid>/schedstat has"
	equals cpu_delay_total_ns hog "$(schedstat_column "${tid[hog]}" 2)" "/proc/<tid>/schedstat has"
	within wait_max "$(value after hog wait_max)" $((taken / $(change hog wait_count))) \
		"$(greater "$(value before hog wait_max)" "$(percent "$longest" 150)")" "the mean and the actor say"
	equals wait_max hog "$(sched_ns "${tid[hog]}" wait_max)" "/proc/<tid>/sched has"
	# Each time that it came to a CPU, it had waited for it.
	moved wait_count hog $(($(change hog timeslices) - 3)) $(($(change hog timeslices) + 3)) \
		"by its time slices,"
}

run_case "two hogs on one CPU wait for each other, and no longer" hogs_wait_for_each_other
