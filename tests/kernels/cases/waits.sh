# SPDX-License-Identifier: BSD-2-Clause
#
# Waiting for a CPU: two that want the same one.

hogs_wait_for_each_other() {
	local waited

	actor hog
	actor rival
	tell hog pin 1
	tell rival pin 1
	snap before
	order rival spin 1000
	tell hog spin 1000
	# What it did not run of that time, it waited.
	waited=$(($(said wall) - $(said cpu)))
	hear rival
	snap after
	between "the wait" 300000000 "$waited" 800000000
	moved wait_sum hog "$(percent "$waited" 95)" "$(percent "$waited" 110)"
	moved wait_time_ns hog "$(percent "$waited" 95)" "$(percent "$waited" 110)"
	moved cpu_delay_total_ns hog "$(percent "$waited" 95)" "$(percent "$waited" 110)"
	equals wait_time_ns hog "$(schedstat_column "${tid[hog]}" 2)" "/proc/<tid>/schedstat has"
	equals cpu_delay_total_ns hog "$(schedstat_column "${tid[hog]}" 2)" "/proc/<tid>/schedstat has"
	equals timeslices hog "$(schedstat_column "${tid[hog]}" 3)" "/proc/<tid>/schedstat has"
	equals wait_max hog "$(sched_ns "${tid[hog]}" wait_max)" "/proc/<tid>/sched has"
	moved nonvoluntary_csw hog 5 1000 "some switches a second:"
	moved wait_count hog "$(change hog nonvoluntary_csw)" 1100 "at least its switches:"
}

run_case "two hogs on one CPU wait for each other, and no longer" hogs_wait_for_each_other
