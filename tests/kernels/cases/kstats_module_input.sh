# SPDX-License-Identifier: BSD-2-Clause
#
# kstats.ko: bad input, many metrics, and how short the way of a record is.
#
# modules
# kernels: 6.1 7.2

. tests/kernels/guest/kstats.sh

# nothing_is_left: in the directory, and in the list.
nothing_is_left() {
	equal "files" "$(cd $kstats && ls)" "_control
_raw"
	equal "raw files" "$(ls $kstats/_raw)" ""
	equal "what is traced" "$(cat $kstats/_control)" ""
}

# refuses_bytes WHY FILE
refuses_bytes() {
	! dd if="$2" of=$kstats/_control bs="$([ -f "$2" ] && stat -c %s "$2" || echo 1000)" count=1 2> "$scratch/said"
	has "what was said to $2" "$(cat "$scratch/said")" "$1"
}

bad_commands_are_refused() {
	local invalid="Invalid argument" words long63 place512

	load
	long63=$(printf 'n%.0s' {1..63})
	place512=$(printf 'f%.0s' {1..512})
	for words in "" trace remove "trace a/b" "trace ../a" "trace a.b" "trace ." "trace _control" "trace _raw" \
		"trace GAP-a" "trace gap-a" "trace -a" "trace a?" "trace some_function bits" "trace some_function bits 6" \
		"trace some_function bits -1" "trace some_function bits 0x6" "trace some_function bits x" \
		"trace some_function start" "trace some_function colour red" \
		"trace some_function vfs_read" "remove a b" "remove a/b" "list a" $'trace a\001b' $'trace caf\303\251' \
		$'trace a\177' "trace a start __tracepoint_sched_switch" "trace a start tracepoint:sched:sched_switch" \
		"trace a start tracepoint:sched end vfs_read" "trace a start tracepoint::x end vfs_read"; do
		refuses "$invalid" $kstats/_control "$words"
	done
	refuses "File name too long" $kstats/_control "trace ${long63}n start some_function"
	refuses "File name too long" $kstats/_control "trace a start $place512"
	# 10 KB in one write, which the shell would make three of.
	printf 'trace a start some_function %10000s' '' > "$scratch/long"
	refuses_bytes "Message too long" "$scratch/long"
	refuses_bytes "$invalid" /dev/zero
	refuses "No such file" $kstats/_control remove nothing
	refuses "No such file" $kstats/_control trace a start no_such_function
	refuses "No such file" $kstats/_control trace a start __tracepoint_no_such end some_function
	refuses "No such file" $kstats/_control trace a start some_function end __tracepoint_no_such
	refuses "No such file" $kstats/_control trace a start some_function end no_such_function
	refuses "No such file" $kstats/_control trace a start no_such_function end some_function
	refuses "No such file" $kstats/_control trace a start tracepoint:net:sched_switch end some_function
	refuses "not supported" $kstats/_control trace a start syscall:read
	refuses "not supported" $kstats/_control trace a start uprobe:/bin/bash:main end some_function
	refuses "not supported" $kstats/_control trace a start tracepoint:syscalls:sys_enter_read end some_function
	nothing_is_left
	control "trace $long63 start some_function"
	control "  TRACE	other  START some_function Bits 3 BITS 5  "
	equal "the bits, of which the last count" "$(raw other bits)" 5
	control "remove $long63"
	control remove other
	control trace some_function end kstats_test_recurse bits 0x2
	equal "the start, which is the name" "$(raw some_function start)" some_function
	equal "bits as a hexadecimal number" "$(raw some_function bits)" 2
	control remove some_function
	nothing_is_left
	is_clean
}

# Defects of the original: a name on its list leaked, and so did a reference; to remove what was never registered
# was the end of the kernel.
what_may_not_be_probed_leaves_nothing() {
	local users function

	load
	users=$(awk '$1 == "kstats" { print $3 }' /proc/modules)
	function=$(awk '$2 != "" { name = $3 } name !~ /[.+]/ && name ~ /^[a-z_0-9]+$/ { print name; exit }' \
		$debug/kprobes/blacklist)
	for function in $function kstats_record kstats_new ktime_get_mono_fast_ns; do
		refuses "not permitted" $kstats/_control trace a start "$function"
		refuses "not permitted" $kstats/_control trace a start "$function" end some_function
		refuses "not permitted" $kstats/_control trace a start some_function end "$function"
	done
	nothing_is_left
	equal "users of the module" "$(awk '$1 == "kstats" { print $3 }' /proc/modules)" "$users"
	control trace a start kstats_test_begin_pair end kstats_test_finish_pair
	control remove a
	refuses "No such file" $kstats/_control remove a
	control trace a start some_function
	refuses "File exists" $kstats/_control trace a start some_function
	refuses "File exists" $kstats/_control trace a start some_function end some_function
	control remove a
	nothing_is_left
	is_clean
}

metrics_of_modules() {
	load
	for words in "a/b 3" ".. 3" "GAP-a 3" "_control 3" "a 6" "a 200"; do
		refuses "Invalid argument" $debug/kstats_test new $words
	done
	refuses "File name too long" $debug/kstats_test new "$(printf 'n%.0s' {1..64})" 3
	do_test new a 0
	refuses "File exists" $debug/kstats_test new a 0
	refuses "File exists" $kstats/_control trace a start some_function
	refuses "No such file" $kstats/_control remove a
	for words in "" S STAR STARTS "START STOP" RESETRESETRESETRESET $'STOP\n\n'; do
		refuses "Invalid argument" $kstats/a "$words"
	done
	! rmmod kstats 2> /dev/null
	do_test delete a
	nothing_is_left
	# As somebody: not even to be seen.
	! "${as_somebody[@]}" ls $kstats 2> /dev/null
	insmod /kmod/kstats_sample.ko
	equal "values of the sample" "$(count_of sample_kmalloc)" 1000
	rmmod kstats_sample
	nothing_is_left
	is_clean
}

# They are traced, and nothing that one counts is in another: a start stamp once lay behind the slots of its metric.
a_thousand_metrics() {
	local i

	load instances=8
	for i in {1..334}; do
		echo "trace call$i bits $((i % 6)) start some_function"
		echo "trace pair$i bits $((i % 6)) start kstats_test_begin_pair end kstats_test_finish_pair"
		echo "trace other$i bits $((i % 6)) start kstats_test_recurse end kstats_test_sleep"
	done > "$scratch/commands"
	while read -r words; do
		echo "$words" > $kstats/_control
	done < "$scratch/commands"
	equal "metrics" "$(wc -w < $kstats/_control)" 1002
	do_test begin 0
	do_test finish 0
	do_test begin 1
	do_test call 2
	cat $kstats/_raw/call* > "$scratch/calls"
	equal "calls" "$(awk '$1 == "count" { n += $2 } END { print n }' "$scratch/calls")" 668
	cat $kstats/_raw/pair* > "$scratch/pairs"
	equal "pairs" "$(awk '$1 == "count" { n += $2 } END { print n }' "$scratch/pairs")" 334
	cat $kstats/_raw/other* > "$scratch/others"
	equal "lines of what was not called" "$(grep -c '^slot' "$scratch/others" || :)" 0
	control 'remove *'
	nothing_is_left
	is_clean
}

# busy_with N: what one does while others do the same.
busy_with() {
	local i

	for i in {1..12}; do
		control trace "own$1" start some_function
		control trace shared start some_function 2> /dev/null || :
		do_test call 10
		cat $kstats/_control "$kstats/own$1" $kstats/_raw/shared > /dev/null 2>&1 || :
		(echo RESET > $kstats/shared) 2> /dev/null || :
		control remove shared 2> /dev/null || :
		control remove "own$1"
	done
}

several_at_once() {
	local i jobs=

	load
	for i in 1 2 3; do
		busy_with $i &
		jobs+=" $!"
	done
	for i in $jobs; do
		wait "$i"
	done
	control 'remove *'
	nothing_is_left
	is_clean
}

# A call that is under way when its probe goes, and the module with it.
unloading_while_a_traced_call_sleeps() {
	local sleeper

	insmod /kmod/kstats.ko
	insmod /kmod/kstats_test.ko
	at_end "rmmod kstats_test"
	control trace nap start kstats_test_sleep
	do_test sleepers 8 1500 &
	sleeper=$!
	sleep 0.3
	# The test module holds no metric, but its calls of ours: only by name is it bound to this module.
	control 'remove *'
	wait $sleeper
	control trace nap start kstats_test_sleep
	do_test sleep 1
	equal "sleeps since" "$(count_of nap)" 1
	rmmod kstats_test
	endings=()
	# What is traced keeps nobody from unloading, and returns to code that is there.
	control trace again start hrtimer_nanosleep
	sleep 0.1
	equal "sleeps of others" "$(count_of again | sed 's/^[1-9].*/some/')" some
	sleep 2 &
	sleeper=$!
	sleep 0.5
	rmmod kstats
	[ ! -e $kstats ]
	kill -0 $sleeper
	wait $sleeper
	is_clean
}

# Counted in what was built, on every way through it that calls nothing; and no lock prefix.
the_way_of_a_record() {
	local words

	words=$(awk -f tests/kernels/guest/longest_path.awk /kmod/kstats_record.s)
	echo "    $words, the longest way of a record" >&3
	between "instructions of a record" 10 "${words% *}" 30
	equal "lock prefixes" "${words#* }" lockless
	load
	do_test new cost 3
	do_test cost cost
	echo "    as emulated, ns each: $(cat $debug/kstats_test)" >&3
	equal "values" "$(count_of cost)" 1000000
	is_clean
}

# Cases that are well say nothing else.
exec 3>&1
run_case "kstats.ko: bad commands are refused, each with its reason" bad_commands_are_refused
run_case "kstats.ko: a forbidden probe leaves nothing behind" what_may_not_be_probed_leaves_nothing
run_case "kstats.ko: metrics of other modules" metrics_of_modules
run_case "kstats.ko: a thousand metrics at once" a_thousand_metrics
run_case "kstats.ko: commands of several at once" several_at_once
run_case "kstats.ko: unloaded while a traced call sleeps" unloading_while_a_traced_call_sleeps
run_case "kstats.ko: a record is at most 30 instructions, without a lock" the_way_of_a_record
