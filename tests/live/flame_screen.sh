# SPDX-License-Identifier: BSD-2-Clause
#
# The flame graph on the terminal while a profile is taken. Part of tests/live/run.

. tests/live/profiles.sh

socket=$scratch/flame.tmux

screen_needs_tmux() {
	command -v tmux > /dev/null || skip "needs tmux"
	needs_profiles "$@"
}

# start_chain ARGUMENTS...: and its number is in $pid.
start_chain() {
	start bash -c 'echo ready; exec "$@"' - "$programs/chain" "$@"
}

# on_screen COLUMNS LINES COMMAND...: ctprof there; its status is in $scratch/flame.status.
on_screen() {
	rm -f "$scratch/flame.status"
	tmux -S "$socket" -f /dev/null new-session -d -x "$1" -y "$2" \
		"env LC_ALL=C.UTF-8 XDG_CONFIG_HOME=$scratch/flame.config $ctprof ${*:3} 2> $scratch/flame.told; echo \$? > $scratch/flame.status"
	at_end 'tmux -S "$socket" kill-server 2> /dev/null || :'
}

seen() { tmux -S "$socket" capture-pane -p; }
press() { tmux -S "$socket" send-keys "$@"; }

# shows REGEX: it comes to show that.
shows() {
	local tries

	for ((tries = 0; tries < 300; tries++)); do
		! seen | grep -qE "$1" || return 0
		sleep 0.1
	done
	echo "nothing shows '$1':"
	seen
	cat "$scratch/flame.told"
	return 1
}

# The seconds in the first line.
seconds() {
	seen | sed -nE '1s/.* ([0-9]+)\.?[0-9]* s( .*|$)/\1/p'
}

# seconds_become OP NUMBER: as "-ge 3".
seconds_become() {
	local tries now

	for ((tries = 0; tries < 300; tries++)); do
		now=$(seconds)
		[ -z "$now" ] || [ "$now" "$@" ] || { sleep 0.1; continue; }
		[ -z "$now" ] || return 0
		sleep 0.1
	done
	echo "the seconds are '$now', not $*:"
	seen
	return 1
}

left_with() {
	local tries

	for ((tries = 0; tries < 300; tries++)); do
		[ ! -s "$scratch/flame.status" ] || break
		sleep 0.1
	done
	equal "the status" "$(cat "$scratch/flame.status")" "$1"
}

# Known functions, below each other, and nothing but a wait for a time. It grows; frozen, it stays, and goes on beside.
grows() {
	local before

	start_chain sleep 100000 20
	on_screen 100 40 offcpu --tui -p "$pid" -o "$scratch/flame.json"
	# On a busy host, it also waits for a CPU.
	shows 'timer ([5-9][0-9]|100)\.[0-9]%'
	equal "the order of functions" "$(seen | grep -oE 'main|chain_[a-z]+|hrtimer_nanosleep' | uniq | xargs)" \
		"main chain_outer chain_middle chain_inlined chain_inner chain_sleep hrtimer_nanosleep"
	seconds_become -ge 3
	press p
	shows frozen
	before=$(seconds)
	sleep 2.5
	equal "seconds while it is frozen" "$(seconds)" "$before"
	press p
	seconds_become -ge $((before + 2))
	press R
	seconds_become -lt "$before"
	press f
	shows '(9[5-9]|100)\.[0-9]% +(9[5-9]|100)\.[0-9]% .* chain_sleep'
	press q w
	shows 'only time off the CPU'
	kill "$pid"
	shows 'all targets have ended'
	shows chain_sleep
	press q
	left_with 0
	grep -q "wrote $scratch/flame.json" "$scratch/flame.told"
	profile=$scratch/flame.json
	: > "$told"
	agrees "what was written" '.samples | if (.ns | add) > 1e9 then empty else "too little" end'
	loses_nothing
}

# Without --mode both times are shown, and a program that computes is all on a CPU, or waits for one.
shows_both_times() {
	start_chain burn 600000
	on_screen 80 24 profile --tui -p "$pid" --duration 3s
	shows burn_inner
	shows 'wall time'
	press 2
	shows 'on CPU 100\.0%'
	press 3
	shows 'off CPU'
	press 1
	shows 'the time is over'
	press q
	left_with 0
}

# From a row of top, and back to it.
top_opens_it() {
	start_chain sleep 100000 20
	on_screen 100 30 top -p "$pid"
	shows "^ +$pid +chain"
	press Down P
	shows "thread $pid"
	shows 'timer [0-9.]+%'
	shows chain_sleep
	press q
	shows "^ +$pid +chain"
	# From the inspector, too: a process of one thread is that.
	press 2
	shows '1 process|THR'
	press Home Down Enter
	shows Inspector
	press P
	shows "thread $pid"
	shows chain_sleep
	kill "$pid"
	shows 'all targets have ended'
	press q
	shows 'ctprof top'
	press q
	left_with 0
}

# All of a cgroup, also below it.
top_opens_that_of_a_cgroup() {
	start bash -c 'echo $$ > "$1/cgroup.procs" && echo ready; exec "$2" sleep 100000 20' - "$mount$cgroup/below" \
		"$programs/chain"
	on_screen 100 30 top --cgroup "$cgroup" --by cgroup
	shows 'chain|below'
	press Down P
	shows "cgroup $cgroup/below"
	shows "chain \($pid\)"
	shows chain_sleep
	press q
	shows 'ctprof top'
	press q
	left_with 0
}

# An empty cgroup may get processes, and one that was removed may not; nor does a process end that a filter hides.
screen_ends_with_its_cgroup() {
	mkdir -p "$mount$cgroup/below"
	start bash -c 'echo $$ > "$1/cgroup.procs" && echo ready; exec "$2" sleep 100000 20' - "$mount$cgroup/below" \
		"$programs/chain"
	on_screen 100 30 profile --tui --cgroup "$cgroup/below"
	shows chain_sleep
	kill "$pid"
	seconds_become -ge $(($(seconds) + 2))
	has_not "the screen" "$(seen)" "have ended"
	rmdir "$mount$cgroup/below"
	shows 'all targets have ended'
	press q
	left_with 0
	start_chain sleep 100000 20
	on_screen 100 30 offcpu --tui -p "$pid" --comm nothing
	seconds_become -ge 2
	has_not "the screen" "$(seen)" "have ended"
	kill "$pid"
	shows 'all targets have ended'
	press q
	left_with 0
}

# All threads of a pool, not the one that its row has the number of.
top_opens_that_of_a_pool() {
	start bash -c 'mkfifo "$2/crowd" && exec <> "$2/crowd" && echo threads 3 >&0 && exec "$1" "$2"' - "$programs/crowd" "$scratch"
	on_screen 100 30 top -p "$pid" --by pool
	shows "^ +$pid +4 crowd"
	press Down P
	shows 'pool crowd, 4 threads'
	shows 'fgets'
	[ "$(seen | grep -o wait_for_end | wc -l)" = 3 ]
	press q
	shows 'ctprof top'
	press q
	left_with 0
}

is_refused() {
	local output

	output=$("$ctprof" profile --tui < /dev/null 2>&1) && return 1
	has "what it says" "$output" 'are not a terminal; leave out --tui'
	output=$("$ctprof" profile --tui -- true 2>&1) && return 1
	has "what it says" "$output" '--tui takes the terminal'
}

run_case "a flame graph grows on the terminal, is frozen, and ends with its target" screen_needs_tmux grows
run_case "a flame graph on the terminal has time on and off the CPU" screen_needs_tmux shows_both_times
run_case "a flame graph on the terminal is opened by top, which continues" screen_needs_tmux top_opens_it
run_case "a flame graph on the terminal is that of a cgroup of top" screen_needs_tmux with_cgroup top_opens_that_of_a_cgroup
run_case "a flame graph on the terminal ends with its cgroup" screen_needs_tmux with_cgroup screen_ends_with_its_cgroup
run_case "a flame graph on the terminal is that of a pool of top" screen_needs_tmux top_opens_that_of_a_pool
run_case "a flame graph on the terminal needs one" needs_profiles is_refused
