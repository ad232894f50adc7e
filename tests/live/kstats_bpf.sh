# SPDX-License-Identifier: BSD-2-Clause
#
# Metrics that BPF programs record here: of system calls, tracepoints, and code of programs. This
# kernel has no probes in its own functions, for which see tests/kernels/cases/kstats_bpf.sh. Part of
# tests/live/run.

. tests/kstats_truth.sh
driver=$PWD/$programs/kstats_driver
calls=$scratch/kstats_calls
cp "$programs/kstats_calls" "$calls"

bpf_case() {
	local name=$1

	shift
	run_case "kstats by BPF: $name" has_own_place "$@"
}

# --- counts and times ---

system_calls_are_counted() {
	trace comm=kstats_calls calls start syscall:getppid
	trace by=process calls_by start syscall:getppid
	do_calls getppid 100000
	look calls
	equal "the calls" "$(fact count)" 100000
	nothing_is_lost
	between "all of them" 1 "$(total)" "$(did most)"
	look GAP-calls
	equal "the times between" "$(fact count)" 99999
	look calls_by
	equal "of this process" "$(awk '$4 == "kstats_calls" { print $3 }' <<< "$table")" 100000
}

# Two processes have the same number, one after the other, in a namespace where no other process takes it.
reused_numbers_are_told_apart() {
	[ -e /proc/sys/kernel/ns_last_pid ] || skip "this kernel cannot choose numbers"
	at_end "kstats remove reused"
	"${inside[@]}" unshare --pid --fork bash -ec '
		"$1" trace by=process comm=kstats_calls reused start syscall:getppid
		for calls in 100 7; do
			echo 999 > /proc/sys/kernel/ns_last_pid
			"$2" getppid $calls
		done' bash "$driver" "$calls" > "$scratch/did"
	look reused
	equal "the calls of each" "$(awk '$1 == "row" && $2 == 1000 { printf " %d", $3 }' <<< "$table")" " 100 7"
}

returned_values_are_rows() {
	trace comm=cat by=retval opened start syscall:openat
	cat /no/such/file > "$scratch/out" 2>&1 || true
	look opened
	between "those that failed with ENOENT" 1 "$(row -2)" 100
	equal "ENOENT as a name" "$(awk '$1 == "row" && $2 == -2 { print $4 }' <<< "$table")" -2
	equal "those that did not" "$(awk '$1 == "row" && $2 >= 0 { n += $3 } END { print n }' <<< "$table")" \
		"$(($(fact count) - $(row -2)))"
}

usdt_pair_agrees() {
	trace nap start "usdt:$calls:kstats_calls:nap_begin" end "usdt:$calls:kstats_calls:nap_end"
	do_calls nap 20 3000000
	look nap
	equal "the naps" "$(fact count)" 20
	nothing_is_lost
	between "the time" $((20 * 3000000)) "$(total)" "$(did least)"
}

# From the call of one to the tracepoint in it: of the same thread.
pair_of_different_kinds_agrees() {
	trace comm=kstats_calls mixed start "uprobe:$calls:napping_function" end "usdt:$calls:kstats_calls:nap_end"
	do_calls nap 20 3000000
	look mixed
	equal "the naps" "$(fact count)" 20
	between "the time" $((20 * 3000000)) "$(total)" "$(did most)"
}

# How often the kernel says that it did.
softirqs() {
	awk 'NR > 1 { for (i = 2; i <= NF; i++) n += $i } END { print n + 0 }' /proc/softirqs
}

cpus_are_told_apart() {
	local counts=()

	counts+=("$(softirqs)")
	trace key=cpu softirq start tracepoint:irq:softirq_entry end tracepoint:irq:softirq_exit
	counts+=("$(softirqs)")
	sleep 0.5
	counts+=("$(softirqs)")
	kstats stop softirq
	counts+=("$(softirqs)")
	look softirq
	between "softirqs" $((counts[2] - counts[1])) "$(fact count)" $((counts[3] - counts[0]))
	equal replaced "$(loss replaced)" 0
}

# --- filters ---

filters_let_nothing_else_in() {
	trace cpus=1 on_one start syscall:getppid
	trace comm=kstats_call other start syscall:getppid
	trace pid=1 first start syscall:getppid
	trace pid=$$ child start syscall:getppid
	did=$(taskset -c 0 "$calls" getppid 100)
	look on_one
	equal "on the other CPU" "$(row 0)" 0
	did=$(taskset -c 1 "$calls" getppid 100)
	look on_one
	between "on that CPU" 100 "$(row 1)" 100000
	for name in other first child; do
		look $name
		between "$name" 0 "$(fact count)" 20
		equal "what $name lost" "$(loss unmatched)" 0
	done
}

only_below_the_cgroup() {
	with_cgroup in_cgroup
}

in_cgroup() {
	trace "cgroup=$cgroup" inside start syscall:getppid
	trace by=cgroup comm=kstats_calls every start syscall:getppid
	sh -c 'echo $$ > "$0/below/cgroup.procs"; exec "$1" getppid 100' "$mount$cgroup" "$calls" > "$scratch/out"
	do_calls getppid 50
	look inside
	equal "those inside" "$(fact count)" 100
	look every
	equal "those of all" "$(fact count)" 150
	has "their names" "$table" "${cgroup##*/}/below"
}

# --- the same values as by other means ---

known_values_fall_where_they_should() {
	local bits

	for bits in 0 1 2 4 5; do
		"$driver" values $bits 20000 > "$scratch/values.$bits"
	done
	"$driver" values 3 1000000 > "$scratch/values"
	equal "all of them" "$(awk '{ n += $3 } END { print n }' "$scratch/values")" 1000000
	# Those that the kernel module is given, by other code than ours.
	make -s build/tests/kernels/programs/kstats_reference >&2
	build/tests/kernels/programs/kstats_reference 3 > "$scratch/reference"
	sed 's/^slot //' "$scratch/values" | diff - "$scratch/reference"
}

# --- refusals ---

strangers_are_refused() {
	trace secret start syscall:getppid
	cp "$driver" "$scratch/driver"
	for words in "list" "show secret" "stop secret" "remove secret" "trace mine start syscall:read"; do
		fails $EACCES "${inside[@]}" "${as_nobody[@]}" "$scratch/driver" $words
	done
	look secret
	equal "is it active" "$(fact active)" 1
}

# Whoever comes first makes the directory of metrics, where all may write to the file system of BPF.
strangers_make_no_place() {
	local pins=/sys/fs/bpf/ctprof words

	"${inside[@]}" chmod 1777 /sys/fs/bpf
	"${inside[@]}" "${as_nobody[@]}" mkdir -m 755 $pins
	start "${inside[@]}" "${as_nobody[@]}" flock $pins sh -c "echo ready; exec sleep 1000"
	cp "$driver" "$scratch/driver"
	for words in "list" "show secret" "remove secret" "trace mine start syscall:read"; do
		fails $EPERM "${inside[@]}" timeout -k 1 30 "$scratch/driver" $words
	done
	has "the reason" "$output" "$pins: owned by user 65534 with mode 755"
	equal "what is in it" "$("${inside[@]}" ls $pins)" ""
	# A link to a directory of root's.
	"${inside[@]}" rmdir $pins
	"${inside[@]}" "${as_nobody[@]}" ln -s /root $pins
	fails $ENOTDIR "${inside[@]}" timeout -k 1 30 "$scratch/driver" list
}

functions_have_reasons() {
	[ ! -e /sys/bus/event_source/devices/kprobe ] || skip "this kernel has kprobes"
	refused $EOPNOTSUPP "no kprobes (CONFIG_KPROBES)" trace bad start vfs_read
	equal "what is left" "$(kstats list)" ""
}

# More processes than there are rows: the last row has the rest, and the total is whole.
rows_run_out() {
	local i rows

	trace by=process crowd start syscall:brk
	trace all start syscall:brk
	for ((i = 0; i < 1100; i++)); do
		/bin/true
	done
	kstats stop all
	look all
	calls_of_all=$(fact count)
	look crowd
	between "the calls" "$calls_of_all" "$(fact count)" $((calls_of_all + 5000))
	equal "no room" "$(loss full)" 0
	rows=$(grep -c '^row' <<< "$table")
	between "the rows" 1000 "$rows" 1024
	between "the calls of others" 70 "$(awk '$1 == "row" && $4 == "others" { print $3 }' <<< "$table")" "$calls_of_all"
	kstats reset crowd
	/bin/true
	look crowd
	equal "others after it was emptied" "$(grep -c '^row.* others' <<< "$table" || true)" 0
}

bpf_case "100,000 system calls are as many" system_calls_are_counted
bpf_case "more processes than rows" slow rows_run_out
bpf_case "processes that had the same number" reused_numbers_are_told_apart
bpf_case "returned values are rows" returned_values_are_rows
bpf_case "a function that sleeps" function_agrees "uprobe:$calls:napping_function" nap 20 3000000
bpf_case "a function that changes its CPU" function_agrees "uprobe:$calls:moving_function" move 200
bpf_case "the overhead of uprobes" overhead_is_that_of_nothing "uprobe:$calls:empty_function" empty 1000
bpf_case "a function that calls itself" recursion_is_told_apart "uprobe:$calls:recursive_function"
bpf_case "a pair of static probes" usdt_pair_agrees
bpf_case "an argument of static probes" requests_agree
bpf_case "a pair of two kinds" pair_of_different_kinds_agrees
bpf_case "a pair on each CPU" cpus_are_told_apart
bpf_case "a wake-up on another CPU" alone wakeup_is_measured
bpf_case "filters let nothing else in" filters_let_nothing_else_in
bpf_case "filters by cgroup" only_below_the_cgroup
bpf_case "known values are in their slots" known_values_fall_where_they_should
bpf_case "eight callers at once" several_at_once_agree 250000
bpf_case "stops while it is called" stops_race_with_calls
bpf_case "start and stop" stop_and_start_are_heard
bpf_case "what was forgotten does not come back" reset_forgets_exactly
bpf_case "names are unique" names_are_unique
bpf_case "places that cannot be measured" bad_places_are_refused
bpf_case "a place that others made is refused" strangers_make_no_place
bpf_case "functions say why not" functions_have_reasons
bpf_case "others than root are refused" strangers_are_refused
bpf_case "those that are half made go" slow half_made_ones_go
bpf_case "strange ones are seen, and go" strange_ones_are_seen
bpf_case "nothing leaks" slow nothing_leaks 100 syscall:getppid
