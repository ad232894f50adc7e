# SPDX-License-Identifier: BSD-2-Clause
#
# ctprof top of a user without privileges, who sees what files of /proc tell. Part of tests/live/run.

cp "$programs/states" "$programs/lock_waits" "$scratch"
: > "$scratch/states.file"
chmod 666 "$scratch/states.file"

# start_as_nobody STATES: threads of known behaviour, of the user who looks at them.
start_as_nobody() {
	is_root
	start "${as_nobody[@]}" env STATES_FILE="$scratch/states.file" "$scratch/states" "$@"
}

# share NAME STATE: in percent of the last window, of the thread of that name.
share() {
	jq -sr --arg name "$1" --arg state "$2" 'last(.[] | select(.comm == $name)) |
		100 * (.states[$state] // 0) / .window_ns | floor' "$scratch/top.nobody"
}

# Threads that only wait have one state, which their system call tells.
waits_are_told() {
	local row

	start_as_nobody mutex pipe epoll accept socket cond_pool stopped
	"${as_nobody[@]}" "$ctprof" top --batch -n 2 -i 500ms --format json -p "$ready" > "$scratch/top.nobody" 2> "$scratch/warned"
	grep -qx 'ctprof: using engine procfs: .*' "$scratch/warned"
	for row in mutex:lock_futex pipe:sleep_pipe epoll:idle_poll accept:idle_accept socket:sleep_network \
		cond_pool:idle_cond; do
		between "$row" 99 "$(share "${row%:*}" "${row#*:}")" 100
	done
}

# A thread that gets no CPU waits for one in each window, not only when the wait ends.
waits_for_a_cpu_are_told() {
	start_as_nobody spin starved
	"${as_nobody[@]}" "$ctprof" top --batch -n 2 -i 1s --format json -p "$ready" > "$scratch/top.nobody" 2> "$scratch/warned"
	between "starved" 90 "$(share starved runnable)" 100
	between "spin" 95 "$(($(share spin exec) + $(share spin runnable)))" 101
}

# Run time is the kernel's: the sum of two windows and the thread's own count agree.
run_time_is_the_kernels() {
	local before after told

	start_as_nobody spin
	tid=$(awk '$1 == "spin" { print $2 }' "$said")
	read -r before _ < "/proc/$ready/task/$tid/schedstat"
	"${as_nobody[@]}" "$ctprof" top --batch -n 4 -i 250ms --format json -p "$ready" > "$scratch/top.nobody" 2> "$scratch/warned"
	read -r after _ < "/proc/$ready/task/$tid/schedstat"
	told=$(jq -s --argjson tid "$tid" 'map(select(.tid == $tid).states.exec) | add' "$scratch/top.nobody")
	between "run time in ns" $(((after - before) * 7 / 10)) "$told" $((after - before + 20000000))
}

# The holder of a lock of one's own program needs no privilege; what is another user's says what it needs.
answers_without_privileges() {
	is_root
	start "${as_nobody[@]}" "$scratch/lock_waits" mutex
	read -r holder waiter <<< "$ready"
	"${as_nobody[@]}" "$ctprof" top --tid "$waiter" --inspect "$waiter" -i 300ms --format json > "$json" 2> "$scratch/warned"
	jq -r .answer "$json" | grep -qE "^[0-9]+ % waiting for lock 0x[0-9a-f]+ held by holder \($holder\), which is sleeping" ||
		{ cat "$json"; return 1; }
	start "$programs/lock_waits" mutex
	read -r holder waiter <<< "$ready"
	"${as_nobody[@]}" "$ctprof" top --tid "$waiter" --inspect "$waiter" -i 300ms --format json > "$json" 2> "$scratch/warned"
	jq -r .answer "$json" | grep -q 'needs CAP_SYS_PTRACE' || { cat "$json"; return 1; }
}

run_case "top: without privileges, waits are told by system calls" waits_are_told
run_case "top: without privileges, waits for a CPU are told while they last" waits_for_a_cpu_are_told
run_case "top: without privileges, run time is the kernel's" run_time_is_the_kernels
run_case "top: without privileges, the holder of a lock is named" answers_without_privileges
