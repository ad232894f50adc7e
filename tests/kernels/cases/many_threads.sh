# SPDX-License-Identifier: BSD-2-Clause
#
# 70,000 threads: hosts often have room for 32,768 numbers alone.
#
# boot: large
# slow
# seconds: 1500

. tests/many_threads.sh
ctprof=ctprof
sleepers=/bin/sleepers

many_threads_with_room() {
	echo 200000 > /proc/sys/kernel/pid_max
	echo 200000 > /proc/sys/kernel/threads-max
	ulimit -u unlimited
	many_threads_have_records
}

run_case "70,000 threads have a record each" many_threads_with_room
