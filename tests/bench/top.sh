# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# Exact thread states beside programs that do nothing, for each switch and wake-up; and watching many threads
# beside the tools that do.

# beside WORKLOAD COMMAND...: measure while it runs, again and again.
beside() {
	local workload=$1 runner

	shift
	setsid bash -c 'while :; do "$@" > /dev/null 2>&1; done' bash "$@" &
	runner=$!
	sleep 0.5
	"$programs/states_cost" "$workload" "$rounds" >> "$samples" 2> "$work/tool_output" ||
		could_not "states beside $workload: $(tail -1 "$work/tool_output")"
	# With all its children, who wait for each other.
	kill -KILL -- -$runner
	wait $runner 2> /dev/null
}

measure_switches() {
	bpf_stats=$(< /proc/sys/kernel/bpf_stats_enabled)
	echo 1 > /proc/sys/kernel/bpf_stats_enabled
	beside pipe_on_one_CPU taskset -c 1 perf bench sched pipe -l 100000
	beside pipe_on_two_CPUs perf bench sched pipe -l 100000
	beside messaging perf bench sched messaging -g 4 -l 500
	give_back_stats
}

# Threads are shown, and nothing else is asked for.
write_htoprc() {
	cat > "$work/htoprc" <<- EOF
		fields=0 48 17 18 38 39 40 2 46 47 49 1
		hide_kernel_threads=0
		hide_userland_threads=0
		show_thread_names=1
		delay=10
	EOF
}

# So many windows of a second each, of every thread.
windows=8

watch_by() {
	case $1 in
	counters) timed "watch" counters $ctprof top --batch -e counters -n $windows -i 1s --format csv ;;
	exact) timed "watch" exact $ctprof top --batch -e exact -n $windows -i 1s --format csv ;;
	atop) timed "watch" atop atop -y -a 1 $((windows + 1)) ;;
	htop)
		timed "watch" htop env HTOPRC="$work/htoprc" TERM=xterm \
			timeout -k 5 $((windows + 5)) script -qec \
			"stty rows 50 cols 150; timeout -s INT $windows htop; true" /dev/null < /dev/null
		;;
	esac
}

measure_watching() {
	local round tool

	make_room "$threads"
	start_threads 200 $((threads / 200)) || {
		could_not "watching: no $threads threads: $(tail -1 "$work/errors")"
		return
	}
	write_htoprc
	for ((round = 0; round < (rounds + 1) / 2; round++)); do
		for tool in counters exact atop htop; do
			watch_by $tool
		done
	done
	stop_threads
	give_back
}

measure_top() {
	measure_switches
	measure_watching
}
