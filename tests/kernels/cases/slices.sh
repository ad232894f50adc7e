# SPDX-License-Identifier: BSD-2-Clause
#
# How long a thread keeps the CPU.

nobody_interrupts() {
	local tick

	actor loner
	tell loner pin 1
	tell loner usage
	tick=$(said tick)
	tell loner spin 500
	snap after
	# The clock of a thread that runs alone is brought up to date at each tick.
	within exec_max "$(value after loner exec_max)" $((tick / 2)) "$(said cpu)"
	equals exec_max loner "$(sched_ns "${tid[loner]}" exec_max)" "/proc/<tid>/sched has"
}

rivals_take_turns() {
	local longest ran slices

	rivals
	snap before
	# The hog is there first and last: all of the rival's time is time that the hog waits.
	order hog compete 1500
	tell rival spin 800
	ran=$(said cpu)
	hear hog
	longest=$(said longest)
	snap after
	slices=$(change rival timeslices)
	within slice_max "$(value after rival slice_max)" $((ran / slices / 2)) \
		"$(greater "$(value before rival slice_max)" "$(percent "$longest" 105)")"
	equals slice_max rival "$(sched_ns "${tid[rival]}" slice_max)" "/proc/<tid>/sched has"
}

# Which kernels take one is theirs to know; those that print none leave none to measure.
slices_can_be_asked_for() {
	actor short
	tell short policy 0 0 0 1500
	equal "what sched_setattr says" "$(said failed)" 0
	snap after
	if grep -q '^se.slice ' "/proc/${tid[short]}/sched"; then
		equals fair_slice_ns short 1500000 "asked for"
	else
		unmeasured fair_slice_ns short
	fi
}

run_case "the longest run is that between two ticks, at least" nobody_interrupts
run_case "a rival waits for the longest slice" rivals_take_turns
run_case "a slice that was asked for is the present one" slices_can_be_asked_for
