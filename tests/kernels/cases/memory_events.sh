# SPDX-License-Identifier: BSD-2-Clause
#
# memory.events that happened: each kind provoked by itself.
#
# kernels: 6.1 7.2

. tests/kernels/guest/cgroups.sh

# event_happened GROUP EVENT: it moved, and is what the file says.
event_happened() {
	group_moved "$1" "memory.events.$2" 1 1000000 "it happened:"
	group_equals "$1" "memory.events.$2" "$(group_says "$1" memory.events "$2")" "the file has"
}

event_did_not_happen() {
	equal "$2 of $1" "$(group_change "$1" "memory.events.$2")" 0
}

# read_files GROUP MIB: these pages it can give back without swap. In small steps: the kernel makes it
# sleep for what one step goes over memory.high.
read_files() {
	(inside "$1" dd if=/dev/vda of=/dev/null bs=64k count=$(($2 * 16))) 2> /dev/null
}

high_is_counted() {
	group above memory.high=4M
	actor keeper inside above
	snap before
	read_files above 7
	snap_at_rest after above
	event_happened above high
	event_did_not_happen above max
	event_did_not_happen above oom
	group_is_read_exactly above
}

max_is_counted() {
	group full memory.max=4M
	actor keeper inside full
	snap before
	read_files full 16
	snap_at_rest after full
	event_happened full max
	event_did_not_happen full high
	event_did_not_happen full oom_kill
	group_is_read_exactly full
}

kills_are_counted() {
	local pid

	group small memory.max=8M
	actor keeper inside small
	actor greedy inside small
	snap before
	order greedy map 32
	! hear greedy
	pid=${tid[greedy]}
	unset 'tid[greedy]'
	! wait "$pid"
	snap_at_rest after small
	event_happened small oom
	equal "kills" "$(group_change small memory.events.oom_kill)" 1
	event_happened small oom_kill
	event_did_not_happen small high
	group_is_read_exactly small
}

# All that a full parent could give back is protected: it is taken nevertheless, and said.
broken_protection_is_counted() {
	group parent memory.max=6M
	group parent/child memory.low=max
	actor keeper inside parent/child
	snap before
	read_files parent/child 24
	snap_at_rest after parent/child
	event_happened parent/child low
	event_did_not_happen parent/child max
	group_is_read_exactly parent/child
}

run_case "going over memory.high is an event high" high_is_counted
run_case "reaching memory.max is an event max" max_is_counted
run_case "a process killed by its cgroup's limit is an event oom_kill" kills_are_counted
run_case "protection that had to be broken is an event low" broken_protection_is_counted
