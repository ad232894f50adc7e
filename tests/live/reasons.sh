# SPDX-License-Identifier: BSD-2-Clause
#
# What threads wait for in profiles, of threads that do what is known (tests/programs/thread_states), which `top` tells
# by the same rules. Part of tests/live/run.

. tests/live/profiles.sh

reasons_disk=$disks/reasons
head -c 16M /dev/zero > "$reasons_disk"
sync "$reasons_disk"

# Each has one state, or two, while it waits.
known="pipe fifo fifo_opener parent socket unix_socket timer timerfd waitv poll_timer poll_timeout vfork epoll accept
	mutex priority_mutex rwlock semaphore cond_pool flock stopped traced disk kernel_mutex kernel_rwsem"

# The time that each thread waited, in lines "TID STATE NS"; waiting for a CPU is no wait for something.
waited() {
	ask 'samples | select(.class != "runnable" and .class != "on-cpu") | "\(.thread.tid) \(.state) \(.ns)"' > "$scratch/waited"
	[ -s "$scratch/waited" ] || { echo "there are no waits"; return 1; }
}

# What each thread says of itself holds for 99 % of the time that it waited.
waits_hold() {
	local wrong

	waited
	wrong=$(awk '
		NR == FNR { ns[$1, $2] += $3; all[$1] += $3; states[$2]; next }
		$1 == "ready" || $1 == "truth" { next }
		{
			sub(/^mixed:/, "", $3)
			right = 0
			text = ""
			for (state in states) {
				if (state ~ "^(" $3 ")")
					right += ns[$2, state]
				if (ns[$2, state])
					text = text " " state " " int(ns[$2, state] / 1e6) " ms"
			}
			if (!all[$2] || right < all[$2] * 0.99)
				print $1 " waits for" (text ? text : " nothing") ", not for " $3
		}' "$scratch/waited" "$said")
	equal "what is wrong" "$wrong" ""
}

start_states() {
	# shellcheck disable=SC2086 # names
	start env STATES_FILE="$reasons_disk" "$programs/states" ${1-$known}
}

waits_have_their_reasons() {
	start_states
	take offcpu -p "$ready" -d 2s
	waits_hold
	loses_nothing
}

reasons_need_no_stacks() {
	start_states
	take offcpu -p "$ready" --no-children -d 2s --no-stacks
	waits_hold
	loses_nothing
}

# Both at the same time: of each thread the state that it was in for the longest time.
reasons_are_those_of_top() {
	local top

	# Of two that share a lock of the kernel, each waits for it as long as it sleeps with it.
	start_states "${known% kernel_mutex*}"
	"$ctprof" top --batch -n 1 -i 2s --format json -p "$ready" > "$scratch/top.reasons" &
	top=$!
	take offcpu -p "$ready" --no-children -d 2s --no-stacks
	wait "$top"
	waited
	jq -r '. as $row | .states | to_entries[] | select(.value and (.key | test("^(exec|runnable)") | not)) |
		"\($row.tid) \(.key) \(.value)"' "$scratch/top.reasons" |
		awk '{ main = $2; sub(/_.*/, "", main)
			ns[$1, $2] = $3; if (main != $2) parts[$1, main] += $3; tids[$1]; states[$2] }
			END { for (tid in tids) { best = ""; most = 0
				for (state in states) {
					own = ns[tid, state] - (state ~ /_/ ? 0 : parts[tid, state])
					if (own > most) { most = own; best = state } }
				if (best != "") print tid, best } }' | sort > "$scratch/by_top"
	awk '{ ns[$1, $2] += $3; tids[$1]; states[$2] }
		END { for (tid in tids) { best = ""; most = 0
			for (state in states) if (ns[tid, state] > most) { most = ns[tid, state]; best = state }
			print tid, best } }' "$scratch/waited" | sort > "$scratch/by_profile"
	between "threads" 24 "$(wc -l < "$scratch/by_top")" 40
	equal "what top and the profile do not agree on" "$(diff "$scratch/by_top" "$scratch/by_profile")" ""
}

# Nothing but that, with stacks and without.
one_reason_is_selected() {
	local how

	start_states "mutex flock pipe epoll timer"
	for how in "" --no-stacks; do
		# shellcheck disable=SC2086 # none or one
		take offcpu -p "$ready" -d 500ms --state lock,pipe $how
		equal "states" "$(ask '[samples.state] | unique | join(" ")')" "lock_futex lock_kernel sleep_pipe"
	done
	equal "states of a filter" "$("$ctprof" flame "$profile" --filter state:lock --group-by reason --format folded 2> "$warned" |
		cut -d';' -f1 | cut -d' ' -f1 | sort -u)" lock
}

# A thread that waits for a lock all of the time, on a host that has nothing else to do.
a_lock_is_on_the_first_screen() {
	start_states mutex
	"$ctprof" offcpu -d 1s > "$scratch/text"
	head -n 24 "$scratch/text" | grep -q '^ states .* 1\.[0-9]*s' || { head -n 24 "$scratch/text"; return 1; }
	head -n 24 "$scratch/text" | grep -q '^ program .* lock ' || { head -n 24 "$scratch/text"; return 1; }
	head -n 2 "$scratch/text" | grep -q 'idle all the time.* not shown (--idle)' || { head -n 24 "$scratch/text"; return 1; }
}

# The same of a file: text leaves out what pictures fold, and files for programs have.
idle_waits_are_in_files() {
	local raw=$scratch/idle.raw

	# On a busy host, a thread that is idle may run for 1 % of a short time.
	start_states timer
	"$ctprof" offcpu -q -d 1s -o "$raw"
	"$ctprof" flame "$raw" > "$scratch/text"
	head -n 2 "$scratch/text" | grep -q 'idle all the time.* not shown (--idle)'
	equal "lines about idle threads" "$("$ctprof" flame "$raw" --idle | sed -n '/idle all the time/p')" ""
	"$ctprof" flame "$raw" -q -o "$scratch/idle.svg" -o "$scratch/idle.folded" -o "$scratch/idle.json"
	grep -q '\[idle: [0-9]* threads\? all the time\]' "$scratch/idle.svg"
	equal "frames of idle threads" "$(sed -n '/all the time/p' "$scratch/idle.folded")" ""
	equal "the time of all" "$(awk '{ all += $NF } END { printf "%d", all / 1000 }' "$scratch/idle.folded")" \
		"$(jq '[.samples.ns[]] | add / 1000 | floor' "$scratch/idle.json")"
}

run_case "reasons: each wait is for what its thread waits for" needs_profiles waits_have_their_reasons
run_case "reasons: the same without stacks" needs_profiles reasons_need_no_stacks
run_case "reasons: top and profiles agree" needs_profiles reasons_are_those_of_top
run_case "reasons: --state and filters select them" needs_profiles one_reason_is_selected
run_case "reasons: a lock is on the first screen" alone needs_profiles a_lock_is_on_the_first_screen
run_case "reasons: idle waits are in files" needs_profiles idle_waits_are_in_files
