# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# Walks of user stacks: ours over tables, beside the kernel's over frame pointers, of the same
# functions built without and with these; tables beside the sections they are made of; and until a
# host is ready.

# start_deep PROGRAM: its processes are in $pids.
start_deep() {
	"$programs/$1" 19 > "$work/deep" &
	deep=$!
	while kill -0 $deep 2> /dev/null && [ ! -s "$work/deep" ]; do
		sleep 0.05
	done
	pids=$(< "$work/deep")
}

measure_walks() {
	local program pids deep

	bpf_stats=$(< /proc/sys/kernel/bpf_stats_enabled)
	echo 1 > /proc/sys/kernel/bpf_stats_enabled
	for program in deep deep_pointers; do
		start_deep $program
		# shellcheck disable=SC2086
		"$programs/walk_cost" "$rounds" ${pids//,/ } 2> "$work/tool_output" |
			sed "s/^walk /walk $program /" >> "$samples" ||
			could_not "walks of $program: $(tail -1 "$work/tool_output")"
		# shellcheck disable=SC2086
		kill ${pids//,/ } 2> /dev/null
		wait $deep 2> /dev/null
	done
	give_back_stats
}

measure_unwind() {
	measure_walks
}
