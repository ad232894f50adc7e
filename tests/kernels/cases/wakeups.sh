# SPDX-License-Identifier: BSD-2-Clause
#
# Wake-ups: by whom, from where, to where.
#
# kernels: 6.1 7.2

# all_are_one_kind ACTOR MOST
all_are_one_kind() {
	local local_ones remote_ones

	local_ones=$(change "$1" nr_wakeups_local) remote_ones=$(change "$1" nr_wakeups_remote)
	is nr_wakeups "$(change "$1" nr_wakeups)" $((local_ones + remote_ones)) "local and remote ones"
	# Whoever slept was woken; some are before they have left the CPU.
	moved nr_wakeups "$1" "$(change "$1" voluntary_csw)" "$2"
}

# The timer rings where it was set.
timers_ring_at_home() {
	actor sleeper
	tell sleeper pin 1
	snap before
	tell sleeper sleep 50 2000
	snap after
	moved nr_wakeups_local sleeper 50 52
	moved nr_wakeups_remote sleeper 0 1
	moved nr_wakeups_sync sleeper 0 1
	all_are_one_kind sleeper 52
}

# feed CPU: 100 bytes from a giver on this CPU to a taker on CPU 1; $slept is how often it slept for
# them.
feed() {
	rm -f "$scratch/pipe"
	mkfifo "$scratch/pipe"
	actor giver
	actor taker
	tell giver pin "$1"
	tell taker pin 1
	snap before
	order taker take "$scratch/pipe" 100
	settle "${tid[taker]}"
	tell giver give "$scratch/pipe" 100 2000
	hear taker
	snap after
	slept=$(($(change taker voluntary_csw) - 2))
	between "times it slept for a byte" 20 "$slept" 101
}

pipes_wake_far_away() {
	feed 0
	moved nr_wakeups_remote taker "$slept" 102
	moved nr_wakeups_local taker 0 2
	moved nr_wakeups_sync taker "$slept" 102
	all_are_one_kind taker 102
}

pipes_wake_at_home() {
	feed 1
	moved nr_wakeups_local taker "$slept" 102
	moved nr_wakeups_remote taker 0 2
	moved nr_wakeups_sync taker "$slept" 102
	all_are_one_kind taker 102
}

# Who may not stay where it fell asleep, wakes elsewhere.
sleepers_are_moved() {
	local i

	actor nomad
	tell nomad pin 0
	snap before
	for i in {1..10}; do
		settle "${tid[nomad]}"
		taskset -p $((1 + i % 2)) "${tid[nomad]}" > /dev/null
		tell nomad yield 1
	done
	snap after
	moved nr_wakeups_migrate nomad 8 10
	moved nr_migrations nomad 10 10
	equals processor nomad 0 "where it must be"
}

# pulled: how often anybody was pulled to the waker's CPU, as the scheduler's domains have it.
pulled() {
	awk '/^domain/ { sum += $(NF - 1) } END { print sum }' /proc/schedstat
}

# asked_about ACTOR KEY: this count in its /proc/TID/sched.
asked_about() {
	awk -v key="$2" '$1 == key { print $NF }' "/proc/${tid[$1]}/sched"
}

# Who is about to sleep leaves its CPU to whom it wakes. The taker may stay there. Whether it is pulled is the
# balance of a moment, and by which load there is beside: this goes on until it was, some times.
pipes_pull() {
	local all asked attempts pulled rounds

	rm -f "$scratch/pipe"
	mkfifo "$scratch/pipe"
	actor giver
	actor taker
	tell giver pin 0
	snap before
	all=$(pulled)
	asked=$(asked_about taker nr_wakeups_affine_attempts)
	pulled=$(asked_about taker nr_wakeups_affine)
	for ((rounds = 0; rounds < 60; rounds++)); do
		tell taker pin 1
		order taker take "$scratch/pipe" 3
		settle "${tid[taker]}"
		taskset -p 3 "${tid[taker]}" > /dev/null
		tell giver give "$scratch/pipe" 3 2000
		hear taker
		[ "$(asked_about taker nr_wakeups_affine_attempts)" -lt $((asked + 5)) ] ||
			[ "$(asked_about taker nr_wakeups_affine)" -lt $((pulled + 2)) ] || break
	done
	all=$(($(pulled) - all))
	snap after
	attempts=$(change taker nr_wakeups_affine_attempts)
	moved nr_wakeups_affine_attempts taker 5 "$(change taker nr_wakeups)" "of its wake-ups:"
	moved nr_wakeups_affine taker 2 "$(lesser "$all" "$attempts")" "of all that were pulled:"
}

# Who sends a signal goes on. wake_affine() is asked now and then, by some kernels seldom.
signals_do_not() {
	local attempts rounds

	taskset -p 1 "$BASHPID" > /dev/null
	actor stopped
	tell stopped pin 1
	snap before
	for ((rounds = 0; rounds < 10; rounds++)); do
		taskset -p 2 "${tid[stopped]}" > /dev/null
		kill -STOP "${tid[stopped]}"
		await T "${tid[stopped]}"
		taskset -p 3 "${tid[stopped]}" > /dev/null
		kill -CONT "${tid[stopped]}"
		await S "${tid[stopped]}"
	done
	snap after
	moved nr_wakeups stopped $((2 * rounds)) $((2 * rounds)) "two signals each time:"
	moved nr_wakeups_remote stopped "$rounds" $((2 * rounds))
	moved nr_wakeups_sync stopped 0 0
	attempts=$(change stopped nr_wakeups_affine_attempts)
	moved nr_wakeups_affine_attempts stopped 0 "$rounds" "where it had a choice:"
	moved nr_wakeups_affine stopped 0 "$attempts" "as often as it was asked:"
}

run_case "a timer wakes where it was set" timers_ring_at_home
run_case "a pipe wakes on the other CPU, by one about to sleep" pipes_wake_far_away
run_case "a pipe wakes on the same CPU, by one about to sleep" pipes_wake_at_home
run_case "a wake-up to another CPU is a migration" sleepers_are_moved
run_case "a writer to a pipe wants its reader on its CPU" pipes_pull
run_case "a thread that sends a signal is not about to sleep" signals_do_not
