# SPDX-License-Identifier: BSD-2-Clause
#
# Delays by waiting for a CPU.

. tests/kernels/guest/delays.sh

the_wait_is_a_delay() {
	local waited

	actor hog
	actor rival
	tell hog pin 1
	tell rival pin 1
	snap before
	order rival spin 500
	tell hog spin 500
	waited=$(($(said wall) - $(said cpu)))
	hear rival
	snap after
	equals cpu_delay_total_ns hog "$(schedstat_column "${tid[hog]}" 2)" "/proc/<tid>/schedstat has"
	equals cpu_delay_count hog "$(schedstat_column "${tid[hog]}" 3)" "/proc/<tid>/schedstat has"
	taskstats_agrees hog
	peaks_fit cpu hog
	needs_steady_clock
	moved cpu_delay_total_ns hog "$(percent "$waited" 90)" "$(percent "$waited" 115)"
}

run_case "two hogs on one CPU delay each other by the times of schedstat" the_wait_is_a_delay
