# SPDX-License-Identifier: BSD-2-Clause
#
# Profiles: what options select and add, stacks, commands and signals, bad input. Part of
# tests/live/run.

. tests/live/profiles.sh

# --- who ---

# names WHAT: of the threads in the profile, each once.
names() {
	equal "threads of $1" "$(ask '[.threads[].name] | unique | join(" ")')" "$2"
}

wanted_threads_only() {
	local leader other

	start "$programs/ping_pong" --wait 1 100
	leader=$pid
	start_sleep
	other=$pid
	take offcpu -p "$leader" -d 300ms
	equal "processes of -p" "$(ask '[.threads[].tgid] | unique | join(" ")')" "$leader"
	names -p "ping ping_pong pong"
	take offcpu -t "$other" -d 300ms
	equal "threads of -t" "$(ask '[.threads[].tid] | join(" ")')" "$other"
	take offcpu -p "$leader" -t "$other" -d 300ms
	names "-p and -t" "ping ping_pong pong sleep"
	take offcpu --comm 'p?ng' -p "$leader,$other" -d 300ms
	names --comm "ping pong"
	# All threads of a process of that name, whatever they are called.
	take offcpu --comm ping_pong -d 300ms
	equal "threads of --comm, a process" "$(ask '[.threads[].tid] | join(" ")')" \
		"$(ls "/proc/$leader/task" | sort -n | paste -sd' ')"
	# They sleep all the time.
	agrees "their waits" '.meta.duration_ns as $all | .threads[] |
		apart(.name; .ns.interruptible; $all; 0.01; 1e7)'
}

user_and_kernel_threads() {
	start_sleep
	take offcpu -u -d 500ms
	equal "kernel threads of -u" "$(ask '[.threads[] | select(.kernel)] | length')" 0
	[ "$(ask '[.threads[] | select(.tid == $tid)] | length' --argjson tid "$pid")" -eq 1 ]
	take offcpu -k -d 500ms
	equal "others of -k" "$(ask '[.threads[] | select(.kernel | not)] | length')" 0
	[ "$(ask '[.threads[] | select(.name | startswith("kthreadd"))] | length')" -eq 1 ]
	# Kernel threads have no stacks of user space.
	equal "user frames of -k" "$(ask '[.frames[] | select(.kind == null)] | length')" 0
}

sides_of_stacks() {
	take offcpu -U -- "$programs/chain" sleep 5 20
	equal "kernel frames of -U" "$(ask '[.frames[] | select(.kind == "kernel")] | length')" 0
	[ "$(ask '[samples | select(.stack[-1] == "chain_sleep").ns] | sum')" -ge 100000000 ]
	take offcpu -K -- "$programs/chain" sleep 5 20
	equal "user frames of -K" "$(ask '[.frames[] | select(.kind == null)] | length')" 0
	[ "$(ask '[samples | select(passes("hrtimer_nanosleep")).ns] | sum')" -ge 100000000 ]
	# While somebody else traces switches too, one frame of the kernel's three is of tracing, and left out.
	take offcpu --no-inline --stack-depth 3 -- "$programs/chain" sleep 20 20
	between "frames of --stack-depth 3" 5 "$(ask '[samples | select(passes("chain_sleep")) |
		.stack | map(select(. != "[truncated]")) | length] | max')" 6
	[ "$(ask '.losses.user_truncated')" -ge 5 ]
	[ "$(ask '.losses.kernel_truncated')" -ge 1 ]
}

cgroups_select() {
	start_in "$cgroup/below"
	local inside=$pid
	start_sleep
	take offcpu --cgroup "$cgroup" -p "$inside,$pid" -d 300ms
	equal "threads of --cgroup" "$(ask '[.threads[].tid] | join(" ")')" "$inside"
	has "its cgroup" "$(ask '.threads[0].cgroup')" "$cgroup/below"
	take offcpu --cgroup "$cgroup" -d 300ms
	equal "threads of --cgroup alone" "$(ask '[.threads[].tid] | join(" ")')" "$inside"
	fails 1 "$ctprof" offcpu -q --cgroup "$cgroup/not" -d 300ms -o "$profile"
	has "the error" "$output" "no cgroup"
}

# Who is moved into it is wanted from then on.
# moved_threads_are_found COMMAND OPTIONS...
moved_threads_are_found() {
	local mover

	start "$programs/busy" 1
	mover=$pid
	(sleep 3 && echo "$mover" > "$mount$cgroup/below/cgroup.procs") &
	take "$@" --cgroup "$cgroup" -d 4s
	agrees "who was moved" '[.threads[] | select(.tid == $tid)] |
		if length == 0 then "is not there"
		elif (map(.ended_ns - .begun_ns) | add) > 3.7e9 then "was there too early" else empty end' \
		--argjson tid "$mover"
}

# More than there is room for in one chunk, before and while it runs.
many_threads_have_records() {
	local i pids=()

	for ((i = 0; i < 1500; i++)); do
		sleep 60 &
		pids+=($!)
	done
	at_end "kill ${pids[*]}; wait"
	take offcpu --comm sleep -d 1s -- bash -c 'for i in {1..700}; do sleep 0.2 & done; wait'
	loses_nothing
	take offcpu --comm sleep -d 1s
	loses_nothing
	between "threads" 1500 "$(ask '.threads | length')" 1600
}

# A snapshot has the children that the profile beside it has.
stands_beside_children() {
	local parent

	bash -c "'$programs/chain' sleep 1000 20 & wait" > /dev/null &
	parent=$!
	until pid=$(pgrep -P "$parent" -x chain); do sleep 0.01; done
	at_end "kill $pid; wait $parent"
	"$ctprof" capture -q -p "$parent" --profile 300ms -o "$scratch/c.ctprof.zst"
	equal "processes of the snapshot" "$(zstd -dcq "$scratch/c.ctprof.zst" | jq -c '[.threads[].tgid] | sort')" \
		"$(jq -nc --args '[$ARGS.positional[] | tonumber] | sort' "$parent" "$pid")"
	has "stacks of the profile" "$("$ctprof" flame -q "$scratch/c.ctprof.zst.profile.raw" --format folded)" "chain_inner;chain_sleep;"
	"$ctprof" capture -q -p "$parent" -o "$scratch/c.ctprof.zst"
	equal "without a profile" "$(zstd -dcq "$scratch/c.ctprof.zst" | jq -c '[.threads[].tgid]')" "[$parent]"
}

# A profile beside a snapshot, and what differs between two.
stands_beside_snapshot() {
	"$programs/chain" sleep 1000 20 > /dev/null &
	pid=$!
	at_end "kill $pid; wait $pid"
	"$ctprof" capture -q -p "$pid" --profile 500ms -o "$scratch/a.ctprof.zst"
	"$ctprof" capture -q -p "$pid" --profile 500ms -o "$scratch/b.ctprof.zst"
	output=$("$ctprof" flame -q "$scratch/a.ctprof.zst.profile.raw" --format folded)
	has "its stacks" "$output" "chain_inner;chain_sleep;"
	output=$("$ctprof" compare "$scratch/a.ctprof.zst" "$scratch/b.ctprof.zst" --limit 1 2>&1)
	has "what compare offers" "$output" "flame --diff $scratch/a.ctprof.zst.profile.raw"
	"$ctprof" compare "$scratch/a.ctprof.zst" "$scratch/b.ctprof.zst" --limit 1 \
		--flame "$scratch/d.folded" > "$scratch/shown" 2>&1
	has "the difference" "$(< "$scratch/d.folded")" "chain_sleep"
}

cpus_select() {
	(($(nproc) > 1)) || skip "one CPU"
	take profile --mode both --cpu 0 --group-by cpu -- "$programs/ping_pong" 2 30000
	equal "CPUs of --cpu 0" "$(ask '[samples.cpu] | unique | join(" ")')" 0
	[ "$(ask '[samples | of("ping")] | length')" -gt 0 ]
	# One of the two pairs is elsewhere; its waits are seen and filtered.
	equal "pings" "$(ask '[samples | of("ping")] | group_by(.thread.tid) |
		map(select(([.[].count] | sum) > 1000)) | length')" 1
	[ "$(ask '.losses.filtered')" -gt 20000 ]
}

children_are_followed() {
	start bash -c 'echo ready; until [ -e "$0" ]; do sleep 0.05; done; exec -a x sleep 1000' "$scratch/never"
	take offcpu -p "$pid" -d 1s
	[ "$(ask '[.threads[] | select(.name == "sleep").tid] | unique | length')" -ge 3 ]
	names -p "bash sleep"
	# Their name does not matter, nor that of who made them.
	take offcpu --comm sleep -- bash -c 'sleep 0.1; sh -c "sleep 0.1; exit 0"'
	names --comm sleep
	equal "sleeps" "$(ask '[.threads[].tid] | unique | length')" 2
}

# Those that are there, as in a service that forks its workers before.
existing_children_are_included() {
	local service children

	start bash -c '"$0" first second & "$0" third & wait' "$programs/named"
	service=$pid
	until [ "$(wc -l < "$said")" -eq 2 ]; do
		sleep 0.01
	done
	children=$(grep -o '[0-9]*' "$said" | cat - "/proc/$service/task/$service/children" | xargs -n 1 | sort -n | paste -sd' ')
	take offcpu -p "$service" -d 300ms
	equal "processes" "$(ask '[.threads[].tid] | sort | join(" ")')" "$(echo "$service $children" | xargs -n 1 | sort -n | paste -sd' ')"
	equal "the target" "$(ask .meta.target)" "bash ($service) and 5 children"
	has "the heading" "$("$ctprof" offcpu -p "$service" -d 100ms)" "Off-CPU time of bash ($service) and 5 children: "
	# They waited from the beginning, in a system call that has a name.
	equal "children with a stack" "$(ask '[samples | select(.thread.tgid != $pid and (.stack | length) > 3).thread.tid] |
		unique | length' --argjson pid "$service")" 5
	take offcpu --no-children -p "$service" -d 300ms
	equal "threads of --no-children" "$(ask '[.threads[].tid] | join(" ")')" "$service"
	equal "the target of --no-children" "$(ask .meta.target)" "bash ($service)"
	take offcpu -t "$service" -d 300ms
	equal "threads of -t" "$(ask '[.threads[].tid] | join(" ")')" "$service"
	take offcpu --no-children -- bash -c 'sleep 0.1; true'
	equal "threads of a command" "$(ask '[.threads[].name] | join(" ")')" bash
	# These end with the service.
	kill $children
}

# Each child is a process that did not exist when the probe was attached, and calls twice as often as its parent.
children_come_by_probes() {
	local of_parent of_children

	start bash -c 'echo ready; while :; do umask; (umask; umask); sleep 0.05; done > /dev/null'
	output=$("$ctprof" profile -q -p "$pid" -e uprobe:c:umask -d 100ms -o "$scratch/probe.raw" 2>&1) || skip "$output"
	take profile -p "$pid" -e uprobe:c:umask -d 2s
	of_parent=$(ask '[samples | select(.thread.tid == $tid).count] | add // 0' --argjson tid "$pid")
	of_children=$(ask '[samples | select(.thread.tid != $tid).count] | add // 0' --argjson tid "$pid")
	between "calls of the parent" 6 "$of_parent" 200
	between "calls of its children" $((2 * of_parent - 4)) "$of_children" $((2 * of_parent + 4))
}

itself_is_left_out() {
	local ours option

	touch "$told"
	for option in "" --include-self; do
		# shellcheck disable=SC2086
		"$ctprof" offcpu -q -u $option -d 500ms -o "$profile" --format json &
		ours=$!
		wait $ours
		equal "our threads with '$option'" "$(ask '[.threads[] | select(.tgid == $tgid)] | length > 0' \
			--argjson tgid $ours)" "$([ -z "$option" ] && echo false || echo true)"
	done
}

# --- how long ---

lengths_select() {
	take offcpu -m 10ms -M 60s --comm chain -- "$programs/chain" sleep 10 20
	equal "waits of 20 ms" "$(ask '[samples | select(.class == "interruptible").count] | sum')" 10
	take offcpu -m 15s --comm chain -- "$programs/chain" sleep 10 20
	equal "waits of 15 s" "$(ask '[samples] | length')" 0
	has "what it says" "$(< "$warned")" "filtered out by --min-block-time"
	equal "filtered" "$(ask '.losses | .events - .filtered')" 0
	# A bare number is microseconds.
	take offcpu -M 15000 --comm chain -- "$programs/chain" sleep 10 20
	equal "waits of less than 15 ms" "$(ask '[samples | select(.class == "interruptible").count] | sum')" 0
	agrees "what was filtered" 'apart("ns"; .losses.filtered_ns; [.threads[] | off] | sum; 0.05; 1e7)'
}

# --- what is added ---

wakers_are_named() {
	take offcpu --wakers -- "$programs/waits" "$disk" 10 50 pipe sleep mixed hog-1
	agrees "the pipe" '([samples | of("pipe") | select(.class == "interruptible" and passes("pipe_read$"))]) as $all |
		([$all[] | select(.stack[-1] | test("^waker: helper ")).ns] | sum) as $right |
		apart("woken by its helper"; $right; [$all[].ns] | sum; 0.01; 0),
		($all[] | select(.ns > 1e8) | select((.stack | index("--") as $i | .[$i:] | any(test("pipe_write$"))) | not) |
			"\(.stack)")'
	agrees "the sleep" '[samples | of("sleep") | select(.class == "interruptible" and passes("nanosleep$"))] |
		([.[] | select(.stack[-1] == "[interrupt]").ns] | sum) as $right |
		apart("woken by interrupts"; $right; [.[].ns] | sum; 0.01; 0)'
}

# Also where the child of the process waits as long.
commands_keep_the_selection() {
	local parent child text

	start bash -c 'sleep 1000 & echo ready; wait'
	parent=$pid
	until child=$(pgrep -P "$parent" -x sleep); do sleep 0.01; done
	text=$("$ctprof" offcpu -p "$parent" --state timer,child -d 300ms 2> "$warned")
	has "the picture" "$text" "As a picture: ctprof offcpu -p $parent -d 10s --state timer,child -o offcpu.svg"
	has "the question" "$text" " bash ($parent) "
	has_not "commands of its child" "$(grep ctprof <<< "$text")" " $child "
	text=$("$ctprof" offcpu --comm 'sl*p' -d 300ms 2> "$warned")
	has "a pattern" "$text" "ctprof offcpu --comm 'sl*p' -d 10s -o offcpu.svg"
}

# Many are too short to be sampled: all count, and have ended.
short_processes_are_counted() {
	local row

	cp "$programs/chain" "$scratch/stormy"
	"$ctprof" profile -q -F 999 -- bash -c 'for i in {1..40}; do "$0" burn 5; done > /dev/null; :' \
		"$scratch/stormy" > "$scratch/text"
	row=$(grep -m 1 '^ stormy ' "$scratch/text")
	equal "processes and ended" "$(awk '{ print $2, $3 }' <<< "$row")" "40 40"
}

who_ran_instead_is_named() {
	take offcpu --preempted-by --comm 'hog-*' -- "$programs/waits" "$disk" 10 100 hog-1 hog-2
	agrees "who ran" '. as $p | .threads[] | . as $t | select(.ns.runnable > 1e8) |
		[$p.contenders[] | select($p.threads[.thread // 0].tid == $t.tid)] as $all |
		apart("\(.name)"; [$all[].ns] | sum; .ns.runnable; 0.02; 0),
		([$all[] | select(.name // "" | startswith("hog-")).ns] | sum) as $hogs |
		if $hogs == 0 then "\(.name): hogs ran for \($hogs) of \(.ns.runnable)" else empty end,
		([$all[] | select((.name // "") == "").ns] | sum) as $unknown |
		if $unknown > .ns.runnable / 20 then "\(.name): not known \($unknown) of \(.ns.runnable)" else empty end,
		($all[] | select(.tid == $t.tid) | "\($t.name) waited for itself")'
}

longest_is_first() {
	take offcpu --longest 5 --comm pipe -- "$programs/waits" "$disk" 1 700 pipe
	agrees "the longest" '. as $p | said($told)[0] as $line | .longest[0] as $first |
		($p | stacks)[$first.node] as $stack |
		apart("its length"; $first.ns; $line.known; 0.01; 0),
		(if $first.ns < 7e8 * 0.99 then "\($first.ns)" else empty end),
		(if $first.waker != "helper" then "\($first.waker) woke it" else empty end),
		(if $first.class != "interruptible" then $first.class else empty end),
		(if $stack | any(test("pipe_read$")) then empty else "\($stack)" end),
		($p.threads[$first.thread // 0] | if $first.begun_ns < .begun_ns or $first.begun_ns > .ended_ns
			then "it began when the thread was not there" else empty end)'
	take offcpu --longest 5 -- "$programs/waits" "$disk" 20 10 sleep futex pipe
	equal "blocks" "$(ask '.longest | length')" 5
	equal "in order" "$(ask '[.longest[].ns] | . == (sort | reverse)')" true
	# It is none shorter than what a thread waited on average, nor longer than all that its own waited.
	agrees "the first" '.longest[0] as $first | (.threads[$first.thread // 0].ns[$first.class]) as $all |
		(if $first.ns > $all then "\($first.ns) of \($all)" else empty end),
		(.threads[] | select(.counts.interruptible) | (.ns.interruptible / .counts.interruptible) as $mean |
			select($mean > $first.ns) | "\(.name) waited for \($mean), not \($first.ns)")'
}

distributions_are_right() {
	take offcpu --hist --comm chain -- "$programs/chain" sleep 30 20
	agrees "the slots" 'def begin($f): pow(2; $f) as $n | if . < $n then . else
			($n + . % $n) * pow(2; (. / $n | floor) - 1) end;
		. as $p | [.histograms[] | select(.class == "interruptible")][0] as $h |
		[range($h.slots | length) | { slot: $h.slots[.], count: $h.counts[.] }] as $slots |
		(([$slots[].count] | sum) as $count | if $count != 30 then "\($count) waits" else empty end),
		($slots[] | select((.slot + 1 | begin($h.frac_bits)) <= 2e7) | "a slot below 20 ms: \(.)"),
		apart("sum"; $h.sum; $p.threads[$h.thread // 0].ns.interruptible; 0; 0),
		(([$slots[] | select((.slot | begin($h.frac_bits)) <= 2.1e7).count] | sum) |
			if . < 15 then "\(.) waits are near 20 ms" else empty end)'
}

intervals_add_up() {
	rm -rf "$scratch/parts"
	mkdir "$scratch/parts"
	case "$*" in
	*--flush*) ;;
	*) set -- "$@" -o "$scratch/parts/part.json" ;;
	esac
	"$ctprof" offcpu -q --interval 150ms "$@" -- \
		"$programs/waits" "$disk" 4 250 pipe sleep mixed hog-1 > "$told"
	set -- "$scratch"/parts/*.json
	# On a busy host one may take longer than that. Who got the CPU unseen is waiting for it in one
	# part, and has had it, by the kernel's own count, in the next: the footer says how often. The last may
	# have nobody. Histograms, and who ran instead, have waits that are over; the last part may have others.
	[ $# -ge 3 ]
	jq -r -n -L tests/live --rawfile told "$told" --slurpfile all <(cat "$@") 'include "profile";
		def known: [$all[] | samples | select((.thread.name | IN("pipe", "sleep")) and .class == "interruptible") |
			select(passes("sys_poll$") | not)];
		([$all[].histograms[]? | select(.class == "runnable").sum] | sum) as $over |
		([$all[-1].threads[]?.ns.runnable] | sum) as $last |
		(said($told)[] | select(.kind | IN("pipe", "sleep")) | . as $line |
			apart(.kind; [known[] | select(.thread.tid == $line.tid).ns] | sum; .known; 0.01; 2e6)),
		($all | [.[].threads[]?] | group_by([.tid, .name])[] | select(all(.accounted)) | . as $parts |
			(map(.ended_ns - .begun_ns) | sum) as $wall |
			(map(.ended_ns) | max) - (map(.begun_ns) | min) | . as $life |
			apart("\($parts[0].name) by its parts"; [$parts[].ns[]] | sum; $life;
				if $all | any(.losses.missed) then 0.5 else 0.002 end; 0),
			apart("\($parts[0].name) without gaps"; $wall; $life; 0; 0)),
		(([$all[].threads[]? | off] | sum) as $exact |
			apart("samples"; [$all[] | samples.ns] | sum; $exact; 0.01; 0)),
		(if $all | all(.histograms == null) then empty else
			apart("histograms"; [$all[].histograms[]?.sum] | sum; [$all[] | samples.ns] | sum; 0.01; 0),
			apart("histograms of waits for a CPU"; $over; [$all[].threads[]?.ns.runnable] | sum;
				if $all | any(.losses.missed) then 0.5 else 0.01 end; $last) end),
		(if $all | all(.contenders == null) then empty else
			apart("who ran"; [$all[].contenders[]?.ns] | sum; $over; 0.01; 0) end),
		($all[] | ([.threads[]?.begun_ns] | min) as $begun | .longest[]? |
			select(.begun_ns + .ns + (.runnable_ns // 0) < $begun) | "a block before its interval: \(.)")' > "$scratch/differs"
	equal "what differs" "$(< "$scratch/differs")" ""
}

# --- in a directory ---

# flushed ARGUMENTS...: profiles of this shell, in $flushed.
flushed() {
	output=$("$ctprof" offcpu --flush "$flushed" --interval 50ms -p $$ --no-children "$@" 2>&1)
	echo "$output"
}

flush_names_and_keeps() {
	local file count total

	flushed=$scratch/flushed
	rm -rf "$flushed"
	flushed -d 1s
	set -- "$flushed"/*
	count=$#
	between "files" 5 "$count" 22
	has "what is said" "$output" "$count profiles written to $flushed ("
	for file; do
		[[ ${file##*/} =~ ^[0-9]{8}T[0-9]{6}\.[0-9]{3}Z\.pb\.gz$ ]]
	done
	equal "the mode" "$(stat -c %a "$flushed" "$1" | xargs)" "700 600"
	# Intervals follow each other, and this shell does nothing but to wait for its child.
	total=$("$ctprof" flame -q --format json "$@" | jq '[.samples.ns[]] | add / 1e6 | floor')
	between "ms in all of them" 700 "$total" 1500
	# Those of the run before are too old for the next, which goes on in the same directory.
	sleep 0.5
	flushed -d 1s --keep 500ms
	has "what is said" "$output" "removed by --keep"
	[ ! -e "$1" ]
	between "files" 2 "$(find "$flushed" -type f | wc -l)" 15
}

flush_spares_the_disk() {
	is_root
	flushed=$scratch/small
	mkdir -p "$flushed"
	mount -t tmpfs -o size=160k ctprof-test "$flushed" || skip "nothing can be mounted"
	at_end 'umount "$flushed"'
	fails 1 "$ctprof" offcpu --flush "$flushed" --interval 20ms -p $$ --no-children -d 2s
	echo "$output"
	equal "how often it is said" "$(grep -c 'disk stay free: No space left on device; going on' <<< "$output")" 1
	has summary "$output" "could not be written"
	between "percent that are free" 5 "$(df --output=avail,size -B1 "$flushed" | awk 'NR == 2 { print int(100 * $1 / $2) }')" 20
	flushed -d 1s --keep 1MiB
	has summary "$output" "removed by --keep"
	has_not summary "$output" "could not"
	"$ctprof" flame -q "$flushed"/* > "$scratch/flame.out"
}

# --- where ---

stacks_have_their_order() {
	local line

	"$ctprof" offcpu -q --format folded -o "$flame" -- "$programs/chain" sleep 10 20
	line=$(grep 'nanosleep' "$flame" | sort -t ' ' -k 2 -n | tail -n 1)
	has "the stack" "$line" \
		";main;chain_outer;chain_middle;chain_inlined_[i];chain_inner;chain_sleep;"
	has "the system call" "$line" ";__x64_sys_nanosleep_[k];hrtimer_nanosleep_[k];do_nanosleep_[k];"
	[[ ${line% *} == *";schedule_[k];__schedule_[k]" ]] || { echo "the leaf: $line"; return 1; }
	# Without the first, whose stack may be incomplete.
	between "its time" 140000000 "${line##* }" 2000000000
	! grep -E 'bpf|ctprof|trampoline|trace_event' "$flame"
	"$ctprof" offcpu -q --no-inline --format folded -o "$flame" -- "$programs/chain" sleep 10 20
	has "without inlined frames" "$(< "$flame")" ";main;chain_outer;chain_middle;chain_inner;chain_sleep;"
	"$ctprof" offcpu -q -s --no-inline --format folded -o "$flame" -- "$programs/chain" sleep 10 20
	[[ $(< "$flame") =~ \;chain_middle\+0x[0-9a-f]+\;chain_inner\+0x[0-9a-f]+\;chain_sleep\+0x[0-9a-f]+\; ]]
}

system_calls_are_named() {
	take offcpu -- "$programs/waits" "$disk" 3 50 sleep futex pipe vfork stop trace disk
	agrees "the kernel's part" '. as $p | { sleep: "clock_nanosleep$", futex: "futex_wait", pipe: "sys_read$", vfork: "sys_vfork$",
			stop: "do_signal_stop|get_signal", trace: "ptrace_stop|get_signal", disk: "sys_pread64$" } as $calls |
		$p | samples | .thread.name as $name | select($calls[$name] and .class != "runnable" and .ns > 1e8) |
		select(passes("sys_poll$") | not) | select(passes($calls[$name]) | not) | "\($name): \(.stack)"'
}

time_on_the_cpu() {
	take profile --mode both -F 997 -- "$programs/chain" burn 1500
	agrees "samples of a hog" '[samples | select(.class == "on-cpu").ns] | sum |
		apart("sum"; .; 1.5e9; 0.05; 0)'
	agrees "its exact time" '.threads | map(select(.name == "chain")) | [.[].ns["on-cpu"]] | sum |
		apart("on-cpu"; .; 1.5e9; 0.02; 0)'
	agrees "where" '[samples | select(.class == "on-cpu")] as $all |
		([$all[] | select(.stack | index("main") and index("burn_outer") and index("burn_inner")).ns] | sum) as $there |
		apart("below burn_inner"; $there; [$all[].ns] | sum; 0.05; 0)'
	take profile -F 997 -- "$programs/chain" burn 500
	equal "classes of --mode on" "$(ask '[samples.class] | unique | join(" ")')" on-cpu
}

# Names of its own functions, from main on, in the stacks of another tool.
stacks_are_those_of_perf() {
	local perf=$scratch/perf.data

	perf record -q -B -N -e cpu-clock -F 499 -g --call-graph fp -o "$perf" -- "$programs/chain" burn 1000 2> /dev/null ||
		skip "perf does not record"
	perf script -i "$perf" > /dev/null 2>&1 || skip "perf does not read what it recorded"
	perf script -i "$perf" -F comm,ip,sym 2> /dev/null |
		awk -v RS= -F '\n' '{ s = ""; for (i = 2; i <= NF; i++) { split($i, f, " "); if (f[2] ~ /^(main|burn_|chain_)/) s = ";" f[2] s } print s }' |
		sort | uniq -c | awk '$1 >= 5 { print $2 }' > "$scratch/theirs"
	[ -s "$scratch/theirs" ]
	take profile -F 499 -- "$programs/chain" burn 1000
	ask 'samples | select(.count >= 5) | .stack | select(.[0] != "[incomplete]") | map(select(test("^(main|burn_|chain_)"))) | map(";" + .) | join("")' |
		sort -u > "$scratch/ours"
	equal "what perf has and we have not" "$(comm -23 <(sort -u "$scratch/theirs") "$scratch/ours")" ""
	equal "what we have and perf has not" "$(comm -13 <(sort -u "$scratch/theirs") "$scratch/ours")" ""
}

# The same for a thread that sleeps, by debug information instead of frame pointers.
stacks_are_those_of_elfutils() {
	local theirs

	command -v eu-stack > /dev/null || skip "no eu-stack"
	start bash -c 'echo ready; exec "$@"' bash "$programs/chain" sleep 1000000 20
	until theirs=$(eu-stack -i -p "$pid" 2> /dev/null | grep -oE '(main|chain_[a-z]+)\b' | tac | uniq) &&
		[[ $theirs == *chain_sleep* ]]; do
		sleep 0.1
	done
	take offcpu -p "$pid" -d 300ms
	equal "the stack" "$(ask '[samples | select(passes("chain_sleep"))][0].stack[] |
		select(test("^(main$|chain_)"))')" "$theirs"
}

# --- commands and signals ---

status_is_passed_on() {
	fails 0 "$ctprof" offcpu -q -o "$profile" -- true
	fails 7 "$ctprof" offcpu -q -o "$profile" -- sh -c 'exit 7'
	fails 137 "$ctprof" offcpu -q -o "$profile" -- sh -c 'kill -9 $$'
	fails 127 "$ctprof" offcpu -q -o "$profile" -- "$scratch/nothing-there"
	has "what it says" "$output" "No such file"
	fails 126 "$ctprof" offcpu -q -o "$profile" -- /etc/passwd
	fails 125 "$ctprof" offcpu -q -o "$scratch/no/such/directory.json" -- true
	fails 125 "$ctprof" offcpu --state nothing -o "$profile" -- true
	fails 125 "$ctprof" offcpu --no-such-option -- true
	fails 125 full "$ctprof" offcpu -- true
	fails 7 full "$ctprof" offcpu -- sh -c 'exit 7'
}

# interrupted SIGNAL
interrupted() {
	local ours status=0

	start_sleep
	rm -f "$profile"
	env --default-signal="$1" "$ctprof" offcpu -p "$pid" --format json -o "$profile" 2> "$warned" &
	ours=$!
	# It waits for the end, once all is loaded.
	until grep -q poll "/proc/$ours/wchan"; do
		kill -0 "$ours"
		sleep 0.05
	done
	sleep 0.5
	[ ! -e "$profile" ]
	kill -"$1" "$ours"
	wait "$ours" || status=$?
	equal "its status" "$status" 0
	agrees "what there is" '.threads[0].ns.interruptible as $ns |
		(.threads[0] | .ended_ns - .begun_ns) as $all |
		if $ns < 1e8 then "\($ns)" else empty end, apart("sleep"; $ns; $all; 0.01; 0)'
}

nothing_before_the_command() {
	# What ctprof does between fork and exec is not the command.
	take offcpu -- "$programs/chain" sleep 1 50
	names "a command" chain
	equal "its records" "$(ask '.threads | length')" 1
}

# --- what is wrong ---

empty_says_why() {
	start_sleep
	take offcpu --comm 'no*such' -d 200ms
	has "no match" "$(< "$warned")" "no thread matched --comm 'no*such'"
	has_not "options that were not given" "$(< "$warned")" "-p"
	take offcpu -p "$pid" -k -d 200ms
	has "not a kernel thread" "$(< "$warned")" "-k excludes a process of -p"
	take offcpu -p "$pid" --state stopped -d 200ms
	has "not stopped" "$(< "$warned")" "the profile is empty"
	take profile -p "$pid" -d 200ms
	has "never ran" "$(< "$warned")" "no sample hit"
	take offcpu --state on-cpu -p "$pid" -d 200ms
	has "wrong mode" "$(< "$warned")" "--state on-cpu has no effect with --mode off"
	take offcpu -q --comm 'no*such' -d 200ms
	equal "what -q says" "$(< "$warned")" ""
}

bad_targets() {
	sleep 0 &
	wait $!
	fails 1 "$ctprof" offcpu -p $! -d 1s
	has "a dead process" "$output" "no process $!"
	fails 1 "$ctprof" offcpu -t 4194305 -d 1s
	has "a thread that cannot be" "$output" "no thread 4194305"
	fails 2 "$ctprof" offcpu -p x -d 1s
	fails 2 "$ctprof" offcpu -t 0 -d 1s
	fails 2 "$ctprof" offcpu --state interruptable -d 1s
	has "an unknown state" "$output" "did you mean 'interruptible'"
	fails 2 "$ctprof" offcpu --state nothing -d 1s
	has "another unknown state" "$output" "uninterruptible, io-wait, traced"
	fails 2 "$ctprof" offcpu --state 16 -d 1s
	has "an unknown bit" "$output" "64 (parked)"
	fails 2 "$ctprof" offcpu -u -k -d 1s
	fails 2 "$ctprof" offcpu -U -K -d 1s
	fails 2 "$ctprof" offcpu -m 2ms -M 1ms -d 1s
	fails 2 "$ctprof" offcpu --cpu 99999999 -d 1s
	fails 2 "$ctprof" offcpu sleep 1
	has "a command without --" "$output" "a command follows --"
}

# Who is measured runs after whom it would have run after.
keeps_its_priority() {
	take "$1" -- sh -c 'ps -L -o ni= -p $PPID | sort -u | tr -d " "'
	equal "nice values of its threads" "$(< "$told")" "$(nice)"
}

unknown_cpus_are_said() {
	local command

	unshare -m true || skip "unshare -m is refused"
	for command in profile offcpu; do
		fails 1 unshare -m bash -c 'mount --bind /dev/null /sys/devices/system/cpu/possible && exec "$@"' bash \
			"$ctprof" $command -q --duration 100ms
		has "the error of $command" "$output" "cannot read the list of possible CPUs"
	done
}

needs_capabilities() {
	local capability

	fails 1 "${as_nobody[@]}" "$ctprof" offcpu -d 1s
	for capability in CAP_BPF CAP_PERFMON CAP_SYSLOG CAP_SYS_PTRACE; do
		has "what is missing" "$output" $capability
	done
	fails 125 "${as_nobody[@]}" "$ctprof" offcpu -- true
	has "what is missing" "$output" CAP_BPF
}

run_case "offcpu: -p, -t and --comm" needs_profiles undisturbed wanted_threads_only
run_case "offcpu: -u and -k" needs_profiles user_and_kernel_threads
run_case "offcpu: -U, -K and --stack-depth" needs_profiles sides_of_stacks
run_case "offcpu: --cgroup" needs_profiles with_cgroup cgroups_select
run_case "offcpu: --cgroup includes threads that are moved into it" needs_profiles with_cgroup moved_threads_are_found offcpu
run_case "profile: --cgroup includes threads that are moved into it, without tracing switches" slow needs_profiles \
	with_cgroup moved_threads_are_found profile --mode on -F 499
run_case "offcpu: thousands of threads have records" slow needs_profiles alone many_threads_have_records
run_case "capture: --profile has the children of -p in both" needs_profiles stands_beside_children
run_case "capture: --profile, and compare --flame" needs_profiles stands_beside_snapshot
run_case "profile: --cpu" needs_profiles cpus_select
run_case "offcpu: children of targets" needs_profiles children_are_followed
run_case "offcpu: children that targets have" needs_profiles existing_children_are_included
run_case "profile: children of targets come by probes" needs_profiles children_come_by_probes
run_case "offcpu: --include-self" needs_profiles itself_is_left_out
run_case "offcpu: --min-block-time and --max-block-time" needs_profiles lengths_select
run_case "offcpu: --wakers" needs_profiles wakers_are_named
run_case "offcpu: the commands below keep the selection" needs_profiles commands_keep_the_selection
run_case "profile: short processes are counted" needs_profiles short_processes_are_counted
run_case "offcpu: --preempted-by" needs_profiles who_ran_instead_is_named
run_case "offcpu: --longest" needs_profiles longest_is_first
run_case "offcpu: --hist" needs_profiles distributions_are_right
run_case "offcpu: intervals add up" needs_profiles intervals_add_up
run_case "offcpu: intervals add up, with --wakers" needs_profiles intervals_add_up --wakers
run_case "offcpu: intervals add up, with --off-cpu-period" needs_profiles intervals_add_up --off-cpu-period 1ms
run_case "offcpu: intervals add up, with --hist, --longest and --preempted-by" needs_profiles \
	intervals_add_up --hist --longest 3 --preempted-by
run_case "offcpu: intervals add up, with --flush" needs_profiles intervals_add_up --flush "$scratch/parts" --format json
run_case "offcpu: --flush names files by time, and keeps the last" needs_profiles flush_names_and_keeps
run_case "offcpu: --flush leaves room on the disk" needs_profiles flush_spares_the_disk
run_case "offcpu: stacks have their order, and inlined functions" needs_profiles stacks_have_their_order
run_case "offcpu: stacks have their system call" needs_profiles system_calls_are_named
run_case "profile: samples are of the time on the CPU" needs_profiles undisturbed time_on_the_cpu
run_case "profile: stacks are those of perf" needs_profiles stacks_are_those_of_perf
run_case "offcpu: stacks are those of eu-stack" needs_profiles stacks_are_those_of_elfutils
run_case "offcpu: the status of a command" slow needs_profiles status_is_passed_on
run_case "offcpu: SIGINT keeps the collected profile" needs_profiles interrupted INT
run_case "offcpu: SIGTERM keeps the collected profile" needs_profiles interrupted TERM
run_case "offcpu: only the command" needs_profiles nothing_before_the_command
run_case "offcpu: an empty profile has a reason" slow needs_profiles empty_says_why
run_case "offcpu: bad targets" needs_profiles bad_targets
run_case "profile: it takes no CPU before others" needs_profiles keeps_its_priority profile
run_case "offcpu: it takes no CPU before others" needs_profiles keeps_its_priority offcpu
run_case "profile, offcpu: a host without a list of CPUs" needs_profiles unknown_cpus_are_said
run_case "offcpu: without privileges" needs_root needs_capabilities
