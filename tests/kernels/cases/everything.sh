# SPDX-License-Identifier: BSD-2-Clause
#
# Of threads that do nothing any more every value is what their files say when awk reads them. What
# the kernel sends of them by netlink has cases of its own.
#
# kernels: 6.1 7.2

. tests/recorded/raw.sh

# What must have happened, or zeroes are compared with zeroes.
marks='run_time_ns wait_time_ns timeslices voluntary_csw nonvoluntary_csw nr_wakeups nr_wakeups_local
	nr_wakeups_remote nr_migrations wait_sum wait_count wait_max voluntary_sleep_ns sleep_max
	block_sum block_max iowait_sum iowait_count exec_max minflt utime_clock_ticks
	stime_clock_ticks rchar wchar syscr syscw read_bytes write_bytes cancelled_write_bytes
	smaps_rollup_kib.Rss smaps_rollup_kib.Pss smaps_rollup_kib.Anonymous start_time_clock_ticks'

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
	to=$scratch/tree/proc/$1
	for file in smaps_rollup cmdline comm; do
		cat "/proc/$1/$file" > "$to/$file"
	done
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

	full_lives
	stop_all
	catch after
	for name in "${!tid[@]}"; do
		keep_process "${tid[$name]}"
	done
	snapshot_says threads | grep -vE '^[0-9]+ (thread_count|[a-z]+_delay_.*|hiwater_.*) ' | but_waits \
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

run_case "every value of threads at rest is that of their files" everything_is_equal
