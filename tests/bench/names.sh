# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# Naming stacks of which few are equal, beside perf script.

stack_hertz=4000
stack_seconds=4

# Two profiles of the same processes at the same time.
take_stacks() {
	local busy recorder processes

	start_program many_stacks 200
	busy=$started
	processes=$(pgrep -d, -P $busy)
	perf record -q -e cpu-clock -F $stack_hertz -g -p "$processes" -o "$work/stacks.data" \
		-- sleep $stack_seconds > /dev/null 2>&1 &
	recorder=$!
	$ctprof profile -q -F $stack_hertz -p "$processes" -d ${stack_seconds}s \
		-o "$work/stacks.raw" > "$work/tool_output" 2>&1
	wait $recorder
	kill $busy
	wait $busy 2> /dev/null
	[ -s "$work/stacks.data" ] && [ -s "$work/stacks.raw" ]
}

# The floor decompresses the file and scans it.
measure_names() {
	local round

	has perf || return
	take_stacks || {
		could_not "stacks of 200 processes: $(complaint)"
		return
	}
	sample stacks ctprof "$($ctprof flame -q "$work/stacks.raw" --format folded -o - | wc -l)"
	sample stacks perf "$(perf script -i "$work/stacks.data" 2> /dev/null | grep -c '^$')"
	zstd -dqf "$work/stacks.raw" -o "$work/stacks.json"
	while next_round; do
		timed names ctprof $ctprof flame -q "$work/stacks.raw" --format folded -o -
		timed names perf perf script -i "$work/stacks.data"
		scan names scan "$work/stacks.json"
	done
}
