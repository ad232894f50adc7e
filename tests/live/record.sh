# SPDX-License-Identifier: BSD-2-Clause
#
# Recordings: what is in the directory, whatever became of the recorder. Part of tests/live/run.

recording=$scratch/recording

# record OPTIONS...: into a directory of its own, in the background; its last words are in $said.
record() {
	said=$scratch/said
	rm -rf "$recording"
	"$ctprof" capture -o "$recording" "$@" 2> "$said" &
	recorder=$!
	at_end "kill -9 $recorder; wait $recorder"
}

# ends STATUS: the recorder does.
ends() {
	local status=0

	wait "$recorder" || status=$?
	cat "$said"
	equal "the recorder's status" "$status" "$1"
}

file_count() {
	find "$recording" -type f | wc -l
}

# has_files N: there are so many by now.
has_files() {
	local tries=0

	until [ -d "$recording" ] && (($(file_count) >= $1)); do
		((++tries < 1000)) || { echo "not $1 files"; return 1; }
		sleep 0.01
	done
}

# Each file is whole and named by its time, and there are no others.
all_readable() {
	local file

	for file in "$recording"/*; do
		[[ ${file##*/} =~ ^[0-9]{8}T[0-9]{6}\.[0-9]{3}Z\.ctprof\.zst$ ]]
		zstd -qdc "$file" > "$json"
		equal "the time of $file" "${file##*/}" \
			"$(query '(.captured_at_unix_ns / 1000000 | floor) as $ms
				| ($ms / 1000 | floor | strftime("%Y%m%dT%H%M%S"))
				+ "." + ("00" + ($ms % 1000 | tostring))[-3:] + "Z.ctprof.zst"')"
		"$ctprof" show "$file" --limit 1 > "$scratch/shown"
	done
	equal "names that begin with a dot" "$(find "$recording" -name '.?*')" ""
}

# Milliseconds since the first capture, a line for each.
distances() {
	"$ctprof" show --list "$recording" | while read -r time size; do
		date -d "$time" +%s%3N
	done | awk 'NR == 1 { first = $1 } { print $1 - first }'
}

# record_interruptible OPTIONS...: the same with the interrupt as usual, which a shell has those ignore
# that it starts in the background.
record_interruptible() {
	said=$scratch/said
	rm -rf "$recording"
	env --default-signal=INT "$ctprof" capture -o "$recording" "$@" 2> "$said" &
	recorder=$!
	at_end "kill -9 $recorder; wait $recorder"
}

# By the clock: a late capture does not make the next ones late.
five_captures() {
	local distance

	record --interval 200ms --count 5
	ends 0
	has summary "$(< "$said")" "5 captures in"
	has summary "$(< "$said")" "5 written to $recording"
	equal "the number of files" "$(file_count)" 5
	all_readable
	for distance in $(distances); do
		between "a distance of $distance ms over the interval" 0 $(((distance + 60) % 200)) 120
	done
}

killed_recorder() {
	record --interval 30ms
	has_files 8
	kill -9 "$recorder"
	wait "$recorder" || true
	all_readable
}

ended_recorder() {
	local signal=$1

	record_interruptible --interval 1h
	has_files 1
	kill "-$signal" "$recorder"
	ends 0
	has summary "$(< "$said")" "1 capture in"
	all_readable
}

# Those at its begin and its end are of it.
ends_by_duration() {
	record --interval 250ms --duration 1s -p $$
	ends 0
	has summary "$(< "$said")" "5 captures in 1."
	equal "the number of files" "$(file_count)" 5
	all_readable
}

# Of one process: what a capture of the whole host takes depends on who else is there.
removes_by_age_and_size() {
	local newest

	record --interval 30ms --count 30 --keep 300ms -p $$
	ends 0
	has summary "$(< "$said")" "removed by --keep"
	newest=$(distances | tail -n 1)
	between "the age of the oldest" 0 "$newest" 300
	all_readable
	record --interval 20ms --count 20 --keep 20KiB -p $$
	ends 0
	between "the size of all" 1 "$(cat "$recording"/* | wc -c)" 20480
	all_readable
}

full_disk() {
	is_root
	rm -rf "$recording"
	mkdir "$recording"
	mount -t tmpfs -o size=100k ctprof-test "$recording" || skip "nothing can be mounted"
	at_end 'umount "$recording"'
	said=$scratch/said
	fails 1 "$ctprof" capture --interval 10ms --count 60 -p $$ -o "$recording"
	echo "$output"
	equal "how often it is said" "$(grep -c 'No space left on device; going on' <<< "$output")" 1
	has summary "$output" "lost before they were written"
	between "the number of files" 1 "$(file_count)" 59
	all_readable
	# Whoever bounds the size has the oldest removed where there is less room than that.
	output=$("$ctprof" capture --interval 10ms --count 30 -p $$ --keep 1MiB -o "$recording" 2>&1)
	echo "$output"
	has summary "$output" "30 written"
	has_not summary "$output" "lost"
	all_readable
}

# said_times N TEXT: the recorder has said so as often by now.
said_times() {
	local tries=0

	until (($(grep -c -- "$2" "$said" || :) >= $1)); do
		((++tries < 1000)) || { cat "$said"; echo "not $1 times: $2"; return 1; }
		sleep 0.01
	done
}

# What could not be written waits, and nothing of it is lost; a second full disk is said again.
disk_gets_room_again() {
	local turn filler=$scratch/disk/filler

	is_root
	mkdir -p "$scratch/disk"
	mount -t tmpfs -o size=4m ctprof-test "$scratch/disk" || skip "nothing can be mounted"
	at_end 'umount "$scratch/disk"'
	recording=$scratch/disk/recording
	record --interval 20ms -p $$
	for turn in 1 2; do
		has_files $((turn * 3))
		dd if=/dev/zero of="$filler" bs=64k status=none 2> "$scratch/dd" || true
		said_times "$turn" 'No space left on device; going on'
		sleep 0.3
		rm "$filler"
		has_files $(($(file_count) + 10))
	done
	kill -TERM "$recorder"
	ends 0
	equal "captures taken and written" \
		"$(sed -n 's/.*: \([0-9]*\) captures in.* \([0-9]*\) written to.*/\1/p' "$said")" "$(file_count)"
	has_not summary "$(< "$said")" "lost"
	all_readable
}

# Who moves the directory away and makes another has both as they are.
moved_directory() {
	record --interval 20ms -p $$ --keep 1s
	has_files 3
	rm -rf "$scratch/moved"
	mv "$recording" "$scratch/moved"
	mkdir "$recording"
	touch "$recording/20010101T000000.000Z.ctprof.zst"
	sleep 0.5
	kill -TERM "$recorder"
	ends 0
	equal "what is in the new one" "$(ls "$recording")" 20010101T000000.000Z.ctprof.zst
	between "files in the old one" 10 "$(find "$scratch/moved" -type f | wc -l)" 1000
	rm -rf "$scratch/moved"
}

# A process that ends is no reason to end.
watched_process_ends() {
	start_sleep
	record --interval 20ms --count 30 -p "$pid"
	has_files 3
	kill -9 "$pid"
	ends 0
	equal "the number of files" "$(file_count)" 30
	all_readable
	equal "threads at the end" "$(query '.threads | length')" 0
}

signal_writes_ring() {
	record --ring 10s --interval 50ms -p $$ --trigger SIGUSR1 --note mine
	has_files 0
	sleep 0.6
	equal "files before the trigger" "$(file_count)" 0
	kill -USR1 "$recorder"
	has_files 10
	sleep 1.3
	kill -TERM "$recorder"
	ends 0
	has "what is said" "$(< "$said")" "ctprof: SIGUSR1: writing"
	all_readable
	equal "the notes" "$(for file in "$recording"/*; do zstd -qdc "$file" | jq -r .ctprof.note; done | sort -u)" \
		$'mine\nmine; trigger SIGUSR1'
	# What came later than a tenth of the ring's time was not written.
	between "the time after the trigger" 0 "$(distances | tail -n 1)" 2200
	has summary "$(< "$said")" "dropped from memory"
}

other_signal_writes_ring() {
	record --ring 10s --interval 50ms -p $$ --trigger SIGUSR1 --trigger SIGUSR2
	sleep 0.5
	kill -USR2 "$recorder"
	has_files 5
	kill -TERM "$recorder"
	ends 0
	has "what is said" "$(< "$said")" "ctprof: SIGUSR2: writing"
	all_readable
}

# holds_signal: until the recorder does; SIGUSR1 is the tenth bit. While it waits for the next capture the
# signal may come, so who is slow never sees it held.
holds_signal() {
	local tries=0 blocked=0

	until ((0x$blocked >> 9 & 1)) || [ -d "$recording" ]; do
		((++tries < 5000)) || { cat "$said"; echo "nobody holds the signal"; return 1; }
		blocked=$(awk '/^Name:/ { name = $2 } /^SigBlk:/ { print name == "ctprof" ? $2 : 0 }' \
			"/proc/$recorder/status")
	done
}

# While BPF programs are loaded there is no directory yet, and a signal kills nobody. We may be too
# slow to see that, but not each time.
early_signal_writes_ring() {
	local turn early=

	for turn in {1..16}; do
		record --ring 2h --interval 1h -p $$ --trigger SIGUSR1
		holds_signal
		[ -d "$recording" ] || early=yes
		kill -USR1 "$recorder"
		has_files 1
		kill -TERM "$recorder"
		ends 0
		has "what is said" "$(< "$said")" "ctprof: SIGUSR1: writing"
		[ -z "$early" ] || return 0
	done
	echo "it held the signal only when it had its directory"
	return 1
}

# Many more threads than CPUs run: some wait, which the kernel's average shows within 2 s.
pressure_writes_ring() {
	[ -r /proc/pressure/cpu ] || skip "no pressure is measured here"
	start "$programs/busy" 60
	record --ring 5s --interval 100ms -p $$ --trigger 'psi.cpu.some.avg10>0'
	has_files 1
	kill -TERM "$recorder"
	ends 0
	[[ $(< "$said") =~ ctprof:\ psi\.cpu\.some\.avg10\>0:\ [0-9.]+:\ writing ]]
	all_readable
}

runnable_threads_write_ring() {
	local reason

	record --ring 5s --interval 50ms --trigger 'runnable>500' --trigger 'runnable>0'
	# The recorder itself is one.
	has_files 1
	sleep 0.5
	kill -TERM "$recorder"
	ends 0
	equal "how often it fired" "$(grep -c '^ctprof: runnable>0: [0-9]*: writing' "$said")" 1
	all_readable
	reason=$(for file in "$recording"/*; do zstd -qdc "$file" | jq -r '.ctprof.note // empty'; done)
	[[ $reason =~ ^"trigger runnable>0: "[1-9][0-9]*$ ]]
}

busy_threads_write_ring() {
	local i

	record --ring 5s --interval 50ms -p $$ --trigger 'runnable>40'
	sleep 0.5
	grep -q writing "$said" && skip "this machine is too busy"
	# Who never sleeps is runnable whenever somebody looks, however fast the machine is.
	for ((i = 0; i < 60; i++)); do
		yes > /dev/null &
		at_end "kill -9 $!; wait $!"
	done
	has_files 5
	kill -TERM "$recorder"
	ends 0
	all_readable
}

picks_by_time() {
	local times

	record --interval 200ms --count 4
	ends 0
	mapfile -t times < <("$ctprof" show --list "$recording" | sed 's/ .*//')
	equal "the number of times" "${#times[@]}" 4
	for time in "${times[@]}"; do
		has "the report of $time" "$("$ctprof" show "$recording@$time" --limit 1)" \
			"$recording/$(sed 's/[-:]//g' <<< "$time").ctprof.zst"
	done
	output=$("$ctprof" compare "$recording@${times[1]}" "$recording@${times[2]}" --window --limit 1)
	has "the baseline" "$(grep '^baseline:' <<< "$output")" "$(sed 's/[-:]//g' <<< "${times[1]}")"
	has "the candidate" "$(grep '^candidate:' <<< "$output")" "$(sed 's/[-:]//g' <<< "${times[2]}")"
	output=$("$ctprof" compare "$recording" --window --limit 1)
	has "the baseline" "$(grep '^baseline:' <<< "$output")" "$(sed 's/[-:]//g' <<< "${times[0]}")"
	has "the candidate" "$(grep '^candidate:' <<< "$output")" "$(sed 's/[-:]//g' <<< "${times[3]}")"
}

# What is remembered from one capture to the next is not of the one before.
paths_stay_right() {
	local wanted

	start_sleep
	wanted=$(sed -n 's/^0:://p' "/proc/$pid/cgroup")
	record --interval 10ms --count 60
	ends 0
	for file in "$recording"/*; do
		zstd -qdc "$file" | jq -r ".threads[] | select(.tid == $pid).cgroup"
	done | sort | uniq -c > "$scratch/paths"
	equal "the cgroup of $pid in each capture" "$(sed 's/^ *//' "$scratch/paths")" "60 $wanted"
}

resident_kib() {
	awk '/^VmRSS/ { print $2 }' "/proc/$recorder/status"
}

memory_stays() {
	local early late

	# Of threads that stay: those of the whole host, and so what is kept of them, become more and less.
	start "$programs/sleepers" 200
	record --interval 10ms -p "$pid" "$@"
	# On a busy host it takes some hundred captures until malloc has all that it will ever have.
	sleep 4
	early=$(resident_kib)
	sleep 4
	late=$(resident_kib)
	kill -TERM "$recorder"
	ends 0
	echo "$early KiB, then $late KiB"
	between "KiB more" -100000 $((late - early)) 1024
}

run_case "recording: five captures, each at its time" five_captures
run_case "recording: a killed recorder leaves a readable recording" killed_recorder
run_case "recording: TERM ends it" ended_recorder TERM
run_case "recording: INT ends it" ended_recorder INT
run_case "recording: --duration ends it" ends_by_duration
run_case "recording: --keep removes by age and by size" removes_by_age_and_size
run_case "recording: a full disk" full_disk
run_case "recording: a disk that has room again, twice" disk_gets_room_again
run_case "recording: the directory is moved" moved_directory
run_case "recording: a process that ends" watched_process_ends
run_case "ring: SIGUSR1 writes the captures before it, and some after" signal_writes_ring
run_case "ring: SIGUSR2 writes it too" other_signal_writes_ring
run_case "ring: a signal before the first capture" needs_bpf early_signal_writes_ring
run_case "ring: pressure writes it" pressure_writes_ring
run_case "ring: runnable threads write it, once" runnable_threads_write_ring
run_case "ring: busy threads write it" slow busy_threads_write_ring
run_case "recording: show and compare pick by time" picks_by_time
run_case "recording: cgroups are those of each capture" paths_stay_right
run_case "recording: memory stays" memory_stays
run_case "ring: memory stays" memory_stays --ring 500ms --trigger SIGUSR1
