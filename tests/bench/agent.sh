# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# What ctprof agent costs on a host with many threads of which some do something: CPU time of all its processes, with
# those that send, the time of its BPF programs, and memory of the process that measures.

agent_port=17073
# The first intervals find what there is on the host.
agent_settles=30
agent_seconds=$((quick ? 10 : 30))

# agent_processes PID: it and its descendants.
agent_processes() {
	local child

	echo "$1"
	for child in $(cat /proc/"$1"/task/*/children 2> /dev/null); do
		agent_processes "$child"
	done
}

# Seconds of CPU time of all of them so far, and of the BPF programs that process $1 holds.
agent_times() {
	local process

	for process in $(agent_processes "$1"); do
		"$programs/cpu_time" "$process"
	done | awk '{ sum += $1 } END { printf "%.9f ", sum }'
	cat /proc/"$1"/fdinfo/* 2> /dev/null | awk '
		$1 == "prog_id:" { is_new = !seen[$2]++ }
		$1 == "run_time_ns:" && is_new { sum += $2; is_new = 0 }
		END { printf "%.9f\n", sum / 1e9 }'
}

# KiB of BPF maps that process $1 has mapped: they are in what is resident.
mapped_maps() {
	awk '/^[0-9a-f]+-[0-9a-f]+ / { is_map = /anon_inode:bpf-map/ }
		$1 == "Rss:" && is_map { sum += $2 }
		END { print sum + 0 }' "/proc/$1/smaps"
}

measure_agent() {
	local round agent server before after held

	has python3 || return
	start_threads 10 1000 100 || return
	mkdir -p "$work/stub"
	start_tool python3 tests/store/stub_server.py $agent_port "$work/stub"
	server=$tool
	count_programs
	start_tool $ctprof agent --config /dev/null --memory 64MiB --clickhouse "http://127.0.0.1:$agent_port/ctprof" \
		--spool "$work/spool"
	agent=$tool
	sleep $agent_settles
	while kill -0 "$agent" "$server" 2> /dev/null && next_round; do
		read -ra before < <(agent_times "$agent")
		sleep $agent_seconds
		read -ra after < <(agent_times "$agent")
		read -ra held < <(memory_of "$agent")
		# shellcheck disable=SC2046
		sample agent ctprof $(awk -v before="${before[*]}" -v after="${after[*]}" -v seconds=$agent_seconds 'BEGIN {
			split(before, b)
			split(after, a)
			print (a[1] - b[1]) / seconds, (a[2] - b[2]) / seconds
		}') "${held[2]}" $((held[3] + held[1] - $(mapped_maps "$agent")))
	done
	kill -0 "$agent" "$server" 2> /dev/null || could_not "ctprof agent: $(complaint)"
	end_tools
	give_back_stats
	stop_threads
}
