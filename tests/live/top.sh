# SPDX-License-Identifier: BSD-2-Clause
#
# Thread states, of threads that do what is known (tests/programs/thread_states): few windows, which many
# cases look at. Part of tests/live/run.

. tests/top_truth.sh

waiting="pipe fifo fifo_opener parent socket unix_socket timer timerfd waitv poll_timer poll_timeout vfork epoll accept mutex priority_mutex
	rwlock semaphore flock stopped traced"
# Those whose wait is one, and has one state.
lasting="pipe fifo parent socket unix_socket vfork epoll accept mutex priority_mutex cond_pool stopped traced"

# Wherever the build is: its waits are as they come.
states_disk=$disks/states
head -c 16M /dev/zero > "$states_disk"
sync "$states_disk"

needs_top() {
	is_root
	[ -e "$scratch/top.works" ] ||
		output=$("$ctprof" top --batch -n 1 -i 50ms --format json -p $$ 2>&1 > /dev/null) || skip "$output"
	touch "$scratch/top.works"
	"$@"
}

# window OF LENGTH NAMES OPTIONS...: one of these, which the first case that wants it takes. OF is a word for it.
window() {
	local all=$scratch/top.$1

	if [ ! -e "$all" ]; then
		rm -rf "$scratch"/{top,top_lines,said} "$all.new"
		mkdir "$all.new"
		start env STATES_FILE="$states_disk" "$programs/states" $3
		"$ctprof" top --batch -n 1 -i "$2" --format json -p "$ready" "${@:4}" > "$scratch/top" 2> "$scratch/warned" ||
			{ cat "$scratch/warned"; return 1; }
		read_top
		# Who knows by itself what it did knows the end of the window, too.
		sleep 0.3
		kill "$pid"
		wait "$pid"
		mv "$scratch/top" "$scratch/top_lines" "$all.new"
		mv "$said" "$all.new/said"
		mv "$all.new" "$all"
	fi
	ln -sf "$all"/* "$scratch"
}

waits() {
	window waits 5s "$waiting cond_pool kernel_mutex kernel_rwsem disk"
	"$@"
}

cpus() {
	window cpus 5s "spin syscalls pair starved"
	"$@"
}

processes() {
	window processes 3s "stopped short births" --by process
	"$@"
}

# Each once, whatever else there is.
many_are_there() {
	window many 1s many
	states_hold many
	sums_hold
	equal "threads" "$(grep -c '^many ' "$scratch/said")" 10000
}

# This one has nothing to do but for start kernel threads.
workers_wait_for_work() {
	"$ctprof" top --batch -n 1 -i 1s --format json -f 'thread:kthreadd' > "$scratch/top.kthreadd"
	equal "its states" "$(jq -r 'select(.tid == 2) | .in_progress.state,
		.states.idle == .states.idle_worker, .states.idle > .window_ns * 9 / 10' "$scratch/top.kthreadd" | tr '\n' ' ')" \
		"idle_worker true true "
}

lives_are_short() {
	processes process_holds short 3
}

# However many a second: what they had of the CPU until their very end.
births_lose_nothing() {
	processes process_holds births 2
}

window_is_its_length() {
	waits sums_hold
	between "the window, in ms" 5000 \
		"$(awk '$3 == "window" { print int($4 / 1000000) }' "$scratch/top_lines" | sort -n | tail -n 1)" 20000
	equal "windows" "$(jq .window "$scratch/top" | sort -u | wc -l)" 1
}

# As another user, and as another program.
identities_follow() {
	start bash -c 'echo ready; sleep 1; exec setpriv --reuid 65534 --regid 65534 --clear-groups sleep 1000'
	"$ctprof" top --batch -n 3 -i 1s --format json -p "$pid" > "$scratch/top.who"
	equal "who it is in the end" \
		"$(jq -r 'select(.window == 2) | "\(.comm) \(.process) \(.uid)"' "$scratch/top.who")" "sleep sleep 65534"
}

# Numbers of another namespace mean nothing, and neither do its dead.
namespaces_are_apart() {
	start_sleep
	unshare -pf --mount-proc "$ctprof" top --batch -n 2 -i 500ms --format json > "$scratch/top.inside"
	equal "threads" "$(jq -r '"\(.tid) \(.comm)"' "$scratch/top.inside" | sort -u)" "1 ctprof"
}

# What the screen does with one that is looked at.
one_thread_is_profiled() {
	local tid

	start "$programs/states" mutex
	tid=$(awk '$1 == "mutex" { print $2 }' "$said")
	"$ctprof" offcpu --tid "$tid" -d 1s --format folded > "$scratch/folded"
	grep -q 'start_thread;.*pthread_mutex_lock' "$scratch/folded" || { cat "$scratch/folded"; return 1; }
}

# Who was stopped goes on by the clock: one long window, and none of nothing. Twice, for the second time must find
# the same clock.
late_windows_stay_on_the_grid() {
	local top lengths

	start "$programs/states" pipe
	"$ctprof" top --batch -n 14 -i 200ms --format json -p "$ready" > "$scratch/top.late" &
	top=$!
	at_end "kill -9 $top; wait $top"
	for length in 1.1 0.93; do
		sleep 0.7
		kill -STOP "$top"
		sleep "$length"
		kill -CONT "$top"
	done
	wait "$top"
	lengths=$(jq -s 'group_by(.window) | map(map(.window_ns) | max / 1000000 | floor) | sort | .[]' "$scratch/top.late")
	equal "windows" "$(wc -l <<< "$lengths")" 14
	between "the shortest, in ms" 80 "$(head -n 1 <<< "$lengths")" 10000
	between "the longest, in ms" 900 "$(tail -n 1 <<< "$lengths")" 10000
}

# Unless the kernel counts them, delays of storage and swap are not zero, but not known.
uncounted_delays_are_null() {
	local counted wanted=null

	is_root
	counted=$(cat /proc/sys/kernel/task_delayacct 2> /dev/null || echo 0)
	[ "$counted" = 1 ] && wanted=number
	"$ctprof" top --batch -n 1 -i 200ms -e taskstats --format json -p $$ > "$scratch/top.delays"
	equal "what paging is" "$(jq -r '.states.paging | type' "$scratch/top.delays" | sort -u)" $wanted
	equal "what sleep_disk is" "$(jq -r '.states.sleep_disk | type' "$scratch/top.delays" | sort -u)" $wanted
	equal "what exec is" "$(jq -r '.states.exec | type' "$scratch/top.delays" | sort -u)" number
	"$ctprof" top --batch -n 1 -i 200ms -e taskstats --format csv -p $$ > "$scratch/top.delays"
	equal "numbers of CSV" "$(cut -d, -f "$(head -n 1 "$scratch/top.delays" | tr , '\n' | grep -n '^paging_ns$' |
		cut -d: -f 1)" "$scratch/top.delays" | tail -n +2 | grep -c '[0-9]' || true)" \
		$([ $wanted = null ] && echo 0 || tail -n +2 "$scratch/top.delays" | wc -l)
}

# Nothing is read by the thread that takes keys: of CPU time, which other programs do not lengthen as they do
# waiting, it has less than the one beside, and little for each key.
keys_are_answered_beside_reading() {
	local first others per_key

	start "$programs/states" many
	"$programs/key_answer" 3 30 "$ctprof" top -e exact > "$scratch/top.keys"
	cat "$scratch/top.keys"
	read -r _ first others < <(grep '^cpu ' "$scratch/top.keys")
	read -r _ per_key < <(grep '^per_key ' "$scratch/top.keys")
	between "CPU time of the thread that takes keys, in ns" 1 "$first" $((others - 1))
	between "its CPU time for a key, in us" 1 "$per_key" 49999
	grep -q '^answers 30 ' "$scratch/top.keys"
}

# The same threads, however its path is written.
cgroups_end_in_slashes_too() {
	local path tids

	is_root
	path=$(sed -n 's/^0:://p' /proc/self/cgroup)
	start_sleep
	for path in "$path" "$path/"; do
		"$ctprof" top --batch -n 1 -i 200ms --cgroup "$path" --format json > "$scratch/top.cgroup"
		tids=$(jq -r .tid "$scratch/top.cgroup")
		grep -qx "$pid" <<< "$tids" || { echo "$pid is not in $path"; return 1; }
	done
}

for state in $waiting cond_pool disk; do
	run_case "top: $state is in its state all the time" needs_top undisturbed waits states_hold $state
done
run_case "top: a thread of the kernel without work is an idle worker" needs_top undisturbed workers_wait_for_work
run_case "top: states of a waiting thread add up to the window" needs_top alone window_is_its_length
run_case "top: waits in progress are shown, with their duration" needs_top alone waits waits_last $lasting
run_case "top: a mutex of the kernel is waited for by one of two" needs_top undisturbed waits kernel_lock_is_shared kernel_mutex
run_case "top: so is a semaphore of a file" needs_top undisturbed waits kernel_lock_is_shared kernel_rwsem
run_case "top: 10,000 threads that sleep are all there" needs_top alone many_are_there
run_case "top: CPU time and waits for a CPU are those of the busy threads" needs_top undisturbed cpus states_hold spin syscalls hog
run_case "top: of two on one CPU one is runnable" needs_top undisturbed cpus pair_shares
run_case "top: a starved thread is runnable, in the first window" needs_top undisturbed cpus states_hold starved
run_case "top: code of its own" needs_top alone cpus code_is_told spin exec_user exec_system
run_case "top: code of the kernel" needs_top alone cpus code_is_told syscalls exec_system exec_user
run_case "top: states of a running thread add up to the window" needs_top alone cpus sums_hold
run_case "top: threads of 5 ms are in the times of their process" needs_top undisturbed lives_are_short
run_case "top: 5,000 births a second lose no CPU time" needs_top undisturbed births_lose_nothing
run_case "top: a thread that changes its user and program is shown with these" needs_top identities_follow
run_case "top: keys are answered by a thread that reads nothing" needs_top alone keys_are_answered_beside_reading
run_case "top: delays are unknown without delay accounting" uncounted_delays_are_null
run_case "top: a cgroup may have a slash at its end" needs_top cgroups_end_in_slashes_too
run_case "top: of a namespace only its own" needs_top namespaces_are_apart
run_case "top: a thread that is looked at has its whole stack" needs_top one_thread_is_profiled
run_case "top: after being stopped, windows stay on the grid, and none is empty" needs_top late_windows_stay_on_the_grid
