#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# kstats_probes.sh [MECHANISM...]: what it costs to be measured, a call: a system call and a function of a
# program (and, where the kernel has such probes, one of its own functions), by ctprof kstats, and in the same way
# by bpftrace and by funclatency of libbpf-tools. Measured by turns in one run; as root.
#
#   BENCH_ROUNDS   how often (7)
#   BENCH_CALLS    how many calls a measurement (100000; of programs a twentieth: each traps)
#   BENCH_EVICT    MiB that are read before each cold call, more than the caches have (512)
#
# Two readings: `added` is how much longer a call takes, by the caller's clock; `programs` what the kernel counts of
# the BPF programs themselves (kernel.bpf_stats_enabled), which is in a run of its own. The least of all rounds counts:
# what others do meanwhile only adds to it. Then the first of these again with cold caches, from the median of 100 calls:
# there the programs also run for what others do, whose caches are warm, so the kernel's count says nothing.

set -u -o pipefail
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2
make -s all test-programs || exit 1

# bpftrace and funclatency need tracefs. A mount namespace of our own keeps these mounts from other processes.
if [ "${1-}" != --inside ]; then
	exec unshare -m tests/bench/kstats_probes.sh --inside "$@"
fi
shift
mount -t tracefs tracefs /sys/kernel/tracing && mount -t bpf bpf /sys/fs/bpf || exit 1

rounds=${BENCH_ROUNDS:-7}
count=${BENCH_CALLS:-100000}
evict=${BENCH_EVICT:-512}
calls=$PWD/build/tests/programs/kstats_calls
driver=${KSTATS_DRIVER:-$PWD/build/tests/programs/kstats_driver}
work=$(mktemp -d)
stats=$(< /proc/sys/kernel/bpf_stats_enabled)
tool=
trap 'end_tool; "$driver" remove bench_probe 2> /dev/null; echo "$stats" > /proc/sys/kernel/bpf_stats_enabled; rm -rf "$work"' EXIT

# --- who measures ---

end_tool() {
	[ -n "$tool" ] || return 0
	kill -INT "$tool" 2> /dev/null || true
	sleep 0.2
	kill "$tool" 2> /dev/null || true
	wait "$tool" 2> /dev/null
	tool=
}

# stand_by COMMAND...: start it, and wait until its programs are loaded.
stand_by() {
	local before i

	before=$(ids | wc -l)
	setsid "$@" > "$work/tool" 2>&1 &
	tool=$!
	for ((i = 0; i < 200; i++)); do
		kill -0 $tool 2> /dev/null || { tail -n 1 "$work/tool"; tool=; return 1; }
		[ "$(ids | wc -l)" -lt $((before + 2)) ] || { sleep 0.5; return 0; }
		sleep 0.1
	done
	return 1
}

start_kstats() {
	"$driver" trace bench_probe start "$1"
}

# START END
start_bpftrace() {
	stand_by bpftrace -e "$1 { @s[tid] = nsecs; } $2 /@s[tid]/ { @h = hist(nsecs - @s[tid]); delete(@s[tid]); }"
}

start_funclatency() {
	stand_by funclatency "$1"
}

stop_by() {
	case $1 in
	kstats) "$driver" remove bench_probe ;;
	*) end_tool ;;
	esac
	sleep 0.3
}

# --- what is measured: MECHANISM TOOL ARGUMENTS; `none` is nobody ---

plan() {
	case $1 in
	syscall)
		echo "kstats syscall:getppid"
		echo "bpftrace tracepoint:syscalls:sys_enter_getppid tracepoint:syscalls:sys_exit_getppid"
		;;
	uprobe)
		echo "kstats uprobe:$calls:empty_function"
		echo "bpftrace uprobe:$calls:empty_function uretprobe:$calls:empty_function"
		echo "funclatency $calls:empty_function"
		;;
	fentry)
		echo "kstats fentry:__x64_sys_getpgid"
		echo "bpftrace kfunc:__x64_sys_getpgid kretfunc:__x64_sys_getpgid"
		echo "funclatency __x64_sys_getpgid"
		;;
	kprobe)
		echo "kstats kprobe:__x64_sys_getpgid"
		echo "bpftrace kprobe:__x64_sys_getpgid kretprobe:__x64_sys_getpgid"
		;;
	esac
}

# The function that is called, and the number of calls.
declare -A workload=([syscall]="getppid $count" [uprobe]="empty $((count / 20))" [fentry]="getpgid $count" [kprobe]="getpgid $count")

# Tenths of ns for each call.
call_ns() {
	"$calls" ${workload[$1]} | sed -E 's/calls=([0-9]+) .*most=([0-9]+)/\1 \2/' | awk '{ printf "%.0f\n", 10 * $2 / $1 }'
}

cold_call_ns() {
	"$calls" cold "$evict" ${workload[$1]% *} 100 | sed -E 's/.*median=([0-9]+)/\10/'
}

ids() {
	bpftool prog show | grep -oE '^[0-9]+:' | sort
}

# The run time of programs that were loaded since: tenths of ns for each call of the workload.
program_ns() {
	local mechanism=$1 id

	echo 1 > /proc/sys/kernel/bpf_stats_enabled
	"$calls" ${workload[$mechanism]} > "$work/said"
	for id in $(comm -13 "$work/ids" <(ids)); do
		bpftool prog show id "${id%:}" 2> /dev/null
	done | grep -oE 'run_time_ns [0-9]+ run_cnt [0-9]+' |
		awk -v calls="$(awk -F'[= ]' '{ print $2 }' "$work/said")" \
			'{ if ($4 >= calls / 2) n += 10 * $2 / $4 } END { printf "%.0f\n", n }'
	echo 0 > /proc/sys/kernel/bpf_stats_enabled
}

least() {
	sort -n | head -n 1
}

note() {
	echo "$3" >> "$work/$1.$2"
}

measure_round() {
	local mechanism=$1 who arguments

	note "$mechanism" none.call "$(call_ns "$mechanism")"
	note "$mechanism" none.cold "$(cold_call_ns "$mechanism")"
	plan "$mechanism" | while read -r who arguments; do
		ids > "$work/ids"
		command -v "$who" > /dev/null || [ "$who" = kstats ] || continue
		"start_$who" $arguments > "$work/why" 2>&1 || { echo "$mechanism $who: $(tail -n 1 "$work/why")" >> "$work/cannot"; continue; }
		note "$mechanism" "$who.call" "$(call_ns "$mechanism")"
		note "$mechanism" "$who.program" "$(program_ns "$mechanism")"
		note "$mechanism" "$who.cold" "$(cold_call_ns "$mechanism")"
		stop_by "$who"
	done
}

tenths() {
	awk -v n="$1" 'BEGIN { printf "%.1f", n / 10 }'
}

# least_of MECHANISM WHO READING
least_of() {
	least < "$work/$1.$2.$3"
}

report() {
	local mechanism=$1 who none cold

	none=$(least_of "$mechanism" none call)
	cold=$(least_of "$mechanism" none cold)
	for who in kstats bpftrace funclatency; do
		[ -e "$work/$mechanism.$who.cold" ] || continue
		printf '%-10s%-12s%12s%12s%12s%12s%12s\n' "$mechanism" "$who" "$(tenths "$none")" \
			"$(tenths $(($(least_of "$mechanism" "$who" call) - none)))" \
			"$(tenths "$(least_of "$mechanism" "$who" program)")" "$(tenths "$cold")" \
			"$(tenths $(($(least_of "$mechanism" "$who" cold) - cold)))"
	done
}

echo 0 > /proc/sys/kernel/bpf_stats_enabled
[ $# -gt 0 ] || set -- syscall uprobe fentry kprobe
for ((round = 0; round < rounds; round++)); do
	for mechanism; do
		measure_round "$mechanism"
	done
done
printf '%-10s%-12s%12s%12s%12s%12s%12s   ns, the least of %d\n' "" "" unmeasured added programs cold "added cold" "$rounds"
for mechanism; do
	report "$mechanism"
done
[ ! -e "$work/cannot" ] || sort -u "$work/cannot" | sed 's/^/could not: /'
