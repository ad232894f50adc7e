# SPDX-License-Identifier: BSD-2-Clause
#
# Profiles: times against the clocks of who was profiled and of the kernel, nothing lost, and the
# right threads. Part of tests/live/run.

. tests/live/profiles.sh

# --- times ---

# The same long profile for several cases.
long=$scratch/long.json
take_long() {
	local before

	if [ ! -e "$long" ]; then
		before=$(stolen)
		take profile --mode both --group-by cpu -- "$programs/waits" "$disk" 100 100 \
			sleep futex pipe vfork stop trace migrate mixed hog-1 hog-2
		mv "$profile" "$long"
		mv "$told" "$scratch/long.told"
		echo $(($(stolen) - before)) > "$scratch/long.stolen"
	fi
	profile=$long
	told=$scratch/long.told
}

times_add_up() {
	take_long
	agrees "wall time by its parts" '.threads[] | select(.accounted | not).name + " is not accounted"'
	agrees "wall time by its parts" '.threads[] |
		apart("\(.name) \(.tid)"; [.ns[]] | sum; .ended_ns - .begun_ns; 0.002; 0)'
	equal "kinds that lived for less than 10 s" "$(ask '[said($told)[] | select(.inner < 1e10)] | length')" 0
	# From before it is made until it is known to be gone: no thread is watched for longer, but for its very end.
	agrees "wall time by its own clock" '. as $p | said($told)[] | . as $line |
		($p | thread_of($line) | .ended_ns - .begun_ns) as $wall |
		if $wall < .inner then apart("\(.kind)"; $wall; .inner; 0; 0)
		elif $wall > .outer then apart("\(.kind)"; $wall; .outer; 0.002; 0) else empty end'
	loses_nothing
}

# What lies between its last look and its end is known too: `outer - inner`, and what it lived after it was
# known to be gone, which the case above bounds. When a wake-up preempts who
# runs, the kernel takes the time of the wake-up for that of the switch (rq_clock_skip_update()): the
# microseconds between are booked to who gets the CPU there, and to who had it here, at each switch. What
# the kernel books when an affinity is set to a thread that it has not dequeued yet (EEVDF) is delay,
# though it slept. A thread is on its CPU here while the hypervisor has the CPU.
times_are_those_of_the_kernel() {
	take_long
	agrees "run time and run delay" '. as $p | said($told)[] | . as $line | ($p | thread_of($line)) as $t |
		(([.outer, $t.ended_ns - $t.begun_ns] | max) - .inner + ($t.voluntary // 0) * 20000 + ($t.involuntary // 0) * 10000) as $more |
		apart("\(.kind) on-cpu"; $t.ns["on-cpu"]; .cpu; 0.005; $more + if $t.ns["on-cpu"] > .cpu then $stolen else 0 end),
		(select(.kind != "migrate") |
			apart("\(.kind) runnable"; $t.ns.runnable // 0; .delay; 0.005; $more))' \
		--argjson stolen "$(< "$scratch/long.stolen")"
}

waits_have_their_class() {
	take_long
	agrees "known waits" '. as $p | [samples] as $samples | said($told)[] |
		if .kind == "migrate" then .known = ([.known, 1e10] | max) else . end |
		. as $line | class_of(.kind) as $class |
		[$samples[] | select(.thread.tid == $line.tid and .class == $class) |
			select(passes("sys_poll$") | not).ns] | sum |
		apart("\($line.kind) \($class)"; .; $line.known; 0.01; if $line.known < 1e7 then 1e7 else 0 end)'
	agrees "hogs that wait for a CPU" '. as $p | [samples] as $samples |
		said($told)[] | select(.kind | startswith("hog")) | . as $line |
		[$samples[] | select(.thread.tid == $line.tid and .class == "runnable").ns] | sum |
		apart($line.kind; .; $line.delay; 0.01; $line.outer - $line.inner)'
	# No kind waits in a class that is not its own.
	agrees "other classes" '. as $p | said($told)[] | . as $line | ($p | thread_of($line)).ns | to_entries[] |
		select(.key | IN("on-cpu", "runnable", "interruptible", class_of($line.kind)) | not) |
		select(.value > $line.known * 0.01 + 1e7) | "\($line.kind) \(.key): \(.value)"'
}

# Where only it wakes up, for the kernel books what it preempts from its wake-up on as its CPU time.
disk_waits_are_io_waits() {
	take offcpu -- "$programs/waits" "$disk" 20 50 disk
	agrees "waits for the disk" '. as $p | said($told)[] | . as $line |
		[$p | samples | of("disk") | select(.class == "io-wait").ns] | sum |
		apart("io-wait"; .; $line.known; 0.01; 0)'
	loses_nothing
}

waits_go_with_who_moves() {
	take_long
	(($(nproc) > 1)) || skip "one CPU"
	[ "$(ask '[samples | of("migrate").cpu] | unique | length')" -gt 1 ] ||
		{ echo "it has never moved"; return 1; }
	agrees "on-CPU samples" '[samples | of("hog-1") | select(.class == "on-cpu" and .cpu != 0).cpu] | unique |
		if . == [] then empty else "hog-1 on CPU \(.)" end'
}

# --- states ---

state_is_all_there_is() {
	local class=$1 state

	for state in "${@:2}"; do
		take offcpu --state "$state" -- \
			"$programs/waits" "$disk" 4 60 sleep vfork stop trace hog-1 hog-2
		equal "classes of --state $state" "$(ask '[samples.class] | unique | join(" ")')" "$class"
		agrees "--state $state" '[samples] as $samples |
			said($told)[] | select(class_of(.kind) == $class and .known > 1e7) | . as $line |
			[$samples[] | select(.thread.tid == $line.tid) | select(passes("sys_poll$") | not).ns] | sum |
			apart($line.kind; .; $line.known; 0.01; 0)' --arg class "$class"
		[ "$(ask '[samples.ns] | sum')" -gt 0 ]
	done
}

several_states_together() {
	take offcpu --state stopped,t -- "$programs/waits" "$disk" 4 60 sleep vfork stop trace
	equal "classes" "$(ask '[samples.class] | unique | sort | join(" ")')" "stopped traced"
	take offcpu --state 12 -- "$programs/waits" "$disk" 4 60 sleep vfork stop trace
	equal "classes of a mask" "$(ask '[samples.class] | unique | sort | join(" ")')" "stopped traced"
}

# --- switches and losses ---

# until_done FILE COMMAND...: run it, until FILE has a line "done".
until_done=('bash' '-c' 'kill -USR1 "$1"; until grep -q "^done" "$2"; do sleep 0.05; done' 'bash')

switches_are_all_counted() {
	start "$programs/ping_pong" --wait "$1" "$2"
	take offcpu -p "$pid" -- "${until_done[@]}" "$pid" "$said"
	equal "switches of threads that differ" "$(ask '
		[$said | split("\n")[] | split(" ") | select(length == 4) | (.[1:] | map(tonumber)) as $n |
			{ when: .[0], tid: $n[0], voluntary: $n[1], involuntary: $n[2] }] as $lines |
		[.threads[] | . as $t |
			($lines[] | select(.tid == $t.tid and .when == "before")) as $a |
			($lines[] | select(.tid == $t.tid and .when == "after")) as $b |
			select(($t.voluntary // 0) != $b.voluntary - $a.voluntary or
				($t.involuntary // 0) != $b.involuntary - $a.involuntary) |
			"\(.tid): \(.voluntary) and \(.involuntary), not \($a) \($b)"] | join("; ")' \
		--rawfile said "$said")" ""
	equal "threads" "$(ask '[.threads[] | select(.name == "ping" or .name == "pong")] | length')" $((2 * $1))
	[ "$(ask '[.threads[].voluntary] | sum')" -gt "$2" ]
	loses_nothing
	adds_up_exactly
}

# Each stretch off the CPU of the threads is in a sample, was filtered, or was lost.
adds_up_exactly() {
	equal "events that are nowhere" "$(ask '.losses | .events - (.kept // 0) - (.lost // 0) - (.filtered // 0)')" 0
}

losses_are_exact() {
	# Counts by CPU are in a map with room for few, and not in the records of threads. Unwind tables need more memory.
	take offcpu --group-by cpu --unwind fp --stack-storage-size 1 --max-map-memory 64KiB -- "$programs/ping_pong" 15 3000
	[ "$(ask '.losses.lost')" -gt 1000 ]
	adds_up_exactly
	equal "threads" "$(ask '.threads | length')" 31
	equal "time that is nowhere" "$(ask '([.threads[] | off] | sum) - ([.samples.ns[]] | sum) -
		.losses.lost_ns - (.losses.filtered_ns // 0)')" 0
	has "what it says" "$(< "$warned")" lost
}

# --- threads that come and go ---

numbers_are_used_again() {
	local status=0

	take offcpu -- "$programs/reuse" || status=$?
	((status != 77)) || skip "$(< "$warned")"
	((status == 0))
	read -r number first second < "$told"
	equal "programs of $number" "$(ask '[.threads[] | select(.tid == $number).name] | join(" ")' \
		--argjson number "$number")" "first second"
	agrees "the times of both" '(.threads[] | select(.name == "first")) as $a |
		(.threads[] | select(.name == "second")) as $b |
		apart("first"; $a.ns.interruptible; 3e8; 0.01; ($first - 3e8)),
		apart("second"; $b.ns.interruptible; 1e8; 0.01; ($second - 1e8)),
		if $a.ended_ns > $b.begun_ns then "they overlap" else empty end' \
		--argjson first "$first" --argjson second "$second"
	# Of the one that was killed while it was blocked, there is all of it.
	agrees "its wait" '[samples | of("first") | select(.class == "interruptible" and passes("pipe_read$")).ns] | sum |
		apart("pipe"; .; 3e8; 0.01; $first - 3e8)' --argjson first "$first"
}

programs_follow_each_other() {
	take offcpu -- bash -c 'read -rt 0.2 <> <(:); exec -a other "$@"' bash sleep 0.3
	equal "programs" "$(ask '[.threads[] | select(.tid == .tgid).name] | unique | sort | join(" ")')" "bash sleep"
	agrees "times" '(.threads[] | select(.name == "sleep")) as $b |
		(.threads[] | select(.tid == $b.tid and .name == "bash")) as $a |
		(if $a.ended_ns != $b.begun_ns then "there is something between" else empty end),
		(if $a.ns.interruptible < 2e8 or $b.ns.interruptible < 3e8 or $a.ns.interruptible > 3e8 and
			$a.ns.interruptible > $b.ns.interruptible then "\($a.ns) \($b.ns)" else empty end)'
}

names_given_by_others() {
	# After 200 ms of whoever gives the name, who may have begun before the sleeper did.
	take offcpu --comm rename -- "$programs/waits" "$disk" 1 400 rename
	equal "threads" "$(ask '.threads | length')" 1
	agrees "its sleep" '.threads[0] as $t | ($t | off) as $exact |
		if $exact < 1e8 or $t.ns["on-cpu"] > 1e8 then "\($t.ns)" else empty end,
		apart("samples"; [samples.ns] | sum; $exact; 0; 0)'
}

# names_by_and_by COMMAND OPTIONS...: a row for each name that --comm matches, with its time.
names_by_and_by() {
	take "$@" --comm 'name-?' -- bash -c 'exec 9<> <(:); for name in name-a name-b other name-c; do
		printf "$name" > /proc/$$/comm; read -t 0.01 -u 9; for ((i = 0; i < 200000; i++)); do :; done; done'
	equal "names" "$(ask '[.threads[].name] | join(" ")')" "name-a name-b name-c"
	equal "names that have samples on a CPU" "$(ask '[samples | select(.class == "on-cpu").thread.name] |
		unique | join(" ")')" "name-a name-b name-c"
}

storms_are_all_there() {
	local forked

	take offcpu -- "$programs/chain" storm 400 50
	forked=$(sort "$told")
	equal "children" "$(wc -l < "$told")" 400
	equal "children in the profile" "$(ask '.threads[] | select(.name | startswith("storm-")) | "\(.tid) \(.name)"' | sort)" \
		"$forked"
	# Preempted before it could sleep, it sleeps for less: what it waited in all is known.
	equal "children whose sleep has no names" "$(ask '[.threads[] |
		select((.name | startswith("storm-")) and off >= 5e7).tid] -
		[samples | select(.class == "interruptible" and .count == 1) |
			select(.stack | index("storm_child") and index("chain_sleep") and index("hrtimer_nanosleep")) |
			.thread.tid] | length')" 0
	equal "children that did not sleep" "$(ask '[.threads[] |
		select((.name | startswith("storm-")) and off < 5e7)] | length')" 0
	loses_nothing
}

targets_end_at_once() {
	local victim

	take offcpu -- true
	equal "programs" "$(ask '[.threads[].name] | join(" ")')" true
	start_sleep
	victim=$pid
	take offcpu -p "$victim" -- bash -c 'kill -9 "$1"; while kill -0 "$1"; do sleep 0.01; done' bash "$victim"
	equal "its records" "$(ask '[.threads[] | select(.tid == $tid)] | length' --argjson tid "$victim")" 1
	agrees "its life" '.threads[] | select(.tid == $tid) | (.ended_ns - .begun_ns) as $wall |
		apart("sum"; [.ns[]] | sum; $wall; 0.002; 0)' --argjson tid "$victim"
}

# --- sampling ---

# take_two OPTIONS SAMPLING... -- COMMAND...: two at the same time, of which the other samples: what each
# stack of the command's threads is in both.
take_two() {
	local sampled=$scratch/sampled.json options=$1

	# shellcheck disable=SC2086
	take offcpu $options -- "$ctprof" offcpu --format json -o "$sampled" -q $options "${@:2}"
	jq -n -L tests/live --slurpfile exact "$profile" --slurpfile sampled "$sampled" 'include "profile";
		def table($tids): [samples | select(.thread.tid | IN($tids[])) |
			{ key: (.stack + [.class] | join(";")), ns }] |
			group_by(.key) | map({ key: .[0].key, value: ([.[].ns] | sum) }) | from_entries;
		[$sampled[0].threads[].tid] as $tids |
		{ exact: ($exact[0] | table($tids)), sampled: ($sampled[0] | table($tids)) }' > "$scratch/two.json"
}

# Of both: FILTER ARGUMENTS...
ask_two() {
	jq -r -L tests/live "include \"profile\"; ([.exact[]] | sum) as \$all | $1" "${@:2}" "$scratch/two.json"
}

periods_are_unbiased() {
	take_two "" --off-cpu-period 10ms -- \
		"$programs/waits" "$disk" 50 100 sleep futex pipe stop trace migrate vfork mixed
	[ "$(ask_two '$all / 1e9 | floor')" -ge 60 ]
	[ "$(ask_two '[.exact[] | select(. > $all * 0.02)] | length')" -ge 5 ]
	equal "stacks that differ" "$(ask_two '.sampled as $sampled | .exact | to_entries[] |
		select(.value > $all * 0.02) | apart(.key; $sampled[.key] // 0; .value; 0.03; 0)')" ""
}

# Of many waits that are much longer than a walk of a stack, which makes those that are drawn longer, and
# of about the same length, so that a few do not decide.
draws_keep_totals() {
	take_two "--max-block-time 2ms" --off-cpu-threshold 200 -- "$programs/chain" sleep 40000 0.05
	profile=$scratch/sampled.json
	[ "$(ask '.losses.kept')" -gt 6000 ]
	[ "$(ask '.losses.filtered')" -gt "$(ask '3 * .losses.kept')" ]
	equal "totals that differ" "$(ask_two 'apart("sum"; [.sampled[]] | sum; $all; 0.05; 0)')" ""
	agrees "how many it says there are" '([.threads[] | select(.name == "chain").counts |
			to_entries[] | select(.key | IN("on-cpu", "runnable") | not).value] | sum) as $exact |
		apart("waits"; [samples | select(.class != "runnable").count] | sum; $exact; 0.05; 0)'
	adds_up_exactly
}

run_case "profile: on + runnable + blocked is wall time, of 10 kinds of threads" needs_profiles undisturbed times_add_up
run_case "profile: run time and run delay are those of schedstat" needs_profiles undisturbed times_are_those_of_the_kernel
run_case "profile: known waits are in the right class, within 1 %" needs_profiles undisturbed waits_have_their_class
run_case "offcpu: waits for a disk, within 1 %" needs_profiles undisturbed disk_waits_are_io_waits
run_case "profile: a thread that is moved while it sleeps" slow needs_profiles waits_go_with_who_moves
run_case "offcpu: --state uninterruptible, D, 2" needs_profiles undisturbed state_is_all_there_is uninterruptible uninterruptible D 2
run_case "offcpu: --state stopped, T, 4" needs_profiles undisturbed state_is_all_there_is stopped stopped T 4
run_case "offcpu: --state traced, t, 8" needs_profiles undisturbed state_is_all_there_is traced traced t 8
run_case "offcpu: --state interruptible, S, 1" needs_profiles undisturbed state_is_all_there_is interruptible interruptible S 1
run_case "offcpu: --state runnable, R, 0" needs_profiles undisturbed state_is_all_there_is runnable runnable R 0
run_case "offcpu: several states" needs_profiles several_states_together
run_case "offcpu: each switch of four threads at the highest rate is counted" slow needs_profiles switches_are_all_counted 2 150000
run_case "offcpu: each switch of 40 threads is counted" needs_profiles switches_are_all_counted 20 5000
run_case "offcpu: losses are counted exactly" needs_profiles losses_are_exact
run_case "offcpu: a number that is used again" needs_profiles numbers_are_used_again
run_case "offcpu: names before and after exec" needs_profiles programs_follow_each_other
run_case "offcpu: a sleeping thread is given another name" needs_profiles names_given_by_others
run_case "profile: a thread gives itself other names" needs_profiles names_by_and_by profile --mode both -F 499
run_case "profile: a thread gives itself other names, and no switch is seen" slow needs_profiles \
	names_by_and_by profile --mode on -F 499
run_case "offcpu: each of 400 children, with names of functions" needs_profiles storms_are_all_there
run_case "offcpu: targets that end at once" needs_profiles targets_end_at_once
run_case "offcpu: --off-cpu-period against exact times" needs_profiles alone periods_are_unbiased
run_case "offcpu: --off-cpu-threshold keeps totals" needs_profiles alone draws_keep_totals

# --- the first screen ---

# What a thread of the program waits for most, and the function of the program that does, are in the first 24 lines.
first_screen_has() {
	STATES_FILE=$disk start "$programs/states" "$1"
	"$ctprof" offcpu -d 700ms -p "$pid" > "$scratch/text" || return 1
	head -n 24 "$scratch/text" | grep -E "$2" > "$scratch/row" || { cat "$scratch/text"; return 1; }
	between "columns" 60 "$(head -n 24 "$scratch/text" | sed 's/ *$//' | LC_ALL=C.UTF-8 wc -L)" 130
}

for what in "mutex lock  .* pthread_mutex_lock" "pipe pipe  .*run_pipe .* read" \
	"disk storage  .*run_disk" "vfork  vfork" "flock lock  .*run_flock .* flock"; do
	run_case "offcpu: the first screen has the wait of a thread: ${what%% *}" needs_profiles \
		first_screen_has "${what%% *}" "${what#* }"
done
