# SPDX-License-Identifier: BSD-2-Clause
#
# Threads that end, become others, or get the number of one that is gone.
#
# kernels: 6.1

. tests/kernels/guest/profile.sh

times_stay_with_their_owner() {
	profiled -- lives 600000 reuse exec killed sent
	times_add_up
	truths_hold
	truths_hold seen:
}

# strangers_are_not_watched OPTION: a number that was watched is given to somebody else.
strangers_are_not_watched() {
	local first

	actor target
	first=${tid[target]}
	watch "$1" "$first"
	kill -KILL "$first"
	wait "$first" || :
	lives 300000 reborn "$first" > "$scratch/truths"
	end_watch
	equal "who got the number" "$(cut -d ' ' -f 1,2 "$scratch/truths")" "reborn $first"
	equal "its life, as watched" "$(of reborn "$first" life)" 0
	between "the life of the target" 1 "$(of '' "$first" life)" $((watch_ended - watch_called))
}

storms_are_seen() {
	local kernel ours

	profiled -- lives 300000 storm 400
	kernel=$(awk '$1 == "all" { print $4 }' "$scratch/truths")
	sed -i '/^all /d' "$scratch/truths"
	equal "the children" "$(wc -l < "$scratch/truths")" 400
	times_add_up
	# One that lost its CPU on the way to sleep may wait for another one for longer than it wanted to
	# sleep, among so many: the two together are as long as it says.
	equal "who says otherwise" "$(awk '
		NR == FNR { value[$2, $3] += $4; next }
		{
			slept = value[$2, "interruptible"]
			away = slept + value[$2, "runnable"]
			few += slept < $4 * 0.99
			if (slept > $5 * 1.01 || away < $4 * 0.99 || few > 8)
				print $0, "slept " slept ", was away for " away
		}' "$scratch/lines_read" "$scratch/truths")" ""
	# Each child's last switch may come after its parent has counted it.
	ours=$(awk 'NR == FNR { child[$2]; next }
		$2 in child && $3 ~ /voluntary$/ { sum += $4 } END { print sum }' "$scratch/truths" "$scratch/lines_read")
	between "switches" "$kernel" "$ours" $((kernel + 400))
}

short_lives_are_whole() {
	local status=0

	profiled -- /bin/true
	equal "how often it ended" "$(awk '$3 == "life" { n++ } END { print n }' "$scratch/lines_read")" 1
	times_add_up
	ctprof offcpu "${everything[@]}" -- /bin/bash -c 'exit 7' || status=$?
	equal "its status" "$status" 7
	ctprof offcpu "${everything[@]}" -- /bin/bash -c 'kill -KILL $$' || status=$?
	equal "its status" "$status" 137
	fails 127 ctprof offcpu "${everything[@]}" -- /bin/no_such_program
}

run_case "a thread that reuses a number, executes, moves or is killed has its own times" times_stay_with_their_owner
run_case "a process with the reused number of a target is no target" strangers_are_not_watched -p
run_case "nor is a thread with the reused number of a target" strangers_are_not_watched -t
run_case "four hundred children at once are all there" storms_are_seen
run_case "a command that ends at once is measured, and its status is passed on" short_lives_are_whole
