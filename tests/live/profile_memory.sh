# SPDX-License-Identifier: BSD-2-Clause
#
# Profiles: the limit on memory. Part of tests/live/run.

. tests/live/profiles.sh

# What is resident at most and in maps of $1, in KiB.
memory_taken() {
	local resident maps

	resident=$(awk '$1 == "VmHWM:" { print $2 }' "/proc/$1/status")
	maps=$(cat /proc/"$1"/fdinfo/* 2> /dev/null | awk '
		$1 == "memlock:" { bytes = $2 }
		$1 == "map_id:" && !seen[$2]++ { sum += bytes }
		END { printf "%.0f\n", sum / 1024 }')
	echo $((resident + maps))
}

# with_many OPTION...: the memory of a profile of thousands of threads and hundreds of programs, in $taken, and what it
# says, in the profile.
with_many() {
	local tool i

	"$ctprof" offcpu -q "$@" -o "$profile.raw" > "$told" 2> "$warned" &
	tool=$!
	at_end "kill -9 $tool"
	until grep -qs "^link_type" "/proc/$tool/fdinfo/"*; do
		kill -0 $tool || { cat "$warned"; return 1; }
		sleep 0.05
	done
	for ((i = 0; i < 400; i++)); do
		/bin/true
	done
	taken=$(memory_taken $tool)
	kill -TERM $tool
	wait $tool || { cat "$warned"; return 1; }
	zstd -dcq "$profile.raw" > "$profile"
}

# The report is made when all is collected, and its memory is not limited.
keeps_its_limit() {
	local limit=$((64 * 1024))

	start "$programs/sleepers" 24000 || return 1
	with_many || return 1
	((taken > limit)) || { echo "$taken KiB without a limit: too little to need one"; return 1; }
	loses_nothing || return 1
	with_many --memory 64MiB || return 1
	((taken <= limit)) || { echo "$taken KiB with a limit of $limit"; return 1; }
	equal "the limit" "$(ask .meta.memory_limit)" $((limit * 1024))
	[ "$(ask '.losses | (.threads_lost // 0) + (.lost // 0) + (.tables_lost // 0)')" -gt 0 ] || { echo "nothing was left out"; return 1; }
	# A thread with a record has all of its time, and what is not kept is told.
	agrees "times" '.threads[] | select(.ended_ns) | apart("\(.name) \(.tid)"; [.ns[]] | add; .ended_ns - .begun_ns; 0.01; 1e6)'
	agrees "events" '.losses | select(.kept + (.filtered // 0) + (.lost // 0) != .events) |
		"\(.kept) + \(.filtered) + \(.lost), not \(.events)"'
	"$ctprof" flame "$profile.raw" > "$scratch/limited" || return 1
	grep -q '^ memory    limit of 64.000MiB reached: [0-9]' "$scratch/limited" ||
		{ grep -A20 Collection "$scratch/limited"; return 1; }
}

run_case "offcpu: --memory is a limit, and what is left out is told" needs_profiles alone keeps_its_limit

# A host whose threads leave no room for unwind tables is no error, and samples that have no room in a reading are lost events.
agent_begins_without_room() {
	local agent file i

	start "$programs/sleepers" 16000 || return 1
	"$ctprof" agent --config /dev/null --memory 64MiB --directory "$scratch/stored" --interval 2s > "$told" 2> "$warned" &
	agent=$!
	at_end "kill -9 $agent"
	for ((i = 0; i < 600; i++)); do
		kill -0 $agent 2> /dev/null || { cat "$warned"; return 1; }
		[ "$(find "$scratch/stored" -name '*.raw' 2> /dev/null | wc -l)" -lt 2 ] || break
		sleep 0.1
		/bin/true
	done
	kill -TERM $agent
	wait $agent || { cat "$warned"; return 1; }
	grep -q '^ctprof: memory has reached --memory: in this interval ' "$warned" || { cat "$warned"; return 1; }
	for file in "$scratch/stored"/*.raw; do
		zstd -dcq "$file" > "$profile"
		agrees "events of ${file##*/}" '.losses | select(.kept + (.filtered // 0) + (.lost // 0) != .events) |
			"\(.kept) + \(.filtered) + \(.lost), not \(.events)"'
	done
}

run_case "agent: --memory with more threads than leave room for the rest" needs_profiles alone agent_begins_without_room

# On a quiet host ticks, which make room for records, are rare.
# burst_after_quiet_has_room THREADS OPTION...
burst_after_quiet_has_room() {
	local tool threads=$1

	shift
	"$ctprof" offcpu -q "$@" -o "$profile.raw" > "$told" 2> "$warned" &
	tool=$!
	at_end "kill -9 $tool"
	sleep 3
	start "$programs/sleepers" "$threads" || return 1
	sleep 0.5
	kill -TERM $tool
	wait $tool || { cat "$warned"; return 1; }
	zstd -dcq "$profile.raw" > "$profile"
	equal "threads that were lost" "$(ask '.losses.threads_lost // 0')" 0
	equal "threads" "$(ask "[.threads[] | select(.tgid == $pid).tid] | unique | length")" "$threads"
}

run_case "offcpu: a burst of threads after a quiet time has room" needs_profiles burst_after_quiet_has_room 3000
run_case "offcpu --memory: the same of a thousand" needs_profiles burst_after_quiet_has_room 1000 --memory 64MiB
