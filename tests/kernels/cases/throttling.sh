# SPDX-License-Identifier: BSD-2-Clause
#
# cpu.max: a fifth of a CPU for one that wants all of it.
#
# kernels: 6.1 7.2

. tests/kernels/guest/cgroups.sh

quota=20000
period=100000

burner_is_throttled() {
	local wall cpu stood times

	group tight "cpu.max=$quota $period"
	actor burner inside tight
	tell burner pin 1
	snap before
	times=$(group_says tight cpu.stat nr_throttled)
	tell burner spin 1500
	times=$(($(group_says tight cpu.stat nr_throttled) - times))
	snap_at_rest after tight
	wall=$(($(said wall) / 1000)) cpu=$(($(said cpu) / 1000))
	stood=$((wall - cpu))
	between "the share of the CPU, in percent of the quota" 0 $((100 * cpu * period / quota / wall)) 140
	between "what it ran, in percent of as many quotas" 50 \
		$((100 * cpu / (times * quota))) $((150 + 200 / times))
	group_moved tight cpu.usage_usec $cpu $((cpu + 100000))
	group_moved tight cpu.nr_throttled 2 $((wall / period + 2)) "once a period:"
	group_moved tight cpu.throttled_usec $((stood * 7 / 10)) $((stood * 11 / 10))
	moved wait_time_ns burner $((stood * 700)) $((stood * 1100))
	group_is_read_exactly tight
}

run_case "a burner over its quota is throttled, for the time it does not run" burner_is_throttled
