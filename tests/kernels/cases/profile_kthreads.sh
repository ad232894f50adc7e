# SPDX-License-Identifier: BSD-2-Clause
#
# Kernel threads: idle, parked, and those that only sleep.
#
# kernels: 6.1

. tests/kernels/guest/profile.sh

# in_state LETTER: numbers of the children of kthreadd that are in it.
in_state() {
	cat /proc/[0-9]*/stat 2> /dev/null | sed -nE "s/^([0-9]+) .*\) $1 2 .*/\1/p" || :
}

# rest_is STATE CLASS: of kernel threads that are in this state, and have not run meanwhile.
rest_is() {
	local pid checked=0
	local -A ran

	for pid in $(in_state "$1"); do
		ran[$pid]=$(schedstat_column "$pid" 3)
	done
	watch -p "$(echo "${!ran[*]}" | tr ' ' ,)"
	sleep 1
	end_watch
	times_add_up
	for pid in "${!ran[@]}"; do
		[ "$(schedstat_column "$pid" 3)" = "${ran[$pid]}" ] || continue
		equal "$2 of $(< "/proc/$pid/comm")" "$(of '' "$pid" "$2")" "$(of '' "$pid" life)"
		checked=$((checked + 1))
	done
	echo "$checked of ${#ran[@]} threads"
	[ $checked -gt 3 ]
}

# number_of NAME: of a kernel thread.
number_of() {
	grep -lx "$1" /proc/[0-9]*/comm 2> /dev/null | cut -d / -f 3
}

# A CPU that goes or comes tells nothing of its last and first switches (the kernel calls tracepoints on
# those that are online only): the thread that takes it down has no times that add up, and says so.
threads_of_an_offline_cpu_are_parked() {
	local online=/sys/devices/system/cpu/cpu1/online softirqs stopper before offline after

	[ -e $online ] || skip "the CPUs of this guest cannot be taken offline"
	softirqs=$(number_of ksoftirqd/1)
	stopper=$(number_of migration/1)
	watch -p "$softirqs,$stopper"
	before=$(now)
	at_end "echo 1 > $online"
	echo 0 > $online || skip "this guest does not take a CPU offline"
	offline=$(now)
	equal "the CPUs" "$(< /sys/devices/system/cpu/online)" 0
	equal "as ps(1) says" "$(stat_column "$softirqs" 3)" P
	sleep 3
	after=$(now)
	echo 1 > $online
	echo "ksoftirqd/1 $softirqs parked $((after - offline)) $(($(now) - before))" > "$scratch/truths"
	end_watch
	times_add_up
	truths_hold
	truths_hold seen:
}

run_case "kernel threads that wait for work are idle" rest_is I idle
run_case "those that sleep are not" rest_is S interruptible
run_case "those of an offline CPU are parked" threads_of_an_offline_cpu_are_parked
