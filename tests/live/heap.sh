# SPDX-License-Identifier: BSD-2-Clause
#
# Counters of jemalloc, against what jemalloc itself says. Part of tests/live/run.

# "TID ALLOCATED DEALLOCATED" of all threads of $pid, of the last capture.
measured_heap() {
	query "threads | select(.tgid == $pid and (.has | index(\"allocated_bytes\")))
		| \"\(.tid) \(.allocated_bytes) \(.deallocated_bytes)\"" | sort
}

told_heap() {
	sed -n 's/^thread \([0-9]* [0-9]* [0-9]*\) .*/\1/p' "$said" | sort
}

# The threads of the program that was started last have what they say they have.
heap_agrees() {
	equal "what threads allocated and freed" "$(measured_heap)" "$(told_heap)"
	[ "$(told_heap | wc -l)" -ge 3 ]
}

heap_fails() {
	equal "what threads have measured" "$(measured_heap)" ""
	equal "dominant failure" "$(query .probe_summary.dominant_failure)" "$1"
}

can_trace() {
	[ "$(id -u)" -eq 0 ] || [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2> /dev/null || echo 0)" = 0 ] ||
		skip "ptrace is for ancestors only here"
}

can_trace_and() {
	can_trace
	"$@"
}

# Where nobody says where threads have their storage.
by_ptrace=(--source proc --allow-ptrace)

# On a busy host a thread that runs may not stop in time: it is asked again.
capture_traced() {
	local tries=0

	until capture -p "$pid" "${by_ptrace[@]}" && [ "$(query .probe_summary.dominant_failure)" != waitpid ] ||
		((++tries >= 10)); do
		sleep 0.1
	done
}

heap_of() {
	can_trace
	start "$@" 5
	capture_traced
	heap_agrees
	equal "what the probe says" "$(query '.probe_summary | "\(.jemalloc_detected) \(.probed_ok) \(.failed)"')" "1 5 0"
}

# By BPF: nobody is stopped, and the thread that spins is right too.
heap_without_stopping() {
	start "$1" 1100
	capture -p "$pid" --source bpf
	heap_agrees
	equal "what the probe says" "$(query '.probe_summary | "\(.jemalloc_detected) \(.probed_ok) \(.failed)"')" "1 1100 0"
}

stripped() {
	strip -o "$scratch/$1" "$programs/$1"
	echo "$scratch/$1"
}

heap_of_stripped() {
	heap_of "$(stripped "$1")"
}

heap_of_prefixed() {
	make -s "$programs/heap-prefixed" || skip "the source of jemalloc cannot be had, or built"
	"$@"
}

heap_of_preloaded() {
	start env LD_PRELOAD=libjemalloc.so.2 "$programs/heap" 5
	capture -p "$pid" "$@"
	heap_agrees
}

# heap_of_deleted HOW OPTIONS...
heap_of_deleted() {
	cp "$programs/heap-$1" "$scratch/two words (deleted)"
	start "$scratch/two words (deleted)" 3
	rm "$scratch/two words (deleted)"
	capture -p "$pid" "${@:2}"
	heap_agrees
}

# jail PROGRAM: a root of its own that nobody else sees, with the program and its libraries.
jail() {
	local jail=$scratch/jail

	mkdir -p "$jail"
	start unshare -m --propagation private bash -eu -c '
		mount -t tmpfs none "$1"
		mkdir -p "$1/with space"
		cp "$2" "$1/with space/heap"
		for library in $(ldd "$2" | grep -o "/[^ ]*"); do
			mkdir -p "$1$(dirname "$library")"
			cp "$library" "$1$library"
		done
		exec chroot "$1" "/with space/heap" 4' bash "$jail" "$1"
	[ ! -e "$jail/with space" ]
}

# heap_in_jail PROGRAM OPTIONS...
heap_in_jail() {
	is_root
	jail "$programs/$1"
	capture -p "$pid" "${@:2}"
	heap_agrees
}

# Files of two filesystems with the same number: the library is not taken for the program.
heap_of_same_number() {
	local one=$scratch/one two=$scratch/two library

	is_root
	library=$(ldd "$programs/heap-linked" | grep -o '/[^ ]*jemalloc[^ ]*')
	mkdir -p "$one" "$two"
	mount -t tmpfs none "$one"
	at_end "umount -l $one"
	mount -t tmpfs none "$two"
	at_end "umount -l $two"
	cp "$programs/heap" "$one/heap"
	cp "$library" "$two/library.so"
	[ "$(stat -c %i "$one/heap")" = "$(stat -c %i "$two/library.so")" ] || skip "their numbers differ here"
	start env LD_PRELOAD="$two/library.so" "$one/heap" 3
	capture -p "$pid" "$@"
	heap_agrees
}

# Without privileges only the path of a library leads to it, as the process sees it.
heap_as_nobody() {
	is_root
	chmod 711 "$scratch"
	cp "$programs/heap-linked" "$scratch/heap-linked"
	start "${as_nobody[@]}" "$scratch/heap-linked" 3
	"${as_nobody[@]}" "$ctprof" capture -o - -q -p "$pid" "${by_ptrace[@]}" > "$scratch/snapshot.zst"
	: > "$scratch/summary"
	load
	heap_agrees
}

# A program whose code tells nothing: the name of a function that jemalloc has is another.
tells_nothing() {
	strip -g -o "$scratch/silent" "$programs/heap-prefixed"
	sed -i 's/deallocatedp/deallocatedX/g' "$scratch/silent"
}

debug_file_tells() {
	can_trace
	tells_nothing
	start "$scratch/silent" 3
	capture_traced
	heap_fails no-field-offsets
	kill -9 "$pid"
	wait "$pid" || true

	objcopy --only-keep-debug "$programs/heap-prefixed" "$scratch/silent.debug"
	(cd "$scratch" && objcopy --remove-section .note.gnu.build-id --add-gnu-debuglink=silent.debug silent)
	mkdir "$scratch/.debug"
	mv "$scratch/silent.debug" "$scratch/.debug"
	start "$scratch/silent" 3
	capture_traced
	heap_agrees
	kill -9 "$pid"
	wait "$pid" || true

	# Another file of that name is not believed.
	echo >> "$scratch/.debug/silent.debug"
	start "$scratch/silent" 3
	capture_traced
	heap_fails no-field-offsets
}

# In the place that the build-id gives; the root of the process is where it is looked for.
build_id_tells() {
	local id

	is_root
	tells_nothing
	id=$(readelf -n "$scratch/silent" | sed -n 's/.*Build ID: //p')
	mkdir -p "$scratch/jail/usr/lib/debug/.build-id/${id:0:2}" "$scratch/jail/lib64"
	objcopy --only-keep-debug "$programs/heap-prefixed" "$scratch/jail/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
	cp "$scratch/silent" "$scratch/jail"
	for library in $(ldd "$scratch/silent" | grep -o "/[^ ]*"); do
		mkdir -p "$scratch/jail$(dirname "$library")"
		cp "$library" "$scratch/jail$library"
	done
	start chroot "$scratch/jail" /silent 3
	capture_traced
	heap_agrees
}

two_are_ambiguous() {
	can_trace
	start env LD_PRELOAD=libjemalloc.so.2 "$programs/heap-prefixed" 3
	capture_traced
	heap_fails ambiguous
}

nobody_is_traced_unasked() {
	start "$programs/heap-linked" 3
	capture -p "$pid" --source proc
	heap_fails no-thread-pointer
	equal "failures" "$(query .probe_summary.failed)" 3
	has "the reason" "$("$ctprof" show "$scratch/snapshot.zst" --metrics allocated_bytes)" "--allow-ptrace"
}

nobody_uses_it() {
	start_sleep
	capture_traced
	equal "what the probe says" "$(query '.probe_summary | "\(.tgids_walked) \(.jemalloc_detected) \(.failed) \(.dominant_failure)"')" \
		"1 0 0 null"
	has "the reason" "$("$ctprof" show "$scratch/snapshot.zst" --metrics allocated_bytes)" \
		"allocated_bytes (no process uses jemalloc"
}

# Of processes that are alike one is looked into, but these are not: one has a library more.
alike_but_for_jemalloc() {
	local before=()

	for ((i = 0; i < 3; i++)); do
		start_sleep
		before+=("$pid")
	done
	start_sleep env LD_PRELOAD=libjemalloc.so.2
	capture -p "$(IFS=,; echo "${before[*]},$pid")" --source bpf
	equal "what the probe says" "$(query '.probe_summary | "\(.tgids_walked) \(.jemalloc_detected) \(.probed_ok) \(.failed)"')" \
		"4 1 1 0"
	equal "who has it" "$(query 'threads | select(.has | index("allocated_bytes")) | .tgid')" "$pid"
}

states() {
	sed -n 's/^State:[[:space:]]*//p; s/^TracerPid:[[:space:]]*/tracer /p' /proc/"$pid"/task/*/status | xargs
}

# Within seconds: who was let go on, or has just spoken, is on its way to sleep for a moment.
states_become() {
	local tries=0

	until [ "$(states)" = "$1" ] || ((++tries >= 500)); do sleep 0.01; done
	equal "states" "$(states)" "$1"
}

# What slept sleeps, what ran runs, and what was stopped is.
all_go_on() {
	local before spinner

	can_trace
	start "$programs/heap-linked" 4
	spinner=$(sed -n 's/^thread \([0-9]*\) .*/\1/p' "$said" | tail -n 1)
	capture_traced
	heap_agrees
	states_become "S (sleeping) tracer 0 S (sleeping) tracer 0 S (sleeping) tracer 0 R (running) tracer 0"
	before=$(cut -d ' ' -f 1 "/proc/$pid/task/$spinner/schedstat")
	sleep 0.3
	[ "$(cut -d ' ' -f 1 "/proc/$pid/task/$spinner/schedstat")" -gt $((before + 10000000)) ]

	kill -STOP "$pid"
	states_become "T (stopped) tracer 0 T (stopped) tracer 0 T (stopped) tracer 0 T (stopped) tracer 0"
	capture_traced
	heap_agrees
	equal "states" "$(states)" "T (stopped) tracer 0 T (stopped) tracer 0 T (stopped) tracer 0 T (stopped) tracer 0"
	kill -CONT "$pid"
	until [[ $(states) == "S (sleeping) tracer 0 S "* ]]; do sleep 0.01; done
}

# A parent in vfork(2) cannot be stopped: it is given up, and goes on when its child ends.
who_cannot_stop_is_left() {
	local began

	can_trace
	start "$programs/heap-linked" 4 vfork
	until grep -q '^waiting' "$said"; do sleep 0.01; done
	until [[ $(states) == *"D (disk sleep)"* ]]; do sleep 0.01; done
	began=$(date +%s%N)
	capture -p "$pid" "${by_ptrace[@]}"
	[ $((($(date +%s%N) - began) / 1000000)) -ge 200 ]
	equal "dominant failure" "$(query .probe_summary.dominant_failure)" waitpid
	# On a host that is busy enough one that runs may not stop in time either.
	between "threads without" 1 "$(query .probe_summary.failed)" 2
	equal "all threads" "$(query '.probe_summary | .failed + .probed_ok')" 4
	until grep -q '^awake' "$said"; do sleep 0.01; done
	has_not "states" "$(states)" "t (tracing stop)"
	states_become "S (sleeping) tracer 0 S (sleeping) tracer 0 S (sleeping) tracer 0 R (running) tracer 0"
}

# start_hanging: in $hanging, a process whose counters nobody can read to the end.
start_hanging() {
	start "$programs/heap-linked" 4 hang || skip "no userfaultfd here"
	hanging=$pid
}

# The one behind it is read all the same.
a_hanging_process_is_left() {
	local status=0

	start_hanging
	start "$programs/heap-linked" 4
	fine=$pid fine_said=$said
	timeout 60 "$ctprof" capture -p "$fine,$hanging" --source bpf --timeout 1s -o "$scratch/snapshot.zst" \
		2> "$scratch/summary" || status=$?
	load
	equal "the status of a capture that is not whole" "$status" 1
	has "the summary" "$summary" "incomplete"
	equal "dominant failure" "$(query .probe_summary.dominant_failure)" timed-out
	pid=$hanging
	equal "what nobody could read" "$(measured_heap)" ""
	pid=$fine said=$fine_said
	heap_agrees
}

# The first one waits its time, those that follow do not; TERM ends it at any time.
a_hanging_process_is_left_by_a_recorder() {
	local recording=$scratch/hanging tries=0 recorder status=0

	start "$programs/heap-linked" 4
	fine=$pid fine_said=$said
	start_hanging
	"$ctprof" capture -q --source bpf --interval 200ms --timeout 1s -o "$recording" &
	recorder=$!
	at_end "kill -9 $recorder; wait $recorder"
	until [ -d "$recording" ] && (($(find "$recording" -name '*.zst' | wc -l) >= 4)); do
		((++tries < 1500))
		sleep 0.02
	done
	kill -TERM "$recorder"
	timeout 60 tail --pid="$recorder" -f /dev/null
	wait "$recorder" || status=$?
	zstd -qdcf "$(find "$recording" -name '*.zst' | sort | tail -n 1)" > "$json"
	equal "dominant failure" "$(query .probe_summary.dominant_failure)" timed-out
}

# The memory answers again when its process ends: so do readers.
a_recorder_gets_over_it() {
	local recording=$scratch/over tries=0 recorder

	start "$programs/heap-linked" 4
	fine=$pid fine_said=$said
	start_hanging
	"$ctprof" capture -q --source bpf -p "$fine,$hanging" --interval 200ms --timeout 1s -o "$recording" &
	recorder=$!
	at_end "kill -9 $recorder; wait $recorder"
	until [ -d "$recording" ] && (($(find "$recording" -name '*.zst' | wc -l) >= 3)); do
		((++tries < 1500))
		sleep 0.02
	done
	kill -9 "$hanging"
	pid=$fine said=$fine_said
	for ((tries = 0; tries < 200; tries++)); do
		zstd -qdcf "$(find "$recording" -name '*.zst' | sort | tail -n 1)" > "$json"
		[ -z "$(query '.probe_summary.dominant_failure // empty')" ] && break
		sleep 0.1
	done
	heap_agrees
}

for how in linked static static-pie; do
	run_case "heap: $how jemalloc" heap_of "$programs/heap-$how"
	run_case "heap: $how jemalloc, stripped" heap_of_stripped "heap-$how"
	run_case "heap: $how jemalloc, by BPF" needs_bpf heap_without_stopping "$programs/heap-$how"
done
run_case "heap: jemalloc with a prefix" heap_of_prefixed heap_of "$programs/heap-prefixed"
run_case "heap: jemalloc with a prefix, stripped" heap_of_prefixed heap_of_stripped heap-prefixed
run_case "heap: jemalloc with a prefix, by BPF" heap_of_prefixed needs_bpf heap_without_stopping "$programs/heap-prefixed"
run_case "heap: jemalloc preloaded" alone can_trace_and heap_of_preloaded "${by_ptrace[@]}"
run_case "heap: jemalloc preloaded, by BPF" needs_bpf heap_of_preloaded --source bpf
run_case "heap: a program that was deleted, with spaces in its name" alone can_trace_and heap_of_deleted static "${by_ptrace[@]}"
run_case "heap: the same, with jemalloc in a library" alone can_trace_and heap_of_deleted linked "${by_ptrace[@]}"
run_case "heap: a program that was deleted, by BPF" needs_bpf heap_of_deleted static --source bpf
run_case "heap: the same, with jemalloc in a library, by BPF" needs_bpf heap_of_deleted linked --source bpf
run_case "heap: in a private root" alone heap_in_jail heap-static "${by_ptrace[@]}"
run_case "heap: a library in such a root" alone heap_in_jail heap-linked "${by_ptrace[@]}"
run_case "heap: in a private root, by BPF" needs_bpf heap_in_jail heap-static --source bpf
run_case "heap: a library in such a root, by BPF" needs_bpf heap_in_jail heap-linked --source bpf
run_case "heap: a library with the number of the program" alone heap_of_same_number "${by_ptrace[@]}"
run_case "heap: without privileges" alone heap_as_nobody
run_case "heap: a debug file by its name" heap_of_prefixed debug_file_tells
run_case "heap: a debug file by the build-id, in the process's root" heap_of_prefixed build_id_tells
run_case "heap: two jemallocs are one too many" heap_of_prefixed two_are_ambiguous
run_case "heap: without --allow-ptrace no thread is traced" nobody_is_traced_unasked
run_case "heap: no process uses jemalloc" nobody_uses_it
run_case "heap: the same program without jemalloc and with it, by BPF" needs_bpf alike_but_for_jemalloc
run_case "heap: all go on after being traced" all_go_on
run_case "heap: a thread that cannot stop is skipped" alone who_cannot_stop_is_left
run_case "heap: a process that hangs is left alone" needs_bpf alone a_hanging_process_is_left
run_case "heap: a recorder leaves it alone, and ends on TERM" needs_bpf alone a_hanging_process_is_left_by_a_recorder
run_case "heap: a recorder gets over it when it is gone" needs_bpf alone a_recorder_gets_over_it
