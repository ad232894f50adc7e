# SPDX-License-Identifier: BSD-2-Clause
#
# What ctprof top --inspect says a thread waits for, of threads that wait for a known one
# (tests/programs/lock_waits.c). Part of tests/live/run.

inspect_needs_top() {
	is_root
	output=$("$ctprof" top --batch -n 1 -i 50ms --format json -p $$ 2>&1 > /dev/null) || skip "$output"
	"$@"
}

# plant KIND [FILE]: $holder and $waiter.
plant() {
	start "$programs/lock_waits" "$@"
	read -r holder waiter <<< "$ready"
}

# answer OPTIONS...: of the waiter, as JSON in $json.
answer() {
	"$ctprof" top --tid "$waiter" --inspect "$waiter" -i 200ms --format json "$@" > "$json" || return 1
	sentence=$(jq -r .answer "$json")
}

# says PATTERN: the sentence is like that, as an extended regular expression, and as a whole.
says() {
	grep -qxE -- "$1" <<< "$sentence" || { printf '%s\nis not like\n%s\n' "$sentence" "$1"; return 1; }
}

# holder_is_named KIND WORDS
holder_is_named() {
	plant "$1" "$scratch/lock.$1"
	answer
	says "$2 held by holder \($holder\), which is sleeping for a time \(clock_nanosleep\)"
	equal "the chain" "$(jq -c '[.chain[].tid]' "$json")" "[$waiter,$holder]"
	equal "a deadlock" "$(jq .deadlock "$json")" false
}

# A thread waits for a locked file, another one at a pipe: JSON has both waits.
second_waits_are_in_json() {
	command -v python3 > /dev/null || skip "there is no python3"
	start python3 -c 'import fcntl, os, sys, threading
def lock():
    file = open(sys.argv[1], "w")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file
kept, pipe = lock(), os.pipe()
for work in lock, lambda: os.read(pipe[0], 1):
    threading.Thread(target=work, daemon=True).start()
print("ready", flush=True)
threading.Event().wait()' "$scratch/lock.python"
	"$ctprof" top --inspect "$pid" -i 200ms --format json > "$json"
	equal "both" "$(jq -c '[.state, .chain[0].waits, .chain[1].tid, .also.state, .also.chain[0].waits, .also.chain[0].object]' "$json")" \
		"[\"lock\",\"file_lock\",$pid,\"sleep_pipe\",\"call\",\"a pipe from python3 ($pid)\"]"
}

# The holder waits for memory that does not come, within write(2): the file is locked in the kernel.
locks_of_the_kernel_are_named() {
	grep -q 'blocker' <(bpftool btf dump file /sys/kernel/btf/vmlinux 2> /dev/null) || skip "this kernel does not note locks"
	plant file "$scratch/lock.file"
	answer
	says "(100|99) % in write of $scratch/lock.file, waiting for a read-write lock of the kernel held by holder \($holder\), $(
		)which is in write of $scratch/lock.file"
	equal "what it waits for" "$(jq -r '.chain[0].waits' "$json")" kernel_lock
}

# One of several glances sees it: the lock is free for moments, and other programs run.
locks_of_memory_are_named() {
	local try

	plant memory
	for ((try = 0; try < 20; try++)); do
		answer
		! says ".* in m(un)?map, waiting for the kernel's lock of its memory \(mmap_lock\) held by holder \($holder\), .*" > /dev/null ||
			return 0
	done
	says "the holder of mmap_lock"
}

what_the_holder_does_is_named() {
	plant fifo "$scratch/fifo"
	answer
	says "(100|99) % waiting for lock 0x[0-9a-f]+ held by holder \($holder\), which is in read of $scratch/fifo"
}

joins_are_named() {
	plant join
	answer
	says "(100|99) % waiting for the end of thread holder \($holder\), which is sleeping for a time .*"
}

circles_are_deadlocks() {
	plant deadlock
	answer
	says ".* held by holder \($holder\), .* held by waiter \($waiter\); deadlock: waiter \($waiter\) -> holder \($holder\) -> waiter \($waiter\)"
	equal "a deadlock" "$(jq .deadlock "$json")" true
	plant self
	answer
	says ".* held by waiter \($waiter\); deadlock: waiter \($waiter\) -> waiter \($waiter\)"
}

no_thread_is_no_holder() {
	plant garbage
	answer
	says "(100|99) % waiting for lock 0x[0-9a-f]+, whose holder is not recorded in it"
}

other_ends_are_named() {
	plant pipe
	answer
	says "(100|99) % in read at a pipe from holder \($holder\)"
	plant tcp
	answer
	says "(100|99) % in read at a socket to 127\.0\.0\.1:[0-9]+ of holder \($holder\)"
	"$ctprof" top --tid "$waiter" --inspect "$waiter" -i 100ms > "$scratch/page"
	grep -qE '^\* +[0-9]+  rw +-  tcp 127\.0\.0\.1:[0-9]+ to 127\.0\.0\.1:[0-9]+$' "$scratch/page" || { cat "$scratch/page"; return 1; }
	plant unix
	answer
	says "(100|99) % in read at a Unix socket to holder \($holder\)"
}

# Numbers of threads in the memory of a container are its own.
containers_have_their_own_numbers() {
	start unshare -pf --kill-child --mount-proc "$programs/lock_waits" mutex
	waiter=$({ grep -lx waiter /proc/[0-9]*/task/*/comm 2> /dev/null || true; } | while IFS=/ read -r _ _ process _ tid _; do
		[ "$(awk '/^PPid/ { print $2 }' "/proc/$process/status" 2> /dev/null)" != "$pid" ] || echo "$tid"
	done)
	answer
	says "(100|99) % waiting for lock 0x[0-9a-f]+ held by holder \([0-9]+\), which is sleeping for a time .*"
	equal "whose it is" "$(awk '/^PPid/ { print $2 }' "/proc/$(jq '.chain[1].tgid' "$json")/status")" "$pid"
}

# A process with a thread that waits for a lock all the time, and the page as people see it.
pages_begin_with_the_answer() {
	plant mutex
	"$ctprof" top --inspect "$pid" -i 200ms > "$scratch/page"
	sentence=$(head -n 1 "$scratch/page")
	says "[0-9]+ % of the time of 3 threads waiting for a lock of its program: 1 now waiting for lock 0x[0-9a-f]+ held by $(
		)holder \($holder\), which is sleeping for a time \(clock_nanosleep\); also [0-9]+ % sleeping for a time"
	grep -q '^## Threads, in percent' "$scratch/page"
	grep -q 'pthread_mutex_lock' "$scratch/page"
	equal "groups of it" "$("$ctprof" top --by cgroup --inspect "$pid" -i 100ms --format json | jq -r .by)" cgroup
}

# A signal in a window of ten minutes: what there is comes at once.
signals_end_windows() {
	plant mutex
	"$ctprof" top --tid "$waiter" --inspect "$waiter" -i 600s > "$scratch/page" &
	at_end "kill -KILL $!"
	# Once the first reading was made, the profile runs beside.
	until grep -q '^prog_id:' "/proc/$!/fdinfo/"* 2> /dev/null; do sleep 0.1; done
	sleep 1
	kill -TERM $!
	wait $!
	sentence=$(head -n 1 "$scratch/page")
	says "(100|99) % waiting for lock 0x[0-9a-f]+ held by holder \($holder\), which is sleeping for a time .*"
}

# Of a process that no BPF program sees, files tell: status 0 would say that it does nothing.
hidden_processes_are_named() {
	local line="process 1 is alive, but this kernel shows none of its threads to BPF programs; try: ctprof top --engine procfs 1"

	"$ctprof" top --batch -n 1 -i 100ms --format csv > "$scratch/threads"
	cut -d, -f5 "$scratch/threads" | grep -qx 1 && skip "this kernel hides no process 1"
	fails 1 "$ctprof" top --inspect 1 -i 100ms
	equal "top --inspect" "$output" "ctprof: $line"
	fails 1 "$ctprof" top --batch -n 1 -i 100ms -p 1
	equal "top --batch" "$output" "ctprof: $line"
	fails 1 "$ctprof" offcpu -p 1 --no-children -d 10s
	equal "offcpu" "$output" "ctprof: $line"
	"$ctprof" top --engine procfs --batch -n 1 -i 100ms --format csv -p 1 | cut -d, -f5 | grep -qx 1
}

run_case "top: processes that BPF programs do not see are named" inspect_needs_top hidden_processes_are_named
# A cgroup of whichever version has the controller.
quotas_are_named() {
	local cpu=/sys/fs/cgroup group

	[ -e $cpu/cpu/cpu.cfs_quota_us ] || [ ! -d $cpu/cpu ] || skip "the root of the cpu controller has no files"
	[ ! -d $cpu/cpu ] || cpu=$cpu/cpu
	group=$cpu/ctprof-test-$$
	mkdir "$group" || skip "no cgroup can be made"
	start "$programs/states" spin
	# Endings run in reverse: the directory goes when nothing is in it.
	at_end "echo $pid > $cpu/cgroup.procs; rmdir $group"
	if [ -e "$group/cpu.cfs_quota_us" ]; then
		echo 20000 > "$group/cpu.cfs_quota_us"
	else
		echo "20000 100000" > "$group/cpu.max" || skip "the cpu controller is not enabled"
	fi
	echo "$pid" > "$group/cgroup.procs"
	"$ctprof" top --inspect "$pid" -i 1s --format json > "$json"
	sentence=$(jq -r .answer "$json")
	equal "its limit" "$(jq -c .limits.quota "$json")" "{\"cgroup\":\"/ctprof-test-$$\",\"cpus\":0.2}"
	says ".* waiting for a CPU.*; cgroup /ctprof-test-$$ ran out of its quota \((cpu\.max|cpu\.cfs_quota_us): 0\.20 CPUs\) in [0-9]+ of [0-9]+ periods, for [0-9.]+m?s in all on its CPUs"
	"$ctprof" offcpu -p "$pid" -d 1s > "$scratch/text" 2>&1
	grep -qE "^CPU wait: cgroup /ctprof-test-$$ ran out of its quota \(0\.20 CPUs\) in [0-9]+ of [0-9]+ periods$" "$scratch/text"
	"$ctprof" offcpu -d 1s > "$scratch/text" 2>&1
	grep -qE "^CPU wait: [0-9]+ %( or more)? of [0-9.]+m?s in cgroup /ctprof-test-$$ was for its quota \(0\.20 CPUs\), which ran out in [0-9]+ of [0-9]+ periods$" "$scratch/text"
}

# Policy, nice and CPUs, as the tools that set them say.
limits_are_in_json() {
	start_sleep
	taskset -p 1 "$pid" > /dev/null
	renice -n 5 -p "$pid" > /dev/null
	chrt -b -p 0 "$pid"
	"$ctprof" top --inspect "$pid" -i 100ms --format json > "$json"
	equal "its limits" "$(jq -c '.limits | [.policy, .priority, .nice, .cpus.allowed, .cpus.count, .cpus.online]' "$json")" \
		"[\"SCHED_BATCH\",0,5,\"0\",1,$(getconf _NPROCESSORS_ONLN)]"
}

run_case "top: a signal ends the window of an inspection" inspect_needs_top signals_end_windows
run_case "top: the holder of a mutex is named" inspect_needs_top holder_is_named mutex '(100|99) % waiting for lock 0x[0-9a-f]+'
run_case "top: the holder of a recursive mutex is named" inspect_needs_top holder_is_named recursive '(100|99) % waiting for lock 0x[0-9a-f]+'
run_case "top: the holder of a robust mutex is named" inspect_needs_top holder_is_named robust '(100|99) % waiting for lock 0x[0-9a-f]+'
run_case "top: the holder of a priority-inheriting mutex is named" inspect_needs_top holder_is_named pi '(100|99) % waiting for lock 0x[0-9a-f]+'
run_case "top: the writer that keeps a writer out is named" inspect_needs_top holder_is_named write_write '(100|99) % waiting for read-write lock 0x[0-9a-f]+'
run_case "top: the writer that keeps a reader out is named" inspect_needs_top holder_is_named write_read '(100|99) % waiting for read-write lock 0x[0-9a-f]+'
run_case "top: the holder of a lock in shared memory is named" inspect_needs_top holder_is_named shared '(100|99) % waiting for lock 0x[0-9a-f]+'
run_case "top: the holder of a file's lock is named" inspect_needs_top holder_is_named flock '(100|99) % waiting for a lock of file [^ ]*/lock\.flock'
run_case "top: the thread that has a file locked in the kernel is named" inspect_needs_top locks_of_the_kernel_are_named
run_case "top: the thread that holds the lock of memory is named" inspect_needs_top locks_of_memory_are_named
run_case "top: what the holder of a lock waits for is named" inspect_needs_top what_the_holder_does_is_named
run_case "top: the thread that is joined is named" inspect_needs_top joins_are_named
run_case "top: the second wait of a process is in JSON" inspect_needs_top second_waits_are_in_json
run_case "top: a circle of waits is a deadlock" inspect_needs_top circles_are_deadlocks
run_case "top: a number that is no thread holds no lock" inspect_needs_top no_thread_is_no_holder
run_case "top: the other ends of pipes and sockets are named" inspect_needs_top other_ends_are_named
run_case "top: holders in containers are named" inspect_needs_top containers_have_their_own_numbers
run_case "top: a page begins with what a process waits for" inspect_needs_top pages_begin_with_the_answer
# By the name of its process, which no other has; and by one that several have.
names_are_found() {
	cp /bin/sleep "$scratch/a-lone-sleeper-of-all"
	start bash -c 'echo ready; exec "$1" 1000' bash "$scratch/a-lone-sleeper-of-all"
	until [ "$(< "/proc/$pid/comm")" = a-lone-sleeper- ]; do sleep 0.01; done
	equal "its number" "$("$ctprof" top --inspect a-lone-sleeper-of-all -i 100ms --format json | jq .tgid)" "$pid"
	equal "the short name" "$("$ctprof" top --inspect a-lone-sleeper- -i 100ms --format json | jq .tgid)" "$pid"
	first=$pid
	start bash -c 'echo ready; exec "$1" 1000' bash "$scratch/a-lone-sleeper-of-all"
	until [ "$(< "/proc/$pid/comm")" = a-lone-sleeper- ]; do sleep 0.01; done
	fails 1 "$ctprof" top --inspect a-lone-sleeper- -i 100ms
	equal "the error" "$output" "ctprof: 2 processes are named a-lone-sleeper-: $(printf '%s\n' "$first" "$pid" | sort -n | paste -sd, | sed 's/,/, /')"
	fails 1 "$ctprof" top --inspect no-such-name -i 100ms
	equal "the error" "$output" "ctprof: no process is named no-such-name"
	fails 2 "$ctprof" top --inspect no-such-name --replay /nonexistent
	has "the error" "$output" "--inspect of a replay takes a number, not a name"
}

# Two programs want one CPU, while the others are mostly idle.
pinning_is_named() {
	local cpu=$(($(nproc --all) - 1))

	((cpu > 0)) || skip "one CPU"
	taskset -c $cpu true || skip "CPU $cpu may not be used"
	start taskset -c $cpu bash -c 'echo ready; while :; do :; done'
	start taskset -c $cpu nice -n 5 bash -c 'echo ready; while :; do :; done'
	"$ctprof" top --inspect "$pid" -i 2s > "$scratch/page"
	sentence=$(head -n 1 "$scratch/page")
	says "[0-9]+ % waiting for CPU $cpu, to which it is pinned(; also .*)?; .* ran there for [0-9]+ % of its waits for a CPU; $(
		)its nice value is 5, that of bash 0; the other ([0-9]+ CPUs were|CPU was) idle for [0-9]+ % of the time"
}

run_case "top: a process is inspected by its name" inspect_needs_top names_are_found
run_case "top: the CPU that a thread is pinned to is named" inspect_needs_top undisturbed pinning_is_named
run_case "top: the quota that keeps a thread from a CPU is named" inspect_needs_top quotas_are_named
run_case "top: what limits a thread on CPUs is in JSON" inspect_needs_top limits_are_in_json
