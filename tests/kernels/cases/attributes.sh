# SPDX-License-Identifier: BSD-2-Clause
#
# What a thread is, rather than what it did.
#
# kernels: 6.1 7.2

# NAME NUMBER NICE PRIORITY SHOWN SLICE_US: SHOWN is what priority the kernel makes of it.
policies='
	SCHED_OTHER     0  -7   0    13     0
	SCHED_BATCH     3  19   0    39     0
	SCHED_IDLE      5   0   0    20     0
	SCHED_FIFO      1   0  10   -11     0
	SCHED_RR        2   0  99  -100     0
	SCHED_DEADLINE  6   0   0  -101  1000
	SCHED_EXT       7   4   0    24     0'

# Not every kernel knows SCHED_EXT.
has_policies() {
	local name number nice priority shown slice

	while read -r name number nice priority shown slice; do
		[ -n "$name" ] || continue
		[ "$name" != SCHED_EXT ] || [ -e /sys/kernel/sched_ext ] || continue
		actor "$name"
		tell "$name" policy "$number" "$nice" "$priority" "$slice"
		equal "what sched_setattr says of $name" "$(said failed)" 0
	done <<< "$policies"
	snap after
	while read -r name number nice priority shown slice; do
		[ -n "${tid[${name:-none}]-}" ] || continue
		equals policy "$name" "$name" "asked for"
		equals nice "$name" "$nice" "asked for"
		equals rt_priority "$name" "$priority" "asked for"
		equals priority "$name" "$shown" "made of it"
	done <<< "$policies"
}

is_allowed() {
	actor one
	snap after
	equals cpu_affinity one 0,1 "the machine has"
	equals nr_threads one 1 "just itself"
	tell one pin 1
	snap after
	equals cpu_affinity one 1 "asked for"
	equals processor one 1 "where alone it may run"
	tell one pin 0
	snap after
	equals cpu_affinity one 0 "asked for"
	equals processor one 0 "where alone it may run"
}

has_threads() {
	actor leader
	tell leader threads 3
	snap after
	equals nr_threads leader 4 "itself and three"
	tid[follower]=$(ls "/proc/${tid[leader]}/task" | tail -n 1)
	unmeasured nr_threads follower
	is thread_count "$(ctprof show --sections primary --metrics thread_count --format csv \
		"$scratch/after.ctprof.zst" | awk -F , '$2 == "leader" { print $5 }')" 4 "itself and three"
}

is_in_state() {
	actor sleeper
	actor spinner
	actor parent
	actor stopped
	actor undead bash -c 'sleep 0.1 & exec "$@"' -
	order spinner spin 60000
	order parent vfork 60000000
	kill -STOP "${tid[stopped]}"
	tid[zombie]=$(tr -d ' ' < "/proc/${tid[undead]}/task/${tid[undead]}/children")
	await S "${tid[sleeper]}"
	await R "${tid[spinner]}"
	await D "${tid[parent]}"
	await T "${tid[stopped]}"
	await Z "${tid[zombie]}"
	catch after
	equals state sleeper S "it sleeps,"
	equals state spinner R "it runs,"
	equals state parent D "it waits for its child,"
	equals state stopped T "it was stopped,"
	equals state zombie Z "it ended and nobody cares,"
}

run_case "a thread has the policy, nice value and priority that it asked for" has_policies
run_case "a thread runs where it may" is_allowed
run_case "threads are counted on their leader" has_threads
run_case "a thread is in the state that it is in" is_in_state
