# SPDX-License-Identifier: BSD-2-Clause
#
# kstats.ko: loaded, tracing and unloaded under load, 20 times on two CPUs and 200 times on one, and 80,000,000
# values of 16 threads.
#
# modules
# slow
# seconds: 400

. tests/kernels/guest/kstats.sh
. tests/kernels/guest/load.sh

one_round() {
	local text

	insmod /kmod/kstats.ko
	echo trace vfs_read > $kstats/_control
	echo trace pair start vfs_open end vfs_read > $kstats/_control
	# The busiest places, where the emulator shows another CPU a breakpoint that was there when the kernel
	# patched them, for ever.
	[ "$(nproc)" -gt 1 ] ||
		echo trace wake start tracepoint:sched:sched_waking end tracepoint:sched:sched_switch > $kstats/_control
	! echo trace no start no_such > $kstats/_control 2> /dev/null
	# The second time there is what the first did.
	text=$(cat $kstats/vfs_read $kstats/vfs_read)
	[ -n "$text" ]
	rmmod kstats
}

# rounds COUNT
rounds() {
	local i

	for ((i = 0; i < $1; i++)); do
		one_round
	done
}

two_hundred_loads() {
	local percpu slab second=/sys/devices/system/cpu/cpu1/online

	make_load
	rounds 20
	at_end "echo 1 > $second"
	echo 0 > $second
	# What the kernel keeps of the first is no leak.
	rounds 10
	percpu=$(kib Percpu) slab=$(kib SUnreclaim)
	rounds 200
	# A metric that is forgotten in each is 3 MiB of per-CPU memory, a trace 4 MiB of the other.
	between "KiB of per-CPU memory more" -100000 $(($(kib Percpu) - percpu)) 1500
	between "KiB of slabs more" -100000 $(($(kib SUnreclaim) - slab)) 3000
	[ ! -e $kstats ]
	is_clean
}

eighty_million() {
	load
	do_test new threads 3
	do_test spread threads 80000000 16
	equal "values" "$(count_of threads)" 80000000
	kstats_reference 3 | awk '{ printf "%d %.0f %.0f\n", $1, 80 * $2, 80 * $3 }' > "$scratch/wanted"
	totals threads | diff "$scratch/wanted" -
	is_clean
}

run_case "kstats.ko: loaded, tracing and unloaded under load, 20 times on two CPUs and 200 on one" two_hundred_loads
run_case "kstats.ko: 16 threads count 80,000,000 values exactly" eighty_million
