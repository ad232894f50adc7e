# SPDX-License-Identifier: BSD-2-Clause
#
# Waits that still go on: what has passed of them, by the clock, and that it is booked when they end.
#
# kernels: 6.1 7.2

. tests/kernels/guest/delays.sh

now() {
	echo "${EPOCHREALTIME/./}000"
}

# look: a snapshot `before`, and the moments around it.
look() {
	looked=$(now)
	catch before
	seen=$(now)
}

# has_gone_by METRIC ACTOR: since a moment between $begun and $waiting. Two clocks go by the same counter.
has_gone_by() {
	within "$1" "$(value before "$2" "$1")" $((looked - waiting - 3000000)) $((seen - begun + 3000000)) \
		"the clock says"
}

nothing_of() {
	local metric actor=$1

	shift
	for metric; do
		equal "$metric" "$(value before "$actor" "$metric")" 0
	done
}

# is_booked METRIC ACTOR PART: what had passed is in the total now, with what came after.
is_booked() {
	snap after
	moved "$1" "$2" "$(value before "$2" "$3")" $(($(now) - begun)) "what had passed, and the clock:"
}

begin() {
	begun=$(now)
}

it_waits() {
	waiting=$(now)
	sleep 0.4
	look
}

sleep_is_seen() {
	actor sleeper
	begin
	tell sleeper burn 5
	settle "${tid[sleeper]}"
	it_waits
	has_gone_by sleep_in_progress_ns sleeper
	nothing_of sleeper wait_in_progress_ns wait_sum_in_progress_ns block_in_progress_ns \
		iowait_in_progress_ns blkio_in_progress_ns
	tell sleeper burn 5
	is_booked voluntary_sleep_ns sleeper sleep_in_progress_ns
}

block_is_seen() {
	actor parent
	begin
	order parent vfork 2500000
	await D "${tid[parent]}"
	it_waits
	has_gone_by block_in_progress_ns parent
	nothing_of parent sleep_in_progress_ns wait_in_progress_ns wait_sum_in_progress_ns \
		iowait_in_progress_ns blkio_in_progress_ns
	hear parent
	is_booked block_sum parent block_in_progress_ns
}

# A disk as slow as its cgroup is allowed to be.
io_is_seen() {
	group slow "io.max=$(< /sys/block/vda/dev) rbps=65536"
	actor reader inside slow
	begin
	order reader read /dev/vda 1 262144
	await D "${tid[reader]}"
	it_waits
	has_gone_by iowait_in_progress_ns reader
	has_gone_by block_in_progress_ns reader
	has_gone_by blkio_in_progress_ns reader
	nothing_of reader sleep_in_progress_ns wait_in_progress_ns
	hear reader
	is_booked iowait_sum reader iowait_in_progress_ns
	is_booked blkio_delay_total_ns reader blkio_in_progress_ns
}

# Waits until it does not run: a moment since which it did not.
await_starvation() {
	local pid=${tid[$1]} ran tries=0

	while :; do
		ran=$(< "/proc/$pid/schedstat")
		waiting=$(now)
		sleep 0.05
		[ "$ran" != "$(< "/proc/$pid/schedstat")" ] || return 0
		((++tries < 100)) || { echo "$1 is not kept from its CPU"; return 1; }
	done
}

# Nothing real-time has to leave the CPU for the sake of the others: from Linux 6.12 on a server sees to
# it that these run now and then.
let_starve() {
	switch /proc/sys/kernel/sched_rt_runtime_us -1
	mount -t debugfs debug /sys/kernel/debug && at_end "umount /sys/kernel/debug"
	# Not every kernel that has one lets go of it.
	switch /sys/kernel/debug/sched/fair_server/cpu1/runtime 0 || :
}

# has_run ACTOR: since it had $slices.
has_run() {
	[ "$slices" != "$(schedstat_column "${tid[$1]}" 3)" ]
}

await_run() {
	local tries=0

	until has_run "$1"; do
		((++tries < 200)) || { echo "$1 does not come to run again"; return 1; }
		sleep 0.05
	done
}

# starve: the rival, while it is looked at; again when it ran meanwhile, or did not wait as long as it
# seemed: a thread that runs looks like one that does not, until the kernel's next tick.
starve() {
	local booked ran tries=0

	while :; do
		booked=$(schedstat_column "${tid[rival]}" 2)
		begin
		order hog spin 2500
		await_starvation rival
		slices=$(schedstat_column "${tid[rival]}" 3)
		look
		has_run rival && ran=true || ran=false
		hear hog
		await_run rival
		$ran || [ $(($(schedstat_column "${tid[rival]}" 2) - booked)) -lt $((looked - waiting)) ] || return 0
		((++tries < 15)) || { echo "it always runs"; return 1; }
	done
}

wait_is_seen() {
	local slices

	let_starve
	rivals
	order rival spin 100000
	tell hog policy 1 0 20 0
	starve
	has_gone_by wait_in_progress_ns rival
	has_gone_by wait_sum_in_progress_ns rival
	nothing_of rival sleep_in_progress_ns block_in_progress_ns
	catch after
	moved wait_time_ns rival "$(value before rival wait_in_progress_ns)" $(($(now) - begun)) \
		"what had passed, and the clock:"
	moved wait_sum rival "$(value before rival wait_sum_in_progress_ns)" $(($(now) - begun)) \
		"what had passed, and the clock:"
}

run_case "a sleep is seen while it lasts, and booked when it ends" sleep_is_seen
run_case "so is a block" block_is_seen
run_case "so is a wait for I/O" io_is_seen
run_case "so is a wait for a CPU" wait_is_seen
