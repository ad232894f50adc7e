# SPDX-License-Identifier: BSD-2-Clause
#
# kstats.ko: loaded, tracing and unloaded 200 times under load, and 80,000,000 values of 16 threads.
#
# modules
# slow

. tests/kernels/guest/kstats.sh

# kib NAME: of /proc/meminfo.
kib() {
	awk -v name="$1:" '$1 == name { print $2 }' /proc/meminfo
}

# Something that calls what is traced, all the time, on both CPUs.
make_load() {
	local i

	for i in 1 2; do
		while :; do cat /proc/self/stat; done > /dev/null &
		at_end "kill $!"
	done
}

one_round() {
	insmod /kmod/kstats.ko
	echo trace vfs_read > $kstats/_control
	echo trace pair start vfs_open end vfs_read > $kstats/_control
	echo trace wake start tracepoint:sched:sched_waking end tracepoint:sched:sched_switch > $kstats/_control
	echo trace no start no_such > $kstats/_control 2> /dev/null || :
	cat $kstats/vfs_read > /dev/null
	rmmod kstats
}

two_hundred_loads() {
	local i percpu slab

	make_load
	# What the kernel keeps of the first is no leak.
	for i in {1..10}; do
		one_round
	done
	percpu=$(kib Percpu) slab=$(kib SUnreclaim)
	for i in {1..200}; do
		one_round
	done
	# A metric that is forgotten in each is 3 MiB of per-CPU memory, a trace 40 KiB of the other.
	between "KiB of per-CPU memory more" -100000 $(($(kib Percpu) - percpu)) 1500
	between "KiB of slabs more" -100000 $(($(kib SUnreclaim) - slab)) 4000
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

run_case "kstats.ko: 200 times loaded, tracing and unloaded under load" two_hundred_loads
run_case "kstats.ko: 16 threads count 80,000,000 values exactly" eighty_million
