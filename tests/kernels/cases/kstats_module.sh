# SPDX-License-Identifier: BSD-2-Clause
#
# kstats.ko: what it counts, what it says, what it refuses, and that nothing of it stays.
#
# modules

. tests/kernels/guest/kstats.sh

# The words of the posting, as they stand there: "some_function" and "foo" are such a function and such a
# metric of the test module.
the_session_of_the_posting() {
	load
	do_test new foo 3
	do_test record foo 0 480 481 500 20130
	equal "foo" "$(cat /sys/kernel/debug/kstats/foo)" \
		"slot 55  CPU  0    count        3 avg      487 p 0.750000
slot 55  CPUS 2    count        3 avg      487 p 0.750000
slot 97  CPU  0    count        1 avg    20130 p 1.000000
slot 97  CPUS 2    count        1 avg    20130 p 1.000000"
	echo STOP > /sys/kernel/debug/kstats/foo
	do_test record foo 0 480
	equal "values while stopped" "$(count_of foo)" 4
	echo START > /sys/kernel/debug/kstats/foo
	do_test record foo 0 480
	equal "values when started" "$(count_of foo)" 5
	echo RESET > /sys/kernel/debug/kstats/foo
	equal "foo after RESET" "$(cat /sys/kernel/debug/kstats/foo)" ""

	echo trace some_function bits 3 > /sys/kernel/debug/kstats/_control
	equal "what is traced" "$(cat /sys/kernel/debug/kstats/_control)" some_function
	do_test call 100
	equal "calls" "$(count_of some_function)" 100
	equal "gaps between them" "$(count_of GAP-some_function)" 99
	# The columns that scripts take: slot, CPU or CPUS, its number, count, average, share.
	! grep -vE '^slot [0-9]+ +CPU[ S] +[0-9]+ +count +[0-9]+ avg +[0-9]+ p [01]\.[0-9]{6}$' $kstats/some_function
	equal "the last share" "$(awk '{ last = $10 } END { print last }' $kstats/some_function)" 1.000000
	equal "counts of CPUS" "$(grep CPUS $kstats/some_function | awk '{ n += $6 } END { print n }')" 100
	equal "counts of CPU" "$(grep 'CPU  ' $kstats/some_function | awk '{ n += $6 } END { print n }')" 100
	control remove some_function
	equal "what is traced" "$(cat $kstats/_control)" ""
	! ls $kstats | grep some_function
	is_clean
}

known_values_byte_for_byte() {
	load
	do_test new known 3
	do_test record known 0 0 1 7 8 15 16 17 480 511 512 18432 20130 1000000
	do_test record known 1 480 20479 8388608 8388609 1000000000000 18446744073709551615
	cat > "$scratch/wanted" <<- 'END'
		slot 0   CPU  0    count        1 avg        0 p 0.076923
		slot 0   CPUS 2    count        1 avg        0 p 0.052631
		slot 1   CPU  0    count        1 avg        1 p 0.153846
		slot 1   CPUS 2    count        1 avg        1 p 0.105263
		slot 7   CPU  0    count        1 avg        7 p 0.230769
		slot 7   CPUS 2    count        1 avg        7 p 0.157894
		slot 8   CPU  0    count        1 avg        8 p 0.307692
		slot 8   CPUS 2    count        1 avg        8 p 0.210526
		slot 15  CPU  0    count        1 avg       15 p 0.384615
		slot 15  CPUS 2    count        1 avg       15 p 0.263157
		slot 16  CPU  0    count        2 avg       16 p 0.538461
		slot 16  CPUS 2    count        2 avg       16 p 0.368421
		slot 55  CPU  0    count        2 avg      495 p 0.692307
		slot 55  CPU  1    count        1 avg      480 p 0.166666
		slot 55  CPUS 2    count        3 avg      490 p 0.526315
		slot 56  CPU  0    count        1 avg      512 p 0.769230
		slot 56  CPUS 2    count        1 avg      512 p 0.578947
		slot 97  CPU  0    count        2 avg    19281 p 0.923076
		slot 97  CPU  1    count        1 avg    20479 p 0.333333
		slot 97  CPUS 2    count        3 avg    19680 p 0.736842
		slot 143 CPU  0    count        1 avg  1000000 p 1.000000
		slot 143 CPUS 2    count        1 avg  1000000 p 0.789473
		slot 168 CPU  1    count        2 avg  8388608 p 0.666666
		slot 168 CPUS 2    count        2 avg  8388608 p 0.894736
		slot 302 CPU  1    count        1 avg 999999930368 p 0.833333
		slot 302 CPUS 2    count        1 avg 999999930368 p 0.947368
		slot 495 CPU  1    count        1 avg 18446741874686296064 p 1.000000
		slot 495 CPUS 2    count        1 avg 18446741874686296064 p 1.000000
	END
	diff "$scratch/wanted" $kstats/known
	is_clean
}

# Each line of the research's vectors that scales a sum: slot and sum with 3 bits.
sums_of_large_values() {
	local value slot sum

	load
	while read -r value slot sum; do
		do_test new vector 3
		do_test record vector 0 "$value"
		equal "slot and sum of $value" "$(totals vector)" "$slot 1 $sum"
		do_test delete vector
	done <<- 'END'
		4 4 4
		4194303 159 4194303
		8388608 168 4194304
		8388609 168 4194304
		1000000000 222 7812500
		1000000000000 302 7629394
		4294967295 239 8388607
		4294967296 240 4194304
		9223372036854775808 488 4194304
		18446744073709551615 495 8388607
	END
	is_clean
}

# The same million, by all bits.
the_million() {
	local bits

	load
	for bits in 0 3 5; do
		do_test new million$bits $bits
		do_test spread million$bits 1000000 1
		equal "bits" "$(raw million$bits bits)" $bits
		kstats_reference $bits > "$scratch/wanted"
		totals million$bits | diff "$scratch/wanted" -
	done
	is_clean
}

many_threads_count_exactly() {
	load
	do_test new threads 3
	do_test spread threads 4000000 16
	equal "values" "$(count_of threads)" 4000000
	kstats_reference 3 | awk '{ printf "%d %.0f %.0f\n", $1, 4 * $2, 4 * $3 }' > "$scratch/wanted"
	totals threads | diff "$scratch/wanted" -
	is_clean
}

# sums_are_whole NAME VALUE: all values are this one.
sums_are_whole() {
	awk -v value="$2" '$1 == "slot" && $6 * value != $8 { print; bad = 1 } END { exit bad }' "$kstats/_raw/$1"
}

# While threads record: what is stopped does not move, what is reset is nothing, and no sum is torn from its
# count by a reset amid a record. The next reset would hide it: each is looked at.
commands_race_with_records() {
	local i before

	load
	do_test new race 3
	do_test churn race 4 1000
	for i in {1..40}; do
		echo RESET > $kstats/race
		echo sToP > $kstats/race
		before=$(cat $kstats/race)
		sums_are_whole race 1000
		equal "values after STOP" "$(cat $kstats/race)" "$before"
		[ $((i % 8)) -gt 0 ] || {
			equal "state" "$(raw race state)" stopped
			echo reset > $kstats/race
			equal "values after RESET" "$(cat $kstats/race)" ""
		}
		echo start > $kstats/race
	done
	sleep 0.1
	do_test calm
	[ "$(count_of race)" -gt 0 ]
	sums_are_whole race 1000
	is_clean
}

# Defect of the original: a record while stopped came back with preemption off.
stopped_records_leave_preemption_alone() {
	load
	do_test new still 3
	echo STOP > $kstats/still
	do_test stopped still
	equal "values" "$(count_of still)" 0
	echo START > $kstats/still
	do_test stopped still
	equal "values" "$(count_of still)" 1000
	is_clean
}

sleeps_recursion_and_migration() {
	load
	control trace nap start kstats_test_sleep
	control trace deep start kstats_test_recurse
	control trace move start kstats_test_migrate
	do_test sleep 30
	equal "sleeps" "$(count_of nap)" 1
	# msleep() counts ticks: one that came late on a busy host makes the sleep after it shorter by so much.
	between "us asleep" 24000 "$(microseconds nap)" 3000000
	# 1, 2, 3, 4 and 5 times 3 ms.
	do_test recurse 5 3
	equal "calls" "$(count_of deep)" 5
	between "us of all five" 36000 "$(microseconds deep)" 4500000
	do_test migrate
	equal "calls that moved" "$(count_of move)" 1
	grep -q '^slot [0-9]* *CPU  1 ' $kstats/move
	between "us on two CPUs" 2000 "$(microseconds move)" 3000000
	for name in nap deep move; do
		equal "missed of $name" "$(raw $name missed)" 0
		equal "backwards of $name" "$(raw $name backwards)" 0
	done
	control 'remove *'
	is_clean
}

pairs_of_functions_and_tracepoints() {
	load
	control trace pair start kstats_test_begin_pair end kstats_test_finish_pair bits 5
	do_test begin 0
	do_test finish 0
	equal "pairs" "$(count_of pair)" 1
	# An end on another CPU, a start twice, an end without.
	do_test begin 0
	do_test finish 1
	do_test begin 0
	do_test finish 0
	do_test finish 0
	equal "pairs" "$(count_of pair)" 2
	# The first one of CPU 1 may have begun before the trace did.
	equal "ends without a start" "$(raw pair unmatched)" 1
	equal "what may have begun earlier" "$(raw pair earlier)" 1
	equal "starts that were replaced" "$(raw pair replaced)" 1
	echo RESET > $kstats/pair
	equal "ends without a start after RESET" "$(raw pair unmatched)" 0
	equal "what may have begun earlier after RESET" "$(raw pair earlier)" 0
	do_test finish 1
	equal "ends without a start" "$(raw pair unmatched)" 1
	# What is stopped counts no losses either.
	echo STOP > $kstats/pair
	do_test finish 1
	do_test begin 0
	do_test begin 0
	do_test finish 0
	equal "pairs" "$(count_of pair)" 0
	equal "ends without a start" "$(raw pair unmatched)" 1
	equal "starts that were replaced" "$(raw pair replaced)" 0
	echo START > $kstats/pair
	! ls $kstats | grep GAP

	# By their names, by those of their events, the kernel's own, and of two kinds.
	control trace named START __tracepoint_kstats_test_begin END __tracepoint_kstats_test_finish
	control trace event start tracepoint:kstats_test:kstats_test_begin end tracepoint:kstats_test:kstats_test_finish
	control trace kernel start tracepoint:sched:sched_process_fork end tracepoint:sched:sched_process_exec
	control trace mixed start tracepoint:kstats_test:kstats_test_begin end kstats_test_finish_pair
	do_test events 50
	do_test finish 0
	equal "pairs by name" "$(count_of named)" 50
	equal "pairs by event" "$(count_of event)" 50
	equal "pairs of two kinds" "$(count_of mixed)" 1
	equal "starts that were replaced" "$(raw mixed replaced)" 49
	taskset 1 bash -c 'cat /proc/uptime; cat /proc/uptime; cat /proc/uptime'
	[ "$(count_of kernel)" -gt 0 ]
	equal "what is traced" "$(cat $kstats/_control)" "mixed kernel event named pair"
	control 'remove *'
	is_clean
}

# A module whose functions and tracepoints are traced goes away.
what_is_traced_unloads() {
	load
	control trace pair start kstats_test_begin_pair end kstats_test_finish_pair
	control trace event start tracepoint:kstats_test:kstats_test_begin end __tracepoint_kstats_test_finish
	control trace some_function
	do_test call 3
	do_test events 3
	rmmod kstats_test
	for name in pair event some_function; do
		equal "state of $name" "$(raw $name state)" gone
	done
	equal "calls before" "$(count_of some_function)" 3
	equal "pairs before" "$(count_of event)" 3
	refuses "No such file" $kstats/_control trace again start some_function
	insmod /kmod/kstats_test.ko
	do_test call 3
	equal "calls since" "$(count_of some_function)" 3
	control 'remove *'
	control trace some_function
	do_test call 3
	equal "calls of the new one" "$(count_of some_function)" 3
	control remove some_function
	is_clean
}

# Calls that the kernel has no room for are said.
missed_calls_are_counted() {
	local counted

	load instances=2
	control trace nap start kstats_test_sleep
	do_test sleepers 16 100
	counted=$(count_of nap)
	[ "$(raw nap missed)" -gt 0 ]
	equal "counted and missed" $((counted + $(raw nap missed))) 16
	echo RESET > $kstats/nap
	equal "missed after RESET" "$(raw nap missed)" 0
	control remove nap
	is_clean
}

# Another probe's handler reads memory by a function that is traced: there the kernel calls nobody.
calls_in_handlers_are_counted() {
	local tracing=/sys/kernel/tracing read=copy_from_kernel_nofault

	[ -e $tracing/kprobe_events ] || mount -t tracefs tracefs $tracing
	load
	echo "p:kstats_outer kstats_test_begin_pair word=+0(%sp):u64" > $tracing/kprobe_events
	at_end "echo > $tracing/kprobe_events"
	at_end "echo 0 > $tracing/events/kprobes/kstats_outer/enable"
	control trace inner start $read
	control trace around start kstats_test_begin_pair end $read
	equal "recursive before" "$(raw inner recursive)" 0
	echo 1 > $tracing/events/kprobes/kstats_outer/enable
	for _ in {1..20}; do
		do_test begin 0
	done
	between "recursive" 20 "$(raw inner recursive)" 40
	equal "missed" "$(raw inner missed)" 0
	between "recursive of a pair" 20 "$(raw around recursive)" 40
	echo RESET > $kstats/inner
	equal "recursive after RESET" "$(raw inner recursive)" 0
	control 'remove *'
	is_clean
}

# median NAME: the mean of the slot that it is in, of small values.
median() {
	totals "$1" | awk '{ count[NR] = $2; sum[NR] = $3; all += $2 } END {
		for (i = 1; seen <= all / 2; i++) seen += count[i]
		printf "%d\n", sum[i - 1] / count[i - 1]
	}'
}

# What an empty pair is said to measure is what is measured where nothing is done.
overhead_is_that_of_nothing() {
	load
	control trace call start some_function bits 5
	control trace event start tracepoint:kstats_test:kstats_test_begin end tracepoint:kstats_test:kstats_test_finish bits 5
	control trace pair start kstats_test_begin_pair end kstats_test_finish_pair bits 5
	do_test call 1000
	do_test events 1000
	between "a call that does nothing, ns" $(($(raw call overhead) / 2)) "$(median call)" $((2 * $(raw call overhead)))
	# A tracepoint is passed with its arguments.
	between "two tracepoints, ns" $(($(raw event overhead) / 3)) "$(median event)" $((3 * $(raw event overhead) + 200))
	[ "$(raw pair overhead)" -gt "$(raw event overhead)" ]
	equal "empty pairs among the values" "$(count_of pair)" 0
	equal "the overhead of gaps" "$(raw GAP-call overhead)" ""
	echo "overhead: call $(raw call overhead), tracepoints $(raw event overhead), kprobes $(raw pair overhead) ns"
	control 'remove *'
	is_clean
}

# Functions that are called where the clock is set: to read it there must not wait for itself. On Linux 6.1 as
# pairs: it now and then returns to address 0 from calls of idle CPUs that have return probes, whoever put them there.
clocks_can_be_traced() {
	local name=0 function traced= pair=

	[[ $(uname -r) != 6.1.* ]] || pair=yes
	load
	for function in ktime_get update_wall_time timekeeping_advance tick_sched_do_timer update_process_times; do
		grep -q " $function\$" /proc/kallsyms || continue
		name=$((name + 1))
		control trace clock$name start $function ${pair:+end $function} || continue
		traced+=" clock$name"
	done
	[ $name -gt 2 ]
	sleep 1
	[ "$(count_of clock1)" -gt 0 ]
	echo "traced:$traced"
	control 'remove *'
	is_clean
}

run_case "kstats.ko: the session of the posting, word for word" the_session_of_the_posting
run_case "kstats.ko: known values give the known text, byte for byte" known_values_byte_for_byte
run_case "kstats.ko: slots and sums of large values" sums_of_large_values
run_case "kstats.ko: a million values are in the slots of the library, with its sums" the_million
run_case "kstats.ko: 16 threads that are pinned nowhere count exactly" many_threads_count_exactly
run_case "kstats.ko: START, STOP and RESET while values are recorded" commands_race_with_records
run_case "kstats.ko: records of a stopped metric leave preemption as it was" \
	stopped_records_leave_preemption_alone
run_case "kstats.ko: times are right across sleep, recursion and migration" sleeps_recursion_and_migration
run_case "kstats.ko: pairs of functions and of tracepoints" pairs_of_functions_and_tracepoints
run_case "kstats.ko: a module that is traced can be unloaded" what_is_traced_unloads
run_case "kstats.ko: calls that were missed are counted" missed_calls_are_counted
run_case "kstats.ko: calls in handlers are counted" calls_in_handlers_are_counted
run_case "kstats.ko: the overhead is that of nothing" overhead_is_that_of_nothing
run_case "kstats.ko: functions of the clock can be traced" clocks_can_be_traced
