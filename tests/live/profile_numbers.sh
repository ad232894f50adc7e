# SPDX-License-Identifier: BSD-2-Clause
#
# What profiles print is what there was. Part of tests/live/run.

. tests/live/profiles.sh

# napping COMMAND...: beside a process, $napper, that waits at one place again and again and is in such a wait
# when the command starts.
napping() {
	[ -p "$scratch/nothing" ] || mkfifo "$scratch/nothing"
	bash -c 'exec 3<> "$0"; while :; do read -t 0.8 -u 3; done' "$scratch/nothing" &
	napper=$!
	at_end 'kill $napper; wait $napper 2> /dev/null || :'
	sleep 0.3
	"$@"
}

one_wait_is_one_place() {
	take offcpu -p $napper -d 2
	equal "places of waits" "$(ask '[samples | select(.class == "interruptible" and .ns > 1e8).stack] | unique | length')" 1
	equal "waits that had not ended" "$(ask .losses.in_progress)" 1
	loses_nothing
}

# One place has many short waits and a long one: its sum has the same longest wait as the list of single waits.
longest_of_a_place_is_that_of_its_waits() {
	[ -p "$scratch/nothing" ] || mkfifo "$scratch/nothing"
	take offcpu --longest 1 -- bash -c 'exec 3<> "$0"; for i in {1..20} 300; do read -t "$(printf 0.%03d $i)" -u 3; done; :' \
		"$scratch/nothing"
	equal "the longest, and how many there were" "$(ask '.longest[0].ns as $exact | .samples |
		(.longest_ns | max) as $most | (.longest_ns | index($most)) as $at |
		[$most >= $exact, $most <= $exact * 1.001, .count[$at] >= 10] | @json')" "[true,true,true]"
}

# longest_waits_have_their_wakers OPTIONS...: a thread waits until another writes, for a time, and for a child. The one
# that writes may be a target too.
longest_waits_have_their_wakers() {
	local dir=$scratch/wakers writer

	rm -rf "$dir" && mkdir "$dir" && mkfifo "$dir/pipe" && cp "$(command -v bash)" "$dir/reader" || return 1
	at_end "kill \$(cat $dir/numbers); :"
	take offcpu "$@" -- bash -c '
		"$0/reader" -c '\''exec 3<> "$0"; read -u 3; read -t 0.2 -u 3; sleep 20; :'\'' "$0/pipe" &
		reader=$!
		bash -c '\''sleep 0.5; echo > "$0"; sleep 20; :'\'' "$0/pipe" &
		echo $! > "$0/writer"; echo $reader $! > "$0/numbers"; sleep 1.5' "$dir"
	writer=$(cat "$dir/writer")
	equal "what ended its waits" "$(ask '[samples | select(.thread.name == "reader" and .ns > 1e8) |
		[.state, .waker.name, .waker.tid]] | sort | tojson')" \
		'[["idle_poll","[interrupt]",null],["sleep_child","[not ended]",null],["sleep_pipe","bash",'$writer']]'
}

# Nothing ends in so short a time, and all of it is in the profile.
waits_that_go_on_are_counted() {
	"$ctprof" offcpu -p $napper -d 100ms > "$scratch/text" || return 1
	grep -q 'events    0, of which 0 kept; and 1 wait that had not ended' "$scratch/text" ||
		grep -q 'events    [1-9]' "$scratch/text" || { cat "$scratch/text"; return 1; }
}

# Two programs have a main, which calls the same.
programs_are_apart() {
	"$ctprof" offcpu -d 1 --comm 'nap?' -- bash -c '
		cp "$(command -v sleep)" "$0/napa"; cp "$0/napa" "$0/napb"
		"$0/napa" 0.4 & "$0/napb" 0.5; wait' "$scratch" > "$scratch/text" || return 1
	grep -Eq '^ +[0-9.]+% +[0-9.]+ms  napa$' "$scratch/text" &&
		grep -Eq '^ +[0-9.]+% +[0-9.]+ms  napb$' "$scratch/text" || { cat "$scratch/text"; return 1; }
}

# It reads in vain nearly all of the time: wall time is not time on the CPU.
samples_are_all_that_is_known() {
	take profile --mode on -p $napper -d 1
	equal "accounted threads" "$(ask '[.threads[] | select(.accounted)] | length')" 0
	equal "times of threads" "$(ask '[.threads[].ns // {} | .[]] | add // 0')" 0
	"$ctprof" profile --mode on -F 999 --format json -o "$profile" -- bash -c 'for ((i = 0; i < 300000; i++)); do :; done; sleep 1'
	equal "times of threads" "$(ask '[.threads[].ns // {} | .[]] | add // 0')" 0
	[ "$(ask '[samples | select(.class == "on-cpu").ns] | add // 0')" -gt 0 ] || { echo "no samples"; return 1; }
}

# Timers, on busy CPUs: what they interrupt is in a loop, and wakes nobody.
interrupted_code_wakes_nobody() {
	take offcpu --wakers --comm waits -- bash -c 'for i in 1 2 3 4; do timeout 2 bash -c "while :; do :; done" & done
		"$0" "$1" 10 100 sleep; wait' "$programs/waits" "$disk"
	agrees "frames beyond the interrupt" '[samples | .stack | select(index("--")) | .[index("--"):]] as $wakers |
		(if any($wakers[]; any(.[]; test("^asm_sysvec|^asm_common_interrupt"))) then empty else "no interrupt woke" end),
		($wakers[] | (map(test("^asm_sysvec_|^asm_common_interrupt")) | index(true)) as $i | select($i) |
			select(length > $i + 2) | "\(.)")'
}

# What waits and then waits for a CPU has waited once, with stacks or without.
waits_are_counted_once() {
	"$ctprof" offcpu -q --no-stacks -o "$scratch/times.json" -- "$programs/chain" sleep 20 5 || return 1
	equal "stretches and events" "$(jq '[.samples.count | add] - [.losses.events]' "$scratch/times.json")" '[]'
}

# Threads of a millisecond, while programs are attached one after another: none waits for a CPU for a second.
ends_while_it_starts_are_ends() {
	local i

	start "$programs/churn" 40 1
	for i in 1 2 3; do
		"$ctprof" offcpu -q --no-stacks -d 1 --comm churn -o "$scratch/started.json" || return 1
		equal "threads that lived for a second, and waited for a CPU once" "$(jq -c --argjson pid "$pid" '[.threads[] |
			select(.tid != $pid and .ended_ns - .begun_ns > 8e8 and (.ns | keys) == ["runnable"]).tid]' "$scratch/started.json")" '[]'
	done
}

# A record or two for each program, of which there is room for some 1,700.
records_are_used_again() {
	"$ctprof" offcpu -q --no-stacks --max-map-memory 1MiB -i 300ms --format json -o "$scratch/many.json" -- \
		bash -c 'for ((i = 0; i < 2500; i++)); do /bin/true; done' || return 1
	equal "what was lost" "$(jq -s '[.[].losses | (.lost // 0) + (.threads_lost // 0)] | add' "$scratch"/many.*.json)" 0
	equal "programs" "$(jq -s '[.[].threads[] | select(.name == "true").tid] | unique | length' \
		"$scratch"/many.*.json)" 2500
}

# No program sees their switches here. A sample within an exec may find no record.
records_of_samples_are_used_again() {
	"$ctprof" profile -q -F 999 --no-stacks --max-map-memory 1MiB -i 300ms --format json -o "$scratch/sampled.json" -- \
		bash -c 'for ((i = 0; i < 2500; i++)); do /bin/true; done' || return 1
	local lost

	lost=$(jq -s '[.[].losses | (.lost // 0) + (.threads_lost // 0)] | add' "$scratch"/sampled.*.json)
	[ "$lost" -le 25 ] || { echo "$lost lost"; return 1; }
}

# Each program has its loader somewhere else, and so stacks of its own: more than there is room for, but not in an
# interval. The wait of the first sleep is in all of them.
stacks_are_used_again() {
	local all=$scratch/all

	rm -rf "$scratch"/stacks.*.raw "$scratch/numbers_crowd"
	mkdir "$scratch/numbers_crowd"
	"$ctprof" offcpu -q --max-map-memory 4MiB -i 300ms -o "$scratch/stacks.raw" -- bash -c '
		rounds() {
			for i in {1..40}; do
				echo "processes 200"
				until [ -e "$2/stacks.$(printf %03d "$i").raw" ]; do read -t 0.02 <> <(:); done
			done
		}
		/bin/sleep 1000 &
		rounds "$@" | "$0" "$1" > "$2/told"
		kill $!
		wait' "$programs/crowd" "$scratch/numbers_crowd" "$scratch" || true
	equal "rounds" "$(grep -c done "$scratch/told")" 40
	zstd -dcq "$scratch"/stacks.*.raw | jq -s . > "$all"
	equal "what was lost" "$(jq '[.[].losses | (.lost // 0) + (.threads_lost // 0)] | add' "$all")" 0
	jq -r 'def near($what; $a; $b): if ($a - $b) * ($a - $b) <= $b * $b / 10000 then empty else "\($what): \($a), not \($b)" end;
		[.[] | . as $p | .threads[]? | select(.name == "sleep")] as $sleeps |
		near("its time"; [$sleeps[].ns[]] | add; ($sleeps | map(.ended_ns) | max) - ($sleeps | map(.begun_ns) | min)),
		near("its samples"; [.[] | . as $p | range(.samples.ns | length) |
			select($p.threads[$p.samples.thread[.]].name == "sleep") | $p.samples.ns[.]] | add;
			[$sleeps[].ns | to_entries[] | select(.key != "on-cpu").value] | add)' "$all" > "$scratch/differs"
	equal "what differs" "$(< "$scratch/differs")" ""
}

ends_with_its_targets() {
	# The second one outlives it, and is its child from the profile's start on.
	bash -c 'sleep 4; sleep 2 &' &
	timeout 60 "$ctprof" offcpu -p $! > "$scratch/text" 2> "$warned" || return 1
	grep -q 'all targets of -p and -t have ended' "$warned" || { cat "$warned"; return 1; }
	grep -q '  sleep$' "$scratch/text" || { cat "$scratch/text"; return 1; }
}

# more_files: two more of --flush.
more_files() {
	local before

	before=$(find "$scratch/flushed" -type f | wc -l)
	until (($(find "$scratch/flushed" -type f | wc -l) >= before + 2)); do
		sleep 0.05
		kill -0 "$profiler"
	done
}

# An empty one may get processes.
ends_with_its_cgroup() {
	local profiler

	rm -rf "$scratch/flushed"
	mkdir "$scratch/flushed"
	timeout 60 "$ctprof" offcpu --flush "$scratch/flushed" --interval 200ms --cgroup "$cgroup" 2> "$warned" &
	profiler=$!
	more_files
	start_in "$cgroup/below"
	more_files
	kill "$pid"
	wait "$pid" || true
	more_files
	rmdir "$mount$cgroup/below" "$mount$cgroup"
	wait "$profiler" || { cat "$warned"; return 1; }
	grep -q "cgroup $cgroup was removed; stopping" "$warned" || { cat "$warned"; return 1; }
	"$ctprof" flame -q --format folded "$scratch"/flushed/* > "$scratch/text"
	grep -q nanosleep "$scratch/text" || { cat "$scratch/text"; return 1; }
	mkdir -p "$mount$cgroup/below"
	timeout 60 "$ctprof" serve --listen "unix:$scratch/socket" --cgroup "$cgroup" 2> "$warned" &
	profiler=$!
	until grep -q serving "$warned"; do
		sleep 0.05
		kill -0 "$profiler"
	done
	rmdir "$mount$cgroup/below" "$mount$cgroup"
	wait "$profiler"
	mkdir -p "$mount$cgroup/below"
}

# Without programs at switches, too: those of the CPU alone. Nobody has waited for it when it is dead.
samples_end_with_their_target() {
	start bash -c 'echo ready; (sleep 3) & exec sleep 1000'
	local dying

	dying=$(cat "/proc/$pid/task/$pid/children")
	timeout 60 "$ctprof" profile -p ${dying% } > "$scratch/text" 2> "$warned" || { echo "ended with $?"; return 1; }
	grep -q 'all targets of -p and -t have ended' "$warned" || { cat "$warned"; return 1; }
	kill -0 "$pid"
}

options_mean_what_they_say() {
	take offcpu -d 0.1 --comm nobody
	"$ctprof" offcpu -d 0.1 --cpu 60000 > "$scratch/text" 2> "$warned" && { echo "CPU 60000 was taken"; return 1; }
	equal "what is said of a CPU that there is" \
		"$("$ctprof" profile -d 0.1 --cpu 0 2>&1 > "$scratch/text" | sed -n '/no effect/p')" ""
	grep -q 'no CPU 60000' "$warned" || { cat "$warned"; return 1; }
	equal "probes" "$("$ctprof" profile --list-probes kprobe:vfs_read)" "$("$ctprof" profile --list-probes -e kprobe:vfs_read)"
	[ "$("$ctprof" profile --list-probes kprobe:vfs_read | wc -l)" -lt 5 ] || return 1
}

# As on hosts where nobody has looked at it yet.
tracepoints_without_tracefs() {
	unshare -m bash -c 'umount -l /sys/kernel/tracing 2> /dev/null; exec "$0" profile --list-probes "tracepoint:sched:sched_swit*"' \
		"$ctprof" > "$scratch/text" || return 1
	equal "places" "$(< "$scratch/text")" tracepoint:sched:sched_switch
}

# In the program, else in its libraries; without a program in libc.
functions_without_a_file() {
	take profile -e uprobe:malloc -- ls /
	[ "$(ask '[samples | .count] | add')" -ge 1 ] || return 1
	take profile -e uprobe:chain_sleep -- "$programs/chain" sleep 3 1
	equal "calls of a function of the program" "$(ask '[samples | .count] | add')" 3
	for what in "" libc:; do
		equal "places of ${what}malloc" "$("$ctprof" profile --list-probes "uprobe:${what}malloc")" \
			"uprobe:$(ldconfig -p | sed -n 's/.*libc\.so\.6.*x86-64.* => //p; s/.*libc\.so\.6.*AArch64.* => //p'):malloc"
	done
	"$ctprof" profile -d 1s -e uprobe:no_such_function 2> "$warned" && return 1
	grep -q "matches nothing in libc; name the file, e.g. uprobe:libz:deflate" "$warned" || { cat "$warned"; return 1; }
}

run_case "offcpu: a wait that began before is at the place of those that follow" needs_profiles \
	napping one_wait_is_one_place
run_case "offcpu: waits that had not ended are counted" needs_profiles napping waits_that_go_on_are_counted
run_case "offcpu: the longest wait of a place" needs_profiles longest_of_a_place_is_that_of_its_waits
# The verifier takes as many as there may be: it once walked too far for 64.
all_longest_waits_are_taken() {
	take offcpu --longest 64 -d 0.3
	[ "$(ask '.longest | length')" -gt 0 ] || { echo "no longest waits"; return 1; }
}

run_case "offcpu: as many longest waits as may be" needs_profiles all_longest_waits_are_taken
run_case "offcpu: wakers of the longest waits" needs_profiles longest_waits_have_their_wakers
run_case "offcpu: wakers that are no targets" needs_profiles longest_waits_have_their_wakers --comm reader
run_case "offcpu: wakers of the longest waits, with single waits" needs_profiles \
	longest_waits_have_their_wakers --comm reader --longest 3
run_case "offcpu: programs are apart" needs_profiles programs_are_apart
run_case "profile: no times of threads whose switches are not followed" needs_profiles \
	napping samples_are_all_that_is_known
run_case "offcpu: interrupted code is not the waker" needs_profiles interrupted_code_wakes_nobody
run_case "offcpu: a wait that ends during the start does not continue" needs_profiles ends_while_it_starts_are_ends
run_case "offcpu --no-stacks: a wait is counted once" needs_profiles waits_are_counted_once
run_case "offcpu: records of threads that ended are used again, with --interval" slow needs_profiles records_are_used_again
run_case "profile: records of threads that ended are used again, with --interval" needs_profiles \
	records_of_samples_are_used_again
run_case "offcpu: stacks that were read make room for others, with --interval" slow needs_profiles stacks_are_used_again
run_case "offcpu: -p ends with its targets" needs_profiles ends_with_its_targets
run_case "offcpu, serve: the end of a cgroup" needs_profiles with_cgroup ends_with_its_cgroup
run_case "profile: -p ends with its targets" needs_profiles samples_end_with_their_target
run_case "profile: -d 0.1, --cpu of none, --list-probes PROBE" needs_profiles options_mean_what_they_say
run_case "profile: --list-probes where tracefs is not mounted" needs_profiles tracepoints_without_tracefs
run_case "profile: -e uprobe:FUNCTION without a file" needs_profiles functions_without_a_file
