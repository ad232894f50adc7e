# SPDX-License-Identifier: BSD-2-Clause
#
# Recordings of ctprof top, replayed beside what was printed while they were made. Part of
# tests/live/run.

recorded=$scratch/top.recording

# Three windows of a second, of threads that do what is known; the first case that wants them makes them.
make_recording() {
	[ -e "$scratch/top.printed" ] && return
	start "$programs/states" spin starved pipe mutex epoll
	"$ctprof" top --batch -n 3 -i 1s --format json -p "$ready" --record "$recorded" \
		> "$scratch/top.new" 2> "$scratch/top.told" || { cat "$scratch/top.told"; return 1; }
	mv "$scratch/top.new" "$scratch/top.printed"
}

recorded() {
	is_root
	output=$("$ctprof" top --batch -n 1 -i 50ms --engine exact -p $$ 2>&1 > /dev/null) || skip "$output"
	make_recording
	"$@"
}

# Recordings have the cgroup of version 2 only.
cgroup_member=.cgroup
grep -qv '^0::' /proc/self/cgroup && cgroup_member=null

# Whose numbers the file has, a line for each window and thread. Of one that is runnable since it is watched, a
# recording does not tell whether it was so before.
windows_of() {
	jq -c 'select(.ended | not) | [.window, .tid, .tgid, .comm, .process, .uid, '$cgroup_member', .at_unix_ns,
		.window_ns, .states, (.in_progress | if .state? == "runnable" then del(.at_least) else . end),
		.switches]' "$1" | sort
}

replays_what_was_printed() {
	"$ctprof" top --batch --replay "$recorded" --format json > "$scratch/top.replayed"
	windows_of "$scratch/top.printed" > "$scratch/printed"
	windows_of "$scratch/top.replayed" > "$scratch/replayed"
	between "threads in three windows" 15 "$(wc -l < "$scratch/printed")" 300
	diff "$scratch/printed" "$scratch/replayed" | head -n 20
	cmp "$scratch/printed" "$scratch/replayed"
}

steps_by_time() {
	local last

	last=$(jq -s 'map(.at_unix_ns) | max' "$scratch/top.printed")
	"$ctprof" top --batch --replay "$recorded@last" --format json > "$scratch/top.replayed"
	equal "windows" "$(jq .window "$scratch/top.replayed" | sort -u)" 2
	equal "its end" "$(jq .at_unix_ns "$scratch/top.replayed" | sort -u)" "$last"
	"$ctprof" top --batch --replay "$recorded" --format json -n 2 > "$scratch/top.replayed"
	equal "windows" "$(jq .window "$scratch/top.replayed" | sort -u | tr '\n' ' ')" "0 1 "
}

# delta NAME METRIC: of the threads of that name, from the first capture to the last, in ms.
delta() {
	"$ctprof" compare "$recorded@first" "$recorded@last" --window --group-by comm --metrics "$2" --match "$1" \
		--format json | jq '[.rows[] | select(.group) | .delta / 1000000 | floor] | add // 0'
}

compare_shows_states() {
	local ran

	# Others want its CPU too: what the kernel counted, at the captures, which are some time after the
	# readings on a busy host.
	ran=$(delta spin run_time_ns)
	between "spin, ms of exec" $((ran - 150)) "$(delta spin state_exec_ns)" $((ran + 150))
	between "spin, ms on a CPU, or waiting for one" 2950 \
		$(($(delta spin state_exec_ns) + $(delta spin state_runnable_ns))) 3100
	between "starved, ms of runnable" 2950 "$(delta starved state_runnable_ns)" 3100
	between "pipe, ms at the pipe" 2950 "$(delta pipe state_sleep_pipe_ns)" 3100
	between "epoll, ms of idle" 2950 "$(delta epoll state_idle_ns)" 3100
	has output "$("$ctprof" show "$recorded" --match states)" "## Thread states"
}

says_what_it_wrote() {
	equal "captures" "$(ls "$recorded" | wc -l)" 4
	has output "$(< "$scratch/top.told")" "4 captures written to $recorded"
}

prints_nothing_and_keeps_little() {
	local dir=$scratch/top.kept

	equal "what it printed" "$("$ctprof" top --batch -n 5 -i 300ms --format none -p $$ --record "$dir" --keep 500ms 2> "$scratch/told")" ""
	between "captures that are left" 1 "$(ls "$dir" | wc -l)" 3
	has output "$(< "$scratch/told")" "removed by --keep"
}

# Whatever ends it: the recording is whole.
ends_by_signal() {
	local dir=$scratch/top.ended

	"$ctprof" top --batch -i 200ms --format none -p $$ --record "$dir" 2> "$scratch/told" &
	pid=$!
	until [ "$(ls "$dir" 2> /dev/null | wc -l)" -ge 3 ]; do
		kill -0 "$pid"
		sleep 0.05
	done
	kill -TERM "$pid"
	wait "$pid"
	has output "$(< "$scratch/told")" "captures written to $dir"
	"$ctprof" top --batch --replay "$dir" --format json > "$scratch/top.replayed"
	between "windows" 2 "$(jq .window "$scratch/top.replayed" | sort -u | wc -l)" 100
}

# What capture --interval recorded, by the counters alone.
plain_recordings_are_replayed() {
	local dir=$scratch/top.plain

	start "$programs/states" spin starved pipe
	"$ctprof" capture -q --interval 1s -n 3 -o "$dir" -p "$ready"
	"$ctprof" top --batch --replay "$dir" --format json > "$scratch/top.replayed"
	equal "windows" "$(jq .window "$scratch/top.replayed" | sort -u | wc -l)" 2
	equal "rows that do not add up" "$(jq -c 'select((.states | [.exec, .runnable, .paging // 0, .sleep, .idle, .stopped] | add) != .window_ns)' "$scratch/top.replayed")" ""
	between "spin, ms on a CPU, or waiting for one" 1900 $(($(share_of spin exec) + $(share_of spin runnable))) 2100
	between "starved, ms of runnable" 1900 "$(share_of starved runnable)" 2100
	between "pipe, ms of sleep" 1900 "$(share_of pipe sleep)" 2100
}

# share_of NAME STATE: ms in the windows of $scratch/top.replayed.
share_of() {
	jq -s "[.[] | select(.comm == \"$1\") | .states.$2 / 1000000] | add | floor" "$scratch/top.replayed"
}

run_case "top: a recording is replayed to the nanosecond" recorded replays_what_was_printed
run_case "top: a recording is replayed from any time on" recorded steps_by_time
run_case "top: compare and show have the states of a recording" recorded compare_shows_states
run_case "top: a recorder reports what it wrote" recorded says_what_it_wrote
run_case "top: a silent recorder records all readings" recorded prints_nothing_and_keeps_little
run_case "top: a recorder that is ended leaves a recording" recorded ends_by_signal
run_case "top: recordings of captures are replayed by counters" recorded plain_recordings_are_replayed
