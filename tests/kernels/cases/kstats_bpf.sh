# SPDX-License-Identifier: BSD-2-Clause
#
# Metrics that BPF programs record in functions of the kernel, in all ways that there are.
#
# kernels: 6.1 7.2

. tests/cases.sh
. tests/kstats_truth.sh
driver=/bin/kstats_driver
calls=/bin/kstats_calls

# What is left of a try that took too long.
kstats list | while read -r name _; do
	case $name in GAP-*) ;; *) kstats remove "$name" ;; esac
done

# do_nanosleep() is called once for each nap. WAY START
naps_agree() {
	trace comm=kstats_calls naps start "$2"
	do_calls nap 10 5000000
	look naps
	equal "how" "$(sed -n 's/^how //p' <<< "$table")" "$1"
	equal "the naps" "$(fact count)" 10
	nothing_is_lost
	between "their time" $((10 * 5000000)) "$(total)" "$(did most)"
	look GAP-naps
	equal "the times between" "$(fact count)" 9
}

# A call without arguments has no trampoline on every kernel.
calls_agree() {
	trace comm=kstats_calls here start "$2" ${3:+end "$3"}
	do_calls getppid 2000
	look here
	equal "how" "$(sed -n 's/^how //p' <<< "$table")" "$1"
	equal "the calls" "$(fact count)" 2000
	nothing_is_lost
	between "their time" 1 "$(total)" "$(did most)"
}

# From a call to another function's call. OPTIONS...
pair_agrees() {
	trace comm=kstats_calls "$@" pair start "$start" end "$end"
	do_calls nap 10 5000000
	look pair
	equal "the naps" "$(fact count)" 10
	equal replaced "$(loss replaced)" 0
	between "their time" 1 "$(total)" "$(did most)"
}

# The timer that a nap waits for is the argument of what starts it and of what it runs, on whatever CPU and
# in an interrupt.
timers_agree() {
	trace comm=kstats_calls key=arg1 timer start tracepoint:timer:hrtimer_start end tracepoint:timer:hrtimer_expire_entry
	do_calls nap 10 5000000
	look timer
	# Timers of the kernel are started in the thread that runs, too. Those of 4.7 ms and longer:
	between "the naps" 10 "$(awk '$1 == "slot" && $3 >= 161 { n += $4 } END { print n }' <<< "$table")" 100
}

# What is returned has a sign. WAY
returned_values_are_rows() {
	trace comm=cat by=retval opened start "$1"
	cat /no/such/file > "$scratch/out" 2>&1 || true
	look opened
	between "ENOENT" 1 "$(row -2)" 50
}

# A function that several are in at once, asleep and on any CPU.
many_threads_agree() {
	local i missed

	trace comm=kstats_calls by=process busy start "$1"
	for i in 1 2 3 4; do
		"$calls" nap 50 100000 > "$scratch/said.$i" &
	done
	wait
	look busy
	# A thread that loses its CPU inside a program keeps the program from other threads of that CPU, which is
	# counted. Where this is the end of a call, the next start replaces that of the call.
	missed=$(loss recursive)
	[ "$missed" != unknown ] || missed=0
	between "the calls" $((200 - missed)) "$(fact count)" 200
	equal "the processes" "$(grep -c '^row .* kstats_calls' <<< "$table")" 4
	between replaced 0 "$(loss replaced)" "$missed"
}

# The program of one reads memory by the function that is measured by the other, and that one's does so, too.
calls_in_programs_are_counted() {
	trace comm=kstats_calls inner start copy_from_kernel_nofault
	trace comm=kstats_calls outer start syscall:getppid
	do_calls getppid 1000
	look inner
	between "calls by the other program" 1000 "$(fact count)" 1000000
	between "calls by its own" 1000 "$(loss recursive)" 1000000
	look outer
	equal "the calls" "$(fact count)" 1000
	nothing_is_lost
}

untraceable_functions_are_refused() {
	refused $ENOENT "no function 'no_such_function_anywhere'" trace bad start no_such_function_anywhere
	# What probes run by cannot have any.
	refused $EINVAL "does not allow" trace bad start kprobe:kprobe_ftrace_handler
	refused $ENOENT "did you mean 'start vfs_read'" trace bad start vfs_raed
	equal "what is left" "$(kstats list)" ""
}

# NAME FUNCTION WORDS...
kstats_case() {
	local name=$1

	shift
	run_case "kstats by BPF: $name" "$@"
}

kstats_case "a function that sleeps, by fentry" naps_agree "fentry, fexit" do_nanosleep
kstats_case "a function that sleeps, by kprobe" naps_agree "kprobe, kretprobe" kprobe:do_nanosleep
kstats_case "a system call by fentry" naps_agree "fentry, fexit" syscall:clock_nanosleep
kstats_case "a system call by tracepoints" calls_agree "raw tracepoint" tracepoint:syscalls:sys_enter_getppid tracepoint:syscalls:sys_exit_getppid
kstats_case "a system call's function by kprobe" calls_agree "kprobe, kretprobe" kprobe:__x64_sys_getppid
start=do_nanosleep end=fexit:do_nanosleep
kstats_case "a function and its return" pair_agrees
start=kprobe:hrtimer_nanosleep end=fentry:do_nanosleep
kstats_case "a pair of functions" pair_agrees
start=kprobe:hrtimer_nanosleep end=fentry:do_nanosleep
kstats_case "a pair of functions on one CPU" pair_agrees key=cpu
kstats_case "the overhead of kprobes" overhead_is_that_of_nothing kprobe:__x64_sys_getppid getppid 1000
kstats_case "the overhead of uprobes" overhead_is_that_of_nothing "uprobe:$calls:empty_function" empty 1000
kstats_case "a timer is known again by its argument" timers_agree
kstats_case "an argument of static probes" requests_agree
kstats_case "returned values, by fexit" returned_values_are_rows syscall:openat
kstats_case "returned values, by kretprobe" returned_values_are_rows kprobe:do_sys_openat2
kstats_case "several threads, by fentry" many_threads_agree fentry:do_nanosleep
kstats_case "several threads, by kprobe" many_threads_agree kprobe:do_nanosleep
kstats_case "code of a program that sleeps" function_agrees "uprobe:$calls:napping_function" nap 10 3000000
kstats_case "code of a program that changes its CPU" function_agrees "uprobe:$calls:moving_function" move 20
kstats_case "code of a program that calls itself" recursion_is_told_apart "uprobe:$calls:recursive_function"
kstats_case "a wake-up on another CPU" wakeup_is_measured
kstats_case "eight callers at once" several_at_once_agree 3000
kstats_case "stops while it is called" stops_race_with_calls
kstats_case "start and stop" stop_and_start_are_heard
kstats_case "calls in programs" calls_in_programs_are_counted
kstats_case "functions that cannot be measured" untraceable_functions_are_refused
kstats_case "names are unique" names_are_unique
