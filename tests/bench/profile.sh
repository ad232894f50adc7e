# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# ctprof's profiles beside the peers. What BPF programs cost is the kernel's own count of it
# (kernel.bpf_stats_enabled), with both tools attached to the same switches.

least_switches=1000
peer="offcputime --stack-storage-size 16384"

# What is asked of ours, by name. The peer has nothing like the last two, and does what it does.
declare -A modes=(
	[same]=""
	[period]="--off-cpu-period 10ms"
	[times]="--no-stacks"
)

# --- workloads ---

pipe() {
	perf bench -f simple sched pipe -l "$1"
}

messaging() {
	perf bench -f simple sched messaging -g 4 -l "$1"
}

# Small programs, so that most of it is processes that come and go.
compile() {
	local i

	for ((i = 0; i < $1; i++)); do
		echo "int f$i(int a) { return a + $i; }" > "$work/tiny$i.c"
	done
	seq -f "$work/tiny%.0f.o" 0 $(($1 - 1)) | xargs make -s -j2 -f /dev/null -B
}

# --- tools that stay attached ---

tools=()

end_tools() {
	local tool

	for tool in "${tools[@]}"; do
		kill -KILL "$tool" 2> /dev/null
		wait "$tool" 2> /dev/null
	done
	tools=()
}

# start_tool COMMAND...: its number is in $tool. It is killed in the end: what it would print then is
# not wanted, and takes time.
start_tool() {
	"$@" > "$work/tool_output" 2>&1 &
	tool=$!
	tools+=("$tool")
}

# "NAME RUNS NS" of each BPF program that process $1 holds, out of one look at all.
programs_of() {
	local numbers

	numbers=$(cat /proc/"$1"/fdinfo/* 2> /dev/null | awk '$1 == "prog_id:" { print $2 }' | sort -u)
	awk -v numbers="$numbers" '
		BEGIN { split(numbers, all, "\n"); for (i in all) is_its[all[i] ":"] }
		$1 in is_its && / name / {
			for (i = 2; i < NF; i++)
				value[$i] = $(i + 1)
			print value["name"], value["run_cnt"] + 0, value["run_time_ns"] + 0
			delete value
		}' "$work/programs"
}

look() {
	bpftool prog show > "$work/programs"
}

# The first switch is the first event.
wait_until_attached() {
	local i

	for ((i = 0; i < 200; i++)); do
		look
		programs_of "$1" | grep -qE '^(on_switch|sched_switch) [1-9]' && return
		kill -0 "$1" 2> /dev/null || return 1
		sleep 0.05
	done
	return 1
}

# --- what a switch costs ---

# Time of all programs for each run of the one at switches, from two looks.
ns_per_switch() {
	awk -v least=$least_switches '
		{ sign = FNR == NR ? -1 : 1; ns += sign * $3 }
		$1 ~ /^(on_switch|sched_switch)$/ { runs += sign * $2 }
		END { if (runs < least) exit 1; printf "%.1f\n", ns / runs }' "$1" "$2"
}

# cost WORKLOAD MODE ROUND AMOUNT: one round. Who attaches first is called first and finds the cache
# colder; it is each by turns.
cost() {
	local name=$1 mode=$2 round=$3 amount=$4 ours theirs ours_ns theirs_ns i

	for i in 0 1; do
		if (((i + round) % 2)); then
			# shellcheck disable=SC2086
			start_tool $ctprof offcpu -q ${modes[$mode]} -o "$work/cost.raw"
			ours=$tool
		else
			# shellcheck disable=SC2086
			start_tool $peer
			theirs=$tool
		fi
		if ! wait_until_attached "$tool"; then
			could_not "$name, $mode: $(tail -1 "$work/tool_output")"
			end_tools
			return
		fi
	done
	"$name" $((amount / 20)) &> /dev/null
	sleep 0.2
	look
	programs_of "$ours" > "$work/ours_before"
	programs_of "$theirs" > "$work/theirs_before"
	"$name" "$amount" &> /dev/null || could_not "$name"
	look
	programs_of "$ours" > "$work/ours_after"
	programs_of "$theirs" > "$work/theirs_after"
	end_tools
	if ours_ns=$(ns_per_switch "$work/ours_before" "$work/ours_after") &&
		theirs_ns=$(ns_per_switch "$work/theirs_before" "$work/theirs_after"); then
		echo "$name:$mode ours $ours_ns $ours_ns" >> "$samples"
		echo "$name:$mode reference $theirs_ns $theirs_ns" >> "$samples"
	else
		could_not "$name, $mode: a tool saw no switches"
	fi
}

measure_costs() {
	local round mode

	bpf_stats=$(< /proc/sys/kernel/bpf_stats_enabled)
	echo 1 > /proc/sys/kernel/bpf_stats_enabled
	for ((round = 0; round < rounds; round++)); do
		for mode in same period times; do
			cost pipe $mode $round 60000
			((round % 3)) || cost messaging $mode $round 200
			((round % 3)) || cost compile $mode $round 40
		done
	done
	give_back_stats
}

give_back_stats() {
	[ -z "${bpf_stats-}" ] || echo "$bpf_stats" > /proc/sys/kernel/bpf_stats_enabled
	bpf_stats=
}

# --- how much slower a workload gets ---

# offcputime, with what bpftrace has.
bpftrace_program='tracepoint:sched:sched_switch {
	if (args->prev_pid) {
		@since[args->prev_pid] = nsecs;
		@kernel[args->prev_pid] = kstack;
		@user[args->prev_pid] = ustack;
	}
	if (@since[args->next_pid]) {
		@blocked[args->next_pid, @kernel[args->next_pid], @user[args->next_pid]] =
			sum(nsecs - @since[args->next_pid]);
		delete(@since[args->next_pid]);
	}
}'

# slow NAME COMMAND...: the pipe while COMMAND is attached.
slow() {
	local name=$1 seconds

	shift
	if [ $# -gt 0 ]; then
		start_tool "$@"
		sleep 1.5
		if ! kill -0 "$tool" 2> /dev/null; then
			could_not "$name: $(tail -1 "$work/tool_output")"
			end_tools
			return
		fi
	fi
	seconds=$(pipe 50000 2> /dev/null | tail -1)
	end_tools
	echo "slow $name $seconds" >> "$samples"
}

measure_slowness() {
	local round

	for ((round = 0; round < rounds; round++)); do
		slow nothing
		slow ctprof_offcpu $ctprof offcpu -q -o "$work/slow.raw"
		# shellcheck disable=SC2086
		slow offcputime $peer
		slow bpftrace bpftrace -e "$bpftrace_program"
		slow perf_record perf record -q -e sched:sched_switch -g -a -o "$work/slow.data"
		rm -f "$work/slow.data"
	done
}

# --- names ---

stack_hertz=4000
stack_seconds=4

# Two profiles of the same processes at the same time.
take_stacks() {
	local busy recorder processes

	: > "$work/ready"
	"$programs/many_stacks" 200 > "$work/ready" &
	busy=$!
	while kill -0 $busy 2> /dev/null && [ ! -s "$work/ready" ]; do
		sleep 0.05
	done
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

measure_names() {
	local round

	take_stacks || {
		could_not "stacks of 200 processes: $(tail -1 "$work/tool_output")"
		return
	}
	echo "stacks ours $($ctprof flame -q "$work/stacks.raw" --format folded -o - | wc -l)" >> "$samples"
	echo "stacks reference $(perf script -i "$work/stacks.data" 2> /dev/null |
		grep -c '^$')" >> "$samples"
	for ((round = 0; round < rounds; round++)); do
		timed names ours $ctprof flame -q "$work/stacks.raw" --format folded -o -
		timed names reference perf script -i "$work/stacks.data"
	done
}

# --- ourselves ---

# KiB resident at most of process $1, and KiB of the maps that it holds.
memory_of() {
	awk '$1 == "VmHWM:" { print $2 }' "/proc/$1/status"
	cat /proc/"$1"/fdinfo/* 2> /dev/null | awk '
		$1 == "memlock:" { bytes = $2 }
		$1 == "map_id:" && !seen[$2]++ { sum += bytes }
		END { printf "%.0f\n", sum / 1024 }'
}

# What a tool holds that has seen many threads come, wait and go.
measure_memory() {
	start_tool "$@"
	wait_until_attached "$tool" || {
		could_not "$*"
		end_tools
		return
	}
	messaging 200 &> /dev/null
	compile 40 &> /dev/null
	echo "memory ${1##*/} $(memory_of "$tool" | paste -sd ' ')" >> "$samples"
	end_tools
}

# Until a command begins, with everything attached.
measure_begin() {
	local round begun

	for ((round = 0; round < rounds; round++)); do
		begun=$(date +%s%N)
		$ctprof offcpu -q -o "$work/begin.raw" -- date +%s%N > "$work/first" || {
			could_not "ctprof offcpu -- date"
			return
		}
		echo "begin ctprof $((($(< "$work/first") - begun) / 1000))" >> "$samples"
	done
}

measure_profile() {
	measure_costs
	measure_slowness
	measure_names
	measure_begin
	measure_memory $ctprof offcpu -q -o "$work/memory.raw"
	# shellcheck disable=SC2086
	measure_memory $peer
}
