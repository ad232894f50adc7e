# SPDX-License-Identifier: BSD-2-Clause
#
# Of threads that do nothing any more every value is what their files say when awk reads them. What
# the kernel sends of them by netlink has cases of its own.

. tests/recorded/raw.sh

# What must have happened, or zeroes are compared with zeroes.
marks='run_time_ns wait_time_ns timeslices voluntary_csw nonvoluntary_csw nr_wakeups nr_wakeups_local
	nr_wakeups_remote nr_migrations wait_sum wait_count wait_max voluntary_sleep_ns sleep_max
	block_sum block_max iowait_sum iowait_count exec_max minflt utime_clock_ticks
	stime_clock_ticks rchar wchar syscr syscw read_bytes write_bytes cancelled_write_bytes
	smaps_rollup_kib.Rss smaps_rollup_kib.Pss smaps_rollup_kib.Anonymous start_time_clock_ticks'

busy_lives() {
	local disk words

	actor busy
	actor rival
	actor leader
	actor urgent
	exec {disk}< /dev/vda
	tell rival pin 1
	tell busy pin 1
	order rival compute 150
	while read -r words; do
		tell busy $words
	done <<- 'END'
		compute 150
		call 60
		sleep 20 1000
		hop 3
		vfork 20000
		read /dev/vda 100 65536
		dirty /dev/vda 5 4096
		discard /dev/vda 65536
		map 4
		fault /dev/vda 10
	END
	hear rival
	tell leader threads 2
	tell leader policy 3 5 0 0
	tell urgent policy 2 0 7 0
	tell urgent sleep 5 1000
}

stop_all() {
	local name

	for name in "${!tid[@]}"; do
		kill -STOP "${tid[$name]}"
		await T "${tid[$name]}"
	done
}

# keep_process PID: its files, as raw.sh wants them.
keep_process() {
	local tid file to

	for tid in $(ls "/proc/$1/task"); do
		to=$scratch/tree/proc/$1/task/$tid
		mkdir -p "$to"
		for file in stat schedstat status sched io comm cgroup; do
			cat "/proc/$1/task/$tid/$file" > "$to/$file"
		done
	done
	to=$scratch/tree/proc/$1/task/$1
	cat "/proc/$1/smaps_rollup" > "$to/smaps_rollup"
	cat "/proc/$1/cmdline" > "$to/cmdline"
	cat "/proc/$1/comm" > "$to/../../comm"
	ln -s "$(readlink "/proc/$1/exe")" "$to/exe"
}

snapshot_says() {
	zstd -dcq "$scratch/after.ctprof.zst" | jq -r "$(cat tests/recorded/facts.jq) $1" | sort
}

# same WHAT: "raw" and "found" in $scratch, which may not be empty.
same() {
	[ -s "$scratch/raw" ]
	diff "$scratch/raw" "$scratch/found" || { echo "$1: < the files say, > ctprof says"; return 1; }
}

files_say() {
	local what

	for what; do
		(cd "$scratch/tree" && "raw_$what")
	done | sort
}

everything_is_equal() {
	local name what mark moved

	busy_lives
	stop_all
	catch after
	for name in "${!tid[@]}"; do
		keep_process "${tid[$name]}"
	done
	snapshot_says threads | grep -vE '^[0-9]+ (thread_count|[a-z]+_delay_.*|hiwater_.*) ' \
		> "$scratch/found"
	files_say stat schedstat status sched io smaps > "$scratch/raw"
	same values
	moved=$(awk '$3 !~ /^(0|-|false)$/ { print $2 }' "$scratch/found" | sort -u)
	for what in names processes; do
		snapshot_says "$what" > "$scratch/found"
		files_say "$what" > "$scratch/raw"
		same "$what"
	done
	for mark in $marks; do
		[[ $(value after busy "$mark") != [0-] ]] || { echo "$mark did not move"; return 1; }
	done
	proves $moved
}

run_case "every value of threads at rest is what their files say" everything_is_equal
