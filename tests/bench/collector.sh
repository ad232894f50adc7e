# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# CPU time in steady state and memory of ctprof itself.

binaries=500
threads_of_binary=20
settle_seconds=$((quick ? 3 : 5))
steady_seconds=$((quick ? 5 : 10))

# Copies of one program, each with a build-id of its own, and so a program that ctprof has not seen. Its build-id is text
# (rules.mk), so sed can change it.
start_binaries() {
	local i

	mkdir -p "$work/binaries"
	make_room $((binaries * (threads_of_binary + 1)))
	for ((i = 0; i < binaries; i++)); do
		LC_ALL=C sed "s/ctprof-bench-0000000/ctprof-bench-$(printf %07d "$i")/" "$programs/many_binaries" \
			> "$work/binaries/$i"
	done
	chmod +x "$work"/binaries/*
	: > "$work/ready"
	for ((i = 0; i < binaries; i++)); do
		"$work/binaries/$i" 1 $threads_of_binary >> "$work/ready" 2> /dev/null &
		holders+=($!)
	done
	for ((i = 0; i < 400; i++)); do
		[ "$(wc -l < "$work/ready")" -lt $binaries ] || return 0
		sleep 0.05
	done
	return 1
}

stop_binaries() {
	kill "${holders[@]}" 2> /dev/null
	wait "${holders[@]}" 2> /dev/null
	holders=()
	give_back
	rm -rf "$work/binaries"
}

# KiB of process $1: resident but for maps of BPF programs that it has mapped, of the maps that it holds, and of both; and
# resident at most.
memory_of() {
	local resident maps most

	resident=$(awk '
		/^[0-9a-f]+-[0-9a-f]+ / { is_map = /anon_inode:bpf-map/; next }
		$1 == "Rss:" && !is_map { sum += $2 }
		END { print sum + 0 }' "/proc/$1/smaps")
	most=$(awk '$1 == "VmHWM:" { print $2 }' "/proc/$1/status")
	maps=$(cat /proc/"$1"/fdinfo/* 2> /dev/null | awk '
		$1 == "memlock:" { bytes = $2 }
		$1 == "map_id:" && !seen[$2]++ { sum += bytes }
		END { printf "%.0f\n", sum / 1024 }')
	echo "$resident $maps $((resident + maps)) $most"
}

# The share of one CPU that was used between two readings.
steady_share() {
	local before after

	before=$("$programs/cpu_time" "$1") || return
	sleep $steady_seconds
	after=$("$programs/cpu_time" "$1") || return
	awk -v before="$before" -v after="$after" -v seconds=$steady_seconds 'BEGIN { print (after - before) / seconds }'
}

# A load of talking threads, short processes and many sleeping threads.
measure_collector() {
	local share held=()

	has perf || return
	start_binaries || could_not "$binaries different programs"
	mkdir -p "$work/busy"
	start_loop perf bench -f simple sched messaging -g 2 -l 100
	start_loop tests/bench/compile "$work/busy" 20
	start_tool env XDG_CACHE_HOME="$work/cache" $ctprof profile -q --mode both -o "$work/collector.raw"
	if wait_until_attached "$tool"; then
		sleep $settle_seconds
		share=$(steady_share "$tool")
		read -ra held < <(memory_of "$tool")
		sample collector ctprof "$share" "${held[2]}" "${held[0]}" "${held[1]}" "${held[3]}"
	else
		could_not "profile --mode both: $(complaint)"
	fi
	end_tools
	end_loops
	stop_binaries
}

# The memory of a tool after many threads have started, waited and ended.
measure_memory() {
	local side

	has perf || return
	for side in ctprof offcputime; do
		if [ $side = ctprof ]; then
			start_tool $ctprof offcpu -q -o "$work/memory.raw"
		else
			has offcputime || continue
			# shellcheck disable=SC2086
			start_tool $peer
		fi
		if wait_until_attached "$tool"; then
			messaging 200 &> /dev/null
			compile 40 &> /dev/null
			# shellcheck disable=SC2046
			sample memory $side $(memory_of "$tool")
		else
			could_not "memory of $side: $(complaint)"
		fi
		end_tools
	done
}
