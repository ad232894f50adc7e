# SPDX-License-Identifier: BSD-2-Clause
#
# What threads allocated and freed, against what jemalloc itself says of them.

# "TID METRIC VALUE" of both counters, as the program says.
told_heap() {
	awk '$1 == "thread" { print $2, "allocated_bytes", $3; print $2, "deallocated_bytes", $4 }' "$scratch/told" | sort
}

counters_agree() {
	local pid

	[ -x /bin/heap ] || skip "jemalloc is not there for this machine"
	heap 5 > "$scratch/told" &
	pid=$!
	at_end "kill -KILL $pid"
	until grep -q '^ready' "$scratch/told"; do
		kill -0 $pid
		sleep 0.1
	done
	tid[heap]=$pid
	catch after
	grep -E ' (de)?allocated_bytes ' "$scratch/after.facts" | sort > "$scratch/measured"
	cat "$scratch/measured"
	equal "what threads allocated and freed" "$(< "$scratch/measured")" "$(told_heap)"
	[ "$(wc -l < "$scratch/measured")" = 10 ]
	proves allocated_bytes deallocated_bytes
}

run_case "bytes that threads allocated and freed are jemalloc's counts, and no thread is stopped" counters_agree
