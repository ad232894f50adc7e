# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# What profiles cost beside offcputime. The time of BPF programs is the kernel's own count of it
# (kernel.bpf_stats_enabled), with both tools attached to the same switches. A sample has nanoseconds of BPF for each
# switch, and seconds of BPF and of the tool's own CPU time together.

least_switches=1000
peer="offcputime --stack-storage-size 16384"

# The options of ctprof for each mode. The peer has no options like the last two, and runs as in the first mode.
declare -A modes=(
	[all]=""
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

compile() {
	tests/bench/compile "$work" "$1"
}

# --- what tools have used ---

look() {
	bpftool prog show > "$work/programs"
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

# The same, with "cpu SECONDS" of the process.
used_by() {
	programs_of "$1"
	echo "cpu $("$programs/cpu_time" "$1")"
}

# Wait until a program of process $1 has seen a context switch.
wait_until_attached() {
	local i

	for ((i = 0; i < 200; i++)); do
		look
		programs_of "$1" | grep -qE '^[a-z_]*switch [1-9]' && return
		kill -0 "$1" 2> /dev/null || return 1
		sleep 0.05
	done
	return 1
}

# Wait until process $1 uses little CPU time: its unwind tables are ready then. At most 5 s: some hosts are never quiet.
settle() {
	local before after i

	after=$("$programs/cpu_time" "$1") || return
	for ((i = 0; i < 20; i++)); do
		before=$after
		sleep 0.25
		after=$("$programs/cpu_time" "$1") || return
		! awk -v before="$before" -v after="$after" 'BEGIN { exit !(after - before < 0.01) }' || return 0
	done
}

# From two readings: the time of all programs for each run of the one at switches, and their seconds in sum.
numbers_of() {
	awk -v least=$least_switches '
		{ sign = FNR == NR ? -1 : 1 }
		$1 == "cpu" { seconds += sign * $2; next }
		{ ns += sign * $3 }
		$1 ~ /switch$/ { runs += sign * $2 }
		END { if (runs < least) exit 1; printf "%.1f %.6f\n", ns / runs, seconds + ns / 1e9 }' "$1" "$2"
}

# --- a round ---

# attach_by_turns MODE ROUND: all tools, whose numbers are in pid_of. The first that is attached is called first and finds
# the cache colder; it is each by turns.
attach_by_turns() {
	local order=(ctprof offcputime stacks nothing) i side

	for i in "${!order[@]}"; do
		side=${order[(i + $2) % ${#order[@]}]}
		wants "$host" $side && has "${command_of[$side]%% *}" || continue
		# shellcheck disable=SC2086
		start_tool ${command_of[$side]}
		pid_of[$side]=$tool
		wait_until_attached "$tool" && continue
		if [ $side = ctprof ]; then
			could_not "$side: $(complaint)"
		else
			left_out "$side: $(complaint)"
		fi
		return 1
	done
}

# cost WORKLOAD MODE ROUND AMOUNT
cost() {
	local host=$1:$2 name=$1 amount=$4 side numbers
	local -A pid_of=() command_of=(
		[ctprof]="$ctprof offcpu -q ${modes[$2]} -o $work/cost.raw"
		[offcputime]="$peer"
		[stacks]="$programs/attach_least stacks"
		[nothing]="$programs/attach_least nothing"
	)

	wants "$host" || return 0
	attach_by_turns "$2" "$3" && {
		"$name" $((amount / 20 + 1)) &> /dev/null
		settle "${pid_of[ctprof]}"
		look
		for side in "${!pid_of[@]}"; do
			used_by "${pid_of[$side]}" > "$work/$side.before"
		done
		"$name" "$amount" &> /dev/null || could_not "$name"
		look
		for side in "${!pid_of[@]}"; do
			used_by "${pid_of[$side]}" > "$work/$side.after"
			numbers=$(numbers_of "$work/$side.before" "$work/$side.after") &&
				sample "$host" $side $numbers || could_not "$host: $side saw no switches"
		done
	}
	end_tools
}

measure_costs() {
	local round mode

	has perf || return
	count_programs
	while next_round; do
		for mode in all period times; do
			cost pipe $mode $round 60000
			cost messaging $mode $round 200
			cost compile $mode $round 40
		done
	done
	give_back_stats
}
