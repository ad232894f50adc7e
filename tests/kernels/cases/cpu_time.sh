# SPDX-License-Identifier: BSD-2-Clause
#
# Time on a CPU, and in which mode; and how often it was left.
#
# kernels: 6.1 7.2

ticks() {
	echo $(($1 / 10000000))
}

# in_mode VERB TICKS OTHER: burn so that these move, and the others do not.
in_mode() {
	local ran

	actor worker
	snap before
	tell worker "$1" 600
	ran=$(said ran)
	snap after
	moved "$2" worker "$(ticks "$(percent "$ran" 60)")" "$(($(ticks "$(percent "$ran" 110)") + 3))"
	moved "$3" worker 0 "$(ticks "$(percent "$ran" 40)")"
}

clocks_agree() {
	local cpu ran user system

	actor worker
	tell worker compute 100
	tell worker call 100
	tell worker usage
	cpu=$(said cpu)
	snap after
	ran=$(value after worker run_time_ns)
	equals run_time_ns worker "$(schedstat_column "${tid[worker]}" 1)" "/proc/<tid>/schedstat has"
	tell worker usage
	within run_time_ns "$ran" "$cpu" "$(said cpu)" "the thread's clock, before and after,"
	user=$(value after worker utime_clock_ticks) system=$(value after worker stime_clock_ticks)
	within utime_clock_ticks $((user + system)) $(($(ticks "$ran") - 1)) "$(ticks "$ran")" \
		"with stime_clock_ticks all of its time:"
}

switches_are_counted() {
	local voluntary involuntary

	actor hog
	actor rival
	tell hog pin 1
	tell rival pin 1
	tell hog sleep 20 1000
	order rival spin 500
	tell hog spin 500
	hear rival
	tell hog usage
	voluntary=$(said nvcsw) involuntary=$(said nivcsw)
	snap after
	# It sleeps since.
	equals voluntary_csw hog $((voluntary + 1)) "getrusage had one less,"
	# As often as it left a CPU, it had come to one.
	equals timeslices hog "$(($(value after hog voluntary_csw) + $(value after hog nonvoluntary_csw)))" \
		"its switches"
	equals timeslices hog "$(schedstat_column "${tid[hog]}" 3)" "/proc/<tid>/schedstat has"
	tell hog usage
	within nonvoluntary_csw "$(value after hog nonvoluntary_csw)" "$involuntary" "$(said nivcsw)" \
		"getrusage, before and after,"
	between "times it was preempted" 5 "$involuntary" 2000
}

run_case "a thread that computes spends its time in user mode" in_mode compute utime_clock_ticks stime_clock_ticks
run_case "a thread that calls the kernel spends its time there" in_mode call stime_clock_ticks utime_clock_ticks
run_case "a thread's own clock is its run time" clocks_agree
run_case "switches are those of getrusage, and time slices as many" switches_are_counted
