# SPDX-License-Identifier: BSD-2-Clause
#
# What threads do off the CPU: its class, and for how long, against clocks of their own.
#
# kernels: 6.1 7.2

. tests/kernels/guest/cgroups.sh
. tests/kernels/guest/profile.sh

waiters="sleep futex pipe vfork sent stop trace killed"

all_waits_are_right() {
	profiled -- lives 800000 $waiters
	times_add_up
	truths_hold
	truths_hold seen:
}

# state_selects STATE ROLE...: the samples are what these have of it.
state_selects() {
	local state=$1

	shift
	profiled --state "$state" -- lives 500000 $waiters
	grep -E " $state [0-9]+ [0-9]+$" "$scratch/truths" > "$scratch/those"
	mv "$scratch/those" "$scratch/truths"
	equal "who does that" "$(cut -d ' ' -f 1 "$scratch/truths" | sort | xargs)" "$*"
	only_seen "$state"
	truths_hold seen:
}

# What the kernel says by letters of ps(1), and by masks of its own.
masks_select() {
	profiled --state T,8 -- lives 300000 $waiters
	grep -E " (stopped|traced) [0-9]+ [0-9]+$" "$scratch/truths" > "$scratch/those"
	mv "$scratch/those" "$scratch/truths"
	only_seen $'stopped\ntraced'
	truths_hold seen:
}

hogs_wait_for_each_other() {
	profiled -- lives 1500000 hog rival
	times_add_up
	truths_hold
	profiled --state runnable -- lives 500000 hog rival
	only_seen runnable
}

# A disk as slow as its cgroup is allowed to be.
disks_are_io_wait() {
	group slow "io.max=$(< /sys/block/vda/dev) rbps=524288"
	profiled -- /bin/bash -c 'echo $$ > "$0/cgroup.procs"; exec lives 1500000 disk /dev/vda' "$cgroups/slow"
	between "the reads" 1000000000 "$(cut -d ' ' -f 4 "$scratch/truths")" 9000000000
	times_add_up
	truths_hold
	profiled --state io-wait -- \
		/bin/bash -c 'echo $$ > "$0/cgroup.procs"; exec lives 1000000 disk /dev/vda' "$cgroups/slow"
	only_seen io-wait
	truths_hold seen:
}

# Each is what ran while the other waited.
hogs_preempt_each_other() {
	ctprof offcpu -q --preempted-by --state runnable -- lives 500000 hog rival > "$scratch/text"
	sed '1,/^## Who ran instead of whom/d' "$scratch/text" > "$scratch/pairs"
	grep -qE '^ hog \([0-9]+\) +rival \([0-9]+\)' "$scratch/pairs" ||
		{ cat "$scratch/text"; return 1; }
	! head -n 4 "$scratch/pairs" | grep -F '[not known]'
}

# As many as the inspector of top keeps: the verifier takes the search for the shortest of them.
longest_waits_are_kept() {
	ctprof offcpu -q --longest 64 --wakers -- lives 300000 $waiters > "$scratch/text"
	sed '1,/^## Longest blocks/d' "$scratch/text" > "$scratch/longest"
	grep -q 'sleep' "$scratch/longest" || { cat "$scratch/text"; return 1; }
}

run_case "every wait of known length has its class, and its length" all_waits_are_right
run_case "--state stopped threads" state_selects stopped stop
run_case "--state traced threads" state_selects traced trace
run_case "--state uninterruptible sleeps" state_selects uninterruptible vfork
run_case "--state sleeping threads" state_selects interruptible futex killed pipe sent sleep
run_case "letters and masks select states" masks_select
run_case "two hogs on one CPU are runnable while the other runs" hogs_wait_for_each_other
run_case "two hogs on one CPU are preempted by each other" hogs_preempt_each_other
run_case "a disk that is waited for is I/O wait" disks_are_io_wait
run_case "the 64 longest waits are kept" longest_waits_are_kept
