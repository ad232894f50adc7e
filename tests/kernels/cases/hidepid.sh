# SPDX-License-Identifier: BSD-2-Clause
#
# /proc that hides the processes of others.

hide() {
	at_end "mount -o remount,hidepid=0 /proc"
	mount -o remount,hidepid="$1" /proc
}

# What somebody sees of everything, and what summary he gets.
look_around() {
	settle ${tid[*]}
	"${as_somebody[@]}" ctprof capture -v -o - > "$scratch/seen.ctprof.zst" 2> "$scratch/summary"
	facts_of "$scratch/seen.ctprof.zst" > "$scratch/seen.facts"
	cat "$scratch/summary"
}

processes() {
	ls /proc | grep -c '^[0-9]'
}

# Of mine all but taskstats, and of others nothing.
mine_is_seen_alone() {
	diff <(grep "^${tid[mine]} " "$scratch/after.facts" | grep -vE '_delay_|hiwater_' | but_waits) \
		<(grep "^${tid[mine]} " "$scratch/seen.facts")
	equal "what is seen of others" "$(sed -n "/^${tid[theirs]} /p" "$scratch/seen.facts")" ""
	# The other one is ctprof.
	equal "processes" "$(processes_in "$scratch/seen.ctprof.zst")" 2
}

denied_processes_are_counted() {
	local denied few many

	actor theirs
	actor mine "${as_somebody[@]}"
	snap after
	hide 1
	few=$(processes)
	look_around
	many=$(processes)
	mine_is_seen_alone
	denied=$(zstd -dcq "$scratch/seen.ctprof.zst" | jq .capture.processes_denied)
	# Threads of the kernel come and go. `mine` is none of them, nor is the `ls` that counts.
	between "processes that were denied" $((few - 8)) "$denied" $((many + 6))
	has "summary" "$(< "$scratch/summary")" "$denied processes: denied (needs root, or hidepid=0 on /proc)"
	fails 1 "${as_somebody[@]}" ctprof capture -p "${tid[theirs]}" -o "/tmp/denied"
	has "refusal" "$output" "process ${tid[theirs]}"
}

hidden_processes_are_not_there() {
	actor theirs
	actor mine "${as_somebody[@]}"
	snap after
	hide 2
	look_around
	mine_is_seen_alone
	has_not "summary" "$(< "$scratch/summary")" ": denied (needs root"
	# One thread of `mine`, and one or two of ctprof.
	grep -E '/proc shows only [23] of ' "$scratch/summary"
	fails 1 "${as_somebody[@]}" ctprof capture -p "${tid[theirs]}" -o "/tmp/denied"
	has "refusal" "$output" "no process ${tid[theirs]}"
}

root_sees_all() {
	actor theirs
	actor mine "${as_somebody[@]}"
	snap before
	hide 2
	snap after
	diff <(but_waits < "$scratch/before.facts") <(but_waits < "$scratch/after.facts")
}

run_case "with hidepid=1 denied processes are counted, and the user's own are read" denied_processes_are_counted
run_case "with hidepid=2 only the user's own processes are seen" hidden_processes_are_not_there
run_case "root sees all in spite of hidepid" root_sees_all
