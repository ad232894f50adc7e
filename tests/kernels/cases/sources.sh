# SPDX-License-Identifier: BSD-2-Clause
#
# What BPF says of a thread is what /proc and taskstats say.
#
# kernels: 6.1 7.2

. tests/kernels/guest/delays.sh
. tests/kernels/guest/sched_ext.sh

# read_all NAME SOURCE: all threads of the guest as lines "TID NAME VALUE".
read_all() {
	ctprof capture -q --source "$2" -o "$scratch/$1.ctprof.zst"
	zstd -dcq "$scratch/$1.ctprof.zst" | jq -r "$(cat tests/recorded/facts.jq)"'
		(names | sub(" "; " named ")), (processes | sub(" "; " process "))' > "$scratch/$1.names"
	{ facts_of "$scratch/$1.ctprof.zst"; cat "$scratch/$1.names"; } |
		grep -v ' smaps_rollup_kib' > "$scratch/$1.lines"
}

# beyond A B: lines of B that A does not have.
beyond() {
	awk 'NR == FNR { there[$0]; next } !($0 in there)' "$1" "$2"
}

# but_uncounted: without delays of kernel threads that were forked while the sysctl task_delayacct was 0. These have
# no record, which is unmeasured to BPF, and 0 to taskstats.
but_uncounted() {
	awk -v actors=" ${tid[*]} " '
		NR == FNR { if ($2 == "blkio_delay_count") has[$1]; next }
		$2 !~ /_delay_/ || ($1 in has) || index(actors, " " $1 " ")' "$scratch/second.lines" -
}

# both_agree: of those who do nothing meanwhile, all actors among them.
both_agree() {
	local name still=$scratch/still

	read_all first proc
	read_all second bpf
	read_all third proc
	equal "the source" "$(zstd -dcq "$scratch/second.ctprof.zst" |
		jq -r '.capture | "\(.source) \(.source_reason)"')" "bpf null"
	{ beyond "$scratch/first.lines" "$scratch/third.lines"
		beyond "$scratch/third.lines" "$scratch/first.lines"; } |
		awk 'NR == FNR { moved[$1]; next } !($1 in moved)' - "$scratch/first.lines" > "$still"
	for name in "${!tid[@]}"; do
		grep -q "^${tid[$name]} " "$still" || { echo "$name does not stand still"; return 1; }
	done
	equal "what BPF says otherwise" "$(beyond "$scratch/second.lines" "$still" | but_uncounted)" ""
	equal "what only BPF says" "$(awk 'NR == FNR { still[$1]; next } $1 in still' "$still" "$scratch/second.lines" |
		beyond "$still" - | but_waits)" ""
	awk '{ print $1 }' "$still" | sort -u | wc -l
}

# What actors of these cases do not do; cases of their own prove these rows, those of delays against
# what another program hears from taskstats.
not_done='(kthread_block_.*|(swapin|freepages|thrashing|compact|irq)_delay_.*|.*_in_progress_ns|ext_enabled|core_forceidle_sum|(de)?allocated_bytes|nr_forced_migrations|nr_failed_migrations_.*|nr_wakeups_(affine|sync|remote|migrate|local).*)'

# Each row that this kernel has is more than nothing for some actor.
rows_moved() {
	local tids=" ${tid[*]} "

	awk -v tids="$tids" 'index(tids, " " $1 " ") && $3 !~ /^(0|false|-)?$/ { print $2 }' \
		"$scratch/still" | sort -u > "$scratch/moved"
	awk '$2 != "named" && $2 != "process" { print $2 }' "$scratch/first.lines" "$scratch/second.lines" |
		sort -u > "$scratch/rows"
	equal "rows that are 0 for all actors" "$(beyond "$scratch/moved" "$scratch/rows" |
		grep -vxE "$not_done" || :)" ""
	proves $(grep -xE '[a-z_]+' "$scratch/moved")
}

# All that others have seen, and other policies, users and names.
lead_lives() {
	full_lives
	actor batch
	actor somebody "${as_somebody[@]}"
	actor 'odd ) R 1 (name'
	tell somebody policy 5 19 0 0
	tell batch policy 3 0 0 0
}

stopped_threads_are_the_same() {
	lead_lives
	stop_all
	both_agree
	rows_moved
}

# The letter of a frozen thread has changed with the kernels.
states_are_the_same() {
	group cold
	actor frozen inside cold
	actor parent
	actor undead bash -c 'sleep 0.1 & exec "$@"' -
	order parent vfork 60000000
	tid[zombie]=$(tr -d ' ' < "/proc/${tid[undead]}/task/${tid[undead]}/children")
	await D "${tid[parent]}"
	await Z "${tid[zombie]}"
	echo 1 > "$cgroups/cold/cgroup.freeze"
	until grep -qx 'frozen 1' "$cgroups/cold/cgroup.events"; do
		sleep 0.05
	done
	both_agree
	equal "the state of one that is frozen" "$(sed -n "s/^${tid[frozen]} state //p" "$scratch/second.lines")" \
		"$(stat_column "${tid[frozen]}" 3)"
}

# Threads of the kernel stay bound to a CPU that is gone; others may not run there.
cpus_are_the_same() {
	local online=/sys/devices/system/cpu/cpu1/online

	[ -w $online ] || skip "CPU 1 stays"
	actor one
	at_end "echo 1 > $online"
	echo 0 > $online
	both_agree
	equal "CPUs of the actor" "$(sed -n "s/^${tid[one]} cpu_affinity //p" "$scratch/second.lines")" 0
	equal "threads that are bound to CPU 1" "$(grep -c ' cpu_affinity 1$' "$scratch/still" | sed 's/[1-9].*/some/')" some
}

threads_of_sched_ext_are_the_same() {
	has_sched_ext || skip "no sched_ext"
	load_scheduler
	actor worker
	tell worker policy $SCHED_EXT 3 0 0
	tell worker sleep 5 1000
	kill -STOP "${tid[worker]}"
	await T "${tid[worker]}"
	both_agree
	equal "whether sched_ext has it" "$(sed -n "s/^${tid[worker]} ext_enabled //p" "$scratch/second.lines")" true
	proves ext_enabled
}

has_btf() {
	[ -e /sys/kernel/btf/vmlinux ]
}

with_btf() {
	has_btf || skip "the kernel has no BTF"
	"$@"
}

proc_is_read_without_btf() {
	local reason="the kernel has no BTF (CONFIG_DEBUG_INFO_BTF)"

	! has_btf || skip "the kernel has BTF"
	actor one
	fails 1 ctprof capture -q --source bpf -o /dev/null
	equal "the refusal" "$output" "ctprof: --source bpf: $reason"
	ctprof capture -o "$scratch/auto.ctprof.zst" 2> "$scratch/summary"
	equal "times it is said" "$(awk -F "no BTF" '{ print NF - 1 }' "$scratch/summary")" 1
	equal "the source" "$(zstd -dcq "$scratch/auto.ctprof.zst" |
		jq -r '.capture | "\(.source): \(.source_reason)"')" "proc: $reason"
	snap after
	equals timeslices one "$(schedstat_column "${tid[one]}" 3)" "/proc/<tid>/schedstat has"
	unmeasured wait_in_progress_ns one
}

run_case "stopped threads are the same by BPF and by /proc, in every row" with_btf stopped_threads_are_the_same
run_case "so are those that are frozen, blocked, dead" with_btf states_are_the_same
run_case "so are the CPUs of threads whose CPU is offline" with_btf cpus_are_the_same
run_case "so are those of sched_ext" with_btf threads_of_sched_ext_are_the_same
run_case "a kernel without BTF is read by /proc, and that is said once" proc_is_read_without_btf
