# SPDX-License-Identifier: BSD-2-Clause
#
# Sleeps and blocks of known length.

sleeps_are_counted() {
	actor sleeper
	snap before
	tell sleeper sleep 10 20000
	snap after
	# It sleeps before its first nap, too: until it is told.
	moved voluntary_sleep_ns sleeper "$(said wall)" $(($(said wall) + 5000000000))
	moved nr_wakeups sleeper 11 12
	moved voluntary_csw sleeper 11 12
	equals sleep_max sleeper "$(sched_ns "${tid[sleeper]}" sleep_max)" "/proc has"
	moved block_sum sleeper 0 0
}

run_case "sleeps of known length are sleep and wake-ups" sleeps_are_counted
