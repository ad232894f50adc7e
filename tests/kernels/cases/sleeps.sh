# SPDX-License-Identifier: BSD-2-Clause
#
# Sleeps of known length.

# sleeps_are_counted POLICY PRIORITY
sleeps_are_counted() {
	local asleep

	actor sleeper
	tell sleeper pin 1
	tell sleeper policy "$1" 0 "$2" 0
	snap before
	tell sleeper sleep 10 20000
	snap after
	# It sleeps before its first nap, too: until it is told.
	asleep=$(($(said since) - $(said ran)))
	between "the sleep" "$(($(said wall) / 2))" "$asleep" "$(said since)"
	moved voluntary_sleep_ns sleeper \
		"$(percent $((asleep - $(value after sleeper wait_sum))) 97)" "$(percent "$asleep" 102)"
	moved nr_wakeups sleeper 11 12
	moved voluntary_csw sleeper 8 12
	moved block_sum sleeper 0 0
	moved iowait_sum sleeper 0 0
}

# Nothing comes before its one nap, and the sleep after it has not ended.
one_long_sleep() {
	local asleep

	actor sleeper
	tell sleeper sleep 1 400000
	snap after
	asleep=$(($(said longest) - $(said ran)))
	within sleep_max "$(value after sleeper sleep_max)" "$(percent "$asleep" 95)" "$(said since)"
	equals sleep_max sleeper "$(sched_ns "${tid[sleeper]}" sleep_max)" "/proc/<tid>/sched has"
}

run_case "sleeps of known length are sleep and wake-ups" sleeps_are_counted 0 0
run_case "so are those of a real-time thread" sleeps_are_counted 1 10
run_case "the longest sleep is the one long sleep" one_long_sleep
