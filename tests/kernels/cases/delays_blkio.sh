# SPDX-License-Identifier: BSD-2-Clause
#
# Delays by block I/O.

. tests/kernels/guest/delays.sh

# What finds its data there already does not wait.
blocks_of() {
	key_of "${tid[$1]}" sched iowait_count
}

# Linux 6.18 was once seen to book one delay as if it had begun at the boot.
is_booked_from_the_boot() {
	[ $(($(stat_column "${tid[reader]}" 42) * 10000000)) -gt $((2 * wall + 10000000)) ]
}

reads_are_delays() {
	local blocks sum wall tries=0

	until
		actor reader
		snap before
		blocks=$(blocks_of reader) sum=$(sched_ns "${tid[reader]}" iowait_sum)
		tell reader read /dev/vda 200 262144
		wall=$(said wall)
		! is_booked_from_the_boot
	do
		((++tries < 3))
	done
	snap after
	is blkio_delay_total_ns "$(($(value after reader blkio_delay_total_ns) / 10000000))" \
		"$(stat_column "${tid[reader]}" 42)" "in ticks /proc/<tid>/stat has"
	taskstats_agrees reader
	peaks_fit blkio reader
	needs_steady_clock
	moved blkio_delay_count reader 1 200 "it read 200 times:"
	equals blkio_delay_count reader "$(blocks_of reader)" "/proc/<tid>/sched has as iowait_count"
	sum=$(($(sched_ns "${tid[reader]}" iowait_sum) - sum))
	moved blkio_delay_total_ns reader "$(percent "$sum" 80)" "$wall" "by iowait_sum and the actor"
}

run_case "reads past the cache are delays by block I/O, as many as it blocked" reads_are_delays

one_delay_is_longest_and_shortest() {
	local tries=0 sizes=(4096 16384 65536 262144 1048576)

	# A short read may be done before it sleeps, a long one may sleep twice.
	until
		actor "one$tries"
		tell "one$tries" read /dev/vda 1 ${sizes[tries % 5]}
		[ "$(blocks_of "one$tries")" = 1 ]
	do
		((++tries < 60)) || { echo "no read blocks just once"; return 1; }
	done
	snap after
	taskstats_agrees "one$tries"
	needs_steady_clock
	equals blkio_delay_count "one$tries" 1 "it read once:"
	peaks_fit blkio "one$tries"
}

run_case "a single delay is the longest, the shortest, and all of them" one_delay_is_longest_and_shortest
